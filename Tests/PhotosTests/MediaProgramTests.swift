import Foundation
import PhotoLedger
import Photos
import PhotosUI
import TestSupport
import Testing

/// Real files in a library of a test's own.
extension Gallery {
  /// Makes an asset of sample files; the size is that of the first, as an import records it.
  nonisolated(nonsending) func sample(
    _ mediaType: MediaType, _ files: [(ResourceType, String)], _ size: (Int, Int) = (0, 0)
  ) async throws -> PHAsset {
    let folder = try #require(SamplePhotos.folder)
    var creation = AssetCreation(
      mediaType: mediaType,
      resources: files.map { type, path in
        ResourceDraft(type: type, source: .file(folder.appending(path: path), shouldMove: false))
      })
    (creation.pixelWidth, creation.pixelHeight) = size
    let made = try await library.performChanges { $0.createAsset(creation) }
    return try asset(try #require(made.created.first))
  }
}

private let clear: Comment = "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."

@Suite("Live Photos, films and pictures of real files", .enabled(if: SamplePhotos.canRender, clear))
struct MediaProgramTests {
  private let train = [
    (ResourceType.photo, "live-photo-pairs/genuine-iphone6s/train.jpg"),
    (.pairedVideo, "live-photo-pairs/genuine-iphone6s/train.mov"),
  ]

  @Test("a Live Photo is shown, taken apart, and put together again", arguments: Language.share(.swift5))
  @MainActor
  func livePhoto(language: Language) async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    try await gallery.shared {
      let asset = try await gallery.sample(.image, train)
      let keeper = language.livePhotos
      let own = try await keeper.show(asset, in: .zero)
      #expect(own.width > 1000 && own.height > 1000)
      let small = try await keeper.show(asset, in: CGSize(width: 200, height: 200))
      #expect(max(small.width, small.height) == 200 && abs(small.width / small.height - own.width / own.height) < 0.02)
      let files = try await keeper.export(to: folder.url)
      #expect(files.map(\.lastPathComponent) == ["train.jpg", "train.mov"])
      let again = try await keeper.assemble(files.reversed())
      #expect(again.size == own)
      let resources = PHAssetResource.assetResources(for: again)
      #expect(resources.map(\.type) == [.photo, .pairedVideo])
      #expect(resources.map(\.uniformTypeIdentifier) == ["public.jpeg", "com.apple.quicktime-movie"])
      let copy = folder.place("copy.mov")
      try await PHAssetResourceManager.default().writeData(for: resources[1], toFile: copy, options: nil)
      #expect(try Data(contentsOf: copy) == Data(contentsOf: files[1]))
      let read = try await bytes(resources[0])
      #expect(try read == Data(contentsOf: files[0]))
      keeper.view.startPlayback(with: .hint)
      #expect(keeper.events == ["begin 2"])
      try await waitUntil("the hint is over") { keeper.events == ["begin 2", "end 2"] }
      keeper.view.startPlayback(with: .full)
      keeper.view.livePhoto = nil
      #expect(keeper.events.suffix(2) == ["begin 1", "end 1"])
    }
  }

