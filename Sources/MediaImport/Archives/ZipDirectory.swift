internal import Glibc
internal import PhotoLedger

// The list of members at the end of a zip (APPNOTE.TXT 6.3, 4.3.12 to 4.3.16).
//
//     … members …  │ central directory │ [zip64 end, its locator] │ end record, comment
//
// The program that unpacks does not say whether the bytes it gives are those that were packed, and believes what a
// hostile archive claims. So the list is read here first: it says what must come, how long, with which checksum, and
// what cannot be honest is rejected before anything is unpacked:
//
//   members that lie over each other or beyond the file       one kilobyte unpacked a million times
//   more bytes than any photos would give                     a bomb
//   more members, or longer names, than a library would take
//
// All numbers are bounded before they are used; the list is read in one piece of at most 1 GiB.
//
// Packers that do not mark names as UTF-8 state a second name in an extra field. The program that unpacks takes it from
// the header before the member's bytes, and not from the list, so that header is read for members that may have one.
//
// Rejected: to trust the sizes before the members, which a writer of streams leaves empty.

/// A member of an archive, as its list or header has it.
struct ArchiveMember: Sendable {
  enum Kind: Sendable { case file, folder, other(String) }

  var name: [UInt8]
  let kind: Kind
  let byteCount: UInt64
  /// The checksum of the bytes, where the archive states one.
  var crc: UInt32?
}

/// What an archive may claim.
struct ArchiveLimits: Sendable {
  var memberCount = 5_000_000
  var nameByteCount = 4096
  /// The bytes of all names together.
  var totalNameByteCount = 512 << 20
  /// How many bytes may come out of one byte of archive; photos and films do not shrink.
  var ratio: UInt64 = 100
  /// How many bytes may come out in any case.
  var allowance: UInt64 = 256 << 20
  /// How long the program that unpacks may say nothing.
  var patience: Duration = .seconds(120)

  /// The most bytes that may come out of an archive.
  func outputLimit(_ archiveByteCount: UInt64) -> UInt64 {
    let (product, overflow) = archiveByteCount.multipliedReportingOverflow(by: ratio)
    return overflow ? .max : max(product, allowance)
  }
}

/// The members of a zip, in the order in which they lie in it.
struct ZipDirectory: Sendable {
  let members: [ArchiveMember]

  /// Reads the list of a zip.
  /// - Throws: ``ImportError`` `.archiveRefused`, `.archiveDamaged`, and as for any source file.
  init(of path: FilePath, _ limits: ArchiveLimits) throws(ImportError) {
    let reader = try RandomReader(path)
    let end = try Self.end(reader)
    guard end.count <= limits.memberCount else {
      throw ImportError.refused(path, "it claims \(end.count) members")
    }
    guard end.start + end.length <= reader.byteCount, end.length <= 1 << 30 else {
      throw ImportError.damaged(path, "its directory lies outside of it")
    }
    let list = Bytes(try reader.read(at: end.start, Int(end.length)))
    var places: [Place] = []
    places.reserveCapacity(min(end.count, list.bytes.count / 46))
    var position = 0
    var nameTotal = 0
    for _ in 0..<end.count {
      guard let (place, next) = Self.entry(list, at: position) else {
        throw ImportError.damaged(path, "its directory is truncated")
      }
      nameTotal += place.member.name.count
      guard place.member.name.count <= limits.nameByteCount, nameTotal <= limits.totalNameByteCount else {
        throw ImportError.refused(path, "the names of its members are too long")
      }
      places.append(place)
      position = next
    }
    places.sort { $0.offset < $1.offset }
    try Self.check(places.map { ($0.offset, $0.span, $0.member.byteCount) }, end.start, path, limits)
    for index in places.indices where places[index].mayHaveSecondName {
      guard let name = try Self.secondName(reader, at: places[index].offset) else { continue }
      nameTotal += name.count
      guard name.count <= limits.nameByteCount, nameTotal <= limits.totalNameByteCount else {
        throw ImportError.refused(path, "the names of its members are too long")
      }
      places[index].member.name = name
    }
    members = places.map(\.member)
  }

  /// A member with its place in the archive.
  private struct Place {
    let offset: UInt64
    let span: UInt64
    var member: ArchiveMember
    /// Whether the header before its bytes may state another name.
    let mayHaveSecondName: Bool
  }

  /// The kind of extra field that states a name in UTF-8 (4.6.9).
  private static let secondNameKind: UInt64 = 0x7075

