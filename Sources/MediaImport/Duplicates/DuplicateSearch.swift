internal import Foundation
package import PhotoLedger
import LibraryMaintenance

// From the photos of a library to proposals.
//
//     assets ──▶ the picture that each shows ──▶ hashes: known by content, or made in batches ──▶ groups
//
// Nothing is changed: a proposal is merged by a person, with `ChangeBlock.merge`, or not at all. Cancelling the task
// stops between two batches, or between two pictures that are compared; what was made is kept, so the next search goes
// on.
//
// Of failures only those are kept that the same programs would repeat: a program that ended by itself and said that it
// cannot decode the file. One that was killed, took too long or could not be started may do better the next time.

/// What a search found.
package struct DuplicateSummary: Sendable {
  /// The proposals.
  package fileprivate(set) var groups: [DuplicateGroup] = []
  /// The photos that were compared.
  package fileprivate(set) var compared = 0
  /// Photos that are too plain to be compared.
  package fileprivate(set) var plain = 0
  /// Photos that have more neighbours than they were compared with; see ``DuplicateGroup/comparisonLimit``.
  package fileprivate(set) var crowded = 0
  /// Photos that are missing or cannot be decoded.
  package fileprivate(set) var failed = 0
  /// Assets that are not photos, or are not editable here.
  package fileprivate(set) var passedOver = 0
  /// Whether the search was stopped; then there are no proposals.
  package fileprivate(set) var wasInterrupted = false
}

