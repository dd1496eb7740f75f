import Foundation
import LibraryAudit
import PhotoLedger
import TestSupport
import Testing

// What the log answers about one thing, against a walk over all of it.

@Suite("Audit")
struct AuditTests {
  /// The library of the storage format's fixtures: one of every fact.
  private static func everything(_ folder: TemporaryFolder) throws -> PhotoLibrary {
    try FormatLibrary.make(at: folder.place("library"))
  }

  private static func entries(
    _ library: PhotoLibrary, _ filter: LogFilter = LogFilter(), newestFirst: Bool = false, limit: Int? = nil
  ) throws -> [LogEntry] {
    var entries: [LogEntry] = []
    try library.forEachLogEntry(filter, newestFirst: newestFirst, limit: limit) { entry in
      entries.append(entry)
      return true
    }
    return entries
  }

  private static func changes(
    _ object: String, _ library: PhotoLibrary, _ filter: LogFilter = LogFilter()
  ) throws -> [PropertyChange] {
    var changes: [PropertyChange] = []
    try library.forEachPropertyChange(of: object, filter) { change in
      changes.append(change)
      return true
    }
    return changes
  }

  // MARK: The log

  /// Whether an entry meets a filter, by what the entry itself says.
  private static func fits(_ entry: LogEntry, _ filter: LogFilter) -> Bool {
    let names = Set(entry.objects.map { $0.prefix(36) })
    let words = Set([entry.type] + entry.type.split(separator: ".").map(String.init))
    guard filter.objects.allSatisfy({ names.contains($0.uuidString[...]) }) else { return false }
    if let client = filter.client, entry.commit.client != client { return false }
    if let cause = filter.cause, entry.commit.cause != cause { return false }
    if !filter.kinds.isEmpty, words.isDisjoint(with: filter.kinds) { return false }
    if let from = filter.from, entry.commit.date < from { return false }
    if let to = filter.to, entry.commit.date >= to { return false }
    if let after = filter.after, entry.token <= after { return false }
    return true
  }