  /// The name in UTF-8 that the header before a member's bytes states besides its own; nil for none, and for one that
  /// has the checksum of another name.
  private static func secondName(
    _ reader: borrowing RandomReader, at offset: UInt64
  ) throws(ImportError) -> [UInt8]? {
    guard offset <= reader.byteCount, reader.byteCount - offset >= 30 else { return nil }
    let head = Bytes(try reader.read(at: offset, 30))
    guard head.number(at: 0, 4) == 0x0403_4B50, let nameCount = head.number(at: 26, 2),
      let extraCount = head.number(at: 28, 2), reader.byteCount - offset >= 30 + nameCount + extraCount
    else { return nil }
    let crc = CRC32.of(try reader.read(at: offset + 30, Int(nameCount)))
    let extra = Bytes(try reader.read(at: offset + 30 + nameCount, Int(extraCount)))
    var position = 0
    while let kind = extra.number(at: position, 2), let length = extra.number(at: position + 2, 2) {
      let end = position + 4 + Int(length)
      guard end <= extra.bytes.count else { return nil }
      if kind == secondNameKind, length > 5 {
        let isOfName = extra.number(at: position + 5, 4) == UInt64(crc)
        return isOfName ? Array(extra.bytes[(position + 9)..<end]) : nil
      }
      position = end
    }
    return nil
  }

  /// Refuses members that share bytes, and more bytes than there can be.
  private static func check(
    _ places: [(offset: UInt64, span: UInt64, byteCount: UInt64)], _ limit: UInt64, _ path: FilePath,
    _ limits: ArchiveLimits
  ) throws(ImportError) {
    var reached: UInt64 = 0
    var total: UInt64 = 0
    for place in places {
      guard place.offset >= reached else { throw ImportError.refused(path, "its members overlap") }
      let (next, overflow) = place.offset.addingReportingOverflow(place.span)
      guard !overflow, next <= limit else { throw ImportError.damaged(path, "a member lies outside of it") }
      reached = next
      let (sum, isTooMuch) = total.addingReportingOverflow(place.byteCount)
      guard !isTooMuch, sum <= limits.outputLimit(limit) else {
        throw ImportError.refused(path, "it would unpack to more than \(limits.ratio) times its size")
      }
      total = sum
    }
  }

  private struct End {
    var count: Int
    var start: UInt64
    var length: UInt64
  }

  private static func end(_ reader: borrowing RandomReader) throws(ImportError) -> End {
    // The end record, with a comment of at most 65,535 bytes after it.
    let tailCount = Int(min(reader.byteCount, 65_535 + 22 + 20))
    let tail = Bytes(try reader.read(at: reader.byteCount - UInt64(tailCount), tailCount))
    var found: Int?
    for position in stride(from: tail.bytes.count - 22, through: 0, by: -1)
    where tail.number(at: position, 4) == 0x0605_4B50 {
      found = position
      break
    }
    guard let position = found, let disk = tail.number(at: position + 4, 2),
      let count = tail.number(at: position + 10, 2), let length = tail.number(at: position + 12, 4),
      let start = tail.number(at: position + 16, 4)
    else { throw ImportError.damaged(reader.path, "it has no directory at its end, like an interrupted download") }
    guard disk == 0 || disk == 0xFFFF else { throw ImportError.refused(reader.path, "it is one of several volumes") }
    guard count == 0xFFFF || length == 0xFFFF_FFFF || start == 0xFFFF_FFFF else {
      return End(count: Int(count), start: start, length: length)
    }
    guard position >= 20, tail.number(at: position - 20, 4) == 0x0706_4B50,
      let place = tail.number(at: position - 12, 8), place <= reader.byteCount, reader.byteCount - place >= 56
    else { return End(count: Int(count), start: start, length: length) }
    let large = Bytes(try reader.read(at: place, 56))
    guard large.number(at: 0, 4) == 0x0606_4B50, let count = large.number(at: 32, 8),
      let length = large.number(at: 40, 8), let start = large.number(at: 48, 8), start <= reader.byteCount,
      length <= reader.byteCount
    else { throw ImportError.damaged(reader.path, "its ZIP64 directory cannot be found") }
    return End(count: Int(clamping: count), start: start, length: length)
  }

