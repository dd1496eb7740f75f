public import Foundation
import Synchronization

/// How the bytes of a resource are to be read (PHAssetResourceRequestOptions, photokit a.5).
public struct ResourceRequestOptions: Sendable {
  /// Called with the fraction of the bytes read, above 0 and ascending, one call at a time on a thread of the library;
  /// 1 is passed once, last, when the bytes are verified against the recorded hash.
  public var progressHandler: (@Sendable (Double) -> Void)?

  /// Creates options.
  /// - Parameter progressHandler: called with the progress.
  public init(progressHandler: (@Sendable (Double) -> Void)? = nil) { self.progressHandler = progressHandler }
}

/// What became of the bytes of a resource.
public enum ResourceState: String, Sendable, Hashable, CaseIterable {
  /// The file exists, with the recorded size and, if checked, the recorded hash.
  case present
  /// The file cannot be opened: it was deleted, its volume is not mounted, or it is not readable.
  case missing
  /// The file has different contents, or cannot be read.
  case altered
}

extension ResourceState {
  /// Opens a resource, hashes it on request, and returns its state.
  init(hashing: Bool, _ open: () throws(LibraryError) -> OpenResource) throws(LibraryError) {
    do throws(LibraryError) {
      var file = try open()
      if hashing { try file.readToEnd() }
      self = .present
    } catch {
      switch error.code {
      case .missingResource: self = .missing
      case .invalidResource, .resourceChanged: self = .altered
      default: throw error
      }
    }
  }
}

/// Names one request for bytes while it is under way (PHAssetResourceDataRequestID, photokit a.5).
public struct ResourceDataRequestID: RawRepresentable, Hashable, Sendable {
  /// The number; 0 is never given.
  public let rawValue: Int32
  /// Creates an identifier from any number.
  public init(rawValue: Int32) { self.rawValue = rawValue }
}

/// The requests of a library that are under way.
final class ResourceRequests: Sendable {
  private struct State {
    var last: Int32 = 0
    var cancellations: [Int32: Cancellation] = [:]
  }

  private let state = Mutex(State())

  func add(_ cancellation: Cancellation) -> ResourceDataRequestID {
    state.withLock { state in
      repeat { state.last = state.last == .max ? 1 : state.last + 1 } while state.cancellations[state.last] != nil
      state.cancellations[state.last] = cancellation
      return ResourceDataRequestID(rawValue: state.last)
    }
  }

  func remove(_ id: ResourceDataRequestID) { state.withLock { $0.cancellations[id.rawValue] = nil } }

  func cancel(_ id: ResourceDataRequestID) { state.withLock { $0.cancellations[id.rawValue] }?.request() }
}

/// The bytes of a resource as an asynchronous sequence of chunks.
///
/// Every chunk but the last has 1 MiB. A chunk is read on request, on a thread of the library, so that a resource of
/// any size takes the memory of one chunk and no thread of a task waits for a disk. Each iterator opens the file again,
/// at its first chunk.
///
/// **Verification is at the end.** After the last chunk, the SHA-256 of all bytes is compared with the recorded one,
/// and the sequence ends, or throws instead of ending. A caller that must not use altered bytes waits for the end
/// before using any.
///
/// Cancelling the task makes the next chunk throw `.userCancelled`, never an end; the file is closed then, at an
/// error, at the end, and when the iterator is dropped.
public struct ResourceData: AsyncSequence, Sendable {
  /// A chunk of bytes.
  public typealias Element = Data

  let open: @Sendable (Cancellation) throws -> OpenResource

  /// The bytes of a file that is opened at the first chunk.
  package init(open: @escaping @Sendable (Cancellation) throws -> OpenResource) { self.open = open }

  /// Starts at the first byte; several iterators read independently.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: ReaderLease(ResourceReader(open))) }

  /// Passes the chunks on, on the calling thread: for a caller that waits, and may hold a thread that others wait for.
  /// - Throws: ``LibraryError`` as the sequence does; what the function throws.
  /// - Complexity: O(bytes).
  package func read(_ body: (Data) throws -> Void) throws {
    var file = try opened()
    while let chunk = try file.next() { try body(chunk) }
  }

  private func opened() throws(LibraryError) -> OpenResource {
    do { return try open(Cancellation()) } catch { throw LibraryError(error) }
  }

  /// Reads a resource chunk by chunk.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let lease: ReaderLease

    /// The next chunk; nil when all were given and their hash is the recorded one.
    /// - Throws: ``LibraryError``: `.missingResource` if the file cannot be opened; `.invalidResource` before the first
    ///   chunk if it has another size, after the last if it has other bytes; `.resourceChanged` if it was written to
    ///   meanwhile; `.userCancelled`; `.identifierNotFound` if the asset has no such resource; `.storage`.
    /// - Complexity: O(bytes of the chunk).
    public mutating func next() async throws -> Data? { try await lease.reader.next() }
  }
}

/// Closes a reading when its iterator is dropped: the thread that read the last chunk may hold the reader for longer.
private final class ReaderLease: Sendable {
  let reader: ResourceReader

  init(_ reader: ResourceReader) { self.reader = reader }

  deinit { reader.close() }
}

/// One reading of a resource: opens it at the first chunk, and lets go of it at the end or at an error.
private final class ResourceReader: Sendable {
  private struct State: ~Copyable {
    var file: OpenResource?
    var hasBegun = false
  }

  private let state = Mutex(State())
  private let cancellation = Cancellation()
  private let open: @Sendable (Cancellation) throws -> OpenResource

  init(_ open: @escaping @Sendable (Cancellation) throws -> OpenResource) { self.open = open }

  /// Closes the file, if it is open.
  func close() { state.withLock { $0.file = nil } }

  func next() async throws -> Data? {
    try await cancellation.runBlocking { [self] in
      try state.withLock { state in
        if !state.hasBegun {
          state.hasBegun = true
          state.file = try open(cancellation)
        }
        // Taken out, so that an error or the end closes it.
        guard var file = state.file.take(), let chunk = try file.next() else { return nil }
        state.file = consume file
        return chunk
      }
    }
  }
}

extension ResourceRequest {
  /// Reading blocks, so it happens away from the threads that tasks run on.
  static let queue = DispatchQueue(label: "photoledger.reading", attributes: .concurrent)

  /// Runs work that blocks on a thread of its own; cancelling the task cancels the request.
  nonisolated(nonsending) func runBlocking<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await cancellation.runBlocking(work)
  }
}

extension Cancellation {
  /// Runs work that blocks on a thread of its own; cancelling the task asks it to stop.
  package nonisolated(nonsending) func runBlocking<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        ResourceRequest.queue.async { continuation.resume(with: Result { try work() }.mapError { LibraryError($0) }) }
      }
    } onCancel: {
      request()
    }
  }
}
