#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // MARK: - Routes that are waited at

  extension Route {
    private static let longestWait = 60

    /// Two routes to one state: by long poll at a path, and as server-sent events at the path with `/events`.
    /// - Parameter state: reads the state; it is called again after each wake-up.
    static func watched(
      _ path: String, _ need: Need = .key, _ scope: Scope, _ state: @escaping @Sendable (Call) throws -> JSON
    ) -> [Route] {
      [
        Route("GET", path, need) { server, call in
          try call.checkQuery(["after", "wait"])
          let seconds = try call.count("wait") ?? 0
          guard seconds <= longestWait else {
            throw Problem.malformed("'wait' is \(seconds); pass at most \(longestWait) seconds.")
          }
          let after = try call.query("after")
          let key = call.key
          return .respond { _ in
            // Not while planning: a request with a body is answered without this being called.
            do throws(Problem) { try server.watch.enter(key) } catch { return error.response }
            defer { server.watch.leave(key) }
            return await polled(server, call, after, Double(seconds), state)
          }
        }.needing(scope),
        Route("GET", path + "/events", need) { server, call in
          try call.checkQuery([])
          let stream = HTTPStream(heartbeat: Feed.heartbeat)
          let fields = [
            ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
          ]
          // A state that cannot be read now is an answer, not a stream.
          let response = HTTPResponse(200, Headers.common + fields, .stream(stream))
          let key = call.key
          return .respond { request in
            do throws(Problem) { try server.watch.enter(key) } catch { return error.response }
            do { _ = try await offload { try state(call) } } catch {
              server.watch.leave(key)
              return Problem(error).response
            }
            guard request.method != "HEAD" else {
              server.watch.leave(key)
              return response
            }
            let task = Task.detached {
              await follow(server, call, stream, state)
              server.watch.leave(key)
            }
            stream.onClose { task.cancel() }
            return response
          }
        }.needing(scope),
      ]
    }

    private static func revision(_ state: JSON) -> String { String(Keyring.hash(state.description).prefix(16)) }

    /// A state with its revision, which 'after' takes.
    static func revised(_ state: JSON) -> JSON {
      guard case .object(let members) = state else { return state }
      return .object(members + [JSON.Member("revision", .text(revision(state)))])
    }

    private static func polled(
      _ server: GalleryServer, _ call: Call, _ after: String?, _ seconds: Double,
      _ state: @escaping @Sendable (Call) throws -> JSON
    ) async -> HTTPResponse {
      let end = ContinuousClock.now + .seconds(seconds)
      do {
        while true {
          let (generation, start) = (server.watch.generation, ContinuousClock.now)
          let now = try await offload { try state(call) }
          let revision = revision(now)
          let left = ContinuousClock.now.duration(to: end) / .seconds(1)
          guard revision == after, left > 0, !server.watch.isEnded else {
            return .json(revised(now), [("Cache-Control", "no-store")])
          }
          await server.watch.next(after: generation, seconds: left)
          await pause(since: start)
          try call.checkIsStillGood()
        }
      } catch { return Problem(error).response }
    }

    /// Lets a state be read twenty times a second at most: a wake-up comes with each commit, of whatever.
    private static func pause(since start: ContinuousClock.Instant) async {
      try? await Task.sleep(until: start + .milliseconds(50), clock: .continuous)
    }

    private static func follow(
      _ server: GalleryServer, _ call: Call, _ stream: HTTPStream,
      _ state: @escaping @Sendable (Call) throws -> JSON
    ) async {
      var last: String?
      do {
        while !Task.isCancelled, !server.watch.isEnded {
          let (generation, start) = (server.watch.generation, ContinuousClock.now)
          try call.checkIsStillGood()
          let now = try await offload { try state(call) }
          let revision = revision(now)
          if revision != last {
            // Once is enough: a client keeps it.
            let retry = last == nil ? "retry: \(Feed.retryMilliseconds)\n" : ""
            try await stream.send { Array("\(retry)id: \(revision)\nevent: state\ndata: \(now)\n\n".utf8) }
            last = revision
          }
          await server.watch.next(after: generation, seconds: 3600)
          await pause(since: start)
        }
      } catch let error where !(error is HTTPStreamClosed) {
        let problem = Problem(error)
        call.request.sender.note = problem.note
        let json = problem.json
        try? await stream.send { Array("event: problem\ndata: \(json)\n\n".utf8) }
      } catch {}
      stream.end()
    }
  }

  // MARK: - Requests that wait

  extension Call {
    /// Checks that the key of a request that has waited was not withdrawn meanwhile.
    func checkIsStillGood() throws(Problem) {
      guard let key else { return }
      guard server.keyring.client(ofGoodKey: key.name) == key.client else { throw .signInRequired }
    }

    /// Why a body was not taken: that its key is good no more, if that is so. The upload of a client that was withdrawn
    /// is gone, which is not what its request is to be answered with.
    func refusal(of error: any Error) -> Problem {
      do throws(Problem) { try checkIsStillGood() } catch { return error }
      return Problem(error)
    }
  }
#endif
