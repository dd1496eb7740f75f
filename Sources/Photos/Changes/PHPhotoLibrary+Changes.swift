// Change blocks. The requests of PhotoKit find their block by themselves: it is a task-local value while the block
// runs, on the thread of the caller, so blocks of several tasks do not mix.
//
// Everything set on a request until the block returns is used, in any order: an edit's adjustment data may be set after
// the edit was assigned. So edits are recorded when the block has returned. The files that they render are in folders
// that are removed with their outputs; the library takes them after the block, so the folders are kept until its
// outcome is known.

internal import PhotoLedger
import Synchronization

/// The block that is being run here, for the requests made in it.
struct CurrentBlock: @unchecked Sendable {  // guarded by: the task that runs the block; the core traps on later use
  let block: ChangeBlock
  let library: PHPhotoLibrary
  let rest = Rest()

  /// What is left to do when the block returns.
  final class Rest {
    /// The requests that were given an output, each once, in order; nil once the block has returned.
    ///
    /// Each request refers to its block: a list that stayed would keep them all, and their files.
    private var edits: [PHAssetChangeRequest]? = []

    /// Adds a request, once; traps after the block, as every other use does (CB-02).
    func add(_ request: PHAssetChangeRequest) {
      guard let edits else {
        fatalError(
          """
          PHAssetChangeRequest.contentEditingOutput was set after performChanges had returned; set it inside the block \
          (CB-02).
          """)
      }
      if !edits.contains(where: { $0 === request }) { self.edits?.append(request) }
    }

    /// The requests, when the block has returned.
    func take() -> [PHAssetChangeRequest] {
      defer { edits = nil }
      return edits ?? []
    }
  }

  /// The folders of rendered files, until the outcome of the block is known.
  final class Folders: Sendable {
    private let folders = Mutex<[RenderFolder]>([])

    func keep(_ folder: RenderFolder) { folders.withLock { $0.append(folder) } }
  }

  @TaskLocal private static var current: CurrentBlock?

  /// The block that a request belongs to; traps outside of one, as on Apple's systems (CB-02).
  static func of(_ call: String) -> CurrentBlock {
    guard let current else {
      fatalError("\(call) was called outside of a change block; call it in PHPhotoLibrary.performChanges.")
    }
    return current
  }

  /// What the block that runs here creates under an identifier; nil outside of a block, and for any other identifier.
  ///
  /// Not to be asked in a task that the block begins: the block goes on with its requests.
  static func mediaType(ofCreated identifier: LocalIdentifier?) -> MediaType? {
    // Most often it is the last one.
    for request in (current?.block.requests ?? []).reversed() {
      if case .createAsset(let creation, as: let made) = request, made == identifier { return creation.mediaType }
    }
    return nil
  }

  static func collect(_ block: ChangeBlock, _ library: PHPhotoLibrary, _ folders: Folders, _ changes: () -> Void) {
    let current = CurrentBlock(block: block, library: library)
    block.hidesTrash = true
    $current.withValue(current, operation: changes)
    for request in current.rest.take() { request.recordOutput(keeping: folders) }
  }
}

extension PHPhotoLibrary {
  /// Executes all requests of a block as one commit, or none (CB-01, CB-06; Apple: `performChanges(_:)`).
  ///
  /// The block is called at once, where the caller is (OB-05). The blocks of one client are committed in the order of
  /// their calls, in any of the three forms: see `PhotoLibrary.performChanges` of the core.
  /// - Throws: `PHPhotosError`; a block inside a block is `changeNotSupported` (CB-03).
  public nonisolated(nonsending) func performChanges(_ changeBlock: () -> Void) async throws {
    let folders = CurrentBlock.Folders()
    defer { withExtendedLifetime(folders) {} }
    do {
      try await present().performChanges { CurrentBlock.collect($0, self, folders, changeBlock) }
    } catch {
      throw PHPhotosError.from(error)
    }
  }

  /// The same, calling a handler on an arbitrary queue (CB-04; Apple: `performChanges(_:completionHandler:)`).
  @preconcurrency
  public func performChanges(
    _ changeBlock: @escaping () -> Void, completionHandler: (@Sendable (Bool, (any Error)?) -> Void)? = nil
  ) {
    let folders = CurrentBlock.Folders()
    do {
      try present().performChanges {
        CurrentBlock.collect($0, self, folders, changeBlock)
      } completionHandler: { [self] outcome in
        withExtendedLifetime(folders) {}
        whileShared {
          switch outcome {
          case .success: completionHandler?(true, nil)
          case .failure(let error): completionHandler?(false, PHPhotosError.from(error))
          }
        }
      }
    } catch {
      DispatchQueue.global().async { [self] in whileShared { completionHandler?(false, error) } }
    }
  }

  /// The same, blocking the thread until the commit is durable (Apple: `performChangesAndWait(_:)`).
  public func performChangesAndWait(_ changeBlock: () -> Void) throws {
    let folders = CurrentBlock.Folders()
    defer { withExtendedLifetime(folders) {} }
    do {
      try present().performChangesAndWait { CurrentBlock.collect($0, self, folders, changeBlock) }
    } catch {
      throw PHPhotosError.from(error)
    }
  }
}
