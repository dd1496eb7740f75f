#if Gallery
  import CMicroHTTPD
  import Foundation
  import Synchronization

  // Connections that take too long to say what they want.
  //
  //   accepted ─▶ head, by a deadline ─▶ body, by a deadline ─▶ answering, no deadline ─▶ idle, by a deadline ─┐
  //                   ▲                                                                                        │
  //                   └────────────────────────────────────────────────────────────────────────────────────────┘
  //
  // libmicrohttpd closes a connection that is silent, and takes every byte for a sign of life: a client that sends one
  // a minute holds its connection for days. Here the whole head has a deadline, and so has a gathered body. What is
  // late is shut down; libmicrohttpd then reads its end and closes it as any other.
  //
  // Invariant: a descriptor is shut down only while it stands in `all`, under the lock of that; libmicrohttpd reports
  // the end of a connection before it closes the descriptor, so no other connection can have its number.

  /// A connection and until when it must have got on.
  final class WatchedConnection: Sendable {
    let descriptor: Int32
    /// The numeric address of the peer, which is the same for all requests; empty if it is unknown.
    let peer: String
    /// In nanoseconds of the monotonic clock; the largest number: there is none.
    private let deadline: Atomic<UInt64>

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
      deadline.store(seconds.map { Self.now + UInt64($0 * 1e9) } ?? .max, ordering: .relaxed)
    }

    fileprivate func isLate(at now: UInt64) -> Bool { deadline.load(ordering: .relaxed) < now }
  }

  /// The connections of a server.
  final class ConnectionWatch: Sendable {
    private let all = Mutex<[ObjectIdentifier: WatchedConnection]>([:])
    /// How long a head may take, and a body that is gathered.
    let requestSeconds: Double
    /// How long a connection may be silent between two requests.
    let idleSeconds: Double

    init(requestSeconds: Double, idleSeconds: Double) {
      (self.requestSeconds, self.idleSeconds) = (requestSeconds, idleSeconds)
    }

    /// How many connections are open.
    var count: Int { all.withLock { $0.count } }

    /// Shuts down what is late.
    /// - Parameter now: the time, in nanoseconds of the monotonic clock.
    func sweep(at now: UInt64 = WatchedConnection.now) {
      all.withLock { all in
        for connection in all.values where connection.isLate(at: now) {
          shutdown(connection.descriptor, Int32(SHUT_RDWR))
        }
      }
    }

    /// Shuts down all of them.
    func shutDownAll() {
      all.withLock { all in
        for connection in all.values { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
      }
    }

    fileprivate func open(_ raw: OpaquePointer) -> WatchedConnection {
      let connection = WatchedConnection(
        chttp_descriptor(raw), peer: chttp_peer(raw).map(HTTPAddress.host) ?? "", seconds: requestSeconds)
      all.withLock { $0[ObjectIdentifier(connection)] = connection }
      return connection
    }

    fileprivate func close(_ connection: WatchedConnection) {
      all.withLock { $0[ObjectIdentifier(connection)] = nil }
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
