internal import PhotoLedger
import Synchronization

/// The clients of one open library in this process, each with the one object that stands for it.
final class ClientTable: Sendable {
  /// A client, and the moment of its view, if it is not the current state.
  private struct Key: Hashable {
    let client: ExactText
    let commit: UInt64?
  }

  private struct State {
    var libraries: [Key: PHPhotoLibrary] = [:]
    /// Those in whose place another opening of the same directory came.
    var former: [PHPhotoLibrary] = []
    var isRelinquished = false
  }

  private let state = Mutex(State())

  /// The object of the client that a view of the library belongs to: always the same one for the same opening.
  func library(_ core: PhotoLibrary) -> PHPhotoLibrary {
    let key = Key(client: core.client.exact, commit: core.momentCommit)
    let (library, isGivenUp) = state.withLock { state in
      if let known = state.libraries[key] {
        if known.core.store === core.store { return (known, false) }
        state.former.append(known)
      }
      let made = PHPhotoLibrary(core: core, among: self)
      state.libraries[key] = made
      return (made, state.isRelinquished)
    }
    if isGivenUp { library.relinquish() }
    return library
  }

  /// Gives up all clients: another library has become the shared one.
  func relinquish() {
    let all = state.withLock { state in
      state.isRelinquished = true
      defer { (state.libraries, state.former) = ([:], []) }
      return state.libraries.values + state.former
    }
    for library in all { library.relinquish() }
  }
}