  @Test("every combination of filters returns what a scan of the log returns, and the first of it, and what follows")
  func filters() throws {
    let folder = try TemporaryFolder()
    let library = try Self.everything(folder)
    defer { library.close() }
    let all = try Self.entries(library)
    let named = try all.filter { $0.type.hasSuffix(".created") && $0.type != "library.created" }
      .map { try #require(LocalIdentifier($0.objects[0])) }
    let (asset, album) = (named[0], named[3])
    let middle = all[all.count / 2].commit.date
    var (count, matched) = (0, 0)
    for objects in [[], [asset], [album], [asset, album]] {
      for client in [nil, "owner", "com.example.gallery"] {
        for cause in [nil, "limit"] {
          for kinds in [[], ["assets"], ["inserted"], ["content.removed", "granted", "created"]] as [Set<String>] {
            for (from, to) in [(nil, nil), (middle, nil), (nil, middle)] as [(Date?, Date?)] {
              for after in [nil, all[20].token] {
                var filter = LogFilter()
                (filter.objects, filter.client, filter.cause) = (objects, client, cause)
                (filter.kinds, filter.from, filter.to, filter.after) = (kinds, from, to, after)
                let wanted = all.filter { Self.fits($0, filter) }.map(\.sequence)
                #expect(try Self.entries(library, filter).map(\.sequence) == wanted, "\(filter)")
                let (newestFirst, limit) = (count % 2 == 0, count % (wanted.count + 2))
                let limited = try Self.entries(library, filter, newestFirst: newestFirst, limit: limit)
                let first = (newestFirst ? wanted.reversed() : wanted).prefix(limit)
                #expect(limited.map(\.sequence) == Array(first), "\(limit) \(filter)")
                let place = all[count % all.count].sequence
                filter.beyond = place
                let rest = wanted.filter { newestFirst ? $0 < place : $0 > place }
                let beyond = try Self.entries(library, filter, newestFirst: newestFirst).map(\.sequence)
                #expect(beyond == (newestFirst ? rest.reversed() : rest), "\(filter)")
                count += 1
                matched += wanted.isEmpty ? 0 : 1
              }
            }
          }
        }
      }
    }
    #expect(count == 576 && matched > 100)
  }

  @Test("every event type is a known kind, by its subject and its verb, and nothing else is")
  func kinds() {
    // That these are the types of the fixtures is checked with the storage format.
    for type in LogFilter.knownTypes {
      for kind in [type] + type.split(separator: ".").map(String.init) { #expect(LogFilter.isKnown(kind: kind)) }
    }
    for kind in ["", "asset.", ".created", "creat", "asset.createdd"] { #expect(!LogFilter.isKnown(kind: kind)) }
  }

  @Test("the sentence of an edit names every changed property, also those that the row of the asset does not hold")
  func sentences() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let edits: [(names: String, make: (inout AssetChanges) -> Void)] = [
      ("caption", { $0.caption = .set("The bay") }), ("keywords", { $0.addedKeywords = ["sea"] }),
      ("rating", { $0.rating = .three }),
      (
        "rating, caption, keywords",
        {
          ($0.rating, $0.caption) = (.four, .clear)
          $0.removedKeywords = ["sea"]
        }
      ),
    ]
    for edit in edits {
      var changes = AssetChanges()
      edit.make(&changes)
      let made = changes
      try await small.change { $0.edit([id], made) }
      let entry = try #require(try Self.entries(small.library).last)
      #expect(entry.sentence == "Edited: 'IMG_0.jpg' (\(edit.names)).")
    }
  }

  // MARK: One object

  @Test("in the history of any object each value follows the one before, and the last are the current values")
  func histories() throws {
    let folder = try TemporaryFolder()
    let library = try Self.everything(folder)
    defer { library.close() }
    let many: Set = ["members", "containers", "selections", "picks"]
    var seen: Set<String> = []
    for entry in try Self.entries(library) where entry.type.hasSuffix(".created") && entry.sequence > 1 {
      let object = entry.objects[0]
      var now: [String: LogValue] = [:]
      for change in try Self.changes(object, library) {
        #expect(change.object == object && change.old != change.new, "\(change)")
        seen.insert(change.property)
        if many.contains(change.property) { continue }
        let known = change.origin.type.hasSuffix(".created") ? .null : now[change.property]
        #expect(change.old == known ?? Self.unset(change.property), "\(change)")
        now[change.property] = change.new
      }
      if let asset = try library.asset(object) {
        let metadata = try library.extendedMetadata(of: asset)
        #expect(now["isFavorite"] ?? .bool(false) == .bool(asset.isFavorite))
        #expect(now["rating"] ?? .integer(0) == .integer(Int64(asset.rating.rawValue)))
        #expect(now["trashedDate"] ?? .null == asset.trashedDate.map(LogValue.date) ?? .null)
        #expect(now["caption"] ?? .null == metadata.caption.map(LogValue.text) ?? .null)
        #expect(now["addedDate"] == .date(asset.addedDate))
      } else if let collection = try library.collection(object) {
        #expect(now["localizedTitle"] == collection.localizedTitle.map(LogValue.text))
        #expect(now["modificationDate"] == .date(collection.modificationDate))
        if collection.kind == .album {
          #expect(now["estimatedAssetCount"] ?? .integer(0) == .integer(Int64(collection.estimatedAssetCount)))
        }
      }
    }
    #expect(seen.isSuperset(of: many.union(["resources", "keywords", "predicate", "creator", "deletedDate"])))
  }

  /// What a property has that no entry gave a value yet.
  private static func unset(_ property: String) -> LogValue {
    switch property {
    case "isFavorite", "isHidden", "representsBurst", "isRaw", "isSelfPortrait", "isLivePhotoVideoPlaybackEnabled":
      .bool(false)
    case "keywords": .list([])
    case "estimatedAssetCount": .integer(0)
    default: .null
    }
  }

  private static func json(_ write: (inout JSONBytes) throws -> Void) rethrows -> String {
    var bytes = JSONBytes()
    try write(&bytes)
    return bytes.text()
  }

  @Test("a value in a history or an event has the form that it has in the JSON of its asset")
  func forms() async throws {
    let small = try SmallLibrary()
    var creation = AssetCreation.invented(1, date: Date(timeIntervalSince1970: 1_717_173_000))
    creation.localCreationDate = Date(timeIntervalSince1970: 1_717_180_200.25)
    creation.timeZoneOffset = 7200
    creation.location = Location(latitude: 54.43, longitude: 11.19)
    (creation.mediaSubtypes, creation.rating) = ([.photoPanorama], .three)
    (creation.burstIdentifier, creation.burstSelectionTypes) = ("B-1", .userPick)
    var made: LocalIdentifier?
    try await small.change { made = $0.createAsset(creation) }
    let id = try #require(made)
    let asset = try small.asset(id)
    let resources = try small.library.resources(of: asset)
    let metadata = try small.library.extendedMetadata(of: asset)
    let printed = try Self.json { try $0.write(asset, resources, metadata) }
    var seen: Set<String> = []
    for change in try Self.changes(id.uuidString, small.library) {
      // Here the date of capture is in UTC; there it has the offset, which is a property of its own here.
      let isSplit = ["creationDate", "timeZoneOffset"].contains(change.property)
      guard !isSplit, AssetField.allCases.contains(where: { $0.name == change.property }) else { continue }
      let value = Self.json { $0.write(change.new) }
      #expect(printed.contains("\"\(change.property)\":\(value),"), "\(change.property) \(value)")
      seen.insert(change.property)
    }
    #expect(seen.isSuperset(of: ["localCreationDate", "location", "mediaSubtypes", "rating", "burstSelectionTypes"]))
    let entry = try #require(try Self.entries(small.library).last { $0.type == "asset.created" })
    let event = Self.json { entry.write(to: &$0) }
    for value in [
      #""localCreationDate":"2024-05-31T18:30:00.25","#, #""rating":3,"#, #""burstSelectionTypes":["userPick"],"#,
      #""location":{"latitude":54.43,"longitude":11.19,"altitude":null},"#,
    ] {
      #expect(printed.contains(value) && event.contains(value), "\(value)")
    }
  }

  @Test("the history of a purged asset includes its purge, and a filter selects among its changes")
  func purged() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let album = try await small.album("Sea", [id])
    try await small.library.performChanges(cause: "like") { $0.setFavorite(true, for: [id]) }
    try await small.library.performChanges(cause: "tidy") { $0.deleteAssets([id]) }
    try await small.library.performChanges(cause: "tidy") { $0.purgeAssets([id]) }
    let all = try Self.changes(id.uuidString, small.library)
    #expect(all.first?.old == .null && all.first?.origin.type == "asset.created")
    let purge = all.filter { $0.origin.type == "asset.purged" }
    #expect(purge.allSatisfy { $0.new == .null && $0.origin.commit.cause == "tidy" })
    let places = purge.filter { $0.property == "containers" }
    #expect(places.count == 1 && "\(places)".contains(album.localIdentifier))
    var filter = LogFilter()
    filter.cause = "like"
    let liked = try Self.changes(id.uuidString, small.library, filter)
    #expect(liked.contains { $0.property == "isFavorite" && $0.old == .bool(false) && $0.new == .bool(true) })
    #expect(liked == all.filter { $0.origin.commit.cause == "like" })
    filter = LogFilter()
    filter.objects = [album.id]
    let shared = try Self.changes(id.uuidString, small.library, filter)
    #expect(Set(shared.map(\.origin.type)) == ["content.inserted", "assets.trashed", "asset.purged"])
  }

  @Test("the client that added each member of an album is listed, and who removed former ones, now and at any state")
  func blame() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let app = try await small.ruleClient(.authorized)
    let album = try await small.album("Sea", [a[0], a[1]])
    try await app.performChanges(cause: "add") { $0.album(album.id).insert([a[2], a[3]], at: 0) }
    let before = try small.library.currentToken
    try await app.performChanges(cause: "tidy") { $0.album(album.id).remove([a[0], a[2]]) }
    try await small.library.performChanges(cause: "back") { $0.album(album.id).add([a[0]]) }
    try await small.library.performChanges(cause: "trash") { $0.deleteAssets([a[1], a[3]]) }
    try await small.library.performChanges(cause: "purge") { $0.purgeAssets([a[3]]) }

    let name = album.localIdentifier
    let present = try small.library.blame(name)
    #expect(present.map(\.member) == [a[1], a[0]].map { $0.uuidString + "/L0/001" })
    #expect(present.map { $0.added?.commit.client } == ["owner", "owner"])
    #expect(present.map { $0.added?.commit.cause } == [nil, "back"] && present.allSatisfy(\.isPresent))
    let all = try small.library.blame(name, includingFormer: true)
    #expect(all.prefix(2) == present[...])
    #expect(all.dropFirst(2).map { $0.removed?.commit.cause } == ["purge", "tidy"])
    #expect(all.dropFirst(2).map { $0.added?.commit.client } == ["com.example.app", "com.example.app"])
    #expect(all.dropFirst(2).map { $0.removed?.type } == ["asset.purged", "content.removed"])
    let then = try small.library.blame(name, includingFormer: true, at: before)
    #expect(then.map { $0.member.prefix(36) } == [a[2], a[3], a[0], a[1]].map { $0.uuidString[...] })
    #expect(then.allSatisfy { $0.isPresent && $0.removed == nil })
    let folder = try await small.folder("Travels", [album.id])
    #expect(try small.library.blame(folder.localIdentifier).map(\.label) == ["'Sea'"])
    let smart = try #require(try small.library.fetchCollections(with: .smartAlbum, subtype: .smartAlbumFavorites).first)
    for wrong in [smart.localIdentifier, a[0].uuidString] {
      #expect(Self.code { _ = try small.library.blame(wrong) } == .changeNotSupported)
    }
  }

