import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

// Verification runs in a child process. A hostile store can crash LMDB (it aborts on some damage, and reads where a
// damaged page points), and a verification must report a result, not crash. So `verify` starts the same program as
// `verify-here`, shares its output, and turns its termination into a message and an exit status.

extension Command {
  private static let hashing = Option("content", "also read and hash every file of a photo or video")

  static let verify = Command(
    words: ["verify"], summary: "recompute the log and everything derived from it, and report the first difference",
    options: .opening + [hashing, .checkpoint, .json],
    notes: """
      The check runs in a child process, so that a damaged store cannot crash this one. Missing files, and referenced
      files with other contents, are listed, but do not change the exit status. It needs space for a second store in
      the folder for temporary files, which TMPDIR names.

      An attacker who can write the library can recompute all of it. Only a checkpoint stored elsewhere reveals that;
      see `checkpoint`.
      """,
    example: "verify --content --checkpoint 2025-06-15.note"
  ) { invocation in
    var options = ["--library", try invocation.libraryURL().path]
    for file in invocation.texts(Option.checkpoint.name) {
      options += ["--checkpoint", try invocation.path(file, "--checkpoint")]
    }
    if let client = try invocation.client() { options += ["--as", client] }
    for option in [hashing, .json] where invocation.has(option) { options.append("--\(option.name)") }
    return try invocation.runInChild(verifyHere.name, options, left: "nothing was changed") { signal in
      "The check was killed by \(signal) while it read the store, which is too damaged to be reported in detail. "
        + "Restore it from a copy."
    }
  }

  static let verifyHere = Command(
    words: ["verify-here"], summary: "verify in this process",
    options: .opening + [hashing, .checkpoint, .lifeline, .json], example: "verify-here", isInternal: true
  ) { invocation in
    let interruption = try Interruption(of: invocation)
    let checkpoints = try invocation.checkpoints()
    let found: Verification
    do {
      found = try invocation.withLibrary { library in
        try invocation.showingProgress(interruption) { progress in
          let found = try library.verify(
            hashingContent: invocation.has(hashing), against: checkpoints, progress: progress)
          Output.warn(of: { try library.note(found) }, after: "The time of this verification was not recorded")
          return found
        }
      }
    } catch let error as LibraryError where error.code == .corrupted {
      // Where the log itself is why the library cannot be opened, it is asked for the first difference.
      let url = try invocation.libraryURL()
      let log = try invocation.showingProgress(interruption) { progress in
        try PhotoLibrary.verifyUnopened(url, progress: progress)
      }
      guard let log else { throw error }
      found = log
    }
    return try invocation.output.finish(with: found.isSound ? .done : .failed) {
      try invocation.output.write(invocation.printsJSON ? JSON(found).description + "\n" : text(found))
    }
  }
}

private func text(_ found: Verification) -> String {
  let resources = TextLayout.counted(Int(found.resourceCount), "resource")
  var text = """
    \(TextLayout.counted(Int(found.eventCount), "event")) in \(TextLayout.counted(Int(found.commitCount), "commit")) \
    recomputed, \(TextLayout.counted(Int(found.entryCount), "derived entry").replacing("entrys", with: "entries")) \
    compared, \(resources) checked.
    chain \(found.chain)

    """
  if found.checkpointCount > 0 {
    text += "\(TextLayout.counted(Int(found.checkpointCount), "checkpoint")) compared; the log matches.\n"
  }
  for path in found.missingResources { text += "missing: \(TextLayout.printable(path))\n" }
  for path in found.alteredResources { text += "altered: \(TextLayout.printable(path))\n" }
  for event in found.quarantined { text += TextLayout.printable("\(event)") + "\n" }
  text += found.defect.map { "NOT SOUND at \($0.place): \($0.description)\n" } ?? "The library is sound.\n"
  return text
}

extension JSON {
  /// What a verification found.
  fileprivate init(_ found: Verification) {
    self = [
      "isSound": .bool(found.isSound),
      "eventCount": .integer(Int64(found.eventCount)),
      "commitCount": .integer(Int64(found.commitCount)),
      "entryCount": .integer(Int64(found.entryCount)),
      "resourceCount": .integer(Int64(found.resourceCount)),
      "checkpointCount": .integer(Int64(found.checkpointCount)),
      "quarantined": .list(
        found.quarantined.map { ["sequence": .integer(Int64(clamping: $0.sequence)), "reason": .text($0.reason)] }),
      "missingResources": .list(found.missingResources.map { .text($0) }),
      "alteredResources": .list(found.alteredResources.map { .text($0) }),
      "chain": .text(found.chain),
      "defect": found.defect.map { ["place": .text($0.place), "description": .text($0.description)] } ?? .null,
    ]
  }
}
