#if Gallery
  @testable import GalleryServer
  import HTTPServing
  import TestSupport
  import Testing

  @Suite("The tree of routes")
  struct RouterTests {
    /// The routes whose paths fit, by looking at each.
    private static func fitting(_ segments: [String], _ method: String) -> (path: String, parameters: [String])? {
      for route in Router.routesWithImmichClients where route.method == method {
        let parts = route.path.split(separator: "/").map(String.init)
        guard parts.count == segments.count else { continue }
        let pairs = zip(parts, segments)
        if pairs.allSatisfy({ $0.hasPrefix("{") || $0 == $1 }) {
          return (route.path, pairs.filter { $0.0.hasPrefix("{") }.map(\.1))
        }
      }
      return nil
    }

    @Test("finds the route that a linear search finds", arguments: 0..<20 as Range<UInt64>)
    func found(_ seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let paths = Router.routesWithImmichClients.map(\.path)
      let words = Set(paths.flatMap { $0.split(separator: "/").map(String.init) }).sorted()
      for _ in 0..<200 {
        let path = paths.randomElement(using: &random) ?? "/"
        var segments = path.split(separator: "/").map(String.init)
        for place in segments.indices where Int.random(in: 0..<3, using: &random) == 0 {
          segments[place] = words.randomElement(using: &random) ?? ""
        }
        if Int.random(in: 0..<8, using: &random) == 0 { segments.append("more") }
        let method = ["GET", "POST", "PUT", "PATCH", "DELETE"].randomElement(using: &random) ?? "GET"
        let target = try HTTPTarget("/" + segments.joined(separator: "/"))
        let found = try? Router.route(HTTPRequest(method: method, target: target), withImmichClients: true)
        let expected = Self.fitting(segments, method)
        #expect(found?.0.path == expected?.path && found?.1 == expected?.parameters, "\(method) \(segments)")
      }
    }
  }
#endif
