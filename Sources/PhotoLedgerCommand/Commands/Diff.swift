import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

// The difference of a result between two states: in the form of `watch`, but between any two states, earlier or later,
// and with the removed objects beside the inserted ones.

extension Command {
  private static let collections = Option("collections", "compare albums and folders instead of assets")

  static let diff = Command(
    words: ["diff"], summary: "print the exact difference between a fetch at two states",
    operands: [
      Operand("FROM", "the first state: a token, the number of an event, or a date"),
      Operand("TO", "the second state, earlier or later; 'now' is the current state"),
    ],
    options: .opening + FetchArguments.options + [collections, .json],
    notes: """
      With --json it is one object as printed by `watch`: before, after (tokens), count, removed, inserted, changed
      ([start,length]…), moves ([from,to]…, after removals and insertions), moved ([before,after]…), items (the
      inserted and changed objects by index), removedItems (the removed objects, by index before), and commits.
      Without --json, one line for each object: - removed, + inserted, ~ changed, > moved. An album that does not
      exist yet at FROM is empty there.

      \(FetchArguments.notes)
      """,
    example: "diff 2024-05-31 now --album 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
  ) { invocation in
    let ends = try invocation.operands.map { try Self.end($0) }
    let isAboutCollections = invocation.has(collections)
    if isAboutCollections {
      _ = try FetchArguments.readCollections(invocation)
    } else {
      _ = try FetchArguments.read(invocation)
    }
    return try invocation.withLibrary { library in
      let (from, to) = (try ends[0]?.view(of: library) ?? library, try ends[1]?.view(of: library) ?? library)
      let token = try to.currentToken
      if isAboutCollections {
        let held = try from.fetchCollections(FetchArguments.readCollections(invocation))
        try Difference(invocation, try library.changeDetails(from: held, to: token), { JSON($0) }, Self.line).print()
      } else {
        let held = try FetchArguments.fetch(invocation, from: from, orAlbumsOf: to)
        let table = AssetTable(terminal: invocation.output.terminal, margin: 2)
        try Difference(
          invocation, try library.changeDetails(from: held, to: token), { try library.json(of: $0) },
          { table.row($0, try library.resources(of: $0)) }
        ).print()
      }
      return .done
    }
  }

  /// One end; nil: now.
  private static func end(_ text: String) throws -> MomentChoice? {
    text == "now" ? nil : try MomentChoice(text, of: "'diff'")
  }

  private static func line(_ collection: PhotoCollection) -> String {
    let kind = collection.kind == .folder ? "folder" : collection.kind == .smartAlbum ? "smart album" : "album"
    let title = TextLayout.printable(collection.localizedTitle ?? "")
    return TextLayout.fitted(kind, 11) + "  " + TextLayout.fitted(title, 32) + "  " + collection.id.uuidString
  }
}

/// Prints change details.
private struct Difference<Element: Hashable & Sendable> {
  let invocation: Invocation
  let details: ChangeDetails<Element>
  /// An object for programs, and for people.
  let json: (Element) throws -> JSON
  let row: (Element) throws -> String

  init(
    _ invocation: Invocation, _ details: ChangeDetails<Element>, _ json: @escaping (Element) throws -> JSON,
    _ row: @escaping (Element) throws -> String
  ) {
    (self.invocation, self.details, self.json, self.row) = (invocation, details, json, row)
  }

  func print() throws {
    if invocation.printsJSON { try invocation.output.line(details.difference(json)) } else { try printLines() }
  }

  private func printLines() throws {
    let terminal = invocation.output.terminal
    let after = details.fetchResultAfterChanges
    func line(_ mark: String, _ style: Style, _ element: Element) throws {
      try invocation.output.line(terminal.styled(mark, style) + " " + row(element))
    }
    for object in try details.removedObjects() { try line("-", .removed, object) }
    for object in try details.insertedObjects() { try line("+", .inserted, object) }
    for object in try details.changedObjects() { try line("~", .changed, object) }
    for move in details.moved { try line(">", .moved, after.object(at: move.after)) }
  }
}
