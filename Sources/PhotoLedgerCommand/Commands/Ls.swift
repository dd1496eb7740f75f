import LibraryAudit
import LibraryJSON
import PhotoLedger

extension Command {
  static let list = Command(
    words: ["ls"], summary: "list assets, by default in the order of their addition",
    options: .looking + FetchArguments.options + [.json], notes: FetchArguments.notes,
    example: #"ls --where "isFavorite == YES" --sort creationDate:desc --limit 20"#
  ) { invocation in
    // Looked at before the library is opened: a wrong predicate is wrong in every library.
    _ = try FetchArguments.read(invocation)
    return try invocation.withLibrary { library in
      let result = try FetchArguments.fetch(invocation, from: library)
      let table = AssetTable(terminal: invocation.output.terminal)
      if !invocation.printsJSON, !result.isEmpty { try invocation.output.line(table.heading) }
      if invocation.printsJSON {
        try library.writeLines(of: result) {
          AssetLines()
        } _: { lines, asset, details, bytes in
          lines.write(asset, details, to: &bytes)
        } _: { lines in
          try invocation.output.write(lines)
        }
      } else {
        try library.writeLines(of: result) {
        } _: { _, asset, details, bytes in
          table.write(asset, details.resources, to: &bytes)
          bytes.endLine()
        } _: { lines in
          try invocation.output.write(lines)
        }
      }
      if !invocation.printsJSON, invocation.output.terminal.isInteractive {
        try invocation.output.line(invocation.output.terminal.styled(TextLayout.counted(result.count, "asset"), .faint))
      }
      return .done
    }
  }
}
