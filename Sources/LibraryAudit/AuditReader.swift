import EventLog
import Foundation
import LMDB
public import PhotoLedger

// Audit: who did what to an object, read back from the log.
//
//     identifier ──▶ number ──▶ its rows in `history` ──▶ its events ──▶ a value before and after
//                                                    └─▶ the row of their commit ──▶ who, when, why
//
// An event records what it replaced, so every value that a property ever had is in the events that touched the object,
// and nothing else has to be read: the cost depends on the object's events, not on the log. An answer comes from the
// log alone. Objects are shown by identifier, with their names at the selected state, or the current ones.

/// The origin of a change: client, time, cause, and the event.
public struct AuditOrigin: Sendable, Hashable {
  /// The place of the event in the log, from 1.
  public let sequence: UInt64
  /// The state that holds the event's commit.
  public let token: Token
  /// The commit: who, when and why.
  public let commit: CommitSummary
  /// The type of the event, such as `assets.trashed`.
  public let type: String
}

/// The version of the records that an audit is exported as, and what all of them begin with.
public enum AuditSchema {
  /// The version: a field may be added to a record under the same one; it is raised when a field changes its meaning
  /// or goes.
  public static let version: Int64 = 1

  static func record(_ kind: String, _ fields: [LogValue.Field]) -> LogValue {
    .written { writer in
      write(kind, to: &writer) { writer in
        for field in fields {
          writer.key(field.name)
          writer.write(field.value)
        }
      }
    }
  }

  /// Writes a record.
  static func write<Writer: RecordWriter & ~Copyable>(
    _ kind: String, to writer: inout Writer, _ fields: (inout Writer) -> Void
  ) {
    writer.beginObject()
    writer.field("schema") { $0.integer(version) }
    writer.field("record", kind)
    fields(&writer)
    writer.endObject()
  }
}

extension AuditOrigin {
  /// The fields of an origin in the records of an audit.
  var fields: [LogValue.Field] {
    [
      .init("sequence", .integer(Int64(clamping: sequence))), .init("token", .text(token.description)),
      .init("date", .date(commit.date)), .init("client", .text(commit.client)),
      .init("process", .text(commit.process)), .init("cause", commit.cause.map(LogValue.text) ?? .null),
      .init("type", .text(type)),
    ]
  }
}

extension LogEntry {
  /// The event as a record of the audit's export; see <doc:Audit>.
  public var record: LogValue { .written { write(to: &$0) } }

  /// Writes the same.
  package func write(to bytes: inout JSONBytes) {
    writeRecord(to: &bytes, { commit.write(token, to: &$0) }, { writeDetails(to: &$0) })
  }

  private func write(to writer: inout LogValueWriter) {
    writeRecord(to: &writer, { commit.write(token, to: &$0) }, { writeDetails(to: &$0) })
  }

  /// - Parameters:
  ///   - commit: writes what is said of the commit.
  ///   - details: writes the details.
  fileprivate func writeRecord<Writer: RecordWriter & ~Copyable>(
    to writer: inout Writer, _ commit: (inout Writer) -> Void, _ details: (inout Writer) -> Void
  ) {
    AuditSchema.writeEvent(sequence, isErased: isErased, to: &writer, commit: commit) {
      $0.text(type)
    } objects: {
      writeObjects(to: &$0)
    } sentence: {
      $0.text(sentence)
    } details: {
      details(&$0)
    } titles: {
      writeTitles(to: &$0)
    }
  }
}

extension AuditSchema {
  /// Writes the record of an event, whose parts functions write.
  @inline(__always)
  fileprivate static func writeEvent<Writer: RecordWriter & ~Copyable>(
    _ sequence: UInt64, isErased: Bool, to writer: inout Writer, commit: (inout Writer) -> Void,
    type: (inout Writer) -> Void, objects: (inout Writer) -> Void, sentence: (inout Writer) -> Void,
    details: (inout Writer) -> Void, titles: (inout Writer) -> Void
  ) {
    write("event", to: &writer) { writer in
      writer.field("sequence") { $0.integer(Int64(clamping: sequence)) }
      commit(&writer)
      writer.field("type", type)
      writer.field("objects", objects)
      writer.field("sentence", sentence)
      writer.field("details", details)
      writer.field("titles", titles)
      writer.field("isErased") { $0.bool(isErased) }
    }
  }
}

extension CommitSummary {
  fileprivate func write(_ token: Token, to writer: inout some RecordWriter & ~Copyable) {
    writer.field("token") { $0.token(token) }
    writer.field("date", date)
    writer.field("client", client)
    writer.field("process", process)
    writer.field("cause", cause)
    writer.field("key", key)
    writer.field("causation", causation)
  }
}

/// Writes the fields of rows that were recorded one after another, each after the object's first member.
struct CreationTexts {
  private var texts = RowTexts()
  private let fields = Self.fields
  private let dependencies = Self.dependencies

  private static let fields = AssetField.allCases.map { ($0, $0.key, $0.form) }

  private static let dependencies =
    AssetField.allCases.map(\.form.dependency) + [RowDependency.word(at: AssetRow.Layout.addedDate)]

  /// Writes the fields that an event has of a row, each that has a value.
  mutating func write(_ row: AssetRow, to bytes: inout JSONBytes) {
    // What does not lie in the words of a row is written anew each time.
    let changed = texts.begin(row, false)
    fields.withUnsafeBufferPointer { fields in
      texts.write(changed, dependencies, to: &bytes) { index, bytes in
        guard index < fields.count else { return bytes.field("addedDate", row.addedDate) }
        let (field, key, form) = fields[index]
        row.write(field, key, form, to: &bytes)
      }
    }
  }
}

