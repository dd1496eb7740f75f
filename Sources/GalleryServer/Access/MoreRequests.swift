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

    private static let limit = 1_000
    private let requests = Mutex<[ExactText: Request]>([:])

    func request(of client: String) -> Request? { requests.withLock { $0[client.exact] } }

    /// The clients that wait, with the instants of their requests.
    var waiting: [(client: String, date: Date)] {
      requests.withLock { $0.filter { $0.value.added == nil }.map { ($0.key.text, $0.value.date) } }
        .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
    }

    /// Begins to wait; a request that waits already goes on.
    func ask(_ client: String, at date: Date) throws(Problem) {
      let client = client.exact
      let isFull = requests.withLock { requests in
        if let request = requests[client], request.added == nil { return false }
        if requests[client] == nil, requests.count >= Self.limit {
          // An answer that the app has had time to read gives way.
          guard let oldest = requests.filter({ $0.value.added != nil }).min(by: { $0.value.date < $1.value.date })
          else { return true }
          requests[oldest.key] = nil
        }
        requests[client] = Request(date: date)
        return false
      }
      if isFull { throw .tooMany("Too many apps wait for the owner's answer.", seconds: 600) }
    }

    /// Answers a request.
    /// - Returns: whether one waited.
    func answer(_ client: String, added: [String]) -> Bool {
      requests.withLock { requests in
        guard requests[client.exact]?.added == nil, requests[client.exact] != nil else { return false }
        requests[client.exact]?.added = added
        return true
      }
    }

    func forget(_ client: String) { requests.withLock { $0[client.exact] = nil } }
  }
#endif