  private static func code(_ body: () throws -> Void) -> LibraryError.Code? {
    do { try body() } catch { return (error as? LibraryError)?.code }
    return nil
  }

  // MARK: Access

  @Test("a client's intervals are what it could see at every commit of a random history", arguments: [1, 2, 3])
  func intervals(seed: UInt64) async throws {
    var story = try AccessStory(seed: seed)
    for _ in 0..<70 { try story.step() }
    let library = story.small.library
    let intervals = try AccessStory.clients.map { try library.accessIntervals(of: $0) }
    let head = try library.currentToken.commit
    var grounds: Set<AccessGround> = []
    for number in 0...head {
      let token = try story.token(number)
      for object in story.objects {
        let found = try library.access(to: object, at: token)
        grounds.formUnion(found.map(\.ground))
        let there = try library.wasThere(object, at: token)
        for (client, intervals) in zip(AccessStory.clients, intervals) {
          let holding = intervals.filter { interval in
            interval.holds(atCommit: number) && (interval.object ?? object).prefix(36) == object.prefix(36)
          }
          let ground = found.first { $0.client == client }?.ground
          let known = there ? AccessGround.allCases.first { ground in holding.contains { $0.ground == ground } } : nil
          #expect(ground == known, "\(client) and \(object) at commit \(number)")
        }
      }
    }
    #expect(grounds == Set(AccessGround.allCases))
    let last = try story.token(head)
    #expect(try library.accessIntervals(of: AccessStory.clients[0], at: last).allSatisfy { $0.to == nil })
    #expect(intervals[0].contains { $0.to != nil })
    #expect(intervals.joined().allSatisfy { $0.to?.commit.number ?? .max > $0.from.commit.number })
  }

