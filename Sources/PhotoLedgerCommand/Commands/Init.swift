import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let initialize = Command(
    words: ["init"], summary: "create an empty library",
    operands: [Operand("PATH", .optional, "an empty or new directory; default --library")],
    options: [.library, .json], notes: "Prints the token of the empty library.", example: "init ~/Pictures/library"
  ) { invocation in
    if !invocation.operands.isEmpty, invocation.text("library") != nil {
      throw UsageError("'init' takes PATH or --library, not both.")
    }
    let path = invocation.operands.first ?? invocation.text("library")
    let location = try LibraryLocation(option: path)
    let library = try location.create()
    defer { library.close() }
    let token = try library.currentToken.description
    if invocation.printsJSON {
      try invocation.output.line(["library": .text(library.url.path), "token": .text(token)])
    } else {
      try invocation.output.line(token)
    }
    return .done
  }
}
