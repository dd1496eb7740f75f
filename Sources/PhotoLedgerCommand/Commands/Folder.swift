import JSONReading
import LibraryJSON

extension Command {
  private static let folder = Operand("FOLDER", "the folder's identifier, or / for the top level")
  private static let collections = Operand("ID", .several, "identifiers of albums and folders")

  static let folderCreate = editing(
    "folder create", "create a folder and print its identifier", [.title], example: "folder create Travels"
  ) {
    ["op": "folder.create", "title": $0.operand(0)]
  }

  static let folderInsert = editing(
    "folder insert", "insert albums and folders into a folder, at the end or at an index", [folder, collections],
    options: [.position], example: "folder insert FOLDER ALBUM --at 0"
  ) {
    var members: [JSON.Member] = [.init("folder", folderName($0)), .init("collections", $0.list(from: 1))]
    if $0.text("at") != nil { members.append(.init("index", try $0.wholeNumber("at"))) }
    return .object([.init("op", members.count == 2 ? "folder.add" : "folder.insert")] + members)
  }

  static let folderRemove = editing(
    "folder remove", "move albums and folders from a folder to the end of the top level",
    [folder, Operand("ID", .any, "identifiers of albums and folders, unless --at is given")],
    syntax: "FOLDER (ID… | --at INDEX[,INDEX]…)", options: [.positions],
    example: "folder remove FOLDER ALBUM"
  ) {
    try removal("folder", folderName($0), "collections", $0)
  }

  static let folderMove = editing(
    "folder move", "move members within a folder", [folder], syntax: "FOLDER --at INDEX[,INDEX]… --to INDEX",
    options: [.positions, .target],
    example: "folder move / --at 3 --to 0"
  ) {
    try [
      "op": "folder.moveAt", "folder": folderName($0), "indexes": $0.wholeNumbers("at"), "to": $0.wholeNumber("to"),
    ]
  }

  static let folderRename = editing(
    "folder rename", "rename a folder", [Operand("FOLDER", "the folder's identifier"), .title],
    example: "folder rename FOLDER Journeys"
  ) {
    ["op": "folder.rename", "folder": $0.operand(0), "title": $0.operand(1)]
  }

  static let folderDelete = editing(
    "folder delete", "delete folders with the albums and folders in them; assets are kept",
    [Operand("FOLDER", .several, "identifiers of folders")], example: "folder delete FOLDER"
  ) {
    ["op": "folder.delete", "folders": $0.list()]
  }

  @Sendable private static func folderName(_ invocation: Invocation) -> JSON {
    invocation.operands[0] == "/" ? .null : invocation.operand(0)
  }
}