/// Writes events one after another, each as a line: what is said of a commit is copied from its event before,
/// and what is said of a created asset from the one before, as far as the rows are equal.
struct LogLines: ~Copyable {
  private var commit: (number: UInt64, text: Range<Int>)?
  private var creations = CreationTexts()
  /// What the record before was read into.
  private var creation = LentCreation()

  /// Writes an event and a line end, after the line of the event before, if there is one.
  mutating func write(_ entry: LogEntry, to bytes: inout JSONBytes) {
    entry.writeRecord(to: &bytes) { bytes in
      write(entry.commit, entry.token, to: &bytes)
    } _: { bytes in
      entry.writeDetails(to: &bytes, &creations)
    }
    bytes.endLine()
  }

  /// Writes the same line of a record, if it is a creation that is written where it lies.
  /// - Returns: the identifier of the asset, if it is.
  mutating func write(
    _ record: borrowing StoredEvent, of commit: CommitSummary, _ token: Token, to bytes: inout JSONBytes
  ) -> LocalIdentifier? {
    guard creation.read(record), let payload = record.payload else { return nil }
    // The record is large, and what the functions below use of it is small.
    let (sequence, type) = (record.sequence, record.typeBytes)
    AuditSchema.writeEvent(sequence, isErased: false, to: &bytes) {
      write(commit, token, to: &$0)
    } type: {
      $0.text(utf8: type)
    } objects: {
      $0.beginList()
      $0.identifier(creation.row.identifier, of: .asset)
      $0.endList()
    } sentence: {
      creation.writeSentence(to: &$0, payload)
    } details: {
      $0.beginObject()
      creation.writeFields(to: &$0, payload) { creations.write(creation.row, to: &$0) }
      $0.endObject()
    } titles: {
      // The sentence calls it by the name in the fields.
      $0.beginObject()
      $0.endObject()
    }
    bytes.endLine()
    return creation.row.identifier
  }

  private mutating func write(_ commit: CommitSummary, _ token: Token, to bytes: inout JSONBytes) {
    if let known = self.commit, known.number == commit.number { return bytes.again(known.text) }
    let start = bytes.count
    commit.write(token, to: &bytes)
    self.commit = (commit.number, start..<bytes.count)
  }
}

/// Reads events with who, when and why; keeps the commit and the names that it has just looked up.
struct AuditReader {
  let core: StoreCore
  private var commit: CommitSummary?
  private var names: ObjectNames

  /// - Parameter sequence: the event after which names are as they are given.
  init(of store: LibraryStore, at sequence: UInt64 = LibraryStore.now) {
    core = store.core
    names = ObjectNames(of: store, at: sequence)
  }

  /// The number of an object, also of a purged one.
  /// - Throws: ``LibraryError`` `.identifierNotFound` for an object that never existed.
  func number(of identifier: LocalIdentifier, _ t: borrowing StoreReading) throws -> ObjectNumber {
    if let object = try core.projections.object(identifier, in: t) { return object.number }
    guard let found = try core.assetNumber(identifier, t) else {
      throw LibraryError(
        .identifierNotFound, "The library never had an object with the identifier \(identifier.uuidString).")
    }
    return found
  }

  /// The number of an object by the spelling of its identifier.
  func number(of spelling: String, _ t: borrowing StoreReading) throws -> ObjectNumber {
    guard let identifier = LocalIdentifier(spelling) else {
      throw LibraryError(
        .identifierNotFound, "'\(spelling.prefix(80))' is not a valid identifier; pass one from this library.")
    }
    return try number(of: identifier, t)
  }

  /// The name of an object.
  mutating func name(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> ObjectNames.Name? {
    try names.name(of: number, t)
  }

  /// The name of an asset whose identifier is known.
  mutating func name(
    _ number: ObjectNumber, identified identifier: LocalIdentifier, _ t: borrowing StoreReading
  ) throws -> ObjectNames.Name? {
    try names.name(of: number, identified: identifier, t)
  }

  /// The same, if the file name of an asset is not asked for.
  mutating func untitledName(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> ObjectNames.Name? {
    try names.spelling(of: number, t)
  }

  /// The identifier of an object; the name of a client.
  mutating func spelling(_ number: ObjectNumber, _ t: borrowing StoreReading) throws -> String {
    try names.spelling(of: number, t)?.spelling ?? ""
  }

  /// Who, when and why of a commit.
  mutating func commit(_ number: UInt64, _ t: borrowing StoreReading) throws -> CommitSummary {
    if let commit, commit.number == number { return commit }
    let summary = CommitSummary(try core.recordedCommit(number, t))
    commit = summary
    return summary
  }

  /// The events that touched an object, by their places, oldest first.
  func sequences(of number: ObjectNumber, through last: UInt64, _ t: borrowing StoreReading) throws -> [UInt64] {
    let all = try core.projections.history(of: number, in: t)
    return last == LibraryStore.now ? all : Array(all.prefix { $0 <= last })
  }

  /// An event with client, time and cause, and whether its payload was erased: then it is the replacement, or nil if
  /// there is none.
  mutating func event(
    at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> (origin: AuditOrigin, event: Event?, isErased: Bool) {
    let record = try core.log.recordedEvent(at: sequence, in: t)
    let origin = AuditOrigin(
      sequence: sequence, token: core.token(record.commit), commit: try commit(record.commit, t), type: record.type)
    return (origin, record.content == nil ? nil : try Event(record), record.isErased)
  }
}
