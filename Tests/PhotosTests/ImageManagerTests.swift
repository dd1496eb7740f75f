import Photos
import PhotoLedger
import Synchronization
import TestSupport
import Testing

/// A renderer that draws the name of what it was asked for; it can be held up until it is cancelled.
private final class Drawing: PHImageRenderer {
  let waitsForCancellation: Bool
  let begun = Gathered<Bool>()

  init(waitsForCancellation: Bool = false) { self.waitsForCancellation = waitsForCancellation }

  func orientation(ofFileAt url: URL) throws -> CGImagePropertyOrientation? {
    try Data(contentsOf: url) == Data("edited".utf8) ? .down : .right
  }

  func image(_ request: PHImageRendering) async throws -> UIImage {
    begun.append(request.isExact)
    while waitsForCancellation {
      try Task.checkCancellation()
      await Task.yield()
    }
    let bytes = try Data(contentsOf: request.url)
    let size = request.size ?? .zero
    let words = "\(request.type) \(Int(size.width)) \(request.contentMode) \(request.isExact): "
    return UIImage(data: Data(words.utf8) + bytes, size: size)
  }
}

/// A renderer whose programs fail.
private struct Failing: PHImageRenderer {
  struct Failure: Error {}

  var error: any Error = Failure()
  var makesQuickPictures = false

  func orientation(ofFileAt url: URL) throws -> CGImagePropertyOrientation? { throw error }

  func image(_ request: PHImageRendering) async throws -> UIImage {
    if makesQuickPictures, !request.isExact { return UIImage(data: Data("quick".utf8), size: .zero) }
    throw error
  }
}

/// The programs of a search path, and a mark for each picture that is begun.
private struct Marked: PHImageRenderer {
  let renderer: InstalledRenderer
  let begun = Gathered<Bool>()

  func orientation(ofFileAt url: URL) throws -> CGImagePropertyOrientation? { try renderer.orientation(ofFileAt: url) }

  func image(_ request: PHImageRendering) async throws -> UIImage {
    begun.append(request.isExact)
    return try await renderer.image(request)
  }
}

/// The main queue, which is the main actor's.
private enum MainQueue {
  private static let mark: DispatchSpecificKey<Int> = {
    let mark = DispatchSpecificKey<Int>()
    DispatchQueue.main.setSpecific(key: mark, value: 1)
    return mark
  }()

  /// Whether the caller is on it, whatever thread serves it.
  static var isHere: Bool { DispatchQueue.getSpecific(key: mark) == 1 }
}

/// What a handler of pictures or bytes received.
private struct Told: Sendable {
  var text: String?
  var isDegraded = false
  var isCancelled = false
  var isOrientationUnknown = false
  var orientation = CGImagePropertyOrientation.up
  var code: PHPhotosError.Code?

  init(_ data: Data?, _ information: [AnyHashable: Any]?) {
    text = data.map { String(decoding: $0, as: UTF8.self) }
    isDegraded = information?[PHImageResultIsDegradedKey] as? Bool ?? false
    isCancelled = information?[PHImageCancelledKey] as? Bool ?? false
    isOrientationUnknown = information?[PHImageResultOrientationIsUnknownKey] as? Bool ?? false
    code = (information?[PHImageErrorKey] as? PHPhotosError)?.code
  }
}

