import EventLog
import LMDB

// A result from its first object to its last, as an export or a list reads it.
//
// Such a reader wants each object once, in order, and may be slow: a pipe into a pager. So it is given pieces; some are
// read at a time, on several cores, in transactions of one snapshot that have ended when the pieces are handed out.
// Nothing is kept between but a place:
//
//     begun, and no later commit     the stored order, after the last key of the previous piece
//     begun, then a commit           the result is completed as of its own commit, and continues by positions
//     begun, and all is at hand      the numbers that were read at first, whatever was committed since
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
    private static var scatteredCount: Int { 2 }
  #else
    private static var pieceCount: Int { 256 }
    /// How many of them if each of their rows maps pages of its own.
    private static var scatteredCount: Int { 8 }
  #endif
  /// From how many numbers apart, on average, rows are taken for such: some hundreds lie on the pages of one fault.
  private static var scatteredDistance: Int { 64 }
  /// How many pieces are read at a time, at most.
  private static var piecesAtOnce: Int { 8 }

  /// Iterates over all objects in pieces, so that a long result is never held completely.
  /// - Throws: ``LibraryError`` if the store cannot be read; the errors of `body`.
  /// - Complexity: O(n log n), in memory that does not depend on n unless the result is complete.
  package func forEachPiece(_ body: ([Element]) throws -> Void) throws {
    let (store, load) = (store, load)
    try forEachPiece({ numbers, point, t in try numbers.map { try load.load(store, $0, point, t) } }, body)
  }

  /// Gives what is made of the objects of each piece; pieces are made on several cores, ahead of the body, and given in
  /// order.
  func forEachPiece<Piece: Sendable>(
    _ make:
      @escaping @Sendable (
        ArraySlice<ObjectNumber>, ObjectLoader<Element>.ReadPoint, borrowing StoreReading
      ) throws -> Piece,
    _ body: (Piece) throws -> Void
  ) throws {
    try MadeAhead.run { give in
      try makePieces(make, give)
    } _: { piece in
      try body(piece)
      return true
    }
  }

  private func makePieces<Piece: Sendable>(
    _ make:
      @Sendable (ArraySlice<ObjectNumber>, ObjectLoader<Element>.ReadPoint, borrowing StoreReading) throws -> Piece,
    _ give: (Piece) -> Bool
  ) throws {
    var (position, place) = (0, nil as NarrowKey?)
    while position < count {
      let wanted = Swift.min(Self.pieceCount * Self.piecesAtOnce, count - position)
      let pieces = try store.reading { t -> [Piece]? in
        guard let (numbers, last) = try state.numbers(from: position, wanted, after: place, in: store, t) else {
          return nil
        }
        t.readAround()
        place = last
        let frame = state.frame
        let sequence = try store.core.log.head(t).sequence == frame.sequence ? LibraryStore.now : frame.sequence
        let point = (frame.commit, sequence, frame.plan.query.access)
        let areApart = numbers.lie(fartherApartThan: Self.scatteredDistance)
        let size = areApart ? Self.scatteredCount : Self.pieceCount
        let starts = Array(stride(from: 0, to: numbers.count, by: size))
        let pieces = try t.onSeveralCores(starts.count) { part, t in
          defer { if areApart { t.letGoOfPages() } }
          return try make(numbers[starts[part]..<Swift.min(starts[part] + size, numbers.count)], point, t)
        }
        t.letGoOfPages()
        return pieces
      }
      guard let pieces else {
        // A commit came in between: from here on by the positions of the result as of its own.
        _ = try state.made(in: store)
        continue
      }
      position += wanted
      for piece in pieces { guard give(piece) else { return } }
    }
  }
}

extension [ObjectNumber] {
  /// Whether the numbers are, on average, farther from one another than so many.
  fileprivate func lie(fartherApartThan distance: Int) -> Bool {
    guard let least = self.min(), let largest = self.max() else { return false }
    return (largest - least) / UInt64(count) > UInt64(distance)
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
    let first = shown.lowerBound + position
    if shown.upperBound <= begun.numbers.count { return (Array(begun.numbers[first..<first + wanted]), nil) }
    guard let stored = begun.stored, try store.core.log.head(t).commit == begun.frame.commit else { return nil }
    let keys = try store.core.projections.keys(wanted, of: stored, after: place, in: t)
    guard keys.count == wanted else {
      throw LibraryError(
        .corrupted,
        "The stored order of a result ends after \(position + keys.count) of \(begun.count) assets; "
          + "run `verify`, then `rebuild`.")
    }
    return (keys.map(\.number), keys.last)
  }
}

extension PhotoLibrary {
  /// Gives all assets of a result in order, each with its files and the words about it.
  /// - Throws: ``LibraryError`` if the store cannot be read; what `body` throws.
  /// - Complexity: as ``FetchResult/forEachPiece(_:)``.
  package func forEachAsset(
    of result: FetchResult<Asset>, _ body: (Asset, AssetDetails) throws -> Void
  ) throws {
    try result.forEachPiece { numbers, point, t in
      try numbers.map { number in
        let asset = try result.load.load(result.store, number, point, t)
        return (asset, try self.details(of: asset, at: point.sequence, t))
      }
    } _: { piece in
      for (asset, details) in piece { try body(asset, details) }
    }
  }

  /// Gives all assets of a result as lines that are written on several cores.
  /// - Parameters:
  ///   - start: makes what the lines of a piece share.
  ///   - write: writes the line of an asset with its end.
  ///   - body: is given the lines in order, many at a time.
  /// - Throws: ``LibraryError`` if the store cannot be read; what the closures throw.
  /// - Complexity: as ``FetchResult/forEachPiece(_:)``.
  package func writeLines<Shared>(
    of result: FetchResult<Asset>, _ start: @escaping @Sendable () -> Shared,
    _ write: @escaping @Sendable (inout Shared, Asset, AssetDetails, inout JSONBytes) throws -> Void,
    _ body: (borrowing JSONBytes) throws -> Void
  ) throws {
    try result.forEachPiece { numbers, point, t in
      try WrittenLines { bytes in
        var shared = start()
        for number in numbers {
          let asset = try result.load.load(result.store, number, point, t)
          try write(&shared, asset, try self.details(of: asset, at: point.sequence, t), &bytes)
        }
      }
    } _: { lines in
      try body(lines.bytes)
    }
  }
}
