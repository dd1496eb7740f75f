import Foundation
import LibraryPicking
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

/// The sample files that are damaged.
private let damagedSamples: [String] = {
  guard let folder = SamplePhotos.folder?.appending(path: "corrupt"),
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
  else { return [] }
  return names.sorted().filter { $0.contains(".") }.map { "corrupt/\($0)" }
}()

extension TemporaryFolder {
  fileprivate var url: URL { URL(filePath: path) }
  fileprivate func place(_ name: String) -> URL { url.appending(path: name) }
}

@Suite(
  "The renderer", .blocking,
  .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
struct RendererTests {
  private let renderer = SharedTool.renderer

  private func sample(_ path: String) throws -> URL { try #require(Corpus.folder).appending(path: path) }

  private func request(
    _ path: String, _ type: String, _ size: PixelSize? = nil, _ change: (inout PictureRequest) -> Void = { _ in }
  ) throws -> PictureRequest {
    var request = PictureRequest(source: try sample(path), sourceType: type)
    request.size = size
    change(&request)
    return request
  }

  /// The size in the bytes themselves.
  private func size(of data: Data, _ ending: String = "jpg") throws -> PixelSize? {
    let folder = try TemporaryFolder()
    let file = folder.place("picture.\(ending)")
    try data.write(to: file)
    let description = try renderer.description(of: file)
    #expect(description?.orientation == 1, "A rendered picture stands upright.")
    return description?.displayedSize
  }

  @Test(
    "a picture's size follows PhotoKit's modes, and its bytes have the stated size",
    arguments: [
      (PixelSize(width: 300, height: 300), PictureRequest.Scaling.fit, false, PixelSize(width: 300, height: 200)),
      (PixelSize(width: 300, height: 300), .fill, false, PixelSize(width: 450, height: 300)),
      (PixelSize(width: 300, height: 300), .fill, true, PixelSize(width: 300, height: 300)),
      (PixelSize(width: 50, height: 100), .fit, true, PixelSize(width: 50, height: 33)),
      (PixelSize(width: 3600, height: 3600), .fit, false, PixelSize(width: 1800, height: 1200)),
      (PixelSize(width: 3600, height: 2400), .fit, true, PixelSize(width: 3600, height: 2400)),
      (PixelSize(width: 900, height: 7), .fill, true, PixelSize(width: 900, height: 7)),
    ])
  func sizes(asked: PixelSize, scaling: PictureRequest.Scaling, isExact: Bool, expected: PixelSize) throws {
    // 1200x1800 stored pixels that are shown as 1800x1200.
    let path = "orientation/Landscape_6.jpg"
    let picture = try renderer.picture(
      request(path, "public.jpeg", asked) { ($0.scaling, $0.isExact) = (scaling, isExact) })
    #expect(picture.size == expected)
    #expect(try size(of: picture.data) == expected)
  }

  @Test(
    "photos of every kind, RAW files and films become pictures",
    arguments: [
      ("heic/IMG_1034.heic", "public.heic"), ("avif-webp-jxl/Irvine_CA.avif", "public.avif"),
      ("tiff/Arbitro.tiff", "public.tiff"), ("raw/Issue 247-1.nef", "com.nikon.raw-image"),
      ("raw/sample.cr2", "com.canon.cr2-raw-image"), ("video/with-gps.mov", "com.apple.quicktime-movie"),
      ("video/100_0306.AVI", "public.avi"), ("video/sample.3gp", "public.3gpp"),
    ])
  func kinds(path: String, type: String) throws {
    let picture = try renderer.picture(request(path, type, PixelSize(width: 120, height: 120)))
    #expect(max(picture.size.width, picture.size.height) == 120)
    #expect(try size(of: picture.data) == picture.size)
  }

  @Test("a film that is held upright gives an upright picture")
  func uprightFilm() throws {
    let picture = try renderer.picture(request("video/with-gps.mov", "com.apple.quicktime-movie"))
    #expect(picture.size == PixelSize(width: 320, height: 568))
    #expect(try renderer.film(at: sample("video/with-gps.mov")).displayedSize == picture.size)
  }

  /// Four colours by the orientation of the picture, made once for all tests.
  private static let grids: Result<[Int: Data], any Error> = Result {
    let folder = try TemporaryFolder()
    var grids: [Int: Data] = [:]
    for orientation in [1, 6] {
      let file = folder.place("grid\(orientation).jpg")
      try ColourGrid.make(["rg", "bw"], side: 64, at: file)
      let turned = try ChildRun.of(
        ["exiftool", "-q", "-n", "-overwrite_original", "-Orientation=\(orientation)", file.path])
      try #require(turned.end == .status(0), "\(turned.text)")
      grids[orientation] = try Data(contentsOf: file)
    }
    return grids
  }

  @Test(
    "a part of a picture shows that region, counted in the displayed picture",
    arguments: [
      // Turned to the right, the lower left of the stored picture is the upper left.
      (1, (0.0, 0.0, 0.5, 0.5), ["rr", "rr"]), (1, (0.5, 0, 0.5, 0.5), ["gg", "gg"]),
      (1, (0, 0.5, 0.5, 0.5), ["bb", "bb"]), (1, (0.5, 0.5, 0.5, 0.5), ["ww", "ww"]),
      (1, (0.25, 0.25, 0.5, 0.5), ["rg", "bw"]), (6, (0, 0, 0.5, 0.5), ["bb", "bb"]),
      (6, (0.5, 0, 0.5, 0.5), ["rr", "rr"]), (6, (0, 0.5, 0.5, 0.5), ["ww", "ww"]), (6, (0, 0, 1, 1), ["br", "wg"]),
    ] as [(Int, (Double, Double, Double, Double), [String])])
  func contents(orientation: Int, part: (Double, Double, Double, Double), expected: [String]) throws {
    let folder = try TemporaryFolder()
    let file = folder.place("grid.jpg")
    try #require(try Self.grids.get()[orientation]).write(to: file)
    for (scaling, isExact) in [(PictureRequest.Scaling.fill, true), (.fit, false)] {
      var request = PictureRequest(source: file, sourceType: "public.jpeg")
      request.region = PictureRequest.Region(x: part.0, y: part.1, width: part.2, height: part.3)
      (request.size, request.scaling, request.isExact) = (PixelSize(width: 48, height: 48), scaling, isExact)
      let picture = try renderer.picture(request)
      #expect(picture.size == PixelSize(width: 48, height: 48))
      #expect(try ColourGrid.read(picture.data, columns: 2, rows: 2) == expected, "\(scaling)")
    }
  }

  @Test("a part of a picture is cut where requested")
  func region() throws {
    let picture = try renderer.picture(
      request("orientation/Landscape_1.jpg", "public.jpeg", PixelSize(width: 90, height: 60)) {
        $0.region = PictureRequest.Region(x: 0.5, y: 0.5, width: 0.9, height: 0.5)
        ($0.scaling, $0.isExact, $0.format) = (.fill, true, .png)
      })
    #expect(picture.size == PixelSize(width: 90, height: 60) && picture.data.starts(with: [0x89, 0x50]))
    #expect(PictureRequest.Region(x: 1, y: 0, width: 1, height: 1) == nil)
    #expect(PictureRequest.Region(x: .nan, y: 0, width: 1, height: 1) == nil)
  }

  @Test("the duration, tracks and orientation of a film are read")
  func films() throws {
    let film = try renderer.film(at: sample("video/with-gps.mov"))
    #expect(film.duration == 4.001667 && film.tracks.map(\.isVideo) == [false, true])
    #expect(film.tracks[1].rotation == 90 && film.tracks[1].codec == "h264")
    #expect(try renderer.film(at: sample("video/QuickTime.mov")).tracks.count == 2, "A cover picture is no track.")
  }

  @Test("a part of a film is exported, smaller and playable")
  func export() throws {
    let folder = try TemporaryFolder()
    let target = folder.place("out.mp4")
    let told = Gathered<Double>()
    var export = FilmExport(
      source: try sample("video/with-gps.mov"), target: target, container: "mp4",
      pictures: .encoded(isHEVC: false, quality: 28, largest: PixelSize(width: 224, height: 128)))
    export.part = (1, 2)
    export.progress = { told.append($0) }
    try renderer.export(export)
    let film = try renderer.film(at: target)
    #expect(film.displayedSize == PixelSize(width: 126, height: 224))
    #expect(abs(film.duration - 2) < 0.2 && told.all.last == 1)
  }

  @Test(
    "a playlist that calls itself a film opens no other file",
    arguments: [
      "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:4,\nother.mp4\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile other.mp4\n",
    ])
  func playlist(text: String) throws {
    let folder = try TemporaryFolder()
    let (list, target) = (folder.place("list.mov"), folder.place("out.mp4"))
    try FileManager.default.copyItem(at: sample("video/with-gps.mp4"), to: folder.place("other.mp4"))
    try Data(text.utf8).write(to: list)
    #expect(throws: ImportError.self) { try renderer.film(at: list) }
    #expect(throws: ImportError.self) {
      try renderer.picture(PictureRequest(source: list, sourceType: "com.apple.quicktime-movie"))
    }
    #expect(throws: ImportError.self) {
      try SharedTool.converter.convert(
        RepresentationConversion(
          source: list, sourceType: "public.avi", target: target, targetType: "public.mpeg-4"))
    }
    #expect(!FileManager.default.fileExists(atPath: target.path))
  }

  @Test("every damaged sample ends as a picture or an error", arguments: damagedSamples)
  func damaged(path: String) throws {
    do {
      let picture = try renderer.picture(request(path, "public.image", PixelSize(width: 64, height: 64)))
      #expect(try size(of: picture.data) == picture.size)
    } catch let error as ImportError {
      #expect(!error.description.isEmpty)
    }
  }

  @Test("a picture of more pixels than the limit is rejected before it is decoded")
  func tooLarge() throws {
    var limits = MediaRenderer.Limits()
    limits.pixelCount = 100_000
    let small = MediaRenderer(limits: limits)
    let error = #expect(throws: ImportError.self) {
      try small.picture(request("orientation/Landscape_1.jpg", "public.jpeg", PixelSize(width: 10, height: 10)))
    }
    #expect(error?.description.contains("1800x1200") == true)
    let enlarged = #expect(throws: ImportError.self) {
      try renderer.picture(
        request("orientation/Landscape_1.jpg", "public.jpeg", PixelSize(width: 1 << 30, height: 1 << 30)) {
          $0.isExact = true
        })
    }
    #expect(enlarged?.code == .toolFailed)
  }

  @Test("a program that never ends is terminated at its limit", .timeLimit(.minutes(2)))
  func hanging() throws {
    let folder = try TemporaryFolder()
    for name in ["vipsthumbnail", "ffprobe"] {
      try writeProgram("#!/bin/sh\nexec sleep 1000\n", at: folder.place(name).path)
    }
    try FileManager.default.createSymbolicLink(
      atPath: folder.place("exiftool").path, withDestinationPath: try #require(Programs().find("exiftool")))
    var limits = MediaRenderer.Limits()
    limits.timePerPicture = .seconds(3)
    let slow = MediaRenderer(searchPath: folder.url.path, limits: limits)
    let film = #expect(throws: ImportError.self) { try slow.film(at: sample("video/with-gps.mov")) }
    #expect(film?.code == .toolTimeout)
    let picture = #expect(throws: ImportError.self) {
      try slow.picture(request("orientation/Landscape_1.jpg", "public.jpeg", PixelSize(width: 10, height: 10)))
    }
    #expect(picture?.code == .toolTimeout)
  }
}

@Suite("The renderer without programs")
struct BareRendererTests {
  @Test("each request names the missing program and how to install it")
  func missing() throws {
    let folder = try TemporaryFolder()
    let file = folder.place("a.jpg")
    try TinyMedia.jpeg().write(to: file)
    let renderer = MediaRenderer(searchPath: folder.url.path)
    #expect(!renderer.makesPictures)
    let questions: [(String, () throws -> Void)] = [
      ("exiftool", { _ = try renderer.description(of: file) }), ("ffprobe", { _ = try renderer.film(at: file) }),
      ("exiftool", { _ = try renderer.picture(PictureRequest(source: file, sourceType: "public.jpeg")) }),
      ("ffmpeg", { _ = try renderer.picture(PictureRequest(source: file, sourceType: "public.movie")) }),
    ]
    for (program, question) in questions {
      let error = #expect(throws: ImportError.self) { try question() }
      #expect(error?.code == .toolMissing && error?.path == program)
      #expect(error?.description.contains("apt-get install") == true)
    }
  }
}
