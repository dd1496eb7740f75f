import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("A probe for media")
struct MediaProbeTests {
  private static func library(_ probe: (any MediaProbe)? = WrittenProbe()) throws -> SmallLibrary {
    let small = try SmallLibrary()
    try small.library.setMediaProbe(probe)
    return small
  }

  private static func draft(
    _ text: String, _ type: ResourceType = .photo, named name: String? = nil, given: String? = nil
  ) -> ResourceDraft {
    ResourceDraft(
      type: type, source: .data(Data(text.utf8)), originalFilename: name, uniformTypeIdentifier: given)
  }

  private static func image(_ drafts: ResourceDraft..., of type: MediaType = .image) -> AssetCreation {
    AssetCreation(mediaType: type, resources: drafts)
  }

  private static func make(_ creation: AssetCreation, in small: SmallLibrary) async throws -> LocalIdentifier {
    var made: LocalIdentifier?
    try await small.change { made = $0.createAsset(creation) }
    return try #require(made)
  }

  /// The files of the library's own folder.
  private static func files(of small: SmallLibrary) throws -> [String] {
    let folder = small.library.url.appending(path: "resources")
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.count > 60 }
  }

  @Test("an asset has its bytes' properties: type, size, length, date with offset, place, subtypes (AS-02, CB-11)")
  func facts() async throws {
    let small = try Self.library()
    let photo = try small.asset(try await Self.make(Self.image(Self.draft("jpeg 30 20")), in: small))
    #expect((photo.pixelWidth, photo.pixelHeight) == (30, 20) && photo.duration == 0)
    #expect(photo.creationDate == WrittenProbe.date && photo.location == Location(latitude: 47, longitude: 8))
    #expect(photo.mediaSubtypes == .photoPanorama && photo.playbackStyle == .image)
    let resource = try #require(try small.library.resources(of: photo).first)
    #expect(resource.uniformTypeIdentifier == "public.jpeg" && resource.contentIdentifier == "jpeg")
    #expect((resource.pixelWidth, resource.pixelHeight) == (30, 20))
    let film = Self.image(Self.draft("mov 64 48 2.5", .video), of: .video)
    let video = try small.asset(try await Self.make(film, in: small))
    #expect((video.pixelWidth, video.pixelHeight) == (64, 48) && video.duration == 2.5)
  }

  @Test("values set by the request take precedence")
  func explicit() async throws {
    let small = try Self.library()
    var creation = Self.image(Self.draft("jpeg 30 20", given: "public.heic"))
    (creation.pixelWidth, creation.pixelHeight) = (3, 2)
    creation.creationDate = Date(timeIntervalSince1970: 5)
    creation.location = Location(latitude: 1, longitude: 2)
    creation.mediaSubtypes = .photoHDR
    let photo = try small.asset(try await Self.make(creation, in: small))
    #expect((photo.pixelWidth, photo.pixelHeight) == (3, 2) && photo.mediaSubtypes == .photoHDR)
    #expect(photo.creationDate == Date(timeIntervalSince1970: 5) && photo.timeZoneOffset == nil)
    #expect(photo.location == Location(latitude: 1, longitude: 2))
    #expect(try small.library.resources(of: photo).first?.uniformTypeIdentifier == "public.heic")
  }

  @Test("a bare image keeps its pixels only: neither date nor place are taken from its bytes (CB-11)")
  func bare() async throws {
    let small = try Self.library()
    var draft = Self.draft("jpeg 30 20")
    draft.isBareImage = true
    let photo = try small.asset(try await Self.make(Self.image(draft), in: small))
    #expect(photo.creationDate == nil && photo.location == nil && photo.timeZoneOffset == nil)
    #expect(photo.pixelWidth == 30)
  }

  @Test(
    "bytes decide the type of a file, its name does not; a given type of another medium is rejected (CB-06, AS-12)",
    arguments: [
      ("jpeg 1 1", ResourceType.photo, nil as String?, nil as String?, "public.jpeg" as String?),
      ("jpeg 1 1", .photo, "a.mov", nil, "public.jpeg"), ("jpeg 1 1", .photo, "a", nil, "public.jpeg"),
      ("text", .photo, "a.jpg", nil, nil), ("", .photo, "a.jpg", nil, nil), ("mov 1 1 1", .photo, "a.jpg", nil, nil),
      ("jpeg 1 1", .video, "a.mov", nil, nil), ("jpeg 1 1", .photo, nil, "public.mpeg-4", nil),
      ("text", .photo, nil, "public.jpeg", nil), ("mov 1 1 1", .audio, nil, nil, "com.apple.quicktime-movie"),
    ])
  func kinds(text: String, role: ResourceType, name: String?, given: String?, expected: String?) async throws {
    let small = try Self.library()
    let creation = Self.image(
      Self.draft(text, role, named: name, given: given),
      of: role == .photo ? .image : role == .video ? .video : .audio)
    guard let expected else {
      #expect(try await small.refusal { $0.createAsset(creation) } == .invalidResource)
      #expect(try Self.files(of: small).isEmpty, "What was refused is not kept.")
      return
    }
    let asset = try small.asset(try await Self.make(creation, in: small))
    #expect(try small.library.resources(of: asset).first?.uniformTypeIdentifier == expected)
  }

  @Test("a probe sees the extension of the original name, for formats that differ in nothing else")
  func endings() async throws {
    let probe = WrittenProbe()
    let small = try Self.library(probe)
    for name in ["a.NEF", "a", nil, "a.b/c"] {
      _ = try await small.library.performChanges { $0.createAsset(Self.image(Self.draft("raw 1 1", named: name))) }
    }
    #expect(probe.examined.all == ["nef", "", "", ""])
  }

  @Test("a file that is to be moved is examined first, and stays where it is when it is rejected (CB-08)")
  func moved() async throws {
    let small = try Self.library()
    let (text, photo) = (small.temporary.folder.place("a.jpg"), small.temporary.folder.place("b"))
    try Data("text".utf8).write(to: text)
    try Data("jpeg 3 2".utf8).write(to: photo)
    func creation(_ file: URL) -> AssetCreation {
      Self.image(ResourceDraft(type: .photo, source: .file(file, shouldMove: true)))
    }
    #expect(try await small.refusal { $0.createAsset(creation(text)) } == .invalidResource)
    #expect(FileManager.default.fileExists(atPath: text.path))
    #expect(try small.asset(try await Self.make(creation(photo), in: small)).pixelWidth == 3)
    #expect(!FileManager.default.fileExists(atPath: photo.path))
  }

  @Test(
    "an edit has the size of its render, reverting restores the original's, garbage is rejected (AS-02, AS-04, AS-07)")
  func edits() async throws {
    let small = try Self.library()
    let id = try await Self.make(Self.image(Self.draft("jpeg 30 20")), in: small)
    func edit(_ render: String) -> ContentEdit {
      ContentEdit(
        adjustmentData: AdjustmentData(formatIdentifier: "f", formatVersion: "1", data: Data("recipe".utf8)),
        rendered: [Self.draft(render, .fullSizePhoto)])
    }
    for garbage in ["garbage", "", "mov 1 1 1"] {
      #expect(try await small.refusal { $0.editContent(of: id, edit(garbage)) } == .invalidResource)
    }
    try await small.change { $0.editContent(of: id, edit("jpeg 10 15")) }
    #expect((try small.asset(id).pixelWidth, try small.asset(id).pixelHeight) == (10, 15))
    try await small.change { $0.revertContent(of: id) }
    #expect((try small.asset(id).pixelWidth, try small.asset(id).pixelHeight) == (30, 20))
  }

  @Test("a film's edit has the length of its render")
  func filmEdits() async throws {
    let small = try Self.library()
    let id = try await Self.make(Self.image(Self.draft("mov 64 48 2.5", .video), of: .video), in: small)
    let edit = ContentEdit(
      adjustmentData: AdjustmentData(formatIdentifier: "f", formatVersion: "1", data: Data("cut".utf8)),
      rendered: [Self.draft("mov 32 24 1", .fullSizeVideo)])
    try await small.change { $0.editContent(of: id, edit) }
    #expect(try small.asset(id).duration == 1 && small.asset(id).pixelWidth == 32)
    try await small.change { $0.revertContent(of: id) }
    #expect(try small.asset(id).duration == 2.5 && small.asset(id).pixelWidth == 64)
  }

  @Test("the displayed original of a RAW pair determines the size (AS-16)", arguments: OriginalResourceChoice.allCases)
  func rawPair(choice: OriginalResourceChoice) async throws {
    let small = try Self.library()
    var creation = Self.image(Self.draft("jpeg 30 20"), Self.draft("raw 60 40", .alternatePhoto))
    creation.originalResourceChoice = choice
    let photo = try small.asset(try await Self.make(creation, in: small))
    #expect(photo.pixelWidth == (choice == .raw ? 60 : 30))
  }

  @Test("blocks without bytes of their own, and files that are not media by their role, are not examined")
  func unasked() async throws {
    let probe = WrittenProbe()
    let small = try Self.library(probe)
    let ids = try await small.assets(2)
    try await small.change { $0.setFavorite(true, for: ids) }
    #expect(probe.examined.all.isEmpty)
    let edit = ContentEdit(
      adjustmentData: AdjustmentData(formatIdentifier: "f", formatVersion: "1", data: Data("recipe".utf8)),
      rendered: [Self.draft("jpeg 10 15", .fullSizePhoto)])
    try await small.change { $0.editContent(of: ids[0], edit) }
    #expect(probe.examined.all == [""], "The recipe is not a medium.")
  }

  @Test("without a probe nothing is examined, and names determine types as before")
  func without() async throws {
    let small = try Self.library(nil)
    let photo = try small.asset(
      try await Self.make(Self.image(Self.draft("jpeg 30 20", named: "a.heic")), in: small))
    #expect(photo.pixelWidth == 0 && photo.creationDate == nil)
    #expect(try small.library.resources(of: photo).first?.uniformTypeIdentifier == "public.heic")
    let film = Self.image(Self.draft("jpeg 30 20", named: "a.mov"))
    #expect(try await small.refusal { $0.createAsset(film) } == .invalidResource)
  }

  /// A probe whose program is not installed.
  private struct AbsentProbe: MediaProbe {
    func examine(_ file: URL) -> MediaFinding { .unavailable("The examiner is not installed.") }
  }

  @Test("an unavailable probe is reported once, at the first creation, and types are taken from file names")
  func unavailable() async throws {
    let small = try SmallLibrary()
    let told = Gathered<String>()
    try small.library.setMediaProbe(AbsentProbe(), whenUnavailable: { told.append($0) })
    _ = try await small.assets(1)
    #expect(told.all.isEmpty)
    for _ in 0..<3 { _ = try await Self.make(Self.image(Self.draft("text", named: "a.jpg")), in: small) }
    #expect(told.all == ["The examiner is not installed."])
    #expect(try await small.refusal { $0.createAsset(Self.image(Self.draft("x", named: "a.mov"))) } == .invalidResource)
  }

  @Test("a file that cannot be examined fails its block with the probe's code and words (CB-06)")
  func failing() async throws {
    struct Broken: Error, CustomStringConvertible { let description = "it took too long" }
    let small = try Self.library(WrittenProbe { if $0 == "jpeg 1 1" { throw Broken() } })
    let error = await #expect(throws: LibraryError.self) {
      try await small.library.performChanges { $0.createAsset(Self.image(Self.draft("jpeg 1 1", named: "a.jpg"))) }
    }
    #expect(error?.code == .invalidResource)
    #expect(error?.description == "a.jpg cannot be examined: it took too long")
    let stopped = try Self.library(WrittenProbe { _ in throw LibraryError(.userCancelled, "Stopped.") })
    #expect(try await stopped.refusal { $0.createAsset(Self.image(Self.draft("jpeg 1 1"))) } == .userCancelled)
  }

  @Test("a creation from a file is nil when its bytes are not such a medium, and examines once (CB-09)")
  func fromFiles() async throws {
    let probe = WrittenProbe()
    let small = try Self.library(probe)
    let folder = small.temporary.folder
    for (name, text) in [("a", "jpeg 3 2"), ("b.jpg", "text"), ("c.jpg", "mov 1 1 1"), ("d.mov", "mov 1 1 1")] {
      try Data(text.utf8).write(to: folder.place(name))
    }
    func image(_ name: String) -> AssetCreation? {
      AssetCreation(imageAt: folder.place(name), examinedBy: small.library)
    }
    #expect(image("b.jpg") == nil && image("c.jpg") == nil && image("d.mov") == nil && image("absent") == nil)
    #expect(AssetCreation(videoAt: folder.place("c.jpg"), examinedBy: small.library) != nil)
    #expect(AssetCreation(videoAt: folder.place("a"), examinedBy: small.library) == nil)
    let count = probe.examined.all.count
    let creation = try #require(image("a"))
    #expect(try small.asset(try await Self.make(creation, in: small)).pixelWidth == 3)
    #expect(probe.examined.all.count == count + 1, "The block did not ask again.")
    let changed = try #require(image("a"))
    // Of another size: the times of two writes may be the same.
    try Data("jpeg 7 70".utf8).write(to: folder.place("a"))
    #expect(try small.asset(try await Self.make(changed, in: small)).pixelWidth == 7, "The file changed meanwhile.")
    #expect(AssetCreation(imageAt: folder.place("d.mov"), examinedBy: try Self.library(nil).library) == nil)
  }

  @Test("while a file is examined, blocks of other callers commit")
  func offTheWriter() async throws {
    let (started, released, timedOut) = (Gathered<Bool>(), Gathered<Bool>(), Gathered<Bool>())
    let small = try Self.library(
      WrittenProbe { _ in
        started.append(true)
        let limit = Date(timeIntervalSinceNow: 180)
        while released.all.isEmpty, Date() < limit { usleep(500) }
        if released.all.isEmpty { timedOut.append(true) }
      })
    let library = small.library
    async let slow = library.performChanges { $0.createAsset(Self.image(Self.draft("jpeg 30 20"))) }
    try await waitUntil("the file is being examined") { !started.all.isEmpty }
    // The blocks of one value keep their order, so this one is sent through another.
    let receipt = try await library.as(library.client).performChanges { $0.createAlbum(title: "Sea") }
    #expect(receipt.created.count == 1 && started.all.count == 1)
    released.append(true)
    #expect(try await slow.created.count == 1)
    #expect(timedOut.all.isEmpty, "The block waited until the examination gave up.")
  }

  @Test("a probe that keeps clients apart gets the client whose block brings the bytes, or whose request names a file")
  func clients() async throws {
    let probe = ClientProbe()
    let small = try Self.library(probe)
    let app = try await small.ruleClient(.authorized)
    for library in [small.library, app] {
      try await library.performChanges { $0.createAsset(Self.image(Self.draft("jpeg 30 20"))) }
    }
    let file = small.temporary.folder.place("a.jpg")
    try Data("jpeg 3 2".utf8).write(to: file)
    #expect(AssetCreation(imageAt: file, examinedBy: app) != nil)
    #expect(probe.clients.all == [PhotoLibrary.owner, app.client, app.client])
  }

  @Test("only the owner chooses the probe (AU-01)")
  func owners() async throws {
    let small = try SmallLibrary()
    let app = try await small.ruleClient(.authorized)
    let error = #expect(throws: LibraryError.self) { try app.setMediaProbe(nil) }
    #expect(error?.code == .accessUserDenied)
  }
}

/// A probe that keeps files of different clients apart.
private final class ClientProbe: ClientMediaProbe {
  /// The client of each file that was examined.
  let clients = Gathered<String>()
  private let written = WrittenProbe()

  func examine(_ file: URL) throws -> MediaFinding { try written.examine(file) }

  func examine(_ file: URL, for client: String) throws -> MediaFinding {
    clients.append(client)
    return try written.examine(file)
  }
}
