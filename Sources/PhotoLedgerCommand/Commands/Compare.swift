import JSONReading
import LibraryAudit
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  static let compare = Command(
    words: ["compare"], summary: "list the changes since this library and another had a common state",
    operands: [Operand("OTHER", "the library that this one was forked from, or a fork of it")],
    options: .opening + [.json],
    notes: """
      Run it on the fork with the first library as OTHER: each line is an object that the fork created, changed or
      removed. The last line names the last common state.
      """,
    example: "compare ~/Pictures/library --library ~/Pictures/rehearsal --json",
    places: { $0.libraryPaths + $0.operands }
  ) { invocation in
    let url = try invocation.directory(invocation.operands[0], "OTHER")
    return try invocation.withLibrary { library in
      let other = try PhotoLibrary(at: url)
      defer { other.close() }
      var names = ObjectLabels(of: library)
      let comparison = try library.readDifferences(from: other) { difference, t in
        if invocation.printsJSON {
          try invocation.output.line(JSON(difference))
        } else {
          let label = try names.labels(of: [difference.localIdentifier], t).values.first
          try invocation.output.folded(text(difference, label))
        }
        return true
      }
      if invocation.printsJSON {
        try invocation.output.line(JSON(comparison))
      } else {
        try invocation.output.line(text(comparison))
      }
      return .done
    }
  }
}

/// A difference for people: what, which, and the properties that differ.
/// - Parameter label: what the object is called, if it has a name.
private func text(_ difference: ObjectDifference, _ label: String?) -> String {
  let words: [ObjectType: String] = [.asset: "asset", .assetCollection: "album", .collectionList: "folder"]
  var text = "\(TextLayout.fitted(difference.kind.rawValue, 7))  \(words[difference.type] ?? "object")  "
  text += difference.localIdentifier + (label.map { "  " + TextLayout.printable($0) } ?? "")
  var parts: [String] = []
  if difference.kind == .changed { parts += difference.changes.map(\.property) }
  for (verb, members) in [("added", difference.added), ("removed", difference.removed), ("moved", difference.moved)]
  where !members.isEmpty { parts.append("\(verb) \(TextLayout.grouped(members.count))") }
  return parts.isEmpty ? text : "\(text)  \(parts.joined(separator: ", "))"
}

private func text(_ comparison: LibraryComparison) -> String {
  "Common up to \(comparison.commonToken); "
    + "\(TextLayout.counted(Int(comparison.commitCount), "commit")) here since, "
    + "\(TextLayout.grouped(Int(comparison.otherCommitCount))) there."
}

extension JSON {
  fileprivate init(_ difference: ObjectDifference) {
    func list(_ names: [String]) -> JSON { .list(names.map { .text($0) }) }
    self = [
      "kind": .text(difference.kind.rawValue),
      "type": .text("\(difference.type)"),
      "localIdentifier": .text(difference.localIdentifier),
      "changes": .object(
        difference.changes.map { Member($0.property, ["old": JSON($0.old), "new": JSON($0.new)]) }),
      "added": list(difference.added),
      "removed": list(difference.removed),
      "moved": list(difference.moved),
    ]
  }

  fileprivate init(_ comparison: LibraryComparison) {
    func count(_ kind: ObjectDifference.Kind) -> JSON { .integer(Int64(comparison.counts[kind] ?? 0)) }
    self = [
      "commonToken": .text(comparison.commonToken.description),
      "commitCount": .integer(Int64(clamping: comparison.commitCount)),
      "otherCommitCount": .integer(Int64(clamping: comparison.otherCommitCount)),
      "created": count(.created), "changed": count(.changed), "removed": count(.removed),
    ]
  }
}
