import Foundation
import LibraryPicking
import PhotoLedger
import PhotosUI
import TestSupport
import Testing

@testable import Photos

@Suite("Item providers", .timeLimit(.minutes(60)))
struct ItemProviderTests {
  @Test("data is found by its type and its supertypes (a.8)")
  func kinds() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(try await picking.addLivePhoto()).itemProvider
    #expect(provider.registeredTypeIdentifiers == ["public.heic", "com.apple.quicktime-movie"])
    #expect(provider.registeredContentTypes == [.heic, .quickTimeMovie])
    #expect(provider.registeredContentTypes(conformingTo: .movie) == [.quickTimeMovie])
    for type in ["public.heic", "public.image", "public.movie", "com.apple.quicktime-movie", "public.data"] {
      #expect(provider.hasItemConformingToTypeIdentifier(type), "\(type)")
      #expect(provider.hasRepresentationConforming(toTypeIdentifier: type, fileOptions: []), "\(type)")
      #expect(!provider.hasRepresentationConforming(toTypeIdentifier: type, fileOptions: .openInPlace), "\(type)")
    }
    for type in ["public.png", "public.audio", ""] {
      #expect(!provider.hasItemConformingToTypeIdentifier(type), "\(type)")
      #expect(!provider.hasRepresentationConforming(toTypeIdentifier: type), "\(type)")
    }
    #expect(try await provider.data("public.data") == Data("still".utf8), "The preferred kind comes first.")
    #expect(try await provider.data("public.movie") == Data("film".utf8))
    #expect(try await provider.data("public.heic") == Data("still".utf8))
  }

  @Test("a type that the item does not have is an error that lists its types (a.8)")
  func unknownKind() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(picking.name(0)).itemProvider
    let ways: [() async throws -> Void] = [
      { _ = try await provider.data("public.png") }, { try await provider.file("public.png") { _ in } },
    ]
    for way in ways {
      let error = await failure(way)
      #expect(error?.code == .requestNotSupportedForAsset)
      #expect(error?.description.contains("public.png") == true && error?.description.contains("public.jpeg") == true)
    }
    let clip = try await picking.add([PickerLibrary.draft(.video, "clip", "clip.mov")], .video)
    let film = try await picking.pickOne(clip).itemProvider
    #expect(!film.canLoadObject(ofClass: UIImage.self) && provider.canLoadObject(ofClass: UIImage.self))
    let told = AsyncStream.makeStream(of: PHPhotosError?.self)
    film.loadObject(ofClass: UIImage.self) { object, error in
      told.continuation.yield(object == nil ? error as? PHPhotosError : nil)
    }
    var errors = told.stream.makeAsyncIterator()
    #expect(await errors.next()??.description.contains("public.image") == true)
  }

  private func livePhoto(_ provider: NSItemProvider) async throws -> PHLivePhoto {
    try await withCheckedThrowingContinuation { continuation in
      provider.loadObject(ofClass: PHLivePhoto.self) { object, error in
        switch (object as? PHLivePhoto, error) {
        case (let live?, nil): continuation.resume(returning: live)
        case (_, let error): continuation.resume(throwing: error ?? CocoaError(.featureUnsupported))
        }
      }
    }
  }

  private func bytes(_ resource: PHAssetResource) async throws -> Data {
    let portions = Gathered<Data>()
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      PHAssetResourceManager.default().requestData(for: resource, options: nil) {
        portions.append($0)
      } completionHandler: {
        continuation.resume(with: $0.map { .failure($0) } ?? .success(()))
      }
    }
    return portions.all.reduce(Data(), +)
  }

  @Test("a Live Photo is loaded as one object; its files exist as long as objects made from them do (a.8)")
  func livePhotos() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(try await picking.addLivePhoto()).itemProvider
    #expect(provider.canLoadObject(ofClass: PHLivePhoto.self) && provider.canLoadObject(ofClass: UIImage.self))
    var resources: [PHAssetResource] = []
    do {
      let live = try await livePhoto(provider)
      resources = PHAssetResource.assetResources(for: live)
    }
    #expect(resources.map(\.type) == [.photo, .pairedVideo])
    #expect(resources.map(\.uniformTypeIdentifier) == ["public.heic", "com.apple.quicktime-movie"])
    let loaded = [try await bytes(resources[0]), try await bytes(resources[1])]
    #expect(loaded == [Data("still".utf8), Data("film".utf8)])
    let files = resources.compactMap { $0.file?.url }
    #expect(files.count == 2 && files.allSatisfy(\.isThere))
    resources = []
    try await waitUntil("the files are removed") { !files.contains { $0.deletingLastPathComponent().isThere } }
  }

  @Test("an item without still and video is not a Live Photo, and a sentence says what it is (a.8)")
  func noLivePhoto() async throws {
    let picking = try await PickerLibrary()
    let clip = try await picking.add([PickerLibrary.draft(.video, "clip", "clip.mov")], .video)
    for name in [picking.name(0), clip] {
      let provider = try await picking.pickOne(name).itemProvider
      #expect(!provider.canLoadObject(ofClass: PHLivePhoto.self))
      let error = await failure { _ = try await livePhoto(provider) }
      #expect(error?.code == .requestNotSupportedForAsset)
      #expect(error?.description.contains("com.apple.live-photo") == true)
    }
    #expect(throws: PHPhotosError.self) { try PHLivePhoto.object(withItemProviderData: Data(), typeIdentifier: "a") }
  }

  @Test("a file exists while its handler runs, and is removed with its folder then, unless it was moved (a.8)")
  func files() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(try await picking.addLivePhoto()).itemProvider
    provider.suggestedName = "a/b"
    let (seen, bytes) = try await provider.file("public.movie") { ($0, try Data(contentsOf: $0)) }
    #expect(bytes == Data("film".utf8))
    #expect(provider.suggestedName == "a/b" && seen.lastPathComponent == "a:b.mov")
    #expect(!seen.isThere && !seen.deletingLastPathComponent().isThere)
    let mode = try await provider.file("public.movie") { $0.folderMode }
    #expect(mode == 0o700, "The folder is this user's alone.")
    let kept = picking.temporary.folder.place("kept.heic")
    try await provider.file("public.image") { try FileManager.default.moveItem(at: $0, to: kept) }
    #expect(try Data(contentsOf: kept) == Data("still".utf8))

    let told = AsyncStream.makeStream(of: URL?.self)
    provider.loadFileRepresentation(for: .movie, openInPlace: true) { url, isInPlace, error in
      told.continuation.yield(isInPlace || error != nil ? nil : url)
    }
    var answers = told.stream.makeAsyncIterator()
    let copy = try #require(await answers.next() ?? nil, "The file is a copy.")
    try await waitUntil("the copy is gone") { !copy.deletingLastPathComponent().isThere }
  }

  @Test("an item is the URL of a file, which is there while its handler runs; an unknown kind is an error (a.8)")
  func items() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(try await picking.addLivePhoto()).itemProvider
    typealias Item = (bytes: Data, place: URL)
    let items = AsyncStream.makeStream(of: Item?.self)
    provider.loadItem(forTypeIdentifier: "public.image", options: nil) { item, error in
      guard error == nil, let url = item as? URL, let bytes = try? Data(contentsOf: url) else {
        items.continuation.yield(nil)
        return
      }
      items.continuation.yield((bytes: bytes, place: url))
    }
    var loaded = items.stream.makeAsyncIterator()
    let item = try #require(await loaded.next() ?? nil)
    #expect(item.bytes == Data("still".utf8))
    try await waitUntil("the file is gone") { !item.place.deletingLastPathComponent().isThere }

    let errors = AsyncStream.makeStream(of: PHPhotosError.Code?.self)
    provider.loadItem(forTypeIdentifier: "public.png") { item, error in
      errors.continuation.yield(item == nil ? (error as? PHPhotosError)?.code : nil)
    }
    var codes = errors.stream.makeAsyncIterator()
    let code = await codes.next() ?? nil
    #expect(code == .requestNotSupportedForAsset)
  }

  @Test("the progress of a load ends at 1")
  func progress() async throws {
    let picking = try await PickerLibrary(0)
    let photo = try await picking.add([PickerLibrary.draft(.photo, String(repeating: "x", count: 2_500_000), "a.jpg")])
    let provider = try await picking.pickOne(photo).itemProvider
    let told = AsyncStream.makeStream(of: Int?.self)
    let data = provider.loadDataRepresentation(for: .image) { data, _ in told.continuation.yield(data?.count) }
    var counts = told.stream.makeAsyncIterator()
    #expect(await counts.next() == 2_500_000)
    let files = AsyncStream.makeStream(of: URL?.self)
    let file = provider.loadFileRepresentation(forTypeIdentifier: "public.image") { url, _ in
      files.continuation.yield(url)
    }
    var urls = files.stream.makeAsyncIterator()
    let url = try #require(await urls.next() ?? nil)
    try await waitUntil("the file is gone") { !url.deletingLastPathComponent().isThere }
    for progress in [data, file] {
      #expect(progress.fractionCompleted == 1 && progress.isFinished && progress.isCancellable)
    }
  }

  @Test("a load whose progress is cancelled ends with 3072, and leaves no file", arguments: 0..<4)
  func cancelling(way: Int) async throws {
    let picking = try await PickerLibrary(0)
    let converter = EndlessConverter()
    try picking.library.setRepresentationConverter(converter)
    let photo = try await picking.add([PickerLibrary.draft(.photo, "photo", "a.heic")])
    let result = try await picking.pickOne(photo)
    let told = AsyncStream.makeStream(of: (any Error)?.self)
    let tell: @Sendable ((any Error)?) -> Void = { told.continuation.yield($0) }
    let provider = result.itemProvider
    let progress =
      switch way {
      case 0: provider.loadDataRepresentation(forTypeIdentifier: "public.jpeg") { tell($1) }
      case 1: provider.loadFileRepresentation(forTypeIdentifier: "public.jpeg") { tell($1) }
      case 2: provider.loadObject(ofClass: UIImage.self) { tell($1) }
      default:
        PhotosPickerItem(result).loadTransferable(type: Data.self) { outcome in
          if case .failure(let error) = outcome { tell(error) } else { tell(nil) }
        }
      }
    try await waitUntil("the conversion has begun") { !converter.begun.all.isEmpty }
    let files = converter.begun.all.flatMap { $0 }
    #expect(files.count == 2 && files.allSatisfy(\.isThere))
    progress.cancel()
    var errors = told.stream.makeAsyncIterator()
    let error = try #require(await errors.next())
    #expect((error as? PHPhotosError)?.code == .userCancelled)
    #expect(progress.isCancelled && progress.fractionCompleted == 0)
    let incoming = picking.library.url.appending(path: "resources/incoming").path
    try await waitUntil("no file is left") {
      try !files.contains(where: \.isThere) && FileManager.default.contentsOfDirectory(atPath: incoming).isEmpty
    }
  }

  @Test("a loading needs no thread of the tasks that wait for its handler (a.8)")
  func heldThreads() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(picking.name(0)).itemProvider
    let (loaded, end) = (Gathered<Data?>(), DispatchTime.now().uptimeNanoseconds + 120_000_000_000)
    @Sendable func load() {
      let done = DispatchSemaphore(value: 0)
      provider.loadDataRepresentation(forTypeIdentifier: "public.jpeg") { data, _ in
        loaded.append(data)
        done.signal()
      }
      if done.wait(timeout: DispatchTime(uptimeNanoseconds: end)) == .timedOut { loaded.append(nil) }
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<32 { group.addTask { load() } }
    }
    #expect(loaded.all == Array(repeating: Data(PickerLibrary.bytes(0).utf8), count: 32))
  }

  @Test("an asset that was deleted is reported when it is loaded (3303)")
  func purged() async throws {
    let picking = try await PickerLibrary()
    let provider = try await picking.pickOne(picking.name(0)).itemProvider
    let photo = try #require(try picking.library.asset(picking.name(0)))
    try await picking.library.performChanges { $0.deleteAssets([photo.id]) }
    #expect(try await provider.data("public.jpeg") == Data(PickerLibrary.bytes(0).utf8))
    try await picking.library.performChanges { $0.purgeAssets([photo.id]) }
    let error = await failure { _ = try await provider.data("public.jpeg") }
    #expect(error?.code == .missingResource && error?.description.contains("no longer in the library") == true)
  }
}
