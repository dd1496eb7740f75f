import Foundation
import Glibc
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

@Suite("examining files with exiftool")
struct ExternalProbeTests {
  static let shared = ExternalProbe()

  private func finding(_ name: String, _ data: Data, _ probe: ExternalProbe = Self.shared) throws -> MediaFinding {
    let folder = try TemporaryFolder()
    return try probe.examine(URL(filePath: try folder.write(name, data).description))
  }

  @Test("a photo has its type, upright size, time with offset, place and form, whatever it is called")
  func photo() throws {
    var photo = TinyMedia.Photo()
    (photo.orientation, photo.offset, photo.place, photo.isPanorama) = (6, "+02:00", [-47, 8], true)
    for name in ["a", "a.mov", "a.jpg"] {
      guard case .medium(let facts) = try finding(name, TinyMedia.jpeg(photo)) else {
        Issue.record("\(name) is not a medium.")
        return
      }
      #expect(facts.mediaType == .image && facts.uniformTypeIdentifier == "public.jpeg")
      #expect((facts.pixelWidth, facts.pixelHeight) == (6, 8) && facts.duration == 0)
      #expect(facts.timeZoneOffset == 7200 && facts.mediaSubtypes == .photoPanorama)
      #expect(facts.location == Location(latitude: -47, longitude: 8))
      // 2021-02-03T02:05:06Z.
      #expect(facts.creationDate == Date(timeIntervalSince1970: 1_612_317_906))
    }
  }

  @Test("bytes are of the type that the ending of a link says, or without one that of the file")
  func linked() throws {
    let folder = try TemporaryFolder()
    let photo = TinyMedia.Photo(make: "NIKON CORPORATION", model: "NIKON D70")
    let stored = try folder.write("stored", TinyMedia.tiff(photo, isWithSize: true)).description
    let place = URL(filePath: stored).deletingLastPathComponent().path
    try FileManager.default.createSymbolicLink(atPath: place + "/a.nef", withDestinationPath: stored)
    let raw = try folder.write("b.nef", TinyMedia.tiff(photo, isWithSize: true)).description
    try FileManager.default.createSymbolicLink(atPath: place + "/bare", withDestinationPath: raw)
    let descriptor = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(descriptor) }
    let folders = [place, "/proc/\(getpid())/fd/\(descriptor)"]
    for path in folders.flatMap({ [$0 + "/a.nef", $0 + "/bare"] }) {
      guard case .medium(let facts) = try Self.shared.examine(URL(filePath: path)) else {
        Issue.record("The file is not a medium at \(path).")
        continue
      }
      #expect(facts.uniformTypeIdentifier == "com.nikon.raw-image", "\(path)")
    }
  }

  @Test("an import and a probe record the same of a file")
  func agreement() async throws {
    var photo = TinyMedia.Photo()
    (photo.orientation, photo.offset, photo.place) = (8, "-03:30", [12, -70])
    let (folder, rig) = (try TemporaryFolder(), try ImportedLibrary())
    let path = try folder.write("a.jpg", TinyMedia.jpeg(photo))
    _ = try await rig.run([folder.asRoot])
    let imported = try #require(try rig.assets().first)
    let other = try ImportedLibrary()
    try other.library.setMediaProbe(Self.shared)
    let file = URL(filePath: path.description)
    let creation = try #require(AssetCreation(imageAt: file, examinedBy: other.library))
    try await other.library.performChanges { $0.createAsset(creation) }
    let made = try #require(try other.assets().first)
    #expect((made.pixelWidth, made.pixelHeight) == (imported.pixelWidth, imported.pixelHeight))
    #expect(made.creationDate == imported.creationDate && made.localCreationDate == imported.localCreationDate)
    #expect(made.timeZoneOffset == imported.timeZoneOffset && made.location == imported.location)
    #expect(try other.library.resources(of: made) == rig.library.resources(of: imported))
  }

  @Test("a film has its duration")
  func film() throws {
    guard case .medium(let facts) = try finding("a.mov", TinyMedia.movie()) else {
      Issue.record("A movie is not a medium.")
      return
    }
    #expect(facts.mediaType == .video && facts.duration == 2.5)
    #expect(facts.uniformTypeIdentifier == "com.apple.quicktime-movie")
  }

  @Test(
    "text, empty files and noise are not media, whatever their names",
    arguments: [Data("text\n".utf8), Data(), Data((0..<400).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })])
  func noMedium(data: Data) throws {
    guard case .noMedium = try finding("a.jpg", data) else {
      Issue.record("\(data.count) bytes were taken for a medium.")
      return
    }
  }

  @Test("without exiftool it says what follows and what to install; one that is installed later is used")
  func missing() throws {
    let folder = try TemporaryFolder()
    let probe = ExternalProbe(searchPath: folder.path)
    guard case .unavailable(let sentence) = try finding("a.jpg", TinyMedia.jpeg(), probe) else {
      Issue.record("Nothing was found missing.")
      return
    }
    for part in ["without pixel size", "not rejected", "libimage-exiftool-perl"] { #expect(sentence.contains(part)) }
    _ = try ExifToolTests.standIn(
      folder,
      """
      while read -r l; do case $l in -execute*)
        echo '[{"File:MIMEType":"image/png","File:FileType":"PNG"}]'; echo "{ready${l#-execute}}";; esac; done
      """)
    guard case .medium = try finding("a.jpg", TinyMedia.jpeg(), probe) else {
      Issue.record("The program that was installed is not used.")
      return
    }
  }

  @Test("a file on which exiftool exceeds the time limit is rejected, and the next one is examined")
  func hangs() throws {
    let folder = try TemporaryFolder()
    let script = """
      while read -r l; do case $l in *hang*) sleep 1000 ;; -execute*)
        echo '[{"File:MIMEType":"image/png","File:FileType":"PNG"}]'; echo "{ready${l#-execute}}";; esac; done
      """
    _ = try ExifToolTests.standIn(folder, script)
    let probe = ExternalProbe(
      searchPath: folder.path, limits: ExifToolTests.limits(0.5), sandbox: Sandbox(layer: .none))
    let error = #expect(throws: LibraryError.self) { try finding("hang.jpg", TinyMedia.jpeg(), probe) }
    #expect(error?.code == .invalidResource && error?.description.contains("0.5 seconds") == true)
    guard case .medium = try finding("a.jpg", TinyMedia.jpeg(), ExternalProbe(searchPath: folder.path)) else {
      Issue.record("The next file was not examined.")
      return
    }
  }

  @Test("when no caller waits any more, a busy exiftool is terminated at once", .timeLimit(.minutes(10)))
  func cancelled() async throws {
    let folder = try TemporaryFolder()
    _ = try ExifToolTests.standIn(folder, "echo $$ > \"$0.pid\"; exec sleep 1000")
    let isOver = Atomic(false)
    let probe = ExternalProbe(
      searchPath: folder.path, sandbox: Sandbox(layer: .none), isCancelled: { isOver.load(ordering: .relaxed) })
    let path = try folder.write("a.jpg", TinyMedia.jpeg())
    async let answer = onThread { try probe.examine(URL(filePath: path.description)) }
    let place = "\(folder.path)/exiftool.pid"
    try await waitUntil("exiftool runs") { (try? Data(contentsOf: URL(filePath: place)).isEmpty) == false }
    isOver.store(true, ordering: .relaxed)
    do {
      _ = try await answer
      Issue.record("An answer came.")
    } catch let error as LibraryError {
      #expect(error.code == .userCancelled)
    }
    let text = try String(contentsOfFile: place, encoding: .utf8)
    #expect(ExifToolTests.isGone(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0))
  }
}
