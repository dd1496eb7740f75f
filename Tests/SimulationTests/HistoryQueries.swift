import Foundation
import PhotoLedger
import TestSupport

/// The objects that the queries of a history are about.
struct Cast {
  /// What a client made for itself.
  struct Own {
    var album: LocalIdentifier
    var crowded: LocalIdentifier
    var folder: LocalIdentifier
    var smart: LocalIdentifier
  }

  /// The clients: one with full access, two without, and one that only adds.
  static let full = "full"
  static let limited = ["limited", "narrow"]
  static let adder = "adder"
  static let clients = [full] + limited + [adder]

  var mixed: LocalIdentifier
  var crowded: LocalIdentifier
  var mortal: LocalIdentifier
  var folder: LocalIdentifier
  var asked: [LocalIdentifier]
  var albums: [LocalIdentifier]
  var own: [String: Own] = [:]
  var smart: LocalIdentifier

  /// The albums that take most of their members at one spot.
  var crowds: Set<LocalIdentifier> { Set([crowded] + own.values.map(\.crowded)) }
  /// What must not be deleted.
  var kept: Set<LocalIdentifier> { Set([mixed, crowded] + own.values.flatMap { [$0.album, $0.crowded] }) }
}

/// The live results of a history: every kind of scope, order, window and flag.
enum HistoryQueries {
  static func ofTheOwner(_ cast: Cast) throws -> [ModelQuery] {
    try library() + albums(cast) + collections(cast) + smart(cast.smart, PhotoLibrary.owner)
  }

  /// What a client looks at: the library, what it made, and what it did not.
  static func all(of client: String, _ cast: Cast) throws -> [ModelQuery] {
    guard let own = cast.own[client] else {
      return [
        ModelQuery("everything", .asset, .library, FetchOptions(), as: client),
        ModelQuery("all collections", .collection, .library, FetchOptions(), as: client),
      ]
    }
    func assets(_ name: String, _ scope: ModelScope, _ options: FetchOptions = FetchOptions()) -> ModelQuery {
      ModelQuery(name, .asset, scope, options, as: client)
    }
    func collections(_ name: String, _ scope: ModelScope, _ sort: String? = nil, limit: Int = 0) throws -> ModelQuery {
      var options = FetchOptions()
      options.sort = try sort.map { [try SortTerm($0, for: .collection)] } ?? []
      options.fetchLimit = limit
      return ModelQuery(name, .collection, scope, options, as: client)
    }
    let asked = Set(cast.asked)
    return try [
      assets("everything", .library),
      assets("newest first", .library, options("creationDate:desc")),
      assets("last added first", .library, options("addedDate:desc")),
      assets("a window", .library, options("creationDate:desc") { ($0.fetchOffset, $0.fetchLimit) = (2, 5) }),
      assets("everything, all of it", .library, everything()),
      assets("trash", .library, options { $0.showsTrash = true }),
      assets("by burst", .library, options("burstIdentifier") { $0.includeAllBurstAssets = true }),
      assets("in stacks", .library, options { $0.condition = .isPresent(.stack) }),
      assets("out of stacks", .library, options { $0.condition = .isNil(.stack) }),
      assets("beneath stacks", .members(of: own.album), options { $0.condition = .isTrue(.isBeneathStack) }),
      assets("words", .library, options { $0.search = "Sea" }),
      assets("a common word", .library, options("creationDate:desc") { ($0.search, $0.fetchLimit) = ("img", 3) }),
      assets("words, trash", .library, options { ($0.search, $0.showsTrash) = ("img d", true) }),
      assets("by keyword", .library, options { $0.condition = .comparison(.keywords, .equal, .text("sea")) }),
      assets(
        "by name", .library, options { $0.condition = .text(.originalFilename, .contains, "1", .caseInsensitive) }),
      assets("own album", .members(of: own.album)),
      assets("the start of an album", .members(of: own.album), options { ($0.fetchOffset, $0.fetchLimit) = (1, 3) }),
      assets("an album with the hidden", .members(of: own.album), options { $0.includeHiddenAssets = true }),
      assets("own crowded album", .members(of: own.crowded)),
      assets("some by identifier", .identifiers(asked), options { $0.includeHiddenAssets = true }),
      collections("top level", .members(of: nil)),
      collections("own folder", .members(of: own.folder)),
      collections("all collections", .library),
      collections("by size", .library, "estimatedAssetCount:desc"),
      collections("last edited first", .library, "modificationDate:desc", limit: 3),
      collections("albums by identifier", .identifiers(Set(cast.albums + [own.album, own.crowded]))),
      collections("albums of one asset", .containing(cast.asked[0])),
      collections("the folder of an album", .containing(own.crowded)),
      ModelQuery("a list in memory", .asset, .listed(Array(cast.asked.prefix(3))), FetchOptions(), as: client),
    ] + smart(own.smart, client)
  }

