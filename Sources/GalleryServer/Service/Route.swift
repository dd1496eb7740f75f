#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger

  /// One route of the API: a method, a path with placeholders, and what answers it.
  struct Route: Sendable {
    /// What a request must show.
    enum Need: Sendable {
      /// Nothing.
      case nothing
      /// A key, of any client.
      case key
      /// A key of the owner.
      case owner
    }

    let method: String
    /// The path as the API's description spells it, such as `/v1/fetches/{fetch}/items`.
    let path: String
    let need: Need
    /// What the key must be good for, see ``Scope``; without meaning where no key is needed.
    var scope: Scope
    let plan: @Sendable (GalleryServer, Call) throws -> HTTPPlan

    init(
      _ method: String, _ path: String, _ need: Need = .key,
      _ plan: @escaping @Sendable (GalleryServer, Call) throws -> HTTPPlan
    ) {
      (self.method, self.path, self.need, self.plan) = (method, path, need, plan)
      scope = Self.usualScope(method, need)
    }

    /// A route whose answer takes reading: it is prepared by a task.
    static func reading(
      _ method: String, _ path: String, _ need: Need = .key, _ answer: @escaping @Sendable (Call) throws -> HTTPResponse
    ) -> Route {
      Route(method, path, need) { _, call in
        .respond { _ in
          do { return try await offload { try answer(call) } } catch { return Problem(error).response }
        }
      }
    }

    /// A route whose answer takes microseconds once what it needs is held (GalleryServer.swift says which do): it is
    /// made on the thread of the connection where that can be, and by a task where it cannot.
    /// - Parameters:
    ///   - atOnce: the answer; nil if something has to be read first that may take longer.
    ///   - answer: the answer, whatever it takes.
    static func held(
      _ method: String, _ path: String, _ need: Need = .key, atOnce: @escaping @Sendable (Call) throws -> HTTPResponse?,
      _ answer: @escaping @Sendable (Call) throws -> HTTPResponse
    ) -> Route {
      Route(method, path, need) { _, call in
        if let response = try atOnce(call) { return .answer(response) }
        return .respond { _ in
          do { return try await offload { try answer(call) } } catch { return Problem(error).response }
        }
      }
    }

    /// A route that takes a small JSON body.
    static func gathering(
      _ method: String, _ path: String, _ need: Need = .key, limit: Int = 1 << 16,
      checking check: @escaping @Sendable (Call) throws -> Void = { _ in },
      _ answer: @escaping @Sendable (Call, [UInt8]) throws -> HTTPResponse
    ) -> Route {
      Route(method, path, need) { _, call in
        guard call.request.contentType == "application/json" else {
          throw Problem(415, "malformed-request", "The body must be JSON; send it with Content-Type: application/json.")
        }
        try check(call)
        return .gather(limit: limit) { request in
          do { return try await offload { try answer(call, request.body) } } catch { return Problem(error).response }
        }
      }
    }

    /// Rejects a request without the key that the route needs, and a change that another site's page sends.
    func check(_ key: Keyring.Key?, _ request: HTTPRequest) throws(Problem) {
      if need != .nothing {
        guard let key else { throw .signInRequired }
        if need == .owner, key.client != PhotoLibrary.owner {
          throw Problem(403, "access-denied", "This needs a key of the library's owner.")
        }
        guard key.scopes.contains(scope) else { throw .scopeMissing(scope) }
      }
      // A browser sends a cookie along by itself, so what changes something must come from a page of this server.
      guard let key, key.isAmbient, method != "GET" else { return }
      let host = request.fields["host"] ?? ""
      let origin = request.fields["origin"].flatMap { URLComponents(string: $0) }
      // Both name the host in the form in which it is sent: `host` would decode that of an internationalised domain.
      let named = origin.map { ($0.encodedHost ?? "") + ($0.port.map { ":\($0)" } ?? "") }
      guard request.fields["sec-fetch-site"] ?? "same-origin" == "same-origin", named == host else {
        throw Problem(403, "cross-site", "A request that changes something must come from a page of this server.")
      }
    }
  }
#endif