/// Searches a library for assets that show one picture.
package struct DuplicateSearch: Sendable {
  /// The distances that can be asked for.
  package static let distances = 0...8
  /// The distance without a wish.
  package static let usualDistance = 4
  /// How many of its neighbours a photo is compared with at most.
  package static let neighbourLimit = DuplicateGroup.comparisonLimit
  /// How many files one start of the programs is for.
  private static let batchCount = 16

  private let library: PhotoLibrary
  private let distance: Int
  private let renderer: MediaRenderer
  private let width: Int

  /// - Parameters:
  ///   - library: the client's view.
  ///   - distance: how many of the 64 coarse waves may differ.
  ///   - threadCount: how many batches are made at the same time; nil: one for each processor.
  ///   - searchPath: where programs are looked for; nil: `PATH`.
  /// - Throws: ``ImportError`` `.toolMissing` without libvips or exiftool.
  package init(
    of library: PhotoLibrary, within distance: Int = usualDistance, threadCount: Int? = nil, searchPath: String? = nil
  ) throws {
    precondition(Self.distances.contains(distance), "A distance is from 0 to 8.")
    (self.library, self.distance) = (library, distance)
    width = threadCount ?? ProcessInfo.processInfo.activeProcessorCount
    renderer = MediaRenderer(
      searchPath: searchPath, workFolder: URL(filePath: library.store.folder.path(of: HashCache.folder)))
    _ = try renderer.comparer()
    _ = try ExifTool.find(searchPath)
  }

  /// Searches the assets of a result.
  /// - Parameters:
  ///   - assets: which.
  ///   - isWhole: whether these are all that are ever searched, so that hashes of others are dropped.
  ///   - progress: called with how many of how many files were read.
  /// - Throws: ``LibraryError`` if the library or the cache cannot be read or written.
  /// - Complexity: one decoding of each picture that was not read before; then as
  ///   ``DuplicateGroup/find(among:within:rejecting:comparing:isCancelled:)``.
  package func run(
    _ assets: FetchResult<Asset>, isWhole: Bool = false,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) async throws -> DuplicateSummary {
    let stop = StopFlag()
    return try await withTaskCancellationHandler {
      var summary = DuplicateSummary()
      var pictures: [Picture] = []
      try library.forEachAsset(of: assets) { asset, details in
        if let picture = Picture(asset, details.resources) {
          pictures.append(picture)
        } else {
          summary.passedOver += 1
        }
      }
      let cache = try HashCache(in: library.store.folder)
      try await fill(cache, with: pictures, stop, progress)
      if isWhole {
        let contents = Set(pictures.map(\.resource.sha256))
        if try cache.keep(contents) { try cache.erase(gone(Array(contents))) }
      }
      var candidates: [DuplicateCandidate] = []
      for picture in pictures {
        switch cache.entries[picture.resource.sha256] {
        case .hash(let hash)?: candidates.append(picture.candidate(hash))
        case .plain?: summary.plain += 1
        case .failed?, nil: summary.failed += 1
        }
      }
      summary.compared = candidates.count
      let finding = DuplicateGroup.find(
        among: candidates, within: distance, rejecting: try RejectedPairs(in: library.store.folder).pairs(),
        isCancelled: { stop.isSet })
      summary.wasInterrupted = stop.isSet || finding.wasInterrupted
      if !summary.wasInterrupted { (summary.groups, summary.crowded) = (finding.groups, finding.crowded) }
      return summary
    } onCancel: {
      stop.set()
    }
  }

  /// An asset with the picture that it shows.
  private struct Picture: Sendable {
    let asset: Asset
    let resource: AssetResource
    let isMoving: Bool

    /// Nil for what is not a photo, or may not be merged.
    init?(_ asset: Asset, _ resources: [AssetResource]) {
      guard asset.mediaType == .image, asset.canPerform(.delete), !asset.isTrashed, asset.pixelWidth > 0,
        asset.pixelHeight > 0, let shown = resources.shown(asset)
      else { return nil }
      (self.asset, resource) = (asset, shown)
      isMoving = resources.contains { $0.type == .pairedVideo }
    }

    func candidate(_ hash: PictureHash) -> DuplicateCandidate {
      DuplicateCandidate(
        id: asset.id, hash: hash, width: min(asset.pixelWidth, 1 << 24), height: min(asset.pixelHeight, 1 << 24),
        isRaw: asset.isRaw,
        isEdited: asset.hasAdjustments, isMoving: isMoving, byteCount: resource.dataSize,
        addedDate: asset.addedDate, burst: asset.burstIdentifier, content: resource.sha256)
    }
  }

  /// Makes the hashes that are not there yet.
  private func fill(
    _ cache: HashCache, with pictures: [Picture], _ stop: StopFlag, _ progress: @Sendable (Int, Int) -> Void
  ) async throws {
    let mark = renderer.programMark
    var wanted: [AssetResource] = []
    var seen: Set<[UInt8]> = []
    for picture in pictures where seen.insert(picture.resource.sha256).inserted {
      switch cache.entries[picture.resource.sha256] {
      case .hash?, .plain?, .failed(mark)?: continue
      case .failed?, nil: wanted.append(picture.resource)
      }
    }
    let batches = stride(from: 0, to: wanted.count, by: Self.batchCount).map {
      Array(wanted[$0..<min($0 + Self.batchCount, wanted.count)])
    }
    let (library, renderer) = (library, renderer)
    var done = 0
    for start in stride(from: 0, to: batches.count, by: width) {
      if stop.isSet { return }
      let round = Array(batches[start..<min(start + width, batches.count)])
      let found = try await onThreads(round, width: width) { (batch) throws(ImportError) in
        let urls = batch.map { library.url(of: $0) }
        let results = renderer.pictureHashes(of: urls, isCancelled: { stop.isSet })
        return zip(batch, results).compactMap { resource, result in
          Self.entry(result, mark, isStopped: stop.isSet).map { (content: resource.sha256, entry: $0) }
        }
      }
      let added = found.flatMap(\.self)
      try cache.add(added)
      try cache.erase(gone(added.map(\.content)))
      done += round.reduce(0) { $0 + $1.count }
      progress(done, wanted.count)
    }
  }

  /// Those of some contents that no asset has any more.
  private func gone(_ contents: [[UInt8]]) throws -> Set<[UInt8]> {
    Set(zip(contents, try library.firstAssets(withContents: contents)).filter { $0.1 == nil }.map(\.0))
  }

  /// What is kept of an outcome; nil for what may be another next time, as for a file that is missing.
  static func entry(
    _ result: Result<PictureHash?, any Error>, _ mark: UInt64, isStopped: Bool
  ) -> HashCache.Entry? {
    switch result {
    case .success(let hash?): return .hash(hash)
    case .success(nil): return .plain
    case .failure(let error):
      guard let error = error as? ImportError, !isStopped, !error.isPassing,
        [.toolFailed, .toolOutputTooLarge].contains(error.code)
      else { return nil }
      return .failed(mark)
    }
  }
}
