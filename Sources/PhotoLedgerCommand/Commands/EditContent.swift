import Foundation
import LibraryJSON
import PhotoLedger

// Edits of what an asset is, and of the words about it.
//
//     edit input ASSET        what to begin from: files, and the recipe of the last edit if the editor knows its format
//           │  an editor works, and leaves a new recipe and the rendered file
//           ▼
//     edit commit ASSET       asset.editContent
//     edit revert ASSET       asset.revertContent

extension Command {
  private static let handles = Option(
    "handles", "FORMAT", isRepeatable: true, "a format of adjustment data that the editor can apply")
  private static let force = Option("force", "overwrite an existing file")

  static let editInput = Command(
    words: ["edit", "input"],
    summary: "print an editor's input: the files, and the last edit's adjustment data",
    operands: [Operand("ASSET", "the identifier of an asset")],
    options: .opening + [
      handles, Option("output", "FILE", "write the adjustment data to a file"), force, .json,
    ],
    notes: """
      An editor that can apply the stored adjustment data starts from the unedited files, any other from the rendered
      ones; `base` says which, and `edit commit --base` needs the same value.
      """,
    example: "edit input 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --handles com.example.editor --json"
  ) { invocation in
    let formats = invocation.texts(handles.name)
    return try invocation.withLibrary { library in
      let asset = try library.asset(named: invocation.operands[0])
      let input = try library.editingInput(for: asset) { formats.contains($0.formatIdentifier) }
      if let output = invocation.text("output") {
        try write(input, library, to: output, replacing: invocation.has(force))
      }
      if invocation.printsJSON {
        try invocation.output.line(json(input, library))
      } else {
        try invocation.output.write(text(input, library, invocation.output.terminal))
      }
      return .done
    }
  }

  /// Copies the adjustment data, which is a file of the asset like any other.
  private static func write(
    _ input: EditingInput, _ library: PhotoLibrary, to path: String, replacing: Bool
  ) throws {
    let recipe = try library.resources(of: input.asset).first { $0.type == .adjustmentData }
    guard input.adjustmentData != nil, let recipe else {
      let why =
        recipe == nil ? "it was never edited" : "its format is not named by --handles; `show` prints it"
      throw LibraryError(
        .missingResource, "The asset \(input.asset.localIdentifier) has no adjustment data to write: \(why).")
    }
    let url = URL(filePath: path, directoryHint: .notDirectory)
    try waiting { try await library.write(recipe, in: input.asset, to: url, replacing: replacing) }
  }

  private static func json(_ input: EditingInput, _ library: PhotoLibrary) throws -> JSON {
    [
      "localIdentifier": .text(input.asset.localIdentifier),
      "base": .text(input.base.rawValue),
      "adjustmentData": input.adjustmentData.map {
        [
          "formatIdentifier": .text($0.formatIdentifier), "formatVersion": .text($0.formatVersion),
          "dataSize": .integer(Int64($0.data.count)),
        ]
      } ?? .null,
      "resources": .list(
        try input.resources.map { resource in
          let path = JSON.Member("path", .text(try library.url(of: resource, in: input.asset).path))
          return JSON(resource, before: [path])
        }),
    ]
  }

  private static func text(_ input: EditingInput, _ library: PhotoLibrary, _ terminal: Terminal) throws -> String {
    var facts = Facts(terminal: terminal)
    facts.add("base", input.base.rawValue)
    facts.add("adjustment data", input.adjustmentData.map { "\($0.formatIdentifier) \($0.formatVersion)" })
    for resource in input.resources {
      facts.add(resource.type.name, "\(resource.originalFilename), \(TextLayout.bytes(resource.dataSize))")
      facts.add("", try library.url(of: resource, in: input.asset).path)
    }
    return facts.text
  }
}

extension Commands {
  private static let asset = Operand("ASSET", "the identifier of an asset")
  private static let example = "1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
  private static let isAutomatic = Option("automatic", "the edit was made by the camera")

