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

  // Finds the route of a request.
  //
  //   /v1 ─┬─ /fetches ──── {} ─┬─ /items      the routes of a path stand at its end, one a method
  //        │                    └─ /sections
  //        └─ /assets ───── {} ─── /resources ── {}
  //
  // The tree is made once. A segment goes to the child of its own name and to that of placeholders, so a request looks
  // at its own segments only, however many routes there are. Where several paths fit, the route that stands first in
  // the list wins.

  /// Finds the route of a request.
  enum Router {
    static let routes: [Route] =
      PageRoutes.all + HealthRoutes.all + KeyRoutes.all + AccessRoutes.all + FetchRoutes.all + ShapeRoutes.all
      + FeedRoutes.all + FileRoutes.all + BlockRoutes.all + UndoRoutes.all + LogRoutes.all + AuditRoutes.all
      + RenditionRoutes.all + DownloadRoutes.all + DuplicateRoutes.all + UploadRoutes.all.map { $0.needing(.add) }
      + HashRoutes.all.map { $0.needing(.add) }
    /// The routes with those for Immich's clients, which a server has only if asked for.
    static let routesWithImmichClients = routes + ImmichClientRoutes.all

    private final class Node: Sendable {
      let children: [String: Node]
      let placeholder: Node?
      /// The routes whose paths end here, by their places in the list.
      let ends: [(place: Int, route: Route, placeholders: [Int])]

      convenience init(_ routes: [Route]) {
        self.init(
          routes.enumerated().map { ($0.offset, $0.element, $0.element.path.split(separator: "/")) }, depth: 0)
      }

      private init(_ routes: [(place: Int, route: Route, path: [Substring])], depth: Int) {
        ends = routes.filter { $0.path.count == depth }.map { place, route, path in
          (place, route, path.indices.filter { path[$0].hasPrefix("{") })
        }
        let deeper = routes.filter { $0.path.count > depth }
        let named = deeper.filter { !$0.path[depth].hasPrefix("{") }
        children = Dictionary(grouping: named) { String($0.path[depth]) }.mapValues { Node($0, depth: depth + 1) }
        let open = deeper.filter { $0.path[depth].hasPrefix("{") }
        placeholder = open.isEmpty ? nil : Node(open, depth: depth + 1)
      }
    }

    private static let root = Node(routes)
    private static let rootWithImmichClients = Node(routesWithImmichClients)

    /// The routes whose paths fit, in the order of the list.
    private static func fitting(
      _ segments: [String], from root: Node
    ) -> [(place: Int, route: Route, placeholders: [Int])] {
      // Mostly one path fits, and then no list of nodes is made.
      var node = root
      for (depth, segment) in segments.enumerated() {
        switch (node.children[segment], node.placeholder) {
        case (let named?, nil): node = named
        case (nil, let open?): node = open
        case (nil, nil): return []
        case (let named?, let open?): return fitting(segments[(depth + 1)...], from: [named, open])
        }
      }
      return node.ends
    }

    private static func fitting(
      _ segments: ArraySlice<String>, from nodes: [Node]
    ) -> [(place: Int, route: Route, placeholders: [Int])] {
      var nodes = nodes
      for segment in segments {
        nodes = nodes.flatMap { [$0.children[segment], $0.placeholder].compactMap(\.self) }
        if nodes.isEmpty { return [] }
      }
      return nodes.flatMap(\.ends).sorted { $0.place < $1.place }
    }

    /// - Throws: ``Problem`` 404 for an unknown path, 405 for a known one with another method.
    static func route(
      _ request: HTTPRequest, withImmichClients: Bool = false
    ) throws(Problem) -> (Route, [String]) {
      // What answers GET answers HEAD: the server leaves the content out.
      let method = request.method == "HEAD" ? "GET" : request.method
      let segments = request.target.segments
      var allowed: [String] = []
      for (_, route, placeholders) in fitting(segments, from: withImmichClients ? rootWithImmichClients : root) {
        if route.method == method { return (route, placeholders.map { segments[$0] }) }
        allowed.append(route.method)
      }
      guard !allowed.isEmpty else { throw .notFound }
      if allowed.contains("GET") { allowed.append("HEAD") }
      var problem = Problem(
        405, "method-not-allowed",
        "\(request.method.prefix(16)) is not allowed here; use \(allowed.joined(separator: ", ")).")
      problem.fields = [("Allow", allowed.joined(separator: ", "))]
      throw problem
    }
  }
#endif