@Suite("Bytes and pictures")
struct ImageManagerTests {
  private func photo(_ gallery: Gallery, _ text: String = "original") async throws -> PHAsset {
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetCreationRequest.forAsset()
      request.addResource(with: .photo, data: Data(text.utf8), options: nil)
    }
    return try #require(assets().lastObject)
  }

  private func picture(
    _ asset: PHAsset, _ options: PHImageRequestOptions?, times: Int, _ manager: PHImageManager = .default()
  ) async throws -> [Told] {
    let told = Gathered<Told>()
    manager.requestImage(
      for: asset, targetSize: CGSize(width: 200, height: 100), contentMode: .aspectFill, options: options
    ) { image, information in
      told.append(Told(image?.data, information))
    }
    try await waitUntil("the handler was called \(times) times") { told.all.count >= times }
    return told.all
  }

  private func bytes(_ asset: PHAsset, _ options: PHImageRequestOptions? = nil) async throws -> Told {
    let told = Gathered<Told>()
    PHImageManager.default().requestImageDataAndOrientation(for: asset, options: options) { data, _, turn, info in
      var answer = Told(data, info)
      answer.orientation = turn
      told.append(answer)
    }
    try await waitUntil("the bytes are there") { !told.all.isEmpty }
    return told.all[0]
  }

  @Test("a picture arrives early and degraded, then exact; other modes give one, marked if it is the quick one")
  func delivery() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(Drawing()) {
        let asset = try await photo(gallery)
        let soon = try await picture(asset, nil, times: 2)
        #expect(soon.map(\.isDegraded) == [true, false])
        let text = "public.image 200 aspectFill"
        #expect(soon.map(\.text) == ["\(text) false: original", "\(text) true: original"])
        for isExact in [false, true] {
          let options = PHImageRequestOptions()
          options.deliveryMode = isExact ? .highQualityFormat : .fastFormat
          let once = try await picture(asset, options, times: 1, PHCachingImageManager())
          #expect(once.map(\.isDegraded) == [!isExact] && once[0].text == "\(text) \(isExact): original")
        }
      }
    }
  }

  @Test(
    "a synchronous request is complete when it returns, with one exact picture in every mode",
    arguments: PHImageRequestOptionsDeliveryMode.allCases)
  func synchronous(mode: PHImageRequestOptionsDeliveryMode) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(Drawing()) {
        let asset = try await photo(gallery)
        let told = Gathered<Told>()
        let renderer = PHImageManager.rendererOfTask
        try await onThread {
          let options = PHImageRequestOptions()
          (options.isSynchronous, options.deliveryMode) = (true, mode)
          PHImageManager.$rendererOfTask.withValue(renderer) {
            _ = PHImageManager.default().requestImage(
              for: asset, targetSize: PHImageManagerMaximumSize, contentMode: .aspectFit, options: options
            ) { image, information in
              told.append(Told(image?.data, information))
            }
          }
          #expect(told.all.map(\.text) == ["public.image 0 aspectFit true: original"])
          #expect(told.all.map(\.isDegraded) == [false])
        }
      }
    }
  }

  @Test("a request from the main queue is answered there, later and in order; one from elsewhere is not")
  @MainActor
  func mainQueue() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(Drawing()) {
        let asset = try await photo(gallery)
        let (manager, size) = (PHImageManager.default(), CGSize(width: 200, height: 100))
        let pictures = Gathered<(isHere: Bool, isDegraded: Bool)>()
        manager.requestImage(for: asset, targetSize: size, contentMode: .aspectFill, options: nil) {
          pictures.append((MainQueue.isHere, Told($0?.data, $1).isDegraded))
        }
        let bytes = Gathered<Bool>()
        manager.requestImageDataAndOrientation(for: asset, options: nil) { _, _, _, _ in
          bytes.append(MainQueue.isHere)
        }
        manager.requestImageData(for: asset, options: nil) { _, _, _, _ in bytes.append(MainQueue.isHere) }
        // Neither is a Live Photo; the error comes where the Live Photo would.
        let live = Gathered<Bool>()
        manager.requestLivePhoto(for: asset, targetSize: size, contentMode: .aspectFill, options: nil) { _, _ in
          live.append(MainQueue.isHere)
        }
        PHLivePhoto.request(
          withResourceFileURLs: [], placeholderImage: nil, targetSize: size, contentMode: .aspectFill
        ) { _, _ in live.append(MainQueue.isHere) }
        let once = PHImageRequestOptions()
        once.isSynchronous = true
        let synchronous = Gathered<Bool>()
        manager.requestImage(for: asset, targetSize: size, contentMode: .aspectFill, options: once) { _, _ in
          synchronous.append(MainQueue.isHere)
        }
        #expect(synchronous.all == [true] && pictures.all.isEmpty && bytes.all.isEmpty && live.all.isEmpty)
        try await waitUntil("all have answered") {
          pictures.all.count == 2 && bytes.all.count == 2 && live.all.count == 2
        }
        #expect(pictures.all.map { $0.isHere } == [true, true] && pictures.all.map { $0.isDegraded } == [true, false])
        #expect(bytes.all == [true, true] && live.all == [true, true])
        let (others, renderer) = (Gathered<Bool>(), PHImageManager.rendererOfTask)
        try await onThread {
          PHImageManager.$rendererOfTask.withValue(renderer) {
            _ = PHImageManager.default().requestImage(
              for: asset, targetSize: size, contentMode: .aspectFill, options: nil
            ) { _, _ in others.append(MainQueue.isHere) }
            PHImageManager.default().requestLivePhoto(
              for: asset, targetSize: size, contentMode: .aspectFill, options: nil
            ) { _, _ in others.append(MainQueue.isHere) }
          }
        }
        try await waitUntil("the others have answered") { others.all.count == 3 }
        #expect(others.all == [false, false, false])
      }
    }
  }

  @Test("more synchronous requests than there are threads for tasks all end")
  func manySynchronous() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(Drawing()) {
        let asset = try await photo(gallery)
        let told = Gathered<String?>()
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<32 {
            group.addTask {
              let options = PHImageRequestOptions()
              options.isSynchronous = true
              var text: String?
              PHImageManager.default().requestImageDataAndOrientation(for: asset, options: options) { data, _, _, _ in
                text = data.map { String(decoding: $0, as: UTF8.self) }
              }
              told.append(text)
            }
          }
        }
        #expect(told.all == Array(repeating: "original", count: 32))
      }
    }
  }

  @Test("an installed renderer serves all requests of its process, until it is removed")
  func installed() async throws {
    await #expect(processExitsWith: .success) {
      let (suite, gallery) = (Self(), try Gallery())
      try await gallery.shared {
        let asset = try await suite.photo(gallery)
        PHImageManager.setRenderer(Drawing())
        #expect(try await suite.bytes(asset).orientation == .right)
        PHImageManager.setRenderer(nil)
        #expect(try await suite.bytes(asset).isOrientationUnknown)
      }
    }
  }

  @Test("an error of the exact picture follows the quick one, another comes alone", arguments: [true, false])
  func late(makesQuickPictures: Bool) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let renderer = Failing(error: PHPhotosError(.missingResource, "Gone."), makesQuickPictures: makesQuickPictures)
      try await PHImageManager.$rendererOfTask.withValue(renderer) {
        let told = try await picture(try await photo(gallery), nil, times: makesQuickPictures ? 2 : 1)
        #expect(told.map(\.text) == (makesQuickPictures ? ["quick", nil] : [nil]))
        #expect(told.last?.code == .missingResource && told.last?.isDegraded == false)
      }
    }
  }

  @Test("without the programs a picture is an error that says which to install")
  func noRenderer() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(InstalledRenderer(searchPath: "/nowhere")) {
        let told = try await picture(try await photo(gallery), nil, times: 1)
        #expect(told.map(\.code) == [.requestNotSupportedForAsset] && told[0].text == nil)
      }
    }
  }

  @Test("the error in a handler's information can be cast to Foundation's class, and the number to any type of numbers")
  func casts() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(InstalledRenderer(searchPath: "/nowhere")) {
        let (asset, errors, numbers) = (try await photo(gallery), Gathered<[String]>(), Gathered<Int?>())
        let number = PHImageManager.default().requestImage(
          for: asset, targetSize: .zero, contentMode: .default, options: nil
        ) { _, information in
          let error = information?[PHImageErrorKey] as? NSError
          errors.append(error.map { ["\($0.domain) \($0.code)", $0.localizedDescription] } ?? [])
          numbers.append(information?[PHImageResultRequestIDKey] as? Int)
        }
        try await waitUntil("the handler is called") { !errors.all.isEmpty && !numbers.all.isEmpty }
        #expect(errors.all[0].first == "\(PHPhotosErrorDomain) 3306")
        #expect(errors.all[0].last?.contains("apt-get install") == true)
        #expect(numbers.all == [Int(number)])
      }
    }
    let missing = PHPhotosError(.missingResource, "The file is gone.")
    let values: [(Any, PHPhotosError?)] = [
      (missing as NSError, missing), (NSError(domain: "other", code: 3303), nil),
      (NSError(domain: PHPhotosErrorDomain, code: 1), nil),
    ]
    for (value, error) in values {
      let cast = value as? PHPhotosError
      #expect(cast == error)
    }
  }

  @Test("a cancelled request reports that, once")
  func cancelling() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let drawing = Drawing(waitsForCancellation: true)
      try await PHImageManager.$rendererOfTask.withValue(drawing) {
        let told = Gathered<Told>()
        let asset = try await photo(gallery)
        let number = PHImageManager.default().requestImage(
          for: asset, targetSize: .zero, contentMode: .default, options: nil
        ) { image, information in
          told.append(Told(image?.data, information))
        }
        try await waitUntil("the renderer has begun") { !drawing.begun.all.isEmpty }
        PHImageManager.default().cancelImageRequest(number)
        try await waitUntil("the handler is called") { !told.all.isEmpty }
        #expect(told.all.map(\.isCancelled) == [true] && told.all[0].code == nil && told.all[0].text == nil)
      }
    }
  }

  @Test(
    "a request that is cancelled while a program renders reports that, and does not call its file damaged",
    .enabled(if: SamplePhotos.areInstalled("exiftool"), "Needs exiftool."), arguments: [false, true])
  func cancellingPrograms(isFilm: Bool) async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    for name in ["vipsthumbnail", "ffmpeg"] {
      try writeProgram("#!/bin/sh\nwhile :; do :; done\n", at: folder.place(name).path)
    }
    let film = #"{"streams": [{"index": 0, "codec_type": "video"}]}"#
    try writeProgram("#!/bin/sh\necho '\(film)'\n", at: folder.place("ffprobe").path)
    let picture = TinyMedia.jpeg()
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let marked = Marked(renderer: InstalledRenderer(searchPath: "\(folder.url.path):\(path)"))
    try await gallery.shared {
      try await PHPhotoLibrary.shared().performChanges {
        let request = PHAssetCreationRequest.forAsset()
        request.addResource(with: isFilm ? .video : .photo, data: picture, options: nil)
      }
      let (asset, told) = (try #require(assets().lastObject), Gathered<Told>())
      try await PHImageManager.$rendererOfTask.withValue(marked) {
        let manager = PHImageManager.default()
        let number: PHImageRequestID
        if isFilm {
          number = manager.requestImageDataAndOrientation(for: asset, options: nil) { data, _, _, information in
            told.append(Told(data, information))
          }
        } else {
          number = manager.requestImage(for: asset, targetSize: .zero, contentMode: .default, options: nil) {
            told.append(Told($0?.data, $1))
          }
        }
        try await waitUntil("the renderer has begun") { !marked.begun.all.isEmpty }
        manager.cancelImageRequest(number)
        try await waitUntil("the handler is called") { !told.all.isEmpty }
        #expect(told.all.map(\.isCancelled) == [true] && told.all[0].code == nil && told.all[0].text == nil)
      }
    }
  }

  @Test("a manager does not cancel another one's requests: no two requests have one number")
  func numbers() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let drawing = Drawing(waitsForCancellation: true)
      try await PHImageManager.$rendererOfTask.withValue(drawing) {
        let (asset, told) = (try await photo(gallery), Gathered<Told>())
        let managers = [PHCachingImageManager(), PHImageManager.default(), PHCachingImageManager()]
        let numbers = managers.map { manager in
          manager.requestImage(for: asset, targetSize: .zero, contentMode: .default, options: nil) {
            told.append(Told($0?.data, $1))
          }
        }
        #expect(Set(numbers).count == 3)
        managers[0].cancelImageRequest(numbers[2])
        #expect(told.all.isEmpty)
        for (manager, number) in zip(managers, numbers) { manager.cancelImageRequest(number) }
        try await waitUntil("all are cancelled") { told.all.count == 3 }
        #expect(told.all.map(\.isCancelled) == [true, true, true])
      }
    }
  }

  @Test("bytes are those of the requested version, and an unknown orientation is reported as such (AS-06, AS-10)")
  func versions() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await photo(gallery)
      let plain = try await bytes(asset)
      #expect(plain.text == "original" && plain.orientation == .up && plain.isOrientationUnknown)
      try await PHImageManager.$rendererOfTask.withValue(Drawing()) {
        #expect(try await bytes(asset).orientation == .right)
        let edited = try await edit(asset)
        let current = try await bytes(edited)
        #expect(current.text == "edited" && current.orientation == .down, "The render states it, which is accepted.")
        var input: PHContentEditingInput?
        edited.requestContentEditingInput(with: nil) { found, _ in input = found }
        #expect(input?.fullSizeImageOrientation == Int32(CGImagePropertyOrientation.down.rawValue))
        for version in [PHImageRequestOptionsVersion.original, .unadjusted] {
          let options = PHImageRequestOptions()
          options.version = version
          #expect(try await bytes(edited, options).text == "original")
        }
      }
      let alone = try await bytes(try #require(assets().lastObject))
      #expect(alone.text == "edited" && alone.orientation == .up && !alone.isOrientationUnknown)
    }
  }

  @Test("the bytes of a video are those of its poster, and not the film")
  func poster() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetCreationRequest.forAsset().addResource(with: .video, data: Data("film".utf8), options: nil)
      }
      let film = try #require(assets().lastObject)
      try await PHImageManager.$rendererOfTask.withValue(Drawing()) {
        let given = try await bytes(film)
        #expect(given.text?.hasSuffix(" 0 aspectFit true: film") == true)
        #expect(given.orientation == .up && !given.isOrientationUnknown)
      }
      try await PHImageManager.$rendererOfTask.withValue(InstalledRenderer(searchPath: "/nowhere")) {
        let missing = try await bytes(film)
        #expect(missing.text == nil && missing.code == .requestNotSupportedForAsset)
      }
    }
  }

  @Test("a renderer that fails does not withhold an edit's render, which is upright; a cancellation does (AS-10)")
  func failingRenderer() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(Drawing()) {
        let edited = try await edit(try await photo(gallery))
        try await PHImageManager.$rendererOfTask.withValue(Failing()) {
          let given = try await bytes(edited)
          #expect(given.text == "edited" && given.orientation == .up && !given.isOrientationUnknown)
          var input: PHContentEditingInput?
          edited.requestContentEditingInput(with: nil) { found, _ in input = found }
          #expect(input?.fullSizeImageOrientation == 1)
        }
        try await PHImageManager.$rendererOfTask.withValue(Failing(error: CancellationError())) {
          let withheld = try await bytes(edited)
          #expect(withheld.text == nil && withheld.isCancelled)
        }
      }
    }
  }

  @Test("requests can be overridden by an app's subclasses", arguments: Language.allCases)
  func overriding(language: Language) {
    let (manager, asset, films) = (language.mockedManager, language.mockedAsset, Gathered<URL?>())
    let film = manager.requestAVAsset(forVideo: asset, options: nil) { film, _, _ in
      films.append((film as? AVURLAsset)?.url)
    }
    #expect(film == 7 && films.all == [URL(fileURLWithPath: "/film.mov")])
    let live = manager.requestLivePhoto(
      for: asset, targetSize: .zero, contentMode: .aspectFit, options: nil
    ) { _, _ in }
    #expect(live == 8)
    var isCancelled = false
    let edit = asset.requestContentEditingInput(with: nil) { _, information in
      isCancelled = information[PHContentEditingInputCancelledKey] as? Bool == true
    }
    let name = asset.value(forKey: "filename") as? String
    #expect(edit == 9 && isCancelled && name == "IMG_1.HEIC")
  }

  @Test("the information about an editing input never says that its bytes are in a cloud")
  func nothingInCloud() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await photo(gallery)
      var information: [AnyHashable: Any] = [PHContentEditingInputResultIsInCloudKey: true]
      asset.requestContentEditingInput(with: nil) { information = $1 }
      let isInCloud = information[PHContentEditingInputResultIsInCloudKey] as? Bool
      #expect(isInCloud == nil)
    }
  }

  @Test(
    "a progress handler is called as pictures are made, and stops a request before the next one",
    arguments: [(nil, [0, 0.5, 1], [false, true]), (0, [0], []), (0.5, [0, 0.5], [false])]
      as [(Double?, [Double], [Bool])])
  func stoppingPictures(end: Double?, expected: [Double], begun: [Bool]) async throws {
    let gallery = try Gallery()
    let renderer = Drawing()
    try await gallery.shared {
      try await PHImageManager.$rendererOfTask.withValue(renderer) {
        let shares = Gathered<Double>()
        let options = PHImageRequestOptions()
        options.progressHandler = { share, _, stop, _ in
          shares.append(share)
          if share == end { stop.pointee = true }
        }
        let told = try await picture(try await photo(gallery), options, times: end == 0 ? 1 : 2)
        #expect(shares.all == expected && renderer.begun.all == begun)
        #expect(told.last?.isCancelled == (end != nil) && (told.last?.text == nil) == (end != nil))
      }
    }
  }

  @Test("a progress handler that stops a request for an editing input cancels it")
  func stoppingInput() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await photo(gallery)
      for stops in [false, true] {
        let options = PHContentEditingInputRequestOptions()
        options.progressHandler = { _, stop in stop.pointee = ObjCBool(stops) }
        var input: PHContentEditingInput?
        var isCancelled: Bool?
        asset.requestContentEditingInput(with: options) { found, information in
          input = found
          isCancelled = information[PHContentEditingInputCancelledKey] as? Bool
        }
        #expect((input == nil) == stops && isCancelled == (stops ? true : nil))
      }
    }
  }

  private func edit(_ asset: PHAsset) async throws -> PHAsset {
    var input: PHContentEditingInput?
    asset.requestContentEditingInput(with: nil) { found, _ in input = found }
    let output = PHContentEditingOutput(contentEditingInput: try #require(input))
    output.adjustmentData = PHAdjustmentData(formatIdentifier: "test", formatVersion: "1", data: Data("recipe".utf8))
    try Data("edited".utf8).write(to: output.renderedContentURL)
    try await PHPhotoLibrary.shared().performChanges {
      PHAssetChangeRequest(for: asset).contentEditingOutput = output
    }
    return try #require(assets().lastObject)
  }

  @Test("a request for bytes of any library is cancelled by its number (a.5)")
  func cancellingBytes() async throws {
    let (one, other) = (try Gallery(), try Gallery(seed: 2))
    let big = String(repeating: "bytes", count: 2_000_000)
    let asset = try await one.shared { try await photo(one, big) }
    try await other.shared {
      let resource = try #require(PHAssetResource.assetResources(for: asset).first)
      let numbers = Gathered<PHAssetResourceDataRequestID>()
      let ends = Gathered<PHPhotosError.Code?>()
      let isNumberKnown = DispatchSemaphore(value: 0)
      let number = PHAssetResourceManager.default().requestData(for: resource, options: nil) { _ in
        // Held up until the request's number is known; then it ends itself.
        guard isNumberKnown.wait(timeout: .now() + 180) == .success else { return }
        isNumberKnown.signal()
        for number in numbers.all { PHAssetResourceManager.default().cancelDataRequest(number) }
      } completionHandler: { error in
        ends.append((error as? PHPhotosError)?.code)
      }
      numbers.append(number)
      isNumberKnown.signal()
      try await waitUntil("the request is over") { !ends.all.isEmpty }
      #expect(ends.all == [.userCancelled])
      PHAssetResourceManager.default().cancelDataRequest(number)
    }
  }

  @Test("an observer of availability receives the end, and its reason (OB-04)")
  func availability() async throws {
    final class Listener: NSObject, PHPhotoLibraryAvailabilityObserver, Sendable {
      let reasons = Gathered<PHPhotosError.Code?>()
      func photoLibraryDidBecomeUnavailable(_ photoLibrary: PHPhotoLibrary) {
        reasons.append((photoLibrary.unavailabilityReason as? PHPhotosError)?.code)
      }
    }
    let gallery = try Gallery()
    try await gallery.shared {
      let library = PHPhotoLibrary.shared()
      let (listener, silent) = (Listener(), Listener())
      library.register(listener as any PHPhotoLibraryAvailabilityObserver)
      library.register(silent as any PHPhotoLibraryAvailabilityObserver)
      library.unregisterAvailabilityObserver(silent)
      #expect(library.unavailabilityReason == nil)
      gallery.library.close()
      try await waitUntil("the observer hears of it") { !listener.reasons.all.isEmpty }
      #expect(listener.reasons.all == [.libraryVolumeOffline] && silent.reasons.all.isEmpty)
    }
  }
}
