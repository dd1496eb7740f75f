/// All commands, and how the program's help groups them.
enum Commands {
  static let all: [Command] = reading + picking + assetEdits + albumEdits + folderEdits

  private static let reading: [Command] = [
    .demo, .initialize, .import, .stat, .verify, .verifyHere, .rebuild, .list, .show, .albums, .apply, .watch, .log,
    .resourceList, .resourceGet, .resourceCheck,
  ]

  static let groups: [(title: String, names: [String])] = [
    ("Start:", ["demo", "init", "import"]),
    ("Look:", ["ls", "show", "albums", "stat", "log", "watch"]),
    ("Files of assets:", ["resource list", "resource get", "resource check"]),
    ("Change assets:", assetEdits.map(\.name)),
    ("Change albums and folders:", (albumEdits + folderEdits).map(\.name)),
    ("Pick assets for a client:", picking.map(\.name)),
    ("Change anything, from a program:", ["apply"]),
    ("Care:", ["verify", "rebuild"]),
  ]

  private static let picking: [Command] = [.pick, .pickLoad]
}
