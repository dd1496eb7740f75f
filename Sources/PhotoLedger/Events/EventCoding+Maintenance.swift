import EventLog
import Foundation

extension AssetErased {
  /// The numbers, and of each redaction an array: the sequence, the version, and the payload as a byte string.
  func write(to fields: inout FieldWriter) {
    fields.list(1, numbers) { $0.unsigned($1) }
    fields.list(2, redactions) { writer, redaction in
      writer.array(3)
      writer.unsigned(redaction.sequence)
      writer.unsigned(UInt64(redaction.version))
      writer.bytes(redaction.payload)
    }
  }

  init(_ payload: RawSpan) throws {
    var numbers: [ObjectNumber] = []
    var redactions: [Redaction] = []
    try payload.forEachField { reader, key in
      switch key {
      case 1: for _ in 0..<(try reader.array()) { numbers.append(try reader.place()) }
      case 2:
        for _ in 0..<(try reader.array()) {
          try reader.array(count: 3)
          let sequence = try reader.place()
          guard sequence > redactions.last?.sequence ?? 0 else {
            throw EventCodingError(sentence: "its redaction of event \(sequence) is out of order.")
          }
          let version = try reader.number(UInt32.self)
          let payload = try reader.bytes().withUnsafeBytes { Array($0) }
          redactions.append(Redaction(sequence: sequence, version: version, payload: payload))
        }
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    guard (1...Event.objectLimit).contains(numbers.count) else {
      throw EventCodingError(sentence: "it erases \(numbers.count) assets, not 1 to \(Event.objectLimit).")
    }
    self.init(numbers: numbers, redactions: redactions)
  }
}

extension LibraryFork {
  func write(to fields: inout FieldWriter) {
    fields.identifier(1, identifier)
    fields.date(2, date)
    fields.text(3, origin)
  }

  init(_ payload: RawSpan) throws {
    var identifier: LocalIdentifier?
    var date: Date?
    var origin: String?
    try payload.forEachField { reader, key in
      switch key {
      case 1: identifier = try reader.identifier()
      case 2: date = try reader.date()
      case 3: origin = try reader.text()
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    self.init(
      identifier: try required(identifier, "identifier"), date: try required(date, "date"),
      origin: try required(origin, "origin"))
  }
}