  @Test("what an undo of a purge returns to clients is in their intervals again")
  func returned() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let app = try await small.ruleClient(.limited, [a[0]])
    let library = small.library
    _ = try library.store.perform([.client(named: app.client, .pick([a[1]]))], cause: "pick")
    let given = try library.currentToken.commit
    try library.performChangesAndWait(cause: "tidy") { $0.deleteAssets(a) }
    try library.performChangesAndWait(cause: "tidy") { $0.purgeAssets(a) }
    let purged = try library.currentToken.commit
    try library.undoAndWait(.cause("tidy"))
    let back = try library.currentToken.commit
    let intervals = try library.accessIntervals(of: app.client)
    for (asset, ground) in zip(a, [AccessGround.selection, .pick]) {
      let name = asset.uuidString
      #expect(try library.access(to: name).map(\.ground) == [ground])
      let own = intervals.filter { $0.object?.hasPrefix(name) == true && $0.ground == ground }
      #expect(own.map { $0.to?.commit.number } == [purged, nil])
      #expect(
        [given, purged, back].map { number in own.contains { $0.holds(atCommit: number) } } == [true, false, true])
    }
  }

  @Test("only the owner may query, and what never existed is named")
  func refusals() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0].uuidString
    let app = try await small.ruleClient(.authorized)
    for library in [app, small.library.as("com.example.stranger")] {
      #expect(Self.code { _ = try Self.changes(id, library) } == .accessUserDenied)
      #expect(Self.code { _ = try library.blame(id) } == .accessUserDenied)
      #expect(Self.code { _ = try library.access(to: id) } == .accessUserDenied)
      #expect(Self.code { _ = try library.accessIntervals(of: app.client) } == .accessUserDenied)
    }
    for name in ["nonsense", "00000000-0000-4000-8000-000000000000"] {
      #expect(Self.code { _ = try Self.changes(name, small.library) } == .identifierNotFound)
      #expect(Self.code { _ = try small.library.blame(name) } == .identifierNotFound)
      #expect(Self.code { _ = try small.library.access(to: name) } == .identifierNotFound)
      #expect(Self.code { _ = try small.library.accessIntervals(of: name) } == .identifierNotFound)
    }
  }

  @Test("a moment is a state: by the sequence of an event, by an instant, also where the clock was set back")
  func moments() throws {
    let times = Gathered<Double>()
    for time in [0, 10, 20, 15, 30, 5, 40] as [Double] { times.append(time) }
    var environment = LibraryEnvironment.seeded(1)
    let count = Gathered<Int>()
    environment.now = {
      count.append(1)
      return Date(timeIntervalSince1970: 1_000_000 + times.all[min(count.all.count, times.all.count) - 1])
    }
    let made = try TemporaryLibrary(environment)
    for number in 0..<4 { try made.library.performChangesAndWait { $0.createAlbum(title: "\(number)") } }
    let commits = Set(try Self.entries(made.library).map(\.commit)).sorted { $0.number < $1.number }
    let head = try made.library.currentToken.commit
    for second in stride(from: 0.0, through: 45, by: 2.5) {
      let date = Date(timeIntervalSince1970: 1_000_000 + second)
      let wanted = commits.last { $0.date <= date }?.number
      #expect(try made.library.at(date: date).currentToken.commit == wanted)
    }
    #expect(try made.library.at(date: Date(timeIntervalSince1970: 0)).currentToken.commit == 0)
    #expect(try made.library.at(sequence: 0).currentToken.commit == 0)
    let last = try #require(try Self.entries(made.library).last)
    #expect(try made.library.at(sequence: last.sequence).currentToken.commit == head)
    #expect(Self.code { _ = try made.library.at(sequence: last.sequence + 1) } == .invalidToken)
  }

  // MARK: Records

  private static func keys(_ value: LogValue?) -> [String] {
    guard case .object(let fields)? = value else { return [] }
    return fields.map(\.name)
  }

  private static func value(_ name: String, _ record: LogValue) -> LogValue? {
    guard case .object(let fields) = record else { return nil }
    return fields.first { $0.name == name }?.value
  }

  @Test("a record spells its object as PhotoKit does and names its state, however the query was written")
  func spellings() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let album = try await small.album("Sea", [id])
    let app = try await small.ruleClient(.limited, [id])
    let before = try small.library.currentToken
    try await small.change { $0.setFavorite(true, for: [id]) }
    let after = try small.library.currentToken
    let full = id.uuidString + "/L0/001"
    for name in [full, id.uuidString, id.uuidString.lowercased()] {
      let changes = try Self.changes(name, small.library).map(\.record)
      #expect(!changes.isEmpty && changes.allSatisfy { Self.value("object", $0) == .text(full) })
      for (token, state) in [(nil, after), (before, before)] as [(Token?, Token)] {
        let access = try #require(try small.library.access(to: name, at: token).first)
        #expect(access.client == app.client)
        #expect(Self.value("object", access.record) == .text(full))
        #expect(Self.value("token", access.record) == .text(state.description))
      }
      #expect(try small.library.at(before).access(to: name).map(\.token) == [before])
    }
    for name in [album.localIdentifier, album.id.uuidString.lowercased()] {
      let members = try small.library.blame(name).map(\.record)
      #expect(members.map { Self.value("container", $0) } == [.text(album.localIdentifier)])
    }
  }

  @Test("the records of an audit have the keys of schema 1, in their order")
  func records() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let album = try await small.album("Sea", [id])
    let app = try await small.ruleClient(.limited, [id])
    try await small.change { $0.album(album.id).remove([id]) }
    try await small.change { $0.withdraw([id], from: app.client) }
    let origin = ["sequence", "token", "date", "client", "process", "cause", "type"]
    let library = small.library
    let event = try #require(try Self.entries(library).last).record
    let change = try #require(try Self.changes(id.uuidString, library).first).record
    let member = try #require(try library.blame(album.localIdentifier, includingFormer: true).first).record
    let interval = try #require(
      try library.accessIntervals(of: app.client).first { $0.ground == .selection }
    ).record
    try await small.change { $0.grant([id], to: app.client) }
    let access = try #require(try library.access(to: id.uuidString).first).record
    #expect(
      Self.keys(event) == [
        "schema", "record", "sequence", "token", "date", "client", "process", "cause", "key", "causation", "type",
        "objects", "sentence", "details", "titles", "isErased",
      ])
    #expect(Self.keys(change) == ["schema", "record"] + origin + ["object", "property", "old", "new"])
    #expect(
      Self.keys(member) == ["schema", "record", "container", "member", "label", "isPresent", "added", "removed"])
    #expect(Self.keys(access) == ["schema", "record", "object", "token", "client", "ground"])
    #expect(Self.keys(interval) == ["schema", "record", "client", "ground", "object", "from", "to"])
    for part in [Self.value("added", member), Self.value("removed", member), Self.value("from", interval)] {
      #expect(Self.keys(part) == origin)
    }
    let records = [event, change, member, access, interval]
    #expect(records.map { Self.value("schema", $0) } == Array(repeating: .integer(1), count: 5))
    let kinds = ["event", "change", "member", "access", "interval"]
    #expect(records.map { Self.value("record", $0) } == kinds.map(LogValue.text))
  }
}

