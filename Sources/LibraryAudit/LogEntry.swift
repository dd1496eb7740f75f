import EventLog
import Foundation
public import PhotoLedger

// An event for readers of the log: client, time, cause, objects, and a sentence; and the whole payload as a value that
// converts to JSON. Objects are named by their identifiers, which come from the events that created them. What is said
// of each event is in one table (EventWords.swift).

/// One event of the log.
public struct LogEntry: Sendable {
  /// The place of the event in the log, from 1.
  public let sequence: UInt64
  /// The state that holds the event's commit.
  public let token: Token
  /// The commit it belongs to: who, when and why.
  public let commit: CommitSummary
  /// The type of the event, such as `assets.trashed`.
  public let type: String
  /// Whether the event's payload, or a part of it, was erased.
  public let isErased: Bool
  private let content: Content

  /// What there is to say of the event.
  private enum Content: Sendable {
    case event(Event, EventNames)
    /// A sentence, where the event cannot be read.
    case sentence(String)
  }

  init(_ record: borrowing StoredEvent, _ token: Token, _ commit: CommitSummary, _ event: Event, _ names: EventNames) {
    self.init(record, token, commit, .event(event, names))
  }

  /// - Parameter sentence: what is said instead of what happened.
  init(_ record: borrowing StoredEvent, _ token: Token, _ commit: CommitSummary, sentence: String) {
    self.init(record, token, commit, .sentence(sentence))
  }

  private init(_ record: borrowing StoredEvent, _ token: Token, _ commit: CommitSummary, _ content: Content) {
    (sequence, type, isErased) = (record.sequence, record.type, record.isErased || record.content == nil)
    (self.token, self.commit, self.content) = (token, commit, content)
  }

  /// The objects that it concerns, spelled as PhotoKit spells identifiers; the one acted on first.
  public var objects: [String] {
    guard case .event(let event, let names) = content else { return [] }
    return distinct(event.touched).compactMap { names[$0]?.spelling }
  }

  /// What happened, as a sentence.
  public var sentence: String {
    switch content {
    case .sentence(let sentence): sentence
    case .event(let event, let names): event.sentence(names) + (isErased ? " Part of it was erased." : "")
    }
  }

  /// The names of objects in the sentence, for programs that write it in another language: a field for each identifier,
  /// with the file name or title. Objects that the sentence only counts, and those without a name, are omitted.
  public var titles: [LogValue.Field] {
    guard case .object(let fields) = LogValue.written(by: { writeTitles(to: &$0) }) else { return [] }
    return fields
  }

  /// The whole event; computed on demand.
  /// - Complexity: O(k) in the objects of the event.
  public var details: LogValue { .written { writeDetails(to: &$0) } }

  /// Writes the list of ``objects``.
  func writeObjects(to writer: inout some RecordWriter & ~Copyable) {
    writer.beginList()
    if case .event(let event, let names) = content {
      for number in distinct(event.touched) {
        if let name = names[number] { name.write(to: &writer) }
      }
    }
    writer.endList()
  }

  /// Writes ``titles`` as an object.
  func writeTitles(to writer: inout some RecordWriter & ~Copyable) {
    writer.beginObject()
    if case .event(let event, let names) = content {
      for number in event.calledByName {
        guard let name = names[number], let title = name.title else { continue }
        writer.key(name.spelling)
        writer.text(title)
      }
    }
    writer.endObject()
  }

  /// Writes ``details``.
  func writeDetails(to writer: inout some RecordWriter & ~Copyable) {
    guard case .event(let event, let names) = content else { return writer.null() }
    writer.beginObject()
    event.writeFields(to: &writer, names)
    writer.endObject()
  }

  /// Writes ``details`` after those of other events.
  func writeDetails(to bytes: inout JSONBytes, _ creations: inout CreationTexts) {
    guard case .event(.assetCreated(let existence), let names) = content, !existence.row.isErased else {
      return writeDetails(to: &bytes)
    }
    bytes.beginObject()
    existence.write(to: &bytes, names) { creations.write(existence.row, to: &$0) }
    bytes.endObject()
  }
}
