#if Gallery
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // The objects of fetches that are followed: assets, and albums with folders. They differ in how they are written, and
  // in that only assets have sections. See FeedList.swift for what is followed besides.

  /// An object of the library that a feed follows.
  protocol FeedElement: Hashable, Sendable {
    /// Fetches what a request asks for.
    static func run(
      _ fetch: FetchRequest, at token: Token?, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> FetchResult<Self>
    /// Keeps a result to which a message led, where windows are read of it.
    static func hold(_ result: FetchResult<Self>, of fetch: FetchRequest, for client: String, _ fetches: Fetches)
    /// The objects as messages show them.
    static func items(_ elements: [Self], _ renditions: RenditionColumns) throws -> JSON.Member
    /// The sections whose count changed; null where there are none.
    static func sections(_ details: ChangeDetails<Self>, _ choice: SectionChoice) throws -> JSON
  }

  extension Asset: FeedElement {
    static func run(
      _ fetch: FetchRequest, at token: Token?, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> FetchResult<Asset> { try fetches.result(fetch, at: token, of: library) }

    static func hold(
      _ result: FetchResult<Asset>, of fetch: FetchRequest, for client: String, _ fetches: Fetches
    ) { fetches.hold(result, of: fetch, for: client) }

    static func items(_ elements: [Asset], _ renditions: RenditionColumns) throws -> JSON.Member {
      .init("columns", try Columns.json(elements, renditions))
    }

    /// The key of each section, its count before and its count after. Null if the fetch has no sections, or if so many
    /// differ that reading them anew is cheaper.
    static func sections(_ details: ChangeDetails<Asset>, _ choice: SectionChoice) throws -> JSON {
      let changes: [SectionChange]
      do {
        changes = try details.sectionChanges(by: choice.granularity, in: choice.zone)
      } catch let error as FetchError where error.code == .unsupportedSort {
        return .null
      }
      guard changes.count <= Message.rangeLimit else { return .null }
      return .list(
        changes.map { change in
          [
            .text("\(change.key)"), .integer(Int64(change.countBefore)), .integer(Int64(change.countAfter)),
          ]
        })
    }
  }

  extension PhotoCollection: FeedElement {
    static func run(
      _ fetch: FetchRequest, at token: Token?, of library: PhotoLibrary, _ fetches: Fetches
    ) throws -> FetchResult<PhotoCollection> {
      try fetch.runCollections(in: token.map { try library.at($0) } ?? library, orFoldersOf: library)
    }

    static func hold(
      _ result: FetchResult<PhotoCollection>, of fetch: FetchRequest, for client: String, _ fetches: Fetches
    ) {}

    static func items(_ elements: [PhotoCollection], _ renditions: RenditionColumns) throws -> JSON.Member {
      .init("objects", .list(elements.map { JSON($0) }))
    }

    static func sections(_ details: ChangeDetails<PhotoCollection>, _ choice: SectionChoice) throws -> JSON { .null }
  }
#endif
