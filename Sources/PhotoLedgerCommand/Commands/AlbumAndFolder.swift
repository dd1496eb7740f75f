import LibraryJSON
import PhotoLedger

extension Commands {
  private static let album = Operand("ALBUM", "the album's identifier")
  private static let folder = Operand("FOLDER", "the folder's identifier, or / for the top level")
  private static let collections = Operand("ID", .several, "identifiers of albums and folders")
  private static let title = Operand("TITLE", "the title; titles need not be unique")
  private static let at = Option("at", "INDEX", "before the member at this index, from 0")
  private static let indexes = Option("at", "INDEX[,INDEX]…", "the members at these indexes, from 0")
  private static let to = Option("to", "INDEX", "the target index, counted without the moved members")
  private static let example = "1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"

  static let albumEdits: [Command] = [
    .edit(
      "album create", "create an album and print its identifier", [title], example: "album create 'Summer by the sea'"
    ) {
      ["op": "album.create", "title": $0.operand(0)]
    },
    .edit("album add", "append assets to an album", [album, assets], example: "album add ALBUM \(example)") {
      ["op": "album.add", "album": $0.operand(0), "assets": $0.list(from: 1)]
    },
    .edit(
      "album insert", "insert assets into an album at an index", [album, assets], options: [at],
      example: "album insert ALBUM \(example) --at 0"
    ) {
      try ["op": "album.insert", "album": $0.operand(0), "assets": $0.list(from: 1), "index": $0.wholeNumber("at")]
    },
    .edit(
      "album remove", "remove assets from an album; they stay in the library",
      [album, Operand("ID", .any, "identifiers of assets, unless --at is given")], options: [indexes],
      example: "album remove ALBUM --at 0,3"
    ) {
      try removal("album", "assets", $0)
    },
    .edit(
      "album replace", "replace members of an album by other assets", [album, assets], options: [indexes],
      example: "album replace ALBUM \(example) --at 2"
    ) {
      try [
        "op": "album.replaceAt", "album": $0.operand(0), "indexes": $0.wholeNumbers("at"), "assets": $0.list(from: 1),
      ]
    },
    .edit(
      "album move", "move members within an album", [album], options: [indexes, to],
      example: "album move ALBUM --at 4,5 --to 0"
    ) {
      try ["op": "album.moveAt", "album": $0.operand(0), "indexes": $0.wholeNumbers("at"), "to": $0.wholeNumber("to")]
    },
    .edit("album rename", "rename an album", [album, title], example: "album rename ALBUM 'Autumn'") {
      ["op": "album.rename", "album": $0.operand(0), "title": $0.operand(1)]
    },
    .edit(
      "album cover", "choose the asset that stands for an album, or clear the choice",
      [album, Operand("ID", .optional, "an asset that the album shows; left out: no chosen cover")],
      example: "album cover ALBUM \(example)"
    ) {
      ["op": "album.cover", "album": $0.operand(0), "asset": $0.operands.count > 1 ? $0.operand(1) : .null]
    },
    .edit(
      "album delete", "delete albums; their assets stay in the library",
      [Operand("ALBUM", .several, "identifiers of albums")], example: "album delete ALBUM"
    ) {
      ["op": "album.delete", "albums": $0.list()]
    },
  ]