  static let contentEdits: [Command] = [
    .edit(
      "edit commit", "edit the content of an asset: store adjustment data and rendered files", [asset],
      options: [
        Option("format", "ID", "the format of the adjustment data, such as com.example.editor"),
        Option("format-version", "V", "the version of that format"),
        Option("adjustment", "FILE", "the adjustment data"),
        Option("rendered", "FILE", "the photo or video as edited"),
        Option("rendered-video", "FILE", "the video of a Live Photo as edited"),
        Option("base", "BASE", "the base printed by `edit input`: unedited (the default) or rendered"),
        Option("width", "N", "the width of the result in pixels, if changed"),
        Option("height", "N", "the height of the result in pixels, if changed"),
        Option("duration", "S", "the length of the result in seconds, if changed"), isAutomatic,
      ],
      notes: "The files are copied. The originals are kept; `edit revert` restores them.",
      example: """
        edit commit \(example) --format com.example.editor --format-version 1 --adjustment sepia.json --rendered out.jpg
        """,
      preparing: commit),
    .edit(
      "edit revert", "drop all edits of an asset's content", [asset],
      options: [Option("to", "CHOICE", "raw or compressed: which original of a RAW and JPEG pair is shown")],
      example: "edit revert \(example)"
    ) {
      let choice = try $0.text("to").map { text in
        guard OriginalResourceChoice.allCases.contains(where: { "\($0)" == text }) else {
          throw UsageError("--to needs raw or compressed; got '\(text)'.")
        }
        return JSON.text(text)
      }
      let members: [JSON.Member] = [.init("op", "asset.revertContent"), .init("asset", $0.operand(0))]
      return .object(members + (choice.map { [.init("to", $0)] } ?? []))
    },
  ]

  @Sendable private static func commit(_ invocation: Invocation) throws -> (PhotoLibrary) throws -> [JSON] {
    let recipe: [JSON.Member] = [
      .init("formatIdentifier", try invocation.required("format")),
      .init("formatVersion", try invocation.required("format-version")),
      .init("path", try invocation.required("adjustment")),
    ]
    let base = invocation.text("base") ?? EditingBase.unedited.rawValue
    guard EditingBase(rawValue: base) != nil else {
      throw UsageError("--base needs unedited or rendered; got '\(base)'.")
    }
    let rendered = try invocation.required("rendered")
    let renderedVideo = invocation.text("rendered-video")
    var members: [JSON.Member] = [
      .init("op", "asset.editContent"), .init("asset", invocation.operand(0)), .init("base", .text(base)),
      .init("adjustmentData", .object(recipe)), .init("isAutomatic", .bool(invocation.has(isAutomatic))),
    ]
    for (option, field) in [("width", "pixelWidth"), ("height", "pixelHeight")] {
      if let value = try invocation.count(option) { members.append(.init(field, .integer(Int64(value)))) }
    }
    if let duration = try invocation.seconds("duration") { members.append(.init("duration", .number(duration))) }
    return { library in
      let isVideo = try library.asset(named: invocation.operands[0]).mediaType == .video
      var files: [JSON] = [["type": isVideo ? "fullSizeVideo" : "fullSizePhoto", "path": rendered]]
      if let renderedVideo { files.append(["type": "fullSizePairedVideo", "path": .text(renderedVideo)]) }
      return [.object(members + [.init("resources", .list(files))])]
    }
  }

  // MARK: Words and stars

  static let wordEdits: [Command] = [
    .edit(
      "rate", "rate assets", [assets], options: [Option("stars", "N", "0 to 5; 0 removes the rating")],
      example: "rate \(example) --stars 4"
    ) {
      let stars = try $0.requiredCount("stars")
      guard AssetRating(rawValue: stars) != nil else {
        throw UsageError("--stars needs a number from 0 to 5; got '\(stars)'.")
      }
      return ["op": "asset.edit", "assets": $0.list(), "rating": .integer(Int64(stars))]
    },
    .edit(
      "caption", "set the caption of assets",
      [assets, Operand("TEXT", .optional, "the caption, unless --clear is given")],
      options: [clear], example: "caption \(example) 'The bay before the storm'"
    ) { try caption($0) },
    .edit(
      "keyword add", "add a keyword to assets", [word, assets], example: "keyword add sea \(example)"
    ) {
      ["op": "asset.edit", "assets": $0.list(from: 1), "addedKeywords": .list([$0.operand(0)])]
    },
    .edit(
      "keyword remove", "remove a keyword from assets", [word, assets], example: "keyword remove sea \(example)"
    ) {
      ["op": "asset.edit", "assets": $0.list(from: 1), "removedKeywords": .list([$0.operand(0)])]
    },
  ]

