internal import CSystem
internal import Foundation
internal import Glibc
internal import PhotoLedger
internal import Synchronization

// One file out of the library, proved and not yet durable.
//
// `PhotoLibrary.write` makes each file durable by itself, which costs two syncs a file. An export makes thousands
// durable with one, so it copies here: the blocks are shared where the file system can, and hashed where they lie;
// otherwise the library gives the bytes, whose hash it proves as they pass.

/// Copies a file of an asset. For a thread that may block.
struct ResourceCopy: Sendable {
  private let resource: AssetResource
  private let asset: Asset
  private let library: PhotoLibrary
  private let stop: StopFlag

  init(_ resource: AssetResource, of asset: Asset, in library: PhotoLibrary, stop: StopFlag) {
    (self.resource, self.asset, self.library, self.stop) = (resource, asset, library, stop)
  }

  /// Copies to a name that nothing has; without an error the file has the recorded hash, with one there is none.
  /// - Throws: ``LibraryError`` as `PhotoLibrary.write` does.
  func write(to path: String) throws {
    let target = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard target >= 0 else { throw LibraryError.store(path, "make", errno: errno) }
    defer { close(target) }
    do {
      if try clone(to: target, path) { return }
      try pass(to: target, path)
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Shares the blocks of the library's file; false where the file system cannot.
  private func clone(to target: Int32, _ path: String) throws -> Bool {
    let source = open(try library.url(of: resource, in: asset).path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if source < 0 { return false }
    defer { close(source) }
    let code = psys_clone_file(target, source)
    if code == ENOSPC || code == EDQUOT { throw LibraryError.store(path, "write", errno: code) }
    guard code == 0 else { return false }
    var copy = resource
    copy.storage = .referenced(path: path)
    guard try library.store.resources.state(of: copy, hashing: true) == .present else {
      throw LibraryError(
        .invalidResource,
        "The bytes of \(resource.originalFilename) of \(asset.localIdentifier) do not have the recorded hash; "
          + "restore the file.")
    }
    return true
  }

  /// Writes the bytes as the library gives them.
  private func pass(to target: Int32, _ path: String) throws {
    struct State {
      var failure: LibraryError?
      var request: ResourceDataRequestID?
    }
    let state = Mutex(State())
    let ended = DispatchSemaphore(value: 0)
    let (library, stop) = (library, stop)
    let request = library.requestData(for: resource, in: asset) { chunk in
      var failure: LibraryError?
      if state.withLock({ $0.failure }) == nil { failure = Self.write(chunk, to: target, path) }
      let request = state.withLock { state in
        state.failure = state.failure ?? failure
        return state.failure != nil || stop.isSet ? state.request : nil
      }
      if let request { library.cancelDataRequest(request) }
    } completionHandler: { error in
      state.withLock { $0.failure = $0.failure ?? error }
      ended.signal()
    }
    state.withLock { $0.request = request }
    ended.wait()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private static func write(_ chunk: Data, to target: Int32, _ path: String) -> LibraryError? {
    do throws(LibraryError) {
      try writeWhole(Array(chunk), to: target, path)
      return nil
    } catch {
      return error
    }
  }
}
