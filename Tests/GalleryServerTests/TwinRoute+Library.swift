#if Gallery
  import Foundation
  @testable import GalleryServer
  import JSONReading
  import LibraryJSON
  import MediaImport
  import PhotoLedger

  // Fetches, feeds, change blocks, the log, and bytes that are sent.

  extension TwinRoute {
    // MARK: Fetches

    /// Fetches of lists: JSON and the names.
    static let fetching: [TwinRoute] = [
      TwinRoute("POST /v1/fetches") { visitor in
        try visitor.fetch()
        let strangers = visitor.albums.map { #"{"album":"\#($0)"}"# }
        let bodies =
          [
            #"{"where":"isFavorite == YES"}"#, #"{"where":"path BEGINSWITH \"/\""}"#, #"{"log":true}"#,
            #"{"search":"hidden"}"#, #"{"trash":true}"#, #"{"hidden":true,"allBursts":true,"allStacks":true}"#,
            #"{"collections":"all"}"#, #"{"collections":"top"}"#, #"{"selectionOf":"hidden client"}"#,
            #"{"selectionOf":"none"}"#, #"{"smartAlbum":"smartAlbumRecentlyAdded"}"#, #"{"limit":1,"offset":1}"#,
          ] + visitor.albums.map { #"{"collections":"\#($0)"}"# }
        try visitor.ask("POST", each: ["/v1/fetches"], strangers + bodies)
        try visitor.ask("POST", each: visitor.moments.map { "/v1/fetches?at=\($0)" }, ["{}"])
      },
      TwinRoute("GET /v1/fetches/{fetch}") { visitor in
        try visitor.ask("GET", each: visitor.fetches.map { "/v1/fetches/\($0)" })
        try atStates(visitor, "")
      },
      TwinRoute("GET /v1/fetches/{fetch}/items") { visitor in
        try visitor.ask("GET", each: visitor.fetches.map { "/v1/fetches/\($0)/items" })
        try atStates(visitor, "items")
        let (fetch, token) = try visitor.fetch(["sort": ["creationDate:desc"]])
        let path = "/v1/fetches/\(fetch)/items"
        // The second time it is encoded already.
        for _ in 0..<2 { try visitor.get("\(path)?form=columns&token=\(token)") }
        try visitor.get("\(path)?form=columns&start=1&count=2")
        for query in ["", "?count=2", "?start=1&count=1"] {
          try visitor.ask("GET", path + query, nil, ["Accept: application/x-ndjson"])
        }
      },
      TwinRoute("GET /v1/fetches/{fetch}/sections") { visitor in
        try visitor.ask("GET", each: visitor.fetches.map { "/v1/fetches/\($0)/sections" })
        let (fetch, token) = try visitor.fetch(["sort": ["creationDate:desc"]])
        for _ in 0..<2 { try visitor.get("/v1/fetches/\(fetch)/sections?by=day&token=\(token)") }
        try atStates(visitor, "sections")
      },
      TwinRoute("GET /v1/fetches/{fetch}/index") { visitor in
        let (fetch, token) = try visitor.fetch()
        let paths = try visitor.fetches.map { "/v1/fetches/\($0)/index?asset=\(visitor.strangers[0])" }
        let own = visitor.assets.flatMap { asset in
          ["", "&token=\(token)", "&at=1"].map { "/v1/fetches/\(fetch)/index?asset=\(asset)\($0)" }
        }
        try visitor.ask("GET", each: paths + own)
      },
      TwinRoute("GET /v1/fetches/{fetch}/shapes") { visitor in
        try visitor.ask("GET", each: visitor.fetches.map { "/v1/fetches/\($0)/shapes" })
        try atStates(visitor, "shapes")
        try visitor.get("/v1/fetches/\(visitor.fetch().name)/shapes?start=1&count=2")
      },
      TwinRoute("GET /v1/assets/{asset}") { visitor in
        let paths = (visitor.assets + visitor.made.suffix(1)).map { "/v1/assets/\($0)" }
        for path in paths { try visitor.get(path) }
        try visitor.ask("GET", each: visitor.moments.flatMap { at in paths.map { "\($0)?at=\(at)" } })
      },
      TwinRoute("GET /v1/collections") { visitor in
        try visitor.get("/v1/collections")
        try visitor.ask("GET", each: visitor.albums.map { "/v1/collections?folder=\($0)" })
        try visitor.ask("GET", each: visitor.moments.map { "/v1/collections?at=\($0)" })
      },
    ]

    /// Asks for the list of everything at states and moments that the client may know.
    private static func atStates(_ visitor: TwinVisitor, _ part: String) throws {
      let (fetch, token) = try visitor.fetch()
      let path = "/v1/fetches/\(fetch)" + (part.isEmpty ? "" : "/\(part)")
      try visitor.get("\(path)?token=\(token)")
      let known = visitor.tokens.suffix(2).map { "\(path)?token=\($0)" } + ["\(path)?token=none"]
      // A window is of now or of a token.
      try visitor.ask("GET", each: known + visitor.moments.map { "\(path)?at=\($0)" })
    }

    // MARK: Feeds

    static let feeds: [TwinRoute] = [
      TwinRoute("GET /v1/feed") { visitor in
        let (fetch, token) = try visitor.fetch()
        let earlier = visitor.tokens.first ?? "none"
        try visitor.ask("GET", "/v1/feed?fetch=\(fetch)&after=\(token)")
        try visitor.ask("HEAD", "/v1/feed?fetch=\(fetch)")
        // The first event names the stream, the second one is the list or a problem.
        for name in try visitor.fetches {
          let target = "/v1/feed?fetch=\(name)"
          try second(of: try visitor.ask("GET", target), visitor, target)
        }
        // From an earlier state something is sent only if there was a change.
        let change = try visitor.ask("GET", "/v1/changes?fetch=\(fetch)&after=\(earlier)")
        guard change.json?["messages"]?.listValue?.isEmpty == false else { return }
        let target = "/v1/feed?fetch=\(fetch)&after=\(earlier)&sections=day"
        try second(of: try visitor.ask("GET", target), visitor, target)
        let cursor = "Last-Event-ID: \(fetch).\(earlier)"
        try second(of: try visitor.ask("GET", "/v1/feed", nil, [cursor]), visitor, "/v1/feed \(cursor)")
      },
      TwinRoute("POST /v1/feeds/{feed}/fetches") { visitor in
        try inFeed(visitor) { feed, answer in
          for fetch in try visitor.fetches.dropFirst(visitor.albums.count) where fetch != "none" {
            let added = try visitor.ask("POST", "/v1/feeds/\(feed)/fetches", #"{"fetch":"\#(fetch)"}"#)
            guard added.status == 201 else { continue }
            try second(of: answer, visitor, "/v1/feed with \(fetch)")
            try visitor.ask("DELETE", "/v1/feeds/\(feed)/fetches/\(fetch)")
          }
          try visitor.ask("POST", "/v1/feeds/none/fetches", #"{"fetch":"none"}"#)
        }
      },
      TwinRoute("DELETE /v1/feeds/{feed}/fetches/{fetch}") { visitor in
        try inFeed(visitor) { feed, _ in
          let fetch = try visitor.fetch().name
          for _ in 0..<2 { try visitor.ask("DELETE", "/v1/feeds/\(feed)/fetches/\(fetch)") }
          try visitor.ask("DELETE", "/v1/feeds/none/fetches/\(fetch)")
        }
      },
      TwinRoute("GET /v1/changes") { visitor in
        let fetch = try visitor.fetch().name
        let (fetches, earlier) = (try visitor.fetches, visitor.tokens.first ?? "none")
        try visitor.ask("GET", each: fetches.map { "/v1/changes?fetch=\($0)" })
        try visitor.ask("GET", each: fetches.prefix(12).map { "/v1/changes?fetch=\($0)&after=\(earlier)" })
        let target = "/v1/changes?cursor=\(fetch).\(earlier)&sections=month"
        try visitor.ask("GET", target)
        try visitor.ask("GET", target, nil, ["Accept: application/x-ndjson"])
      },
      TwinRoute("GET /v1/fetches/{fetch}/changes") { visitor in
        let fetch = try visitor.fetch().name
        let own = (visitor.tokens + ["none"]).map { "/v1/fetches/\(fetch)/changes?after=\($0)" }
        let earlier = visitor.tokens.first ?? "none"
        try visitor.ask("GET", each: own + visitor.fetches.map { "/v1/fetches/\($0)/changes?after=\(earlier)" })
      },
    ]

    /// Opens a feed that has nothing to send, since the client holds the state of now.
    private static func inFeed(_ visitor: TwinVisitor, _ use: (String, TwinAnswer) throws -> Void) throws {
      let (fetch, token) = try visitor.fetch()
      let answer = try visitor.ask("GET", "/v1/feed?fetch=\(fetch)&after=\(token)")
      let event = String(decoding: answer.body, as: UTF8.self)
      let data = event.split(separator: "\n").first { $0.hasPrefix("data: ") }
      let feed = try data.flatMap { try JSONReader.read(Array($0.dropFirst(6).utf8))["feed"]?.textValue }
      try use(feed ?? "none", answer)
    }

    /// Writes down the next event of a feed.
    private static func second(of answer: TwinAnswer, _ visitor: TwinVisitor, _ question: String) throws {
      guard answer.status == 200, let event = answer.stream?.event() else { return }
      try visitor.write(event, to: "the next event of \(question)", "GET", "/v1/feed", 200)
    }

    // MARK: Changes

    static let blocks: [TwinRoute] = [
      TwinRoute("POST /v1/blocks") { visitor in
        if visitor.album.isEmpty {
          let block = #"{"changes":[{"op":"album.create","title":"Own"}]}"#
          visitor.album = created(try visitor.ask("POST", "/v1/blocks", block)) ?? ""
        }
        let data = Data("made by \(visitor.name) at \(visitor.look)".utf8).base64EncodedString()
        let resource = #"{"type":"photo","originalFilename":"a.jpg","data":"\#(data)"}"#
        let block = #"{"changes":[{"op":"asset.create","mediaType":"image","resources":[\#(resource)]}]}"#
        for _ in 0..<2 {
          // The second time it is the receipt of the first.
          let made = created(try visitor.ask("POST", "/v1/blocks", block, ["Idempotency-Key: \(visitor.look)"]))
          if let made { visitor.made.append(made) }
        }
        for change in changes(visitor) {
          try visitor.ask("POST", "/v1/blocks", #"{"changes":[\#(change)],"cause":"hidden"}"#)
        }
      },
      TwinRoute("POST /v1/undo", refusal: fullAccess) { visitor in
        let selections =
          visitor.tokens.suffix(1).map { #""commit":"\#($0)""# }
          + visitor.strangers.map { #""objects":["\#($0)"]"# }
          + [#""all":true"#, #""client":"hidden client""#, #""client":"\#(visitor.name)""#, #""cause":"hidden""#]
        for selection in selections {
          try visitor.ask("POST", each: ["/v1/undo"], [#"{\#(selection),"plan":true}"#, "{\(selection)}"])
        }
      },
    ]

    /// The identifier that a block made.
    private static func created(_ answer: TwinAnswer) -> String? {
      answer.json?["created"]?.textsValue?.first.map { String($0.prefix { $0 != "/" }) }
    }

    /// Operations with what the client sees, what is hidden from it, and what does not exist.
    private static func changes(_ visitor: TwinVisitor) -> [String] {
      let seen = visitor.twin.visible[1].uuidString
      let album = visitor.album.isEmpty ? "none" : visitor.album
      let ofAssets = (visitor.strangers + [seen, visitor.made.last ?? "none"]).flatMap { asset in
        [
          #"{"op":"asset.edit","assets":["\#(asset)"],"isFavorite":true}"#,
          #"{"op":"asset.edit","assets":["\#(seen)","\#(asset)"],"rating":3}"#,
          #"{"op":"album.add","album":"\#(album)","assets":["\#(asset)"]}"#,
          #"{"op":"album.insert","album":"\#(album)","assets":["\#(asset)"],"index":0}"#,
          #"{"op":"album.remove","album":"\#(album)","assets":["\#(asset)"]}"#,
          #"{"op":"album.cover","album":"\#(album)","asset":"\#(asset)"}"#,
          #"{"op":"asset.stack","top":"\#(seen)","assets":["\#(asset)"]}"#,
          #"{"op":"asset.merge","asset":"\#(seen)","others":["\#(asset)"]}"#,
          #"{"op":"client.grant","client":"\#(visitor.name)","assets":["\#(asset)"]}"#,
        ]
      }
      let ofStrangers = visitor.strangers.flatMap { asset in
        ["trash", "restore", "purge", "unstack"].map { #"{"op":"asset.\#($0)","assets":["\#(asset)"]}"# }
      }
      let ofAlbums = (visitor.twin.probe.albums.prefix(2) + TwinVisitor.nonsense).flatMap { stranger in
        [
          #"{"op":"album.add","album":"\#(stranger)","assets":["\#(seen)"]}"#,
          #"{"op":"album.rename","album":"\#(stranger)","title":"mine"}"#,
          #"{"op":"album.delete","albums":["\#(stranger)"]}"#,
          #"{"op":"folder.add","folder":"\#(stranger)","collections":["\#(album)"]}"#,
          #"{"op":"folder.insert","folder":null,"collections":["\#(stranger)"],"index":0}"#,
          #"{"op":"client.follow","client":"\#(visitor.name)","album":"\#(stranger)"}"#,
        ]
      }
      // Hidden members of the client's own album must not count.
      let places = [
        #"{"op":"album.insert","album":"\#(album)","assets":["\#(seen)"],"index":1}"#,
        #"{"op":"album.insert","album":"\#(album)","assets":["\#(seen)"],"index":99}"#,
        #"{"op":"album.removeAt","album":"\#(album)","indexes":[3]}"#,
        #"{"op":"album.removeAt","album":"\#(album)","indexes":[0]}"#,
        #"{"op":"album.moveAt","album":"\#(album)","indexes":[0],"to":1}"#,
      ]
      let ofHashes = visitor.hashes.map { hash in
        let resource = #"{"type":"photo","originalFilename":"a.jpg","sha256":"\#(hash)"}"#
        return #"{"op":"asset.create","mediaType":"image","resources":[\#(resource)]}"#
      }
      let ofClients = ["hidden client", "none", visitor.name].map {
        #"{"op":"client.authorize","client":"\#($0)","status":"authorized","level":"readWrite"}"#
      }
      return ofAssets + ofStrangers + ofAlbums + places + ofHashes + ofClients
    }

    // MARK: The log

    static let logs: [TwinRoute] = [
      TwinRoute("GET /v1/log", refusal: fullAccess) { visitor in
        let queries = ["", "?reverse=true&limit=2", "?asset=\(visitor.strangers[0])", "?client=hidden%20client"]
        try visitor.ask("GET", each: queries.map { "/v1/log" + $0 })
      },
      TwinRoute("GET /v1/history") { visitor in
        let states = visitor.tokens.suffix(3).flatMap { token in
          ["since=\(token)", "since=\(token)&limit=1", "since=\(token)&reverse=true", "reverse=true&cursor=\(token)"]
        }
        let queries = ["", "limit=2", "reverse=true", "reverse=true&limit=2", "since=none"] + states
        try visitor.ask("GET", each: (queries + visitor.moments.map { "at=\($0)" }).map { "/v1/history?" + $0 })
        for query in ["", "?reverse=true&limit=3"] {
          try visitor.ask("GET", "/v1/history" + query, nil, ["Accept: application/x-ndjson"])
        }
      },
      TwinRoute("GET /v1/fetches/{fetch}/diff") { visitor in
        let fetch = try visitor.fetch().name
        let own = visitor.moments.flatMap { from in
          ["", "&to=\(visitor.tokens.first ?? "none")", "&to=5"].map { "/v1/fetches/\(fetch)/diff?from=\(from)\($0)" }
        }
        let earlier = visitor.tokens.first ?? "none"
        try visitor.ask("GET", each: own + visitor.fetches.map { "/v1/fetches/\($0)/diff?from=\(earlier)" })
      },
      TwinRoute("GET /v1/collections:diff") { visitor in
        let queries = visitor.moments.flatMap { ["from=\($0)", "from=\($0)&to=\(visitor.tokens.first ?? "none")"] }
        try visitor.ask("GET", each: (queries + ["to=5"]).map { "/v1/collections:diff?" + $0 })
      },
    ]

    // MARK: Bytes

    /// Assets, each with contents of its own, of others and of none.
    private static func contents(_ visitor: TwinVisitor) -> [(String, String)] {
      let (seen, hashes) = (visitor.twin.visible[1].uuidString, visitor.hashes)
      let others = [visitor.twin.visible[0].uuidString] + visitor.strangers.dropFirst()
      return hashes.map { (seen, $0) } + others.flatMap { asset in [(asset, hashes[0]), (asset, hashes[2])] }
    }

    static let files: [TwinRoute] = [
      TwinRoute("GET /v1/assets/{asset}/resources/{sha256}") { visitor in
        let paths = contents(visitor).map { "/v1/assets/\($0)/resources/\($1)" }
        for path in paths {
          try visitor.get(path)
          let hash = path.split(separator: "/").last ?? ""
          for field in ["Range: bytes=2-9", "Range: bytes=100000-", "If-None-Match: \"\(hash)\"", "If-None-Match: *"] {
            try visitor.ask("GET", path, nil, [field])
          }
        }
        try visitor.ask("GET", each: paths.map { $0 + "?download=1" })
      },
      TwinRoute("GET /v1/assets/{asset}/renditions/{sha256}/{recipe}/{kind}") { visitor in
        for (asset, hash) in contents(visitor) {
          let path = "/v1/assets/\(asset)/renditions/\(hash)/\(RenditionRecipe.revision)"
          for kind in ["small", "large", "play", "none"] { try visitor.get("\(path)/\(kind)?wait=60") }
        }
      },
      TwinRoute("POST /v1/downloads") { visitor in
        try visitor.ask("POST", each: ["/v1/downloads"], visitor.assets.map { #"{"assets":["\#($0)"]}"# })
        let both = [visitor.twin.visible[1].uuidString, visitor.strangers[0]].map { "\"\($0)\"" }
        try visitor.ask("POST", "/v1/downloads", #"{"assets":[\#(both.joined(separator: ","))]}"#)
      },
      TwinRoute("GET /v1/downloads/{download}") { visitor in
        let names = [visitor.twin.visible[1], visitor.twin.visible[2]].map { "\"\($0.uuidString)\"" }
        let body = #"{"assets":[\#(names.joined(separator: ","))]}"#
        let made = try visitor.ask("POST", "/v1/downloads", body).member("download")
        for download in [made ?? "none", "none"] { try visitor.get("/v1/downloads/\(download)") }
      },
    ]
  }
#endif
