package import EventLog
package import Foundation
import LMDB
import Synchronization

// The engine behind a library: one per opened directory, shared by every client's view of it.
//
//   LIBRARY/
//     store/data.mdb, lock.mdb    LMDB: the log and the projections
//     store/changes               the named pipe that wakes other processes
//     resources/                  the bytes of photos and videos, by the SHA-256 of their content
//     imports/                    what became of each file of each import, one text file a run
//     decisions/                  the pairs of photos that are not duplicates (`RejectedPairs.swift`)
//     uploads/                    the upload jobs of clients (`UploadJobStore.swift`)
//
// StoreCore holds what the writer and the readers share. Everything else of an opened library (its writer, the
// observation that follows the log, picking sessions, upload jobs, installed handlers) is a part: created by its own
// room on first use, and closed with the library. So this room, on which all others depend, names none of them:
//
//     extension LibraryStore { var observation: Observation { part { Observation(of: $0) } } }      in Observation/
//
// Rejected: a stored property for each part, with which the lowest room names all others.

/// A part of an opened library, created on first use and closed with the library.
package protocol StorePart: AnyObject, Sendable {
  /// When the part is closed.
  static var closing: ClosingStage { get }
  /// Ends what the part does, and returns when that is done; called again, it does nothing more.
  func close()
}

/// The order in which the parts of a library are closed.
package enum ClosingStage: Int, CaseIterable, Sendable {
  /// Parts that send blocks: they are closed first, so that their blocks are still executed.
  case senders
  /// The writer, which executes what is queued.
  case writer
  /// Parts that follow commits: they deliver the last ones.
  case followers
}

/// An opened library directory.
package final class LibraryStore: Sendable {
  /// Where the directory is now.
  package var url: URL { folder.currentURL }
  /// The directory itself.
  package var folder: LibraryFolder { resources.folder }
  package let core: StoreCore
  package let resources: ResourceStore
  package let signal: ChangeSignal
  let availability = Availability()
  /// Where completion handlers are called: one at a time, and never on the writer's thread.
  let completions = DispatchQueue(label: "photoledger.completions")
  /// The states of objects that were read last.
  let (earlierAssets, earlierDetails) = (EarlierStates<AssetRow>(), EarlierStates<AssetDetails>())
  let earlierCollections = EarlierStates<CollectionRow>()
  /// The last event that brought what stands for erased payloads, and how many payloads were erased by then.
  let lastErasure = Mutex((count: 0, sequence: UInt64(0)))
  #if DEBUG
    /// The number of events read to compute earlier states of objects; for tests.
    let eventsCrossed = Atomic(0)
  #endif

  private struct Parts {
    var known: [ObjectIdentifier: any StorePart] = [:]
    var isClosed = false
  }

  private let parts = Mutex(Parts())

  package init(core: StoreCore, resources: ResourceStore, signal: ChangeSignal) {
    self.core = core
    self.resources = resources
    self.signal = signal
  }

  deinit { close() }

  /// The part of a type, created on first use.
  /// - Parameter make: creates it. Must not request another part, and must not retain the store.
  package func part<Part: StorePart>(_ kind: Part.Type = Part.self, _ make: (LibraryStore) -> Part) -> Part {
    let (part, isLate) = parts.withLock { parts -> (Part, Bool) in
      let name = ObjectIdentifier(kind)
      if let known = parts.known[name] as? Part { return (known, false) }
      let made = make(self)
      parts.known[name] = made
      return (made, parts.isClosed)
    }
    // A part of a closed library is closed too: it answers as one that was closed with it.
    if isLate { part.close() }
    return part
  }

  /// Executes what is queued, ends the threads and gives the observers their end.
  package func close() {
    // Closing returns when it is complete: a second caller goes through the parts as well, and waits for them.
    let open = parts.withLock { parts in
      parts.isClosed = true
      return Array(parts.known.values)
    }
    for turn in ClosingStage.allCases {
      for part in open where type(of: part).closing == turn { part.close() }
    }
    availability.end(LibraryError(.closed, "The library was closed; open it again."))
  }

  /// The clock, randomness and the name of the process that the library was opened with.
  package var libraryEnvironment: LibraryEnvironment { core.libraryEnvironment }

  package func token(_ commit: UInt64) -> Token { core.token(commit) }

  package func reading<R>(_ body: (borrowing StoreReading) throws -> R) throws -> R {
    do {
      return try core.environment.read(body)
    } catch {
      let reported = LibraryError(error)
      if error is LMDBError, reported.code == .corrupted { availability.end(reported) }
      throw reported
    }
  }

  func vanished(_ number: ObjectNumber) -> LibraryError {
    LibraryError(.corrupted, "A result names object \(number), which is not in the store; run `verify`.")
  }

  /// The last event, whichever it is: nothing has to be reverted.
  package static let now = UInt64.max
}

/// Something that a process installs in an opened library, such as what converts pictures.
package final class Installed<Value: Sendable>: StorePart {
  package static var closing: ClosingStage { .followers }

  private struct State {
    var value: Value?
    var isChosen = false
  }

  private let state = Mutex(State())

  /// What is installed; nil: nothing.
  package var current: Value? { state.withLock { $0.value } }

  /// Installs something in place of what was there; nil: nothing.
  package func install(_ new: Value?) { state.withLock { $0 = State(value: new, isChosen: true) } }

  /// Installs something if nothing was chosen before; nil was a choice, too.
  package func installDefault(_ new: Value) {
    state.withLock { if !$0.isChosen { $0 = State(value: new, isChosen: true) } }
  }

  package func close() {}
}

extension LibraryStore {
  /// What is installed of a kind.
  package func installed<Value: Sendable>(_ kind: Value.Type = Value.self) -> Installed<Value> {
    part { _ in Installed<Value>() }
  }
}

extension LibraryStore {
  /// A client by its row.
  /// - Complexity: O(log n) if its selection is an album.
  package func client(_ row: ClientRow, _ t: borrowing StoreReading) throws -> Client {
    let album = try row.followedAlbum.flatMap { try core.projections.collection($0, in: t)?.identifier }
    return Client(row: row, followedAlbum: album)
  }
}
