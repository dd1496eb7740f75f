#if Gallery
  import Foundation
  @testable import GalleryServer
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("The description of the API")
  struct ContractTests {
    @Test("each route is described, and each described operation is a route", arguments: ["/v1/", "/api/"])
    func routes(_ part: String) throws {
      let described = Set(try Contract.served(for: part).get().documented.map { "\($0.method) \($0.path)" })
      let all = part == "/api/" ? ImmichClientRoutes.all : Router.routes
      let routes = Set(all.flatMap { route in Contract.methods(of: route).map { "\($0) \(route.path)" } })
      #expect(Set(Router.routesWithImmichClients.map(\.path)).isSuperset(of: all.map(\.path)))
      #expect(described.subtracting(routes).sorted() == [])
      #expect(routes.subtracting(described).sorted() == [])
    }

    @Test(
      "each reference leads somewhere, and each operation has its own name, a summary and an answer to errors",
      arguments: ["/v1/", "/api/"])
    func sound(_ part: String) throws {
      let contract = try Contract.served(for: part).get()
      var names: [String] = []
      func follow(_ value: JSON) throws {
        _ = try contract.resolved(value)
        for member in value.objectValue ?? [] { try follow(member.value) }
        for item in value.listValue ?? [] { try follow(item) }
      }
      try follow(contract.document)
      for path in try #require(contract.document["paths"]?.objectValue) {
        for operation in try #require(path.value.objectValue) where operation.key != "parameters" {
          names.append(try #require(operation.value["operationId"]?.textValue, "\(operation.key) \(path.key)"))
          #expect(operation.value["summary"]?.textValue?.isEmpty == false, "\(operation.key) \(path.key)")
          for segment in path.key.split(separator: "/") where segment.hasPrefix("{") {
            let parameters =
              (operation.value["parameters"]?.listValue ?? []) + (path.value["parameters"]?.listValue ?? [])
            let places = try parameters.map { try contract.resolved($0) }
            #expect(
              places.contains { $0["name"]?.textValue == String(segment.dropFirst().dropLast()) && $0["in"] == "path" },
              "\(operation.key) \(path.key) does not describe \(segment)")
          }
        }
      }
      #expect(Set(names).count == names.count, "operationId is given twice")
    }

    @Test(
      "HEAD is described beside each GET: with its statuses, except for one without content, and no content",
      arguments: ["/v1/", "/api/"])
    func heads(_ part: String) throws {
      let contract = try Contract.served(for: part).get()
      for path in try #require(contract.document["paths"]?.objectValue) {
        let (get, head) = (path.value["get"]?["responses"], path.value["head"]?["responses"])
        #expect((get == nil) == (head == nil), "\(path.key)")
        #expect(get?["204"] == nil, "\(path.key)")
        for response in head?.objectValue ?? [] {
          #expect(get?[response.key] != nil || response.key == "204", "\(path.key) \(response.key)")
          let described = try contract.resolved(response.value)
          #expect(described["content"] == nil, "\(path.key) \(response.key)")
        }
      }
    }

    @Test("the items of each answer that is a sequence of them are described", arguments: ["/v1/", "/api/"])
    func sequences(_ part: String) throws {
      let contract = try Contract.served(for: part).get()
      for path in try #require(contract.document["paths"]?.objectValue) {
        for operation in try #require(path.value.objectValue) where operation.key != "parameters" {
          for response in operation.value["responses"]?.objectValue ?? [] {
            for content in try contract.resolved(response.value)["content"]?.objectValue ?? []
            where Contract.sequences.contains(content.key) {
              #expect(content.value["x-itemSchema"] != nil, "\(operation.key) \(path.key) \(content.key)")
            }
          }
        }
      }
    }

    @Test(
      "an event that is not described is found",
      arguments: [
        ("id: f.t\nevent: state\ndata: {\"fetch\":\"f\",\"token\":\"t\",\"count\":1}", ""),
        ("event: state\ndata: {\"fetch\":\"f\",\"token\":\"t\",\"count\":1}", "id is missing"),
        ("id: f.t\nevent: state\ndata: {\"fetch\":\"f\",\"count\":1}", "token is missing"),
        ("id: f.t\nevent: state\ndata: {\"fetch\":\"f\",\"token\":\"t\",\"count\":\"1\"}", "stands where"),
        ("event: feed\ndata: {\"feed\":\"n\"}", "retry is missing"), ("event: rendition\ndata: {", "not JSON"),
        ("event: rendition\ndata: {\"renditions\":[]}", "too few"), ("event: other\ndata: {}", "0 of the alternatives"),
        ("event: feed\nretry: soon\ndata: {\"feed\":\"n\"}", "stands where"),
      ])
    func wrongEvents(_ text: String, _ says: String) throws {
      let event = try #require(Contract.event(text))
      do {
        try Contract.served.get().check("GET", "/v1/feed?fetch=f", event: event)
        #expect(says.isEmpty, "nothing was found")
      } catch let breach as Contract.Breach {
        #expect(!says.isEmpty && breach.description.contains(says), "\(breach)")
      }
    }

    @Test(
      "a line that is not described is found",
      arguments: [
        ("/v1/log", "{}\n", "missing"), ("/v1/history", "{\"token\":1}\n", "missing"), ("/v1/log", "{\n", "not JSON"),
        ("/v1/changes", "{\"cursor\":\"c\"}\n{\"cursor\":2}\n", "line 1"), ("/v1/log", "[]", "no end"),
        ("/v1/changes", "{\"cursor\":\"c\"}\n", ""), ("/v1/history", "", ""),
      ])
    func wrongLines(_ target: String, _ body: String, _ says: String) throws {
      let answer = Answer(status: 200, fields: ["content-type": "application/x-ndjson"], body: body)
      do {
        try Contract.served.get().check("GET", target, answer)
        #expect(says.isEmpty, "nothing was found")
      } catch let breach as Contract.Breach {
        #expect(!says.isEmpty && breach.description.contains(says), "\(breach)")
      }
    }

    /// Opens each stream of states.
    private func stateStreams(_ gallery: TestGallery, app: String, owner: String) throws -> [(EventStream, String)] {
      let made = try gallery.ask("POST", "/v1/picking", json: [:], key: app).json()
      let session = "/v1/picking/\(try #require(made["session"] as? String))"
      return try [
        ("/v1/session/events", app), ("\(session)/events", app), ("\(session)/presentation/events", owner),
        ("/v1/requests/events", owner), ("/v1/duplicates/events", owner),
      ].map { (try EventStream(gallery, $0, key: $1), $0) }
    }

    @Test("each stream of states says once when its client comes back, and ends when the server stops")
    func stopped() async throws {
      try await TestGallery.serving { gallery in
        let streams = try stateStreams(gallery, app: try gallery.key(of: "app").secret, owner: "owner")
        #expect(Set(streams.map(\.1)).count == Router.routes.count { $0.path.hasSuffix("/events") })
        for (stream, path) in streams {
          let first = try #require(try stream.next())
          #expect(first["event"] == "state", "\(path)")
          #expect(first["retry"]?.wholeValue == Feed.retryMilliseconds, "\(path)")
        }
        try await gallery.restart()
        for (stream, path) in streams {
          // Picking sessions end with the server, so that their streams have another event.
          while let event = try stream.next() { #expect(event["retry"] == nil, "\(path)") }
          #expect(stream.hasEnded, "\(path)")
        }
      }
    }

    @Test("each stream of states ends with a problem when its key is withdrawn")
    func withdrawn() async throws {
      try await TestGallery.serving { gallery in
        func key(_ json: [String: Any]) throws -> (name: String, secret: String) {
          let key = try gallery.ask("POST", "/v1/keys", json: json).json()
          return (try #require(key["name"] as? String), try #require(key["secret"] as? String))
        }
        let (app, owner) = (
          try key(["client": "app"]), try key(["client": PhotoLibrary.owner, "scopes": ["read", "owner"]])
        )
        let streams = try stateStreams(gallery, app: app.secret, owner: owner.secret)
        for (stream, path) in streams { #expect(try stream.next()?["event"] == "state", "\(path)") }
        for key in [app, owner] { #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204) }
        for (stream, path) in streams {
          #expect(try stream.next()?["event"] == "problem", "\(path)")
          #expect(try stream.next() == nil, "\(path)")
          #expect(stream.hasEnded, "\(path)")
        }
      }
    }

    @Test(
      "an answer without a field that its description requires is found",
      arguments: [
        ("OPTIONS", "/v1/uploads", 200, "Upload-Limit"), ("HEAD", "/v1/uploads/{upload}", 204, "Upload-Offset"),
        ("PATCH", "/v1/uploads/{upload}", 204, "Upload-Complete"), ("POST", "/v1/uploads", 201, "Location"),
        ("PATCH", "/v1/uploads/{upload}", 413, "Upload-Limit"), ("PUT", "/v1/uploads", 200, "PhotoLedger-Sha256"),
      ] as [(String, String, Int, String)])
    func missingFields(_ method: String, _ path: String, _ status: Int, _ field: String) throws {
      let contract = try Contract.served.get()
      let operation = try #require(contract.document["paths"]?[path]?[method.lowercased()])
      let response = try #require(operation["responses"]?["\(status)"])
      let described = try #require(response["headers"]?.objectValue).map { $0.key.lowercased() }
      #expect(described.contains(field.lowercased()))
      var fields = Dictionary(uniqueKeysWithValues: described.map { ($0, "") })
      fields[field.lowercased()] = nil
      let target = path.replacing("{upload}", with: "a")
      let answer = Answer(status: status, fields: fields, body: "")
      let breach = #expect(throws: Contract.Breach.self) { try contract.check(method, target, answer) }
      #expect(breach?.description.contains("\(field) is missing") == true, "\(String(describing: breach))")
    }

    @Test(
      "an answer to another method than the described one, and a content of an answer to HEAD, are found",
      arguments: [
        ("GET", "/v1/uploads/a", 204, "", "not documented"), ("HEAD", "/v1/uploads/a", 206, "", "not documented"),
        ("HEAD", "/v1/keys", 200, "{}", "a content"), ("HEAD", "/v1/keys", 403, "{}", "a content"),
        ("HEAD", "/v1/blocks", 200, "", "not documented"), ("HEAD", "/v1/keys", 200, "", ""),
      ] as [(String, String, Int, String, String)])
    func otherMethods(_ method: String, _ target: String, _ status: Int, _ body: String, _ says: String) throws {
      let answer = Answer(status: status, fields: [:], body: body)
      do {
        try Contract.served.get().check(method, target, answer)
        #expect(says.isEmpty, "nothing was found")
      } catch let breach as Contract.Breach {
        #expect(!says.isEmpty && breach.description.contains(says), "\(breach)")
      }
    }

    @Test(
      "an accepted body that is not described is found",
      arguments: [
        ("/v1/blocks", #"{"changes":[{"op":"asset.trash","assets":["a"],"colour":1}]}"#, "colour is not documented"),
        ("/v1/blocks", #"{"changes":[{"op":"asset.trash"}]}"#, "assets is missing"),
        ("/v1/blocks", #"{"changes":[{"op":"asset.paint"}]}"#, "'asset.paint' is not described"),
        ("/v1/blocks", #"{"changes":[{"op":"album.removeAt","album":"a","indexes":[1,1]}]}"#, "twice"),
        ("/v1/keys", #"{"client":"a","days":0}"#, "too small"), ("/v1/picking/a/taps", "{}", "0 members"),
        ("/v1/blocks", #"{"changes":[{"op":"asset.trash","assets":["$a"]}]}"#, ""), ("/v1/uploads", "1", ""),
      ])
    func acceptedBodies(_ target: String, _ body: String, _ says: String) throws {
      do {
        try Contract.served.get().check(accepted: Array(body.utf8), "POST", target)
        #expect(says.isEmpty, "nothing was found")
      } catch let breach as Contract.Breach {
        #expect(!says.isEmpty && breach.description.contains(says), "\(breach)")
      }
    }

    @Test("an asset and a collection are described with all their properties")
    func objects() throws {
      let schemas = try #require(Contract.served.get().document["components"]?["schemas"])
      func described(_ name: String) throws -> (all: Set<String>, required: Set<String>) {
        let schema = try #require(schemas[name])
        let all = try #require(schema["properties"]?.objectValue).map(\.key)
        return (Set(all), Set(try #require(schema["required"]?.textsValue)))
      }
      let (asset, collection) = (try described("Asset"), try described("Collection"))
      let printed = Set(AssetProperty.printed.map(\.name)).union(["resources"])
      #expect(asset.required == printed && asset.all == printed.union(["albums"]))
      let properties = Set(CollectionProperty.printed.map { "\($0.name)" })
      #expect(collection.required == properties && collection.all == properties)
    }

    @Test(
      "an answer that is not described is found",
      arguments: [
        (200, "application/json", #"{"keys":"none"}"#, "stands where"), (200, "application/json", "{}", "missing"),
        (200, "application/json", "{", "not JSON"), (200, "text/html", "<p>", "content type"),
        (202, "application/json", "{}", "not documented"), (500, "application/json", "{}", "not documented"),
        (403, "application/json", "{}", "content type"),
        (403, "application/problem+json", #"{"type":"urn:photoledger:problem:x","status":403,"detail":"a"}"#, "list"),
      ] as [(Int, String, String, String)])
    func breaches(_ status: Int, _ type: String, _ body: String, _ says: String) throws {
      let answer = Answer(status: status, fields: ["content-type": type], body: body)
      do {
        try Contract.served.get().check("GET", "/v1/keys", answer)
        Issue.record("nothing was found")
      } catch let breach as Contract.Breach {
        #expect(breach.description.contains(says), "\(breach)")
      }
    }
  }
#endif
