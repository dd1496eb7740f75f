#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger

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
      PageRoutes.all + HealthRoutes.all + KeyRoutes.all + accessRoutes + FetchRoutes.all + ShapeRoutes.all
      + FeedRoutes.all + FileRoutes.all + BlockRoutes.all + UndoRoutes.all + LogRoutes.all + AuditRoutes.all
      + RenditionRoutes.all + DownloadRoutes.all + DuplicateRoutes.all + UploadRoutes.all.map { $0.needing(.add) }
      + HashRoutes.all.map { $0.needing(.add) }
    /// Who uses the server, and what they may see.
    private static let accessRoutes: [Route] =
      PeopleRoutes.all + SessionRoutes.all + ClientRoutes.all + PickingRoutes.all + ShareRoutes.all
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
