import JSONReading
import LibraryJSON
import PhotoLedger

// The editing commands. Each is a JSON operation like those that `apply` reads, and goes the same way; what differs is
// only where its fields come from. This is what they share; each stands in the file of its name.

extension Command {
  /// A command that makes one operation from its operands and options.
  static func editing(
    _ words: String, _ summary: String, _ operands: [Operand], syntax: String? = nil, options: [Option] = [],
    notes: String = "", example: String, _ operation: @escaping @Sendable (Invocation) throws -> JSON
  ) -> Command {
    editing(
      words, summary, operands, syntax: syntax, options: options, notes: notes, example: example,
      preparing: { invocation in
        let operation = try operation(invocation)
        return { _ in [operation] }
      })
  }

  /// A command that makes one block of operations. Errors that do not depend on the library are reported before it is
  /// opened; what the operations need of the library is read then.
  static func editing(
    _ words: String, _ summary: String, _ operands: [Operand], syntax: String? = nil, options: [Option] = [],
    notes: String = "", example: String,
    preparing prepare: @escaping @Sendable (Invocation) throws -> (PhotoLibrary) throws -> [JSON]
  ) -> Command {
    Command(
      words: words.split(separator: " ").map(String.init), summary: summary, operands: operands,
      syntax: syntax, options: options + .changing, notes: notes, example: example
    ) { invocation in
      let operations = try prepare(invocation)
      return try invocation.withLibrary { library in
        let line = ChangeLine(try operations(library), cause: words, command: words)
        try invocation.report(line.perform(on: library))
        return .done
      }
    }
  }

  /// A removal of members by identifier, or by index.
  static func removal(
    _ kind: String, _ container: JSON, _ members: String, _ invocation: Invocation
  ) throws -> JSON {
    let isByIndex = invocation.text("at") != nil
    guard isByIndex == (invocation.operands.count == 1) else {
      throw UsageError("'\(kind) remove' needs either identifiers or --at.")
    }
    if isByIndex {
      return ["op": .text("\(kind).removeAt"), kind: container, "indexes": try invocation.wholeNumbers("at")]
    }
    return ["op": .text("\(kind).remove"), kind: container, members: invocation.list(from: 1)]
  }

  /// An identifier for examples.
  static let exampleIdentifier = "1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
}

extension Operand {
  /// Assets by their identifiers.
  static let assets = Operand("ID", .several, "identifiers of assets")
  /// An asset by its identifier.
  static let asset = Operand("ASSET", "the identifier of an asset")
  /// The title of an album or a folder.
  static let title = Operand("TITLE", "the title; titles need not be unique")
}

extension Option {
  /// Where members are inserted.
  static let position = Option("at", "INDEX", "before the member at this index, from 0")
  /// Which members of an album or a folder.
  static let positions = Option("at", "INDEX[,INDEX]…", "the members at these indexes, from 0")
  /// Where members are moved to.
  static let target = Option("to", "INDEX", "the target index, counted without the moved members")
}

extension Invocation {
  /// Prints what a command did: the identifiers that it made, for a script to take up, or where the library stands.
  fileprivate func report(_ receipt: CommitReceipt) throws {
    if printsJSON { return try output.line(.object(receipt.members)) }
    for identifier in receipt.created { try output.line(identifier) }
    if receipt.created.isEmpty { try output.line(receipt.token.description) }
  }

  /// Operands from one on, as a list of text.
  func list(from start: Int = 0) -> JSON { .list(operands[start...].map { .text($0) }) }

  /// An operand as text.
  func operand(_ index: Int) -> JSON { .text(operands[index]) }

  func wholeNumber(_ name: String) throws -> JSON { .integer(Int64(try requiredCount(name))) }

  func wholeNumbers(_ name: String) throws -> JSON { JSON(try positions(name)) }
}
