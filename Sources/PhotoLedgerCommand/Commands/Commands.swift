import LibraryJSON

/// All commands, and how the program's help groups them.
enum Commands {
  static let all: [Command] =
    reading + files + contentEdits + assetEdits + duplicates + bursts + stacks + albums + folders + picking + clients
    + audit + copies + care + proof

  private static let reading: [Command] = [
    .demo, .initialize, .import, .importTakeout, .importICloud, .serve, .list, .sections, .show, .albums, .stat, .log,
    .watch, .diff, .apply, .history,
    .historyToken, .identifierCloud, .identifierLocal,
  ]

  private static let files: [Command] = [
    .resourceList, .resourceGet, .resourceCheck, .exportFiles, .sidecarsWrite, .metadataRead,
  ]

  private static let contentEdits: [Command] = [.editInput, .editCommit, .editRevert]

  private static let assetEdits: [Command] = [
    .favorite, .unfavorite, .hide, .unhide, .edit, .trash, .restore, .purge, .shift, .rate, .caption, .keywordAdd,
    .keywordRemove,
  ]

  private static let bursts: [Command] = [.burstRepresent, .burstPick, .burstUnpick]

  private static let stacks: [Command] = [.stack, .unstack]

  private static let albums: [Command] = [
    .albumCreate, .albumAdd, .albumInsert, .albumRemove, .albumReplace, .albumMove, .albumRename, .albumCover,
    .albumDelete, .smartAlbumCreate, .smartAlbumRename, .smartAlbumDelete,
  ]

  private static let folders: [Command] = [
    .folderCreate, .folderInsert, .folderRemove, .folderMove, .folderRename, .folderDelete,
  ]

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
    .backup, .restoreBackup, .restoreBackupHere, .exportLog, .importLog, .importLogHere, .fork, .compare,
  ]

  private static let proof: [Command] = [.checkpoint, .proveInclusion, .proveConsistency, .proveCheck]

  static let groups: [(title: String, names: [String])] = [
    ("Start:", ["demo", "init", "import", "import takeout", "import icloud", "serve"]),
    ("Look:", ["ls", "sections", "show", "albums", "stat"]),
    ("Follow:", ["watch", "diff", "log", "history", "history token"]),
    ("Audit changes and access:", audit.map(\.name)),
    ("Files of assets:", files.map(\.name)),
    ("Change assets:", assetEdits.map(\.name)),
    ("Duplicates:", duplicates.map(\.name)),
    ("Edit the content of an asset:", contentEdits.map(\.name)),
    ("Bursts:", bursts.map(\.name)),
    ("Stacks:", stacks.map(\.name)),
    ("Change albums and folders:", (albums + folders).map(\.name)),
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