extension PhotoLibrary {
  /// Whether an object was there at a state, and no deleted album.
  fileprivate func wasThere(_ object: String, at token: Token) throws -> Bool {
    var (isThere, isDeleted) = (false, false)
    try forEachPropertyChange(of: object) { change in
      guard change.origin.token <= token else { return false }
      if change.origin.type.hasSuffix(".created") { isThere = true }
      if change.origin.type == "asset.purged", object.hasSuffix("/L0/001") { isThere = false }
      if change.property == "deletedDate" { isDeleted = change.new != .null }
      return true
    }
    return isThere && !isDeleted
  }
}

/// A random history of what clients may see.
private struct AccessStory {
  static let clients = ["com.example.one", "com.example.two", "com.example.three"]

  let small: SmallLibrary
  /// Every asset and album that ever was, spelled.
  private(set) var objects: [String] = []
  private var assets: [LocalIdentifier] = []
  private var albums: [LocalIdentifier] = []
  private var random: SeededGenerator

  init(seed: UInt64) throws {
    small = try SmallLibrary(.seeded(seed))
    random = SeededGenerator(seed: seed)
    try make(5)
    try small.library.performChangesAndWait { block in
      for client in Self.clients { block.register(client: client) }
    }
  }

  func token(_ commit: UInt64) throws -> Token {
    let spelled = try small.library.currentToken.description
    return try Token("\(spelled.prefix(upTo: spelled.lastIndex(of: "-")!))-\(String(commit, radix: 36))")
  }