  private nonisolated func bytes(_ resource: PHAssetResource) async throws -> Data {
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

  @Test(
    "files that do not belong together are not a Live Photo",
    arguments: [
      ["same-name-different-id/IMG_2682.heic", "same-name-different-id/IMG_2682.mov"],
      ["genuine-iphone6s/train.jpg"], ["genuine-iphone6s/train.jpg", "genuine-iphone6s/train.jpg"],
      ["genuine-iphone6s/train.jpg", "mov-no-identifier/meta.mov"], ["genuine-iphone6s/train.jpg", "none.mov"],
    ])
  @MainActor
  func strangers(names: [String]) async throws {
    let folder = try #require(SamplePhotos.folder).appending(path: "live-photo-pairs")
    let keeper = Language.swift6.livePhotos
    await #expect(throws: (any Error).self) { try await keeper.assemble(names.map { folder.appending(path: $0) }) }
  }

  @Test("an asset without a paired video has no Live Photo (LP-01)", arguments: Language.allCases)
  @MainActor
  func still(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.image, [(.photo, "orientation/Landscape_6.jpg")])
      let error = await #expect(throws: PHPhotosError.self) { try await language.livePhotos.show(asset, in: .zero) }
      #expect(error?.code == .requestNotSupportedForAsset)
    }
  }

  @Test("films report their length and size, and parts of them are exported", arguments: Language.share(.swift6))
  func films(language: Language) async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    try await gallery.shared {
      let asset = try await gallery.sample(.video, [(.video, "video/with-gps.mov")])
      let trimmer = language.trimmer
      let film = try await trimmer.film(of: asset)
      let (duration, size) = try await trimmer.measure(film)
      #expect(duration == 4.001667 && size == CGSize(width: 320, height: 568), "It was held upright.")
      #expect(film.tracks(withMediaType: .audio).count == 1 && film.isPlayable)
      let track = try #require(film.tracks(withMediaType: .video).first)
      let (shown, rate, range) = try await language.tools.shape(of: track)
      #expect(shown == size && rate == track.nominalFrameRate && range == track.timeRange)
      let (_, isPlayable, isExportable) = try await film.load(.duration, .isPlayable, .isExportable)
      #expect(isPlayable && isExportable)
      let old = try #require(await trimmer.oldMeasure(asset))
      #expect(old.0 == duration && old.1 == size)
      let target = folder.place("part.mp4")
      try await trimmer.trim(asset, to: target, preset: AVAssetExportPresetLowQuality)
      let (length, small) = try await trimmer.measure(AVURLAsset(url: target))
      #expect(abs(length - 2) < 0.2 && small == CGSize(width: 126, height: 224))
      await #expect(throws: PHPhotosError.self, "A file that is there is left alone.") {
        try await trimmer.trim(asset, to: target, preset: AVAssetExportPresetLowQuality)
      }
      let unknown = await #expect(throws: PHPhotosError.self) {
        try await trimmer.trim(asset, to: folder.place("x.mp4"), preset: "Best")
      }
      #expect(unknown?.code == .requestNotSupportedForAsset)
    }
  }

  @Test("a screen gets its film on the main actor, though handlers are called elsewhere", arguments: Language.allCases)
  @MainActor
  func player(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.video, [(.video, "video/with-gps.mov")])
      let player = language.player
      player.load(asset)
      try await waitUntil("the film is there") { player.item != nil }
    }
  }

  @Test("a request for a film of something else is an error", arguments: Language.allCases)
  func noFilm(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let photo = try await gallery.sample(.image, [(.photo, "orientation/Landscape_6.jpg")])
      let error = await #expect(throws: PHPhotosError.self) { try await language.trimmer.film(of: photo) }
      #expect(error?.code == .requestNotSupportedForAsset)
      let text = AVURLAsset(url: URL(filePath: #filePath))
      #expect(!text.duration.isValid && text.tracks.isEmpty && !text.isPlayable)
      await #expect(throws: PHPhotosError.self) { try await text.load(.duration) }
    }
  }

  @Test("a cancelled export leaves no file")
  func cancelledExport() async throws {
    let folder = try TemporaryFolder()
    let film = AVURLAsset(url: try #require(SamplePhotos.folder).appending(path: "video/sony-a7-xavc.MP4"))
    let session = try #require(
      AVAssetExportSession(asset: film, presetName: AVAssetExportPresetHighestQuality))
    let target = folder.place("out.mov")
    (session.outputURL, session.outputFileType) = (target, .mov)
    session.cancelExport()
    await session.export()
    #expect(session.status == .cancelled && !FileManager.default.fileExists(atPath: target.path))
  }

  @Test(
    "an app reads names, lengths and kinds by their keys, and a square of the picture", arguments: Language.allCases)
  func uploads(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let path = "orientation/Landscape_6.jpg"
      let asset = try await gallery.sample(.image, [(.photo, path)], (1800, 1200))
      let original = try Data(contentsOf: try #require(SamplePhotos.folder).appending(path: path))
      let uploads = language.uploads
      #expect(uploads.lines(of: asset) == ["Landscape_6.jpg \(original.count) image/jpeg true true"])
      let (data, orientation) = await uploads.bytes(of: asset)
      #expect(data == original && orientation == .right)
      let (avatar, size) = try #require(await uploads.avatar(of: asset, side: 96))
      #expect(size == CGSize(width: 96, height: 96) && UIImage(data: avatar)?.size == size)
    }
  }

  @Test(
    "a picture has the size that PhotoKit's modes give",
    arguments: [
      (PHImageContentMode.aspectFit, PHImageRequestOptionsResizeMode.fast, CGSize(width: 300, height: 300), 300, 200),
      (.aspectFill, .fast, CGSize(width: 300, height: 300), 450, 300),
      (.aspectFill, .exact, CGSize(width: 300, height: 300), 300, 300),
      (.aspectFit, .fast, CGSize(width: 4000, height: 4000), 1800, 1200),
      (.aspectFit, .none, CGSize(width: 300, height: 300), 1800, 1200),
      (.default, .fast, PHImageManagerMaximumSize, 1800, 1200),
    ])
  func sizes(
    mode: PHImageContentMode, resize: PHImageRequestOptionsResizeMode, target: CGSize, width: Int, height: Int
  ) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.image, [(.photo, "orientation/Landscape_6.jpg")])
      let options = PHImageRequestOptions()
      (options.resizeMode, options.deliveryMode) = (resize, .highQualityFormat)
      let image = try await picture(asset, target, mode, options).last.flatMap(\.self)
      #expect(image?.size == CGSize(width: width, height: height))
      #expect(image?.imageOrientation == .up && image?.cgImage?.width == width)
      #expect(image.flatMap { UIImage(data: $0.data) }?.size == image?.size, "The bytes have that size.")
    }
  }

  private func picture(
    _ asset: PHAsset, _ target: CGSize, _ mode: PHImageContentMode, _ options: PHImageRequestOptions?, times: Int = 1
  ) async throws -> [UIImage?] {
    let told = Gathered<UIImage?>()
    PHImageManager.default().requestImage(for: asset, targetSize: target, contentMode: mode, options: options) {
      image, _ in told.append(image)
    }
    try await waitUntil("the picture is there") { told.all.count == times }
    return told.all
  }

  @Test("a large picture arrives small first, a thumbnail at once; bytes that are not a picture are an error")
  func opportunistic() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.image, [(.photo, "heic/IMG_1034.heic")])
      let large = try await picture(asset, CGSize(width: 800, height: 800), .aspectFit, nil, times: 2)
      #expect(large.map { $0?.size.width } == [256, 800])
      #expect(try await picture(asset, CGSize(width: 100, height: 100), .aspectFit, nil).count == 1)
      let text = try await gallery.sample(.image, [(.photo, "SOURCES.md")])
      #expect(try await picture(text, CGSize(width: 100, height: 100), .aspectFit, nil) == [nil])
    }
  }

  @Test("a quick picture alone is degraded if smaller than requested", arguments: [(800.0, true), (100, false)])
  func quick(side: Double, isDegraded: Bool) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.image, [(.photo, "heic/IMG_1034.heic")])
      let options = PHImageRequestOptions()
      options.deliveryMode = .fastFormat
      let mark: Bool? = await withCheckedContinuation { continuation in
        PHImageManager.default().requestImage(
          for: asset, targetSize: CGSize(width: side, height: side), contentMode: .aspectFit, options: options
        ) { image, information in
          continuation.resume(returning: image == nil ? nil : information?[PHImageResultIsDegradedKey] as? Bool)
        }
      }
      #expect(mark == isDegraded)
    }
  }

  @Test("many simultaneous pictures are queued, and a cancelled one leaves the queue")
  func many() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await gallery.sample(.image, [(.photo, "orientation/Landscape_6.jpg")])
      let (pictures, cancelled) = (Gathered<UIImage>(), Gathered<Bool>())
      let manager = PHImageManager.default()
      for index in 0..<12 {
        let number = manager.requestImage(
          for: asset, targetSize: CGSize(width: 64, height: 64), contentMode: .aspectFit, options: nil
        ) { image, information in
          if let image { pictures.append(image) }
          if information?[PHImageCancelledKey] as? Bool == true { cancelled.append(true) }
        }
        if index % 3 == 2 { manager.cancelImageRequest(number) }
      }
      try await waitUntil("all are answered") { pictures.all.count + cancelled.all.count == 12 }
      #expect(pictures.all.count >= 8)
    }
  }

  @Test("a picture has its orientation, and is encoded upright")
  func images() throws {
    let folder = try #require(SamplePhotos.folder)
    let image = try #require(UIImage(contentsOfFile: folder.appending(path: "orientation/Landscape_6.jpg").path))
    #expect(image.imageOrientation == .right && image.size == CGSize(width: 1800, height: 1200) && image.scale == 1)
    #expect(image.cgImage?.width == 1200 && image.cgImage?.height == 1800, "The pixels stand on their side.")
    let jpeg = try #require(image.jpegData(compressionQuality: 0.5).flatMap { UIImage(data: $0) })
    #expect(jpeg.size == image.size && jpeg.imageOrientation == .up)
    let best = try #require(image.jpegData(compressionQuality: 1))
    #expect(best.count > jpeg.data.count && best.starts(with: [0xFF, 0xD8]))
    let png = try #require(image.pngData())
    #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && UIImage(data: png)?.size == image.size)
    #expect(UIImage(data: png, scale: 2)?.size == CGSize(width: 900, height: 600))
    #expect(UIImage(data: Data("text".utf8)) == nil && UIImage(data: Data()) == nil)
    #expect(UIImage(contentsOfFile: "/nowhere") == nil)
  }
}

