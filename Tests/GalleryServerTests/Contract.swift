#if Gallery
  import Foundation
  @testable import GalleryServer
  import LibraryJSON
  import PhotoLedger
  import Testing

  /// Checks answers against the API's description: what of JSON Schema it uses, and nothing else.
  struct Contract {
    private let document: JSON

    init() throws { document = try JSONReader.read(PackageResources.openapi_json) }

    /// Why an answer is not one that the description has for a route; nil if it is.
    func complaint(about answer: Answer, to method: String, _ path: String) -> String? {
      guard let operation = document["paths"]?[path]?[method.lowercased()] else { return "the route is not described" }
      let responses = operation["responses"]
      guard var response = responses?["\(answer.status)"] ?? responses?["default"] else {
        return "the status \(answer.status) is not described"
      }
      response = resolved(response)
      if answer.status == 304 || answer.status == 204 { return answer.body.isEmpty ? nil : "there is a body" }
      let type = (answer.fields["content-type"] ?? "").prefix { $0 != ";" }
      guard let media = response["content"]?[String(type)] else { return "'\(type)' is not described" }
      guard type.hasSuffix("json"), let schema = media["schema"] else { return nil }
      guard let value = try? JSONReader.read(Array(answer.body.utf8)) else { return "the body is not JSON" }
      return complaint(about: value, schema, at: "$")
    }

    private func resolved(_ schema: JSON) -> JSON {
      guard let reference = schema["$ref"]?.textValue else { return schema }
      return reference.dropFirst(2).split(separator: "/").reduce(document) { $0[String($1)] ?? .null }
    }

    private func complaint(about value: JSON, _ schema: JSON, at place: String) -> String? {
      let schema = resolved(schema)
      if let types = schema["type"]?.textsValue ?? schema["type"]?.textValue.map({ [$0] }),
        !types.contains(where: { isOf($0, value) })
      {
        return "\(place) is \(value.kind), not \(types.joined(separator: " or "))"
      }
      if let cases = schema["enum"]?.listValue, !cases.contains(value) { return "\(place) is none of its cases" }
      if let only = schema["const"], only != value { return "\(place) is not \(only)" }
      if let all = schema["allOf"]?.listValue {
        for part in all { if let found = complaint(about: value, part, at: place) { return found } }
      }
      if let any = schema["anyOf"]?.listValue, any.allSatisfy({ complaint(about: value, $0, at: place) != nil }) {
        return "\(place) is nothing of anyOf"
      }
      if let least = schema["minimum"]?.numberValue, let number = value.numberValue, number < least {
        return "\(place) is less than \(least)"
      }
      return complaint(aboutMembersOf: value, schema, at: place) ?? complaint(aboutItemsOf: value, schema, at: place)
    }

    private func isOf(_ type: String, _ value: JSON) -> Bool {
      switch (type, value) {
      case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
        ("string", .text), ("array", .list), ("object", .object):
        true
      default: false
      }
    }

    private func complaint(aboutMembersOf value: JSON, _ schema: JSON, at place: String) -> String? {
      guard let members = value.objectValue else { return nil }
      for key in schema["required"]?.textsValue ?? [] where value[key] == nil { return "\(place) lacks '\(key)'" }
      for member in members {
        if let part = schema["properties"]?[member.key] {
          if let found = complaint(about: member.value, part, at: "\(place).\(member.key)") { return found }
        } else if let others = schema["additionalProperties"] {
          if others == false { return "\(place) has '\(member.key)', which is not described" }
          if let found = complaint(about: member.value, others, at: "\(place).\(member.key)") { return found }
        }
      }
      return nil
    }

    private func complaint(aboutItemsOf value: JSON, _ schema: JSON, at place: String) -> String? {
      guard let values = value.listValue else { return nil }
      if let most = schema["maxItems"]?.wholeValue, values.count > most { return "\(place) has too many items" }
      if let least = schema["minItems"]?.wholeValue, values.count < least { return "\(place) has too few items" }
      let first = schema["prefixItems"]?.listValue ?? []
      for (index, item) in values.enumerated() {
        guard let part = index < first.count ? first[index] : schema["items"] else { continue }
        if let found = complaint(about: item, part, at: "\(place)[\(index)]") { return found }
      }
      return nil
    }
  }

  @Suite("Answers and their description")
  struct ContractTests {
    @Test("the answers of blocks, undo, the log and its questions, fetches and changes are those of the description")
    func answers() async throws {
      let contract = try Contract()
      try await TestGallery.serving { gallery in
        let (ids, album) = try await gallery.live()
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        try await gallery.library.performChanges { $0.deleteAssets([ids[1]]) }
        let (asset, name) = (ids[0].uuidString, fetch.name)
        let changes = "fetch=\(name)&after=\(fetch.token)&sections=month"
        for (path, target) in [
          ("/v1/log", "/v1/log?reverse=true"), ("/v1/log", "/v1/log?limit=1"), ("/v1/log", "/v1/log?limit=0"),
          ("/v1/history", "/v1/history"), ("/v1/history", "/v1/history?limit=1"),
          ("/v1/history", "/v1/history?since=x"),
          ("/v1/objects/{object}/history", "/v1/objects/\(asset)/history"),
          ("/v1/objects/{object}/history", "/v1/objects/none/history"),
          ("/v1/objects/{object}/access", "/v1/objects/\(asset)/access"),
          ("/v1/clients/{client}/access", "/v1/clients/app/access"),
          ("/v1/collections/{collection}/blame", "/v1/collections/\(album.uuidString)/blame?limit=2"),
          ("/v1/checkpoint", "/v1/checkpoint"), ("/v1/proofs/inclusion", "/v1/proofs/inclusion?sequence=1"),
          ("/v1/proofs/consistency", "/v1/proofs/consistency?earlier=1"),
          ("/v1/proofs/consistency", "/v1/proofs/consistency"),
          ("/v1/fetches/{fetch}", "/v1/fetches/\(name)"), ("/v1/fetches/{fetch}/items", "/v1/fetches/\(name)/items"),
          ("/v1/fetches/{fetch}/items", "/v1/fetches/\(name)/items?form=columns"),
          ("/v1/fetches/{fetch}/sections", "/v1/fetches/\(name)/sections"),
          ("/v1/fetches/{fetch}/changes", "/v1/fetches/\(name)/changes?after=\(fetch.token)&sections=day"),
          ("/v1/fetches/{fetch}/diff", "/v1/fetches/\(name)/diff?from=\(fetch.token)"),
          ("/v1/changes", "/v1/changes?\(changes)"), ("/v1/changes", "/v1/changes?fetch=\(name)"),
          ("/v1/assets/{asset}", "/v1/assets/\(asset)?at=\(fetch.token)"), ("/v1/collections", "/v1/collections"),
        ] {
          let answer = try gallery.ask("GET", target)
          #expect(contract.complaint(about: answer, to: "GET", path) == nil, "\(target): \(answer)")
        }
        let creation = ["changes": [["op": "album.create", "title": "Lake"]]]
        for (path, body) in [
          ("/v1/blocks", creation as [String: Any]), ("/v1/blocks", creation), ("/v1/blocks", [:]),
          ("/v1/undo", ["cause": "sorting", "plan": true]), ("/v1/undo", ["cause": "sorting", "onConflict": "force"]),
          ("/v1/undo", [:]), ("/v1/fetches", ["mediaTypes": ["image"]]), ("/v1/fetches", ["colour": 1]),
        ] {
          let answer = try gallery.ask("POST", path, json: body, path == "/v1/blocks" ? ["Idempotency-Key: k"] : [])
          #expect(contract.complaint(about: answer, to: "POST", path) == nil, "\(path) \(body): \(answer)")
        }
      }
    }

    @Test("what the description does not have is found")
    func strict() throws {
      let contract = try Contract()
      func complaint(_ body: String, _ path: String, _ status: Int = 200) -> String? {
        let answer = Answer(status: status, fields: ["content-type": "application/json"], body: body)
        return contract.complaint(about: answer, to: "GET", path)
      }
      #expect(complaint(#"{"records":[],"next":null}"#, "/v1/log") == nil)
      for body in [#"{"records":[]}"#, #"{"records":[1],"next":null}"#, #"{"records":[],"next":true}"#, "[]", "{"] {
        #expect(complaint(body, "/v1/log") != nil)
      }
      #expect(complaint("{}", "/v1/none") != nil)
      #expect(complaint(#"{"type":"other","status":400,"detail":""}"#, "/v1/log", 400) != nil)
    }
  }

  @Suite("What a limited client cannot tell")
  struct TwinTests {
    /// Everything of an answer but the time at which it was sent.
    private func seen(_ answer: Answer) -> String {
      let fields = answer.fields.filter { $0.key != "date" }.sorted { $0.key < $1.key }
      return "\(answer.status) \(fields) \(answer.body)"
    }

    /// The answers to a limited client, after something that it does not see.
    private func answers(_ hidden: (TestGallery, [LocalIdentifier], LocalIdentifier) async throws -> Void) async throws
      -> [String: String]
    {
      var answers: [String: String] = [:]
      try await TestGallery.serving { gallery in
        let (ids, album) = try await gallery.live()
        let app = try gallery.key(of: "app")
        let before = try gallery.fetch(key: app.secret)
        try await hidden(gallery, ids, album)
        let (name, none) = (before.name, "00000000-0000-0000-0000-000000000000")
        var targets = [
          "/v1/fetches/\(name)", "/v1/fetches/\(name)/items", "/v1/fetches/\(name)/items?form=columns",
          "/v1/fetches/\(name)/items?at=\(before.token)", "/v1/fetches/\(name)?at=3", "/v1/fetches/\(name)?at=99",
          "/v1/fetches/\(name)/changes?after=\(before.token)", "/v1/changes?fetch=\(name)&after=\(before.token)",
          "/v1/fetches/\(name)/diff?from=\(before.token)", "/v1/fetches/\(name)?at=2999-01-01", "/v1/collections",
          "/v1/history", "/v1/history?limit=1", "/v1/log", "/v1/log?limit=1", "/v1/checkpoint",
          "/v1/collections:diff?from=\(before.token)", "/metrics",
          "/v1/proofs/inclusion?sequence=12", "/v1/proofs/consistency?earlier=12", "/v1/clients/app/access", "/v1/keys",
        ]
        for object in ids.map(\.uuidString) + [album.uuidString, none] {
          targets += ["/v1/assets/\(object)", "/v1/objects/\(object)/history", "/v1/objects/\(object)/access"]
          targets += ["/v1/collections/\(object)/blame", "/v1/collections?folder=\(object)"]
        }
        for target in targets { answers[target] = seen(try gallery.ask("GET", target, key: app.secret)) }
        for object in ids[1...].map(\.uuidString) + [none] {
          let edit: [String: Any] = ["op": "asset.edit", "assets": [object], "isFavorite": true]
          answers["edit \(object)"] = seen(
            try gallery.ask("POST", "/v1/blocks", json: ["changes": [edit]], key: app.secret))
        }
        let undo = ["all": true, "plan": true]
        answers["undo"] = seen(try gallery.ask("POST", "/v1/undo", json: undo, key: app.secret))
        let fetch = ["album": album.uuidString]
        answers["album"] = seen(try gallery.ask("POST", "/v1/fetches", json: fetch, key: app.secret))
      }
      return answers
    }

    @Test("libraries that differ outside its view give it the same answers, byte for byte")
    func twins() async throws {
      let plain = try await answers { _, _, _ in }
      let other = try await answers { gallery, ids, album in
        let library = gallery.library
        try await library.performChanges { $0.setFavorite(true, for: [ids[4]]) }
        try await library.performChanges { $0.deleteAssets([ids[5]]) }
        try await library.performChanges { change in
          change.setTitle("Lake", of: album)
          change.album(album).add([ids[2]])
        }
        try await library.performChanges { $0.purgeAssets([ids[5]]) }
        try await gallery.makeAssets(5, from: 200)
      }
      #expect(plain.count > 50 && plain.keys.sorted() == other.keys.sorted())
      for (target, answer) in plain { #expect(other[target] == answer, "\(target)") }
    }
  }
#endif
