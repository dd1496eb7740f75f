import Foundation
import LibraryPicking
import PhotoKitProgramsSwift5
import PhotoKitProgramsSwift6
import PhotoLedger
import PhotosUI
import TestSupport
import Testing

// MARK: What an app's author writes

/// The program that lets pictures be chosen, compiled in either language mode.
@MainActor
private protocol ChooserProgram: AnyObject {
  init()
  var identifiers: [String] { get }
  var images: [String: UIImage] { get }
  var complaints: [String] { get }
  func makePicker() -> PHPickerViewController
}

extension PhotoKitProgramsSwift5.PictureChooser: ChooserProgram {}
extension PhotoKitProgramsSwift6.PictureChooser: ChooserProgram {}

enum Language: CaseIterable, Sendable {
  case swift5, swift6

  fileprivate var chooser: any ChooserProgram.Type {
    self == .swift5 ? PhotoKitProgramsSwift5.PictureChooser.self : PhotoKitProgramsSwift6.PictureChooser.self
  }
}

/// A film that the app copies to a place of its own.
private struct Movie: Transferable, Equatable {
  let bytes: Data
  let ending: String

  static var transferRepresentation: some TransferRepresentation {
    FileRepresentation(contentType: .movie) { movie in
      SentTransferredFile(URL(filePath: "/nowhere/\(movie.ending)"))
    } importing: { received in
      Self(bytes: try Data(contentsOf: received.file), ending: received.file.pathExtension)
    }
  }
}

/// A picture or the film of one, whichever there is.
private enum Medium: Transferable, Equatable {
  case picture(Data)
  case film(URL)
  case sound

  struct Silence: Error {}

  static var transferRepresentation: some TransferRepresentation {
    DataRepresentation(exportedContentType: .jpeg) { (_: Medium) in Data() }
    DataRepresentation(importedContentType: .audio) { _ in throw Silence() }
    DataRepresentation(importedContentType: .image) { data in Medium.picture(data) }
    FileRepresentation(importedContentType: .movie) { Medium.film($0.file) }
  }
}

// MARK: What comes of it

@Suite("Picking as an app does", .timeLimit(.minutes(60)))
struct PickerFlowTests {
  @Test(
    "a delegate gets results, and an item provider loads their pictures (PK-01, PK-02, PK-04, PK-05)",
    arguments: Language.allCases)
  @MainActor
  func delegate(language: Language) async throws {
    let picking = try await PickerLibrary()
    func choose(_ chooser: any ChooserProgram, _ indexes: [Int]) async throws {
      let session = try PHPhotoLibrary.withShared(picking.app) { try chooser.makePicker().begin() }
      // The gallery finds the session by itself.
      let shown = try #require(try picking.library.pickingSessions().first)
      #expect(shown.id == session.id && shown.client == PickerLibrary.client)
      let presenter = try picking.library.present(shown)
      #expect(try presenter.candidates().count == 5)
      for index in indexes { try await presenter.select(picking.name(index)) }
      try await presenter.finish()
    }
    let chooser = language.chooser.init()
    try await choose(chooser, [3, 1])
    try await waitUntil("both pictures are there") { chooser.images.count == 2 }
    #expect(chooser.identifiers == [3, 1].map(picking.name))
    for index in [3, 1] {
      #expect(chooser.images[picking.name(index)]?.data == Data(PickerLibrary.bytes(index).utf8))
    }
    #expect(try picking.library.pickingSessions().isEmpty)

    // What was chosen before is chosen again, and comes without its bytes.
    try await choose(chooser, [0])
    try await waitUntil("the third picture is there") { chooser.images.count == 3 }
    #expect(chooser.identifiers == [3, 1, 0].map(picking.name) && chooser.complaints.isEmpty)
  }

  @Test("an item is loaded as data, as a file, and as an app's type (a.8)")
  func transferables() async throws {
    let picking = try await PickerLibrary()
    var configuration = picking.configuration()
    configuration.preferredAssetRepresentationMode = PhotosPickerItem.EncodingDisambiguationPolicy.current
    let live = PhotosPickerItem(try await picking.pickOne(try await picking.addLivePhoto(), configuration))
    #expect(live.supportedContentTypes == [.heic, .quickTimeMovie])
    #expect(try await live.loadTransferable(type: Data.self) == Data("still".utf8))
    let movie = try #require(try await live.loadTransferable(type: Movie.self))
    #expect(movie.bytes == Data("film".utf8) && movie.ending == "mov")
    #expect(try await live.loadTransferable(type: Medium.self) == .picture(Data("still".utf8)))

    let file = try #require(try await live.loadTransferable(type: URL.self))
    #expect(try Data(contentsOf: file) == Data("still".utf8) && file.pathExtension == "heic")
    #expect(file.folderMode == 0o700, "The folder is this user's alone.")
    try FileManager.default.removeItem(at: file.deletingLastPathComponent())

    let clip = try await picking.add([PickerLibrary.draft(.video, "clip", "clip.mov")], .video)
    let film = PhotosPickerItem(try await picking.pickOne(clip, configuration))
    guard case .film(let lent) = try await film.loadTransferable(type: Medium.self) else {
      throw Divergence("A film is not loaded as one.")
    }
    #expect(!lent.isThere, "The file was lent only.")
  }

