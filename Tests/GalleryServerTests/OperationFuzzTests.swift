#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Generated requests")
  struct OperationFuzzTests {
    private static let paths = [
      "/v1/log", "/v1/history", "/v1/objects/{object}/history", "/v1/objects/{object}/access",
      "/v1/clients/{client}/access", "/v1/collections/{collection}/blame", "/v1/fetches/{fetch}/diff",
      "/v1/collections:diff", "/v1/proofs/inclusion", "/v1/proofs/consistency", "/v1/fetches/{fetch}",
      "/v1/fetches/{fetch}/items", "/v1/fetches/{fetch}/sections", "/v1/fetches/{fetch}/changes", "/v1/changes",
      "/v1/assets/{asset}", "/v1/collections",
    ]
    private static let names = [
      "at", "after", "asset", "album", "client", "cause", "kind", "from", "to", "reverse", "limit", "cursor", "since",
      "start", "count", "form", "by", "timeZone", "sections", "fetch", "token", "former", "sequence", "size", "earlier",
      "record", "where", "sort", "trash", "folder", "colour",
    ]

    @Test("a mutated body is executed or rejected, and ends nothing", arguments: [1, 2, 3])
    func bodies(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        let ids = try await gallery.makeAssets(4)
        let token = try gallery.library.currentToken
        let fetch = try gallery.fetch()
        let feed = try FeedClient(gallery, "fetch=\(fetch.name)")
        _ = try feed.next()
        let bodies: [(String, String)] = [
          ("/v1/blocks", #"{"changes":[{"op":"album.create","title":"Sea","as":"$a"}],"cause":"x","key":"k"}"#),
          ("/v1/blocks", #"{"changes":[{"op":"asset.edit","assets":["\#(ids[0])"],"rating":5,"location":null}]}"#),
          ("/v1/blocks", #"{"changes":[{"op":"asset.create","mediaType":"image","resources":[{"data":"YQ=="}]}]}"#),
          ("/v1/blocks", #"{"changes":[{"op":"smartAlbum.create","title":"B","where":"rating >= 4","sort":["x"]}]}"#),
          ("/v1/undo", #"{"from":"\#(token)","objects":["\#(ids[1])"],"onConflict":"skip","plan":true}"#),
          ("/v1/fetches", #"{"where":"pixelWidth > 4","sort":["creationDate:desc"],"mediaTypes":["image"],"limit":3}"#),
          ("/v1/feeds/\(feed.feed)/fetches", #"{"fetch":"\#(fetch.name)","after":"\#(token)"}"#),
        ]
        for _ in 0..<150 {
          let (path, body) = try #require(bodies.randomElement(using: &random))
          var bytes = Array(body.utf8)
          for _ in 0..<Int.random(in: 1...3, using: &random) { Self.change(&bytes, &random) }
          let answer = try gallery.post(path, bytes)
          #expect(answer.status < 500, "\(path) \(String(decoding: bytes, as: UTF8.self)): \(answer)")
        }
        #expect(try gallery.ask("GET", "/readyz").status == 200)
      }
    }

    private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
      let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
      guard place < bytes.count else { return bytes.append(0x7B) }
      let end = min(bytes.count, place + Int.random(in: 1...8, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 3: bytes.insert(contentsOf: "99999999999999999999".utf8, at: place)
      default: bytes.insert(contentsOf: ["\"", "[", "{", "\\u0000", "null", "-1", "$"][place % 7].utf8, at: place)
      }
    }

    @Test("a generated query is answered or rejected, and ends nothing", arguments: [1, 2, 3])
    func queries(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        let (ids, album) = try await gallery.live()
        let app = try gallery.key(of: "app")
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        let values = [
          "0", "1", "3", "99999999", "9223372036854775807", "18446744073709551615", "99999999999999999999", "-1", "",
          "true", "now", "day", "2024-05-31", "9999-12-31", "0000-01-01", "2024-05-31T18:30:00Z", "Asia/Tokyo", "app",
          "columns", "assets.edited", "creationDate:desc", "isFavorite%20%3D%3D%20YES", "%22", "%C3%A4", "%2F", "..%2F",
          fetch.name, fetch.token, "\(fetch.name).\(fetch.token)", ids[0].uuidString, album.uuidString, "x,y.z",
          "t1-0000000000000000-1", "v1-0000000000000000-0000000000000000-1", String(repeating: "a", count: 3000),
        ]
        for _ in 0..<200 {
          var target = try #require(Self.paths.randomElement(using: &random))
          while let open = target.firstIndex(of: "{"), let close = target.firstIndex(of: "}") {
            let value = try #require(values.randomElement(using: &random))
            target.replaceSubrange(open...close, with: value.isEmpty ? "x" : value)
          }
          let pairs = try (0..<Int.random(in: 0...3, using: &random)).map { _ in
            let name = try #require(Self.names.randomElement(using: &random))
            return "\(name)=\(try #require(values.randomElement(using: &random)))"
          }
          if !pairs.isEmpty { target += "?" + pairs.joined(separator: "&") }
          let key = Bool.random(using: &random) ? "owner" : app.secret
          let fields = Bool.random(using: &random) ? ["Accept: application/x-ndjson"] : []
          let answer = try gallery.ask("GET", target, key: key, fields)
          #expect(answer.status < 500, "\(target.prefix(300)): \(answer)")
        }
        #expect(try gallery.ask("GET", "/readyz").status == 200)
      }
    }
  }
#endif
