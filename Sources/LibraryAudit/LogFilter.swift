public import Foundation
public import PhotoLedger

/// Which events of the log are wanted; an event is wanted if it meets every condition that is set.
public struct LogFilter: Sendable {
  /// Only events after the state of a token.
  public var after: Token?
  /// Only events beyond this one, in the order of reading; the log must have it.
  package var beyond: UInt64?
  /// Only events that concern all of these objects: assets, albums or folders, also purged ones.
  public var objects: [LocalIdentifier] = []
  /// Only events of a client.
  public var client: String?
  /// Only events of a cause that is spelled exactly so; a commit without one has no cause, and not the empty one.
  public var cause: String?
  /// Only events whose type begins with this.
  public var typePrefix: String?
  /// Only events of these kinds: a full type such as `assets.trashed`, its object (`assets`) or its action (`trashed`);
  /// empty: of any.
  public var kinds: Set<String> = []
  /// Only events of commits that were made at this instant or later.
  public var from: Date?
  /// Only events of commits that were made before this instant.
  public var to: Date?

  /// Only events that concern one object: the first of ``objects``.
  public var object: LocalIdentifier? {
    get { objects.first }
    set { objects = newValue.map { [$0] } ?? [] }
  }

  /// Wants all events.
  public init() {}

  /// The types of event that this version of the library records, in the order of their names.
  public static let knownTypes: [String] = [
    "asset.created", "asset.erased", "asset.purged", "asset.returned", "asset.unmade", "assets.edited",
    "assets.restored", "assets.trashed", "client.edited", "client.registered", "collection.created",
    "collection.edited", "content.inserted", "content.moved", "content.removed", "content.replaced",
    "content.spread", "history.shortened", "library.created", "library.forked", "nothing.changed", "pick.recorded",
    "selection.granted", "selection.picked", "selection.withdrawn",
  ]

  /// What a kind is, for messages.
  package static let kindForm =
    "a type of event such as assets.trashed, its object (assets) or its action (trashed)"

  /// Whether a kind, as ``kinds`` takes it, is one of a type of event that this version records.
  public static func isKnown(kind: String) -> Bool { knownTypes.contains { Event.isType($0, ofKind: kind) } }

  /// Whether there is a condition that the row of a commit decides.
  var asksAboutCommits: Bool { client != nil || cause != nil || from != nil || to != nil }

  func wants(_ commit: CommitSummary) -> Bool {
    if let client, client.exact != commit.client.exact { return false }
    if let cause, cause.exact != commit.cause?.exact { return false }
    if let from, commit.date < from { return false }
    if let to, commit.date >= to { return false }
    return true
  }

  /// Whether there is a condition on the type.
  var asksAboutTypes: Bool { typePrefix != nil || !kinds.isEmpty }

  func wants(type: String) -> Bool {
    if let typePrefix, !type.hasPrefix(typePrefix) { return false }
    return kinds.isEmpty || kinds.contains { Event.isType(type, ofKind: $0) }
  }
}
