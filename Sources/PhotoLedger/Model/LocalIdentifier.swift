import EventLog
public import Foundation

/// The identity of an object of one library: 128 random bits, spelled as PhotoKit spells them.
///
/// The text form is a UUID in capitals and a suffix for the kind of object: `/L0/001` for an asset, `/L0/040` for an
/// album, `/L0/020` for a folder. Only the UUID is significant: a bare one, or another suffix, names the same object.
public struct LocalIdentifier: Hashable, Sendable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes an identifier from 128 bits of a generator, marked as a random UUID (RFC 9562, version 4).
  package init(using generator: inout some RandomNumberGenerator) {
    high = (generator.next() & 0xFFFF_FFFF_FFFF_0FFF) | 0x0000_0000_0000_4000
    low = (generator.next() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
  }

  /// Parses the text form of an identifier, with or without its suffix; nil if it is invalid.
  public init?(_ text: some StringProtocol) {
    var words: (high: UInt64, low: UInt64) = (0, 0)
    var count = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "/") { break }
      switch count {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return nil }
      case ..<Self.spellingCount:
        guard let digit = HexadecimalDigits.value(of: byte) else { return nil }
        words.high = words.high << 4 | words.low >> 60
        words.low = words.low << 4 | UInt64(digit)
      default: return nil
      }
      count += 1
    }
    guard count == Self.spellingCount else { return nil }
    self.init(high: words.high, low: words.low)
  }

  /// Takes the bits of a UUID.
  public init(_ uuid: UUID) {
    (high, low) = withUnsafeBytes(of: uuid.uuid) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// Whether a row can hold it as the top of a stack: all zeros mean no stack there.
  var canNameStack: Bool { high | low != 0 }

  /// The UUID in capitals, without a suffix.
  public var uuidString: String {
    String(unsafeUninitializedCapacity: Self.spellingCount) { spell(into: $0) }
  }

  /// The full text form for an object of a kind.
  package func spelled(as kind: ObjectKind) -> String {
    String(unsafeUninitializedCapacity: Self.spellingCount + kind.suffix.utf8.count) { spell(into: $0, as: kind) }
  }

  /// Writes the full text form, up to 43 bytes; returns their number.
  func spell(into text: UnsafeMutableBufferPointer<UInt8>, as kind: ObjectKind) -> Int {
    let count = spell(into: text)
    return count + UnsafeMutableBufferPointer(rebasing: text[count...]).update(fromContentsOf: kind.suffix.utf8)
  }

  private static let spellingCount = 36

  /// Writes the UUID in capitals; gives how many bytes that are. A commit spells the name of everything it creates.
  private func spell(into text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    precondition(text.count >= Self.spellingCount, "A spelling of an identifier needs room for all of it.")
    guard let place = UnsafeMutableRawBufferPointer(text).baseAddress else { return 0 }
    spell(at: place)
    return Self.spellingCount
  }

  /// Writes the UUID in capitals, 36 bytes.
  @inline(__always)
  func spell(at place: UnsafeMutableRawPointer) {
    func digits(_ word: UInt64) -> UInt64 { HexadecimalDigits.uppercase(UInt32(truncatingIfNeeded: word).byteSwapped) }
    func put(_ digits: UInt64, at offset: Int) { (place + offset).storeBytes(of: digits, as: UInt64.self) }
    func dash(at offset: Int) { (place + offset).storeBytes(of: UInt8(ascii: "-"), as: UInt8.self) }
    // Eight digits at a time; what stands after a group of four is written over by what follows.
    let (second, third) = (digits(high), digits(low &>> 32))
    put(digits(high &>> 32), at: 0)
    put(second, at: 9)
    put(second &>> 32, at: 14)
    put(third, at: 19)
    (place + 24).storeBytes(of: UInt32(truncatingIfNeeded: third &>> 32), as: UInt32.self)
    put(digits(low), at: 28)
    dash(at: 8)
    dash(at: 13)
    dash(at: 18)
    dash(at: 23)
  }
}

/// The kinds of object that an identifier can name.
@usableFromInline
package enum ObjectKind: UInt8, Sendable {
  case asset = 1
  case album = 2
  case folder = 3
  case smartAlbum = 4

  package var suffix: String {
    switch self {
    case .asset: "/L0/001"
    case .album, .smartAlbum: "/L0/040"
    case .folder: "/L0/020"
    }
  }
}

/// The number of an object inside its store: the sequence of the event that created it.
///
/// Unique, never used twice, ascending in the order of addition, and the same after every rebuild, because the log's
/// sequence is. It stays inside: callers see ``LocalIdentifier`` spellings.
package typealias ObjectNumber = UInt64

/// The number of the root folder: the sequence of the event that created the library.
package let rootFolder: ObjectNumber = 1

/// The kinds of object in the history (PHObjectType, photokit a.2).
public enum ObjectType: Int, Sendable, Hashable, CaseIterable, Codable {
  /// An asset.
  case asset = 1
  /// An album.
  case assetCollection = 2
  /// A folder.
  case collectionList = 3
}
