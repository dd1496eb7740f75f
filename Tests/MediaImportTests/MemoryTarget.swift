import PhotoLedger
@testable import MediaImport

/// A library that remembers what an import recorded.
actor MemoryTarget: ImportTarget {
  struct Asset {
    var imported: ImportedAsset
    var isLive: Bool { imported.others.contains { $0.type == .pairedVideo } }
  }

  private(set) var assets: [LocalIdentifier: Asset] = [:]
  private(set) var order: [LocalIdentifier] = []
  private(set) var batches: [ImportBatch] = []
  private var contents: [[UInt8]: LocalIdentifier] = [:]
  private var holding: [[UInt8]: Set<LocalIdentifier>] = [:]
  /// Called before each recording with the number of batches recorded so far.
  private let beforeRecording: @Sendable (Int) async throws -> Void

  /// Called before each look-up of contents with the number of batches recorded so far.
  private let beforeLookUp: @Sendable (Int) -> Void

  init(
    beforeRecording: @escaping @Sendable (Int) async throws -> Void = { _ in },
    beforeLookUp: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.beforeRecording = beforeRecording
    self.beforeLookUp = beforeLookUp
  }

  func assets(holding contents: Set<[UInt8]>) -> [[UInt8]: ContentHolder] {
    beforeLookUp(batches.count)
    return self.contents.filter { contents.contains($0.key) }
      .mapValues { ContentHolder(asset: $0, isTrashed: false) }
  }

  func holders(of contents: Set<[UInt8]>) -> [[UInt8]: Set<LocalIdentifier>] {
    holding.filter { contents.contains($0.key) }
  }

  /// Nothing is lost of what it remembers.
  func copied(_ contents: Set<[UInt8]>) -> Set<[UInt8]> { [] }

  nonisolated var canStack: Bool { true }

  func untouched(_ assets: Set<LocalIdentifier>) -> [LocalIdentifier: UntouchedAsset] { [:] }

  func unpairedHalves(contentIdentifiers: [String]) -> [ExactText: [LivePhotoHalf]] {
    var halves: [ExactText: [LivePhotoHalf]] = [:]
    for reference in order {
      guard let asset = assets[reference], !asset.isLive else { continue }
      let metadata = asset.imported.primary.metadata
      guard let identifier = metadata.contentIdentifier, contentIdentifiers.contains(identifier) else { continue }
      halves[identifier.exact, default: []].append(LivePhotoHalf(asset: reference, mediaType: metadata.mediaType))
    }
    return halves
  }

  func record(_ batch: ImportBatch) async throws -> [RecordedChange] {
    try await beforeRecording(batches.count)
    batches.append(batch)
    let recorded = batch.changes.map { change in
      // One filter has the same adjustment data for several photos.
      for resource in change.resources where resource.type != .adjustmentData {
        precondition(contents[resource.stored.sha256] == nil, "No content twice.")
      }
      let reference = apply(change)
      for resource in change.resources {
        contents[resource.stored.sha256] = reference
        holding[resource.stored.sha256, default: []].insert(reference)
      }
      return RecordedChange(change: change, asset: reference)
    }
    return batch.withStacks(recorded)
  }

  private(set) var albums: [AlbumPlace: [LocalIdentifier]] = [:]

  func place(_ assets: [LocalIdentifier], in album: AlbumPlace) -> PlacedMembers {
    let there = albums[album]
    let missing = assets.filter { there?.contains($0) != true }
    albums[album] = (there ?? []) + missing
    return PlacedMembers(isNew: there == nil, added: missing.count, commits: missing.isEmpty ? 0 : 1)
  }

  private func apply(_ change: ImportChange) -> LocalIdentifier {
    switch change {
    case .asset(let asset):
      let reference = LocalIdentifier(high: 0, low: UInt64(order.count))
      assets[reference] = Asset(imported: asset)
      order.append(reference)
      return reference
    case .pairedVideo(let movie, _, let reference):
      assets[reference]?.imported.others.append(movie.primary)
      return reference
    case .pairedStill(let still, let video):
      guard var movie = assets[video]?.imported.primary else { preconditionFailure("The video is in the library.") }
      movie.type = .pairedVideo
      assets[video] = Asset(imported: ImportedAsset(primary: still.primary, others: still.others + [movie]))
      return video
    }
  }
}
