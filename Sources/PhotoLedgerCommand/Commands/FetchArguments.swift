import LibraryJSON
import PhotoLedger

/// The options of a fetch, which `ls`, `sections` and `watch` share.
enum FetchArguments {
  static let options: [Option] = all(
    ofAlbum: "the assets of an album or smart album, in its order unless --sort is given")

  /// The options that choose assets for a command that has no order or window, and takes all members of bursts and
  /// stacks.
  static let choosing: [Option] = all(ofAlbum: "the assets of an album or smart album").filter {
    !["sort", "limit", "offset", "all-bursts", "all-stacks"].contains($0.name)
  }

  private static func all(ofAlbum album: String) -> [Option] {
    [
      Option(
        "search", "TEXT",
        "only assets with words of these prefixes in file names, titles, people, camera, lens, keywords or caption"),
      Option("where", "FORMAT", "only assets that satisfy a predicate in PhotoKit's format"),
      Option("sort", "KEY[:desc]", isRepeatable: true, "order by a property; the first --sort is the primary key"),
      Option("limit", "N", "at most N assets"),
      Option("offset", "N", "skip the first N assets"),
      Option("album", "ID", album),
      Option("smart-album", "NAME|ID", "the assets of a smart album: favorites, recentlyAdded … or an identifier"),
      Option("source", "S[,S]…", "only assets from these sources: user, shared, synced"),
      allBursts, allStacks, hidden, trash,
    ]
  }

  private static let allBursts = Option("all-bursts", "include all members of bursts")
  private static let allStacks = Option("all-stacks", "include assets beneath the top of a stack")
  private static let hidden = Option("hidden", "include hidden assets")
  private static let trash = Option("trash", "the assets of the trash instead of those of the library")

  static let notes = """
    A predicate is written as for NSPredicate: isFavorite == YES, pixelWidth > 4000,
    mediaType == 2, (mediaSubtypes & 8) != 0, creationDate >= "2024-05-31T00:00:00Z",
    joined with AND, OR, NOT. Media types: 1 image, 2 video, 3 audio.
    """

  static func read(_ invocation: Invocation) throws -> FetchOptions {
    var options = FetchOptions()
    if let format = invocation.text("where") { options.condition = try Condition(format: format, for: .asset) }
    options.search = invocation.text("search")
    options.sort = try invocation.texts("sort").map { try SortTerm($0, for: .asset) }
    options.fetchLimit = try limit(invocation)
    options.fetchOffset = try invocation.count("offset") ?? 0
    options.includeAllBurstAssets = invocation.has(allBursts)
    options.includeAllStackAssets = invocation.has(allStacks)
    if let sources = invocation.text("source") { options.includeAssetSourceTypes = try self.sources(sources) }
    if invocation.text("album") != nil, let smartAlbum = invocation.text("smart-album") {
      throw UsageError("--album and --smart-album '\(smartAlbum)' both choose an album; pass one of them.")
    }
    _ = try smartAlbum(invocation)
    options.includeHiddenAssets = invocation.has(hidden)
    options.showsTrash = invocation.has(trash)
    return options
  }

  /// The most objects that are wanted; 0: all.
  static func limit(_ invocation: Invocation) throws -> Int {
    guard let limit = try invocation.count("limit") else { return 0 }
    guard limit > 0 else { throw UsageError("--limit needs a number above 0; omit it for all.") }
    return limit
  }

  /// Fetches as the options say.
  /// - Parameter defaultSort: the order if there is no `--sort`.
  /// - Parameter other: where to look up an album that the view does not have, such as a state before its creation.
  static func fetch(
    _ invocation: Invocation, from library: PhotoLibrary, sortedBy defaultSort: [SortTerm] = [],
    orAlbumsOf other: PhotoLibrary? = nil
  ) throws -> FetchResult<Asset> {
    var options = try read(invocation)
    if options.sort.isEmpty { options.sort = defaultSort }
    let album: PhotoCollection?
    do {
      album = try Self.album(invocation, in: library)
    } catch let error as LibraryError where error.code == .identifierNotFound {
      guard let other else { throw error }
      album = try Self.album(invocation, in: other)
    }
    return try library.fetchAssets(options, in: album)
  }

