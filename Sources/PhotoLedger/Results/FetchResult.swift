import EventLog
public import Foundation
import LMDB

// A fetch result is a value (design, decision 3): the root of a persistent tree of keys, and the number of the commit
// it belongs to. It never changes; `PhotoLibrary.changes(to:)` delivers the differences to later ones. Objects are read
// on demand, always as of the result's commit: rows that changed since are computed with the inverses of the events
// that changed them (`LibraryStore.assetRow(_:at:_:)` and related functions).

/// The ordered objects that a fetch found, as of one commit (PHFetchResult, FR-01).
public struct FetchResult<Element: Hashable & Sendable>: Sendable {
  let state: ResultState
  let store: LibraryStore
  let load: ObjectLoader<Element>

  /// The complete result; built on first use if it comes from a stored order.
  package var core: ResultCore { get throws { try state.made(in: store) } }
  /// The state that the result shows, as a token of its client's.
  public var token: Token { state.token }
  /// How many keys it keeps, shown or not, once it is complete: a limit restricts only what is shown.
  package var keyCount: Int { state.orderCount }
  /// How many assets of each media type it shows, once counted.
  package var mediaTypeCounts: MediaTypeCounts { state.mediaTypeCounts }

  init(_ state: ResultState, store: LibraryStore, load: ObjectLoader<Element>) {
    (self.state, self.store, self.load) = (state, store, load)
  }

  /// Makes a result that shows another state as another result of the same library does.
  init(_ state: ResultState, like other: FetchResult<Element>) {
    self.init(state, store: other.store, load: other.load)
  }

  /// The object at a position.
  /// - Parameter index: 0 ..< `count`, in this result; another traps (FR-02).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and one read for each later event that touched the object.
  public func object(at index: Int) throws -> Element {
    try objects(at: index..<(index + 1))[0]
  }

  /// The objects at positions, in the order of the positions (FR-02).
  /// - Parameter indexes: positions in this result; one past the end traps.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m objects.
  public func objects(at indexes: IndexSet) throws -> [Element] {
    try objects(at: Array(indexes))
  }

  /// The objects at a range of positions.
  /// - Parameter range: positions in this result; one past the end traps.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m objects.
  public func objects(at range: Range<Int>) throws -> [Element] {
    try objects(at: Array(range))
  }

  func objects(at positions: [Int]) throws -> [Element] {
    for position in positions {
      requireCorrectUse(
        position >= 0 && position < state.shown.count,
        "Position \(position) is past the end of a fetch result of \(state.shown.count) objects.")
    }
    let (numbers, frame) = try state.look(at: positions, in: store)
    return try store.reading { t in
      // A screen needs few pages, an export most of them.
      if numbers.count > 256 { t.readAround() }
      let sequence = try store.core.log.head(t).sequence == frame.sequence ? LibraryStore.now : frame.sequence
      let moment = (frame.commit, sequence, frame.plan.query.access)
      var objects: [Element] = []
      objects.reserveCapacity(numbers.count)
      // By indexes: this is compiled once for all elements, and the collections of `enumerated()` look their types up.
      for index in numbers.indices {
        // Each row may have mapped pages of its own.
        if index & 0xF == 0xF { t.letGoOfPages(.again) }
        objects.append(try load.load(store, numbers[index], moment, t))
      }
      return objects
    }
  }

  /// Whether the objects at a range are read without making the order of the whole result first.
  package func isAtHand(_ range: Range<Int>) -> Bool { state.isAtHand(range) }

  /// Makes the order of the whole result: once, however many ask for it at the same time.
  /// - Complexity: O(1); O(n) the first time for a result of which only the beginning was read.
  package func complete() throws { try state.complete(in: store) }

  /// The first object; nil if there is none (FR-03).
  public var firstObject: Element? { first }
  /// The last object; nil if there is none (FR-03).
  public var lastObject: Element? { last }
}

extension FetchResult: RandomAccessCollection {
  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { state.shown.count }

  /// The object at a position; traps if the store cannot be read, where ``object(at:)`` throws.
  public subscript(index: Int) -> Element {
    reading { try object(at: index) }
  }

  /// Reads where Swift's collections leave no room for an error.
  package func reading<R>(_ body: () throws -> R) -> R {
    do {
      return try body()
    } catch {
      fatalError("A fetch result could not be read: \(error). Use object(at:) or index(ofObject:) to handle this.")
    }
  }
}

extension FetchResult where Element == Asset {
  /// The position of an asset (FR-03); nil if the result does not hold it.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and one read for each later event that touched the asset.
  public func index(ofObject asset: Asset) throws -> Int? {
    try store.position(of: asset.row.number, in: core)
  }

  /// The position of an asset in a range of the result (PHFetchResult.index(of:in:), FR-03).
  /// - Parameters:
  ///   - asset: the asset.
  ///   - range: positions in this result.
  /// - Returns: the position in this result; nil if the range does not contain the asset.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and one read for each later event that touched the asset.
  public func index(ofObject asset: Asset, in range: Range<Int>) throws -> Int? {
    try index(ofObject: asset).flatMap { range.contains($0) ? $0 : nil }
  }

  /// Whether the result holds an asset (FR-03); traps if the store cannot be read, where `index(ofObject:)` throws.
  /// - Complexity: O(log n), and one read for each later event that touched the asset.
  public func contains(_ asset: Asset) -> Bool { reading { try index(ofObject: asset) != nil } }
}

extension FetchResult where Element == PhotoCollection {
  /// The position of a collection (FR-03); nil if the result does not hold it.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and one read for each later event that touched the collection.
  public func index(ofObject collection: PhotoCollection) throws -> Int? {
    try store.position(of: collection.row.number, in: core)
  }

  /// The position of a collection in a range of the result (PHFetchResult.index(of:in:), FR-03).
  /// - Parameters:
  ///   - collection: the collection.
  ///   - range: positions in this result.
  /// - Returns: the position in this result; nil if the range does not contain the collection.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and one read for each later event that touched the collection.
  public func index(ofObject collection: PhotoCollection, in range: Range<Int>) throws -> Int? {
    try index(ofObject: collection).flatMap { range.contains($0) ? $0 : nil }
  }

  /// Whether the result holds a collection (FR-03); traps if the store cannot be read, where `index(ofObject:)` throws.
  /// - Complexity: O(log n), and one read for each later event that touched the collection.
  public func contains(_ collection: PhotoCollection) -> Bool { reading { try index(ofObject: collection) != nil } }
}

/// How an object of a result is read as of the result's commit.
struct ObjectLoader<Element: Sendable>: Sendable {
  typealias ReadPoint = (commit: UInt64, sequence: UInt64, access: Access)
  let load: @Sendable (LibraryStore, ObjectNumber, ReadPoint, borrowing StoreReading) throws -> Element
}

extension ObjectLoader<Asset> {
  static let asset = ObjectLoader { store, number, point, t in
    guard let row = try store.assetRow(number, at: point.sequence, t) else { throw store.vanished(number) }
    return Asset(row: row, seenBy: point.access, commit: point.commit)
  }
}

extension ObjectLoader<PhotoCollection> {
  static let collection = ObjectLoader { store, number, point, t in
    guard let row = try store.collectionRow(number, at: point.sequence, t) else { throw store.vanished(number) }
    return PhotoCollection(row: row, seenBy: point.access, commit: point.commit)
  }
}
