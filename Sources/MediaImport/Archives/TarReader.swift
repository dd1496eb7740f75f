internal import Glibc
internal import PhotoLedger

// A tar stream, read once from its beginning (POSIX.1-2001 pax, ustar, and what GNU tar writes).
//
//     header 512 │ data, filled up to 512 │ header … │ two blocks of zeros
//
// The numbers and names come from outside and are bounded before they are used: a name that does not end, a size that
// is not a number, a header whose checksum is wrong, a stream that ends inside of a member are errors, not guesses.
// What is not a regular file is reported and its data are passed over. Names stay bytes.

/// Gives the bytes of a stream.
protocol ByteStream: ~Copyable {
  /// Fills the beginning of a buffer.
  /// - Returns: how many bytes there are; 0 at the end.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int
}

/// What counts of the records of extended headers.
private struct TarRecords {
  var path: [UInt8]?
  var size: UInt64?
  /// Whether a record describes the holes of a file.
  var isSparse = false

  /// With what a later header says in place of the same of this one.
  func replaced(by later: TarRecords) -> TarRecords {
    TarRecords(path: later.path ?? path, size: later.size ?? size, isSparse: later.isSparse || isSparse)
  }
}

/// Reads the members of a tar stream.
struct TarReader<Stream: ByteStream & ~Copyable>: ~Copyable {
  /// The most bytes of one extended header.
  private static var headerLimit: UInt64 { 1 << 20 }
  /// A size is smaller, so that sums of sizes cannot overflow.
  private static var sizeLimit: UInt64 { 1 << 62 }

  private let path: FilePath
  private let limits: ArchiveLimits
  private let outputLimit: UInt64
  private var stream: Stream
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
  /// Where the bytes that are not used yet begin and end.
  private var unread = 0..<0
  private var total: UInt64 = 0
  private var memberCount = 0
  private var nameByteCount = 0
  /// What is left of the data of the member that was given last, and of the filling after it.
  private var dataLeft: UInt64 = 0
  private var fillingLeft: UInt64 = 0
  /// What global extended headers say, which counts for all members after them.
  private var common = TarRecords()

  /// - Parameters:
  ///   - path: the archive, for errors.
  ///   - byteCount: its size, which bounds what may come out of it.
  init(_ stream: consuming Stream, of path: FilePath, byteCount: UInt64, _ limits: ArchiveLimits) {
    self.stream = stream
    (self.path, self.limits, outputLimit) = (path, limits, limits.outputLimit(byteCount))
  }

  deinit { buffer.deallocate() }

  /// The next member; nil at the end of the archive.
  /// - Throws: ``ImportError`` `.archiveDamaged`, `.archiveRefused`, and what the stream throws.
  mutating func next() throws(ImportError) -> ArchiveMember? {
    try passOver()
    var records = TarRecords()
    var longName: [UInt8]?
    while true {
      guard let header = try header() else { return nil }
      guard let size = Self.number(header[124..<136]) else { throw damaged("a size in it is not a number") }
      (dataLeft, fillingLeft) = (size, (512 - size % 512) % 512)
      switch header[156] {
      case UInt8(ascii: "x"): records = try self.records()
      case UInt8(ascii: "g"):
        let all = try self.records()
        common = common.replaced(by: all)
      case UInt8(ascii: "L"): longName = try text()
      case UInt8(ascii: "K"): _ = try text()
      default: return try member(header, common.replaced(by: records), longName)
      }
      memberCount += 1
      guard memberCount <= 3 * limits.memberCount else { throw refused("it does not end") }
    }
  }

  private mutating func member(
    _ header: [UInt8], _ records: TarRecords, _ longName: [UInt8]?
  ) throws(ImportError) -> ArchiveMember {
    if let size = records.size { (dataLeft, fillingLeft) = (size, (512 - size % 512) % 512) }
    var name = Array(header[0..<100].prefix { $0 != 0 })
    let prefix = header[345..<500].prefix { $0 != 0 }
    // GNU tar keeps times where POSIX keeps the first part of the name.
    if Array(header[257..<263]) == Array("ustar\0".utf8), !prefix.isEmpty { name = prefix + [FilePath.slash] + name }
    name = records.path ?? longName ?? name
    memberCount += 1
    nameByteCount += name.count
    guard memberCount <= limits.memberCount, name.count <= limits.nameByteCount,
      nameByteCount <= limits.totalNameByteCount
    else { throw refused("it has \(memberCount) members or more, or names of excessive length") }
    var kind: ArchiveMember.Kind
    switch header[156] {
    case 0, UInt8(ascii: "0"), UInt8(ascii: "7"): kind = name.last == FilePath.slash ? .folder : .file
    case UInt8(ascii: "1"): kind = .other("It is a link to another member, which is not followed.")
    case UInt8(ascii: "2"): kind = .other("It is a symbolic link, which is not followed.")
    case UInt8(ascii: "5"): kind = .folder
    default: kind = .other("It is not a regular file.")
    }
    if records.isSparse || header[156] == UInt8(ascii: "S") {
      kind = .other("It is a sparse file, which is not supported.")
    }
    return ArchiveMember(name: name, kind: kind, byteCount: dataLeft)
  }

