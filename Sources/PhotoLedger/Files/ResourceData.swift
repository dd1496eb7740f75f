public import Foundation
import Synchronization

/// How the bytes of a resource are to be read (PHAssetResourceRequestOptions, photokit a.5).
public struct ResourceRequestOptions: Sendable {
  /// Is told the share of the bytes that were read, above 0 and ascending, one call at a time on a thread of the
  /// library's; 1 comes once, last, when the bytes are proved to be those that were recorded.
  public var progressHandler: (@Sendable (Double) -> Void)?

  /// Asks for bytes.
  /// - Parameter progressHandler: is told how far it is.
  public init(progressHandler: (@Sendable (Double) -> Void)? = nil) { self.progressHandler = progressHandler }
}

/// What became of the bytes of a resource.
public enum ResourceState: String, Sendable, Hashable, CaseIterable {
  /// The file is there, with the size and, if asked for, the hash that was recorded.
  case present
  /// No file can be opened under its path: it is gone, its volume is not mounted, or it may not be read.
  case missing
  /// The file is there with other bytes, or its bytes cannot be read.
  case altered
}

extension ResourceState {
  /// Opens a resource, reads it if asked to, and says what came of it.
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
  /// Takes a number as it is.
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
/// Every chunk but the last has 1 MiB. A chunk is read when it is asked for, on a thread of the library's, so that a
/// resource of any size takes the memory of one chunk and no thread of a task waits for a disk. Each iterator opens the
/// file anew, at its first chunk.
///
/// **The end is the proof.** When the last chunk has been given, the SHA-256 of all is compared with the one that
/// was recorded when the resource came, and the sequence ends, or throws instead of ending. Whoever must not use bytes
/// that are not the recorded ones waits for the end before using any.
///
/// Cancelling the task makes the next chunk throw `.userCancelled`, never an end; the file is closed then, at an
/// error, at the end, and when the iterator is dropped.
public struct ResourceData: AsyncSequence, Sendable {
  /// A chunk of bytes.
  public typealias Element = Data

  let open: @Sendable (Cancellation) throws -> OpenResource

  /// Starts at the first byte; several iterators read independently.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: ResourceReader(open)) }

  /// Reads a resource chunk by chunk.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: ResourceReader

    /// The next chunk; nil when all were given and their hash is the recorded one.
    /// - Throws: ``LibraryError``: `.missingResource` if the file cannot be opened; `.invalidResource` before the first
    ///   chunk if it has another size, after the last if it has other bytes; `.resourceChanged` if it was written to
    ///   meanwhile; `.userCancelled`; `.identifierNotFound` if the asset has no such resource; `.storage`.
    /// - Complexity: O(bytes of the chunk).
    public mutating func next() async throws -> Data? { try await reader.next() }
  }
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

  func next() async throws -> Data? {
    try await cancellation.carryingOut { [self] in
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
  nonisolated(nonsending) func carryingOut<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await cancellation.carryingOut(work)
  }
}

extension Cancellation {
  /// Runs work that blocks on a thread of its own; cancelling the task asks it to stop.
  nonisolated(nonsending) func carryingOut<Value: Sendable>(
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
