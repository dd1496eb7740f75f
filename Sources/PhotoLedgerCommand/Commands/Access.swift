import JSONReading
import LibraryAudit
import LibraryJSON
import PhotoLedger

// Who could see what. With --json each answer is a line of the library's own records (the article Audit
// describes them).

extension Command {
  static let access = Command(
    words: ["access"], summary: "print who has access to an object, or what a client has access to",
    operands: [Operand("ID", .optional, "the identifier of an asset, album or folder, also of a purged one")],
    syntax: "(ID | --client C)",
    options: .looking + [
      Option("client", "C", "print what this client had access to, and when, instead of an ID"), .json,
    ],
    notes: """
      The owner has access to everything and is not listed. Other clients have full access, or access to a selection, \
      to objects that they created, or to picked assets. Reads are not recorded: this is what could be seen. \
      Times are printed in UTC.
      """,
    example: "access 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --at 2024-05-31T18:30:00Z"
  ) { invocation in
    switch (invocation.operands.first, invocation.text("client")) {
    case (let object?, nil): return try tellSeers(of: object, invocation)
    case (nil, let client?): return try tellIntervals(of: client, invocation)
    default: throw UsageError("'access' needs either an identifier or --client C.")
    }
  }

  private static func tellSeers(of object: String, _ invocation: Invocation) throws -> ExitStatus {
    try invocation.withLibrary { library in
      for access in try library.access(to: object) {
        if invocation.printsJSON {
          try invocation.output.line(JSON(access.record))
        } else {
          let line = TextLayout.fitted(access.ground.rawValue, 13) + "  " + TextLayout.printable(access.client)
          try invocation.output.folded(line)
        }
      }
      return .done
    }
  }

  private static func tellIntervals(of client: String, _ invocation: Invocation) throws -> ExitStatus {
    try invocation.withLibrary { library in
      let intervals = try library.accessIntervals(of: client)
      var names = ObjectLabels(of: library)
      let labels = try invocation.printsJSON ? [:] : names.labels(of: intervals.compactMap(\.object))
      for interval in intervals {
        if invocation.printsJSON {
          try invocation.output.line(JSON(interval.record))
          continue
        }
        let end = interval.to.map { "until \($0.line)" } ?? "until now"
        let object = interval.object.map { [$0, labels[$0]].compactMap(\.self).joined(separator: "  ") }
        let line =
          "\(TextLayout.fitted(interval.ground.rawValue, 13))  \(object ?? "everything")"
          + "  from \(interval.from.line) \(end)"
        try invocation.output.folded(TextLayout.printable(line))
      }
      return .done
    }
  }
}
