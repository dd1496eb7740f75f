import Foundation
import PhotoLedger
import StoreTestSupport
import TestSupport
import Testing

@testable import MediaImport

@Suite(
  "What the exiftool of a server's change blocks may read",
  .enabled(if: CuriousExifTool.isPossible, "Needs a sandbox that keeps files away, and perl."))
struct ConfinedProbeTests {
  /// What exiftool can read when a block brings bytes: it is in the reason for which the block is rejected.
  private func answer(_ bytes: String, named name: String, in library: PhotoLibrary) throws -> String {
    let draft = ResourceDraft(type: .photo, source: .data(Data(bytes.utf8)), originalFilename: name)
    let error = #expect(throws: LibraryError.self) {
      try library.performChangesAndWait { $0.createAsset(AssetCreation(mediaType: .image, resources: [draft])) }
    }
    return error?.description ?? ""
  }

  /// The work folders that are left, of all roots in the folder of the server.
  private func left(in library: String) throws -> [String] {
    let server = library + "/server"
    let roots = try FileManager.default.contentsOfDirectory(atPath: server)
    return try roots.flatMap { try FileManager.default.contentsOfDirectory(atPath: "\(server)/\($0)") }
  }

  @Test("it reads the bytes of a block and not the store, also when the library is moved")
  func confined() throws {
    let rig = try ImportedLibrary()
    let programs = try TemporaryFolder()
    try CuriousExifTool.write(in: programs.path)
    let (old, new) = (rig.library.url.path, rig.library.url.path + " elsewhere")
    try rig.library.setMediaProbe(ExternalProbe(servedFrom: rig.library, searchPath: programs.path))
    for name in ["a.jpg", "a"] {
      let first = try answer("first", named: name, in: rig.library)
      #expect(first.contains("(own no-store)"), "\(first)")
    }
    #expect(try left(in: old).isEmpty)
    try #require(rename(old, new) == 0)
    let moved = try answer("moved", named: "b.jpg", in: rig.library)
    #expect(moved.contains("(own no-store)"), "\(moved)")
    #expect(try left(in: new).isEmpty)

    try rig.library.setMediaProbe(ExternalProbe(searchPath: programs.path))
    let all = try answer("all", named: "c.jpg", in: rig.library)
    #expect(all.contains("(own STORE)"), "The test has something to find: \(all)")
  }

  @Test("a process that was asked about bytes of one client is asked about none of another")
  func clients() throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    try CountingExifTool.write(in: folder.path)
    let file = URL(filePath: try folder.write("a.jpg", Data("a".utf8)).description)
    let probe = ExternalProbe(servedFrom: rig.library, searchPath: folder.path)
    // So few answers start no second process.
    for (client, count) in [("one", 1), ("one", 2), ("two", 1), ("one", 1)] {
      #expect(try probe.examine(file, for: client) == .noMedium("answer \(count)"), "\(client)")
    }
  }

  @Test("without room for the copy that exiftool is to read, the disk is full, and nothing is left", .mountsMemory)
  func fullDisk() throws {
    let folder = try TemporaryFolder()
    let place = try TemporaryFolder()
    try CountingExifTool.write(in: folder.path)
    let file = URL(filePath: try folder.write("a.jpg", Data(count: 2 << 20)).description)
    try #require(mount("tmpfs", place.path, "tmpfs", 0, "size=1m") == 0)
    defer { umount2(place.path, Int32(MNT_DETACH)) }
    let root = WorkRoot(in: URL(filePath: place.path))
    let probe = ExternalProbe(searchPath: folder.path, sandbox: nil, root: root)
    let error = #expect(throws: LibraryError.self) { try probe.examine(file) }
    #expect(error?.code == .notEnoughSpace, "\(error?.description ?? "")")
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.located()).isEmpty)
  }

  @Test("a request that is cancelled while its film is copied for exiftool leaves nothing of it", .mountsMemory)
  func cancelledCopy() throws {
    let folder = try TemporaryFolder()
    let place = try TemporaryFolder()
    try CountingExifTool.write(in: folder.path)
    let film = URL(filePath: try folder.write("a.mov", Data(count: 2 * WorkFolder.pieceByteCount)).description)
    // A file system of its own, so that the copy is not a clone.
    try #require(mount("tmpfs", place.path, "tmpfs", 0, "size=64m") == 0)
    defer { umount2(place.path, Int32(MNT_DETACH)) }
    let root = WorkRoot(in: URL(filePath: place.path))
    let copied = Gathered<Int>()
    let probe = ExternalProbe(searchPath: folder.path, sandbox: nil, root: root) { [path = place.path] in
      let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
      let copy = files.first { $0.hasSuffix("/source.mov") }.map { "\(path)/\($0)" } ?? ""
      copied.append((try? FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int) ?? -1)
      return copied.all.count == 2
    }
    let error = #expect(throws: LibraryError.self) { try probe.examine(film) }
    #expect(error?.code == .userCancelled, "\(error?.description ?? "")")
    let sizes = copied.all
    #expect(sizes.count == 2 && sizes.first == 0, "\(sizes)")
    #expect(sizes.last.map { 0 < $0 && $0 < 2 * WorkFolder.pieceByteCount } == true, "\(sizes)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.located()).isEmpty)
  }

  @Test("a confined exiftool finds in a photo what another one does")
  func agreement() throws {
    let rig = try ImportedLibrary()
    let folder = try TemporaryFolder()
    let raw = TinyMedia.tiff(TinyMedia.Photo(make: "NIKON CORPORATION", model: "NIKON D70"), isWithSize: true)
    let (confined, other) = (ExternalProbe(servedFrom: rig.library), ExternalProbeTests.shared)
    for (name, data) in [("a.jpg", TinyMedia.jpeg()), ("b", TinyMedia.jpeg()), ("c.nef", raw), ("d", raw)] {
      let file = URL(filePath: try folder.write(name, data).description)
      let finding = try confined.examine(file)
      #expect(try finding == other.examine(file), "\(name)")
      guard case .medium = finding else {
        Issue.record("\(name) is not a medium.")
        continue
      }
    }
  }
}
