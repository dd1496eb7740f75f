import LibraryJSON
import PhotoLedger

// The editing commands. Each is a JSON operation like those that `apply` reads, and goes the same way; what differs is
// only where its fields come from.

extension Command {
  /// A command that makes one operation from its operands and options.
  static func edit(
    _ words: String, _ summary: String, _ operands: [Operand], options: [Option] = [], notes: String = "",
    example: String, _ operation: @escaping @Sendable (Invocation) throws -> JSON
  ) -> Command {
    edit(
      words, summary, operands, options: options, notes: notes, example: example,
      preparing: { invocation in
        let operation = try operation(invocation)
        return { _ in [operation] }
      })
  }

  /// A command that makes one block of operations. Errors that do not depend on the library are reported before it is
  /// opened; what the operations need of the library is read then.
  static func edit(
    _ words: String, _ summary: String, _ operands: [Operand], options: [Option] = [], notes: String = "",
    example: String,
    preparing prepare: @escaping @Sendable (Invocation) throws -> (PhotoLibrary) throws -> [JSON]
  ) -> Command {
    Command(
      words: words.split(separator: " ").map(String.init), summary: summary, operands: operands,
      options: options + .changing, notes: notes, example: example
    ) { invocation in
      let operations = try prepare(invocation)
      return try invocation.withLibrary { library in
        let line = ChangeLine(try operations(library), cause: words)
        try invocation.report(line.perform(on: library))
        return .done
      }
    }
  }
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

extension Commands {
  /// Operands that name assets.
  static let assets = Operand("ID", .several, "identifiers of assets")

  static let assetEdits: [Command] = [
    .edit("favorite", "mark assets as favourites", [assets], example: "favorite 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F") {
      ["op": "asset.edit", "assets": $0.list(), "isFavorite": true]
    },
    .edit(
      "unfavorite", "unmark favourites", [assets],
      example: "unfavorite 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
    ) {
      ["op": "asset.edit", "assets": $0.list(), "isFavorite": false]
    },
    .edit("hide", "hide assets from ordinary lists", [assets], example: "hide 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F") {
      ["op": "asset.edit", "assets": $0.list(), "isHidden": true]
    },
    .edit("unhide", "show hidden assets again", [assets], example: "unhide 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F") {
      ["op": "asset.edit", "assets": $0.list(), "isHidden": false]
    },
    .edit(
      "edit", "set the date or the location of assets", [assets],
      options: [
        Option("date", "DATE", "the date of capture, such as 2024-05-31T18:30:00+02:00; 'none' clears it"),
        Option("location", "LAT,LON[,ALT]", "degrees and metres, such as 54.32,10.14; 'none' clears it"),
      ],
      notes: "A date with an offset sets the camera's wall time and its offset too; one with Z sets the instant alone.",
      example: "edit 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --date 2024-05-31T18:30:00+02:00 --location 54.32,10.14"
    ) { try edit($0) },
    .edit(
      "trash", "move assets to the trash; they keep their positions in albums", [assets],
      example: "trash 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
    ) {
      ["op": "asset.trash", "assets": $0.list()]
    },
    .edit(
      "restore", "restore assets from the trash, at all their positions", [assets],
      example: "restore 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
    ) {
      ["op": "asset.restore", "assets": $0.list()]
    },
    .edit(
      "purge", "permanently remove trashed assets, with their files", [assets],
      example: "purge 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
    ) {
      ["op": "asset.purge", "assets": $0.list()]
    },
  ]

  private static func edit(_ invocation: Invocation) throws -> JSON {
    var members: [JSON.Member] = [.init("op", "asset.edit"), .init("assets", invocation.list())]
    if let date = invocation.text("date") {
      guard date == "none" || WrittenDate(date) != nil else {
        throw UsageError("--date needs a date such as 2024-05-31T18:30:00+02:00, or 'none'; got '\(date)'.")
      }
      members.append(.init("creationDate", date == "none" ? .null : .text(date)))
    }
    if let location = invocation.text("location") { members.append(.init("location", try place(location))) }
    guard members.count > 2 else { throw UsageError("'edit' needs --date or --location.") }
    return .object(members)
  }

  private static func place(_ text: String) throws -> JSON {
    if text == "none" { return .null }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0.trimmingPrefix(" "))
    }
    guard (2...3).contains(numbers.count), !numbers.contains(nil) else {
      throw UsageError(
        "--location needs LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE, or 'none'; got '\(text)'.")
    }
    let names = ["latitude", "longitude", "altitude"]
    return .object(zip(names, numbers.compactMap { $0 }).map { JSON.Member($0, .number($1)) })
  }
}
