import EventLog
import Foundation
import JSONReading
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
// blanks, but rejects unknown keys, whose contents would not be verified, and a key that stands there twice, since
// readers do not agree on which of the two counts. It also rejects a whole number that is spelled with a fraction or an
// exponent, such as 1.0, which no version has written.
//
// Comparing or hashing a text takes time that is quadratic in the combining marks on one of its characters. The reader
// bounds the length of keys (`JSONReader`), and every value that is compared as text is checked as bytes before.

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
  /// What the line says, before it is judged.
  private struct Form {
    struct End {
      var sequence: UInt64
      var commit: UInt64
      var chain: String

      init(_ fields: LogFields) throws {
        sequence = try fields.number("sequence")
        commit = try fields.number("commit")
        chain = try fields.text("chain")
      }

      func head() throws -> EventLog.Head {
        EventLog.Head(sequence: sequence, commit: commit, chain: try LogLineError.digest(chain, "chain"))
      }
    }

    var format: String
    var version: UInt64
    var library: String
    var after: End
    var head: End

    init(_ line: [UInt8]) throws {
      let fields = try LogFields(line: line, keys: ["format", "version", "library", "after", "head"])
      format = try fields.text("format")
      version = try fields.number("version")
      library = try fields.text("library")
      let keys: Set<String> = ["sequence", "commit", "chain"]
      after = try End(fields.object("after", keys: keys))
      head = try End(fields.object("head", keys: keys))
    }
  }

  init(_ line: [UInt8]) throws {
    let form: Form
    do {
      form = try Form(line)
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

/// Why a line is not part of a log.
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
}

/// The fields of a line, or of an object in it: no keys but some.
private struct LogFields {
  /// The names of the objects around, for sentences.
  private let path: String
  private let members: [JSON.Member]

  /// More than the values of any line.
  private static let valueLimit = 64

  init(line: [UInt8], keys: Set<String>) throws {
    let value: JSON
    do throws(JSONError) {
      value = try JSONReader.read(line, .exported, valueLimit: Self.valueLimit)
    } catch {
      throw LogLineError("it is not valid JSON: \(error.clause)")
    }
    guard let members = value.objectValue else { throw LogLineError("it is not a JSON object") }
    try self.init("", members, keys)
  }

  private init(_ path: String, _ members: [JSON.Member], _ keys: Set<String>) throws {
    if let stranger = members.first(where: { !keys.contains($0.key) }) {
      throw LogLineError("the key '\(LogLineError.excerpt(stranger.key))' is unknown")
    }
    (self.path, self.members) = (path, members)
  }

  private func value<Value>(_ key: String, _ read: (JSON) -> Value?) throws -> Value {
    guard let member = members.first(where: { $0.key == key }) else {
      throw LogLineError("the key '\(path)\(key)' is missing")
    }
    guard let value = read(member.value) else {
      throw LogLineError("'\(path)\(key)' has the wrong type or is out of range")
    }
    return value
  }

  func text(_ key: String) throws -> String { try value(key) { $0.textValue } }

  func flag(_ key: String) throws -> Bool { try value(key) { $0.boolValue } }

  func number<Number: FixedWidthInteger>(_ key: String) throws -> Number {
    try value(key) { $0.wholeValue.flatMap { Number(exactly: $0) } }
  }

  func object(_ key: String, keys: Set<String>) throws -> LogFields {
    try LogFields("\(path)\(key).", value(key) { $0.objectValue }, keys)
  }

  /// What is read of a field; nil if it is null or absent.
  func optional<Value>(_ key: String, _ read: (LogFields) throws -> Value) throws -> Value? {
    switch members.first(where: { $0.key == key })?.value {
    case nil, .null?: nil
    default: try read(self)
    }
  }

  func optionalText(_ key: String) throws -> String? { try optional(key) { try $0.text(key) } }
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
  /// What a payload says, in diagnostic notation; nil for one that was erased, or is not CBOR.
  fileprivate static func reads(_ payload: [UInt8]?) -> [UInt8]? {
    payload.flatMap { CBORReader.diagnostic(of: $0.span.bytes) }
  }

  /// What the line says, before it is judged.
  private struct Form {
    struct Information {
      var client: String
      var cause: String
      var process: String
      var key: String?
      var causation: String?
      var correlation: String?

      init(_ fields: LogFields) throws {
        client = try fields.text("client")
        cause = try fields.text("cause")
        process = try fields.text("process")
        key = try fields.optionalText("key")
        causation = try fields.optionalText("causation")
        correlation = try fields.optionalText("correlation")
      }
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

    init(_ line: [UInt8]) throws {
      let fields = try LogFields(
        line: line,
        keys: [
          "sequence", "commit", "index", "isLast", "time", "type", "version", "information", "commitment", "salt",
          "payload", "reads", "leaf", "chain",
        ])
      sequence = try fields.number("sequence")
      commit = try fields.number("commit")
      index = try fields.number("index")
      isLast = try fields.flag("isLast")
      time = try fields.number("time")
      type = try fields.text("type")
      version = try fields.number("version")
      information = try fields.optional("information") { fields in
        try Information(
          fields.object("information", keys: ["client", "cause", "process", "key", "causation", "correlation"]))
      }
      commitment = try fields.text("commitment")
      salt = try fields.optionalText("salt")
      payload = try fields.optionalText("payload")
      reads = try fields.optionalText("reads")
      leaf = try fields.text("leaf")
      chain = try fields.text("chain")
    }
  }

  /// The most bytes of a type in a log.
  private static let typeByteLimit = 128

  /// Reads a line; proves nothing yet but that it is in form.
  init(line: [UInt8]) throws {
    let form = try Form(line)
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
