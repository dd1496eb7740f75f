import JSONReading
import LibraryAudit
import LibraryJSON
import PhotoLedger

// Permissions of clients: the decisions of the library's owner. Each is an operation like those of `apply`.

extension Commands {
  private static let name = Operand("NAME", "the client's name, such as com.example.gallery")
  private static let level = Option("level", "LEVEL", "readWrite (the default) or addOnly")
  private static let noAlert = Option(
    "no-limited-alert", "do not offer more assets at each start while its access is limited")

  static let clientEdits: [Command] = [
    .editing(
      "client register", "register a client, with usage descriptions", [name],
      options: [
        Option("usage", "TEXT", "the usage description for reading and changing"),
        Option("add-usage", "TEXT", "the usage description for adding"),
        noAlert,
      ],
      notes: "A client may register itself. Omitted values are kept.",
      example: "client register com.example.gallery --usage 'It shows your photos.'"
    ) {
      var members: [JSON.Member] = [.init("op", "client.register"), .init("client", $0.operand(0))]
      if let text = $0.text("usage") { members.append(.init("readWriteUsageDescription", .text(text))) }
      if let text = $0.text("add-usage") { members.append(.init("addOnlyUsageDescription", .text(text))) }
      if $0.has(noAlert) { members.append(.init("preventsAutomaticLimitedAccessAlert", true)) }
      return .object(members)
    },
    decision("authorize", .authorized, "give a client full access, or add-only access"),
    .editing(
      "client limit", "give a client limited access: a selection, and objects that it creates",
      [name, Operand("ASSET", .any, "assets that join its selection")],
      notes: """
        The selection is kept; `client grant` and `client withdraw` change it. If assets are named, it follows no album
        any more.
        """,
      example: "client limit com.example.gallery 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F",
      preparing: { invocation in
        let authorize: JSON = ["op": "client.authorize", "client": invocation.operand(0), "status": "limited"]
        guard invocation.operands.count > 1 else { return { _ in [authorize] } }
        let unfollow: JSON = ["op": "client.follow", "client": invocation.operand(0), "album": .null]
        let grant: JSON = ["op": "client.grant", "client": invocation.operand(0), "assets": invocation.list(from: 1)]
        return { _ in [authorize, unfollow, grant] }
      }),
    decision("deny", .denied, "deny access, as decided by the user"),
    decision("restrict", .restricted, "restrict access by a policy, which no prompt can change"),
    decision("reset", .notDetermined, "reset the permission to undecided, so that the client may request it"),
    selection("grant", "add assets to a limited client's selection"),
    selection("withdraw", "remove assets from a limited client's selection"),
    .editing(
      "client follow", "make a limited client's selection follow the members of an album",
      [name, Operand("ALBUM", .optional, "the album; without one, stop following and keep the selection")],
      notes: "Assets that the client adds join the album. While it follows, `client grant` and `client withdraw` fail.",
      example: "client follow com.example.gallery 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
    ) {
      [
        "op": "client.follow", "client": $0.operand(0), "album": $0.operands.count > 1 ? $0.operand(1) : .null,
      ]
    },
  ]

  private static func decision(_ word: String, _ status: AuthorizationStatus, _ summary: String) -> Command {
    .editing("client \(word)", summary, [name], options: [level], example: "client \(word) com.example.gallery") {
      [
        "op": "client.authorize", "client": $0.operand(0), "status": .text("\(status)"),
        "level": .text("\(try $0.accessLevel())"),
      ]
    }
  }

  private static func selection(_ word: String, _ summary: String) -> Command {
    .editing(
      "client \(word)", summary, [name, Operand("ASSET", .several, "identifiers of assets")],
      example: "client \(word) com.example.gallery 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
    ) {
      ["op": .text("client.\(word)"), "client": $0.operand(0), "assets": $0.list(from: 1)]
    }
  }
}

extension Invocation {
  /// The level that `--level` names.
  fileprivate func accessLevel() throws -> AccessLevel {
    guard let text = text("level") else { return .readWrite }
    guard let level = AccessLevel.allCases.first(where: { "\($0)" == text }) else {
      throw UsageError("--level needs readWrite or addOnly; got '\(text)'.")
    }
    return level
  }
}

extension Command {
  private static let client = Operand("NAME", "the client's name")

