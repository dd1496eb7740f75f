import Synchronization

/// The counts of a result by media type, computed on first use; shared by the copies of the result.
package final class MediaTypeCounts: Sendable {
  private let counts = Mutex<[MediaType: Int]?>(nil)

  /// The counts, computed on first use.
  ///
  /// Computed outside the lock: concurrent callers compute them too, and a result never changes.
  package func value(counting count: () throws -> [MediaType: Int]) rethrows -> [MediaType: Int] {
    if let known = counts.withLock({ $0 }) { return known }
    let counted = try count()
    counts.withLock { $0 = counted }
    return counted
  }
}

extension FetchResult where Element == Asset {
  /// The number of assets of a media type (PHFetchResult.countOfAssets(with:), FR-04), as of the result's commit.
  ///
  /// All types are counted the first time; the copies of the result share the counts.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(n) the first time, and one read for each later event that touched an asset; then O(1).
  public func countOfAssets(with mediaType: MediaType) throws -> Int {
    let counts = try mediaTypeCounts.value {
      var counts: [MediaType: Int] = [:]
      // In pieces, so that no read of the store lasts long.
      for start in stride(from: 0, to: count, by: 1024) {
        for asset in try objects(at: start..<Swift.min(start + 1024, count)) {
          counts[asset.mediaType, default: 0] += 1
        }
      }
      return counts
    }
    return counts[mediaType] ?? 0
  }
}

extension FetchResult where Element == PhotoCollection {
  /// Always 0: albums and folders are not assets, whatever they hold (FR-04).
  public func countOfAssets(with mediaType: MediaType) -> Int { 0 }
}
