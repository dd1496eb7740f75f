/// What became of one file of an asset.
package enum ExportOutcome: String, Sendable, Hashable, CaseIterable {
  /// It was copied.
  case copied
  /// It was given a second name, without a copy.
  case linked
  /// It is a sidecar, and was written.
  case written
  /// It was there, as an earlier export left it.
  case unchanged
  /// It was there with the right bytes, though no earlier export is known to have written it.
  case found
  /// It would be written: a dry run writes nothing.
  case wanted
  /// The options leave it out.
  case left
  /// Something else is under its name, such as a file of another asset that is not in its new place, or its file was
  /// changed in the folder; that was left as it is.
  case conflict
  /// Its bytes are missing or wrong in the library, a program could not write the metadata, or the folder did not take
  /// the file.
  case failed
  /// The export was stopped before it.
  case notReached
}

/// One file of an asset, and what became of it.
package struct ExportedFile: Sendable, Hashable {
  /// The asset, as PhotoKit spells its identifier.
  package let asset: String
  /// What it is of the asset: the name of a type of resource, or `sidecar`.
  package let kind: String
  /// Its path in the folder; nil for one that is left out.
  package let path: String?
  package let outcome: ExportOutcome
  /// A sentence, where there is something to say.
  package let message: String?
}

/// A file of an earlier export that this one does not want.
package struct UnwantedFile: Sendable, Hashable {
  /// Why it is there no longer.
  package enum Reason: String, Sendable, Hashable {
    /// The asset is not in the library any more, or in its trash.
    case vanished
    /// The asset is exported under another path now, or the file is left out by the options.
    case superseded
  }

  package let path: String
  package let asset: String
  package let reason: Reason
  package let isRemoved: Bool
  /// Why it was not removed, if it was to be.
  package let message: String?
}

/// How far an export is.
package struct ExportProgress: Sendable, Hashable {
  package var filesDone = 0
  package var filesPlanned = 0
  package var bytesCopied: UInt64 = 0
}

/// What an export did.
package struct ExportSummary: Sendable, Hashable {
  /// How many assets were asked for.
  package var assets = 0
  /// How many of them are hidden, which no file in the folder says; counted before any is written.
  package var hidden = 0
  /// How many assets have no file in the folder after it.
  package var assetsWithoutFile = 0
  /// How many files had each outcome; their sum is the number of files of all assets, sidecars included.
  package var outcomes: [ExportOutcome: Int] = [:]
  package var bytesCopied: UInt64 = 0
  /// Files of earlier exports that are not wanted any more, and how many of them were removed.
  package var unwanted: [UnwantedFile] = []
  /// Files of assets that this export was not asked for; they were left as they are.
  package var ofOtherAssets = 0
  package var wasInterrupted = false

  /// How many files had an outcome.
  package func count(_ outcome: ExportOutcome) -> Int { outcomes[outcome] ?? 0 }

  /// Whether every file that was wanted is in the folder.
  package var isComplete: Bool {
    !wasInterrupted && count(.conflict) == 0 && count(.failed) == 0 && count(.notReached) == 0
      && unwanted.allSatisfy { $0.message == nil }
  }
}
