// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos

/// What a cell of the grid shows.
public struct PhotoCell: Equatable, Sendable {
  public let identifier: String
  public let isFavorite: Bool
  public let isVideo: Bool

  public init(_ asset: PHAsset) {
    identifier = asset.localIdentifier
    isFavorite = asset.isFavorite
    isVideo = asset.mediaType == .video
  }
}

/// The model behind a grid of photos: one fetch, kept up to date by index sets.
@MainActor
public final class PhotoGridModel: NSObject, PHPhotoLibraryChangeObserver {
  /// The cells as the collection view has them on screen.
  public private(set) var cells: [PhotoCell] = []
  /// How often the whole grid was reloaded.
  public private(set) var reloadCount = 0
  /// How often the grid was updated by index sets.
  public private(set) var batchCount = 0
  /// What an index set did not agree with, if ever.
  public private(set) var complaint: String?

  private var fetchResult: PHFetchResult<PHAsset>
  private let photoLibrary = PHPhotoLibrary.shared()

  public init(fetchResult: PHFetchResult<PHAsset>) {
    self.fetchResult = fetchResult
    super.init()
    reloadData()
    photoLibrary.register(self)
  }

  /// The user library, newest first, as most grids show it.
  public convenience init(limit: Int) {
    let options = PHFetchOptions()
    options.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
    options.fetchLimit = limit
    self.init(fetchResult: PHAsset.fetchAssets(with: options))
  }

  deinit {
    photoLibrary.unregisterChangeObserver(self)
  }

  public func stopObserving() {
    photoLibrary.unregisterChangeObserver(self)
  }

  /// The cells of the result that the grid holds, read afresh.
  public var fetched: [PhotoCell] {
    var cells: [PhotoCell] = []
    fetchResult.enumerateObjects { asset, _, _ in cells.append(PhotoCell(asset)) }
    return cells
  }

  nonisolated public func photoLibraryDidChange(_ changeInstance: PHChange) {
    // The details have to be asked for with the result that is on screen, so hop first.
    DispatchQueue.main.async {
      self.apply(changeInstance)
    }
  }

  private func apply(_ change: PHChange) {
    guard let details = change.changeDetails(for: fetchResult) else { return }
    fetchResult = details.fetchResultAfterChanges
    guard details.hasIncrementalChanges else {
      reloadData()
      return
    }
    batchCount += 1
    performBatchUpdates(details)
  }

  private func reloadData() {
    reloadCount += 1
    cells = fetched
  }

  private func performBatchUpdates(_ details: PHFetchResultChangeDetails<PHAsset>) {
    if let removed = details.removedIndexes, !removed.isEmpty {
      for index in removed.reversed() { cells.remove(at: index) }
    }
    if let inserted = details.insertedIndexes, !inserted.isEmpty {
      for (index, asset) in zip(inserted, details.insertedObjects) { cells.insert(PhotoCell(asset), at: index) }
    }
    if details.hasMoves {
      var moves: [(from: Int, to: Int)] = []
      details.enumerateMoves { moves.append(($0, $1)) }
      let moving = moves.map { (cell: cells[$0.from], to: $0.to) }.sorted { $0.to < $1.to }
      for from in moves.map(\.from).sorted(by: >) { cells.remove(at: from) }
      for move in moving { cells.insert(move.cell, at: move.to) }
    }
    if let changed = details.changedIndexes, !changed.isEmpty {
      for (index, asset) in zip(changed, details.changedObjects) {
        if cells[index].identifier != asset.localIdentifier {
          complaint = "Cell \(index) shows \(cells[index].identifier), but \(asset.localIdentifier) changed there."
        }
        cells[index] = PhotoCell(asset)
      }
    }
  }
}
