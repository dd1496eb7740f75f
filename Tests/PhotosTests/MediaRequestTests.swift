import Foundation
import MediaImport
import PhotoLedger
import Photos
import PhotosUI
import Synchronization
import TestSupport
import Testing

private let clear: Comment = "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."

/// What a handler was given: whether there is a value, and the information.
private struct Told: @unchecked Sendable {  // guarded by: made by the handler, then read only
  let value: Any?
  let information: [AnyHashable: Any]

  var isCancelled: Bool { information[PHImageCancelledKey] as? Bool == true }
  var code: PHPhotosError.Code? { (information[PHImageErrorKey] as? PHPhotosError)?.code }
}

@Suite("Requests for Live Photos and films", .enabled(if: SamplePhotos.canRender, clear))
struct MediaRequestTests {
  private let pair = [
    (ResourceType.photo, "live-photo-pairs/genuine-iphone6s/train.jpg"),
    (.pairedVideo, "live-photo-pairs/genuine-iphone6s/train.mov"),
  ]
  private let edit = [
    (ResourceType.fullSizePhoto, "orientation/Landscape_1.jpg"), (.fullSizePairedVideo, "video/with-gps.mov"),
    (.adjustmentData, "SOURCES.md"),
  ]

  private func files() throws -> [URL] {
    let folder = try #require(SamplePhotos.folder)
    return pair.map { folder.appending(path: $0.1) }
  }

  // MARK: Live Photos

  @Test("a Live Photo of files comes degraded first, in the size of its placeholder")
  func placeholder() async throws {
    let grid = try TemporaryFolder()
    let file = grid.place("grid.png")
    try ColourGrid.make(["rg", "bw"], side: 10, at: file)
    let image = try #require(UIImage(contentsOfFile: file.path))
    let told = Gathered<Told>()
    PHLivePhoto.request(
      withResourceFileURLs: try files(), placeholderImage: image, targetSize: .zero, contentMode: .aspectFit
    ) {
      told.append(Told(value: $0, information: $1))
    }
    try await waitUntil("the Live Photo is there") { told.all.count == 2 }
    #expect(told.all.map { $0.information[PHLivePhotoInfoIsDegradedKey] as? Bool } == [true, false])
    let live = told.all.map { $0.value as? PHLivePhoto }
    #expect(live[0]?.size == CGSize(width: 20, height: 20) && live[1]?.size.width ?? 0 > 1000)
    #expect(live[0].map { PHAssetResource.assetResources(for: $0).isEmpty } == true)
    #expect(live[1].map { PHAssetResource.assetResources(for: $0).count } == 2)
  }

  @Test("a file of a Live Photo that is gone when its bytes are requested is named with the system's reason")
  func goneFile() async throws {
    let folder = try TemporaryFolder()
    var copies: [URL] = []
    for file in try files() {
      copies.append(folder.place(file.lastPathComponent))
      try FileManager.default.copyItem(at: file, to: copies[copies.count - 1])
    }
    let image = try #require(UIImage(contentsOfFile: copies[0].path))
    let told = Gathered<Told>()
    PHLivePhoto.request(
      withResourceFileURLs: copies, placeholderImage: image, targetSize: .zero, contentMode: .aspectFit
    ) {
      told.append(Told(value: $0, information: $1))
    }
    try await waitUntil("the Live Photo is there") { told.all.count == 2 }
    let live = try #require(told.all[1].value as? PHLivePhoto)
    let resource = try #require(PHAssetResource.assetResources(for: live).first)
    for copy in copies { try FileManager.default.removeItem(at: copy) }
    let target = folder.place("copy")
    var sentence = ""
    do {
      try await PHAssetResourceManager.default().writeData(for: resource, toFile: target, options: nil)
    } catch {
      sentence = (error as? PHPhotosError)?.description ?? "\(error)"
    }
    #expect(sentence.hasSuffix(" cannot be read: No such file or directory."), "\(sentence)")
  }

