internal import PhotoLedger
internal import Synchronization

// An import that records nothing.
//
// A dry run executes all of an import: the source is read, files are hashed, exiftool is called, the planner decides.
// Only the changes are not recorded, and files are not stored. So a dry run uses the real implementation, not a second
// one. Members of archives are copied for exiftool, and the copies are removed at the end.

/// A library that is asked and not changed.
final class DryRunTarget: ImportTarget {
  private let real: LibraryTarget
  private let count = Atomic<UInt64>(0)

  init(_ real: LibraryTarget) { self.real = real }

  func assets(holding contents: Set<[UInt8]>) throws -> [[UInt8]: ContentHolder] {
    try real.assets(holding: contents)
  }

  func holders(of contents: Set<[UInt8]>) throws -> [[UInt8]: Set<LocalIdentifier>] {
    try real.holders(of: contents)
  }

  func copied(_ contents: Set<[UInt8]>) throws -> Set<[UInt8]> { try real.copied(contents) }

  var canStack: Bool { get throws { try real.canStack } }

  func untouched(_ assets: Set<LocalIdentifier>) throws -> [LocalIdentifier: UntouchedAsset] {
    try real.untouched(assets)
  }

  func unpairedHalves(contentIdentifiers: [String]) throws -> [ExactText: [LivePhotoHalf]] {
    try real.unpairedHalves(contentIdentifiers: contentIdentifiers)
  }

  func place(_ assets: [LocalIdentifier], in album: AlbumPlace) throws -> PlacedMembers {
    let missing = try real.missing(assets, in: album)
    let count = missing.assets.count
    return PlacedMembers(
      isNew: missing.album == nil, added: count, commits: LibraryTarget.commitCount(placing: count))
  }

  /// Names made up for assets that are not made: no library gives one with these first eight bytes.
  func record(_ batch: ImportBatch) -> [RecordedChange] {
    let recorded = batch.changes.map { change in
      switch change {
      case .asset:
        let number = count.add(1, ordering: .relaxed).newValue
        return RecordedChange(change: change, asset: LocalIdentifier(high: 0, low: number))
      case .pairedVideo(_, _, let asset), .pairedStill(_, let asset):
        return RecordedChange(change: change, asset: asset)
      }
    }
    return batch.withStacks(recorded)
  }
}