  private static let clear = Option("clear", "remove the caption")
  private static let word = Operand("WORD", "the keyword; write one of several words in quotation marks")

  @Sendable private static func caption(_ invocation: Invocation) throws -> JSON {
    if invocation.has(clear) { return ["op": "asset.edit", "assets": invocation.list(), "caption": .null] }
    let text = invocation.operands[invocation.operands.count - 1]
    guard invocation.operands.count > 1, LocalIdentifier(text) == nil else {
      throw UsageError("'caption' needs TEXT after the identifiers, or --clear.")
    }
    return [
      "op": "asset.edit", "assets": .list(invocation.operands.dropLast().map { .text($0) }), "caption": .text(text),
    ]
  }

  // MARK: Bursts

  static let burstEdits: [Command] = [
    .edit(
      "burst represent", "make an asset the representative of its burst", [asset], example: "burst represent \(example)"
    ) {
      ["op": "burst.represent", "asset": $0.operand(0)]
    },
    .edit(
      "burst pick", "pick members of a burst, to be shown beside the representative", [assets],
      example: "burst pick \(example)",
      preparing: { invocation in { try picks(invocation, $0) { $0.union(.userPick) } } }
    ),
    .edit(
      "burst unpick", "unpick members of a burst", [assets], example: "burst unpick \(example)",
      preparing: { invocation in { try picks(invocation, $0) { $0.subtracting(.userPick) } } }),
  ]

  // MARK: Stacks

  static let stackEdits: [Command] = [
    .edit(
      "stack", "stack assets, so that lists show the one on top in place of all",
      [
        Operand("TOP", "the identifier of the asset on top"),
        Operand("OTHER", .any, "identifiers of the assets beneath it"),
      ],
      notes: """
        A TOP that has a stack already keeps it, and the others join. Assets that are in another stack leave it: the
        oldest of the rest takes over where that was its top, and a stack of one asset dissolves. Without OTHER, an
        asset beneath the top of its stack becomes the top. `ls --all-stacks` shows what lies beneath. The members of a
        stack are at most 1,000; synced, shared and trashed assets, and members of bursts that do not represent them,
        cannot be stacked.
        """,
      example: "stack \(example) 6FA459EA-EE8A-4CA4-894E-DB77E160355E"
    ) {
      ["op": "asset.stack", "top": $0.operand(0), "assets": $0.list(from: 1)]
    },
    .edit(
      "unstack", "take assets out of their stacks; the top takes its whole stack apart", [assets],
      example: "unstack \(example)"
    ) {
      ["op": "asset.unstack", "assets": $0.list()]
    },
  ]

  /// Changes a person's mark of assets; what the camera proposed stays (BU-02).
  private static func picks(
    _ invocation: Invocation, _ library: PhotoLibrary, _ change: (BurstSelectionTypes) -> BurstSelectionTypes
  ) throws -> [JSON] {
    try invocation.operands.map { name in
      let asset = try library.asset(named: name)
      guard asset.burstIdentifier != nil else {
        throw LibraryError(
          .requestNotSupportedForAsset, "The asset \(asset.localIdentifier) is not a member of a burst.")
      }
      let types = JSON.list(change(asset.burstSelectionTypes).names.map { .text($0) })
      return ["op": "asset.edit", "assets": [.text(name)], "burstSelectionTypes": types]
    }
  }
}

extension Invocation {
  /// The value of an option that must be given.
  fileprivate func required(_ name: String) throws -> JSON {
    guard let text = text(name) else { throw UsageError("'\(command.name)' needs --\(name).") }
    return .text(text)
  }

  /// A number of seconds, 0 or more.
  fileprivate func seconds(_ name: String) throws -> Double? {
    guard let text = text(name) else { return nil }
    guard let number = Double(text), number.isFinite, number >= 0 else {
      throw UsageError("--\(name) needs a number of seconds, 0 or more; got '\(text)'.")
    }
    return number
  }
}
