import EventLog
import Foundation
import PhotoLedger

// The log as JSON lines.
//
//     {"format":"photoledger-log","version":1,"library":"…","after":{…},"head":{…}}                     first line
//     {"sequence":1,"commit":1,"index":0,"isLast":true,"time":…,"type":"library.created","version":1,
//      "information":{…},"commitment":"…","salt":"…","payload":"…","reads":"…","leaf":"…","chain":"…"}   each event
//
// Hashes and salt are hexadecimal digits, the payload is base64 (RFC 4648, section 4). `reads` is the same in the
// readable diagnostic notation of CBOR (RFC 8949, section 8); it is compared when a line is read, so that a reader is
// never shown something else than the payload. An erased event has null for salt, payload and `reads`. The head is in
// the first line, so a truncated text is detected.
//
// The keys come in this order, and the same log is the same text, byte for byte. Reading accepts any order and any
// blanks, but rejects unknown keys, whose contents would not be verified.
//
// Comparing or hashing a text takes time that is quadratic in the combining marks on one of its characters, so keys are
// checked as bytes before a decoder looks them up, and so is every value that is compared as text.

/// The first line of an exported log.
struct LogHeading: Equatable {
  static let format = "photoledger-log"
  static let version: UInt64 = 1

  var library: LocalIdentifier
  /// The end of the log before the first event that follows.
  var after: EventLog.Head
  /// The end of the log with the last one.
  var head: EventLog.Head
}

/// Bounds of what is read: a line must hold the longest payload in base64 and in diagnostic notation.
enum LogLineLimits {
  static let byteCount = 160 << 20
}

extension LogHeading {
  private struct Form: Decodable {
    struct End: Decodable {
      var sequence: UInt64
      var commit: UInt64
      var chain: String

      func head() throws -> EventLog.Head {
        EventLog.Head(sequence: sequence, commit: commit, chain: try LogLineError.digest(chain, "chain"))
      }
    }

    var format: String
    var version: UInt64
    var library: String
    var after: End
    var head: End
  }

  init(_ line: [UInt8]) throws {
    let form: Form
    do {
      form = try LogLineError.decode(
        line, keys: ["format", "version", "library", "after", "head"], innerKeys: ["sequence", "commit", "chain"])
    } catch let error as LogLineError {
      throw LogLineError("it is not the first line of an exported log: \(error.clause)")
    }
    guard form.format.utf8.elementsEqual(Self.format.utf8) else {
      throw LogLineError("the format is '\(LogLineError.excerpt(form.format))', not \(Self.format)")
    }
    guard form.version <= Self.version else {
      throw LibraryError(
        .newerThanProgram, "The exported log has version \(form.version); this program reads up to \(Self.version).")
    }
    guard let library = LocalIdentifier(form.library) else {
      throw LogLineError("'\(LogLineError.excerpt(form.library))' is not the identifier of a library")
    }
    self.init(library: library, after: try form.after.head(), head: try form.head.head())
    guard head.sequence >= after.sequence, head.commit >= after.commit else {
      throw LogLineError(
        "the log ends at event \(head.sequence), before event \(after.sequence), after which it starts")
    }
  }
}

extension JSONBytes {
  /// Writes the first line, without the line end.
  mutating func write(_ heading: LogHeading) {
    beginObject()
    key("format")
    text(LogHeading.format, .logged)
    key("version")
    integer(LogHeading.version)
    key("library")
    text(heading.library.uuidString, .logged)
    key("after")
    write(heading.after)
    key("head")
    write(heading.head)
    endObject()
  }

  private mutating func write(_ head: EventLog.Head) {
    beginObject()
    key("sequence")
    integer(head.sequence)
    key("commit")
    integer(head.commit)
    key("chain")
    head.chain.withUnsafeBytes { hexadecimalText($0) }
    endObject()
  }
}

/// Why a line is no part of a log.
struct LogLineError: Error {
  /// A clause without its full stop.
  let clause: String

  init(_ clause: String) { self.clause = clause }

  /// The beginning of a text, for a sentence about it.
  fileprivate static func excerpt(_ text: String) -> String { String(text.unicodeScalars.prefix(40)) }

