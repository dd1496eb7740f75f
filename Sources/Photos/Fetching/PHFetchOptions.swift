internal import PhotoLedger

/// What a fetch gives, and in which order (Apple: `PHFetchOptions`).
open class PHFetchOptions: NSObject, NSCopying {
  /// Which objects; all when nil. Forms that the store cannot follow trap in the fetch (FR-09).
  open var predicate: NSPredicate?
  /// In which order; the library's when nil or empty.
  open var sortDescriptors: [NSSortDescriptor]?
  /// Whether hidden assets are shown (FR-06).
  open var includeHiddenAssets = false
  /// Whether all members of bursts are shown (FR-07).
  open var includeAllBurstAssets = false
  /// Which sources; empty for those that the kind of fetch implies (FR-08).
  open var includeAssetSourceTypes: PHAssetSourceType = []
  /// The largest number of objects; 0 for all (FR-05).
  open var fetchLimit = 0
  /// Whether changes are incremental (CD-15).
  open var wantsIncrementalChangeDetails = true
  /// Nothing is prefetched: words are read when they are asked for. Kept for source compatibility.
  open var prefetchAssetExtendedMetadata = false

  /// Options that give everything that is not hidden.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHFetchOptions()
    (copy.predicate, copy.sortDescriptors) = (predicate, sortDescriptors)
    (copy.includeHiddenAssets, copy.includeAllBurstAssets) = (includeHiddenAssets, includeAllBurstAssets)
    (copy.includeAssetSourceTypes, copy.fetchLimit) = (includeAssetSourceTypes, fetchLimit)
    copy.wantsIncrementalChangeDetails = wantsIncrementalChangeDetails
    copy.prefetchAssetExtendedMetadata = prefetchAssetExtendedMetadata
    return copy
  }

  /// The core's options for a class of objects.
  func options(for entity: Entity) throws -> FetchOptions {
    var options = FetchOptions()
    if let predicate { options.condition = try Condition(predicate, for: entity) }
    options.sort = try (sortDescriptors ?? []).map { try SortTerm($0, for: entity) }
    options.includeHiddenAssets = includeHiddenAssets
    options.includeAllBurstAssets = includeAllBurstAssets
    // PhotoKit has no stacks: what shows whole bursts shows whole stacks.
    options.includeAllStackAssets = includeAllBurstAssets
    options.includeAssetSourceTypes = SourceTypes(rawValue: UInt8(truncatingIfNeeded: includeAssetSourceTypes.rawValue))
    options.fetchLimit = fetchLimit
    options.wantsIncrementalChangeDetails = wantsIncrementalChangeDetails
    return options
  }
}

extension PHFetchOptions? {
  func options(for entity: Entity) throws -> FetchOptions { try self?.options(for: entity) ?? FetchOptions() }
}
