#if Gallery
  import CMicroHTTPD
  import Foundation
  import Synchronization

  // Connections that take too long to say what they want, or to take what they asked for.
  //
  //   accepted ─▶ head, by a deadline ─▶ body, by a deadline ─▶ working ─▶ response, at a rate ─▶ idle, by a deadline
  //                   ▲                                                                                        │
  //                   └────────────────────────────────────────────────────────────────────────────────────────┘
  //
  // libmicrohttpd closes a connection that is silent, and takes every byte for a sign of life: a client that sends or
  // takes one a minute holds its connection for days. Here the whole head has a deadline, and so has a gathered body,
  // and a response is taken at a least rate, see `ReadingPace`. What is late is shut down; libmicrohttpd then reads its
  // end and closes it as any other.
  //
  // How far a client has read is asked of the kernel, which counts what was acknowledged: libmicrohttpd sends a file
  // without a word of how far it is. A stream that is silent for long, a feed, is left out: its client holds the
  // connection for as long as it likes anyway, so a slow one gains nothing.
  //
  // libmicrohttpd closes a connection that it cannot open, for lack of memory, and reports nothing. So a connection
  // that is not opened yet has room for as long as its descriptor is the socket that was accepted, by the inode of
  // that: the number alone may be that of another file by then.
  //
  // Invariant: a descriptor is shut down only while it stands in `all`, under the lock of that; libmicrohttpd reports
  // the end of a connection before it closes the descriptor, so no other connection can have its number.

  /// Whether a client takes what waits for it, at a least rate.
  ///
  /// Nothing is asked of a client for which nothing waits: the server is the slower one then. What waits is counted
  /// anew each time that the client has taken what it was to take, so that a message of a hundred bytes is not held
  /// against one that reads it late.
  struct ReadingPace {
    /// How much is to be taken within the time, unless less waits.
    static let leastBytes: UInt64 = 32 << 10

    /// How many bytes of the connection are to be taken, and since when that is expected; nil: nothing waited.
    private var due: (count: UInt64, since: UInt64)?

    /// Takes note of a reading.
    /// - Parameters:
    ///   - taken: how many bytes the client has taken since the connection was opened.
    ///   - waiting: how many wait for it.
    ///   - now: nanoseconds of a monotonic clock.
    ///   - limit: how long the client has, in nanoseconds.
    /// - Returns: whether the client is too slow.
    mutating func isTooSlow(taken: UInt64, waiting: UInt64, at now: UInt64, within limit: UInt64) -> Bool {
      guard waiting > 0 else {
        due = nil
        return false
      }
      guard let due, taken < due.count else {
        due = (taken + min(waiting, Self.leastBytes), now)
        return false
      }
      // Of two sweeps at once the later one may be the first to look.
      return now > due.since && now - due.since > limit
    }

    /// Expects nothing any more.
    mutating func reset() { due = nil }
  }

  /// A connection and until when it must have got on.
  final class WatchedConnection: Sendable {
    let descriptor: Int32
    /// The numeric address of the peer, which is the same for all requests; empty if it is unknown.
    let peer: String
    /// In nanoseconds of the monotonic clock; the largest number: there is none.
    private let deadline: Atomic<UInt64>
    /// Whether a response is sent that is to be taken at a rate.
    private let isPaced = Atomic(false)
    private let pace = Mutex(ReadingPace())

    fileprivate init(_ descriptor: Int32, peer: String, seconds: Double) {
      (self.descriptor, self.peer) = (descriptor, peer)
      deadline = Atomic(Self.now + UInt64(seconds * 1e9))
    }

    static var now: UInt64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Sets the deadline anew; nil: there is none.
    func expect(within seconds: Double?) {
      if let seconds { expect(within: seconds, from: Self.now) } else { deadline.store(.max, ordering: .relaxed) }
    }

    /// Sets the deadline anew.
    /// - Parameter now: nanoseconds of the monotonic clock.
    func expect(within seconds: Double, from now: UInt64) {
      deadline.store(now + UInt64(seconds * 1e9), ordering: .relaxed)
    }

    /// Sets whether a response is sent that is to be taken at a least rate.
    func expectReading(_ isExpected: Bool) { isPaced.store(isExpected, ordering: .relaxed) }

    fileprivate func isLate(at now: UInt64, readSeconds: Double) -> Bool {
      deadline.load(ordering: .relaxed) < now || isReadSlowly(at: now, seconds: readSeconds)
    }

    private func isReadSlowly(at now: UInt64, seconds: Double) -> Bool {
      pace.withLock { pace in
        var (taken, waiting) = (UInt64(0), UInt64(0))
        guard isPaced.load(ordering: .relaxed), chttp_sent(descriptor, &taken, &waiting) != 0 else {
          pace.reset()
          return false
        }
        return pace.isTooSlow(taken: taken, waiting: waiting, at: now, within: UInt64(seconds * 1e9))
      }
    }
  }

  /// The connections of a server.
  final class ConnectionWatch: Sendable {
    private struct State {
      var open: [ObjectIdentifier: WatchedConnection] = [:]
      /// The descriptors that were given to libmicrohttpd and not opened yet, with the inodes of their sockets.
      var expected: [Int32: UInt64] = [:]
    }

    private let all = Mutex(State())
    /// The most connections at once.
    let limit: Int
    /// How long a head may take, and a body that is gathered.
    let requestSeconds: Double
    /// How long a connection may be silent between two requests.
    let idleSeconds: Double
    /// How long a client has for each part of a response.
    private let readSeconds: Double

    init(limit: Int, requestSeconds: Double, idleSeconds: Double, readSeconds: Double) {
      self.limit = limit
      (self.requestSeconds, self.idleSeconds, self.readSeconds) = (requestSeconds, idleSeconds, readSeconds)
    }

    /// How many connections are open.
    var count: Int { all.withLock { $0.open.count } }

    /// Takes room for a connection that is given to libmicrohttpd. One that it drops unopened has it until the next
    /// ``sweep(at:)``, or until its number is accepted again.
    /// - Parameter descriptor: the socket that was accepted.
    /// - Returns: false if there is none.
    func expect(_ descriptor: Int32) -> Bool {
      all.withLock { all in
        // The number was free, so an earlier connection that had it was dropped.
        all.expected[descriptor] = nil
        guard all.open.count + all.expected.count < limit else { return false }
        all.expected[descriptor] = Self.inode(of: descriptor) ?? 0
        return true
      }
    }

    /// Gives the room back of a connection that libmicrohttpd did not take.
    func forgo(_ descriptor: Int32) { all.withLock { $0.expected[descriptor] = nil } }

    /// The number that a socket shares with no other one that is open; nil if the descriptor is closed.
    private static func inode(of descriptor: Int32) -> UInt64? {
      var status = stat()
      return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Shuts down what is late, and gives the room back of connections that were dropped unopened.
    /// - Parameter now: the time, in nanoseconds of the monotonic clock.
    func sweep(at now: UInt64 = WatchedConnection.now) {
      all.withLock { all in
        all.expected = all.expected.filter { Self.inode(of: $0.key) == $0.value }
        for connection in all.open.values where connection.isLate(at: now, readSeconds: readSeconds) {
          shutdown(connection.descriptor, Int32(SHUT_RDWR))
        }
      }
    }

    /// Shuts down all of them.
    func shutDownAll() {
      all.withLock { all in
        for connection in all.open.values { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
      }
    }

    fileprivate func open(_ raw: OpaquePointer) -> WatchedConnection {
      let connection = WatchedConnection(
        chttp_descriptor(raw), peer: chttp_peer(raw).map(HTTPAddress.host) ?? "", seconds: requestSeconds)
      all.withLock { all in
        all.open[ObjectIdentifier(connection)] = connection
        all.expected[connection.descriptor] = nil
      }
      return connection
    }

    fileprivate func close(_ connection: WatchedConnection) {
      all.withLock { $0.open[ObjectIdentifier(connection)] = nil }
    }

    /// The watched connection of libmicrohttpd's.
    static func connection(_ raw: OpaquePointer) -> WatchedConnection? {
      chttp_socket_context(raw).map { Unmanaged<WatchedConnection>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
  ) {
    guard let context, let connection, let own else { return }
    let watch = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().connections
    if chttp_is_start(change) != 0 {
      own.pointee = Unmanaged.passRetained(watch.open(connection)).toOpaque()
    } else if let known = own.pointee {
      own.pointee = nil
      watch.close(Unmanaged<WatchedConnection>.fromOpaque(known).takeRetainedValue())
    }
  }
#endif