  @Test("a cancelled request for a Live Photo of files reports that, and returns none")
  func cancelled() async throws {
    let image = try #require(UIImage(contentsOfFile: try files()[0].path))
    let told = Gathered<Told>()
    let isCancelled = DispatchSemaphore(value: 0)
    let number = PHLivePhoto.request(
      withResourceFileURLs: try files(), placeholderImage: image, targetSize: .zero, contentMode: .aspectFit
    ) {
      told.append(Told(value: $0, information: $1))
      // Held up at the placeholder until the request is cancelled.
      if $1[PHLivePhotoInfoIsDegradedKey] as? Bool == true { isCancelled.wait() }
    }
    #expect(number != PHLivePhotoRequestIDInvalid)
    PHLivePhoto.cancelRequest(withRequestID: number)
    isCancelled.signal()
    try await waitUntil("the request ended") { told.all.last?.information[PHLivePhotoInfoCancelledKey] != nil }
    #expect(told.all.last?.value == nil && told.all.last?.information[PHLivePhotoInfoCancelledKey] as? Bool == true)
    #expect(told.all.allSatisfy { $0.information[PHLivePhotoInfoErrorKey] == nil })
  }

  @Test("cancelling the writing of a Live Photo's file is a cancelled request, and leaves no file")
  func cancelledFile() async throws {
    let (folder, urls) = (try TemporaryFolder(), try files())
    let live = await withCheckedContinuation { (continuation: CheckedContinuation<PHLivePhoto?, Never>) in
      PHLivePhoto.request(
        withResourceFileURLs: urls, placeholderImage: nil, targetSize: .zero, contentMode: .aspectFit
      ) { live, _ in
        continuation.resume(returning: live)
      }
    }
    let resource = try #require(live.flatMap { PHAssetResource.assetResources(for: $0).last })
    let (target, tasks) = (folder.place("copy.mov"), Gathered<Task<PHPhotosError.Code?, Never>>())
    let isTaskKnown = DispatchSemaphore(value: 0)
    let task = Task { () -> PHPhotosError.Code? in
      let options = PHAssetResourceRequestOptions()
      options.progressHandler = { _ in
        // Held up until the task is known; then it ends itself.
        guard isTaskKnown.wait(timeout: .now() + 180) == .success else { return }
        isTaskKnown.signal()
        for task in tasks.all { task.cancel() }
      }
      do {
        try await PHAssetResourceManager.default().writeData(for: resource, toFile: target, options: options)
        return nil
      } catch {
        return (error as? PHPhotosError)?.code
      }
    }
    tasks.append(task)
    isTaskKnown.signal()
    #expect(await task.value == .userCancelled)
    #expect(!FileManager.default.fileExists(atPath: target.path))
  }

  private nonisolated(nonsending) func livePhoto(_ asset: PHAsset, _ options: PHLivePhotoRequestOptions?) async -> Told
  {
    await withCheckedContinuation { continuation in
      PHImageManager.default().requestLivePhoto(
        for: asset, targetSize: .zero, contentMode: .aspectFit, options: options
      ) {
        continuation.resume(returning: Told(value: $0, information: $1 ?? [:]))
      }
    }
  }

