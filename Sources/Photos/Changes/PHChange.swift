internal import PhotoLedger

/// One committed change, asked per object or result (CD-01; Apple: `PHChange`).
open class PHChange: NSObject, @unchecked Sendable {  // guarded by: holds constants only
  private let source: (change: LibraryChange, library: PHPhotoLibrary)?

  init(_ change: LibraryChange, _ library: PHPhotoLibrary) { source = (change, library) }

  /// A change of nothing, for stand-ins in tests.
  public override init() { source = nil }

  /// How an object differs now; nil if no property of it was changed (CD-21, CD-22).
  ///
  /// Nil, too, for an object that was fetched after the change (OB-02), for an object of another library, and for one
  /// that another client than the observer's fetched: what the observer's client may see of it is not for the other.
  ///
  /// An asset in the trash cannot be seen here, so it is gone; what is restored has no details, and is inserted in
  /// results (PH-05).
  open func changeDetails<T: PHObject>(for object: T) -> PHObjectChangeDetails<T>? {
    guard let source, let origin = object.origin, object.isOf(source.library),
      origin.core.client.exact == source.library.core.client.exact
    else { return nil }
    if let asset = (object as? PHAsset)?.asset {
      guard asset.commit < source.change.commit else { return nil }
      return source.change.changeDetails(for: asset, showsTrash: false).map { details in
        let after = details.objectAfterChanges.map { PHAsset($0, source.library) }
        return PHObjectChangeDetails(object, after as? T, details.assetContentChanged)
      }
    }
    guard let collection = (object as? PHCollection)?.collection, collection.commit < source.change.commit
    else { return nil }
    return source.change.changeDetails(for: collection).map { details in
      let after = details.objectAfterChanges.map { PHObject.of($0, in: source.library) }
      return PHObjectChangeDetails(object, after as? T, false)
    }
  }

  /// How a result that the caller holds differs now; nil if the change does not touch it (CD-01, OB-02), and for a
  /// result of another library.
  ///
  /// The result after the change belongs to the client that fetched the one before it, not to the observer's.
  /// - Complexity: O(k log n) for k objects touched since the result; O(n) for an erasure or another permission.
  open func changeDetails<T: PHObject>(for object: PHFetchResult<T>) -> PHFetchResultChangeDetails<T>? {
    guard let source, let library = object.library, library.isOfSameLibrary(as: source.library) else { return nil }
    return PHPhotoLibrary.answer("PHChange.changeDetails(for:)") {
      switch object.content {
      case .assets(let result):
        try source.change.changeDetails(for: result).map { details in
          PHFetchResultChangeDetails(
            object, PHFetchResult(.assets(details.fetchResultAfterChanges), library), .assets(details))
        }
      case .collections(let result):
        try source.change.changeDetails(for: result).map { details in
          PHFetchResultChangeDetails(
            object, PHFetchResult(.collections(details.fetchResultAfterChanges), library), .collections(details))
        }
      case .jobs, .other, .nothing: nil
      }
    }
  }
}

/// How one object differs (CD-21; Apple: `PHObjectChangeDetails`).
public final class PHObjectChangeDetails<ObjectType: PHObject>: NSObject, Sendable {
  /// The object that was asked about (Apple: `objectBeforeChanges`).
  public let objectBeforeChanges: ObjectType
  /// The object as it is now; nil if it is gone.
  public let objectAfterChanges: ObjectType?
  /// Whether the bytes of an image or video differ, and not only what is known of it.
  public let assetContentChanged: Bool

  init(_ before: ObjectType, _ after: ObjectType?, _ contentChanged: Bool) {
    (objectBeforeChanges, objectAfterChanges, assetContentChanged) = (before, after, contentChanged)
  }

  /// Whether the object is gone: deleted, withdrawn from the client, or in the trash.
  public var objectWasDeleted: Bool { objectAfterChanges == nil }
}

/// How one result differs from another (CD-01 to CD-23; Apple: `PHFetchResultChangeDetails`).
public final class PHFetchResultChangeDetails<ObjectType: PHObject>: NSObject, Sendable {
  enum Details: Sendable {
    case assets(ChangeDetails<Asset>)
    case collections(ChangeDetails<PhotoCollection>)
    /// Of results that are not the core's, an empty stand-in or upload jobs, and of results of two libraries.
    case compared(IndexChanges)
  }

  /// The result that was asked about, itself (CD-02).
  public let fetchResultBeforeChanges: PHFetchResult<ObjectType>
  /// The same fetch now (CD-03).
  public let fetchResultAfterChanges: PHFetchResult<ObjectType>
  private let details: Details

  init(_ before: PHFetchResult<ObjectType>, _ after: PHFetchResult<ObjectType>, _ details: Details) {
    (fetchResultBeforeChanges, fetchResultAfterChanges, self.details) = (before, after, details)
  }