  @Test("an item without data of a type is nil, and an app's error is rethrown (a.8)")
  func notTransferable() async throws {
    let picking = try await PickerLibrary()
    let photo = PhotosPickerItem(try await picking.pickOne(picking.name(0)))
    #expect(try await photo.loadTransferable(type: Movie.self) == nil)
    let file = try await picking.add([PickerLibrary.draft(.audio, "sound", "a.mp3")], .audio)
    let sound = PhotosPickerItem(try await picking.pickOne(file))
    await #expect(throws: Medium.Silence.self) { try await sound.loadTransferable(type: Medium.self) }

    let named = PhotosPickerItem(itemIdentifier: picking.name(0))
    #expect(named.itemIdentifier == picking.name(0) && named.supportedContentTypes.isEmpty)
    #expect(try await named.loadTransferable(type: Data.self) == nil)
    #expect(named != photo && Set([named, PhotosPickerItem(itemIdentifier: picking.name(0))]).count == 1)
  }

  @Test("the form with a handler reports its progress, and nil for another type (a.8)")
  func handler() async throws {
    let picking = try await PickerLibrary()
    let item = PhotosPickerItem(try await picking.pickOne(picking.name(2)))
    let told = AsyncStream.makeStream(of: Result<Data?, any Error>.self)
    let progress = item.loadTransferable(type: Data.self) { told.continuation.yield($0) }
    var results = told.stream.makeAsyncIterator()
    #expect(try await results.next()?.get() == Data(PickerLibrary.bytes(2).utf8))
    #expect(progress.fractionCompleted == 1)
    let movies = AsyncStream.makeStream(of: Result<Movie?, any Error>.self)
    item.loadTransferable(type: Movie.self) { movies.continuation.yield($0) }
    var answers = movies.stream.makeAsyncIterator()
    let answer = try #require(await answers.next())
    #expect(try answer.get() == nil)
  }

  @Test("the provider of an item loads an app's types, too, and fails for other types (a.8)")
  func providers() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(picking.name(2)).itemProvider
    let bytes = AsyncStream.makeStream(of: Result<Data, any Error>.self)
    provider.loadTransferable(type: Data.self) { bytes.continuation.yield($0) }
    var results = bytes.stream.makeAsyncIterator()
    #expect(try await results.next()?.get() == Data(PickerLibrary.bytes(2).utf8))
    let movies = AsyncStream.makeStream(of: Result<Movie, any Error>.self)
    provider.loadTransferable(type: Movie.self) { movies.continuation.yield($0) }
    var answers = movies.stream.makeAsyncIterator()
    let answer = try #require(await answers.next())
    let error = #expect(throws: PHPhotosError.self) { try answer.get() }
    #expect(error?.code == .invalidResource)
  }

  @Test("items are equal if they are the same item of the same pick, as from tap to tap (PK-05)")
  @MainActor
  func equality() async throws {
    let picking = try await PickerLibrary()
    let told = Told()
    let picker = PHPickerViewController(configuration: picking.configuration(0, .continuousAndOrdered))
    picker.delegate = told
    let presenter = try picking.library.present(picker.begin())
    for index in 0..<3 { try await presenter.select(picking.name(index)) }
    try await presenter.finish()
    let taps = await told.next(3)
    #expect(taps.map(\.count) == [1, 2, 3] && taps[1] == Array(taps[2].prefix(2)) && taps[0] == [taps[2][0]])

    let results = try await picking.pick([picking.name(0), picking.name(1)])
    let again = try await picking.pickOne(picking.name(0))
    #expect(Set(results).count == 2 && Set(results + [again]).count == 3)
    #expect(PhotosPickerItem(results[0]) == PhotosPickerItem(results[0]))
    #expect(PhotosPickerItem(results[0]) != PhotosPickerItem(results[1]))
    #expect(Set([PhotosPickerItem(results[0]), PhotosPickerItem(again)]).count == 2)
  }

  @Test("the shared library of a task is its own, in the tasks that it begins too")
  func shared() async throws {
    let (one, two) = (try await PickerLibrary(1), try await PickerLibrary(2))
    let counts = await PHPhotoLibrary.withShared(one.library) {
      let inner = PHPhotoLibrary.withShared(two.library) { PHAsset.fetchAssets(with: nil).count }
      return [inner, await Task { PHAsset.fetchAssets(with: nil).count }.value]
    }
    #expect(counts == [2, 1])
  }
}