  private mutating func make(_ count: Int) throws {
    let first = objects.count
    let made = try small.library.performChangesAndWait { block in
      for index in 0..<count { block.createAsset(.invented(first + index)) }
    }.created
    objects += made
    assets += made.compactMap { LocalIdentifier($0) }
  }

  /// A block, which may be rejected; then nothing has happened.
  mutating func step() throws {
    let client = random.one(of: Self.clients)
    let some = random.some(3, of: assets)
    let library = small.library
    do {
      switch random.int(0..<12) {
      case 0...2:
        let status = random.one(of: [.limited, .limited, .authorized, .denied] as [AuthorizationStatus])
        try library.performChangesAndWait { $0.setAuthorizationStatus(status, of: client) }
      case 3...5: try library.performChangesAndWait { $0.grant(some, to: client) }
      case 6: try library.performChangesAndWait { $0.withdraw(some, from: client) }
      case 7:
        // Given and taken in one commit: never to be seen.
        try library.performChangesAndWait { block in
          block.grant(some, to: client)
          block.withdraw(some, from: client)
        }
      case 8: _ = try library.store.perform([.client(named: client, .pick(some))], cause: "pick")
      case 9:
        let made = try library.as(client).performChangesAndWait { block in
          block.album(block.createAlbum(title: "Own")).add(Array(some.prefix(1)))
        }.created
        objects += made
        albums += made.compactMap { LocalIdentifier($0) }
      case 10:
        guard !albums.isEmpty else { return }
        let album = random.one(of: albums)
        try library.performChangesAndWait { $0.deleteCollections([album]) }
      default:
        let asset = random.one(of: assets)
        try library.performChangesAndWait { $0.deleteAssets([asset]) }
        try library.performChangesAndWait { $0.purgeAssets([asset]) }
        assets.removeAll { $0 == asset }
        try make(1)
      }
    } catch is LibraryError {
      return
    }
  }
}