  /// One entry of the list, and where the next begins.
  private static func entry(_ list: Bytes, at position: Int) -> (place: Place, next: Int)? {
    guard list.number(at: position, 4) == 0x0201_4B50, let madeBy = list.number(at: position + 4, 2),
      let flags = list.number(at: position + 8, 2), let crc = list.number(at: position + 16, 4),
      var packed = list.number(at: position + 20, 4), var size = list.number(at: position + 24, 4),
      let nameCount = list.number(at: position + 28, 2), let extraCount = list.number(at: position + 30, 2),
      let commentCount = list.number(at: position + 32, 2), let attributes = list.number(at: position + 38, 4),
      var offset = list.number(at: position + 42, 4)
    else { return nil }
    let nameStart = position + 46
    let extraStart = nameStart + Int(nameCount)
    let next = extraStart + Int(extraCount) + Int(commentCount)
    guard next <= list.bytes.count else { return nil }
    // The extra field of zip64 holds the numbers that do not fit, in this order (4.5.3).
    var extra = extraStart
    var hasSecondName = false
    while extra + 4 <= extraStart + Int(extraCount), let kind = list.number(at: extra, 2),
      let length = list.number(at: extra + 2, 2)
    {
      if kind == secondNameKind { hasSecondName = true }
      if kind == 1 {
        var at = extra + 4
        for field in 0..<3 {
          let isLarge = [size, packed, offset][field] == 0xFFFF_FFFF
          guard isLarge else { continue }
          guard at + 8 <= extra + 4 + Int(length), let value = list.number(at: at, 8) else { return nil }
          switch field {
          case 0: size = value
          case 1: packed = value
          default: offset = value
          }
          at += 8
        }
      }
      extra += 4 + Int(length)
    }
    let name = Array(list.bytes[nameStart..<extraStart])
    let mode = madeBy >> 8 == 3 ? attributes >> 16 & 0o170000 : 0
    var kind = ArchiveMember.Kind.file
    if name.last == FilePath.slash {
      kind = .folder
    } else if mode == 0o120000 {
      kind = .other("It is a symbolic link, which is not followed.")
    } else if flags & 1 == 1 {
      kind = .other("It is encrypted.")
    }
    let (span, overflow) = packed.addingReportingOverflow(30 + UInt64(nameCount))
    guard !overflow else { return nil }
    let member = ArchiveMember(name: name, kind: kind, byteCount: size, crc: UInt32(crc))
    let isMarkedUTF8 = flags & 0x800 != 0
    let mayHaveSecondName = hasSecondName || !isMarkedUTF8 && name.contains { $0 >= 0x80 }
    return (Place(offset: offset, span: span, member: member, mayHaveSecondName: mayHaveSecondName), next)
  }
}

/// Bytes with numbers in them, least significant byte first.
struct Bytes {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A number; nil if it is not all there.
  func number(at position: Int, _ count: Int) -> UInt64? {
    guard position >= 0, position <= bytes.count - count else { return nil }
    return (0..<count).reduce(0) { $0 | UInt64(bytes[position + $1]) << UInt64(8 * $1) }
  }
}

/// A file that is read at places.
struct RandomReader: ~Copyable {
  let path: FilePath
  let byteCount: UInt64
  private let source: SourceFile

  init(_ path: FilePath) throws(ImportError) {
    do throws(LibraryError) { source = try SourceFile(path) } catch { throw ImportError(error, path: path) }
    self.path = path
    byteCount = UInt64(source.stamp.byteCount)
  }

  /// - Throws: ``ImportError`` `.archiveDamaged` if the bytes are not all there.
  func read(at offset: UInt64, _ count: Int) throws(ImportError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let read = bytes.withUnsafeMutableBytes {
        pread(source.descriptor.number, $0.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw ImportError.source(path, "read", errno: errno) }
      guard read > 0 else { throw ImportError.damaged(path, "it is shorter than it was") }
      done += read
    }
    return bytes
  }
}

extension ImportError {
  /// An archive that is not believed.
  static func refused(_ path: FilePath, _ reason: String) -> ImportError {
    ImportError(
      .archiveRefused, path: path.description,
      "\(path) is rejected: \(reason). No photo archive looks like that; unpack it yourself if you trust it.")
  }

  /// An archive that is not whole.
  static func damaged(_ path: FilePath, _ reason: String) -> ImportError {
    ImportError(
      .archiveDamaged, path: path.description,
      "\(path) is damaged: \(reason). Download or copy it again; nothing of it was imported.")
  }
}
