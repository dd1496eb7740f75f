#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @testable import GalleryServer

  @Suite("Requests whose key is withdrawn before their body has come")
  struct WithdrawnBodyTests {
    @Test(
      "do nothing, and are answered as without a key",
      arguments: [
        ("/v1/keys", #"{"client": "app"}"#), ("/v1/people", #"{"name": "eve", "client": "app"}"#),
        ("/v1/blocks", #"{"ops": [{"op": "album.create", "title": "late"}]}"#), ("/v1/undo", #"{"all": true}"#),
      ])
    func late(path: String, body: String) async throws {
      try await TestGallery.serving { gallery in
        let made = try gallery.ask(
          "POST", "/v1/keys", json: ["client": PhotoLibrary.owner, "scopes": ["read", "change", "owner"]])
        let key = (
          name: try #require(try made.json()["name"] as? String),
          secret: try #require(try made.json()["secret"] as? String)
        )
        let before = try gallery.ask("GET", "/v1/keys").body
        let token = try gallery.library.currentToken
        let client = try RawClient(port: gallery.address.port)
        client.send(
          try gallery.head(
            "POST", path, key: key.secret,
            [
              "Connection: close", "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
              "Expect: 100-continue",
            ]))
        // The head was judged by then.
        #expect(client.read(through: "\r\n\r\n").contains("100 Continue"))
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        client.send(body)
        let answer = client.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 401"), "\(answer)")
        #expect(try gallery.library.currentToken == token)
        #expect(try !gallery.ask("GET", "/v1/keys").body.contains("\"app\"") && before.contains(key.name))
      }
    }
  }
#endif