  /// Gives the data of the member that was given last, in pieces.
  mutating func data(
    _ body: (UnsafeRawBufferPointer) throws(ImportError) -> Void
  ) throws(ImportError) {
    while dataLeft > 0 {
      try fill()
      let count = min(unread.count, Int(clamping: dataLeft))
      let piece = unread.lowerBound..<(unread.lowerBound + count)
      unread = piece.upperBound..<unread.upperBound
      dataLeft -= UInt64(count)
      try body(UnsafeRawBufferPointer(rebasing: buffer[piece]))
    }
  }

  /// Passes over what is left of a member.
  private mutating func passOver() throws(ImportError) {
    var left = dataLeft + fillingLeft
    while left > 0 {
      try fill()
      let count = min(unread.count, Int(clamping: left))
      unread = (unread.lowerBound + count)..<unread.upperBound
      left -= UInt64(count)
    }
    (dataLeft, fillingLeft) = (0, 0)
  }

  /// Reads more if nothing is left.
  private mutating func fill() throws(ImportError) {
    guard unread.isEmpty else { return }
    let count = try stream.read(into: buffer)
    guard count > 0 else { throw damaged("it ends inside of a member") }
    total += UInt64(count)
    guard total <= outputLimit else { throw refused("it unpacks to more than \(limits.ratio) times its size") }
    unread = 0..<count
  }

  /// The next header; nil at the end mark, after which everything is read, so that a program that unpacks can end.
  private mutating func header() throws(ImportError) -> [UInt8]? {
    let block = try block()
    if block.allSatisfy({ $0 == 0 }) {
      repeat {
        unread = 0..<0
        let count = try stream.read(into: buffer)
        if count == 0 { return nil }
        total += UInt64(count)
      } while total <= outputLimit
      throw refused("it unpacks to more than \(limits.ratio) times its size")
    }
    var sum = 0
    for (index, byte) in block.enumerated() { sum += (148..<156).contains(index) ? 32 : Int(byte) }
    guard let stated = Self.number(block[148..<156]), stated == UInt64(sum) else {
      throw damaged("the checksum of a header is wrong")
    }
    return block
  }

  private mutating func block() throws(ImportError) -> [UInt8] {
    var block: [UInt8] = []
    block.reserveCapacity(512)
    while block.count < 512 {
      try fill()
      let count = min(unread.count, 512 - block.count)
      block.append(contentsOf: buffer[unread.lowerBound..<(unread.lowerBound + count)])
      unread = (unread.lowerBound + count)..<unread.upperBound
    }
    return block
  }

  /// The data of a header that is text.
  private mutating func text() throws(ImportError) -> [UInt8] {
    guard dataLeft <= Self.headerLimit else { throw refused("a name in it has \(dataLeft) bytes") }
    var text: [UInt8] = []
    try data { (piece) throws(ImportError) in text.append(contentsOf: piece) }
    try passOver()
    return Array(text.prefix { $0 != 0 })
  }

  /// What counts of the records of an extended header: `LENGTH NAME=VALUE\n`. The others are not kept: a header may
  /// have tens of thousands, and a global one counts for every member.
  private mutating func records() throws(ImportError) -> TarRecords {
    guard dataLeft <= Self.headerLimit else { throw refused("a header in it has \(dataLeft) bytes") }
    var bytes: [UInt8] = []
    try data { (piece) throws(ImportError) in bytes.append(contentsOf: piece) }
    try passOver()
    var records = TarRecords()
    var rest = bytes[...]
    while let first = rest.first, first != 0 {
      guard let blank = rest.firstIndex(of: 0x20),
        let length = Int(String(decoding: rest[rest.startIndex..<blank], as: UTF8.self)), length > 0,
        length <= rest.count, blank < rest.startIndex + length - 1
      else { throw damaged("an extended header in it is invalid") }
      let record = rest[(blank + 1)..<(rest.startIndex + length - 1)]
      guard let sign = record.firstIndex(of: UInt8(ascii: "=")) else {
        throw damaged("an extended header in it is invalid")
      }
      let (name, value) = (record[..<sign], record[(sign + 1)...])
      if name.elementsEqual("path".utf8) {
        records.path = Array(value)
      } else if name.elementsEqual("size".utf8) {
        guard let size = UInt64(String(decoding: value, as: UTF8.self)), size < Self.sizeLimit else {
          throw damaged("a size in it is not a number or is too large")
        }
        records.size = size
      } else if name.starts(with: "GNU.sparse".utf8) {
        records.isSparse = true
      }
      rest = rest.dropFirst(length)
    }
    return records
  }

  /// A number in octal digits, or in binary if its first bit is set (GNU).
  private static func number(_ field: ArraySlice<UInt8>) -> UInt64? {
    if let first = field.first, first & 0x80 != 0 {
      guard first == 0x80, field.dropFirst().dropLast(8).allSatisfy({ $0 == 0 }) else { return nil }
      let value = field.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return value < sizeLimit ? value : nil
    }
    let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0x20 && $0 != 0 }
    if digits.isEmpty { return 0 }
    guard digits.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
    return digits.reduce(UInt64(0)) { $0 << 3 | UInt64($1 - 0x30) }
  }

  private func damaged(_ reason: String) -> ImportError { .damaged(path, reason) }

  private func refused(_ reason: String) -> ImportError { .refused(path, reason) }
}
