import LibraryAudit
import LibraryJSON
import PhotoLedger

// How `log`, `history` and `undo` choose events.

extension Command {
  /// The options by which events are chosen.
  static let filtering: [Option] = [
    Option("client", "C", "only events of a client"), Option("cause", "C", "only events of a cause"),
    Option("kind", "KIND", isRepeatable: true, "only events of a kind"),
    Option("from", "DATE", "only events of this instant or day, or later"),
    Option("to", "DATE", "only events before this instant, or to the end of this day"),
  ]

  static let kindNote = """
    A kind is \(LogFilter.kindForm); \
    a date is an instant, 2024-05-31T18:30:00Z, or a day in UTC, 2024-05-31. Times are printed in UTC.
    """
}

extension Invocation {
  /// The filter that the options name, but for objects.
  func logFilter() throws -> LogFilter {
    var filter = LogFilter()
    filter.after = try text("after").map { try Token($0) }
    filter.client = text("client")
    filter.cause = try cause()
    filter.kinds = try eventKinds()
    filter.from = try instant("from", inDay: 0)
    filter.to = try instant("to", inDay: 86_400)
    return filter
  }

  /// The kinds of event that `--kind` names.
  func eventKinds() throws -> Set<String> {
    for kind in texts("kind") where !LogFilter.isKnown(kind: kind) {
      let words = LogFilter.knownTypes.flatMap { type in [type] + type.split(separator: ".").map(String.init) }
      let advice = Suggestion.nearest(to: kind, among: words).map { "did you mean \($0)?" }
      throw UsageError("There is no kind of event '\(kind)'; \(advice ?? "pass \(LogFilter.kindForm).")")
    }
    return Set(texts("kind"))
  }
}

extension LocalIdentifier {
  /// The identifier that an option gives.
  init(ofOption text: String) throws {
    guard let identifier = LocalIdentifier(text) else {
      throw LibraryError(
        .identifierNotFound, "'\(text)' is not a valid identifier; `ls` and `albums` list those of the library.")
    }
    self = identifier
  }
}
