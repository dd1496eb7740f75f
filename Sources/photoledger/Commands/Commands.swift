/// All commands, and how the program's help groups them.
enum Commands {
  static let all: [Command] =
    reading + files + editing + assetEdits + wordEdits + burstEdits + albumEdits + smartAlbumEdits + folderEdits
    + picking + clients + copies + care

  private static let reading: [Command] = [
    .demo, .initialize, .import, .list, .sections, .show, .albums, .stat, .log, .watch, .apply, .history, .historyToken,
    .identifierCloud, .identifierLocal,
  ]

  private static let files: [Command] = [.resourceList, .resourceGet, .resourceCheck]

  private static let editing: [Command] = [.editInput] + contentEdits

  private static let picking: [Command] = [.pick, .pickLoad]

  private static let clients: [Command] =
    [.clientList] + clientEdits + [.clientSelection, .clientAccess, .clientRequest]

  private static let care: [Command] = [.verify, .verifyHere, .rebuild, .historyShorten, .erase, .compact]

  private static let copies: [Command] = [
    .backup, .restore, .restoreHere, .exportLog, .importLog, .importLogHere, .fork, .compare,
  ]

  static let groups: [(title: String, names: [String])] = [
    ("Start:", ["demo", "init", "import"]),
    ("Look:", ["ls", "sections", "show", "albums", "stat"]),
    ("Follow:", ["watch", "log", "history", "history token"]),
    ("Files of assets:", files.map(\.name)),
    ("Change assets:", (assetEdits + wordEdits).map(\.name)),
    ("Edit what an asset shows:", editing.map(\.name)),
    ("Bursts:", burstEdits.map(\.name)),
    ("Change albums and folders:", (albumEdits + smartAlbumEdits + folderEdits).map(\.name)),
    ("Pick assets for a client:", picking.map(\.name)),
    ("Clients, and what they may see:", clients.map(\.name)),
    ("Change anything, from a program:", ["apply"]),
    ("Between libraries:", ["identifier cloud", "identifier local"]),
    ("Copies of the library:", copies.filter { !$0.isInternal }.map(\.name)),
    ("Care:", ["verify", "rebuild", "history shorten", "erase", "compact"]),
  ]
}
