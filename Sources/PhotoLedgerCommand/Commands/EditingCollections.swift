import LibraryJSON
import PhotoLedger

extension Commands {
  private static let album = Operand("ALBUM", "the album's identifier")
  private static let folder = Operand("FOLDER", "the folder's identifier, or / for the top level")
  private static let collections = Operand("ID", .several, "identifiers of albums and folders")
  private static let title = Operand("TITLE", "the title; titles need not be unique")
  private static let at = Option("at", "INDEX", "before the member that has this index, from 0")
  private static let indexes = Option("at", "INDEX[,INDEX]…", "the members at these indexes, from 0")
  private static let to = Option("to", "INDEX", "where they go, counted without the members that are moved")
  private static let example = "1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"

  static let albumEdits: [Command] = [
    .edit(
      "album create", "make an album and print its identifier", [title], example: "album create 'Summer by the sea'"
    ) {
      ["op": "album.create", "title": $0.operand(0)]
    },
    .edit("album add", "put assets at the end of an album", [album, assets], example: "album add ALBUM \(example)") {
      ["op": "album.add", "album": $0.operand(0), "assets": $0.list(from: 1)]
    },
    .edit(
      "album insert", "put assets at a place in an album", [album, assets], options: [at],
      example: "album insert ALBUM \(example) --at 0"
    ) {
      try ["op": "album.insert", "album": $0.operand(0), "assets": $0.list(from: 1), "index": $0.wholeNumber("at")]
    },
    .edit(
      "album remove", "take assets out of an album; they stay in the library",
      [album, Operand("ID", .any, "identifiers of assets, unless --at is given")], options: [indexes],
      example: "album remove ALBUM --at 0,3"
    ) {
      try removal("album", "assets", $0)
    },
    .edit(
      "album replace", "put other assets in the places of members", [album, assets], options: [indexes],
      example: "album replace ALBUM \(example) --at 2"
    ) {
      try [
        "op": "album.replaceAt", "album": $0.operand(0), "indexes": $0.wholeNumbers("at"), "assets": $0.list(from: 1),
      ]
    },
    .edit(
      "album move", "put members of an album elsewhere in it", [album], options: [indexes, to],
      example: "album move ALBUM --at 4,5 --to 0"
    ) {
      try ["op": "album.moveAt", "album": $0.operand(0), "indexes": $0.wholeNumbers("at"), "to": $0.wholeNumber("to")]
    },
    .edit("album rename", "give an album another title", [album, title], example: "album rename ALBUM 'Autumn'") {
      ["op": "album.rename", "album": $0.operand(0), "title": $0.operand(1)]
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
      "smart-album create", "make an album of whatever satisfies a predicate, and print its identifier", [title],
      options: [
        Option("where", "FORMAT", "a predicate in PhotoKit's format; all assets if left out"),
        Option("sort", "KEY[:desc]", isRepeatable: true, "order by a property; the first --sort counts most"),
        includesHidden,
      ],
      notes: "The predicate stays as it is. " + FetchArguments.notes,
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
      "smart-album rename", "give a smart album that people made another title",
      [Operand("ALBUM", "the smart album's identifier"), title], example: "smart-album rename ALBUM 'The best'"
    ) {
      ["op": "smartAlbum.rename", "smartAlbum": $0.operand(0), "title": $0.operand(1)]
    },
    .edit(
      "smart-album delete", "delete smart albums that people made; assets stay in the library",
      [Operand("ALBUM", .several, "identifiers of smart albums")], example: "smart-album delete ALBUM"
    ) {
      ["op": "smartAlbum.delete", "smartAlbums": $0.list()]
    },
  ]

  private static let includesHidden = Option("hidden", "show hidden assets in it, too")

  static let folderEdits: [Command] = [
    .edit("folder create", "make a folder and print its identifier", [title], example: "folder create Travels") {
      ["op": "folder.create", "title": $0.operand(0)]
    },
    .edit(
      "folder insert", "put albums and folders into a folder, at the end or at a place", [folder, collections],
      options: [at], example: "folder insert FOLDER ALBUM --at 0"
    ) {
      var members: [JSON.Member] = [.init("folder", folderName($0)), .init("collections", $0.list(from: 1))]
      if $0.text("at") != nil { members.append(.init("index", try $0.wholeNumber("at"))) }
      return .object([.init("op", members.count == 2 ? "folder.add" : "folder.insert")] + members)
    },
    .edit(
      "folder remove", "take albums and folders out of a folder, to the end of the top level",
      [folder, Operand("ID", .any, "identifiers of albums and folders, unless --at is given")], options: [indexes],
      example: "folder remove FOLDER ALBUM"
    ) {
      try removal("folder", "collections", $0)
    },
    .edit(
      "folder move", "put members of a folder elsewhere in it", [folder], options: [indexes, to],
      example: "folder move / --at 3 --to 0"
    ) {
      try [
        "op": "folder.moveAt", "folder": folderName($0), "indexes": $0.wholeNumbers("at"), "to": $0.wholeNumber("to"),
      ]
    },
    .edit(
      "folder rename", "give a folder another title", [Operand("FOLDER", "the folder's identifier"), title],
      example: "folder rename FOLDER Journeys"
    ) {
      ["op": "folder.rename", "folder": $0.operand(0), "title": $0.operand(1)]
    },
    .edit(
      "folder delete", "delete folders with the albums and folders in them; assets stay",
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