@Suite("Pictures of pixels", .enabled(if: SamplePhotos.canRender, clear))
struct PixelPictureTests {
  /// A JPEG whose pixels stand on their side, and the same pixels as a PNG. They are few: each turn of each picture is
  /// encoded.
  private static let made = Result {
    let folder = try TemporaryFolder()
    let file = folder.place("grid.jpg")
    try ColourGrid.make(["rg", "bw", "rb"], side: 30, at: file)
    let mark = try ChildRun.of(["exiftool", "-q", "-n", "-overwrite_original", "-Orientation=6", file.path])
    #expect(mark.end == .status(0), "\(mark.text)")
    let jpeg = try #require(UIImage(contentsOfFile: file.path))
    #expect(jpeg.size == CGSize(width: 90, height: 60) && jpeg.imageOrientation == .right)
    let pixels = try #require(jpeg.cgImage)
    return (jpeg: jpeg.data, png: try #require(UIImage(cgImage: pixels).pngData()))
  }

  /// The two, and a GIF, which cannot say how it stands.
  private func sources() throws -> [UIImage] {
    let made = try Self.made.get()
    let gif = try #require(Data(base64Encoded: "R0lGODdhAwACAIAAAP8AAAAA/ywAAAAAAwACAAACBESIECkAOw=="))
    return try [made.jpeg, made.png, gif].map { try #require(UIImage(data: $0)) }
  }

  @Test(
    "the pixels of a picture are rotated as requested, and the bytes say so", arguments: UIImage.Orientation.allCases)
  func turns(orientation: UIImage.Orientation) throws {
    let number = UIImage.Orientation.allCases.firstIndex(of: orientation) ?? 0
    // At the usual dose a rotation meets one of the three, and those that are stored so.
    for (index, source) in try sources().enumerated()
    where Dose.isFull || (index + number) % 3 == 0 || orientation == source.imageOrientation {
      let pixels = try #require(source.cgImage)
      let turned = UIImage(cgImage: pixels, scale: 2, orientation: orientation)
      #expect(turned.imageOrientation == orientation && turned.scale == 2)
      #expect(turned.cgImage?.width == pixels.width && turned.cgImage?.height == pixels.height)
      #expect((turned.data == source.data) == (orientation == source.imageOrientation))
      let read = try #require(UIImage(data: turned.data, scale: 2))
      #expect(read.imageOrientation == orientation && read.size == turned.size)
      let upright = try #require(turned.pngData().flatMap { UIImage(data: $0, scale: 2) })
      #expect(upright.imageOrientation == .up && upright.size == turned.size)
    }
  }

  @Test("without a scale and a rotation the stored pixels are shown unchanged")
  func plain() throws {
    for source in try sources() {
      let pixels = try #require(source.cgImage)
      let plain = UIImage(cgImage: pixels)
      #expect(plain.imageOrientation == .up && plain.scale == 1)
      #expect(plain.size == CGSize(width: pixels.width, height: pixels.height))
      #expect(UIImage(cgImage: pixels, scale: -1, orientation: .up).scale == 1)
    }
  }
}

@Suite("Times and types")
struct TimeAndKindTests {
  @Test("times, places, types and dates under the names that apps use", arguments: Language.allCases)
  func tools(language: Language) async throws {
    let tools = language.tools
    let range = CMTimeRange(start: CMTime(value: 2, timescale: 1), duration: CMTime(value: 4, timescale: 1))
    let middle = try #require(tools.middle(of: range))
    #expect(middle.start.seconds == 3.5 && middle.duration.seconds == 1)
    #expect(tools.middle(of: .zero) == nil && !range.containsTime(range.end) && !CMTimeRange.invalid.start.isValid)
    #expect(tools.coordinate(52.5, 13.4).latitude == 52.5 && tools.coordinate(91, 0).latitude == -180)
    let folder = URL(fileURLWithPath: "/photos")
    let targets: [(String, UTType, String)] = [
      ("a", .jpeg, "a.jpg"), ("a.jpg", .jpeg, "a.jpg"), ("a.jpg", .heic, "a.jpg.heic"), ("a.jpg", .image, "a.jpg"),
      ("a", .image, "a"),
    ]
    for (name, type, target) in targets {
      #expect(tools.target(named: name, of: type, in: folder).lastPathComponent == target, "\(name) \(type)")
    }
    #expect(String(format: "%@", [1, 2] as [Int]) == "[1, 2]", "A list has an encoding, too.")
    let gallery = try Gallery()
    try await gallery.images(0..<4)
    try await gallery.shared {
      let days = [0.5, 2.5].map { Date(timeIntervalSince1970: $0 * 86_400) }
      #expect(tools.assets(from: days[0], to: days[1], of: [1]).count == 2)
      #expect(tools.assets(from: days[0], to: days[1], of: [2]).count == 0)
    }
  }

  @Test("times are exact fractions of seconds")
  func times() {
    let thirds = CMTime(value: 1, timescale: 3) + CMTime(value: 2, timescale: 3)
    #expect(thirds == CMTime(seconds: 1, preferredTimescale: 600))
    #expect(CMTimeMake(value: 1, timescale: 2) < CMTime(value: 2, timescale: 3))
    #expect((CMTimeMakeWithSeconds(1.5, preferredTimescale: 600) - .zero).seconds == 1.5)
    #expect(!CMTime(seconds: .nan, preferredTimescale: 600).isValid && !CMTime(value: 1, timescale: 0).isValid)
    #expect(CMTimeGetSeconds(.positiveInfinity) == .infinity && CMTime.indefinite.isIndefinite)
    #expect(CMTime(value: .max, timescale: 1) + CMTime(value: .max, timescale: 1) == .positiveInfinity)
    let large: Int64 = 1 << 53 + 1
    for (value, scale) in [(large, 1), (-large, 1), (0, 7), (600, 600), (.min, 2), (-1, 600)] as [(Int64, Int32)] {
      let time = CMTime(value: value, timescale: scale)
      // The same time, where it can be expressed in thirds of the parts.
      guard let thirds = Int64(exactly: Int128(value) * 3) else { continue }
      let same = CMTime(value: thirds, timescale: 3 * scale)
      #expect(time == same && time.hashValue == same.hashValue && Set([time, same]).count == 1)
    }
    #expect(CMTime(value: .min, timescale: 2).hashValue == CMTime(value: .min / 2, timescale: 1).hashValue)
    #expect(Set([CMTime.invalid, .indefinite, .positiveInfinity, .zero]).count == 4)
    let range = CMTimeRangeMake(start: CMTime(value: 1, timescale: 1), duration: CMTime(value: 5, timescale: 10))
    #expect(range.end.seconds == 1.5 && CMTimeRange(start: .zero, end: range.end).duration.seconds == 1.5)
  }

  @Test("a type is found only where it conforms to another one, and is encoded as its identifier")
  func conformingKinds() throws {
    #expect(UTType(filenameExtension: "heic", conformingTo: .image) == .heic)
    #expect(UTType(filenameExtension: "mov", conformingTo: .image) == nil)
    #expect(UTType(mimeType: "video/mp4", conformingTo: .movie) == .mpeg4Movie)
    #expect(UTType(mimeType: "image/jpeg", conformingTo: .movie) == nil)
    let bytes = try JSONEncoder().encode([UTType.heic])
    #expect(String(decoding: bytes, as: UTF8.self) == #"["public.heic"]"#)
    #expect(try JSONDecoder().decode([UTType].self, from: bytes) == [.heic])
    #expect(throws: DecodingError.self) { _ = try JSONDecoder().decode([UTType].self, from: Data(#"[""]"#.utf8)) }
  }

  @Test("a place has its course and speed, or says that they are not known")
  func places() {
    let place = CLLocation(
      coordinate: CLLocationCoordinate2D(latitude: 47, longitude: 8), altitude: 400, horizontalAccuracy: 5,
      verticalAccuracy: 10, course: 90, speed: 2, timestamp: Date(timeIntervalSince1970: 0))
    #expect(place.course == 90 && place.speed == 2 && place.altitude == 400 && place.horizontalAccuracy == 5)
    let plain = CLLocation(latitude: 47, longitude: 8)
    #expect(plain.course < 0 && plain.speed < 0 && plain.distance(from: place) == 0)
  }

  @Test("types of data know their supertypes, and their Internet media type")
  func kinds() throws {
    #expect(UTType.jpeg.isSubtype(of: .image) && UTType.jpeg.conforms(to: .data) && !UTType.jpeg.isSubtype(of: .jpeg))
    #expect(UTType.quickTimeMovie.conforms(to: .audiovisualContent) && !UTType.quickTimeMovie.conforms(to: .video))
    #expect(UTType("com.nikon.raw-image")?.isSubtype(of: .rawImage) == true && UTType.image.isSupertype(of: .rawImage))
    #expect(UTType.heic.preferredMIMEType == "image/heic")
    #expect(UTType.quickTimeMovie.preferredMIMEType == "video/quicktime")
    #expect(UTType(mimeType: "IMAGE/JPEG; q=1") == .jpeg && UTType(mimeType: "video/mp4") == .mpeg4Movie)
    #expect(UTType(mimeType: "image/none") == nil && UTType.image.preferredMIMEType == nil)
    #expect(UTType.heic.preferredFilenameExtension == "heic" && UTType.jpeg.preferredFilenameExtension == "jpg")
    let own = try #require(UTType("com.example.own"))
    #expect(own.conforms(to: .data) && own.conforms(to: .item) && !own.conforms(to: .image))
    #expect(UTType(filenameExtension: "nothing")?.isDynamic == true && !UTType.jpeg.isDynamic)
  }
}
