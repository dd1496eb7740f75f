#if Gallery
  import Foundation
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // What a fetch asks for, and the name that says so.
  //
  //   {"where":"isFavorite == YES","sort":["creationDate:desc"]}  ◀──▶  fetch name: base64url of the canonical JSON
  //
  // The name holds the whole question, so a URL or a cursor with it is good after a restart, on another server of the
  // library, and for a client that wrote it itself. It is checked like any input each time. Canonical: keys in the
  // order of `members`, what is not asked left out; so equal questions have equal names, and share what is cached by
  // name. A smart album with a limit in days counts back from the day that the name holds, so a name at a token is one
  // list, on whichever day it is read.
  //
  // Invariant: two fetches are equal if their names are. Swift would take a predicate in two Unicode spellings for one;
  // their names differ, by which clients tell the messages of a feed apart.

  /// What a fetch of assets asks for, or of albums and folders, or of the log.
  struct FetchRequest: Hashable, Sendable {
    /// What a fetch is a list of.
    enum Subject {
      case assets, collections, log

      /// What a fetch of it is called where it has no place.
      var sentence: String {
        switch self {
        case .assets: "The fetch is one of assets"
        case .collections: "The fetch is one of collections"
        case .log: "The fetch is the log, whose events are read at GET /v1/log"
        }
      }
    }

    /// What it asks for.
    private struct Parts: Sendable {
      /// Whether it asks for the log instead of assets.
      var isLog = false
      /// Which collections instead of assets: `all`, `top` or the identifier of a folder.
      var collections: String?
      /// The client whose view is asked for; nil: that of the key. For the owner, see ``Call/library(of:)``.
      var selectionOf: String?
      /// A predicate in PhotoKit's format.
      var predicate: String?
      /// Words to find assets by.
      var search: String?
      /// Sort terms such as `creationDate:desc`, the outermost first.
      var sort: [String] = []
      /// The identifier of an album or smart album.
      var album: String?
      /// The name of one of the library's own smart albums, as PhotoKit spells the subtype.
      var smartAlbum: String?
      /// The day in UTC, by its beginning, from which a smart album counts back that has a limit in days.
      var day: Date?
      var isShowingHidden = false
      var isShowingTrash = false
      var isShowingAllBursts = false
      var isShowingAllStacks = false
      /// Only these; empty: all. In the order of their raw values, each once.
      var mediaTypes: [MediaType] = []
      /// Only what comes from these; empty: as the library has it.
      var sources: SourceTypes = []
      var limit = 0
      var offset = 0

      /// The canonical JSON.
      private var members: [JSON.Member] {
        var members: [JSON.Member] = []
        if let collections { members.append(JSON.Member("collections", .text(collections))) }
        if let selectionOf { members.append(JSON.Member("selectionOf", .text(selectionOf))) }
        if let predicate { members.append(JSON.Member("where", .text(predicate))) }
        if let search { members.append(JSON.Member("search", .text(search))) }
        if !sort.isEmpty { members.append(JSON.Member("sort", .list(sort.map { .text($0) }))) }
        if let album { members.append(JSON.Member("album", .text(album))) }
        if let smartAlbum { members.append(JSON.Member("smartAlbum", .text(smartAlbum))) }
        if let day { members.append(JSON.Member("day", .text(String(DateText.wallTime(day).prefix(10))))) }
        if isShowingHidden { members.append(JSON.Member("hidden", .bool(true))) }
        if isShowingTrash { members.append(JSON.Member("trash", .bool(true))) }
        if isShowingAllBursts { members.append(JSON.Member("allBursts", .bool(true))) }
        if isShowingAllStacks { members.append(JSON.Member("allStacks", .bool(true))) }
        if !mediaTypes.isEmpty { members.append(JSON.Member("mediaTypes", .list(mediaTypes.map { .text("\($0)") }))) }
        if !sources.isEmpty { members.append(JSON.Member("sources", .list(sources.names.map { .text($0) }))) }
        if isLog { members.append(JSON.Member("log", .bool(true))) }
        if limit > 0 { members.append(JSON.Member("limit", .integer(Int64(limit)))) }
        if offset > 0 { members.append(JSON.Member("offset", .integer(Int64(offset)))) }
        return members
      }

      /// The name that says all of it.
      var spelled: String { Keyring.spelled(Array(JSON.object(members).description.utf8)) }
    }

    /// The parts and the name. Copies of the request share them: thousands of feeds follow few fetches.
    private final class Content: Sendable {
      let parts: Parts
      let name: String
      init(_ parts: Parts) { (self.parts, name) = (parts, parts.spelled) }
    }

    private let content: Content
    private var parts: Parts { content.parts }
    /// Which collections instead of assets: `all`, `top` or the identifier of a folder.
    var collections: String? { content.parts.collections }
    /// Sort terms such as `creationDate:desc`, the outermost first.
    var sort: [String] { content.parts.sort }
    /// The day in UTC, by its beginning, from which a smart album counts back that has a limit in days.
    var day: Date? { content.parts.day }
    /// The name of the fetch, which says all of its parts.
    var name: String { content.name }

    private init(_ parts: Parts) { content = Content(parts) }

    static func == (one: FetchRequest, other: FetchRequest) -> Bool {
      one.content === other.content || one.name == other.name
    }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    static let nameLimit = 2048
    static let keys = [
      "collections", "selectionOf", "where", "search", "sort", "album", "smartAlbum", "day", "hidden", "trash",
      "allBursts", "allStacks", "mediaTypes", "sources", "limit", "offset", "log",
    ]

    /// The keys of a fetch of collections.
    private static let collectionKeys = ["collections", "selectionOf", "where", "sort", "limit", "offset"]

    /// Reads the JSON form.
    init(_ json: JSON) throws(Problem) {
      guard let members = json.objectValue else {
        throw .malformed("A fetch is described by an object, not \(json.kind).")
      }
      if let stranger = members.first(where: { !Self.keys.contains($0.key) }) {
        throw .malformed(
          "'\(stranger.key.prefix(40))' is not part of a fetch; its parts are \(Self.keys.joined(separator: ", ")).")
      }
      func read<Value>(_ key: String, _ value: (JSON) -> Value?, _ what: String) throws(Problem) -> Value? {
        guard let found = json[key], found != .null else { return nil }
        guard let value = value(found) else { throw .malformed("'\(key)' is \(found.kind); pass \(what).") }
        return value
      }
      var parts = Parts()
      parts.collections = try read("collections", \.textValue, "all, top or the identifier of a folder")
      parts.selectionOf = try read(
        "selectionOf", { $0.textValue.flatMap { $0.isEmpty ? nil : $0 } }, "the name of a client")
      if let selectionOf = parts.selectionOf {
        // No library has a view for another name.
        do { try ClientRow.check(name: selectionOf) } catch { throw Problem(error) }
      }
      parts.predicate = try read("where", \.textValue, "a predicate as text")
      parts.search = try read("search", \.textValue, "words as text")
      parts.sort = try read("sort", \.textsValue, "a list of terms such as creationDate:desc") ?? []
      parts.album = try read("album", \.textValue, "an identifier")
      parts.smartAlbum = try read("smartAlbum", \.textValue, "a name such as smartAlbumFavorites")
      parts.day = try read("day", { $0.textValue.flatMap(Self.day) }, "a day such as 2026-08-01")
      parts.isShowingHidden = try read("hidden", \.boolValue, "true or false") ?? false
      parts.isShowingTrash = try read("trash", \.boolValue, "true or false") ?? false
      parts.isShowingAllBursts = try read("allBursts", \.boolValue, "true or false") ?? false
      parts.isShowingAllStacks = try read("allStacks", \.boolValue, "true or false") ?? false
      parts.mediaTypes = try read("mediaTypes", Self.mediaTypes, "a list of image, video and audio") ?? []
      let names = SourceTypes.namedBits.map(\.name).joined(separator: ", ")
      parts.sources =
        try read("sources", { $0.textsValue.flatMap { SourceTypes(names: $0) } }, "a list of \(names)") ?? []
      parts.limit = try read("limit", \.positionValue, "a whole number, 0 or more") ?? 0
      parts.offset = try read("offset", \.positionValue, "a whole number, 0 or more") ?? 0
      parts.isLog = try read("log", \.boolValue, "true or false") ?? false
      if parts.isLog, let other = members.first(where: { $0.key != "log" && $0.value != .null }) {
        throw .malformed("'\(other.key)' is not about the log; pass 'log' alone.")
      }
      if parts.album != nil, parts.smartAlbum != nil {
        throw .malformed("'album' and 'smartAlbum' both choose an album; pass one.")
      }
      if parts.collections != nil, let other = members.first(where: { !Self.collectionKeys.contains($0.key) }) {
        throw .malformed(
          "'\(other.key)' is about assets; a fetch of collections has \(Self.collectionKeys.joined(separator: ", ")).")
      }
      guard parts.sort.count <= 8 else { throw .malformed("'sort' has \(parts.sort.count) terms; pass at most 8.") }
      self.init(parts)
    }

    /// Reads a name.
    init(name: String) throws(Problem) {
      let unnamed = Problem.malformed(
        "'\(name.prefix(40))' is not the name of a fetch; pass one returned by POST /v1/fetches.")
      guard name.utf8.count <= Self.nameLimit,
        let data = Data(
          base64Encoded: name.replacing("-", with: "+").replacing("_", with: "/")
            + String(repeating: "=", count: (4 - name.utf8.count % 4) % 4))
      else { throw unnamed }
      let json: JSON
      do throws(JSONError) { json = try JSONReader.read(Array(data)) } catch { throw unnamed }
      try self.init(json)
      // One question, one name: what is cached and compared by name would otherwise be kept twice.
      guard self.name == name else { throw unnamed }
    }

    private static func day(_ text: String) -> Date? {
      text.utf8.count == 10 ? DateText.wallTime(text + "T00:00:00") : nil
    }

    private static func mediaTypes(_ json: JSON) -> [MediaType]? {
      guard let names = json.textsValue else { return nil }
      let types = Set(names.compactMap { name in MediaType.allCases.first { "\($0)" == name && $0 != .unknown } })
      guard types.count == Set(names).count else { return nil }
      return types.sorted { $0.rawValue < $1.rawValue }
    }

    /// What the fetch is a list of.
    var subject: Subject { parts.isLog ? .log : parts.collections == nil ? .assets : .collections }

    /// Fetches from the current library or an as-of view.
    /// - Parameters:
    ///   - library: the view of the client.
    ///   - now: where to find an album that the view does not have yet.
    func run(in library: PhotoLibrary, orAlbumsOf now: PhotoLibrary) throws -> FetchResult<Asset> {
      guard subject == .assets else { throw Problem.malformed("\(subject.sentence), and this is about assets.") }
      try checkView(library)
      var options = FetchOptions()
      if let predicate = parts.predicate { options.condition = try Condition(format: predicate, for: .asset) }
      // Where files lie is in no answer, so a count must not tell it either.
      guard library.client == PhotoLibrary.owner || !options.condition.asks(for: .path) else {
        throw Problem.malformed("'path' is for the library's owner; ask for 'originalFilename'.")
      }
      if !parts.mediaTypes.isEmpty {
        let numbers = parts.mediaTypes.map { String($0.rawValue) }.joined(separator: ", ")
        options.condition = .and([options.condition, try Condition(format: "mediaType IN {\(numbers)}", for: .asset)])
      }
      options.search = parts.search
      options.includeAssetSourceTypes = parts.sources
      options.sort = try sort.map { try SortTerm($0, for: .asset) }
      options.includeHiddenAssets = parts.isShowingHidden
      options.showsTrash = parts.isShowingTrash
      options.includeAllBurstAssets = parts.isShowingAllBursts
      options.includeAllStackAssets = parts.isShowingAllStacks
      options.fetchLimit = parts.limit
      options.fetchOffset = parts.offset
      let album = try collection(in: library) ?? collection(in: now)
      guard (album?.countsDays ?? false) == (day != nil) else {
        throw Problem.malformed(
          day == nil
            ? "The album counts back from a day; pass 'day', or the name that POST /v1/fetches returns."
            : "'day' is for a smart album that counts back from it; the fetch has none.")
      }
      return try library.fetchAssets(options, in: album, today: day ?? library.today)
    }

    /// Chooses the day of an album that counts back from one, unless it is given: the day of the view.
    /// - Parameters:
    ///   - library: the view of the client, now or of a moment.
    ///   - now: where to find an album that the view does not have yet.
    mutating func chooseDay(in library: PhotoLibrary, orAlbumsOf now: PhotoLibrary) throws {
      guard subject == .assets, day == nil, parts.album != nil || parts.smartAlbum != nil,
        try (collection(in: library) ?? collection(in: now))?.countsDays == true
      else { return }
      let days = (library.today.timeIntervalSince1970 / 86_400).rounded(.down)
      var chosen = parts
      chosen.day = Date(timeIntervalSince1970: days * 86_400)
      self = FetchRequest(chosen)
    }

    /// The library as the fetch looks at it: as the client of the key, or for the owner as the client that it names.
    /// - Parameter library: the owner's view.
    func view(of library: PhotoLibrary, for key: Keyring.Key) throws(Problem) -> PhotoLibrary {
      guard let client = parts.selectionOf, client.exact != key.client.exact else { return library.as(key.client) }
      guard key.client == PhotoLibrary.owner, key.scopes.contains(.owner) else {
        throw Problem(403, "access-denied", "Only the library's owner may request another client's view.")
      }
      return library.as(client)
    }

    /// Refuses the view of any client but the one that the fetch names, from wherever it is called.
    private func checkView(_ library: PhotoLibrary) throws(Problem) {
      guard parts.selectionOf == nil || parts.selectionOf?.exact == library.client.exact else {
        throw Problem(
          403, "access-denied", "This route does not show another client's view; use a fetch without 'selectionOf'.")
      }
    }

    /// Fetches the collections, from a library of now or of a moment.
    /// - Parameters:
    ///   - library: the view of the client.
    ///   - now: where a folder is found that the moment does not have yet.
    func runCollections(in library: PhotoLibrary, orFoldersOf now: PhotoLibrary) throws -> FetchResult<PhotoCollection>
    {
      try checkView(library)
      var options = FetchOptions()
      if let predicate = parts.predicate { options.condition = try Condition(format: predicate, for: .collection) }
      options.sort = try sort.map { try SortTerm($0, for: .collection) }
      (options.fetchLimit, options.fetchOffset) = (parts.limit, parts.offset)
      switch collections {
      case nil: throw Problem.malformed("\(subject.sentence), and this is about collections.")
      case "all": return try library.fetchCollections(options)
      case "top": return try library.fetchCollections(in: nil, options)
      case let name?:
        guard let folder = try library.collection(name) ?? now.collection(name), folder.kind == .folder else {
          throw Problem.notFound
        }
        return try library.fetchCollections(in: folder, options)
      }
    }

    private func collection(in library: PhotoLibrary) throws -> PhotoCollection? {
      if let album = parts.album {
        guard let found = try library.collection(album), found.canContainAssets else { throw Problem.notFound }
        return found
      }
      guard let smartAlbum = parts.smartAlbum else { return nil }
      guard let subtype = AlbumSubtype.named.first(where: { $0.isSmart && $0.name == smartAlbum }) else {
        throw Problem.notFound
      }
      let albums = try library.fetchCollections(with: .smartAlbum, subtype: subtype)
      guard albums.count > 0 else { throw Problem.notFound }
      return try albums.object(at: 0)
    }
  }
#endif
