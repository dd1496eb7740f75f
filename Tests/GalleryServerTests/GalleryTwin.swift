#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryJSON
  import LibraryMaintenance
  import LibraryPicking
  import MediaImport
  import PhotoLedger
  import Synchronization
  import TestSupport

  // One of two galleries that clients with limited access cannot tell apart.
  //
  //   library with more     visible  hidden  ┐ visible  hidden ┐  …
  //   plain library         visible          ┤ visible         ┤
  //                                          └ look            └ look: each client asks each route, see TwinRoute
  //
  // Four clients take part: one limited to a selection, a visitor of a share link that follows an album, one that may
  // only add, and one whose request is not decided. They use the library, too: they upload, change and delete what is
  // theirs, in both libraries alike.
  //
  // What a step or a request draws comes from a stream that begins anew with each of them, and its clock is set by it,
  // so hidden work shifts nothing (as in SimulationTests' Twin). What a hidden file holds follows from its name, so a
  // client can send the same bytes to the plain library, which never had them.

  /// What was asked and answered.
  struct TwinExchange: Equatable {
    var question: String
    var answer: String
    /// The method and path of the route that answered, with placeholders; nil for none.
    var route: String?
    var status: Int
  }

  /// What names hidden things in the library that has more, at one look.
  struct TwinProbes {
    var assets: [String] = []
    var albums: [String] = []
    var hashes: [String] = []
    var names: [String: [String]] = [:]
  }

  /// Files whose bytes follow from their names.
  enum TwinMedia {
    static func photo(_ name: String) -> Data { TinyMedia.jpeg(.init(comment: name)) }
    /// The still of a Live Photo.
    static func still(_ name: String) -> Data { TinyMedia.jpeg(.init(contentIdentifier: name, comment: name)) }
    /// The movie of a Live Photo.
    static func movie(_ name: String) -> Data { TinyMedia.movie(contentIdentifier: name) }

    /// Writes a program that stands for vipsthumbnail and makes the same picture of every file. It starts no other one,
    /// which a sandbox would not let it.
    static func writePictureProgram(in folder: TemporaryFolder) throws {
      let picture = TinyMedia.jpeg(.init(comment: "picture")).map { "\\\(("00" + String($0, radix: 8)).suffix(3))" }
      let script = #"""
        #!/bin/sh
        files=
        while [ "$1" != --size ]; do files="$files $1"; shift; done
        while [ "$1" != -o ]; do shift; done
        form=${2%\[*}
        for file in $files; do
          name=${file##*/}
          target="${form%%%s*}${name%.*}${form#*%s}"
          case $target in
          *.ppm) printf 'P6\n8 8\n255\n%0192d' 0 >"$target" ;;
          *) printf 'PICTURE' >"$target" ;;
          esac
        done

        """#
      try writeProgram(
        script.replacing("PICTURE", with: picture.joined()), at: folder.place("vipsthumbnail").path)
    }

    static func hash(_ data: Data) -> ContentHash {
      var hash = ContentHash()
      data.withUnsafeBytes { hash.update($0) }
      return hash
    }
  }

  /// The clock and randomness of one library and its server.
  final class GalleryTwinWorld: Sendable {
    enum Step { case visible, hidden, request }

    private struct State {
      var step = 0
      var generator = SeededGenerator(seed: 0)
      /// The time of the last step or request that both libraries have.
      var shared = Date(timeIntervalSince1970: 1_750_000_000)
      var now = Date(timeIntervalSince1970: 1_750_000_000)
    }

    private let state = Mutex(State())
    var now: Date { state.withLock { $0.now } }
    func next() -> UInt64 { state.withLock { $0.generator.next() } }

    func begin(_ step: Step) {
      state.withLock { state in
        if step == .hidden {
          state.generator = SeededGenerator(seed: state.generator.next() | 1 << 63)
          state.now += 0.125
        } else {
          state.step += 1
          state.generator = SeededGenerator(seed: UInt64(state.step))
          state.shared += step == .visible ? 10 : 1
          state.now = state.shared
        }
      }
    }
  }

  /// One of the two galleries.
  final class GalleryTwin {
    struct Record {
      var transcript: [TwinExchange]
      var probes: [TwinProbes]
      var hiddenCount: Int
    }

    let hasMore: Bool
    let world = GalleryTwinWorld()
    let temporary: TemporaryLibrary
    let server: GalleryServer
    let address: HTTPAddress
    private(set) var visible: [LocalIdentifier] = []
    private(set) var visibleHashes: [String] = []
    /// The album that the visitor's link follows.
    private(set) var sharedAlbum = ""
    /// The secret of the share link.
    private(set) var shareSecret = ""
    private(set) var looks = 0
    private var owner = ""
    private var visitors: [TwinVisitor] = []
    private var transcript: [TwinExchange] = []
    private var probes: [TwinProbes]
    private var hidden = TwinProbes()
    private let page: TemporaryFolder
    private let programs: TemporaryFolder

    var library: PhotoLibrary { temporary.library }
    /// What is hidden at this look.
    var probe: TwinProbes { probes[looks] }

    static func story(hasMore: Bool, probes: [TwinProbes]) async throws -> Record {
      try await onBlockingThreads {
        let twin = try GalleryTwin(hasMore: hasMore, probes: probes)
        do { try await twin.play() } catch {
          await twin.server.stop()
          throw error
        }
        await twin.server.stop()
        return Record(transcript: twin.transcript, probes: twin.probes, hiddenCount: twin.hidden.assets.count)
      }
    }

    init(hasMore: Bool, probes: [TwinProbes]) throws {
      (self.hasMore, self.probes) = (hasMore, probes)
      let world = world
      temporary = try TemporaryLibrary(
        LibraryEnvironment(process: "twin", now: { world.now }, random: { world.next() }))
      page = try Self.makePage()
      programs = try TemporaryFolder()
      try TwinMedia.writePictureProgram(in: programs)
      var renditions = RenditionOptions()
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      renditions.searchPath = "\(programs.url.path):\(path)"
      var access = GalleryAccess()
      access.sweepSeconds = 3600
      access.limits.keyBurst = 1_000_000
      access.limits.peerBurst = 1_000_000
      access.limits.feedsOfKey = 1_000_000
      access.limits.shareBurst = 1_000_000
      access.limits.feedsOfShare = 1_000_000
      access.allowsImmichClients = true
      server = try GalleryServer(
        temporary.library,
        environment: GalleryEnvironment(
          now: { world.now },
          randomBytes: { count in (0..<count).map { _ in UInt8(truncatingIfNeeded: world.next()) } }),
        access: access, renditions: renditions, page: try PageFiles(folder: page.url))
      address = try server.start(try HTTPListener("127.0.0.1:0"))
    }

    private static func makePage() throws -> TemporaryFolder {
      let folder = try TemporaryFolder()
      let views = folder.place("views")
      try FileManager.default.createDirectory(at: views, withIntermediateDirectories: true)
      for name in ["index", "pick", "share", "camera", "sign-in"] {
        try Data("<p>\(name)</p>".utf8).write(to: folder.place("\(name).html"))
      }
      for file in [folder.place("main.js"), views.appending(path: "main.js")] {
        try Data("export default 1;".utf8).write(to: file)
      }
      return folder
    }

    /// Writes an answer down.
    func record(_ exchange: TwinExchange) { transcript.append(exchange) }

    // MARK: Steps

    private func show(_ change: (ChangeBlock) throws -> Void) async throws {
      world.begin(.visible)
      try await library.performChanges(cause: "visible", change)
    }

    private func hide(_ change: (ChangeBlock) throws -> Void) async throws {
      guard hasMore else { return }
      world.begin(.hidden)
      let made = try await library.performChanges(cause: "hidden", key: "hidden \(world.next())", change).created
      try note(hidden: made.compactMap { LocalIdentifier($0) })
    }

    private func note(hidden made: [LocalIdentifier]) throws {
      for id in made {
        if let asset = try library.asset(id.uuidString) {
          hidden.assets.append(id.uuidString)
          hidden.hashes += try library.resources(of: asset).map(\.sha256Hex)
        } else {
          hidden.albums.append(id.uuidString)
        }
      }
    }

    private func asset(_ name: String, _ day: Double) -> AssetCreation {
      var creation = AssetCreation(
        mediaType: .image,
        resources: [
          ResourceDraft(type: .photo, source: .data(TwinMedia.photo(name)), originalFilename: "IMG.JPG")
        ])
      creation.creationDate = Date(timeIntervalSince1970: day * 86_400)
      return creation
    }

    // MARK: The story

    private func play() async throws {
      try await begin()
      let app = visitors[0]
      try look("at first", Array(visitors[..<2]))
      try await hideMuch()
      try hidePictures([2, 4])
      try hideFiles()
      try look("behind its back", visitors, withUploads: true)
      try await show { change in
        change.setFavorite(true, for: [visible[1]])
        change.withdraw([visible[0]], from: "app")
        change.grant([visible[3]], to: "app")
      }
      try look("after changes that it sees", [app])
      try await listen(app)
      try await hide { $0.setFavorite(true, for: hidden.assets.prefix(3).compactMap { LocalIdentifier($0) }) }
      try hideFiles()
      try hideErasure()
      try look("behind its back again", visitors, withUploads: true)
      try await show { $0.setAuthorizationStatus(.denied, of: "app") }
      try look("denied", [app])
      try await hide { $0.grant(hidden.assets.prefix(3).compactMap { LocalIdentifier($0) }, to: "app") }
      try look("denied, behind its back", [app])
    }

    private func begin() async throws {
      try await hide { change in
        for index in 0..<8 { change.createAsset(asset("hidden \(index)", Double(index))) }
        change.createAsset(asset("visible 0", 1))
        change.createAlbum(title: "hidden")
        change.createFolder(title: "hidden")
      }
      var album: LocalIdentifier?
      try await show { change in
        visible = (0..<4).map { change.createAsset(asset("visible \($0)", Double($0))) }
        let shared = change.createAlbum(title: "Shared")
        change.album(shared).add(Array(visible[1...2]))
        album = shared
      }
      sharedAlbum = album?.uuidString ?? ""
      visibleHashes = try visible.flatMap { id in
        try library.asset(id.uuidString).map { try library.resources(of: $0).map(\.sha256Hex) } ?? []
      }
      try await hide { change in
        change.setAuthorizationStatus(.limited, of: "other")
        change.grant([visible[0]], to: "other")
      }
      try await show { change in
        var registration = ClientRegistration()
        (registration.readWriteUsageDescription, registration.addOnlyUsageDescription) = ("to look", "to add")
        for client in ["app", "camera", "newcomer"] { change.register(client: client, registration) }
        change.setAuthorizationStatus(.limited, of: "app")
        change.grant(Array(visible[..<3]), to: "app")
        change.setAuthorizationStatus(.authorized, of: "camera", for: .addOnly)
      }
      world.begin(.visible)
      _ = try server.people.add("reader", client: "app", password: TwinVisitor.password)
      owner = try server.keyring.makeKey(.init(client: PhotoLibrary.owner, label: "", scopes: Scope.all)).secret
      visitors = try ["app", "camera", "newcomer"].map { client in
        let grant = Keyring.Grant(client: client, label: client, scopes: Scope.all)
        return TwinVisitor(client, of: self, key: try server.keyring.makeKey(grant).secret)
      }
      try beginSharing()
    }

    private func beginSharing() throws {
      let share = try asOwner(
        "POST", "/v1/shares", #"{"title":"Summer","album":"\#(sharedAlbum)","upload":true,"originals":true}"#)
      shareSecret = share.member("secret") ?? ""
      let key = try asOwner("POST", "/v1/shares:open", #"{"secret":"\#(shareSecret)"}"#).member("secret") ?? ""
      visitors.insert(TwinVisitor(share.member("client") ?? "", of: self, key: key), at: 1)
    }

    /// Assets, albums, people, keys, requests and picking sessions of others, and strangers in the client's own album.
    private func hideMuch() async throws {
      try await hide { change in
        for index in 0..<20 { change.createAsset(asset("more \(index)", Double(index))) }
        change.album(change.createAlbum(title: "more")).add([visible[1]])
        change.deleteAssets(hidden.assets.prefix(2).compactMap { LocalIdentifier($0) })
        if let own = LocalIdentifier(visitors[0].album) {
          change.album(own).insert(hidden.assets[3...4].compactMap { LocalIdentifier($0) }, at: 0)
        }
        var registration = ClientRegistration()
        registration.readWriteUsageDescription = "to look"
        change.register(client: "hidden client", registration)
      }
      guard hasMore else { return }
      world.begin(.hidden)
      let person = try server.people.add("hidden person", client: "family", password: nil)
      let key = try server.keyring.makeKey(.init(client: "family", label: "hidden")).0
      _ = try library.store.perform(
        [.client(named: "hidden client", .request(.readWrite))], as: "hidden client", cause: nil)
      hidden.names["person"] = [person.name.replacing(" ", with: "%20")]
      hidden.names["key"] = [key.name]
      hidden.names["client"] = ["hidden%20client", "family"]
      hidden.names["session"] = [try beginPicking().id]
      let picked = try beginPicking()
      let presenter = try library.present(picked)
      try await presenter.select(hidden.assets[4])
      try await presenter.finish()
      try await waitUntil("the pick is there") { server.picking.entry(picked.id)?.isSettled == true }
      hidden.names["item"] = server.picking.entry(picked.id)?.items.compactMap(\.token)
    }

    private func beginPicking() throws -> PickingSession {
      let session = try library.as("hidden client").beginPicking()
      try server.picking.add(session, seconds: 1_000_000) {}
      return session
    }

    /// Uploads what the clients will upload as well, each its own files, at the next look.
    private func hideFiles() throws {
      guard hasMore else { return }
      for visitor in visitors {
        for (name, data) in visitor.hiddenFiles(at: looks) {
          world.begin(.hidden)
          let answer = try asOwner("PUT", "/v1/uploads?name=\(name)", bytes: data)
          let made = answer.fields["photoledger-asset"].flatMap { LocalIdentifier($0) }
          try note(hidden: [made].compactMap(\.self))
        }
      }
    }

    /// Has pictures made of hidden assets, whose contents are those of no visible one: a picture belongs to a content.
    private func hidePictures(_ indices: [Int]) throws {
      guard hasMore else { return }
      for index in indices {
        world.begin(.hidden)
        try makePicture(of: hidden.assets[index])
      }
    }

    /// Has the picture of an asset made by looking at it as the owner.
    private func makePicture(of asset: String) throws {
      let shown = try library.asset(asset).flatMap { try Renditions.shown($0, in: library) }
      let hash = shown?.sha256Hex ?? "none"
      let path = "/v1/assets/\(asset)/renditions/\(hash)/\(RenditionRecipe.revision)/small?wait=60"
      let answer = try asOwner("GET", path)
      try demand(answer.status == 200, "\(path): \(answer.text)")
    }

    /// Erases hidden assets, one of them a member of the client's own album: states that clients hold stay as they
    /// were.
    private func hideErasure() throws {
      guard hasMore else { return }
      world.begin(.hidden)
      try library.eraseAssets(hidden.assets[3...5].compactMap { LocalIdentifier($0) })
    }

    private func look(_ name: String, _ visitors: [TwinVisitor], withUploads: Bool = false) throws {
      if hasMore { probes.append(hidden) }
      world.begin(.visible)
      for visitor in visitors {
        visitor.begin("\(name), \(visitor.name)", withUploads: withUploads)
        for route in TwinRoute.all { try route.ask(visitor) }
        try visitor.askOwnersRoutes()
      }
      looks += 1
    }

    /// Follows lists while something happens of which the clients must not hear, and then something that they see.
    private func listen(_ app: TwinVisitor) async throws {
      world.begin(.visible)
      let listeners = try visitors.map { try TwinListener($0) }
      try await hide { change in
        change.setFavorite(true, for: hidden.assets.suffix(3).compactMap { LocalIdentifier($0) })
        change.createAsset(asset("between", 3))
        change.createAlbum(title: "between")
      }
      for listener in listeners { try listener.poll("after hidden changes") }
      try hidePictures([6])
      world.begin(.visible)
      try makePicture(of: visible[2].uuidString)
      for listener in listeners { try listener.hearPicture("after a picture that it sees") }
      var words = AssetChanges()
      words.caption = .set("heard")
      try await show { change in
        change.edit([visible[2]], words)
        change.setTitle("Renamed", of: LocalIdentifier(app.album))
      }
      for listener in listeners {
        try listener.hear("after changes that it sees")
        try listener.poll("after changes that it sees")
      }
    }

    // MARK: The owner

    /// Asks as the owner; what is answered is not written down.
    @discardableResult
    func asOwner(_ method: String, _ target: String, _ json: String? = nil, bytes: Data? = nil) throws -> TwinAnswer {
      try TwinAnswer(port: address.port, method, target, json: json, bytes: bytes, [], key: owner)
    }
  }
#endif
