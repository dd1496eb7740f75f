import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("The files that programs read")
struct WorkFolderTests {
  /// What a link would change: the number of names and the time of change.
  private struct State: Equatable {
    var names: Int
    var changed: [Int]
    var number: UInt64

    init(_ path: String) throws {
      var status = stat()
      try #require(lstat(path, &status) == 0)
      names = Int(status.st_nlink)
      changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
      number = UInt64(status.st_ino)
    }
  }

  @Test("a file of the library's resources has a second name; any other is copied, or referred to, and stays as it is")
  func taken() throws {
    let folder = try TemporaryFolder()
    let own = try folder.write("library/resources/ab/cd", Data("own".utf8)).description
    let foreign = try folder.write("photos/a.jpg", Data("foreign".utf8)).description
    try FileManager.default.createDirectory(
      atPath: folder.path + "/library/renditions", withIntermediateDirectories: true)
    let before = try State(foreign)
    for mayRefer in [false, true] {
      let root = WorkRoot(in: URL(filePath: folder.path + "/library/renditions"), mayRefer: mayRefer)
      let work = try root.folder()
      #expect(try State(work.take(URL(filePath: own), as: "own")).number == State(own).number)
      let taken = try work.take(URL(filePath: foreign), as: "foreign")
      #expect(try Data(contentsOf: URL(filePath: taken)) == Data("foreign".utf8))
      #expect(try State(taken).number != before.number)
      // The resolved path: the folder for temporary files may be reached by a link.
      #expect(try work.readable() == [work.input] + (mayRefer ? [WorkFolder.real(URL(filePath: foreign))] : []))
      let other = try root.folder()
      #expect(try State(other.take(URL(filePath: taken))).number != before.number, "Nor from one folder to another.")
    }
    #expect(try State(foreign) == before)
  }

  @Test("a copy that is no longer wanted ends between two pieces, and nothing is left of it")
  func cancelled() throws {
    let folder = try TemporaryFolder()
    let film = URL(filePath: folder.path + "/film.mov")
    let byteCount = 2 * WorkFolder.pieceByteCount + 1
    try #require(FileManager.default.createFile(atPath: film.path, contents: nil))
    try #require(truncate(film.path, off_t(byteCount)) == 0)
    let work = try WorkRoot(in: URL(filePath: folder.path + "/work")).folder()
    var looks = 0
    var failure: (any Error)?
    do {
      _ = try work.take(
        film,
        isCancelled: {
          looks += 1
          return looks == 3
        }, cloning: { _, _ in EOPNOTSUPP })
    } catch { failure = error }
    let error = failure as? ImportError
    #expect(error?.code == .cancelled && error?.isPassing == true, "\(String(describing: failure))")
    #expect(looks == 3)
    #expect(try FileManager.default.contentsOfDirectory(atPath: work.input).isEmpty)
    let taken = try work.take(film, cloning: { _, _ in EOPNOTSUPP })
    let copied = try FileManager.default.attributesOfItem(atPath: taken)[.size] as? Int
    #expect(copied == byteCount)
  }

  @Test("leftovers of a killed process with this one's number are removed, and this process's files stay")
  func swept() throws {
    let folder = try TemporaryFolder()
    let own = try folder.write("library/resources/ab/cd", Data("own".utf8)).description
    let parent = URL(filePath: folder.path + "/library/renditions")
    let left = parent.appending(path: "photoledger-work-\(getpid())-01234567/in")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    try #require(link(own, left.appending(path: "source").path) == 0)
    let roots = (0..<3).map { _ in WorkRoot(in: parent) }
    let made = try roots.map { try $0.located() }
    let names = made.map { URL(filePath: $0).lastPathComponent }
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).sorted() == names.sorted())
    #expect(try State(own).names == 1, "The original has no second name any more.")
    // A library that is moved keeps the roots in it.
    let moved = URL(filePath: folder.path + "/moved")
    try FileManager.default.moveItem(at: URL(filePath: folder.path + "/library"), to: moved)
    let next = URL(filePath: try WorkRoot(in: moved.appending(path: "renditions")).located()).lastPathComponent
    let kept = try FileManager.default.contentsOfDirectory(atPath: moved.path + "/renditions")
    #expect(kept.sorted() == (names + [next]).sorted())
  }

  @Test(
    "rendering a referenced photo leaves it unchanged, whatever its name", .enabled(if: SamplePhotos.canRender),
    arguments: [false, true])
  func rendered(sharesTool: Bool) throws {
    let folder = try TemporaryFolder()
    let sample = try #require(Corpus.folder).appending(path: "orientation/Landscape_6.jpg")
    let photo = try folder.write("library/photos/a [page=1].jpg", Data(contentsOf: sample))
    let file = URL(filePath: photo.description)
    let before = try State(file.path)
    let renderer =
      sharesTool
      ? MediaRenderer(probe: .shared) : MediaRenderer(workFolder: URL(filePath: folder.path + "/library/renditions"))
    #expect(try renderer.description(of: file)?.displayedSize == PixelSize(width: 1800, height: 1200))
    var request = PictureRequest(source: file, sourceType: "public.jpeg")
    request.size = PixelSize(width: 300, height: 300)
    #expect(try renderer.picture(request).size == PixelSize(width: 300, height: 200))
    for outcome in renderer.renditions(of: [file, file]) { #expect(throws: Never.self) { try outcome.get() } }
    for outcome in renderer.pictureHashes(of: [file]) { #expect(throws: Never.self) { try outcome.get() } }
    #expect(try State(file.path) == before)
  }
}
