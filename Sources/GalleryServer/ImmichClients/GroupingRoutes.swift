#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // What belongs together: albums, stacks, and tags, which are keywords here.
  //
  //   tag "Places/Italy/Rome"     identifier: base64url of "Places/Italy/Rome"     keyword of an asset: "Rome"
  //
  // A tag that no asset has is nothing in this library, so making one records nothing: its identifier says all about
  // it. Of a tag's path the last part becomes the keyword, as in imports.
  //
  // A stack has the identifier of the asset on top, which is the first of the list. If that asset is on top of a stack
  // already, the others join it.
  //
  // A list of assets is answered one by one: what is not there, or is a member already, fails alone. The rest is one
  // change block. Such an answer says what there was before, also where nothing changes, so it needs the scope `read`.

  /// Albums, tags and stacks.
  enum GroupingRoutes {
    static let all: [Route] =
      albums + tags + [
        ImmichClientRoutes.changing("POST", "/api/stacks") { call, body in
          try call.checkMayRead("Stacking")
          try body.checkKeys(["assetIds"])
          let library = try call.changedLibrary()
          let identifiers = try body.identifiers("assetIds")
          let named = try Named(identifiers, in: library)
          guard let top = named.known.first, named.known.count == identifiers.count else { throw Problem.notFound }
          try library.performChangesAndWait(cause: ImmichClientRoutes.cause) { change in
            change.stack(top: top.id, others: named.known.dropFirst().map(\.id))
          }
          return (201, try describe(stack: top.id, in: library))
        }
      ]

    // MARK: Stacks

    private static func describe(stack top: LocalIdentifier, in library: PhotoLibrary) throws -> JSON {
      var options = ListingRoutes.everything(isTrash: false)
      options.condition = .comparison(.stack, .equal, .identifier(top))
      let stacked = try library.fetchAssets(options)
      let members = try stacked.objects(at: 0..<stacked.count).map { ["id": .text($0.id.uuidString)] as JSON }
      let id = JSON.text(top.uuidString)
      return ["id": id, "primaryAssetId": id, "assets": .list(members)]
    }

    // MARK: Albums

    private static let albums: [Route] = [
      ImmichClientRoutes.reading("GET", "/api/albums") { call in
        try call.checkQuery([])
        guard let library = try call.listedLibrary() else { return [] }
        let albums = try library.fetchCollections(with: .album)
        return .list(try albums.objects(at: 0..<albums.count).map { .object(describe($0)) })
      },
      ImmichClientRoutes.reading("GET", "/api/albums/{album}") { call in
        try call.checkQuery(["withoutAssets"])
        let withoutAssets = try call.query("withoutAssets") == "true"
        guard let library = try call.listedLibrary() else { throw Problem.notFound }
        let album = try album(call.parameters[0], in: library)
        if withoutAssets { return .object(describe(album)) }
        let members = try members(of: album, in: library)
        return .object(
          describe(album) + [
            .init("assetCount", .integer(Int64(members.count))),
            .init("assets", .list(members.map { ["id": .text($0.uuidString)] })),
          ])
      },
      ImmichClientRoutes.changing("POST", "/api/albums") { call, body in
        try body.checkKeys(["albumName", "description", "assetIds", "shared"])
        let library = try call.changedLibrary()
        guard let title = try body.text("albumName", atMost: 4096), !title.isEmpty else {
          throw Problem.malformed("The body needs 'albumName', the title of the album.")
        }
        _ = try body.text("description", atMost: 65_536)
        let named = body["assetIds"] == nil ? [] : try body.identifiers("assetIds")
        let known = try Named(named, in: library).known
        let receipt = try library.performChangesAndWait(cause: ImmichClientRoutes.cause) { change in
          let album = change.createAlbum(title: title)
          if !known.isEmpty { change.album(album).add(known.map(\.id)) }
        }
        let made = try receipt.created.first.flatMap { try library.collection($0) }
        guard let made else { throw Problem.notFound }
        return (201, .object(describe(made)))
      },
      ImmichClientRoutes.changing("PUT", "/api/albums/{album}/assets") { call, body in
        try call.checkMayRead("Adding to an album")
        try body.checkKeys(["ids"])
        let library = try call.changedLibrary()
        let album = try album(call.parameters[0], in: library)
        let named = try Named(try body.identifiers("ids"), in: library)
        let members = Set(try members(of: album, in: library))
        let added = named.known.map(\.id).filter { !members.contains($0) }
        if !added.isEmpty {
          try library.performChangesAndWait(cause: ImmichClientRoutes.cause) { $0.album(album.id).add(added) }
        }
        return (200, named.outcomes(done: added))
      },
    ]

    /// The album with an identifier.
    /// - Throws: ``Problem`` 404 if the client sees none with it.
    static func album(_ identifier: String, in library: PhotoLibrary) throws -> PhotoCollection {
      guard let album = try library.collection(identifier), album.kind == .album else { throw Problem.notFound }
      return album
    }

    private static func describe(_ album: PhotoCollection) -> [JSON.Member] {
      [
        .init("id", .text(album.id.uuidString)), .init("albumName", .text(album.localizedTitle ?? "")),
        .init("description", ""), .init("shared", false),
      ]
    }

    /// The members of an album, those in the trash included: they keep their places.
    private static func members(of album: PhotoCollection, in library: PhotoLibrary) throws -> [LocalIdentifier] {
      try [false, true].flatMap { isTrash -> [LocalIdentifier] in
        let members = try library.fetchAssets(ListingRoutes.everything(isTrash: isTrash), in: album)
        return try members.objects(at: 0..<members.count).map(\.id)
      }
    }

    /// What of a list the client sees.
    private struct Named {
      let identifiers: [String]
      var assets: [String: Asset] = [:]

      init(_ identifiers: [String], in library: PhotoLibrary) throws {
        self.identifiers = identifiers
        for identifier in identifiers { assets[identifier] = try library.asset(identifier) }
      }

      /// The assets in the order of the list, each once.
      var known: [Asset] {
        var seen: Set<LocalIdentifier> = []
        return identifiers.compactMap { assets[$0] }.filter { seen.insert($0.id).inserted }
      }

      /// What became of each identifier.
      func outcomes(done: [LocalIdentifier]) -> JSON {
        let done = Set(done)
        return .list(
          identifiers.map { identifier in
            let id = JSON.text(String(identifier.prefix(64)))
            guard let asset = assets[identifier] else { return ["id": id, "success": false, "error": "not_found"] }
            if done.contains(asset.id) { return ["id": id, "success": true] }
            return ["id": id, "success": false, "error": "duplicate"]
          })
      }
    }

    // MARK: Tags

    private static let tags: [Route] = [
      ImmichClientRoutes.changing("PUT", "/api/tags") { call, body in
        try body.checkKeys(["tags"])
        _ = try call.changedLibrary()
        guard let values = body["tags"]?.textsValue, values.count <= 1000 else {
          throw Problem.malformed("'tags' is a list of at most 1,000 tags.")
        }
        return (200, .list(try values.map { tag(try checked($0)) }))
      },
      ImmichClientRoutes.changing("PUT", "/api/tags/{tag}/assets") { call, body in
        try call.checkMayRead("Adding a tag")
        try body.checkKeys(["ids"])
        let library = try call.changedLibrary()
        guard let value = value(ofTag: call.parameters[0]) else { throw Problem.notFound }
        let named = try Named(try body.identifiers("ids"), in: library)
        return (200, named.outcomes(done: try add([keyword(of: try checked(value))], to: named.known, of: library)))
      },
      ImmichClientRoutes.changing("PUT", "/api/tags/assets") { call, body in
        try call.checkMayRead("Adding tags")
        try body.checkKeys(["tagIds", "assetIds"])
        let library = try call.changedLibrary()
        guard let names = body["tagIds"]?.textsValue, names.count <= 1000 else {
          throw Problem.malformed("'tagIds' is a list of at most 1,000 identifiers of tags.")
        }
        let keywords = try names.map { name in
          guard let value = value(ofTag: name) else { throw Problem.notFound }
          return keyword(of: try checked(value))
        }
        let named = try Named(try body.identifiers("assetIds"), in: library)
        let added = try add(Set(keywords), to: named.known, of: library)
        return (200, ["count": .integer(Int64(added.count))])
      },
    ]

    /// A tag as these clients know it.
    static func tag(_ value: String) -> JSON {
      [
        "id": .text(Keyring.spelled(Array(value.utf8))), "name": .text(keyword(of: value)), "value": .text(value),
      ]
    }

    /// The path of a tag by its identifier; nil for what is not one.
    private static func value(ofTag identifier: String) -> String? {
      let usual = identifier.replacing("-", with: "+").replacing("_", with: "/")
      let padding = String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
      guard let data = Data(base64Encoded: usual + padding), Keyring.spelled(Array(data)) == identifier else {
        return nil
      }
      return String(validating: data, as: UTF8.self)
    }

    private static func checked(_ value: String) throws(Problem) -> String {
      let keyword = keyword(of: value)
      guard !keyword.isEmpty, keyword.utf8.count <= 256, value.utf8.count <= 1024, !value.utf8.contains(0) else {
        throw .malformed("The tag '\(value.prefix(40))' is not valid: behind its last slash a tag has 1 to 256 bytes.")
      }
      return value
    }

    private static func keyword(of value: String) -> String {
      value.split(separator: "/").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    }

    /// - Returns: the assets that got a keyword which they had not.
    private static func add(
      _ keywords: Set<String>, to assets: [Asset], of library: PhotoLibrary
    ) throws -> [LocalIdentifier] {
      let lacking = try assets.filter { asset in
        !keywords.isSubset(of: try library.extendedMetadata(of: asset).keywords)
      }.map(\.id)
      if lacking.isEmpty { return [] }
      var changes = AssetChanges()
      changes.addedKeywords = keywords
      try library.performChangesAndWait(cause: ImmichClientRoutes.cause) { $0.edit(lacking, changes) }
      return lacking
    }
  }
#endif
