#if Gallery
  import Foundation
  @testable import GalleryServer
  import LibraryJSON
  import Testing

  @Suite("The description of the API")
  struct ContractTests {
    @Test("each route is described, and each described operation is a route", arguments: ["/v1/", "/api/"])
    func routes(_ part: String) throws {
      let described = Set(try Contract.served(for: part).get().documented.map { "\($0.method) \($0.path)" })
      let all = part == "/api/" ? ImmichClientRoutes.all : Router.routes
      let routes = Set(all.map { "\($0.method) \($0.path)" })
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
      "an answer that is not described is found",
      arguments: [
        (200, "application/json", #"{"keys":"none"}"#, "stands where"), (200, "application/json", "{}", "missing"),
        (200, "application/json", "{", "not JSON"), (200, "text/html", "<p>", "content type"),
        (202, "application/json", "{}", "not documented"), (500, "application/json", "{}", "content type"),
        (404, "application/problem+json", #"{"type":"urn:photoledger:problem:x","status":404,"detail":"a"}"#, "list"),
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