  /// The difference of any two results, an empty stand-in included (CD-20; Apple: `init(from:to:changedObjects:)`).
  ///
  /// Those of two libraries, as before and after a call of `PHPhotoLibrary.bootstrap`, are compared by their objects.
  /// - Complexity: O(n log n) in the sizes of both results; O(n) if one of them is a stand-in without objects.
  public convenience init(
    from fromResult: PHFetchResult<ObjectType>, to toResult: PHFetchResult<ObjectType>, changedObjects: [ObjectType]
  ) {
    let details: Details =
      switch (fromResult.content, toResult.content) {
      case (.assets(let before), .assets(let after)) where fromResult.isOfSameLibrary(as: toResult):
        .assets(
          ChangeDetails(from: before, to: after, changedObjects: changedObjects.compactMap { ($0 as? PHAsset)?.asset }))
      case (.collections(let before), .collections(let after)) where fromResult.isOfSameLibrary(as: toResult):
        .collections(
          ChangeDetails(
            from: before, to: after, changedObjects: changedObjects.compactMap { ($0 as? PHCollection)?.collection }))
      default: .compared(fromResult.changes(to: toResult, changed: changedObjects))
      }
    self.init(fromResult, toResult, details)
  }

  private func details<Value>(
    assets: (ChangeDetails<Asset>) -> Value, collections: (ChangeDetails<PhotoCollection>) -> Value,
    compared: (IndexChanges) -> Value
  ) -> Value {
    switch details {
    case .assets(let details): assets(details)
    case .collections(let details): collections(details)
    case .compared(let changes): compared(changes)
    }
  }

  /// Whether the index sets are available (CD-14, CD-15).
  public var hasIncrementalChanges: Bool {
    details(assets: \.hasIncrementalChanges, collections: \.hasIncrementalChanges) { _ in true }
  }

  /// Positions in *before* (CD-04).
  public var removedIndexes: IndexSet? {
    details(assets: \.removedIndexes, collections: \.removedIndexes) { $0.removed.indexSet }
  }

  /// Positions in *after*, which are those after the removals too (CD-05, CD-06).
  public var insertedIndexes: IndexSet? {
    details(assets: \.insertedIndexes, collections: \.insertedIndexes) { $0.inserted.indexSet }
  }

  /// Positions in *after* (CD-07).
  public var changedIndexes: IndexSet? {
    details(assets: \.changedIndexes, collections: \.changedIndexes) { $0.changed.indexSet }
  }

  /// The objects at the removed positions, as they were (CD-08, CD-17).
  public var removedObjects: [ObjectType] { removedIndexes.map(fetchResultBeforeChanges.objects(at:)) ?? [] }
  /// The objects at the inserted positions (CD-08, CD-17).
  public var insertedObjects: [ObjectType] { insertedIndexes.map(fetchResultAfterChanges.objects(at:)) ?? [] }
  /// The objects at the changed positions, as they are (CD-08, CD-17).
  public var changedObjects: [ObjectType] { changedIndexes.map(fetchResultAfterChanges.objects(at:)) ?? [] }

  /// Whether objects stand in another order after removals and insertions (CD-13).
  public var hasMoves: Bool { details(assets: \.hasMoves, collections: \.hasMoves, compared: \.hasMoves) }

  /// Calls a handler with each move: from a position in *before* with removals and insertions applied, to one in
  /// *after* (CD-10); a batch, not a script (CD-11).
  public func enumerateMoves(_ handler: (_ fromIndex: Int, _ toIndex: Int) -> Void) {
    for move in details(assets: \.moves, collections: \.moves, compared: \.moves) { handler(move.from, move.to) }
  }
}

extension PHFetchResult where ObjectType: PHObject {
  /// Whether another result is of the same library: numbers of one mean nothing in another.
  fileprivate func isOfSameLibrary(as other: PHFetchResult<ObjectType>) -> Bool {
    guard let library, let otherLibrary = other.library else { return false }
    return library.isOfSameLibrary(as: otherLibrary)
  }

  /// How another result differs, by its objects; none is read if there are none on the other side.
  fileprivate func changes(to other: PHFetchResult<ObjectType>, changed: [ObjectType]) -> IndexChanges {
    guard count > 0, other.count > 0 else {
      return IndexChanges.between(before: Array(0..<count), after: Array(0..<other.count))
    }
    let (changed, after) = (Set(changed), other.occurrences)
    return IndexChanges.between(
      before: occurrences, after: after, changed: Set(after.filter { changed.contains($0.object) }))
  }

  /// Its objects, those that are equal told apart by how many come before: a stand-in may hold one twice.
  private var occurrences: [Occurrence<ObjectType>] {
    var counts: [ObjectType: Int] = [:]
    return (0..<count).map { index in
      let object = object(at: index)
      defer { counts[object, default: 0] += 1 }
      return Occurrence(object: object, earlier: counts[object, default: 0])
    }
  }
}

/// An object of a list, and how many equal ones come before it.
private struct Occurrence<Object: Hashable>: Hashable {
  let object: Object
  let earlier: Int
}
