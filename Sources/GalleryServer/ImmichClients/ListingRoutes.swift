#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // What is there, for an uploader that compares SHA-1 hashes before it sends anything.
  //
  //   POST /api/search/metadata {"page": 3, "size": 1000}
  //        the library, in the order of addition ────────────────┬── then its trash, if `withDeleted`
  //        │ 1 … 1000 │ 1001 … 2000 │ 2001 … 3000 │ …
  //                                   ▲ one page is read, however many there are
  //
  // New assets come at the end of the library, so the pages before them stay what they are.
  //
  // Invariant: each asset of the library's list has a checksum, and no checksum is in it twice: uploaders keep a table
  // by it. An asset whose SHA-1 was not recorded (Importing) is left out, and so is a later asset with the same file; a
  // file that is uploaded because of that is found by its SHA-256, and answered as a duplicate.
  //
  // The list of an album (`albumIds`, from Immich 3 on the only one) has all of its members, by the same pages: it says
  // what is in the album, so a member without a checksum, or with that of another one, is in it too.

  /// Which assets there are.
  enum ListingRoutes {
    static let pageLimit = 1000

    static let all: [Route] = [
      ImmichClientRoutes.changing("POST", "/api/search/metadata") { call, body in
        (200, try search(call, body))
      }.needing(.read),
      ImmichClientRoutes.reading("GET", "/api/assets/statistics") { call in
        try call.checkQuery([])
        let shown = try call.listedLibrary()?.fetchAssets(everything(isTrash: false))
        let images = try shown?.countOfAssets(with: .image) ?? 0
        let videos = try shown?.countOfAssets(with: .video) ?? 0
        return [
          "images": .integer(Int64(images)), "videos": .integer(Int64(videos)),
          "total": .integer(Int64(images + videos)),
        ]
      },
      ImmichClientRoutes.reading("GET", "/api/assets/{asset}") { call in
        try call.checkQuery([])
        guard let library = try call.listedLibrary(), let asset = try library.asset(call.parameters[0]) else {
          throw Problem.notFound
        }
        return try describe(asset, in: library, by: call)
      },
    ]

    /// Everything that the client sees: an uploader asks whether a file is there, not whether it is shown.
    static func everything(isTrash: Bool) -> FetchOptions {
      var options = FetchOptions()
      (options.includeHiddenAssets, options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true, true)
      options.showsTrash = isTrash
      return options
    }

    // MARK: Pages

    private static func search(_ call: Call, _ body: JSON) throws -> JSON {
      try body.checkKeys([
        "page", "size", "checksum", "albumIds", "withExif", "withDeleted", "withArchived", "isVisible", "visibility",
        "order", "trashedAfter", "trashedBefore",
      ])
      let page = try body.whole("page", in: 1...1_000_000_000) ?? 1
      let size = try body.whole("size", in: 1...pageLimit) ?? 250
      // Whatever the time that they name, uploaders ask so for the trash alone.
      let trashTimes = try [body.text("trashedAfter", atMost: 40), body.text("trashedBefore", atMost: 40)]
      let onlyTrash = trashTimes.contains { $0 != nil }
      let withTrash = try body.flag("withDeleted") || onlyTrash
      let visibility = try body.text("visibility", atMost: 20)
      _ = try body.text("order", atMost: 10)
      for name in ["withExif", "withArchived", "isVisible"] { _ = try body.flag(name) }
      let text = try body.text("checksum", atMost: 64)
      let albums = try body.texts("albumIds") ?? []
      guard albums.count <= 1, albums.isEmpty || text == nil else {
        throw Problem.malformed("'albumIds' is a list of one album, without 'checksum'; ask for each album by itself.")
      }
      guard let library = try call.listedLibrary() else {
        if !albums.isEmpty { throw Problem.notFound }
        return answer([], of: 0, next: nil)
      }
      if let text {
        let hash = try checksum(text, "'checksum'")
        let same = try library.assets(withSHA1: hash).filter { $0.isTrashed ? withTrash : !onlyTrash }
        let found = try [chosen(same)].compactMap(\.self).map { try describe($0, in: library, by: call) }
        return answer(found, of: found.count, next: nil)
      }
      let album = try albums.first.map { try GroupingRoutes.album($0, in: library) }
      guard let seen = try shown(visibility) else { return answer([], of: 0, next: nil) }
      let lists = try [onlyTrash ? nil : false, withTrash ? true : nil].compactMap(\.self).map { isTrash in
        var options = seen
        options.showsTrash = isTrash
        return try library.fetchAssets(options, in: album)
      }
      let total = lists.reduce(0) { $0 + $1.count }
      let range = min((page - 1) * size, total)..<min(page * size, total)
      var assets: [Asset] = []
      var start = 0
      for list in lists {
        let part = range.clamped(to: start..<start + list.count)
        if !part.isEmpty { assets += try list.objects(at: part.lowerBound - start..<part.upperBound - start) }
        start += list.count
      }
      let listed = try album == nil ? representatives(of: assets, in: library) : assets
      let items = try listed.map { try describe($0, in: library, by: call) }
      return answer(items, of: total, next: range.upperBound < total ? page + 1 : nil)
    }

    /// Those of some assets that stand for their checksums.
    private static func representatives(of assets: [Asset], in library: PhotoLibrary) throws -> [Asset] {
      // Each checksum is looked up once: all assets with it are read for that.
      var standing: [[UInt8]: LocalIdentifier] = [:]
      return try assets.filter { asset in
        guard let hash = try original(of: asset, in: library)?.sha1 else { return false }
        if standing[hash] == nil { standing[hash] = chosen(try library.assets(withSHA1: hash))?.id }
        return standing[hash] == asset.id
      }
    }

    /// Which of the assets with one file stands for it: uploaders want one identifier for a checksum.
    static func chosen(_ same: [Asset]) -> Asset? { same.first { !$0.isTrashed } ?? same.first }

    /// What is shown to an uploader that names a visibility; nil: nothing is.
    private static func shown(_ visibility: String?) throws -> FetchOptions? {
      var options = everything(isTrash: false)
      switch visibility {
      case nil: break
      case "timeline": options.includeHiddenAssets = false
      case "archive": options.condition = try Condition(format: "isHidden == YES", for: .asset)
      case "hidden", "locked": return nil
      case let other?:
        throw Problem.malformed("'visibility' is '\(other)'; pass timeline, archive, hidden or locked.")
      }
      return options
    }

    private static func answer(_ items: [JSON], of total: Int, next: Int?) -> JSON {
      [
        "assets": [
          "total": .integer(Int64(total)), "count": .integer(Int64(items.count)), "items": .list(items),
          "nextPage": next.map { .text("\($0)") } ?? .null,
        ]
      ]
    }

    /// A SHA-1 as these clients spell it: in base64, or in hexadecimal digits.
    static func checksum(_ text: String, _ name: String) throws(Problem) -> [UInt8] {
      if let hash = [UInt8](hexadecimal: text, count: 20) { return hash }
      if text.utf8.count == 28, let data = Data(base64Encoded: text), data.count == 20 { return Array(data) }
      throw .malformed("\(name) is not the SHA-1 of a file: 28 characters of base64 or 40 hexadecimal digits.")
    }

    /// The file that an asset is to these clients.
    static func original(of asset: Asset, in library: PhotoLibrary) throws -> AssetResource? {
      let resources = try library.resources(of: asset)
      return resources.first { [.photo, .video, .audio].contains($0.type) } ?? resources.first(where: \.isOriginal)
    }

    // MARK: One asset

    static func describe(_ asset: Asset, in library: PhotoLibrary, by call: Call) throws -> JSON {
      let file = try original(of: asset, in: library)
      let words = try library.extendedMetadata(of: asset)
      let taken = asset.creationDate ?? asset.addedDate
      return [
        "id": .text(asset.id.uuidString), "ownerId": .text(call.uploaderIdentifier),
        "deviceAssetId": "", "deviceId": "", "type": kind(asset.mediaType),
        "originalFileName": .text(file?.originalFilename ?? ""),
        "checksum": .text(file?.sha1.map { Data($0).base64EncodedString() } ?? ""),
        "fileCreatedAt": .text(instant(taken)), "fileModifiedAt": .text(instant(taken)),
        "localDateTime": .text(instant(asset.localCreationDate ?? taken)),
        "updatedAt": .text(instant(asset.modificationDate ?? asset.addedDate)),
        "isFavorite": .bool(asset.isFavorite), "isArchived": .bool(asset.isHidden), "isTrashed": .bool(asset.isTrashed),
        "visibility": asset.isHidden ? "archive" : "timeline",
        "tags": .list(words.keywords.map { GroupingRoutes.tag($0) }),
        "exifInfo": exif(asset, file, words),
      ]
    }

    private static func exif(_ asset: Asset, _ file: AssetResource?, _ words: ExtendedMetadata) -> JSON {
      [
        "fileSizeInByte": .integer(Int64(clamping: file?.dataSize ?? 0)),
        "exifImageWidth": .integer(Int64(asset.pixelWidth)), "exifImageHeight": .integer(Int64(asset.pixelHeight)),
        "dateTimeOriginal": asset.creationDate.map { .text(instant($0).dropLast() + "+00:00") } ?? .null,
        "latitude": asset.location.map { .number($0.latitude) } ?? .null,
        "longitude": asset.location.map { .number($0.longitude) } ?? .null,
        "description": .text(words.caption ?? ""), "rating": .integer(Int64(asset.rating.rawValue)),
      ]
    }

    private static func kind(_ type: MediaType) -> JSON {
      switch type {
      case .image: "IMAGE"
      case .video: "VIDEO"
      case .audio: "AUDIO"
      case .unknown: "OTHER"
      }
    }

    /// An instant with milliseconds, which is the only form that some uploaders read.
    static func instant(_ date: Date) -> String {
      let parts = DateText.instant(date).dropLast().split(separator: ".")
      let fraction = (parts.count > 1 ? String(parts[1]) : "") + "000"
      return "\(parts[0]).\(fraction.prefix(3))Z"
    }
  }
#endif
