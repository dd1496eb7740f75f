import Foundation
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

// Restoring runs in a child process, as `verify` does: a backup may come from anywhere, and a badly damaged data file
// can crash LMDB.

extension Command {
  private static let destination = Option("to", "DIR", "the new library; must not exist")
  private static let source = Operand("DIR", "the directory that `backup` made")
  private static let childName = "restore-here"
  private static let skipping = Option("skip-damaged", "restore without files that are damaged or lost")

  static let restoreBackup = Command(
    words: ["restore-backup"], summary: "create a library from a backup, with the same chain",
    operands: [source], syntax: "DIR --to DIR",
    options: [destination, .resources, skipping, .json],
    notes: """
      Log, derived entries and files are verified before the new library gets its name, in a child process, so that a
      damaged backup cannot crash this one. The backup is not changed.
      """,
    example: "restore-backup /media/disk/photos-2026-11-22 --to ~/Pictures/library"
  ) { invocation in
    guard let target = invocation.text(destination.name) else { throw UsageError("'restore-backup' needs --to DIR.") }
    _ = try invocation.path(invocation.operands[0], "DIR")
    _ = try invocation.resourceCopying()
    var options = ["--to", try invocation.path(target, "--to")]
    if let way = invocation.text(Option.resources.name) { options += ["--resources", way] }
    for option in [skipping, .json] where invocation.has(option) { options.append("--\(option.name)") }
    return try invocation.runInChild(childName, options, reading: "the backup")
  }

  static let restoreBackupHere = Command(
    words: [childName], summary: "restore in this process", operands: [source],
    options: .opening + [destination, .resources, skipping, .lifeline, .json], example: "restore-here DIR --to DIR",
    isInternal: true, places: { $0.operands + $0.texts(destination.name) }
  ) { invocation in
    let interruption = try Interruption(of: invocation)
    let way = try invocation.resourceCopying()
    let target = try invocation.directory(invocation.text(destination.name) ?? "", "--to")
    let source = try invocation.directory(invocation.operands[0], "DIR")
    let report = try invocation.showingProgress(interruption) { progress in
      try PhotoLibrary.restore(
        from: source, to: target, resources: way,
        skippingDamagedFiles: invocation.has(skipping), progress: progress)
    }
    try invocation.print(report)
    return .done
  }
}
