#if Gallery
  import CMicroHTTPD
  import Foundation
  import Synchronization

  // The one wrapper around libmicrohttpd: requests in, responses out, streams that wait without a thread.
  //
  //   intake ─▶ epoll thread ─▶ head ─▶ application.plan(request) ─┬─ .answer ─────────────────────▶ response
  //                                                                ├─ .respond ─▶ suspend ─▶ task ─▶ resume, response
  //                                                                ├─ .gather ─▶ body ─▶ suspend ─▶ task ─▶ resume
  //                                                                └─ .receive, .receiveForm ─▶ pieces ─▶ HTTPReceiver
  //   response of a stream ─▶ content reader ─▶ bytes waiting? ─┬─ yes: write them
  //                                                             └─ no: suspend; the next `send` resumes
  //
  // libmicrohttpd has its rules, and breaking one is a busy loop, a lost connection or a crash. Each is answered here:
  //
  //   rule                                                        answer
  //   ----------------------------------------------------------  --------------------------------------------------
  //   the limit of connections defaults to 1,020                  none is passed that can be reached, and
  //   a thread that meets its part of the limit may lock up       `ConnectionIntake` keeps `connectionLimit`
  //   a pool of one thread is rejected                             one thread is started without a pool
  //   the thread that wakes first accepts all that is there        `ConnectionIntake` accepts, and deals out
  //   what is dropped before it is opened is not reported         `ConnectionWatch` looks whether its socket is open
  //   a thread that wakes takes the processor from its client      `chttp_wake_behind_others`
  //   suspending needs a flag; only two callbacks may suspend     always set; only `Exchange.step`, `HTTPStream.read`
  //   one byte a minute keeps a connection                        `ConnectionWatch`: deadlines, and a rate of reading
  //   a suspended connection notices no client that left          `DepartureWatch` does; `HTTPStream` has heartbeats
  //   each response that is broken off is complained of           `MutedThread`, where the client has left
  //   a content reader that returns 0 unsuspended spins           `HTTPStream.read` suspends before it returns 0
  //   stopping with suspended connections aborts the process      `stop` has nothing suspended any more, and waits
  //   stopping drops what is not sent                             `stop` waits until no request is open, for a while
  //   the handler is called for the head, for pieces, at the end  `Exchange` is that state machine
  //   a response in the middle of a body is rejected               too long a body is dropped and answered at its end
  //   no ranges, conditions, or limits of bodies                  `HTTPRange`, `HTTPRequest`, `HTTPPlan.gather(limit:)`
  //   paths and queries are unescaped in place, %00 included      unescaping is off; `HTTPTarget` decodes strictly
  //   a line that continues another becomes part of its name      `ReadFields` rejects it and names that are not tokens
  //   messages go to standard error                               `HTTPServerOptions.log`
  //   MHD_PostProcessor trusts boundaries and lengths of heads     `MultipartForm` gives it checked ones, within bounds
  //   no way to send a 1xx response                               `Reception` writes it to the suspended connection
  //
  // How a server stops:
  //
  //   serving ─▶ stopping: no connection is accepted, a new request is answered with 503 and closes its connection,
  //      │                 feeds end, requests that have begun go on, for `stopSeconds`
  //      ▼
  //   closing: streams that go on are broken off; sockets are shut down; nothing is suspended; tasks, each of which may
  //      │     have suspended a connection, end
  //      ▼
  //   MHD_stop_daemon, which reports the end of each connection that was left; tasks that this begins end
  //
  // Invariant: a connection is suspended for a task only while that task is counted, and none is counted for that
  // purpose once the server is closing. Both are decided under one lock (`run(suspending:)`).
  //
  // Invariant: an `Exchange` lives from the first call of the handler to `completed`, which libmicrohttpd calls once
  // for each request; a task that still runs then finds the exchange done, and its response is dropped.
  //
  // Rejected: a thread for each connection (10,000 feeds), an own parser of HTTP (to be fuzzed for ever), callbacks of
  // libmicrohttpd visible to the application (each would have to know the rules above).

  /// How a server listens and what it grants to connections.
  public struct HTTPServerOptions: Sendable {
    /// How many threads wait for connections; at least one.
    public var threads = 2
    /// The most connections at once; further ones are closed when they are accepted.
    public var connectionLimit = 12_000
    /// The most connections of one address; 0: as many as there are.
    public var connectionLimitOfAddress = 0
    /// After how many seconds without traffic a connection is closed.
    public var idleSeconds = 60
    /// How many seconds a client has for a whole head, and then for a body that is gathered.
    public var requestSeconds = 30.0
    /// How many bytes all bodies together may have that are gathered in memory; more are answered with 503. The bodies
    /// of one holder (see ``HTTPSender/holder``) may have a quarter of it, and those of all holders three quarters.
    public var gatheredBytes = 128 << 20
    /// How many seconds a client has for each 32 KiB of a response, or for what waits if that is less. A stream with a
    /// heartbeat is left out.
    public var readSeconds = 60.0
    /// The memory for the head of a request and for writing its response, in bytes a connection.
    public var connectionMemory = 16 << 10
    /// How long the end of the server waits for requests that have begun, in seconds; then it cuts their connections,
    /// and waits only for the work that has begun of them.
    public var stopSeconds = 5
    /// How often a stream without traffic is sent a heartbeat, in seconds.
    public var heartbeatSeconds = 20
    /// A certificate chain and its private key, PEM; nil: plain HTTP.
    public var tls: (certificate: String, key: String)?
    /// Receives what the library underneath complains about, a line at a time.
    public var log: @Sendable (String) -> Void = { _ in }

    /// Two threads, plain HTTP.
    public init() {}
  }

  /// A failure of the server itself, as opposed to one of a request.
  public struct HTTPServerError: Error, Sendable, CustomStringConvertible {
    /// A full sentence.
    public let description: String
    /// Whether the address that was asked for is malformed, whatever other programs do.
    public internal(set) var isMalformedAddress = false
  }

  /// Answers requests.
  public protocol HTTPApplication: Sendable {
    /// Decides from its head how a request is answered; called on a thread that serves other connections too.
    func plan(_ request: HTTPRequest) -> HTTPPlan
    /// Answers a request that the server itself rejects: a malformed target, a body that is too long.
    func rejection(_ request: HTTPRequest, _ status: Int, _ sentence: String) -> HTTPResponse
    /// Receives what became of a request, when its response was sent or its client had left.
    func finished(_ record: HTTPRecord)
  }

  extension HTTPApplication {
    /// A sentence as plain text.
    public func rejection(_ request: HTTPRequest, _ status: Int, _ sentence: String) -> HTTPResponse {
      .plain(status, sentence)
    }
  }

  /// How a request is answered.
  public enum HTTPPlan: Sendable {
    /// At once; the work takes microseconds and waits for nothing.
    case answer(HTTPResponse)
    /// By a task, while the connection holds no thread.
    case respond(@Sendable (HTTPRequest) async -> HTTPResponse)
    /// By a task that is given the whole body; a longer one is answered with 413.
    case gather(limit: Int, @Sendable (HTTPRequest) async -> HTTPResponse)
    /// By a receiver that is given the body while it comes; the closure opens it, before the first byte is taken.
    case receive(@Sendable (HTTPRequest) async -> HTTPReceiving)
    /// As `receive`, for a body that is a form with files: the receiver has the form split the bytes that it takes.
    case receiveForm(@Sendable (HTTPRequest, MultipartForm) async -> HTTPReceiving)
  }

  /// What became of a request.
  public struct HTTPRecord: Sendable {
    /// The request, without its body; one that was answered with a stream with a heartbeat also without its query and
    /// the segments of its path.
    public let request: HTTPRequest
    /// The status of the response; nil if the connection ended before there was one.
    public let status: Int?
    /// How long it took, in seconds, from the head to the end of the response.
    public let seconds: Double
    /// What the application noted about its response; nil if it noted nothing.
    public let note: String?
  }

  /// A server on one listening socket.
  public final class HTTPServer: Sendable {
    private struct State {
      /// The address of libmicrohttpd's daemon; 0 before the start and after the stop.
      var daemon: UInt = 0
      var intake: ConnectionIntake?
      /// How many tasks prepare a response.
      var tasks = 0
      var isStopping = false
      /// Whether no connection may be suspended any more.
      var isClosing = false
      var stopped: [CheckedContinuation<Void, Never>] = []
    }

    /// How many requests have begun and are not over: those whose last bytes are still to be sent included.
    private let requests = Atomic(0)
    /// How many bytes of bodies are held in memory.
    let gathered = Atomic(0)
    /// How many of them belong to each holder.
    private let gatheredOf = Mutex<[String: Int]>([:])
    /// Guarded by its lock; `daemon` is set before the first request can be handled and cleared by `stop`.
    private let state = Mutex(State())
    private let streams = AdoptedStreams()
    let application: any HTTPApplication
    private let options: HTTPServerOptions
    let connections: ConnectionWatch
    let departures: DepartureWatch
    fileprivate let known = KnownHeads()
    private let heartbeat = Mutex<[Task<Void, Never>]>([])
    /// The address on which the server listens.
    public let address: HTTPAddress

    /// Begins to serve.
    /// - Parameters:
    ///   - listener: the socket to accept connections from; the server owns it from now on.
    ///   - application: what answers requests.
    ///   - options: limits, threads, certificates.
    /// - Throws: ``HTTPServerError`` if the server cannot be started.
    public init(
      _ listener: consuming HTTPListener, application: any HTTPApplication,
      options: HTTPServerOptions = HTTPServerOptions()
    ) throws {
      precondition(options.threads > 0, "A server needs at least one thread.")
      address = listener.address
      self.application = application
      self.options = options
      connections = ConnectionWatch(
        limit: max(1, options.connectionLimit), requestSeconds: options.requestSeconds,
        idleSeconds: Double(options.idleSeconds), readSeconds: options.readSeconds)
      departures = try DepartureWatch()
      var listener = listener
      let descriptor = listener.release()
      guard let daemon = Self.start(self, options) else {
        departures.stop()
        close(descriptor)
        throw HTTPServerError(
          description: "The server on \(address) could not be started; its certificate and key may be wrong, "
            + "or the process may have too few descriptors.")
      }
      let raw = UInt(bitPattern: daemon)
      do throws(HTTPServerError) {
        let intake = try ConnectionIntake(descriptor, daemon: raw, connections: connections, log: options.log)
        state.withLock { ($0.daemon, $0.intake) = (raw, intake) }
      } catch {
        MHD_stop_daemon(daemon)
        departures.stop()
        close(descriptor)
        throw error
      }
      heartbeat.withLock { tasks in
        tasks = [
          Self.repeating(each: Double(options.heartbeatSeconds)) { [streams] in
            for stream in streams.open { stream.beat() }
          },
          Self.repeating(each: min(5, options.requestSeconds / 4)) { [connections] in connections.sweep() },
        ]
      }
    }

    /// Works on parts of a server, not on the server: each use of an object that is referenced weakly costs more.
    private static func repeating(each seconds: Double, _ work: @escaping @Sendable () -> Void) -> Task<Void, Never> {
      Task.detached {
        while (try? await Task.sleep(for: .seconds(seconds))) != nil { work() }
      }
    }

    private static func start(_ server: HTTPServer, _ options: HTTPServerOptions) -> OpaquePointer? {
      let context = Unmanaged.passUnretained(server).toOpaque()
      func start(_ certificate: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?) -> OpaquePointer? {
        var raw = chttp_options()
        raw.threads = UInt32(clamping: options.threads)
        raw.connections = .max
        raw.connections_of_one_address = UInt32(clamping: options.connectionLimitOfAddress)
        raw.idle_seconds = UInt32(clamping: options.idleSeconds)
        raw.connection_memory = options.connectionMemory
        (raw.certificate, raw.key, raw.context) = (certificate, key, context)
        raw.handler = handleRequest
        raw.completed = completeRequest
        raw.connected = connectionChanged
        raw.unescape = { _, _, text in text.map { strlen($0) } ?? 0 }
        raw.log = logMessage
        return chttp_start(&raw)
      }
      guard let tls = options.tls else { return start(nil, nil) }
      return tls.certificate.withCString { certificate in tls.key.withCString { start(certificate, $0) } }
    }

    /// Accepts no more connections and requests, ends all streams, lets running responses end for a while, and closes
    /// everything.
    ///
    /// Work that has begun is waited for without a limit, since a connection is not closed before it is over.
    /// Returns when the last connection is closed; a second call returns at once.
    public func stop() async {
      let (daemon, intake) = state.withLock { state -> (UInt, ConnectionIntake?) in
        guard !state.isStopping else { return (0, nil) }
        state.isStopping = true
        return (state.daemon, state.intake)
      }
      guard daemon != 0, let intake else { return }
      for task in heartbeat.withLock({ $0 }) { task.cancel() }
      await withCheckedContinuation { continuation in intake.stop { continuation.resume() } }
      // No feed is added any more: `adopt` ends those that come now. An archive or a log goes on to its end, for a
      // while: ended here, it would look whole.
      for stream in streams.open where stream.hasHeartbeat { stream.end() }
      // A response that is ready is not sent yet, nor is the end of a stream.
      let limit = ContinuousClock.now + .seconds(options.stopSeconds)
      while requests.load(ordering: .acquiring) > 0, ContinuousClock.now < limit {
        try? await Task.sleep(for: .milliseconds(5))
      }
      state.withLock { $0.isClosing = true }
      for stream in streams.open { stream.abort() }
      connections.shutDownAll()
      await tasksEnded()
      // Waits for the threads of the pool, so it runs where blocking is allowed.
      await withCheckedContinuation { continuation in
        ServingThread.run("http-ending") {
          MHD_stop_daemon(OpaquePointer(bitPattern: daemon))
          continuation.resume()
        }
      }
      // Receivers whose connections were cut just now.
      await tasksEnded()
      departures.stop()
      state.withLock { $0.daemon = 0 }
    }

    private func tasksEnded() async {
      await withCheckedContinuation { continuation in
        let isIdle = state.withLock { state in
          if state.tasks > 0 { state.stopped.append(continuation) }
          return state.tasks == 0
        }
        if isIdle { continuation.resume() }
      }
    }

    /// Whether new requests are answered with 503.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether no connection may be suspended any more.
    var isClosing: Bool { state.withLock { $0.isClosing } }

    deinit {
      precondition(state.withLock { $0.daemon } == 0, "An HTTPServer must be stopped before it is released.")
    }

    /// How many streams are open: those of events, which are silent for long, and those of contents, which are written
    /// as fast as their clients read.
    public var streamCounts: (events: Int, contents: Int) {
      let streams = streams.open
      let events = streams.count { $0.hasHeartbeat }
      return (events, streams.count - events)
    }

    func log(_ message: String) { options.log(message) }

    /// The most that libmicrohttpd hands over of a body at a time.
    var connectionMemory: Int { options.connectionMemory }

    /// Whether libmicrohttpd encrypts.
    var isTLS: Bool { options.tls != nil }

    /// Counts a request that begins; `leave` counts its end.
    func enter() { requests.add(1, ordering: .relaxed) }

    func leave() { requests.subtract(1, ordering: .releasing) }

    /// Takes room for a piece of a body that is gathered in memory.
    /// - Parameter holder: whose body it is; nil for one that only counts towards the total.
    /// - Returns: false if the bodies of the holder, or all of them together, may have no more.
    func reserve(_ count: Int, for holder: String?) -> Bool {
      // A quarter is left to bodies without a holder, however many holders come together.
      let most = holder == nil ? options.gatheredBytes : options.gatheredBytes / 4 * 3
      guard gathered.add(count, ordering: .relaxed).newValue <= most else {
        gathered.subtract(count, ordering: .relaxed)
        return false
      }
      guard let holder else { return true }
      let hasRoom = gatheredOf.withLock { holders in
        let held = holders[holder, default: 0] + count
        guard held <= options.gatheredBytes / 4 else { return false }
        holders[holder] = held
        return true
      }
      if !hasRoom { gathered.subtract(count, ordering: .relaxed) }
      return hasRoom
    }

    /// Gives room for bodies back.
    func release(_ count: Int, for holder: String?) {
      gathered.subtract(count, ordering: .relaxed)
      guard let holder, count > 0 else { return }
      gatheredOf.withLock { holders in
        let left = holders[holder, default: count] - count
        holders[holder] = left > 0 ? left : nil
      }
    }

    // MARK: Streams and tasks

    /// Takes a stream into account, so that it has heartbeats and ends with the server; `drop` is called for each.
    func adopt(_ stream: HTTPStream) {
      // First into the table: what is stopping from now on finds it there.
      streams.add(stream)
      let (isStopping, isClosing) = state.withLock { ($0.isStopping, $0.isClosing) }
      if isClosing { stream.abort() } else if isStopping, stream.hasHeartbeat { stream.end() }
    }

    /// How many streams the table has.
    var adoptedCount: Int { streams.count }

    func drop(_ stream: HTTPStream) { streams.remove(stream) }

    /// Runs the work of a request; `stop` waits for it.
    func run(_ work: @escaping @Sendable () async -> Void) {
      state.withLock { $0.tasks += 1 }
      begin(work)
    }

    /// Suspends a connection and runs work that resumes it; `stop` waits for it.
    /// - Returns: false if connections are being closed: it is not suspended, the work does not run, and the connection
    ///   is to be closed.
    func run(suspending connection: UInt, _ work: @escaping @Sendable () async -> Void) -> Bool {
      let mayRun = state.withLock { state in
        if state.isClosing { return false }
        state.tasks += 1
        return true
      }
      guard mayRun else { return false }
      // Before the work begins, which may be quicker than this thread.
      MHD_suspend_connection(OpaquePointer(bitPattern: connection))
      begin(work)
      return true
    }

    private func begin(_ work: @escaping @Sendable () async -> Void) {
      Task.detached {
        await work()
        let waiting = self.state.withLock { state in
          state.tasks -= 1
          guard state.tasks == 0 else { return [CheckedContinuation<Void, Never>]() }
          defer { state.stopped = [] }
          return state.stopped
        }
        for continuation in waiting { continuation.resume() }
      }
    }
  }

  /// The streams of a server that are open.
  private final class AdoptedStreams: Sendable {
    private struct Weak { weak var stream: HTTPStream? }

    private let table = Mutex<[ObjectIdentifier: Weak]>([:])

    var open: [HTTPStream] { table.withLock { $0.values.compactMap(\.stream) } }

    /// How many the table has.
    var count: Int { table.withLock { $0.count } }

    func add(_ stream: HTTPStream) { table.withLock { $0[ObjectIdentifier(stream)] = Weak(stream: stream) } }
    func remove(_ stream: HTTPStream) { table.withLock { $0[ObjectIdentifier(stream)] = nil } }
  }

  /// Drops what libmicrohttpd says on a thread until the request that the thread serves is over.
  ///
  /// libmicrohttpd complains of each response that is broken off, on the thread that asked for its content, and before
  /// it reports the end of the request. A client that leaves a stream is not a failure, and its request is logged
  /// anyway.
  enum MutedThread {
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let code = pthread_key_create(&key, nil)
      precondition(code == 0, "A process has room for the key of a value for each thread.")
      return key
    }()

    static var isMuted: Bool {
      get { pthread_getspecific(key) != nil }
      set { pthread_setspecific(key, newValue ? UnsafeRawPointer(bitPattern: 1) : nil) }
    }
  }

  /// The first words of libmicrohttpd's complaints are enough for a log; the arguments may come from a client.
  private func logMessage(
    _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer?
  ) {
    guard let context, let format, let arguments, !MutedThread.isMuted else { return }
    var text = [CChar](repeating: 0, count: 512)
    _ = vsnprintf(&text, text.count, format, arguments)
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let line = String(decoding: bytes, as: UTF8.self).unicodeScalars.map {
      $0.properties.generalCategory == .control ? " " : String($0)
    }
    Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().log(line.joined())
  }

  private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ target: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ piece: UnsafePointer<CChar>?,
    _ pieceCount: UnsafeMutablePointer<Int>?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> MHD_Result {
    guard let context, let connection, let target, let method, let pieceCount, let request else { return MHD_Result.NO }
    guard let known = request.pointee else {
      chttp_wake_behind_others()
      let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
      let head = HTTPRequest(connection, String(cString: method), target: target, known: server.known)
      let isHTTP11 = version.map { strcmp($0, "HTTP/1.1") == 0 } ?? false
      let exchange = Exchange(server, connection, head, isHTTP11: isHTTP11)
      server.enter()
      request.pointee = Unmanaged.passRetained(exchange).toOpaque()
      return exchange.begin()
    }
    let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
    guard pieceCount.pointee > 0 else { return exchange.step() }
    let isTaken = exchange.take(UnsafeRawBufferPointer(start: piece, count: pieceCount.pointee))
    pieceCount.pointee = 0
    return isTaken ? MHD_Result.YES : MHD_Result.NO
  }

  private func completeRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
  ) {
    MutedThread.isMuted = false
    guard let known = request?.pointee else { return }
    request?.pointee = nil
    Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue().complete()
  }
#endif
