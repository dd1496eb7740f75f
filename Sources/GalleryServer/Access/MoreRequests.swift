#if Gallery
  import Foundation
  import PhotoLedger
  import Synchronization

  /// Requests of limited clients for more, one a client.
  final class MoreRequests: Sendable {
    struct Request: Sendable {
      let date: Date
      /// What the owner added; nil while the request waits.
      var added: [String]?
    }

    private struct State {
      var requests: [ExactText: Request] = [:]
      /// The clients for which an answer is being recorded.
      var answering: Set<ExactText> = []
    }

    private static let limit = 1_000
    private let state = Mutex(State())

    func request(of client: String) -> Request? { state.withLock { $0.requests[client.exact] } }

    /// The clients that wait, with the instants of their requests.
    var waiting: [(client: String, date: Date)] {
      state.withLock { $0.requests.filter { $0.value.added == nil }.map { ($0.key.text, $0.value.date) } }
        .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
    }

    /// Begins to wait; a request that waits already goes on.
    func ask(_ client: String, at date: Date) throws(Problem) {
      let client = client.exact
      let isFull = state.withLock { state in
        if let request = state.requests[client], request.added == nil { return false }
        if state.requests[client] == nil, state.requests.count >= Self.limit {
          // An answer that the app has had time to read gives way.
          let answered = state.requests.filter { $0.value.added != nil }
          guard let oldest = answered.min(by: { $0.value.date < $1.value.date }) else { return true }
          state.requests[oldest.key] = nil
        }
        state.requests[client] = Request(date: date)
        return false
      }
      if isFull { throw .tooMany("Too many apps wait for the owner's answer.", seconds: 600) }
    }

    /// Answers a request, unless another answer to it is being recorded.
    /// - Parameter record: records what the owner adds, and returns it; if it throws, the request goes on waiting.
    /// - Returns: whether a request waited; otherwise nothing was recorded.
    func answer(_ client: String, _ record: () throws -> [String]) rethrows -> Bool {
      let client = client.exact
      let answered = state.withLock { state -> Request? in
        guard let request = state.requests[client], request.added == nil, state.answering.insert(client).inserted
        else { return nil }
        return request
      }
      guard let answered else { return false }
      do {
        let added = try record()
        state.withLock { state in
          // A request that was forgotten meanwhile stays so, and one that was made since waits for its own answer.
          if state.requests[client]?.date == answered.date { state.requests[client]?.added = added }
          state.answering.remove(client)
        }
        return true
      } catch {
        state.withLock { state in _ = state.answering.remove(client) }
        throw error
      }
    }

    func forget(_ client: String) { state.withLock { $0.requests[client.exact] = nil } }
  }
#endif