  /// Fetches assets of which all members of bursts and stacks are chosen, for a command with the options ``choosing``.
  /// - Parameter widened: sets what else is chosen in any case.
  static func fetch(
    _ invocation: Invocation, from library: PhotoLibrary, widened: (inout FetchOptions) -> Void
  ) throws -> FetchResult<Asset> {
    var options = try read(invocation)
    (options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true)
    widened(&options)
    return try library.fetchAssets(options, in: try album(invocation, in: library))
  }

  /// The options of a fetch of albums and folders.
  static func readCollections(_ invocation: Invocation) throws -> FetchOptions {
    let ofAssets = ["album", "smart-album", "source", "all-bursts", "all-stacks", "hidden"]
    for name in ofAssets where invocation.text(name) != nil {
      throw UsageError("--\(name) applies to assets; omit it with --collections.")
    }
    var options = FetchOptions()
    if let format = invocation.text("where") { options.condition = try Condition(format: format, for: .collection) }
    options.search = invocation.text("search")
    options.sort = try invocation.texts("sort").map { try SortTerm($0, for: .collection) }
    options.fetchLimit = try limit(invocation)
    options.fetchOffset = try invocation.count("offset") ?? 0
    options.showsTrash = invocation.has(trash)
    return options
  }

  /// The album that `--album` or `--smart-album` names.
  private static func album(_ invocation: Invocation, in library: PhotoLibrary) throws -> PhotoCollection? {
    if let identifier = invocation.text("album") { return try library.album(identifier) }
    switch try smartAlbum(invocation) {
    case nil: return nil
    case .identifier(let identifier): return try library.smartAlbum(identifier)
    case .subtype(let subtype):
      let found = try library.fetchCollections(with: .smartAlbum, subtype: subtype)
      guard !found.isEmpty else {
        throw LibraryError(
          .identifierNotFound, "The library has no smart album '\(subtype.name)'; `albums --smart` lists them.")
      }
      return try found.object(at: 0)
    }
  }

  private enum SmartAlbumName { case identifier(String), subtype(AlbumSubtype) }

  /// What `--smart-album` names: a subtype with or without `smartAlbum` before it, or an identifier.
  private static func smartAlbum(_ invocation: Invocation) throws -> SmartAlbumName? {
    guard let text = invocation.text("smart-album") else { return nil }
    let wanted = text.lowercased()
    let own = AlbumSubtype.named.filter { $0.isSmart && $0 != .smartAlbumGeneric }
    if let subtype = own.first(where: { [$0.name.lowercased(), $0.shortName.lowercased()].contains(wanted) }) {
      return .subtype(subtype)
    }
    guard LocalIdentifier(text) != nil else {
      let names = own.map(\.shortName)
      let nearest = Suggestion.nearest(to: text, among: names).map { " (did you mean \($0)?)" } ?? ""
      throw UsageError(
        "--smart-album needs an identifier or a name; got '\(text)'\(nearest). The names are "
          + names.joined(separator: ", ") + ".")
    }
    return .identifier(text)
  }

  private static let sourceNames: [(name: String, source: SourceTypes)] = [
    ("user", .userLibrary), ("shared", .cloudShared), ("synced", .iTunesSynced),
  ]

  private static func sources(_ text: String) throws -> SourceTypes {
    var sources: SourceTypes = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let found = sourceNames.first(where: { $0.name == part }) else {
        throw UsageError("--source needs user, shared or synced, separated by commas; got '\(part)'.")
      }
      sources.formUnion(found.source)
    }
    return sources
  }
}

extension AlbumSubtype {
  /// The name without `smartAlbum` before it: `favorites`, `recentlyAdded`, `RAW`.
  var shortName: String {
    guard name.hasPrefix("smartAlbum") else { return name }
    let rest = String(name.dropFirst("smartAlbum".count))
    return rest == rest.uppercased() ? rest : rest.prefix(1).lowercased() + rest.dropFirst()
  }
}

extension PhotoLibrary {
  /// The smart album with an identifier.
  /// - Throws: ``LibraryError`` `.identifierNotFound` if there is none, `.changeNotSupported` for another collection.
  fileprivate func smartAlbum(_ identifier: String) throws -> PhotoCollection {
    let collection = try album(identifier)
    guard collection.kind == .smartAlbum else {
      throw LibraryError(.changeNotSupported, "'\(identifier)' is not a smart album; `ls --album` lists its assets.")
    }
    return collection
  }
}
