#if Gallery
  import CMicroHTTPD
  import Synchronization

  // A response whose bytes come while it is being sent: a feed of events, an archive, a log.
  //
  //   producer ──send──▶ [ at most one chunk waits ] ──read──▶ epoll thread ──▶ client
  //      ▲ suspended while the client is slow            ▲ suspended while nothing waits
  //
  // Memory is bounded by one chunk: a producer that is quicker than its client waits in `send`, and so a feed that
  // falls behind composes what it missed instead of queueing it.
  //
  // Invariant: the connection is suspended exactly while `isSuspended`; both change together, under the lock.

  /// The stream was closed, by its client or by the server.
  public struct HTTPStreamClosed: Error {}

  /// The content of a response that is written while it is sent.
  public final class HTTPStream: Sendable {
    private struct State {
      var chunk: [UInt8] = []
      /// How much of the chunk was read.
      var start = 0
      var connection: UInt = 0
      var isSuspended = false
      var isEnding = false
      /// Whether the client is to notice that the content is not whole.
      var isBroken = false
      /// Whether the client has left, which nothing can be sent to any more.
      var hasDeparted = false
      var isClosed = false
      /// Tasks that wait for room.
      var senders: [CheckedContinuation<Void, Never>] = []
      var onClose: [@Sendable () -> Void] = []
      /// Whether bytes went out since the last heartbeat.
      var isActive = true
      /// When the chunk took its place, in nanoseconds of the monotonic clock.
      var chunkTime: UInt64 = 0

      var isEmpty: Bool { start == chunk.count }

      /// Gives a chunk its place, which is free.
      mutating func put(_ bytes: [UInt8]) {
        (chunk, start, chunkTime) = (bytes, 0, WatchedConnection.now)
      }

      /// Resumes the connection. Under the lock: a thread that ends the stream afterwards finds nothing suspended, and
      /// the server may stop.
      mutating func resume() {
        guard isSuspended else { return }
        isSuspended = false
        MHD_resume_connection(OpaquePointer(bitPattern: connection))
      }
    }

    private let state = Mutex(State())
    private let heartbeat: [UInt8]

    /// A stream.
    /// - Parameter heartbeat: what is sent when nothing else was for a while; it finds clients that have left.
    public init(heartbeat: [UInt8] = []) { self.heartbeat = heartbeat }

    /// Sends bytes; waits until the ones before have been passed on. Several tasks may send; each chunk stays whole.
    /// - Parameter make: makes the bytes when they take their place, under the stream's lock: what it notes agrees with
    /// the order in which chunks are sent. It must not touch the stream.
    /// - Throws: ``HTTPStreamClosed`` if the client has left or the server is stopping; what `make` throws, and then
    ///   nothing is sent.
    public func send(_ make: @Sendable () throws -> [UInt8]) async throws {
      while true {
        let isSent = try state.withLock { state in
          if state.isClosed || state.isEnding { throw HTTPStreamClosed() }
          guard state.isEmpty else { return false }
          state.put(try make())
          state.resume()
          return true
        }
        if isSent { return }
        await withCheckedContinuation { continuation in
          let mustWait = state.withLock { state in
            guard !state.isEmpty, !state.isClosed, !state.isEnding else { return false }
            state.senders.append(continuation)
            return true
          }
          if !mustWait { continuation.resume() }
        }
      }
    }

    /// Ends the response after what waits has been read.
    public func end() {
      let senders = state.withLock { state in
        state.isEnding = true
        state.resume()
        defer { state.senders = [] }
        return state.senders
      }
      for sender in senders { sender.resume() }
    }

    /// Ends the response so that the client notices that it is not whole: the connection is closed without the last
    /// chunk.
    public func abort() {
      state.withLock { $0.isBroken = true }
      end()
    }

    /// Ends the response, whose client has left: what waits is dropped, and the end is not reported as a failure.
    func depart() {
      state.withLock { $0.hasDeparted = true }
      abort()
    }

    /// Calls a closure once, when the client has left or the response has ended; at once if that has happened.
    public func onClose(_ body: @escaping @Sendable () -> Void) {
      let isLate = state.withLock { state in
        if !state.isClosed { state.onClose.append(body) }
        return state.isClosed
      }
      if isLate { body() }
    }

    /// For how many seconds bytes have waited for the client to read them; 0 if none wait.
    public var waitingSeconds: Double {
      let time = state.withLock { $0.isEmpty || $0.isClosed ? nil : $0.chunkTime }
      return time.map { Double(WatchedConnection.now - $0) / 1e9 } ?? 0
    }

    /// Whether it is one that is silent for long, as opposed to one that is written as fast as its client reads.
    var hasHeartbeat: Bool { !heartbeat.isEmpty }

    // MARK: For the server

    func attach(_ connection: UInt) { state.withLock { $0.connection = connection } }

    /// The connection is gone.
    func close() {
      let (senders, bodies) = state.withLock { state in
        (state.isClosed, state.isSuspended) = (true, false)
        defer { (state.senders, state.onClose) = ([], []) }
        return (state.senders, state.onClose)
      }
      for sender in senders { sender.resume() }
      for body in bodies { body() }
    }

    /// Sends a heartbeat if nothing was sent since the last one.
    func beat() {
      state.withLock { state in
        defer { state.isActive = false }
        guard !state.isActive, state.isEmpty, state.isSuspended, !heartbeat.isEmpty else { return }
        state.put(heartbeat)
        state.resume()
      }
    }

    func response() -> OpaquePointer? {
      let context = Unmanaged.passRetained(self)
      // The block serves clients of HTTP/1.0; chunks are written where the connection has its memory. A stream with a
      // heartbeat is mostly idle, and there are thousands of them.
      let raw = MHD_create_response_from_callback(
        .max, heartbeat.isEmpty ? 4096 : 128,
        { context, _, buffer, count in
          guard let context, let buffer else { return -2 }
          let stream = Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue()
          return stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
        }, context.toOpaque(),
        { context in if let context { Unmanaged<HTTPStream>.fromOpaque(context).release() } })
      if raw == nil { context.release() }
      return raw
    }

    /// Gives the server what waits.
    /// - Returns: a number of bytes; 0 after suspending the connection; -1 at the end
    /// (MHD_CONTENT_READER_END_OF_STREAM), -2 at an end that is not whole (MHD_CONTENT_READER_END_WITH_ERROR).
    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      let (count, senders) = state.withLock { state -> (Int, [CheckedContinuation<Void, Never>]) in
        if state.isClosed { return (-1, []) }
        if state.hasDeparted {
          MutedThread.isMuted = true
          return (-2, [])
        }
        if state.isEmpty {
          if state.isEnding { return (state.isBroken ? -2 : -1, []) }
          state.isSuspended = true
          MHD_suspend_connection(OpaquePointer(bitPattern: state.connection))
          return (0, [])
        }
        let count = min(buffer.count, state.chunk.count - state.start)
        state.chunk.withUnsafeBytes { chunk in
          buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: chunk[state.start..<state.start + count]))
        }
        state.start += count
        state.isActive = true
        guard state.isEmpty else { return (count, []) }
        (state.chunk, state.start) = ([], 0)
        defer { state.senders = [] }
        return (count, state.senders)
      }
      for sender in senders { sender.resume() }
      return count
    }
  }
#endif
