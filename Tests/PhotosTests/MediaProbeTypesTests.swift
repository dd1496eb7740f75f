import PhotoLedger
import Photos
import TestSupport
import Testing

@Suite("Probing through PhotoKit's types")
struct MediaProbeTypesTests {
  /// A photo of 8 × 6 pixels that stands upright as 6 × 8, with a date and a place.
  private static let photo = {
    var photo = TinyMedia.Photo()
    (photo.orientation, photo.offset, photo.place) = (6, "+00:00", [47, 8])
    return TinyMedia.jpeg(photo)
  }()

  private static let date = Date(timeIntervalSince1970: 1_612_325_106)

  @discardableResult
  private nonisolated(nonsending) func made(_ block: () -> Void) async throws -> PHAsset {
    let count = assets().count
    try await PHPhotoLibrary.shared().performChanges(block)
    #expect(assets().count == count + 1)
    return try #require(assets().lastObject)
  }

  @Test("bare bytes have their own properties: type, upright size, date and place (AS-02, CB-11, AS-12)")
  func bytes() async throws {
    try await Gallery(examinesMedia: true).shared {
      let saved = try await made {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Self.photo, options: nil)
      }
      #expect((saved.pixelWidth, saved.pixelHeight) == (6, 8) && saved.contentType == .jpeg)
      #expect(saved.creationDate == Self.date && saved.location?.coordinate.latitude == 47)
      #expect(PHAssetResource.assetResources(for: saved).first?.uniformTypeIdentifier == "public.jpeg")
      let film = try await made {
        PHAssetCreationRequest.forAsset().addResource(with: .video, data: TinyMedia.movie(), options: nil)
      }
      #expect(film.duration == 2.5 && film.mediaType == .video)
    }
  }

  @Test("a bare image has its type and size, and loses date and place; a file keeps them (CB-11)")
  func bareImage() async throws {
    let folder = try TemporaryFolder()
    try Self.photo.write(to: folder.place("photo"))
    try await Gallery(examinesMedia: true).shared {
      let image = try #require(UIImage(data: Self.photo))
      let bare = try await made { PHAssetChangeRequest.creationRequestForAsset(from: image) }
      #expect(bare.contentType == .jpeg && bare.pixelWidth == 6)
      #expect(bare.creationDate == bare.addedDate && bare.creationDate != nil && bare.location == nil)
      let file = try await made {
        PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL: folder.place("photo"))
      }
      #expect(file.contentType == .jpeg && file.creationDate == Self.date && file.location != nil)
    }
  }

  @Test("bytes without a date get the date of their addition, so that a grid by date shows them first (CB-11)")
  func undated() async throws {
    let gallery = try Gallery(examinesMedia: true)
    try await gallery.shared {
      var plain = TinyMedia.Photo()
      (plain.dateTimeOriginal, plain.offset) = (nil, nil)
      let data = TinyMedia.jpeg(plain)
      let dated = try await made {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Self.photo, options: nil)
      }
      let undated = try await made {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: data, options: nil)
      }
      #expect(undated.creationDate == undated.addedDate && dated.creationDate == Self.date)
      let latest = assets {
        $0.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
        $0.fetchLimit = 1
      }
      #expect(latest.names == [undated.localIdentifier])
      let recent = assets { $0.predicate = NSPredicate(format: "creationDate > %@", Self.date as NSDate) }
      #expect(recent.names == [undated.localIdentifier])
      // The core leaves it open for its own clients, such as imports.
      let draft = ResourceDraft(type: .photo, source: .data(data))
      try await gallery.library.performChanges {
        $0.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
      }
      #expect(assets().lastObject?.creationDate == nil && assets().count == 3)
    }
  }

  @Test("values set by the request take precedence")
  func explicit() async throws {
    try await Gallery(examinesMedia: true).shared {
      let saved = try await made {
        let request = PHAssetCreationRequest.forAsset()
        let options = PHAssetResourceCreationOptions()
        options.uniformTypeIdentifier = "public.heic"
        request.addResource(with: .photo, data: Self.photo, options: options)
        request.creationDate = Date(timeIntervalSince1970: 5)
        request.location = CLLocation(latitude: 1, longitude: 2)
      }
      #expect(saved.creationDate == Date(timeIntervalSince1970: 5) && saved.location?.coordinate.latitude == 1)
      #expect(PHAssetResource.assetResources(for: saved).first?.uniformTypeIdentifier == "public.heic")
    }
  }

  @Test("bytes that are not such a medium are 3302, none are 3303, and a moved file stays (CB-06, CB-08)")
  func refusals() async throws {
    let folder = try TemporaryFolder()
    let text = folder.place("a.jpg")
    try Data("text".utf8).write(to: text)
    try await Gallery(examinesMedia: true).shared {
      for data in [Data("text".utf8), Data(), TinyMedia.movie(), Data([0xD8, 0xFF, 1, 2])] {
        let code = await refusal {
          PHAssetCreationRequest.forAsset().addResource(with: .photo, data: data, options: nil)
        }
        #expect(code == .invalidResource)
      }
      let code = await refusal {
        let options = PHAssetResourceCreationOptions()
        options.shouldMoveFile = true
        PHAssetCreationRequest.forAsset().addResource(with: .photo, fileURL: text, options: options)
      }
      #expect(code == .invalidResource && FileManager.default.fileExists(atPath: text.path))
      #expect(await refusal { PHAssetCreationRequest.forAsset() } == .missingResource)
      let nowhere = URL(filePath: "/nowhere/a.jpg")
      #expect(
        await refusal { PHAssetCreationRequest.forAsset().addResource(with: .photo, fileURL: nowhere, options: nil) }
          == .missingResource)
    }
  }

  @Test("a request from a file is nil when its bytes are not such a medium (CB-09)")
  func fromFiles() async throws {
    let folder = try TemporaryFolder()
    let files = [("a.jpg", Data("text".utf8)), ("b.jpg", TinyMedia.movie()), ("c", Self.photo), ("d.mov", Data())]
    for (name, data) in files { try data.write(to: folder.place(name)) }
    try await Gallery(examinesMedia: true).shared {
      func images(_ name: String) -> Bool {
        PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL: folder.place(name)) != nil
      }
      func videos(_ name: String) -> Bool {
        PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL: folder.place(name)) != nil
      }
      try await PHPhotoLibrary.shared().performChanges {
        #expect(!images("a.jpg") && !images("b.jpg") && images("c") && !images("d.mov") && !images("absent.jpg"))
        #expect(!videos("a.jpg") && videos("b.jpg") && !videos("c") && !videos("d.mov"))
      }
      #expect(assets().count == 2)
    }
  }

  @Test("an edit's size is that of its render; reverting restores the original's; garbage is 3302 (AS-04, AS-07)")
  func edits() async throws {
    let gallery = try Gallery(examinesMedia: true)
    try await gallery.shared {
      let original = try await made {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Self.photo, options: nil)
      }
      func edit(_ render: Data) async throws -> PHPhotosError.Code? {
        let input: PHContentEditingInput = try await withCheckedThrowingContinuation { continuation in
          original.requestContentEditingInput(with: nil) { input, _ in
            if let input { continuation.resume(returning: input) }
          }
        }
        let output = PHContentEditingOutput(contentEditingInput: input)
        output.adjustmentData = PHAdjustmentData(
          formatIdentifier: "com.example.crop", formatVersion: "1", data: Data("crop".utf8))
        try render.write(to: output.renderedContentURL)
        do {
          try await PHPhotoLibrary.shared().performChanges {
            PHAssetChangeRequest(for: original).contentEditingOutput = output
          }
          return nil
        } catch { return (error as? PHPhotosError)?.code }
      }
      #expect(try await edit(Data("garbage".utf8)) == .invalidResource)
      var cropped = TinyMedia.Photo()
      (cropped.width, cropped.height) = (3, 4)
      #expect(try await edit(TinyMedia.jpeg(cropped)) == nil)
      let edited = try asset(original.localIdentifier)
      #expect((edited.pixelWidth, edited.pixelHeight) == (3, 4) && edited.hasAdjustments)
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetChangeRequest(for: original).revertAssetContentToOriginal()
      }
      let reverted = try asset(original.localIdentifier)
      #expect((reverted.pixelWidth, reverted.pixelHeight) == (6, 8))
    }
  }
}