  static let smartAlbumEdits: [Command] = [
    .edit(
      "smart-album create", "create an album defined by a predicate, and print its identifier", [title],
      options: [
        Option("where", "FORMAT", "a predicate in PhotoKit's format; all assets by default"),
        Option("sort", "KEY[:desc]", isRepeatable: true, "order by a property; the first --sort is the primary key"),
        includesHidden,
      ],
      notes: "The predicate cannot be changed later. " + FetchArguments.notes,
      example: #"smart-album create 'Best' --where "rating >= 4" --sort creationDate:desc"#
    ) {
      let (format, sort) = ($0.text("where"), $0.texts("sort"))
      _ = try format.map { try Condition(format: $0, for: .asset) }
      _ = try sort.map { try SortTerm($0, for: .asset) }
      var members: [JSON.Member] = [.init("op", "smartAlbum.create"), .init("title", $0.operand(0))]
      if let format { members.append(.init("where", .text(format))) }
      members.append(.init("sort", .list(sort.map { .text($0) })))
      members.append(.init("includesHidden", .bool($0.has(includesHidden))))
      return .object(members)
    },
    .edit(
      "smart-album rename", "rename a user-defined smart album",
      [Operand("ALBUM", "the smart album's identifier"), title], example: "smart-album rename ALBUM 'The best'"
    ) {
      ["op": "smartAlbum.rename", "smartAlbum": $0.operand(0), "title": $0.operand(1)]
    },
    .edit(
      "smart-album delete", "delete user-defined smart albums; assets stay in the library",
      [Operand("ALBUM", .several, "identifiers of smart albums")], example: "smart-album delete ALBUM"
    ) {
      ["op": "smartAlbum.delete", "smartAlbums": $0.list()]
    },
  ]

  private static let includesHidden = Option("hidden", "include hidden assets")

  static let folderEdits: [Command] = [
    .edit("folder create", "create a folder and print its identifier", [title], example: "folder create Travels") {
      ["op": "folder.create", "title": $0.operand(0)]
    },
    .edit(
      "folder insert", "insert albums and folders into a folder, at the end or at an index", [folder, collections],
      options: [at], example: "folder insert FOLDER ALBUM --at 0"
    ) {
      var members: [JSON.Member] = [.init("folder", folderName($0)), .init("collections", $0.list(from: 1))]
      if $0.text("at") != nil { members.append(.init("index", try $0.wholeNumber("at"))) }
      return .object([.init("op", members.count == 2 ? "folder.add" : "folder.insert")] + members)
    },
    .edit(
      "folder remove", "move albums and folders from a folder to the end of the top level",
      [folder, Operand("ID", .any, "identifiers of albums and folders, unless --at is given")], options: [indexes],
      example: "folder remove FOLDER ALBUM"
    ) {
      try removal("folder", "collections", $0)
    },
    .edit(
      "folder move", "move members within a folder", [folder], options: [indexes, to],
      example: "folder move / --at 3 --to 0"
    ) {
      try [
        "op": "folder.moveAt", "folder": folderName($0), "indexes": $0.wholeNumbers("at"), "to": $0.wholeNumber("to"),
      ]
    },
    .edit(
      "folder rename", "rename a folder", [Operand("FOLDER", "the folder's identifier"), title],
      example: "folder rename FOLDER Journeys"
    ) {
      ["op": "folder.rename", "folder": $0.operand(0), "title": $0.operand(1)]
    },
    .edit(
      "folder delete", "delete folders with the albums and folders in them; assets are kept",
      [Operand("FOLDER", .several, "identifiers of folders")], example: "folder delete FOLDER"
    ) {
      ["op": "folder.delete", "folders": $0.list()]
    },
  ]

  @Sendable private static func folderName(_ invocation: Invocation) -> JSON {
    invocation.operands[0] == "/" ? .null : invocation.operand(0)
  }

  /// A removal of members by identifier, or by index.
  @Sendable private static func removal(_ kind: String, _ members: String, _ invocation: Invocation) throws -> JSON {
    let container = kind == "folder" ? folderName(invocation) : invocation.operand(0)
    let isByIndex = invocation.text("at") != nil
    guard isByIndex == (invocation.operands.count == 1) else {
      throw UsageError("'\(kind) remove' needs either identifiers or --at.")
    }
    if isByIndex {
      return ["op": .text("\(kind).removeAt"), kind: container, "indexes": try invocation.wholeNumbers("at")]
    }
    return ["op": .text("\(kind).remove"), kind: container, members: invocation.list(from: 1)]
  }
}
