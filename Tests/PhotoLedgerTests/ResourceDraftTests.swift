import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("bytes that come with a change block")
struct ResourceDraftTests {
  static func onlyResource(_ library: PhotoLibrary) throws -> AssetResource {
    let asset = try #require(try library.fetchAssets().first)
    return try #require(try library.resources(of: asset).first)
  }

  @Test("bytes from memory and from a file are stored, hashed and named", arguments: [true, false])
  func stored(isFromFile: Bool) async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    let path = try folder.write("IMG_7.HEIC", data)
    let file = URL(filePath: path.description)
    try await library.performChanges {
      $0.createAsset(.photo(from: isFromFile ? .file(file, shouldMove: false) : .data(data)))
    }
    let resource = try Self.onlyResource(library)
    #expect(resource.dataSize == 100_000 && resource.sha256 == Array(data).sha256 && resource.storage == .library)
    #expect(try Data(contentsOf: library.url(of: resource)) == data)
    if isFromFile {
      #expect(resource.originalFilename == "IMG_7.HEIC")
    } else {
      #expect(resource.originalFilename.wholeMatch(of: /IMG_\d{12}/) != nil, "\(resource.originalFilename)")
    }
    #expect(resource.uniformTypeIdentifier == (isFromFile ? "public.heic" : "public.image"))
    #expect(access(path.description, F_OK) == 0)
  }

  @Test(
    "the data type is the given one, else the name's, else the resource type's (AS-12)",
    arguments: [
      ("com.example.given", "a.jpg", ResourceType.photo, "com.example.given"), (nil, "a.JPEG", .photo, "public.jpeg"),
      (nil, "a.mov", .pairedVideo, "com.apple.quicktime-movie"), (nil, nil, .pairedVideo, "public.movie"),
      (nil, "a", .alternatePhoto, "public.image"), (nil, "a.kdbx", .photo, "dyn.ah62d4rv4ge8003dcta"),
      (nil, nil, .adjustmentData, "com.apple.property-list"), (nil, nil, ResourceType(rawValue: 99), "public.data"),
    ] as [(String?, String?, ResourceType, String)])
  func types(given: String?, name: String?, type: ResourceType, expected: String) throws {
    let folder = try ScratchFolder()
    let store = try ResourceStore(library: URL(filePath: folder.path))
    var staging = Staging()
    let draft = ResourceDraft(
      type: type, source: .data(Data("x".utf8)), originalFilename: name, uniformTypeIdentifier: given)
    #expect(try store.stage(draft, &staging, MediaProbing()).resource.uniformTypeIdentifier == expected)
  }

  @Test("bytes without a name are named as by a camera, each of an asset differently, and by a seed alike (AS-12)")
  func generatedNames() async throws {
    func draft(_ type: ResourceType, _ text: String, _ uniformType: String?) -> ResourceDraft {
      ResourceDraft(type: type, source: .data(Data(text.utf8)), uniformTypeIdentifier: uniformType)
    }
    let raw = "com.adobe.raw-image"
    let files = [
      draft(.photo, "a", "public.heic"), draft(.pairedVideo, "b", "com.apple.quicktime-movie"),
      draft(.alternatePhoto, "c", raw), draft(.alternatePhoto, "d", raw), draft(.alternatePhoto, "e", "public.heic"),
    ]
    let creation = AssetCreation(mediaType: .image, resources: files)
    let more = [draft(.alternatePhoto, "f", raw), draft(.alternatePhoto, "c", raw)]
    func names(_ seed: UInt64) async throws -> [[String]] {
      let made = try TemporaryLibrary(.seeded(seed))
      let ids = try await made.library.performChanges { block in
        for _ in 0..<2 { block.createAsset(creation) }
      }.created.compactMap { LocalIdentifier($0) }
      try await made.library.performChanges { $0.addResources(more, to: ids[0]) }
      let token = try made.library.currentToken
      try await made.library.performChanges { $0.addResources(more, to: ids[0]) }
      #expect(try made.library.currentToken == token, "The bytes are there already.")
      return try ids.map { id in
        let asset = try #require(try made.library.asset(id.uuidString))
        return try made.library.resources(of: asset).map(\.originalFilename)
      }
    }
    let assets = try await names(1)
    let stems = assets.map { String($0[0].prefix(16)) }
    let endings = [".HEIC", ".MOV", ".DNG", "_2.DNG", "_2.HEIC"]
    #expect(assets[0] == (endings + ["_3.DNG"]).map { stems[0] + $0 } && assets[1] == endings.map { stems[1] + $0 })
    #expect(stems[0] != stems[1] && stems.allSatisfy { $0.wholeMatch(of: /IMG_\d{12}/) != nil })
    #expect(try await names(1) == assets)
  }

  @Test("a file that is moved is gone after success, and still there after a failure (CB-08)")
  func moved() async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    let path = try folder.write("a.jpg", Data("a".utf8))
    let draft = ResourceDraft(type: .photo, source: .file(URL(filePath: path.description), shouldMove: true))
    await #expect(throws: LibraryError.self) {
      try await library.performChanges { block in
        block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
        block.deleteAssets([LocalIdentifier(UUID())])
      }
    }
    #expect(access(path.description, F_OK) == 0, "The block failed.")
    try library.performChangesAndWait { $0.createAsset(AssetCreation(mediaType: .image, resources: [draft])) }
    #expect(access(path.description, F_OK) != 0, "The block succeeded.")
    #expect(try Data(contentsOf: library.url(of: Self.onlyResource(library))) == Data("a".utf8))
  }

  @Test("a file that was written to after it was copied is not removed")
  func movedAndChanged() throws {
    let folder = try ScratchFolder()
    let store = try ResourceStore(library: URL(filePath: folder.path))
    let path = try folder.write("a.jpg", Data("a".utf8))
    var staging = Staging()
    let draft = ResourceDraft(type: .photo, source: .file(URL(filePath: path.description), shouldMove: true))
    _ = try store.stage(draft, &staging, MediaProbing())
    let moved = try #require(staging.moved.first)
    try folder.write("a.jpg", Data("b".utf8))
    #expect(!store.takeAway(moved) && access(path.description, F_OK) == 0)
  }

  @Test("files that cannot be stored fail the block with a sentence that names them (CB-08)")
  func refusals() async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    let linked = try folder.write("linked.jpg", Data("x".utf8))
    #expect(link(linked.description, folder.path + "/other.jpg") == 0)
    let token = try library.currentToken
    let cases: [(URL, Bool, LibraryError.Code)] = [
      (URL(filePath: "/no/such/file.jpg"), false, .missingResource),
      (URL(filePath: linked.description), true, .invalidResource),
      (URL(filePath: folder.path), false, .invalidResource),
      (try #require(URL(string: "https://example.com/a.jpg")), false, .invalidResource),
    ]
    for (url, shouldMove, code) in cases {
      let error = await #expect(throws: LibraryError.self) {
        try await library.performChanges { $0.createAsset(.photo(from: .file(url, shouldMove: shouldMove))) }
      }
      #expect(error?.code == code && error?.description.contains(url.lastPathComponent) == true)
    }
    #expect(try library.currentToken == token && access(linked.description, F_OK) == 0)
  }

  @Test("a resource that claims bytes the library does not hold is rejected", arguments: [0, 1])
  func claimed(extraByteCount: UInt64) async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    try await library.performChanges { $0.createAsset(.photo(from: .data(Data("held".utf8)))) }
    var resource = try Self.onlyResource(library)
    if extraByteCount == 0 { resource.sha256[0] ^= 1 } else { resource.dataSize += extraByteCount }
    let error = await #expect(throws: LibraryError.self) {
      try await library.performChanges {
        $0.createAsset(AssetCreation(mediaType: .image, resources: [.stored(resource)]))
      }
    }
    #expect(error?.code == .missingResource)
  }

  @Test("the state of a file is reported: there, gone, of another size, of other bytes, not a file")
  func states() throws {
    let folder = try ScratchFolder()
    let store = try ResourceStore(library: URL(filePath: folder.path))
    let content = try store.store(Data("content".utf8), holding: false)
    let resource = AssetResource(
      type: .photo, originalFilename: "a", uniformTypeIdentifier: "public.jpeg", dataSize: 7, sha256: content.sha256)
    let path = store.path(ofContent: content.sha256)
    func states() throws -> [ResourceState] {
      try [store.state(of: resource, hashing: false), store.state(of: resource, hashing: true)]
    }
    #expect(try states() == [.present, .present])
    chmod(path, 0o644)
    try Data("cOntent".utf8).write(to: URL(filePath: path))
    #expect(try states() == [.present, .altered])
    try Data("more content".utf8).write(to: URL(filePath: path))
    #expect(try states() == [.altered, .altered])
    unlink(path)
    #expect(try states() == [.missing, .missing])
    mkdir(path, 0o755)
    #expect(try states() == [.altered, .altered])
  }
}

@Suite("files after a purge")
struct PurgedFileTests {
  @Test("a purge removes the files that no other asset has, and only those")
  func shared() async throws {
    let folder = try ScratchFolder()
    let library = try folder.makeLibrary()
    defer { library.close() }
    var ids: [LocalIdentifier] = []
    for name in ["shared", "shared", "alone"] {
      try await library.performChanges { ids.append($0.createAsset(.photo(from: .data(Data(name.utf8))))) }
    }
    let files = library.store.resources
    func isThere(_ name: String) -> Bool { access(files.path(ofContent: Array(name.utf8).sha256), F_OK) == 0 }
    try await library.performChanges { $0.deleteAssets(ids) }
    try await library.performChanges { $0.purgeAssets([ids[0], ids[2]]) }
    try await library.performChanges { $0.createAlbum(title: "The writer removes files before it takes this.") }
    #expect(isThere("shared") && !isThere("alone"))
    try await library.performChanges { $0.purgeAssets([ids[1]]) }
    try await library.performChanges { $0.createAlbum(title: "after") }
    #expect(!isThere("shared"))
  }
}