  static func digest(_ text: String, _ name: String) throws -> SHA256Digest {
    guard let digest = SHA256Digest(hexadecimal: text), digest.description == text else {
      throw LogLineError("the \(name) is not 64 hexadecimal digits in lower case")
    }
    return digest
  }

  /// Reads a line as an object that has no keys but some, and in whose objects are no inner keys but some.
  static func decode<Form: Decodable>(_ line: [UInt8], keys: Set<String>, innerKeys: Set<String>) throws -> Form {
    try checkKeys(line)
    let decoder = JSONDecoder()
    do {
      let data = Data(line)
      let found = try decoder.decode(KeyList.self, from: data)
      let stranger = found.keys.first { !keys.contains($0) } ?? found.innerKeys.first { !innerKeys.contains($0) }
      if let stranger { throw LogLineError("the key '\(excerpt(stranger))' is unknown") }
      return try decoder.decode(Form.self, from: data)
    } catch let error as DecodingError {
      throw LogLineError(clause(error))
    }
  }

  /// The most bytes of a key; those of our forms have fewer.
  private static let keyByteLimit = 64

  /// Checks that no key of a JSON text is long, is not ASCII or has an escape: a decoder hashes all of them.
  ///
  /// A key is a string that a colon follows. Text of another structure is not JSON, which a decoder reports before it
  /// looks at keys. Text with a zero byte is in another encoding, in which this scan would find no key.
  static func checkKeys(_ text: some Sequence<UInt8>) throws {
    var (isInString, isEscaped, isPlain) = (false, false, true)
    var byteCount = 0
    for byte in text {
      if byte == 0 { throw LogLineError("it is not UTF-8") }
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\""):
        isInString.toggle()
        if isInString { (isPlain, byteCount) = (true, 0) }
      case UInt8(ascii: "\\") where isInString: (isEscaped, isPlain) = (true, false)
      case _ where isInString:
        byteCount += 1
        if byte >= 0x80 { isPlain = false }
      case UInt8(ascii: ":"):
        guard isPlain, byteCount <= keyByteLimit else {
          throw LogLineError("a key is longer than any of this form, or not ASCII")
        }
      default: break
      }
    }
  }

  private static func clause(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, _): "the key '\(key.stringValue)' is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "'\(context.codingPath.map(\.stringValue).joined(separator: "."))' has the wrong type or is out of range"
    default: "it is not a valid JSON object"
    }
  }

  /// The keys of an object and of the objects inside.
  private struct KeyList: Decodable {
    var keys: [String] = []
    var innerKeys: [String] = []

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      for key in container.allKeys {
        keys.append(key.stringValue)
        if let inner = try? container.nestedContainer(keyedBy: Key.self, forKey: key) {
          innerKeys += inner.allKeys.map(\.stringValue)
        }
      }
    }
  }
}

// MARK: - Events

extension JSONBytes {
  /// Writes an event as a line, without the line end.
  mutating func write(_ event: EventCopy) {
    begin(event.sequence, event.commit, event.index, event.isLast, event.time)
    write(event.type, event.version, event.information, event.commitment)
    key("salt")
    if let salt = event.salt { salt.withUnsafeBytes { hexadecimalText($0) } } else { null() }
    if let payload = event.payload { write(payload: payload.span.bytes) } else { writeNoPayload() }
    end(event.leaf, event.chain)
  }

  /// Writes the same of an event where it lies.
  /// - Throws: `CBORError` when the record is damaged.
  mutating func write(_ event: borrowing StoredEvent) throws {
    begin(event.sequence, event.commit, event.index, event.isLast, event.time)
    write(event.type, event.version, try event.information(), event.commitment)
    key("salt")
    if let salt = event.salt { salt.withUnsafeBytes { hexadecimalText($0) } } else { null() }
    if let payload = event.payload { write(payload: payload) } else { writeNoPayload() }
    end(event.leaf, event.chain)
  }

  private mutating func begin(_ sequence: UInt64, _ commit: UInt64, _ index: UInt64, _ isLast: Bool, _ time: Int64) {
    beginObject()
    key("sequence")
    integer(sequence)
    key("commit")
    integer(commit)
    key("index")
    integer(index)
    key("isLast")
    bool(isLast)
    key("time")
    integer(time)
  }

