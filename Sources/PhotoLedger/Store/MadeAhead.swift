import Foundation
import Synchronization

// Pieces that are made while the ones before them are passed on.
//
// A command that prints everything waits for the reader of its pipe, for as long as it takes to copy the bytes. If
// pieces are made and passed on in turn, the cores that make them are idle meanwhile, about a third of the time. So a
// thread makes them, and the caller's thread passes them on:
//
//     a thread   make 1  make 2  make 3 ─ waits ─ make 4 …
//     caller's           pass on 1 ─────── pass on 2 …          at most `most` pieces wait between the two
//
// Invariant: the caller's function is called on the caller's thread, for each piece in order, and not after it said
// stop or threw; when `run` returns or throws, nothing is being made any more.
//
// Rejected: passing on from the thread that makes, with a queue for each; a caller may hold locks and task-local values
// of its own thread. A larger store of pieces: the slower of the two decides, and the rest is memory.

/// Makes pieces on a thread of its own.
package enum MadeAhead {
  /// How many pieces wait at most.
  static let most = 16

  /// Makes pieces and passes them on.
  /// - Parameters:
  ///   - stackSize: the bytes of the thread's stack; 0: the usual size.
  ///   - make: makes all pieces and gives each to the function that it is called with, which says whether to go on.
  ///   - use: is given each piece, and says whether to go on.
  ///   - withoutThread: called instead of both if the system allows no further thread, with the ``LibraryError``
  ///     `.storage` that says so.
  /// - Throws: what `use` throws; otherwise what `make` throws, after the pieces that it made before; what
  ///   `withoutThread` throws, which is its error by default.
  package static func run<Piece: Sendable>(
    stackSize: Int = 0,
    _ make: @escaping @Sendable (_ give: (Piece) -> Bool) throws -> Void,
    _ use: (Piece) throws -> Bool,
    withoutThread: (LibraryError) throws -> Void = { throw $0 }
  ) throws {
    let belt = Belt<Piece>()
    do throws(LibraryError) {
      try OwnThread.start("ledger-ahead", stackSize: stackSize) { belt.end(Result { try make { belt.give($0) } }) }
    } catch {
      return try withoutThread(error)
    }
    // Whatever comes, nothing is being made any more when this returns.
    defer { belt.stop() }
    while let piece = belt.next() {
      guard try use(piece) else { return }
    }
    try belt.outcome()
  }
}

/// What lies between the thread that makes and the one that uses.
private final class Belt<Piece: Sendable>: Sendable {
  private struct State {
    var pieces: [Piece] = []
    var isStopped = false
    var outcome: Result<Void, any Error>?
  }

  private let state = Mutex(State())
  /// Counts the free places; the maker waits for one.
  private let room = DispatchSemaphore(value: 0)
  /// Counts the pieces, and the end; the user waits for one.
  private let arrivals = DispatchSemaphore(value: 0)
  private let ending = DispatchSemaphore(value: 0)

  init() {
    // Not as its first value: a semaphore that ends below that ends the process.
    for _ in 0..<MadeAhead.most { room.signal() }
  }

  /// Puts a piece down; false if no more are wanted.
  func give(_ piece: Piece) -> Bool {
    room.wait()
    let isWanted = state.withLock { state in
      if !state.isStopped { state.pieces.append(piece) }
      return !state.isStopped
    }
    if isWanted { arrivals.signal() }
    return isWanted
  }

  /// Marks the end of the pieces.
  func end(_ outcome: Result<Void, any Error>) {
    state.withLock { $0.outcome = outcome }
    arrivals.signal()
    ending.signal()
  }

  /// The next piece; nil at the end.
  func next() -> Piece? {
    arrivals.wait()
    let piece = state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
    if piece != nil { room.signal() }
    return piece
  }

  /// Cancels further pieces, and waits until the producer has ended.
  func stop() {
    state.withLock { $0.isStopped = true }
    room.signal()
    ending.wait()
  }

  /// How the maker ended.
  func outcome() throws { try state.withLock { $0.outcome }?.get() }
}
