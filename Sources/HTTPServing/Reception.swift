#if Gallery
  import CMicroHTTPD
  import Foundation
  import Synchronization

  // A body that is received while it comes, and never as a whole in memory.
  //
  //   begin ──▶ opening ──▶ flowing ──────────────▶ ended ──▶ response
  //             suspended    │  ▲ buffer full and the receiver busy: suspended   suspended
  //                          ▼  │ receiver done: resumed
  //                       receiver.take(256 KiB)
  //
  //   epoll thread ──append──▶ [ filling, at most 256 KiB and a piece ] ──move──▶ one task ──▶ receiver.take
  //
  // The receiver works in a task of its own, so a slow disk holds back this connection and no other: while one buffer
  // is being taken the next one fills, and when that is full the connection is suspended, which stops reading from the
  // socket, and TCP stops the client. (libmicrohttpd reads edge-triggered, and may miss the end of a connection that
  // came with the last bytes; its idle limit finds it then.)
  //
  // Invariant: at most one task of a reception runs (`isRunning`), and the connection is suspended exactly while
  // `isSuspended`, which changes with it under the lock: suspending it twice would break libmicrohttpd's lists, and a
  // body in many small chunks goes on coming for the rest of what was read. The task resumes it, once. After the
  // connection has gone the task still hands over what came before, and then says `abandon`.
  //
  // A body has a deadline for each further `progress` bytes of it, which does not run while the connection is
  // suspended: a client that sends a byte now and then would hold its connection, and a place of its receiver, for as
  // long as it likes.
  //
  // libmicrohttpd takes no response in the middle of a body. A receiver that rejects has the rest dropped, up to
  // `drainLimit`, and the response is sent at the end; a client that sends more is cut off, and so is one that takes
  // longer for a portion than for a head. A rejection of the head is sent at once where the body is longer than
  // `dropLimit`, or where its length is not known.

  /// Receives the body of a request piece by piece; one task at a time calls it, never a thread of connections.
  public protocol HTTPReceiver: Sendable {
    /// Takes the next bytes; the connection is held back meanwhile.
    /// - Returns: nil to go on; a response that rejects the rest.
    func take(_ bytes: [UInt8]) async -> HTTPResponse?
    /// The body is complete.
    func finish() async -> HTTPResponse
    /// The connection ended before the body did; what came of it was taken.
    func abandon() async
  }

  /// What becomes of a request whose body is to be received.
  public enum HTTPReceiving: Sendable {
    /// The body is of no use; it is dropped and answered.
    case refuse(HTTPResponse)
    /// The body goes to a receiver.
    /// - interim: fields of a 104 response that is sent at once (draft-ietf-httpbis-resumable-upload); nil for none.
    ///   It is left out for HTTP/1.0.
    case take(any HTTPReceiver, interim: [(name: String, value: String)]?)
  }

  /// The reception of one body.
  final class Reception: Sendable {
    private struct State {
      var receiver: (any HTTPReceiver)?
      var filling: [UInt8] = []
      /// Whether the task runs; it does from the start, when it opens.
      var isRunning = true
      var isSuspended = true
      /// Whether the handler was called for the head a second time.
      var isReopened = false
      /// Whether the whole body has come.
      var isEnded = false
      /// Whether the connection has gone.
      var isGone = false
      var refusal: HTTPResponse?
      /// How many bytes have come for the receiver.
      var received = 0
      var dropped = 0
    }

    private enum Step {
      case take(any HTTPReceiver, [UInt8])
      case finish((any HTTPReceiver)?, HTTPResponse?)
      case abandon((any HTTPReceiver)?)
      case rest
    }

    static let portion = 256 << 10
    /// How many bytes have to come within the time that a head may take: about a kilobyte a second, as over the slowest
    /// of lines.
    static let progress = 32 << 10
    static let dropLimit = 8 << 20
    /// How much is dropped of a body that was rejected in the middle: what it costs is the client's to send.
    static let drainLimit = 64 << 20

    private let state = Mutex(State())
    private let connection: UInt
    private let server: HTTPServer
    private let request: HTTPRequest
    private let watched: WatchedConnection?
    /// Passes the response on; the connection is suspended then.
    private let answer: @Sendable (HTTPResponse) -> Void

    init(
      _ server: HTTPServer, _ connection: UInt, _ request: HTTPRequest, _ watched: WatchedConnection?,
      answer: @escaping @Sendable (HTTPResponse) -> Void
    ) {
      (self.server, self.connection, self.request, self.answer) = (server, connection, request, answer)
      self.watched = watched
    }

    /// Sets the deadline for the next bytes, be they taken or dropped.
    private func expectMore() { watched?.expect(within: server.connections.requestSeconds) }

    private var raw: OpaquePointer? { OpaquePointer(bitPattern: connection) }

    /// How many bytes are gathered before they are handed over, at most.
    private var room: Int {
      min(request.contentLength.map { max(0, $0) } ?? 0, Self.portion + server.connectionMemory)
    }

    /// Suspends the connection and opens the receiver.
    /// - Returns: false if the connection is to be closed: the server is.
    func begin(allowsInterim: Bool, _ open: @escaping @Sendable (HTTPRequest) async -> HTTPReceiving) -> Bool {
      server.run(suspending: connection) { [self] in
        let receiving = await open(request)
        state.withLock { state in
          switch receiving {
          case .refuse(let response):
            state.refusal = response
            expectMore()
          case .take(let receiver, let interim):
            state.receiver = receiver
            // Under the lock: the connection is there as long as `gone` has not been called, which takes the lock, too.
            if let interim, allowsInterim, !state.isGone { sendInterim(interim) }
          }
        }
        await run()
      }
    }

    /// Writes a 104 response to the connection, which is suspended, so that nothing else writes.
    ///
    /// It is encrypted by the session of the server's own TLS. If that could not send all of it, the session keeps a
    /// part for the next attempt, and no response can follow.
    private func sendInterim(_ fields: [(name: String, value: String)]) {
      let descriptor = chttp_descriptor(raw)
      guard descriptor >= 0 else { return }
      let head = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
      let bytes = Array("HTTP/1.1 104 Upload Resumption Supported\r\n\(head)\r\n".utf8)
      let isBroken = bytes.withUnsafeBytes { bytes -> Bool in
        if server.isTLS { return chttp_send_encrypted(raw, bytes.baseAddress, bytes.count) < 0 }
        let sent = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        return sent > 0 && sent < bytes.count
      }
      // Half a head would be read as the start of the next one.
      if isBroken { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// What a call of the handler without bytes means.
    enum Call {
      /// It is for the head.
      case again
      /// It is for the head, and the body is too long to be read in vain.
      case refused(HTTPResponse)
      /// It is for the end of the body.
      case ended
    }

    /// A call of the handler without bytes. libmicrohttpd repeats the call for the head when a connection is resumed
    /// that was suspended in it.
    func called() -> Call {
      state.withLock { state in
        guard request.hasBody, !state.isReopened else { return .ended }
        state.isReopened = true
        guard let refusal = state.refusal, request.contentLength ?? .max > Self.dropLimit else { return .again }
        return .refused(refusal)
      }
    }

    /// Takes a piece of the body, on the thread of the connection.
    /// - Returns: false if the connection is to be closed.
    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
      let (isKept, starts) = state.withLock { state -> (Bool, Bool) in
        state.isReopened = true
        if state.refusal != nil {
          let portions = state.dropped / Self.portion
          state.dropped += piece.count
          if state.dropped / Self.portion > portions { expectMore() }
          return (state.dropped <= Self.drainLimit, false)
        }
        let steps = state.received / Self.progress
        state.received += piece.count
        if state.received / Self.progress > steps, !state.isSuspended { expectMore() }
        // With room for the piece that fills it, so that it does not grow by being copied.
        if state.filling.isEmpty { state.filling.reserveCapacity(room) }
        state.filling.append(contentsOf: piece)
        guard state.filling.count >= Self.portion else { return (true, false) }
        guard state.isRunning else {
          state.isRunning = true
          return (true, true)
        }
        // The chunks that libmicrohttpd has read already come although the connection is suspended.
        if !state.isSuspended {
          // The task that runs is counted, and resumes the connection before it ends; so a server that is not closing
          // now waits for that.
          guard !server.isClosing else { return (false, false) }
          state.isSuspended = true
          MHD_suspend_connection(raw)
          watched?.expect(within: nil)
        }
        return (true, false)
      }
      if starts { server.run { [self] in await run() } }
      return isKept
    }

    /// The body is complete; the connection is suspended until the response is there.
    /// - Returns: false if the connection is to be closed: the server is.
    func end() -> Bool {
      state.withLock { state in
        if !state.isSuspended {
          if state.isRunning {
            guard !server.isClosing else { return false }
            MHD_suspend_connection(raw)
          } else {
            // The task waits for this lock.
            guard server.run(suspending: connection, { [self] in await run() }) else { return false }
          }
        }
        (state.isEnded, state.isSuspended, state.isRunning) = (true, true, true)
        watched?.expect(within: nil)
        return true
      }
    }

    /// The connection has gone.
    func gone() {
      let starts = state.withLock { state in
        guard !state.isGone, !state.isEnded else { return false }
        state.isGone = true
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if starts { server.run { [self] in await run() } }
    }

    private func run() async {
      while true {
        switch state.withLock({ next(&$0) }) {
        case .take(let receiver, let bytes):
          let refusal = await receiver.take(bytes)
          if let refusal {
            state.withLock { state in
              state.refusal = refusal
              if !state.isEnded, !state.isGone { expectMore() }
            }
          }
        case .finish(let receiver, let refusal):
          if let refusal {
            await receiver?.abandon()
            return answer(refusal)
          }
          let lost = server.application.rejection(request, 500, "The body of this request was lost.")
          return answer(await receiver?.finish() ?? lost)
        case .abandon(let receiver):
          await receiver?.abandon()
          return
        case .rest: return
        }
      }
    }

    private func next(_ state: inout State) -> Step {
      if state.refusal != nil { state.filling = [] }
      if let receiver = state.receiver, !state.filling.isEmpty,
        state.filling.count >= Self.portion || state.isEnded || state.isGone
      {
        defer { state.filling = [] }
        resume(&state)
        return .take(receiver, state.filling)
      }
      if state.isEnded { return .finish(state.receiver, state.refusal) }
      if state.isGone { return .abandon(state.receiver) }
      state.isRunning = false
      resume(&state)
      return .rest
    }

    /// Under the lock, so that a piece that comes meanwhile finds the connection as `isSuspended` says.
    private func resume(_ state: inout State) {
      guard state.isSuspended, !state.isEnded, !state.isGone else { return }
      state.isSuspended = false
      expectMore()
      MHD_resume_connection(raw)
    }
  }
#endif
