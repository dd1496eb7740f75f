/// All commands, and how the program's help groups them.
enum Commands {
  static let all: [Command] = reading + assetEdits + albumEdits + folderEdits

  private static let reading: [Command] = [
    .demo, .initialize, .import, .stat, .verify, .verifyHere, .rebuild, .list, .sections, .show, .albums, .apply,
    .watch, .log, .resourceList, .resourceGet, .resourceCheck,
    .pick, .pickLoad,
  ]

  static let groups: [(title: String, names: [String])] = [
    ("Start:", ["demo", "init", "import"]),
    ("Look:", ["ls", "sections", "show", "albums", "stat", "log", "watch"]),
    ("Files of assets:", ["resource list", "resource get", "resource check"]),
    ("Pick assets for a client:", ["pick", "pick load"]),
    ("Change assets:", assetEdits.map(\.name)),
    ("Change albums and folders:", (albumEdits + folderEdits).map(\.name)),
    ("Change anything, from a program:", ["apply"]),
    ("Care:", ["verify", "rebuild"]),
  ]
}
