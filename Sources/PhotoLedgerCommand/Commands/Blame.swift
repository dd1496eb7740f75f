import JSONReading
import LibraryAudit
import LibraryJSON
import PhotoLedger

// Who put what into an album. With --json each answer is a line of the library's own records (the article Audit
// describes them).

extension Command {
  private static let former = Option("former", "also list removed members, with the commit that removed them")

  static let blame = Command(
    words: ["blame"], summary: "print the commit that added each member of an album or folder",
    operands: [Operand("ALBUM", "the identifier of an album or folder, which may be deleted")],
    options: .looking + [former, .json], notes: "Times are printed in UTC.",
    example: "blame 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --former"
  ) { invocation in
    let album = invocation.operands[0]
    return try invocation.withLibrary { library in
      for member in try library.blame(album, includingFormer: invocation.has(former)) {
        if invocation.printsJSON {
          try invocation.output.line(JSON(member.record))
          continue
        }
        let origin = member.removed ?? member.added
        let verb = member.isPresent ? "in " : "out"
        let line = "\(verb)  \(origin.map(\.line) ?? "erased")  \(member.member)  \(member.label)"
        try invocation.output.folded(TextLayout.printable(line))
      }
      return .done
    }
  }
}
