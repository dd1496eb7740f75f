import LibraryJSON

/// All commands, and how the program's help groups them.
enum Commands {
  static let all: [Command] =
    reading + files + editing + assetEdits + [.shift] + wordEdits + duplicates + burstEdits + stackEdits
    + albumEdits
    + smartAlbumEdits + folderEdits + picking + clients + audit + copies + care + proof

  private static let reading: [Command] = [
    .demo, .initialize, .import, .importTakeout, .importICloud, .serve, .list, .sections, .show, .albums, .stat, .log,
    .watch, .diff, .apply, .history,
    .historyToken, .identifierCloud, .identifierLocal,
  ]

  private static let files: [Command] = [
    .resourceList, .resourceGet, .resourceCheck, .exportFiles, .sidecarsWrite, .metadataRead,
  ]

  private static let editing: [Command] = [.editInput] + contentEdits

  private static let duplicates: [Command] = [.duplicates] + merging

  private static let picking: [Command] = [.pick, .pickLoad]

  private static let clients: [Command] =
    [.clientList] + clientEdits + [.clientSelection, .clientAccess, .clientRequest]

  private static let audit: [Command] = [.blame, .access]

  private static let care: [Command] = [
    .undo, .verify, .verifyHere, .rebuild, .rebuildHere, .historyShorten, .snapshotsMake, .snapshotsShow,
    .snapshotsDrop, .erase,
    .compact,
  ]

  private static let copies: [Command] = [
    .backup, .restore, .restoreHere, .exportLog, .importLog, .importLogHere, .fork, .compare,
  ]

  private static let proof: [Command] = [.checkpoint, .proveInclusion, .proveConsistency, .proveCheck]

  static let groups: [(title: String, names: [String])] = [
    ("Start:", ["demo", "init", "import", "import takeout", "import icloud", "serve"]),
    ("Look:", ["ls", "sections", "show", "albums", "stat"]),
    ("Follow:", ["watch", "diff", "log", "history", "history token"]),
    ("Audit changes and access:", audit.map(\.name)),
    ("Files of assets:", files.map(\.name)),
    ("Change assets:", (assetEdits + [.shift] + wordEdits).map(\.name)),
    ("Duplicates:", duplicates.map(\.name)),
    ("Edit the content of an asset:", editing.map(\.name)),
    ("Bursts:", burstEdits.map(\.name)),
    ("Stacks:", stackEdits.map(\.name)),
    ("Change albums and folders:", (albumEdits + smartAlbumEdits + folderEdits).map(\.name)),
    ("Pick assets for a client:", picking.map(\.name)),
    ("Clients and permissions:", clients.map(\.name)),
    ("Change the library from a program:", ["apply"]),
    ("Between libraries:", ["identifier cloud", "identifier local"]),
    ("Checkpoints and proofs:", proof.map(\.name)),
    ("Undo:", ["undo"]),
    ("Copies of the library:", copies.filter { !$0.isInternal }.map(\.name)),
    (
      "Maintenance:",
      [
        "verify", "rebuild", "history shorten", "snapshots make", "snapshots show", "snapshots drop", "erase",
        "compact",
      ]
    ),
  ]
}
