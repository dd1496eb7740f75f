import EventLog

// The files of an asset in a list, read from the bytes of its details as nearly all of them are.
//
// A grid asks for hundreds of assets at once, and wants the role, type and hash of each of their files. The strict
// reader takes a call for each head and each text on the way to them, which was a sixth of the time of a window. Here
// the bytes are walked in place: each head of a field that a file has, in its shortest form, and in bounds.
//
//     map ▸ 1 ▸ array ▸ map of a file ▸ 1: role  2: name ▸ over  3: type ▸ its end  4: size ▸ over  5: hash …
//
// Invariant: what is read here, the strict reader reads too, with the same result. Whatever is unusual or wrong is left
// to it: it reads or rejects from the beginning (`AssetDetails.readContents`).

/// Reads the files of details of the usual form.
struct UsualContents {
  private var place: UnsafeRawPointer
  private let end: UnsafeRawPointer

  /// Appends the role, type and hash of each file.
  /// - Returns: false if the bytes have another form; what was appended by then is of no use.
  static func read(_ bytes: UnsafeRawBufferPointer, into contents: inout [ResourceContent]) -> Bool {
    guard let start = bytes.baseAddress else { return false }
    var walk = UsualContents(place: start, end: start + bytes.count)
    // Only the first field is walked; that there is room for the others is not seen otherwise.
    guard let fields = walk.head(5), fields > 0, fields <= UInt64(walk.end - walk.place) / 2, walk.head(0) == 1,
      let count = walk.head(4)
    else { return false }
    for _ in 0..<count {
      guard let content = walk.content() else { return false }
      contents.append(content)
    }
    return true
  }

  private mutating func content() -> ResourceContent? {
    guard let count = head(5) else { return nil }
    var (type, isRaw, sha256): (Int?, Bool, SHA256Digest?) = (nil, false, nil)
    var last: UInt64 = 0
    for index in 0..<count {
      guard let key = head(0), index == 0 || key > last else { return nil }
      last = key
      switch key {
      case 1:
        guard let value = head(0), value < 1 << 31 else { return nil }
        type = Int(value)
      case 3:
        guard let text = string(3) else { return nil }
        isRaw = Self.endsAsRaw(text)
      case 5:
        guard let hash = string(2), hash.count == SHA256Digest.byteCount else { return nil }
        sha256 = SHA256Digest(RawSpan(_unsafeBytes: hash))
      case 2, 8, 9: guard string(3) != nil else { return nil }
      case 4, 6, 7: guard head(0) != nil else { return nil }
      case 10: guard string(2) != nil else { return nil }
      default: return nil
      }
    }
    guard let type, let sha256 else { return nil }
    return ResourceContent(type: ResourceType(rawValue: type), isRaw: isRaw, sha256: sha256)
  }

  private static func endsAsRaw(_ text: UnsafeRawBufferPointer) -> Bool {
    // Most types end in another letter, so that the words are seldom compared.
    guard let last = text.last, last == rawEnd else { return false }
    let suffix = AssetResource.rawSuffix.utf8
    return text.count >= suffix.count && text.suffix(suffix.count).elementsEqual(suffix)
  }

  private static let rawEnd = AssetResource.rawSuffix.utf8.last

  /// The bytes of a string of a type.
  @inline(__always)
  private mutating func string(_ majorType: UInt8) -> UnsafeRawBufferPointer? {
    guard let count = head(majorType), count <= UInt64(end - place) else { return nil }
    defer { place += Int(count) }
    return UnsafeRawBufferPointer(start: place, count: Int(count))
  }

  /// The number or count in a head of a type, if it is in its shortest form.
  @inline(__always)
  private mutating func head(_ majorType: UInt8) -> UInt64? {
    guard place < end else { return nil }
    let value = place.load(as: UInt8.self) &- majorType &<< 5
    if value < 24 {
      place += 1
      return UInt64(value)
    }
    return longHead(value)
  }

  private mutating func longHead(_ value: UInt8) -> UInt64? {
    guard value < 28 else { return nil }
    let size = 1 << Int(value - 24)
    guard end - place > size else { return nil }
    var number: UInt64 = 0
    for offset in 1...size { number = number << 8 | UInt64((place + offset).load(as: UInt8.self)) }
    // A number that a shorter head could say is rejected by the strict reader.
    guard size == 1 ? number >= 24 : number >> UInt64(4 * size) > 0 else { return nil }
    place += 1 + size
    return number
  }
}
