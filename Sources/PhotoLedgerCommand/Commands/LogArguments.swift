import LibraryAudit
import LibraryJSON
import PhotoLedger

// How `log` and `history` choose events.

extension Command {
  /// The options by which events are chosen.
  static let filtering: [Option] = [
    Option("client", "C", "only events of a client"), Option("cause", "C", "only events of a cause"),
    Option("kind", "KIND", isRepeatable: true, "only events of a kind"),
    Option("from", "DATE", "only events of this instant or later"),
    Option("to", "DATE", "only events before this instant"),
  ]

  static let kindNote = """
    A kind is a type of event such as assets.trashed, its object (assets) or its action (trashed); \
    an instant is written as 2024-05-31T18:30:00Z.
    """
}

extension Invocation {
  /// The filter that the options name, but for objects.
  func logFilter() throws -> LogFilter {
    var filter = LogFilter()
    filter.after = try text("after").map { try Token($0) }
    filter.client = text("client")
    filter.cause = text("cause")
    filter.kinds = Set(texts("kind"))
    for kind in texts("kind") where !LogFilter.isKnown(kind: kind) {
      let words = LogFilter.knownTypes.flatMap { type in [type] + type.split(separator: ".").map(String.init) }
      throw UsageError("There is no kind of event '\(kind)'\(Suggestion.sentence(for: kind, among: words))")
    }
    filter.from = try instant("from")?.date
    filter.to = try instant("to")?.date
    return filter
  }
}
