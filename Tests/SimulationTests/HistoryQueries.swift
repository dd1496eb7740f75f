import Foundation
import PhotoLedger
import TestSupport

/// The objects that the queries of a history are about.
struct Cast {
  var mixed: LocalIdentifier
  var crowded: LocalIdentifier
  var mortal: LocalIdentifier
  var folder: LocalIdentifier
  var asked: [LocalIdentifier]
  var albums: [LocalIdentifier]
}

/// The live results of a history: every kind of scope, order, window and flag.
enum HistoryQueries {
  static func all(_ cast: Cast) throws -> [ModelQuery] {
    try library() + albums(cast) + collections(cast)
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
      query("last trashed first", try options("trashedDate:desc") { $0.showsTrash = true }),
      query("favourites, then by date", try options("isFavorite:desc", "creationDate")),
      query("by place and length", try options("latitude", "duration:desc")),
      query("by burst", try options("burstIdentifier:desc")),
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
      try query("deleted collections", .library, nil) { $0.showsTrash = true },
      try query("albums of one asset", .containing(cast.asked[0]), nil),
      try query("albums of another asset", .containing(cast.asked[1]), "localizedTitle:desc"),
      try query("the folder of an album", .containing(cast.albums[1]), nil),
      try query("albums by identifier", .identifiers(Set(cast.albums)), "creationDate"),
    ]
  }
}