  static let clientList = Command(
    words: ["client", "list"], summary: "list the clients of the library, and their permissions",
    options: .looking + [.json],
    notes: """
      The kind of access is full, limited, addOnly, picked (only picked assets, without permission) or none. Times are
      in UTC.
      """,
    example: "client list"
  ) { invocation in
    try invocation.withLibrary { library in
      for client in try library.clients() {
        if invocation.printsJSON {
          try invocation.output.line(JSON(client))
        } else {
          try invocation.output.write(rows(client, invocation.output.terminal))
        }
      }
      return .done
    }
  }

  static let clientSelection = Command(
    words: ["client", "selection"], summary: "list the selection of a limited client",
    operands: [client], options: .looking + [.json],
    notes: "Hidden and trashed assets are included: they become visible to the client again when shown or restored.",
    example: "client selection com.example.gallery"
  ) { invocation in
    try invocation.withLibrary { library in
      let table = AssetTable(terminal: invocation.output.terminal)
      for asset in try library.selection(of: invocation.operands[0]) {
        try invocation.output.line(
          invocation.printsJSON ? library.json(of: asset).description : table.row(asset, library.resources(of: asset)))
      }
      return .done
    }
  }

  static let clientAccess = Command(
    words: ["client", "access"], summary: "print which clients have or had access to an asset",
    operands: [Operand("ASSET", "the identifier of an asset, which may be purged")],
    options: .looking + [.json],
    notes: "The owner has access to everything and is not listed.",
    example: "client access 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
  ) { invocation in
    try invocation.withLibrary { library in
      for access in try library.access(toAsset: invocation.operands[0]) {
        if invocation.printsJSON {
          try invocation.output.line(["name": .text(access.client), "accessKind": .text(access.kind.rawValue)])
        } else {
          try invocation.output.line(
            TextLayout.fitted(access.kind.rawValue, 8) + "  " + TextLayout.printable(access.client))
        }
      }
      return .done
    }
  }

  static let clientRequest = Command(
    words: ["client", "request"], summary: "request permission for a client, and print its permissions",
    syntax: "--as CLIENT",
    options: .opening + [Option("level", "LEVEL", "readWrite (the default) or addOnly"), .json],
    notes: """
      --as names the client, which must be registered with a usage description for the level. If the permission is
      undecided, the user at the terminal is prompted; without a terminal there is no prompt. A limited client is
      offered more assets.
      """,
    example: "client request --as com.example.gallery"
  ) { invocation in
    guard let client = try invocation.client() else {
      throw UsageError("'client request' needs --as CLIENT: the client that requests permission.")
    }
    let level = try invocation.accessLevel()
    return try invocation.withLibrary(isTelling: false) { library in
      let status = try waiting { try await library.requestAuthorization(for: level) }
      var added: [String] = []
      if status == .limited { added = try waiting { try await library.presentLimitedLibraryPicker() } }
      if status == .notDetermined {
        Output.notice(
          TerminalPrompt() == nil
            ? TerminalPrompt.absence(for: client) : "The permission of the client '\(client)' was not decided.")
      }
      if invocation.printsJSON {
        try invocation.output.line([
          "name": .text(client), "level": .text("\(level)"), "authorizationStatus": .text("\(status)"),
          "added": .list(added.map { .text($0) }),
        ])
      } else {
        try invocation.output.line("\(status)")
        for identifier in added { try invocation.output.line(identifier) }
      }
      return .done
    }
  }

  /// A line for the client, and one for each reason that it gave.
  private static func rows(_ client: Client, _ terminal: Terminal) -> String {
    let statuses = AccessLevel.allCases.reversed().map { "\($0) \(client.status(for: $0))" }
    let selected = client.selectionCount == 0 ? [] : ["\(TextLayout.grouped(client.selectionCount)) selected"]
    let picks = client.pickCount == 0 ? [] : [TextLayout.counted(client.pickCount, "pick")]
    let date = DateText.second(client.registeredDate)
    let facts = (statuses + selected + picks + ["registered \(date)"]).joined(separator: ", ")
    let (nameWidth, kindWidth) = (32, 8)
    var text = TextLayout.fitted(client.name, nameWidth) + "  "
    text += terminal.styled(TextLayout.fitted(client.accessKind.rawValue, kindWidth), .heading)
    let isNarrow = terminal.width.map { nameWidth + 2 + kindWidth + 2 + TextLayout.width(facts) > $0 } ?? false
    text += (isNarrow ? "\n" + TextLayout.folded("    " + facts, at: terminal.width) : "  " + facts) + "\n"
    for level in AccessLevel.allCases.reversed() {
      guard let words = client.usageDescription(for: level) else { continue }
      text += terminal.styled("  \(level): \(TextLayout.printable(words))", .faint) + "\n"
    }
    return text
  }
}
