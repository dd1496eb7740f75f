import Foundation

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
  /// The objects that it concerns, spelled as PhotoKit spells identifiers; the one acted on first.
  public let objects: [String]
  /// What happened, as a sentence.
  public let sentence: String
  /// Whether the event's payload, or a part of it, was erased.
  public let isErased: Bool
  /// The event; nil if there is nothing to be said of it.
  private let event: Event?
  private let names: [ObjectNumber: ObjectNames.Name]

  init(
    sequence: UInt64, token: Token, commit: CommitSummary, type: String, objects: [String], sentence: String,
    isErased: Bool, event: Event? = nil, names: [ObjectNumber: ObjectNames.Name] = [:]
  ) {
    (self.sequence, self.token, self.commit, self.type) = (sequence, token, commit, type)
    (self.objects, self.sentence, self.isErased) = (objects, sentence, isErased)
    (self.event, self.names) = (event, names)
  }

  /// The names of objects in the sentence, for programs that write it in another language: a field for each identifier,
  /// with the file name or title. Objects that the sentence only counts, and those without a name, are omitted.
  public var titles: [LogValue.Field] {
    (event?.words.calledByName() ?? []).compactMap { number in
      guard let name = names[number], let title = name.title else { return nil }
      return LogValue.Field(name.spelling, .text(title))
    }
  }

  /// The whole event; computed on demand.
  /// - Complexity: O(k) in the objects of the event.
  public var details: LogValue { event.map { LogValue.object($0.words.fields(names)) } ?? .null }
}
