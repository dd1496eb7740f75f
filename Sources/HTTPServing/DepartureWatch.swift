#if Gallery
  import CMicroHTTPD
  import CSystem
  import Foundation
  import Synchronization

  // Clients that leave while nothing is sent to them.
  //
  //   a stream is sent ──▶ epoll, for the end of what the client sends ──▶ shutdown, depart ─▶ `completed`
  //                              one thread sleeps here for all                     forgotten before the close ──▶ ▲
  //
  // libmicrohttpd does not look at a suspended connection, and the first write to a client that has left succeeds. So a
  // feed of a page that was closed would stay until its second heartbeat, and hold one of the places of its session for
  // as long. A client that has ended its side counts as gone: feeds are for clients that stay.
  //
  // Invariant: a descriptor is shut down only while it stands in `all`, under the lock of that; a request is over, and
  // forgotten here, before libmicrohttpd closes the descriptor.
  //
  // Rejected: polling all streams now and then, which costs an idle server time for each of them.

  /// Finds the streams whose clients have left.
  final class DepartureWatch: Sendable {
    private struct Watched {
      let descriptor: Int32
      weak var stream: HTTPStream?
    }

    private struct State {
      /// By the number that stands in events; none is used again.
      var all: [UInt64: Watched] = [:]
      var numbers: [ObjectIdentifier: UInt64] = [:]
      var next: UInt64 = 1
      var isStopped = false
    }

    private let state = Mutex(State())
    private let poll: Int32
    /// Written to when the thread is to end.
    private let wake: Int32

    /// - Parameter stackSize: the bytes of the thread's stack; 0: the usual size.
    /// - Throws: ``HTTPServerError`` if the process has no descriptors left, or the system allows no further thread.
    init(stackSize: Int = 0) throws(HTTPServerError) {
      poll = epoll_create1(Int32(EPOLL_CLOEXEC))
      wake = eventfd(0, Int32(EFD_CLOEXEC))
      var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: 0))
      guard poll >= 0, wake >= 0, epoll_ctl(poll, EPOLL_CTL_ADD, wake, &event) == 0 else {
        let reason = String(cString: strerror(errno))
        for descriptor in [poll, wake] where descriptor >= 0 { close(descriptor) }
        throw HTTPServerError(description: "Streams cannot be watched: \(reason). Raise the limit of open files.")
      }
      do throws(HTTPServerError) {
        try ServingThread.start("http-departures", stackSize: stackSize) { [self] in
          while waitForDepartures() {}
          close(poll)
          close(wake)
        }
      } catch {
        for descriptor in [poll, wake] { close(descriptor) }
        throw error
      }
    }

    /// Ends the thread; no stream is watched any more.
    func stop() {
      let isFirst = state.withLock { state in
        defer { (state.isStopped, state.all, state.numbers) = (true, [:], [:]) }
        return !state.isStopped
      }
      guard isFirst else { return }
      var one: UInt64 = 1
      _ = write(wake, &one, MemoryLayout<UInt64>.size)
    }

    /// Watches the client of a stream.
    /// - Parameter descriptor: its socket, which stays open until ``forget(_:)``.
    func add(_ stream: HTTPStream, on descriptor: Int32) {
      state.withLock { state in
        guard !state.isStopped else { return }
        let number = state.next
        state.next += 1
        var event = epoll_event(
          events: EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue, data: epoll_data_t(u64: number))
        // A connection that is kept alive may have been watched for an earlier stream.
        guard
          epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) == 0
            || epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0
        else { return }  // Without it, the heartbeats find out.
        state.numbers[ObjectIdentifier(stream)] = number
        state.all[number] = Watched(descriptor: descriptor, stream: stream)
      }
    }

    /// The request of a stream is over.
    func forget(_ stream: HTTPStream) {
      state.withLock { state in
        if let number = state.numbers.removeValue(forKey: ObjectIdentifier(stream)) { state.all[number] = nil }
      }
    }

    /// Waits for clients that leave, and ends their streams; false when the watch was stopped.
    private func waitForDepartures() -> Bool {
      var events = [epoll_event](repeating: epoll_event(), count: 64)
      let count = Int(epoll_wait(poll, &events, Int32(events.count), -1))
      let gone = state.withLock { state -> [HTTPStream]? in
        if state.isStopped { return nil }
        return events.prefix(max(0, count)).compactMap { event in
          guard let watched = state.all[event.data.u64] else { return nil }
          shutdown(watched.descriptor, Int32(SHUT_RDWR))
          return watched.stream
        }
      }
      guard let gone else { return false }
      for stream in gone { stream.depart() }
      return true
    }
  }
#endif
