import JSONReading
import LibraryJSON

extension Command {
  private static let album = Operand("ALBUM", "the album's identifier")

  static let albumCreate = editing(
    "album create", "create an album and print its identifier", [.title], example: "album create 'Summer by the sea'"
  ) {
    ["op": "album.create", "title": $0.operand(0)]
  }

  static let albumAdd = editing(
    "album add", "append assets to an album", [album, .assets], example: "album add ALBUM \(exampleIdentifier)"
  ) {
    ["op": "album.add", "album": $0.operand(0), "assets": $0.list(from: 1)]
  }

  static let albumInsert = editing(
    "album insert", "insert assets into an album at an index", [album, .assets],
    syntax: "ALBUM ID… --at INDEX", options: [.position],
    example: "album insert ALBUM \(exampleIdentifier) --at 0"
  ) {
    try ["op": "album.insert", "album": $0.operand(0), "assets": $0.list(from: 1), "index": $0.wholeNumber("at")]
  }

  static let albumRemove = editing(
    "album remove", "remove assets from an album; they stay in the library",
    [album, Operand("ID", .any, "identifiers of assets, unless --at is given")],
    syntax: "ALBUM (ID… | --at INDEX[,INDEX]…)", options: [.positions],
    example: "album remove ALBUM --at 0,3"
  ) {
    try removal("album", $0.operand(0), "assets", $0)
  }

  static let albumReplace = editing(
    "album replace", "replace members of an album by other assets", [album, .assets],
    syntax: "ALBUM ID… --at INDEX[,INDEX]…", options: [.positions],
    example: "album replace ALBUM \(exampleIdentifier) --at 2"
  ) {
    try [
      "op": "album.replaceAt", "album": $0.operand(0), "indexes": $0.wholeNumbers("at"), "assets": $0.list(from: 1),
    ]
  }

  static let albumMove = editing(
    "album move", "move members within an album", [album], syntax: "ALBUM --at INDEX[,INDEX]… --to INDEX",
    options: [.positions, .target],
    example: "album move ALBUM --at 4,5 --to 0"
  ) {
    try ["op": "album.moveAt", "album": $0.operand(0), "indexes": $0.wholeNumbers("at"), "to": $0.wholeNumber("to")]
  }

  static let albumRename = editing(
    "album rename", "rename an album", [album, .title], example: "album rename ALBUM 'Autumn'"
  ) {
    ["op": "album.rename", "album": $0.operand(0), "title": $0.operand(1)]
  }

  static let albumCover = editing(
    "album cover", "choose the asset that stands for an album, or clear the choice",
    [album, Operand("ID", .optional, "an asset that the album shows; omit it to clear the choice")],
    example: "album cover ALBUM \(exampleIdentifier)"
  ) {
    ["op": "album.cover", "album": $0.operand(0), "asset": $0.operands.count > 1 ? $0.operand(1) : .null]
  }

  static let albumDelete = editing(
    "album delete", "delete albums; their assets stay in the library",
    [Operand("ALBUM", .several, "identifiers of albums")], example: "album delete ALBUM"
  ) {
    ["op": "album.delete", "albums": $0.list()]
  }
}
