import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

// Snapshots speed up as-of views; no answer depends on them.

extension Command {
  static let snapshotsMake = Command(
    words: ["snapshots", "make"], summary: "make missing snapshots, which speed up as-of views",
    options: .opening + [
      Option(
        "spacing", "N", "one for every N events; default unchanged, or \(PhotoLibrary.defaultSnapshotSpacing)"),
      .json,
    ],
    notes: """
      They never affect answers of --at and diff, only their cost. Run it after an import, or once a night; a new
      spacing rebuilds all of them.
      """,
    example: "snapshots make"
  ) { invocation in
    let spacing = try invocation.count("spacing")
    let range = PhotoLibrary.snapshotSpacings
    if let spacing, !range.contains(spacing) {
      throw UsageError("--spacing needs a number from \(range.lowerBound) to \(range.upperBound); got \(spacing).")
    }
    let interruption = Interruption()
    return try invocation.withLibrary { library in
      var bar = ProgressBar()
      let made: SnapshotSummary
      do {
        defer { bar.clear() }
        made = try library.makeSnapshots(spacing: spacing) { progress in
          bar.show(progress.phase, done: Int(progress.done), total: progress.total.map { Int($0) })
          return !interruption.isRequested
        }
      }
      try invocation.print(made)
      return .done
    }
  }

  static let snapshotsShow = Command(
    words: ["snapshots", "show"], summary: "print the extent of the snapshots", options: .opening + [.json],
    example: "snapshots show"
  ) { invocation in
    try invocation.withLibrary { library in
      try invocation.print(try library.snapshots())
      return .done
    }
  }

  static let snapshotsDrop = Command(
    words: ["snapshots", "drop"], summary: "remove all snapshots; as-of views only become slower",
    options: .opening, example: "snapshots drop"
  ) { invocation in
    try invocation.withLibrary { library in
      try library.dropSnapshots()
      return .done
    }
  }
}

extension Invocation {
  fileprivate func print(_ summary: SnapshotSummary?) throws {
    if printsJSON {
      return try output.line([
        "spacing": summary.map { .integer(Int64($0.spacing)) } ?? .null,
        "count": .integer(Int64(summary?.count ?? 0)),
        "lastSequence": .integer(Int64(clamping: summary?.lastSequence ?? 0)),
        "byteCount": .integer(Int64(summary?.byteCount ?? 0)),
      ])
    }
    guard let summary, summary.count > 0 else { return try output.line("There are no snapshots yet.") }
    let size = TextLayout.bytes(UInt64(summary.byteCount))
    try output.line(
      """
      \(TextLayout.counted(summary.count, "snapshot")), one for every \(TextLayout.grouped(summary.spacing)) events, \
      up to event \(summary.lastSequence); \(size).
      """)
  }
}
