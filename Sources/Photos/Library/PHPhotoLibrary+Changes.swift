// Change blocks. The requests of PhotoKit find their block by themselves: it is a task-local value while the block
// runs, on the thread of the caller, so blocks of several tasks do not mix.

internal import PhotoLedger

/// The block that is being run here, for the requests made in it.
struct CurrentBlock: @unchecked Sendable {  // guarded by: the task that runs the block; the core traps on later use
  let block: ChangeBlock
  let library: PHPhotoLibrary

  @TaskLocal private static var current: CurrentBlock?

  /// The block that a request belongs to; traps outside of one, as on Apple's systems (CB-02).
  static func of(_ call: String) -> CurrentBlock {
    guard let current else {
      fatalError("\(call) was called outside of a change block; call it in PHPhotoLibrary.performChanges.")
    }
    return current
  }

  static func collect(_ block: ChangeBlock, _ library: PHPhotoLibrary, _ changes: () -> Void) {
    $current.withValue(CurrentBlock(block: block, library: library), operation: changes)
  }
}

extension PHPhotoLibrary {
  /// Carries out all requests of a block as one commit, or none (CB-01, CB-06; Apple: `performChanges(_:)`).
  ///
  /// The block is called at once, where the caller is (OB-05).
  /// - Throws: `PHPhotosError`; a block inside a block is `changeNotSupported` (CB-03).
  public nonisolated(nonsending) func performChanges(_ changeBlock: () -> Void) async throws {
    do {
      try await present().performChanges { CurrentBlock.collect($0, self, changeBlock) }
    } catch {
      throw PHPhotosError.from(error)
    }
  }

  /// The same, telling a handler on an arbitrary queue (CB-04; Apple: `performChanges(_:completionHandler:)`).
  @preconcurrency
  public func performChanges(
    _ changeBlock: @escaping () -> Void, completionHandler: (@Sendable (Bool, (any Error)?) -> Void)? = nil
  ) {
    do {
      try present().performChanges { CurrentBlock.collect($0, self, changeBlock) } completionHandler: { outcome in
        switch outcome {
        case .success: completionHandler?(true, nil)
        case .failure(let error): completionHandler?(false, PHPhotosError.from(error))
        }
      }
    } catch {
      completionHandler?(false, error)
    }
  }

  /// The same, blocking the thread until the commit is durable (Apple: `performChangesAndWait(_:)`).
  public func performChangesAndWait(_ changeBlock: () -> Void) throws {
    do {
      try present().performChangesAndWait { CurrentBlock.collect($0, self, changeBlock) }
    } catch {
      throw PHPhotosError.from(error)
    }
  }
}
