import EventLog
import LMDB

// A result from its first object to its last, as an export or a list reads it.
//
// Such a reader wants each object once, in order, and may be slow: a pipe into a pager. So it is given pieces, each
// read in a transaction of its own that has ended when the piece is handed out. Nothing is kept between but a place:
//
//     begun, and no later commit     the stored order, from behind the last key of the piece before
//     begun, then a commit           the result is made as of its own commit, and goes on by positions
//     made                           the tree, by positions
//
// The pages of the store that were read stay mapped, and a walk over everything maps all of it. They are the page
// cache's, but they count as the process's, so a walk lets go of them when they have become many.
//
// Invariant: the pieces, joined, are the objects of the result at positions 0 ..< count, whatever is committed then.

extension FetchResult {
  /// How many objects a piece has at most. Few in debug builds: tests meet the ends of pieces.
  #if DEBUG
    private static var pieceCount: Int { 3 }
  #else
    private static var pieceCount: Int { 256 }
  #endif

  /// Gives all objects in pieces, so that a long result is never held whole.
  /// - Throws: ``LibraryError`` if the store cannot be read; what `body` throws.
  /// - Complexity: O(n log n), in memory that does not depend on n unless the result has been made.
  package func forEachPiece(_ body: ([Element]) throws -> Void) throws {
    let store = store
    try forEachPiece({ number, moment, t in try load.load(store, number, moment, t) }, body)
  }

  /// Gives what is read of each object in pieces.
  func forEachPiece<Read>(
    _ read: (ObjectNumber, ObjectLoader<Element>.Moment, borrowing StoreReading) throws -> Read,
    _ body: ([Read]) throws -> Void
  ) throws {
    var (position, place) = (0, nil as NarrowKey?)
    while position < count {
      let wanted = Swift.min(Self.pieceCount, count - position)
      let piece = try store.reading { t -> [Read]? in
        guard let (numbers, last) = try state.numbers(from: position, wanted, after: place, in: store, t) else {
          return nil
        }
        t.readAround()
        place = last
        let frame = state.frame
        let sequence = try store.core.log.head(t).sequence == frame.sequence ? LibraryStore.now : frame.sequence
        let piece = try numbers.map { try read($0, (frame.commit, sequence, frame.plan.query.access), t) }
        t.letGoOfPages()
        return piece
      }
      guard let piece else {
        // A commit came in between: from here on by the positions of the result as of its own.
        _ = try state.made(in: store)
        continue
      }
      position += piece.count
      try body(piece)
    }
  }
}

extension ResultState {
  /// The numbers of the objects from a shown position on.
  ///
  /// - Parameter place: the last key before them; nil: they are the first.
  /// - Returns: nil if the result has to be made first.
  fileprivate func numbers(
    from position: Int, _ wanted: Int, after place: NarrowKey?, in store: LibraryStore, _ t: borrowing StoreReading
  ) throws -> (numbers: [ObjectNumber], last: NarrowKey?)? {
    guard let begun else {
      let core = core
      let first = core.shown.lowerBound + position
      return ((first..<first + wanted).map { core.order.number(at: $0) }, nil)
    }
    guard try store.core.log.head(t).commit == begun.frame.commit else { return nil }
    let keys = try store.core.projections.keys(
      wanted, ofOrder: begun.stored.index, begun.stored.way, after: place, in: t)
    guard keys.count == wanted else {
      throw LibraryError(
        .corrupted,
        "A stored order ends after \(position + keys.count) of \(begun.count) assets; run `verify`, then `rebuild`.")
    }
    return (keys.map(\.number), keys.last)
  }
}

extension PhotoLibrary {
  /// Gives all assets of a result in pieces, each with its files and the words about it.
  /// - Throws: ``LibraryError`` if the store cannot be read; what `body` throws.
  /// - Complexity: as ``FetchResult/forEachPiece(_:)``.
  package func forEachAsset(
    of result: FetchResult<Asset>, _ body: (Asset, AssetDetails) throws -> Void
  ) throws {
    try result.forEachPiece { number, moment, t in
      let asset = try result.load.load(result.store, number, moment, t)
      return (asset, try details(of: asset, at: moment.sequence, t))
    } _: { piece in
      for (asset, details) in piece { try body(asset, details) }
    }
  }
}