  private static func everything() throws -> FetchOptions {
    try options("addedDate:desc") {
      $0.includeHiddenAssets = true
      $0.includeAllBurstAssets = true
      $0.includeAllStackAssets = true
      $0.includeAssetSourceTypes = [.userLibrary, .cloudShared, .iTunesSynced]
    }
  }

  private static func smart(_ album: LocalIdentifier, _ client: String) throws -> [ModelQuery] {
    func query(_ name: String, _ scope: ModelScope, _ options: FetchOptions = FetchOptions()) -> ModelQuery {
      ModelQuery(name, .asset, scope, options, as: client)
    }
    return try [
      query("a smart album", .smart(album)),
      query("a smart album in part", .smart(album), options { $0.fetchLimit = 3 }),
      query("Favorites", .builtIn(.smartAlbumFavorites)),
      query("Bursts", .builtIn(.smartAlbumBursts)),
      query("Hidden", .builtIn(.smartAlbumAllHidden)),
      query("Recently Added", .builtIn(.smartAlbumRecentlyAdded)),
      query("Selfies", .builtIn(.smartAlbumSelfPortraits), options("rating:desc")),
      query("Videos", .builtIn(.smartAlbumVideos)),
    ]
  }

  private static func options(_ sort: String..., edit: (inout FetchOptions) -> Void = { _ in }) throws -> FetchOptions {
    var options = FetchOptions()
    options.sort = try sort.map { try SortTerm($0, for: .asset) }
    edit(&options)
    return options
  }

  private static func library() throws -> [ModelQuery] {
    func query(_ name: String, _ options: FetchOptions) -> ModelQuery { ModelQuery(name, .asset, .library, options) }
    let lively = Condition.or([
      .and([.isTrue(.isFavorite), .comparison(.mediaType, .equal, .integer(1))]),
      .comparison(.duration, .greater, .double(10)),
    ])
    return [
      query("everything", FetchOptions()),
      query("newest first", try options("creationDate:desc")),
      query("the newest five", try options("creationDate:desc") { $0.fetchLimit = 5 }),
      query(
        "the fourth to the tenth newest",
        try options("creationDate:desc") { ($0.fetchOffset, $0.fetchLimit) = (3, 7) }),
      query("everything but the first ten", try options { $0.fetchOffset = 10 }),
      query("favourites", try options("creationDate") { $0.condition = .isTrue(.isFavorite) }),
      query("videos", try options { $0.condition = .comparison(.mediaType, .equal, .integer(2)) }),
      query("favourite images and long videos", try options("addedDate:desc") { $0.condition = lively }),
      query("undated", try options { $0.condition = .isNil(.creationDate) }),
      query("the last edited ten", try options("modificationDate:desc") { $0.fetchLimit = 10 }),
      query("hidden ones too", try options("creationDate:desc") { $0.includeHiddenAssets = true }),
      query("only hidden", try options { ($0.includeHiddenAssets, $0.condition) = (true, .isTrue(.isHidden)) }),
      query("trash", try options { $0.showsTrash = true }),
      query("last added first", try options("addedDate:desc")),
      query("last trashed first", try options("trashedDate:desc") { $0.showsTrash = true }),
      query("favourites, then by date", try options("isFavorite:desc", "creationDate")),
      query("by place and length", try options("latitude", "duration:desc")),
      query("by burst", try options("burstIdentifier:desc")),
      query("everything, all of it", try everything()),
      query("best first", try options("rating:desc", "creationDate")),
      query(
        "put here by others", try options { $0.includeAssetSourceTypes = [.cloudShared, .iTunesSynced] }),
      query(
        "whole bursts",
        try options { ($0.includeAllBurstAssets, $0.condition) = (true, .isPresent(.burstIdentifier)) }),
      query(
        "whole stacks", try options { ($0.includeAllStackAssets, $0.condition) = (true, .isPresent(.stack)) }),
      query("tops of stacks", try options("creationDate:desc") { $0.condition = .isPresent(.stack) }),
      query(
        "beneath stacks",
        try options { ($0.includeAllStackAssets, $0.condition) = (true, .isTrue(.isBeneathStack)) }),
      query("a keyword", try options { $0.search = "SEA" }),
      query("a caption, by date", try options("creationDate:desc") { $0.search = "d" }),
      query("two words", try options { ($0.search, $0.includeHiddenAssets) = ("s l", true) }),
      query("a name and a caption", try options("rating:desc") { ($0.search, $0.fetchLimit) = ("img dus", 4) }),
      query("the first three of a word", try options { ($0.search, $0.fetchLimit) = ("img", 3) }),
      query("the newest three of a word", try options("creationDate:desc") { ($0.search, $0.fetchLimit) = ("i", 3) }),
      query(
        "the oldest images of a word",
        try options("creationDate") {
          ($0.search, $0.fetchLimit) = ("s", 2)
          $0.condition = .comparison(.mediaType, .equal, .integer(1))
        }),
      query("words in the trash", try options { ($0.search, $0.showsTrash) = ("jpg alp", true) }),
      query("with a keyword", try options { $0.condition = .isPresent(.keywords) }),
      query(
        "a letter of the caption, by date",
        try options("creationDate:desc") { $0.condition = .text(.caption, .contains, "d", .caseInsensitive) }),
      query(
        "a name and a mark",
        try options("rating") {
          $0.condition = .and([
            .text(.originalFilename, .contains, "1", .caseInsensitive),
            .or([.comparison(.isFavorite, .equal, .bool(true)), .not(.isPresent(.caption))]),
          ])
        }),
      query(
        "no such keyword, in the trash",
        try options { ($0.condition, $0.showsTrash) = (.comparison(.keywords, .notEqual, .text("sea")), true) }),
      query("HDR", try options { $0.condition = .bits(.mediaSubtypes, mask: 2, .notEqual, 0) }),
    ]
  }