@Suite("Programs that are not installed", .timeLimit(.minutes(5)))
struct MissingProgramsTests {
  @Test("without exiftool the first creation reports it, once for all clients, and records the given values")
  func exiftool() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let folder = try TemporaryFolder()
      // The programs are looked for when they are needed.
      setenv("PATH", folder.url.path, 1)
      let file = folder.place("a.jpg")
      try TinyMedia.jpeg().write(to: file)
      func mark(_ word: String) { FileHandle.standardError.write(Data("== \(word)\n".utf8)) }
      func create(_ count: Int) async throws {
        for _ in 0..<count {
          try await PHPhotoLibrary.shared().performChanges {
            PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data("text".utf8), options: nil)
            #expect(PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL: file) != nil)
          }
        }
      }
      let gallery = try Gallery(examinesMedia: true)
      try await gallery.client(.authorized)
      try await gallery.shared {
        _ = try await album("Sea")
        #expect(assets().count == 0)
        mark("read")
        try await create(2)
        mark("created")
        try await create(1)
      }
      try await gallery.shared(as: "com.example.app") {
        try await create(1)
        #expect(assets().count == 8)
        let made = try #require(assets().firstObject)
        #expect(made.pixelWidth == 0 && made.creationDate == nil)
      }
      mark("end")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let parts = text.split(separator: /== [a-z]+\n/, omittingEmptySubsequences: false)
    try #require(parts.count == 4, "\(text)")
    let counts = parts.map { $0.ranges(of: "exiftool is not installed").count }
    #expect(counts == [0, 1, 0, 0], "\(text)")
    for words in ["without pixel size", "apt-get install libimage-exiftool-perl"] {
      #expect(parts[1].contains(words), "\(parts[1])")
    }
  }

  /// A folder with links to programs of the search path, and the only one on it from then on.
  fileprivate static func leave(_ programs: [String], in folder: TemporaryFolder) throws {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for program in programs {
      let place = folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
      try FileManager.default.createSymbolicLink(
        atPath: folder.place(program).path, withDestinationPath: try #require(place))
    }
    setenv("PATH", folder.url.path, 1)
  }

  /// The error that a request for the film of an asset ends with; nil if it gives one.
  fileprivate static func failure(ofFilm asset: PHAsset) async -> String? {
    await withCheckedContinuation { continuation in
      PHImageManager.default().requestAVAsset(forVideo: asset, options: nil) { film, _, information in
        continuation.resume(returning: film == nil ? "\(information?[PHImageErrorKey] ?? "no error")" : nil)
      }
    }
  }

  @Test(
    "with exiftool and without ffmpeg's programs a film is examined, and a request for it names what to install",
    .enabled(if: SamplePhotos.areInstalled("exiftool"), "Needs exiftool, which examines the film."))
  func ffprobe() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      try MissingProgramsTests.leave(["exiftool"], in: folder)
      let file = folder.place("a.mov")
      try TinyMedia.movie().write(to: file)
      let gallery = try Gallery(examinesMedia: true)
      try await gallery.shared {
        try await PHPhotoLibrary.shared().performChanges {
          #expect(PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL: file) != nil)
          #expect(PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL: file) == nil, "It is examined.")
        }
        let asset = try #require(assets().firstObject)
        #expect(asset.mediaType == .video && asset.duration == 2.5)
        let error = try #require(await MissingProgramsTests.failure(ofFilm: asset))
        #expect(error.contains("ffprobe is not on PATH") && error.contains("apt-get install ffmpeg"), "\(error)")
      }
    }
  }

  @Test(
    "with exiftool and ffprobe and without ffmpeg a film is described, and an export or a picture of it names ffmpeg",
    .enabled(
      if: SamplePhotos.folder != nil && SamplePhotos.areInstalled("exiftool", "ffprobe"),
      "Needs exiftool, ffprobe and the folder of sample photos."))
  func ffmpeg() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      try MissingProgramsTests.leave(["exiftool", "ffprobe"], in: folder)
      let file = try #require(SamplePhotos.folder).appending(path: "video/with-gps.mov")
      let gallery = try Gallery(examinesMedia: true)
      try await gallery.shared {
        try await PHPhotoLibrary.shared().performChanges {
          #expect(PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL: file) != nil)
        }
        let asset = try #require(assets().firstObject)
        #expect(asset.duration > 0 && asset.pixelWidth > 0)
        #expect(await MissingProgramsTests.failure(ofFilm: asset) == nil)
        let session = try #require(
          AVAssetExportSession(asset: AVURLAsset(url: file), presetName: AVAssetExportPresetPassthrough))
        let error = await #expect(throws: (any Error).self) {
          try await session.export(to: folder.place("out.mov"), as: .mov)
        }
        var errors = [error.map { "\($0)" } ?? "no error"]
        errors.append(
          await withCheckedContinuation { continuation in
            let options = PHImageRequestOptions()
            options.deliveryMode = .highQualityFormat
            PHImageManager.default().requestImage(
              for: asset, targetSize: CGSize(width: 100, height: 100), contentMode: .aspectFit, options: options
            ) { _, information in
              continuation.resume(returning: "\(information?[PHImageErrorKey] ?? "no error")")
            }
          })
        for error in errors {
          #expect(error.contains("ffmpeg is not on PATH") && error.contains("apt-get install ffmpeg"), "\(error)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.place("out.mov").path))
      }
    }
  }
}
