public import ExtensionFoundation
internal import LibraryUploads
internal import PhotoLedger
import Synchronization

// Upload extensions. On Apple's systems the system runs them when it likes; here a program runs one as long as it
// wants, as a task of its own or as the whole process by `@main`:
//
//     run ──▶ process() ─┬─ completed ──▶ until the library changes or a job ends
//               ▲        ├─ processing ─▶ until a job ends; a moment later if none is under way
//               │        └─ failure ────▶ after a pause, longer each time
//               └─────────────────────────────┘
//
// Jobs are executed with and without an extension: it only creates and acknowledges them. While uploads are disabled it
// is not called, and neither while its jobs are damaged: that is reported on standard error once, and they are read
// again when the library has changed. A library that becomes unavailable ends the run.

/// What an extension answers (Apple: `PHBackgroundResourceUploadProcessingResult`).
public enum PHBackgroundResourceUploadProcessingResult: Sendable {
  /// Nothing is left to do until the library changes.
  case completed
  /// There is more to do.
  case processing
  /// Something went wrong; it is called again later.
  case failure
}

/// Makes and acknowledges upload jobs (Apple: `PHBackgroundResourceUploadExtension`, deprecated).
public protocol PHBackgroundResourceUploadExtension: AppExtension {
  /// Makes, retries and acknowledges jobs; called on a thread of its own, on which it may wait.
  func process() -> PHBackgroundResourceUploadProcessingResult
  /// Called when the extension is to end, also while ``process()`` works; its run lasts until this has returned.
  func notifyTermination()
}

/// Makes and acknowledges upload jobs (Apple: `PHBackgroundResourceUploadJobExtension`).
public protocol PHBackgroundResourceUploadJobExtension: AppExtension {
  /// Makes, retries and acknowledges jobs.
  func processJobs() async -> PHBackgroundResourceUploadProcessingResult
  /// Called when the extension is to end, also while ``processJobs()`` works; its run lasts until this has returned.
  func willTerminate() async
}

extension PHBackgroundResourceUploadExtension {
  /// Runs the extension as a process, for the shared library, until SIGTERM or SIGINT.
  public static func main() async {
    let made = Self()
    // guarded by: called once
    nonisolated(unsafe) let run = { await PHPhotoLibrary.shared().runUploadJobExtension(made) }
    await UploadExtensionHost.untilSignalled { await run() }
  }
}

extension PHBackgroundResourceUploadJobExtension {
  /// Runs the extension as a process, for the shared library, until SIGTERM or SIGINT.
  public static func main() async {
    let made = Self()
    // guarded by: called once
    nonisolated(unsafe) let run = { await PHPhotoLibrary.shared().runUploadJobExtension(made) }
    await UploadExtensionHost.untilSignalled { await run() }
  }
}

extension PHPhotoLibrary {
  /// Runs an upload extension until the task is cancelled or the library becomes unavailable; ``shared()`` means this
  /// library to it. Apple has no such method.
  public func runUploadJobExtension(_ uploadExtension: some PHBackgroundResourceUploadExtension) async {
    // guarded by: `process` is called once at a time; ending an extension while it works is the protocol's own rule.
    nonisolated(unsafe) let (process, end) = ({ uploadExtension.process() }, { uploadExtension.notifyTermination() })
    await UploadExtensionHost(self).run { [self] in
      // The extension may wait for a commit, which no thread of a task may.
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(returning: self.asShared { process() })
        }
      }
    } terminate: { [self] in
      asShared { end() }
    }
  }

  /// The same for an extension that is asynchronous. Apple has no such call.
  public func runUploadJobExtension(_ uploadExtension: some PHBackgroundResourceUploadJobExtension) async {
    // guarded by: `processJobs` is called once at a time; see above.
    nonisolated(unsafe) let process = { await uploadExtension.processJobs() }
    nonisolated(unsafe) let end = { await uploadExtension.willTerminate() }  // guarded by: see above
    await UploadExtensionHost(self).run { [self] in
      await asShared { await process() }
    } terminate: { [self] in
      await asShared { await end() }
    }
  }
}