  @Test(
    "of an edited Live Photo the current version is the edit, and every other the original (LP-01)",
    arguments: [PHImageRequestOptionsVersion.current, .unadjusted, .original])
  func editedLivePhoto(version: PHImageRequestOptionsVersion) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.image, pair + edit)
      let options = PHLivePhotoRequestOptions()
      options.version = version
      let copy = try #require(options.copy() as? PHLivePhotoRequestOptions)
      let live = try #require(await livePhoto(asset, copy).value as? PHLivePhoto)
      let resources = PHAssetResource.assetResources(for: live)
      let isCurrent = version == .current
      #expect(resources.map(\.type) == (isCurrent ? [.fullSizePhoto, .fullSizePairedVideo] : [.photo, .pairedVideo]))
      #expect(resources.map(\.originalFilename) == (isCurrent ? edit : pair).prefix(2).map { $0.1.lastComponent })
    }
  }

  @Test("the progress of a Live Photo ends with 1, and a handler that stops it cancels the request")
  func livePhotoProgress() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.image, pair)
      for stops in [false, true] {
        let shares = Gathered<Double>()
        let options = PHLivePhotoRequestOptions()
        options.progressHandler = { share, error, stop, information in
          shares.append(share)
          #expect(error == nil && information?[PHImageResultRequestIDKey] is PHImageRequestID)
          if stops { stop.pointee = true }
        }
        let told = await livePhoto(asset, options)
        #expect(shares.all == [1] && told.isCancelled == stops && (told.value == nil) == stops)
        #expect(told.code == nil)
      }
    }
  }

  // MARK: Films

  private nonisolated(nonsending) func film(
    _ asset: PHAsset, _ options: PHVideoRequestOptions?, _ way: Int = 0
  ) async -> Told {
    await withCheckedContinuation { continuation in
      let manager = PHImageManager.default()
      switch way {
      case 0:
        manager.requestAVAsset(forVideo: asset, options: options) {
          continuation.resume(returning: Told(value: $0, information: $2 ?? [:]))
        }
      case 1:
        manager.requestPlayerItem(forVideo: asset, options: options) {
          continuation.resume(returning: Told(value: $0, information: $1 ?? [:]))
        }
      default:
        let preset = AVAssetExportPresetPassthrough
        manager.requestExportSession(forVideo: asset, options: options, exportPreset: preset) {
          continuation.resume(returning: Told(value: $0, information: $1 ?? [:]))
        }
      }
    }
  }

  @Test("of an edited film the current version is the edit, and the other the original", arguments: [0, 1, 2])
  func editedFilm(way: Int) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(
        .video,
        [(.video, "video/with-gps.mov"), (.fullSizeVideo, "video/sony-a7-xavc.MP4"), (.adjustmentData, "SOURCES.md")])
      var sizes: [CGSize] = []
      for version in [PHVideoRequestOptionsVersion.current, .original] {
        let options = PHVideoRequestOptions()
        options.version = version
        let copy = try #require(options.copy() as? PHVideoRequestOptions)
        let value = await film(asset, copy, way).value
        let found = value as? AVAsset ?? (value as? AVPlayerItem)?.asset ?? (value as? AVAssetExportSession)?.asset
        let track = try #require(found?.tracks(withMediaType: .video).first)
        let size = track.naturalSize.applying(track.preferredTransform)
        sizes.append(CGSize(width: abs(size.width), height: abs(size.height)))
      }
      #expect(sizes[1] == CGSize(width: 320, height: 568) && sizes[0] != sizes[1] && sizes[0].width > 320)
    }
  }

  @Test("the progress of a film ends with 1, and a handler that stops it cancels the request", arguments: [0, 1, 2])
  func filmProgress(way: Int) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.video, [(.video, "video/with-gps.mov")])
      for stops in [false, true] {
        let shares = Gathered<Double>()
        let options = PHVideoRequestOptions()
        options.progressHandler = { share, _, stop, _ in
          shares.append(share)
          if stops { stop.pointee = true }
        }
        let told = await film(asset, options, way)
        #expect(shares.all.last == 1 && told.isCancelled == stops && (told.value == nil) == stops)
        #expect(told.code == nil)
      }
    }
  }

  // MARK: Pictures

  /// The corners of a picture that are requested, how, and the colours that come.
  private var parts: [(x: Double, y: Double, resize: PHImageRequestOptionsResizeMode, expected: [String])] {
    let corners: [(colour: String, x: Double, y: Double)] = [
      ("r", 0, 0), ("g", 0.5, 0), ("b", 0, 0.5), ("w", 0.5, 0.5),
    ]
    var parts: [(x: Double, y: Double, resize: PHImageRequestOptionsResizeMode, expected: [String])] = []
    for (colour, x, y) in corners {
      parts.append((x, y, .exact, [colour + colour, colour + colour]))
      // Another mode ignores the part, which one of the four shows at the usual dose.
      if Dose.isFull || colour == "b" { parts.append((x, y, .fast, ["rg", "bw"])) }
    }
    return parts
  }

  @Test("the requested part of a picture is returned")
  func part() async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    let file = folder.place("grid.jpg")
    try ColourGrid.make(["rg", "bw"], side: 60, at: file)
    try await gallery.shared {
      let asset = try await gallery.photo(file, (120, 120))
      for (x, y, resize, expected) in parts {
        let options = PHImageRequestOptions()
        (options.deliveryMode, options.resizeMode) = (.highQualityFormat, resize)
        options.normalizedCropRect = CGRect(x: x, y: y, width: 0.5, height: 0.5)
        let image: UIImage? = await withCheckedContinuation { continuation in
          PHImageManager.default().requestImage(
            for: asset, targetSize: CGSize(width: 40, height: 40), contentMode: .aspectFill, options: options
          ) { image, _ in continuation.resume(returning: image) }
        }
        #expect(image?.size == CGSize(width: 40, height: 40))
        let colours = try ColourGrid.read(try #require(image).data, columns: 2, rows: 2)
        #expect(colours == expected, "\(resize) at \(x), \(y)")
      }
    }
  }

  @Test("the bytes of a video are a JPEG of its poster in full size")
  func poster() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.video, [(.video, "video/with-gps.mov")])
      let (data, type): (Data?, String?) = await withCheckedContinuation { continuation in
        PHImageManager.default().requestImageDataAndOrientation(for: asset, options: nil) { data, type, _, _ in
          continuation.resume(returning: (data, type))
        }
      }
      #expect(type == "public.jpeg")
      #expect(data.flatMap { UIImage(data: $0) }?.size == CGSize(width: 320, height: 568))
    }
  }

  @Test("the middle square of a picture is what an app cuts out as a portrait", arguments: Language.allCases)
  func portrait(language: Language) async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    let file = folder.place("grid.jpg")
    try ColourGrid.make(["rgb"], side: 80, at: file)
    try await gallery.shared {
      let asset = try await gallery.photo(file, (240, 80))
      let (avatar, size) = try #require(await language.uploads.avatar(of: asset, side: 64))
      #expect(size == CGSize(width: 64, height: 64))
      #expect(try ColourGrid.read(avatar, columns: 3, rows: 3) == ["ggg", "ggg", "ggg"])
    }
  }

  // MARK: Exports

  /// ffprobe's names of the codecs of pictures and of sound in a file.
  private func codecs(_ file: URL) throws -> [String] {
    let (text, end) = try ChildRun.of(
      ["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,codec_name", "-of", "csv=p=0", file.path])
    try #require(end == .status(0), "\(text)")
    let lines = text.split(separator: "\n").map { $0.split(separator: ",") }
    return ["video", "audio"].flatMap { kind in lines.filter { $0.last?.hasPrefix(kind) == true }.map { String($0[0]) }
    }
  }

  /// The box that names the kind of an MPEG-4 file.
  private func brand(_ file: URL) throws -> String {
    String(decoding: try Data(contentsOf: file)[4..<12], as: UTF8.self)
  }

  private static var hasHEVC: Bool {
    (try? ChildRun.of(["ffmpeg", "-hide_banner", "-encoders"]).text.contains("libx265")) ?? false
  }

  @Test("a preset and a file type produce what they name")
  func presets() async throws {
    let folder = try TemporaryFolder()
    let film = AVURLAsset(url: try #require(SamplePhotos.folder).appending(path: "video/with-gps.mov"))
    let own = try codecs(film.url)
    var cases: [(preset: String, type: AVFileType, codecs: [String], brand: String)] = [
      (AVAssetExportPresetPassthrough, .mov, own, "ftypqt  "), (AVAssetExportPresetPassthrough, .mp4, own, "ftypisom"),
      (AVAssetExportPreset640x480, .m4v, ["h264", "aac"], "ftypM4V "),
      (AVAssetExportPresetAppleM4A, .m4a, ["aac"], "ftypM4A "),
    ]
    if Self.hasHEVC {
      cases.append((AVAssetExportPresetHEVC1920x1080, .mp4, ["hevc", "aac"], "ftypisom"))
    }
    for (index, wanted) in cases.enumerated() {
      let target = folder.place("\(index)")
      let session = try #require(AVAssetExportSession(asset: film, presetName: wanted.preset))
      #expect(session.supportedFileTypes.contains(wanted.type))
      try await session.export(to: target, as: wanted.type)
      #expect(session.status == .completed && session.progress == 1 && session.error == nil)
      #expect(try codecs(target) == wanted.codecs, "\(wanted)")
      #expect(try brand(target) == wanted.brand, "\(wanted)")
    }
  }

  @Test("a file type that a preset does not produce is rejected, and no file is left")
  func wrongKind() async throws {
    let folder = try TemporaryFolder()
    let film = AVURLAsset(url: try #require(SamplePhotos.folder).appending(path: "video/with-gps.mov"))
    for (preset, type) in [
      (AVAssetExportPresetAppleM4A, AVFileType.mov), (AVAssetExportPresetPassthrough, .m4a),
      (AVAssetExportPresetPassthrough, AVFileType("public.avi")),
    ] {
      let target = folder.place("x")
      let session = try #require(AVAssetExportSession(asset: film, presetName: preset))
      #expect(!session.supportedFileTypes.contains(type))
      await #expect(throws: PHPhotosError.self) { try await session.export(to: target, as: type) }
      #expect(session.status == .failed && !FileManager.default.fileExists(atPath: target.path))
    }
    #expect(AVAssetExportSession(asset: film, presetName: "Best") == nil)
  }

  @Test("the presets of a film are those that its tracks allow")
  func compatible() async throws {
    let folder = try TemporaryFolder()
    let film = AVURLAsset(url: try #require(SamplePhotos.folder).appending(path: "video/with-gps.mov"))
    let (all, sound) = (AVAssetExportSession.allExportPresets(), AVAssetExportPresetAppleM4A)
    #expect(AVAssetExportSession.exportPresets(compatibleWith: film) == all)
    let silent = folder.place("silent.mov")
    _ = try ChildRun.of(["ffmpeg", "-v", "error", "-i", film.url.path, "-an", "-c", "copy", silent.path])
    let mute = AVAssetExportSession.exportPresets(compatibleWith: AVURLAsset(url: silent))
    #expect(mute == all.filter { $0 != sound })
    let heard = folder.place("sound.m4a")
    _ = try ChildRun.of(["ffmpeg", "-v", "error", "-i", film.url.path, "-vn", "-c:a", "aac", heard.path])
    let audio = AVAssetExportSession.exportPresets(compatibleWith: AVURLAsset(url: heard))
    #expect(Set(audio) == [sound, AVAssetExportPresetPassthrough])
    let text = AVURLAsset(url: URL(filePath: #filePath))
    #expect(AVAssetExportSession.exportPresets(compatibleWith: text).isEmpty)
  }

  // MARK: Values by key

  @Test("an asset and a resource answer every documented key")
  func keys() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let path = "orientation/Landscape_6.jpg"
      let made = try await gallery.sample(.image, [(.photo, path)], (1800, 1200))
      let identifier = try #require(LocalIdentifier(made.localIdentifier))
      try await gallery.library.performChanges { $0.setFavorite(true, for: [identifier]) }
      let asset = try #require(assets().lastObject)
      let size = try Data(contentsOf: try #require(SamplePhotos.folder).appending(path: path)).count
      let expected: [String: AnyHashable?] = [
        "filename": "Landscape_6.jpg", "originalFilename": "Landscape_6.jpg", "uniformTypeIdentifier": "public.jpeg",
        "fileSize": NSNumber(value: size), "localIdentifier": asset.localIdentifier, "mediaType": NSNumber(value: 1),
        "mediaSubtypes": NSNumber(value: asset.mediaSubtypes.rawValue),
        "mediaSubtype": NSNumber(value: asset.mediaSubtypes.rawValue),
        "playbackStyle": NSNumber(value: asset.playbackStyle.rawValue), "pixelWidth": NSNumber(value: 1800),
        "pixelHeight": NSNumber(value: 1200), "creationDate": asset.creationDate,
        "modificationDate": asset.modificationDate, "addedDate": asset.addedDate, "location": nil,
        "duration": NSNumber(value: 0), "favorite": NSNumber(value: true), "isFavorite": NSNumber(value: true),
        "hidden": NSNumber(value: false), "isHidden": NSNumber(value: false),
        "hasAdjustments": NSNumber(value: false), "burstIdentifier": nil, "representsBurst": NSNumber(value: false),
        "sourceType": NSNumber(value: asset.sourceType.rawValue),
      ]
      for (key, value) in expected { #expect(asset.value(forKey: key) as? AnyHashable == value, "\(key)") }
      #expect(asset.value(forKey: "fileSize") as? Int64 == Int64(size))
      #expect(asset.value(forKey: "isFavorite") as? Bool == true && asset.addedDate != nil)
      let resource = try #require(PHAssetResource.assetResources(for: asset).first)
      let file = try #require(resource.value(forKey: "fileURL") as? URL)
      #expect(try Data(contentsOf: file).count == size)
      let told: [String: AnyHashable?] = [
        "filename": "Landscape_6.jpg", "originalFilename": "Landscape_6.jpg", "fileSize": NSNumber(value: size),
        "dataSize": NSNumber(value: size), "locallyAvailable": NSNumber(value: true),
        "isLocallyAvailable": NSNumber(value: true), "uniformTypeIdentifier": "public.jpeg",
        "assetLocalIdentifier": asset.localIdentifier, "type": NSNumber(value: 1),
        "pixelWidth": NSNumber(value: resource.pixelWidth), "pixelHeight": NSNumber(value: resource.pixelHeight),
        "fileURL": file, "privateFileURL": file,
      ]
      for (key, value) in told { #expect(resource.value(forKey: key) as? AnyHashable == value, "\(key)") }
      try FileManager.default.removeItem(at: file)
      #expect(resource.value(forKey: "locallyAvailable") as? Bool == false)
    }
  }
}

@Suite("Films without programs")
struct BareFilmTests {
  @Test("without ffprobe and ffmpeg the error names the program and how to install it", .timeLimit(.minutes(5)))
  func missing() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      // The programs are looked for when they are needed.
      setenv("PATH", folder.url.path, 1)
      let gallery = try Gallery()
      let file = folder.place("a.mov")
      try TinyMedia.movie(contentIdentifier: "x").write(to: file)
      try await gallery.shared {
        let asset = try await gallery.video(file)
        let manager = PHImageManager.default()
        let errors = Gathered<String>()
        @Sendable func keep(_ information: [AnyHashable: Any]?) {
          errors.append((information?[PHImageErrorKey]).map { "\($0)" } ?? "no error")
        }
        manager.requestAVAsset(forVideo: asset, options: nil) { keep($0 == nil ? $2 : nil) }
        manager.requestPlayerItem(forVideo: asset, options: nil) { keep($0 == nil ? $1 : nil) }
        manager.requestExportSession(forVideo: asset, options: nil, exportPreset: AVAssetExportPresetPassthrough) {
          keep($0 == nil ? $1 : nil)
        }
        try await waitUntil("all have answered") { errors.all.count == 3 }
        for error in errors.all { precondition(error.contains("ffprobe") && error.contains("apt-get install"), error) }
        guard
          let session = AVAssetExportSession(
            asset: AVURLAsset(url: file), presetName: AVAssetExportPresetPassthrough)
        else { preconditionFailure() }
        do {
          try await session.export(to: folder.place("out.mov"), as: .mov)
          preconditionFailure("It was exported without programs.")
        } catch {
          precondition("\(error)".contains("ffprobe") && "\(error)".contains("apt-get install"), "\(error)")
        }
        precondition(session.status == .failed && !FileManager.default.fileExists(atPath: folder.place("out.mov").path))
      }
    }
  }
}

@Suite("A view of a Live Photo")
@MainActor
struct LivePhotoViewTests {
  private final class Guard: PHLivePhotoViewDelegate {
    var allows: Set<PHLivePhotoViewPlaybackStyle> = []
    var events: [String] = []

    func livePhotoView(
      _ livePhotoView: PHLivePhotoView, canBeginPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
    ) -> Bool {
      events.append("asked \(playbackStyle)")
      return allows.contains(playbackStyle)
    }

    func livePhotoView(
      _ livePhotoView: PHLivePhotoView, willBeginPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
    ) {
      events.append("begins \(playbackStyle)")
    }

    func livePhotoView(
      _ livePhotoView: PHLivePhotoView, didEndPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
    ) {
      events.append("ended \(playbackStyle)")
    }
  }

  @Test("nothing is played that the delegate does not allow", .enabled(if: SamplePhotos.canRender, clear))
  func refused() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(
        .image,
        [
          (.photo, "live-photo-pairs/genuine-iphone6s/train.jpg"),
          (.pairedVideo, "live-photo-pairs/genuine-iphone6s/train.mov"),
        ])
      let live: PHLivePhoto? = await withCheckedContinuation { continuation in
        PHImageManager.default().requestLivePhoto(
          for: asset, targetSize: .zero, contentMode: .aspectFit, options: nil
        ) { live, _ in continuation.resume(returning: live) }
      }
      let (view, keeper) = (PHLivePhotoView(frame: .zero), Guard())
      view.delegate = keeper
      view.startPlayback(with: .full)
      #expect(keeper.events.isEmpty, "There is nothing to play.")
      view.livePhoto = live
      #expect(live != nil)
      view.startPlayback(with: .full)
      view.startPlayback(with: .hint)
      view.stopPlayback()
      #expect(keeper.events == ["asked full", "asked hint"])
      keeper.allows = [.full]
      view.startPlayback(with: .hint)
      view.startPlayback(with: .full)
      view.stopPlayback()
      #expect(keeper.events.suffix(4) == ["asked hint", "asked full", "begins full", "ended full"])
    }
  }
}

extension String {
  /// What stands after the last slash.
  fileprivate var lastComponent: String { split(separator: "/").last.map(String.init) ?? self }
}

extension Gallery {
  /// Makes a photo of a file.
  fileprivate nonisolated(nonsending) func photo(_ file: URL, _ size: (Int, Int)) async throws -> PHAsset {
    var creation = AssetCreation(
      mediaType: .image, resources: [ResourceDraft(type: .photo, source: .file(file, shouldMove: false))])
    (creation.pixelWidth, creation.pixelHeight) = size
    let made = try await library.performChanges { $0.createAsset(creation) }
    return try asset(try #require(made.created.first))
  }

  /// Makes a video of a file.
  fileprivate nonisolated(nonsending) func video(_ file: URL) async throws -> PHAsset {
    let draft = ResourceDraft(type: .video, source: .file(file, shouldMove: false))
    let made = try await library.performChanges {
      $0.createAsset(AssetCreation(mediaType: .video, resources: [draft]))
    }
    return try asset(try #require(made.created.first))
  }
}
