#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryJSON
  import LibraryPicking
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  // Two libraries behind two servers; one has more than the client may see. Every route is asked as the client, and
  // every answer is compared byte by byte: status, fields, content, the first event of a stream. A route that somebody
  // adds takes part by itself, with every candidate for its placeholders.
  //
  // What a step draws comes from a stream that begins anew with each visible step, and its clock is set by the step, so
  // that hidden work shifts nothing (as in SimulationTests' Twin).

  @Suite("Nothing leaks over HTTP")
  struct NothingLeaksOverHTTPTests {
    @Test(
      "a limited client gets byte-equal answers of two libraries that differ outside of what it sees, on every route")
    func nothingLeaks() async throws {
      let full = try await GalleryTwin.story(hasMore: true, probes: [])
      let plain = try await GalleryTwin.story(hasMore: false, probes: full.probes)
      #expect(full.hiddenCount > 20 && plain.hiddenCount == 0)
      #expect(full.transcript.count == plain.transcript.count && full.transcript.count > 500)
      var shown = 0
      for (one, other) in zip(full.transcript, plain.transcript) where one != other && shown < 10 {
        shown += 1
        Issue.record("\(one.question)\nwith more: \(one.answer.prefix(1500))\nplain: \(other.answer.prefix(1500))")
      }
      // The client did see something, and it was not only rejections.
      #expect(full.transcript.count { $0.answer.hasPrefix("HTTP/1.1 200") } > 100)
    }
  }

  /// What was asked and answered.
  private struct Exchange: Equatable {
    var question: String
    var answer: String
  }

  /// What names hidden things in the library that has more, at one look.
  private struct Probes {
    var assets: [String] = []
    var albums: [String] = []
    var hashes: [String] = []
    var names: [String: [String]] = [:]
  }

  /// The clock and the chance of one library and its server.
  private final class GalleryTwinWorld: Sendable {
    private struct State {
      var step = 0
      var generator = SeededGenerator(seed: 0)
      var now = Date(timeIntervalSince1970: 1_750_000_000)
    }

    private let state = Mutex(State())
    var now: Date { state.withLock { $0.now } }
    func next() -> UInt64 { state.withLock { $0.generator.next() } }

    func begin(isVisible: Bool) {
      state.withLock { state in
        if isVisible {
          state.step += 1
          state.generator = SeededGenerator(seed: UInt64(state.step))
          state.now = Date(timeIntervalSince1970: 1_750_000_000 + Double(state.step) * 10)
        } else {
          state.generator = SeededGenerator(seed: state.generator.next() | 1 << 63)
          state.now += 0.125
        }
      }
    }
  }

  /// One of two galleries that a limited client cannot tell apart.
  private final class GalleryTwin {
    struct Record {
      var transcript: [Exchange]
      var probes: [Probes]
      var hiddenCount: Int
    }

    let hasMore: Bool
    let world = GalleryTwinWorld()
    let temporary: TemporaryLibrary
    let server: GalleryServer
    let address: HTTPAddress
    private var owner = ""
    private var app = ""
    private var transcript: [Exchange] = []
    private var probes: [Probes]
    private var looks = 0
    private var hidden = Probes()
    private var visible: [LocalIdentifier] = []
    private var visibleHashes: [String] = []

    var library: PhotoLibrary { temporary.library }

    static func story(hasMore: Bool, probes: [Probes]) async throws -> Record {
      try await onBlockingThreads {
        let twin = try GalleryTwin(hasMore: hasMore, probes: probes)
        do { try await twin.tell() } catch {
          await twin.server.stop()
          throw error
        }
        await twin.server.stop()
        return Record(transcript: twin.transcript, probes: twin.probes, hiddenCount: twin.hidden.assets.count)
      }
    }

    init(hasMore: Bool, probes: [Probes]) throws {
      (self.hasMore, self.probes) = (hasMore, probes)
      let world = world
      temporary = try TemporaryLibrary(
        LibraryEnvironment(process: "twin", now: { world.now }, random: { world.next() }))
      var access = GalleryAccess()
      access.sweepSeconds = 3600
      access.limits.keyBurst = 1_000_000
      access.allowsImmichClients = true
      server = try GalleryServer(
        temporary.library,
        environment: GalleryEnvironment(
          now: { world.now },
          randomBytes: { count in (0..<count).map { _ in UInt8(truncatingIfNeeded: world.next()) } }),
        access: access)
      address = try server.start(try HTTPListener("127.0.0.1:0"))
    }

    // MARK: Steps

    private func show(as client: String = PhotoLibrary.owner, _ change: (ChangeBlock) throws -> Void) async throws {
      world.begin(isVisible: true)
      try await library.as(client).performChanges(cause: "visible", change)
    }

    private func hide(_ change: (ChangeBlock) throws -> Void) async throws {
      guard hasMore else { return }
      world.begin(isVisible: false)
      let made = try await library.performChanges(cause: "hidden", change).created.compactMap { LocalIdentifier($0) }
      for id in made {
        if let asset = try library.asset(id.uuidString) {
          hidden.assets.append(id.uuidString)
          hidden.hashes += try library.resources(of: asset).map(\.sha256Hex)
        } else {
          hidden.albums.append(id.uuidString)
        }
      }
    }

    private func asset(_ text: String, _ day: Double) -> AssetCreation {
      var creation = AssetCreation(
        mediaType: .image, resources: [ResourceDraft(type: .photo, source: .data(Data(text.utf8)))])
      creation.creationDate = Date(timeIntervalSince1970: day * 86_400)
      return creation
    }

    private func tell() async throws {
      try await begin()
      try look("at first")
      try await hideMuch()
      try look("behind its back")
      try await show { change in
        change.setFavorite(true, for: [visible[1]])
        change.withdraw([visible[0]], from: "app")
        change.grant([visible[3]], to: "app")
      }
      try look("after changes that it sees")
      try await hide { $0.setFavorite(true, for: hidden.assets.prefix(3).compactMap { LocalIdentifier($0) }) }
      try look("behind its back again")
      try await show { $0.setAuthorizationStatus(.denied, of: "app") }
      try look("denied")
      try await hide { $0.grant(hidden.assets.prefix(3).compactMap { LocalIdentifier($0) }, to: "app") }
      try look("denied, behind its back")
    }

    private func begin() async throws {
      try await hide { change in
        for index in 0..<8 { change.createAsset(asset("hidden \(index)", Double(index))) }
        change.createAsset(asset("visible 0", 1))
        change.createAlbum(title: "hidden")
      }
      world.begin(isVisible: true)
      try await library.performChanges { change in
        visible = (0..<4).map { change.createAsset(asset("visible \($0)", Double($0))) }
      }
      visibleHashes = try visible.flatMap { id in
        try library.asset(id.uuidString).map { try library.resources(of: $0).map(\.sha256Hex) } ?? []
      }
      try await hide { change in
        change.setAuthorizationStatus(.limited, of: "other")
        change.grant([visible[0]], to: "other")
      }
      try await show { change in
        var registration = ClientRegistration()
        registration.readWriteUsageDescription = "to look"
        change.register(client: "app", registration)
        change.setAuthorizationStatus(.limited, of: "app")
        change.grant(Array(visible[..<3]), to: "app")
      }
      world.begin(isVisible: true)
      owner = try server.keyring.makeKey(.init(client: "owner", label: "", scopes: Scope.all)).secret
      app = try server.keyring.makeKey(.init(client: "app", label: "app", scopes: Scope.all)).secret
    }

    /// Assets, albums, people, keys, requests and picking sessions of others.
    private func hideMuch() async throws {
      try await hide { change in
        for index in 0..<20 { change.createAsset(asset("more \(index)", Double(index))) }
        change.album(change.createAlbum(title: "more")).add([visible[1]])
        change.deleteAssets(hidden.assets.prefix(2).compactMap { LocalIdentifier($0) })
        var registration = ClientRegistration()
        registration.readWriteUsageDescription = "to look"
        change.register(client: "hidden client", registration)
      }
      guard hasMore else { return }
      world.begin(isVisible: false)
      let person = try server.people.add("hidden person", client: "family", password: nil)
      let key = try server.keyring.makeKey(.init(client: "family", label: "hidden")).0
      _ = try library.store.perform(
        [.client(named: "hidden client", .request(.readWrite))], as: "hidden client", cause: nil)
      let session = try library.as("hidden client").beginPicking()
      try server.picking.add(session, seconds: 1_000_000) {}
      hidden.names["person"] = [person.name.replacing(" ", with: "%20")]
      hidden.names["key"] = [key.name]
      hidden.names["client"] = ["hidden%20client", "family"]
      hidden.names["session"] = [session.id]
    }

    // MARK: Asking

    private func look(_ name: String) throws {
      if hasMore { probes.append(hidden) }
      let probe = probes[looks]
      world.begin(isVisible: true)
      for route in Router.routesWithImmichClients {
        // Signing out would be the last that the client asks.
        if route.method == "DELETE", route.path == "/v1/session" { continue }
        for path in try paths(route.path, probe) {
          for (query, body) in questions(route, probe) {
            try ask(name, route.method, path + query, body)
            if route.method == "GET", query.isEmpty { try ask(name, "HEAD", path, nil) }
          }
        }
      }
      looks += 1
    }

    /// The path of a route with each candidate for its placeholders.
    private func paths(_ path: String, _ probe: Probes) throws -> [String] {
      var paths = [""]
      for part in path.split(separator: "/") {
        guard part.hasPrefix("{") else {
          paths = paths.map { "\($0)/\(part)" }
          continue
        }
        let candidates = try candidates(String(part.dropFirst().dropLast()), probe)
        paths = paths.flatMap { path in candidates.map { "\(path)/\($0)" } }
      }
      return paths.map { $0.isEmpty ? "/" : $0 }
    }

    private func candidates(_ name: String, _ probe: Probes) throws -> [String] {
      let nonsense = ["none", "00000000-0000-0000-0000-000000000000"]
      switch name {
      case "asset": return visible.map(\.uuidString) + probe.assets.prefix(2) + probe.albums.prefix(1) + nonsense
      case "sha256": return visibleHashes.prefix(2) + probe.hashes.prefix(2) + [String(repeating: "0", count: 64)]
      case "fetch":
        let albums = try (probe.albums.prefix(2) + [nonsense[1]]).map { try FetchRequest(["album": .text($0)]).name }
        return try albums + [
          FetchRequest([:]).name, FetchRequest(["sort": ["creationDate:desc"], "hidden": true]).name,
          FetchRequest(["trash": true]).name, FetchRequest(["smartAlbum": "smartAlbumFavorites"]).name,
          FetchRequest(["log": true]).name, "none",
        ]
      case "key", "person", "client", "session", "item", "share":
        return (probe.names[name] ?? []) + nonsense
      default:
        // A placeholder that others add: what they would name in a library, and nonsense.
        return visible.prefix(1).map(\.uuidString) + probe.assets.prefix(1) + probe.albums.prefix(1) + nonsense
      }
    }

    /// Queries and bodies that a route is asked with.
    private func questions(_ route: Route, _ probe: Probes) -> [(query: String, body: String?)] {
      guard route.method != "GET" else {
        let fetches = [try? FetchRequest([:]).name].compactMap(\.self)
        switch route.path {
        case "/v1/feed": return fetches.map { ("?fetch=\($0)", nil) } + [("", nil)]
        case "/v1/fetches/{fetch}/items": return [("", nil), ("?form=columns&start=1&count=2", nil)]
        case "/v1/fetches/{fetch}/shapes": return [("", nil), ("?start=1&count=2", nil)]
        case "/v1/fetches/{fetch}/index":
          return (probe.assets.prefix(3) + ["none"]).map { ("?asset=\($0)", nil) } + [("", nil)]
        case "/v1/fetches/{fetch}/changes": return [("?after=x", nil), ("", nil)]
        default: return [("", nil)]
        }
      }
      guard route.method != "DELETE" else { return [("", nil)] }
      let strangers = probe.assets.prefix(2) + ["none"]
      let names = strangers.map { "\"\($0)\"" }.joined(separator: ",")
      return [
        ("", "{}"), ("?at=1", "{}"), ("?at=5", "{}"), ("?at=2020-01-01", "{}"),
        ("", #"{"level":"readWrite"}"#), ("", #"{"preselected":[\#(names)],"limit":0,"continuous":true}"#),
        ("", #"{"album":"\#(probe.albums.first ?? "none")"}"#), ("", #"{"select":"\#(strangers[0])"}"#),
        ("", #"{"name":"hidden person","password":"something"}"#), ("", #"{"where":"isFavorite == YES"}"#),
        ("", #"{"where":"path BEGINSWITH \"/\""}"#), ("", #"{"log":true}"#),
        ("", #"{"client":"hidden client","assets":[\#(names)]}"#),
        ("", #"{"size":1000,"withDeleted":true}"#), ("", #"{"ids":[\#(names)]}"#), ("", #"{"isFavorite":true}"#),
        ("", #"{"ids":[\#(names)],"rating":3}"#), ("", #"{"albumName":"own","assetIds":[\#(names)]}"#),
        ("", #"{"tags":["sea"]}"#), ("", #"{"tagIds":["c2Vh"],"assetIds":[\#(names)]}"#),
      ]
    }

    private func ask(_ look: String, _ method: String, _ target: String, _ body: String?) throws {
      let client = try RawClient(port: address.port)
      var lines = ["\(method) \(target) HTTP/1.1", "Host: a", "Authorization: Bearer \(app)", "Connection: close"]
      if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
      client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
      var answer = client.read(through: "\r\n\r\n")
      // Of a stream the first event counts; it goes on for ever.
      answer +=
        method != "HEAD" && answer.contains("text/event-stream") ? client.read(through: "\n\n") : client.readToEnd()
      answer = answer.components(separatedBy: "\r\n").filter { !$0.hasPrefix("Date: ") }.joined(separator: "\r\n")
      #expect(!answer.isEmpty, "\(method) \(target) was not answered")
      transcript.append(Exchange(question: "\(look): \(method) \(target) \(body ?? "")", answer: answer))
    }
  }
#endif
