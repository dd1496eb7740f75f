#if Gallery
  import CMicroHTTPD
  import CSystem
  import Foundation
  import Synchronization

  // Takes connections from the listening socket, and deals them out to the threads that serve them.
  //
  //   listening socket ─▶ one thread: accept ─▶ room? ─▶ MHD_add_connection ─┬─▶ thread 0   the number of the
  //                                               │ no                       └─▶ thread 1   descriptor chooses
  //                                               └─▶ closed
  //
  // Threads of libmicrohttpd's pool that wait for one listening socket accept whatever is there when they wake. Clients
  // that come together, as the connections of one page do, then all belong to the thread that woke first, and stay
  // there while the others sleep, so that a load of 32 connections often used one of two processors.
  //
  // The limit of connections is kept here. libmicrohttpd divides its own among the threads, and checks it when it
  // queues a connection and again when the thread takes it from the queue. A connection that is one too many only then
  // leaves that thread waiting for a lock that it holds itself (0.9.75), with all its connections, until the process
  // ends.
  //
  // Invariant: no connection is added after `stop` has begun; the socket is closed when `stop` ends. Those that were
  // added and have not ended are never more than the limit. At the limit of descriptors nothing is accepted for a
  // while, and clients wait in the kernel's queue.
  //
  // Rejected: a socket for each thread (SO_REUSEPORT), which a socket that systemd opened does not allow, and which
  // deals out by a hash of the client's address.

  /// The thread that accepts connections.
  final class ConnectionIntake: Sendable {
    private struct State {
      /// The address of libmicrohttpd's daemon; 0 once nothing more is to be accepted.
      var daemon: UInt
      var ended: (@Sendable () -> Void)?
    }

    /// How long the thread leaves the socket alone when it cannot accept, in milliseconds.
    private static let pause: Int32 = 100

    private let state: Mutex<State>
    private let listener: Int32
    private let connections: ConnectionWatch
    /// Receives a line for each connection that is closed for want of room.
    private let log: @Sendable (String) -> Void
    /// Written to when the thread is to end.
    private let wake: Int32

    /// Begins to accept.
    /// - Parameters:
    ///   - listener: a listening socket that does not block; the thread closes it in the end.
    ///   - daemon: the address of libmicrohttpd's daemon, which has to outlive `stop`.
    ///   - connections: says whether there is room for another one.
    ///   - log: receives a line for each connection that is closed for want of room.
    ///   - stackSize: the bytes of the thread's stack; 0: the usual size.
    /// - Throws: ``HTTPServerError`` if the process has no descriptors left, or the system allows no further thread;
    ///   the socket stays open then.
    init(
      _ listener: Int32, daemon: UInt, connections: ConnectionWatch, log: @escaping @Sendable (String) -> Void,
      stackSize: Int = 0
    ) throws(HTTPServerError) {
      wake = eventfd(0, Int32(EFD_CLOEXEC))
      guard wake >= 0 else {
        throw HTTPServerError(
          description: "Connections cannot be accepted: \(String(cString: strerror(errno))). "
            + "Raise the limit of open files.")
      }
      self.listener = listener
      (self.connections, self.log) = (connections, log)
      state = Mutex(State(daemon: daemon))
      do throws(HTTPServerError) {
        try ServingThread.start("http-accept", stackSize: stackSize) { [self] in
          while acceptAll() {}
          close(listener)
          close(wake)
          state.withLock { $0.ended }?()
        }
      } catch {
        close(wake)
        throw error
      }
    }

    /// Accepts nothing more; `ended` is called once, when the socket is closed.
    func stop(_ ended: @escaping @Sendable () -> Void) {
      state.withLock { state in
        precondition(state.daemon != 0, "The intake of a server is stopped once.")
        (state.daemon, state.ended) = (0, ended)
      }
      var one: UInt64 = 1
      _ = write(wake, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits for connections and accepts those that are there; false when the intake was stopped.
    private func acceptAll() -> Bool {
      var waiting = [
        pollfd(fd: wake, events: Int16(POLLIN), revents: 0), pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
      ]
      poll(&waiting, 2, -1)
      guard waiting[0].revents == 0 else { return false }
      while true {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) { address -> Int32 in
          address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            let accepted = chttp_accept(listener, address, &length)
            if accepted < 0 { return errno }
            add(accepted, address, length)
            return 0
          }
        }
        switch code {
        // A connection that failed before it was accepted (accept(2) names the codes); the next one may be there.
        case 0, EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH: continue
        case EAGAIN: return true
        // No descriptors or no memory, or a socket that cannot accept any more: asking again at once would not end.
        default: return poll(&waiting, 1, Self.pause) <= 0
        }
      }
    }

    /// Gives a connection to libmicrohttpd, which closes it in any case; without room, closes it.
    private func add(_ accepted: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
      let hasRoom = state.withLock { state in
        guard state.daemon != 0 else {
          close(accepted)
          return true
        }
        guard connections.expect(accepted) else { return false }
        let daemon = OpaquePointer(bitPattern: state.daemon)
        if MHD_add_connection(daemon, accepted, address, length) != MHD_Result.YES { connections.forgo(accepted) }
        return true
      }
      guard !hasRoom else { return }
      close(accepted)
      log("A connection was closed: \(connections.limit) are open, as many as the server takes.")
    }
  }
#endif