  private static func albums(_ cast: Cast) throws -> [ModelQuery] {
    func query(_ name: String, _ album: LocalIdentifier, _ options: FetchOptions) -> ModelQuery {
      ModelQuery(name, .asset, .members(of: album), options)
    }
    return [
      query("an album", cast.mixed, FetchOptions()),
      query("a crowded album", cast.crowded, FetchOptions()),
      query("the start of a crowded album", cast.crowded, try options { $0.fetchLimit = 4 }),
      query(
        "a keyword in an album", cast.mixed,
        try options { $0.condition = .text(.keywords, .contains, "s", .caseInsensitive) }),
      query("words in an album", cast.mixed, try options { $0.search = "se" }),
      query("two of many in an album", cast.crowded, try options { ($0.search, $0.fetchLimit) = ("img", 2) }),
      query("a common word in an album", cast.crowded, try options("rating:desc") { $0.search = "img" }),
      query("an album by date", cast.mixed, try options("creationDate:desc")),
      query("an album with the hidden", cast.mixed, try options { $0.includeHiddenAssets = true }),
      query(
        "favourites of an album", cast.mixed,
        try options { ($0.condition, $0.fetchLimit) = (.isTrue(.isFavorite), 4) }),
      query("the trashed of an album", cast.mixed, try options { $0.showsTrash = true }),
      query("an album that may be deleted", cast.mortal, FetchOptions()),
      ModelQuery("some by identifier", .asset, .identifiers(Set(cast.asked)), FetchOptions()),
      ModelQuery(
        "some by identifier, by date", .asset, .identifiers(Set(cast.asked)),
        try options("creationDate") { $0.includeHiddenAssets = true }),
    ]
  }

  private static func collections(_ cast: Cast) throws -> [ModelQuery] {
    func query(_ name: String, _ scope: ModelScope, _ sort: String?, edit: (inout FetchOptions) -> Void = { _ in })
      throws -> ModelQuery
    {
      var options = FetchOptions()
      options.sort = try sort.map { [try SortTerm($0, for: .collection)] } ?? []
      edit(&options)
      return ModelQuery(name, .collection, scope, options)
    }
    let full = Condition.and([
      .comparison(.estimatedAssetCount, .greater, .integer(3)), .comparison(.kind, .equal, .integer(2)),
    ])
    return [
      try query("top level", .members(of: nil), nil),
      try query("a folder", .members(of: cast.folder), nil),
      try query("a folder by title", .members(of: cast.folder), "localizedTitle"),
      try query("all collections", .library, nil),
      try query("by title", .library, "localizedTitle"),
      try query("by size", .library, "estimatedAssetCount:desc"),
      try query("the two largest", .library, "estimatedAssetCount:desc") { $0.fetchLimit = 2 },
      try query("full albums", .library, nil) { $0.condition = full },
      try query("last edited first", .library, "modificationDate:desc"),
      try query("titles with an a", .library, nil) {
        $0.condition = .text(.localizedTitle, .contains, "a", .caseInsensitive)
      },
      try query("titles with a word", .library, nil) { $0.search = "a" },
      try query("deleted collections", .library, nil) { $0.showsTrash = true },
      try query("albums of one asset", .containing(cast.asked[0]), nil),
      try query("albums of another asset", .containing(cast.asked[1]), "localizedTitle:desc"),
      try query("the folder of an album", .containing(cast.albums[1]), nil),
      try query("albums by identifier", .identifiers(Set(cast.albums)), "creationDate"),
    ]
  }
}
