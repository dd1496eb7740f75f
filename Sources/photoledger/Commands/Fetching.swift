import PhotoLedger

/// The options of a fetch, which `ls`, `sections` and `watch` share.
enum FetchArguments {
  static let options: [Option] = [
    Option("where", "FORMAT", "only what satisfies a predicate in PhotoKit's format"),
    Option("sort", "KEY[:desc]", isRepeatable: true, "order by a property; the first --sort counts most"),
    Option("limit", "N", "at most N assets"),
    Option("offset", "N", "pass over the first N assets"),
    Option("album", "ID", "the assets of an album, in its order unless --sort is given"),
    hidden, trash,
  ]

  private static let hidden = Option("hidden", "show hidden assets too")
  private static let trash = Option("trash", "show the trash instead of the library")

  static let notes = """
    A predicate is written as for NSPredicate: isFavorite == YES, pixelWidth > 4000,
    mediaType == 2, (mediaSubtypes & 8) != 0, creationDate >= "2024-05-31T00:00:00Z",
    joined with AND, OR, NOT. Media types: 1 image, 2 video, 3 audio.
    """

  static func read(_ invocation: Invocation) throws -> FetchOptions {
    var options = FetchOptions()
    if let format = invocation.text("where") { options.condition = try Condition(format: format, for: .asset) }
    options.sort = try invocation.texts("sort").map { try SortTerm($0, for: .asset) }
    options.fetchLimit = try invocation.count("limit") ?? 0
    if invocation.text("limit") != nil, options.fetchLimit == 0 {
      throw UsageError("--limit needs a number above 0; leave it out to see all.")
    }
    options.fetchOffset = try invocation.count("offset") ?? 0
    options.includeHiddenAssets = invocation.has(hidden)
    options.showsTrash = invocation.has(trash)
    return options
  }

  /// Fetches as the options say.
  /// - Parameter defaultSort: the order if there is no `--sort`.
  static func fetch(
    _ invocation: Invocation, from library: PhotoLibrary, sortedBy defaultSort: [SortTerm] = []
  ) throws -> FetchResult<Asset> {
    var options = try read(invocation)
    if options.sort.isEmpty { options.sort = defaultSort }
    let album = try invocation.text("album").map { try library.album($0) }
    return try library.fetchAssets(options, in: album)
  }
}

extension PhotoLibrary {
  /// The album with an identifier.
  /// - Throws: ``LibraryError`` `.identifierNotFound` if there is none, `.changeNotSupported` for a folder.
  func album(_ identifier: String) throws -> PhotoCollection {
    guard let collection = try collection(identifier) else {
      throw LibraryError(.identifierNotFound, "The library has no album '\(identifier)'; `albums` lists them.")
    }
    guard collection.kind == .album else {
      throw LibraryError(.changeNotSupported, "'\(identifier)' is a folder, not an album; `albums` lists both.")
    }
    return collection
  }
}