/// Calls an extension whenever there may be something to do.
final class UploadExtensionHost: NSObject, PHPhotoLibraryChangeObserver, @unchecked Sendable {
  // guarded by: holds constants only
  private let library: PHPhotoLibrary
  private let pause: @Sendable (Double) async -> Void
  private let wakeUps: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation

  /// Seconds between two looks whether uploads were enabled, and the first pause after a failure.
  private static let lookAgain = 1.0
  private static let pauseMax = 300.0

  /// - Parameter pause: waits for some seconds, or until the task is cancelled.
  init(
    _ library: PHPhotoLibrary,
    pause: @escaping @Sendable (Double) async -> Void = { try? await Task.sleep(nanoseconds: UInt64($0 * 1e9)) }
  ) {
    (self.library, self.pause) = (library, pause)
    (wakeUps, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    super.init()
  }

  func photoLibraryDidChange(_ changeInstance: PHChange) { wake.yield() }

  func run(
    _ process: @escaping @Sendable () async -> PHBackgroundResourceUploadProcessingResult,
    terminate: @escaping @Sendable () async -> Void
  ) async {
    library.register(self as any PHPhotoLibraryChangeObserver)
    library.register(self as any PHPhotoLibraryAvailabilityObserver)
    library.core.onUploadEnd { [weak self] in
      self?.wake.yield()
      return self != nil
    }
    // The extension is notified at once, also while it works, and has the time that it takes to put things in order:
    // the process may end when this returns.
    let termination = Termination(terminate)
    await withTaskCancellationHandler {
      await loop(process)
    } onCancel: {
      termination.begin()
    }
    library.unregisterChangeObserver(self)
    library.unregisterAvailabilityObserver(self)
    await termination.begin().value
  }

  /// Notifies an extension of its end, once.
  private final class Termination: Sendable {
    private let terminate: @Sendable () async -> Void
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ terminate: @escaping @Sendable () async -> Void) { self.terminate = terminate }

    /// Begins to notify it, unless that has begun.
    @discardableResult
    func begin() -> Task<Void, Never> {
      task.withLock { task in
        if let task { return task }
        let begun = Task { [terminate] in await terminate() }
        task = begun
        return begun
      }
    }
  }

  private func loop(_ process: @Sendable () async -> PHBackgroundResourceUploadProcessingResult) async {
    var next = wakeUps.makeAsyncIterator()
    var failures = 0
    while !Task.isCancelled, library.unavailabilityReason == nil {
      do {
        guard try library.core.uploadSettings != nil else {
          await pause(Self.lookAgain)
          continue
        }
      } catch let error as LibraryError where error.code == .closed || error.code == .corrupted {
        // No pause mends that. A library that is being closed wakes this once it is unavailable.
        if error.code == .corrupted { Notice.uploads.give(error) }
        _ = await next.next()
        continue
      } catch {
        failures += 1
        await pause(Self.seconds(after: failures))
        continue
      }
      switch await process() {
      case .completed:
        failures = 0
        _ = await next.next()
      case .processing:
        failures = 0
        let isIdle = (try? library.core.uploadJobs(.process).isEmpty) ?? true
        if isIdle { await pause(Self.lookAgain) } else { _ = await next.next() }
      case .failure:
        failures += 1
        await pause(Self.seconds(after: failures))
      }
    }
  }

  /// How long to wait after some failures in a row.
  private static func seconds(after failures: Int) -> Double {
    min(pauseMax, lookAgain * Double(1 << min(failures, 10)))
  }

  /// Runs a body until the process is asked to end.
  static func untilSignalled(_ body: @escaping @Sendable () async -> Void) async {
    let task = Task { await body() }
    let sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { task.cancel() }
      source.resume()
      return source
    }
    await task.value
    for source in sources { source.cancel() }
  }
}

extension UploadExtensionHost: PHPhotoLibraryAvailabilityObserver {
  func photoLibraryDidBecomeUnavailable(_ photoLibrary: PHPhotoLibrary) { wake.yield() }
}