  private mutating func write(
    _ type: String, _ version: UInt32, _ information: CommitInformation?, _ commitment: SHA256Digest
  ) {
    key("type")
    text(type, .logged)
    key("version")
    integer(UInt64(version))
    key("information")
    if let information { write(information) } else { null() }
    key("commitment")
    commitment.withUnsafeBytes { hexadecimalText($0) }
  }

  private mutating func write(payload: RawSpan) {
    key("payload")
    payload.withUnsafeBytes { payload in quoted { $0.base64(payload) } }
    key("reads")
    let isRead = quoted(capacity: CBORReader.diagnosticCapacity(of: payload)) { room in
      CBORReader.writeDiagnostic(of: payload, quoted: true, to: room)
    }
    if !isRead { null() }
  }

  private mutating func writeNoPayload() {
    key("payload")
    null()
    key("reads")
    null()
  }

  private mutating func end(_ leaf: SHA256Digest, _ chain: SHA256Digest) {
    key("leaf")
    leaf.withUnsafeBytes { hexadecimalText($0) }
    key("chain")
    chain.withUnsafeBytes { hexadecimalText($0) }
    endObject()
  }

  private mutating func write(_ information: CommitInformation) {
    beginObject()
    key("client")
    text(information.client, .logged)
    key("cause")
    text(information.cause, .logged)
    key("process")
    text(information.process, .logged)
    key("key")
    text(information.key, .logged)
    key("causation")
    text(information.causation, .logged)
    key("correlation")
    text(information.correlation, .logged)
    endObject()
  }
}

extension EventCopy {
  /// The event as a line, without the line end.
  var line: String {
    var bytes = JSONBytes()
    bytes.write(self)
    return bytes.text()
  }

  /// What a payload says, in diagnostic notation; nil for one that was erased, or is no CBOR.
  fileprivate static func reads(_ payload: [UInt8]?) -> [UInt8]? {
    payload.flatMap { CBORReader.diagnostic(of: $0.span.bytes) }
  }

  private struct Form: Decodable {
    struct Information: Decodable {
      var client: String
      var cause: String
      var process: String
      var key: String?
      var causation: String?
      var correlation: String?
    }

    var sequence: UInt64
    var commit: UInt64
    var index: UInt64
    var isLast: Bool
    var time: Int64
    var type: String
    var version: UInt32
    var information: Information?
    var commitment: String
    var salt: String?
    var payload: String?
    var reads: String?
    var leaf: String
    var chain: String
  }

  /// The most bytes of a type in a log.
  private static let typeByteLimit = 128

  /// Reads a line; proves nothing yet but that it is in form.
  init(line: [UInt8]) throws {
    let form: Form = try LogLineError.decode(
      line,
      keys: [
        "sequence", "commit", "index", "isLast", "time", "type", "version", "information", "commitment", "salt",
        "payload", "reads", "leaf", "chain",
      ], innerKeys: ["client", "cause", "process", "key", "causation", "correlation"])
    guard (1...Self.typeByteLimit).contains(form.type.utf8.count) else {
      throw LogLineError("the type has not 1 to \(Self.typeByteLimit) bytes")
    }
    let payload = try form.payload.map { text in
      guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
        throw LogLineError("the payload is not base64")
      }
      return Array(data)
    }
    let salt = try form.salt.map { text in
      guard let salt = [UInt8](hexadecimal: text, count: 16), salt.hexadecimal == text else {
        throw LogLineError("the salt is not 32 hexadecimal digits")
      }
      return salt
    }
    self.init(
      sequence: form.sequence, commit: form.commit, index: form.index, isLast: form.isLast, time: form.time,
      type: form.type, version: form.version,
      information: form.information.map { information in
        CommitInformation(
          time: form.time, client: information.client, cause: information.cause, process: information.process,
          key: information.key, causation: information.causation, correlation: information.correlation)
      }, commitment: try LogLineError.digest(form.commitment, "commitment"), salt: salt, payload: payload,
      leaf: try LogLineError.digest(form.leaf, "leaf"), chain: try LogLineError.digest(form.chain, "chain"))
    if let reads = form.reads, Array(reads.utf8) != Self.reads(payload) {
      throw LogLineError("'reads' does not agree with the payload")
    }
  }
}
