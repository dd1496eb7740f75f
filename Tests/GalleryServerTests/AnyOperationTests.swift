#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import PhotoLedger
  import TestSupport
  import Testing

  /// The refusals that do not depend on what an operation does; the description has them for each operation.
  @Suite("What every operation may answer")
  struct AnyOperationTests {
    private static func target(_ route: Route) -> String {
      route.path.replacing("{", with: "").replacing("}", with: "")
    }

    /// The routes whose requests have a JSON body.
    private static func bodyRoutes() throws -> [Route] {
      let paths = try Contract.served.get().document["paths"]
      return Router.routes.filter { route in
        let operation = paths?[route.path]?[route.method.lowercased()]
        return operation?["requestBody"]?["content"]?["application/json"] != nil
      }
    }

    @Test("a key without the scope of an operation is rejected with 403", arguments: Scope.allCases)
    func scopes(_ scope: Scope) async throws {
      try await TestGallery.serving { gallery in
        // A key of the owner for the operations that need the owner's scope, a client's key for the others.
        let client = scope == .owner ? PhotoLibrary.owner : "app"
        let scopes = Scope.usual.subtracting([scope]).map(\.rawValue).sorted()
        let made = try gallery.ask("POST", "/v1/keys", json: ["client": client, "scopes": scopes]).json()
        let key = try #require(made["secret"] as? String)
        let routes = Router.routes.filter { $0.need != .nothing && $0.scope == scope }
        #expect(!routes.isEmpty)
        for route in routes {
          for method in Contract.methods(of: route) {
            let answer = try gallery.ask(method, Self.target(route), key: key)
            #expect(answer.status == 403, "\(method) \(route.path): \(answer)")
          }
        }
      }
    }

    @Test("a key with too many requests is rejected with 429 by every operation")
    func throttled() async throws {
      var access = GalleryAccess()
      (access.limits.keyBurst, access.limits.keyPerSecond) = (1, 0.0001)
      try await TestGallery.serving(access: access) { gallery in
        let made = try gallery.ask("POST", "/v1/keys", json: ["client": "app"]).json()
        let key = try #require(made["secret"] as? String)
        _ = try gallery.ask("GET", "/v1/session", key: key)
        for route in Router.routes {
          for method in Contract.methods(of: route) {
            let answer = try gallery.ask(method, Self.target(route), key: key)
            #expect(answer.status == 429, "\(method) \(route.path): \(answer)")
            #expect(Int(answer.fields["retry-after"] ?? "") ?? 0 > 0, "\(method) \(route.path): \(answer)")
          }
        }
      }
    }

    @Test("a body that is not JSON, or is too large, is rejected by every operation that takes JSON")
    func bodies() async throws {
      try await TestGallery.serving { gallery in
        for route in try Self.bodyRoutes() {
          func status(_ fields: [String]) throws -> Int {
            try gallery.ask(route.method, Self.target(route), fields).status
          }
          #expect(try status(["Content-Type: text/plain", "Content-Length: 0"]) == 415, "\(route.path)")
          #expect(
            try status(["Content-Type: application/json", "Content-Length: 1000000000"]) == 413, "\(route.path)")
        }
      }
    }

    @Test("a body for which there is no room is rejected with 503 by every operation that takes JSON")
    func crowded() async throws {
      try await TestGallery.serving(gatheredBytes: 4096) { gallery in
        for route in try Self.bodyRoutes() {
          let json = ["text": String(repeating: "x", count: 5000)]
          let answer = try gallery.ask(route.method, Self.target(route), json: json)
          #expect(answer.status == 503, "\(route.path): \(answer)")
        }
      }
    }

    @Test("a proxy that names a user without an account gets 403 from every operation")
    func withoutAccount() async throws {
      var access = GalleryAccess()
      access.trustedProxies = ["127.0.0.1"]
      // Of an operation that does not list 403, `default` describes it.
      let contract = try Contract(Array(PackageResources.openapi_json))
      try await TestGallery.serving(access: access) { gallery in
        let fields = ["X-Forwarded-User: bert", "Connection: close"]
        for route in Router.routes {
          for method in Contract.methods(of: route) {
            let client = try RawClient(port: gallery.address.port)
            client.send(try gallery.head(method, Self.target(route), key: nil, fields))
            let answer = try #require(TestGallery.parsed(client.readToEnd()), "\(method) \(route.path)")
            #expect(answer.status == 403, "\(method) \(route.path): \(answer)")
            try contract.check(method, Self.target(route), answer)
          }
        }
      }
    }

    @Test("the description of `default` names each error that any operation may answer, and no other")
    func named() throws {
      let contract = try Contract.served.get()
      let problem = contract.document["components"]?["responses"]?["Problem"]
      let words = try #require(problem?["description"]?.textValue)
      let named = words.matches(of: #/\b[45][0-9][0-9]\b/#).compactMap { Int($0.output) }
      let common = try #require(contract.commonStatuses)
      #expect(Set(named) == common.union(Contract.operatorsStatuses))
    }

    @Test("each operation describes the errors that any may answer")
    func common() throws {
      let contract = try Contract.served.get()
      let statuses = try #require(contract.commonStatuses).map(String.init)
      for (operation, answers) in Dictionary(grouping: contract.documented, by: { "\($0.method) \($0.path)" }) {
        let described = Set(answers.map(\.status))
        #expect(described.contains("default") || described.isSuperset(of: statuses), "\(operation)")
      }
    }

    @Test("a status that the description of an operation lacks is found, unless any operation may answer it")
    func undescribed() throws {
      let contract = try Contract.served.get()
      func answer(_ status: Int) -> Answer {
        let body = #"{"type":"urn:photoledger:problem:storage","title":"T","status":\#(status),"detail":"D"}"#
        return Answer(status: status, fields: ["content-type": "application/problem+json"], body: body)
      }
      for status in [400, 413, 429, 503] { try contract.check("GET", "/healthz", answer(status)) }
      for status in [402, 404, 409, 415, 500] {
        #expect(throws: Contract.Breach.self, "\(status)") { try contract.check("GET", "/healthz", answer(status)) }
      }
    }
  }
#endif
