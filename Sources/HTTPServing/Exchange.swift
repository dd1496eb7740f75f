#if Gallery
  import CMicroHTTPD
  import Foundation
  import Synchronization

  // One request on its way to its response.
  //
  //   begun ──▶ receiving ──▶ working ──▶ ready ──▶ sent
  //     │           │            │                    ▲
  //     │           └─ too long ─┼───▶ 413 ───────────┤
  //     └─ .answer ──────────────┴────────────────────┘
  //
  //   receiving   pieces of the body are appended, up to the limit; can go on to working, ready
  //   flowing     pieces go to a receiver while they come (Reception.swift); can go on to working
  //   working     the connection is suspended and a task prepares the response; can go on to ready, done
  //   ready       the response waits for the next call of the handler; can go on to sent
  //   sent        libmicrohttpd has the response; can go on to done
  //   done        the connection has left; whatever comes is dropped
  //
  // The order matters once: the connection is suspended before the task starts, since the task may be quicker than the
  // return of this call and resuming a connection that is not suspended does nothing.

  /// A request that is being answered; used by libmicrohttpd's threads and by the task that prepares the response.
  final class Exchange: Sendable {
    private enum Phase {
      case receiving(limit: Int, (@Sendable (HTTPRequest) async -> HTTPResponse))
      case flowing(Reception)
      case working
      case ready(HTTPResponse)
      case sent
      case done
    }

    private struct State {
      var phase: Phase
      var body: [UInt8] = []
      /// How many bytes of the body have come, those included that were dropped.
      var received = 0
      /// How many of them are counted among those that all bodies have in memory.
      var reserved = 0
      /// Whether the body was dropped because the others had the room.
      var isCrowded = false
      var status: Int?
      var note: String?
      var stream: HTTPStream?
      /// Reads the head of the request, so it ends with the connection.
      var form: MultipartForm?
    }

    private let server: HTTPServer
    /// The request; while a stream with a heartbeat is sent, only what its record names.
    private let asked: Mutex<HTTPRequest>
    private let isHTTP11: Bool
    /// Valid until `complete`; resumed only in phase `working`, which ends before that.
    private let connection: UInt
    private let state = Mutex(State(phase: .working))
    /// In nanoseconds of the monotonic clock.
    private let start = WatchedConnection.now
    private let watched: WatchedConnection?

    init(_ server: HTTPServer, _ connection: OpaquePointer, _ request: HTTPRequest, isHTTP11: Bool) {
      (self.server, self.isHTTP11) = (server, isHTTP11)
      asked = Mutex(request)
      self.connection = UInt(bitPattern: connection)
      watched = ConnectionWatch.connection(connection)
    }

    private var raw: OpaquePointer? { OpaquePointer(bitPattern: connection) }
    private var request: HTTPRequest { asked.withLock { $0 } }

    /// Takes the head; libmicrohttpd calls again for the body and at its end.
    func begin() -> MHD_Result {
      watched?.expect(within: nil)
      if server.isStopping { return reject(stopping) }
      let request = self.request
      if let refusal = request.refusal { return reject(server.application.rejection(request, 400, refusal)) }
      switch server.application.plan(request) {
      case .answer(let response): return request.hasBody ? reject(response) : wait(for: response)
      case .respond(let work):
        if request.hasBody { watched?.expect(within: server.connections.requestSeconds) }
        return receive(limit: 0, work)
      case .gather(let limit, let work):
        if let length = request.contentLength, length > limit { return reject(tooLarge(limit)) }
        watched?.expect(within: server.connections.requestSeconds)
        return receive(limit: limit, work)
      case .receive(let open): return flow(to: open)
      case .receiveForm(let open):
        let form: MultipartForm
        do throws(HTTPServerError) { form = try MultipartForm(raw, request) } catch {
          return reject(server.application.rejection(request, 400, error.description))
        }
        state.withLock { $0.form = form }
        return flow { request in await open(request, form) }
      }
    }

    private func flow(to open: @escaping @Sendable (HTTPRequest) async -> HTTPReceiving) -> MHD_Result {
      let reception = Reception(server, connection, request, watched) { [self] in answer($0) }
      state.withLock { $0.phase = .flowing(reception) }
      let hasBegun = reception.begin(allowsInterim: isHTTP11, open)
      return hasBegun ? MHD_Result.YES : MHD_Result.NO
    }

    private var stopping: HTTPResponse {
      var response = unavailable("The server is stopping; send the request again when it is back.")
      response.fields.append(("Connection", "close"))
      return response
    }

    private var crowded: HTTPResponse {
      unavailable("The server holds as many bodies as it may, of this client or of all; send the request again later.")
    }

    /// A rejection that says when to come back, unless the application's says so already.
    private func unavailable(_ sentence: String) -> HTTPResponse {
      var response = server.application.rejection(request, 503, sentence)
      if !response.fields.contains(where: { $0.name.lowercased() == "retry-after" }) {
        response.fields.append(("Retry-After", "5"))
      }
      return response
    }

    private func tooLarge(_ limit: Int) -> HTTPResponse {
      server.application.rejection(request, 413, "The body of this request may have at most \(limit) bytes.")
    }

    /// Answers before the body has come; libmicrohttpd closes the connection then.
    private func reject(_ response: HTTPResponse) -> MHD_Result {
      state.withLock { $0.phase = .ready(response) }
      return step()
    }

    private func wait(for response: HTTPResponse) -> MHD_Result {
      state.withLock { $0.phase = .ready(response) }
      return MHD_Result.YES
    }

    private func receive(limit: Int, _ work: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) -> MHD_Result {
      state.withLock { $0.phase = .receiving(limit: limit, work) }
      return MHD_Result.YES
    }

    /// Takes a piece of the body.
    /// - Returns: false if the connection is to be closed: far more came than is allowed.
    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
      if case .flowing(let reception) = state.withLock({ $0.phase }) { return reception.take(piece) }
      return state.withLock { state in
        guard case .receiving(let limit, _) = state.phase else {
          // The response was decided without a body; a little of it is let pass.
          state.received += piece.count
          return state.received <= 1 << 20
        }
        state.received += piece.count
        guard state.received <= limit else {
          drop(&state)
          return state.received <= limit * 2 + 1 << 20
        }
        guard !state.isCrowded, server.reserve(piece.count, for: request.sender.holder) else {
          state.isCrowded = true
          drop(&state)
          return true
        }
        state.reserved += piece.count
        state.body.append(contentsOf: piece)
        return true
      }
    }

    /// Drops what has come of the body, and gives its room to others.
    private func drop(_ state: inout State) {
      server.release(state.reserved, for: request.sender.holder)
      (state.body, state.reserved) = ([], 0)
    }

    /// The body is complete, or the connection was resumed: answers, or has the response prepared.
    func step() -> MHD_Result {
      enum Action {
        case work(@Sendable (HTTPRequest) async -> HTTPResponse, HTTPRequest)
        case send(HTTPResponse)
        case end(Reception)
        case nothing
      }
      let action = state.withLock { state -> Action in
        switch state.phase {
        case .receiving(let limit, let work):
          guard state.received <= limit else {
            state.phase = .sent
            return .send(tooLarge(limit))
          }
          guard !state.isCrowded else {
            state.phase = .sent
            return .send(crowded)
          }
          state.phase = .working
          watched?.expect(within: nil)
          var whole = request
          whole.body = state.body
          state.body = []
          return .work(work, whole)
        case .flowing(let reception):
          switch reception.called() {
          case .again: return .nothing
          case .refused(let response):
            state.phase = .sent
            return .send(response)
          case .ended:
            state.phase = .working
            return .end(reception)
          }
        case .ready(let response):
          state.phase = .sent
          return .send(response)
        case .working, .sent, .done: return .nothing
        }
      }
      switch action {
      case .nothing: return MHD_Result.YES
      case .send(let response): return send(response)
      case .end(let reception): return reception.end() ? MHD_Result.YES : MHD_Result.NO
      case .work(let work, let whole):
        let hasBegun = server.run(suspending: connection) { [self] in answer(await work(whole)) }
        return hasBegun ? MHD_Result.YES : MHD_Result.NO
      }
    }

    /// Takes the response of a task.
    private func answer(_ response: HTTPResponse) {
      let isWanted = state.withLock { state in
        guard case .working = state.phase else { return false }
        state.phase = .ready(response)
        return true
      }
      if isWanted { MHD_resume_connection(raw) } else { response.discard() }
    }

    private func send(_ response: HTTPResponse) -> MHD_Result {
      let request = self.request
      let isHead = request.method == "HEAD"
      guard let made = response.make(server, isHead: isHead) else {
        server.log("A response to \(request.method) \(request.target.path) could not be created.")
        return MHD_Result.NO
      }
      defer { if !response.isMade { MHD_destroy_response(made.raw) } }
      state.withLock { state in
        (state.status, state.note, state.stream) = (response.status, response.note, made.stream)
      }
      if let stream = made.stream {
        stream.attach(connection)
        if stream.hasHeartbeat {
          // It is open for hours, and one of thousands.
          asked.withLock { $0 = request.recorded }
          if let watched { server.departures.add(stream, on: watched.descriptor) }
        }
      }
      watched?.expectReading(made.stream?.hasHeartbeat != true)
      return MHD_queue_response(raw, UInt32(clamping: response.status), made.raw)
    }

    /// The request is over, whether its response was sent or its client left.
    func complete() {
      defer { server.leave() }
      let request = self.request
      let (status, note, stream, phase, form, reserved) = state.withLock { state in
        defer { (state.phase, state.body, state.reserved, state.form) = (.done, [], 0, nil) }
        return (state.status, state.note, state.stream, state.phase, state.form, state.reserved)
      }
      if reserved > 0 { server.release(reserved, for: request.sender.holder) }
      form?.close()
      let now = WatchedConnection.now
      watched?.expect(within: server.connections.idleSeconds + server.connections.requestSeconds, from: now)
      watched?.expectReading(false)
      if case .ready(let response) = phase { response.discard() }
      if case .flowing(let reception) = phase { reception.gone() }
      if let stream {
        server.departures.forget(stream)
        // Before its `onClose`: what that counts down never runs ahead of `streamCounts`.
        server.drop(stream)
        stream.close()
      }
      let seconds = Double(now - start) / 1e9
      server.application.finished(
        HTTPRecord(request: request, status: status, seconds: seconds, note: note ?? request.sender.note))
      request.sender.end()
    }
  }
#endif
