import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("Placeholders")
struct PlaceholderTests {
  @Test("a placeholder has 37 bytes and reproduces the colours that it was made from")
  func colors() {
    // Blue above, orange below, lighter to the right.
    let pixels = (0..<64).flatMap { index -> [UInt8] in
      let light = UInt8(index % 8 * 8)
      return index < 32 ? [40, 80 + light, 190] : [220, 120 + light, 30]
    }
    let placeholder = Placeholder(pixels: pixels)
    #expect(placeholder.bytes.count == Placeholder.count && Placeholder.count <= 40)
    for (x, y, red, blue) in [(0.1, 0.1, 40.0, 190.0), (0.9, 0.2, 40, 190), (0.5, 0.9, 220, 30)] {
      let color = placeholder.color(x: x, y: y)
      #expect(abs(color.red - red) < 40 && abs(color.blue - blue) < 40, "\(color)")
    }
    let plain = Placeholder(pixels: Array(repeating: 77, count: 192))
    let color = plain.color(x: 0.3, y: 0.7)
    #expect(abs(color.red - 77) < 1 && abs(color.green - 77) < 1 && abs(color.blue - 77) < 1)
  }

  @Test("only a picture of 8x8 pixels is accepted")
  func pictures() {
    let body = [UInt8](repeating: 9, count: 192)
    #expect(Placeholder.pixels(ppm: Array("P6\n8 8\n255\n".utf8) + body) == body)
    #expect(Placeholder.pixels(ppm: Array("P6\n#vips2ppm\n8 8\n255\n".utf8) + body) == body)
    #expect(Placeholder.pixels(ppm: Array("P6\n9 8\n255\n".utf8) + body) == nil)
    #expect(Placeholder.pixels(ppm: Array("P5\n8 8\n255\n".utf8) + body.prefix(64)) == body)
    #expect(Placeholder.pixels(ppm: Array("P5\n8 8\n255\n".utf8) + body) == nil)
    #expect(Placeholder.pixels(ppm: []) == nil)
  }
}

@Suite(
  "Renditions",
  .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
struct RenditionTests {
  private let renderer = SharedTool.renderer

  private func sample(_ path: String) throws -> URL { try #require(Corpus.folder).appending(path: path) }

  /// What exiftool finds in bytes, with all of its tags.
  private func tags(_ data: Data, _ name: String) throws -> String {
    let folder = try TemporaryFolder()
    let path = try folder.write(name, data).description
    let run = ToolRun(
      limits: ToolLimits(timePerFile: .seconds(60), memoryByteCount: 2 << 30), isCancelled: { false },
      sandbox: Sandbox(readable: [path]))
    return try run.output(of: try Programs().exiftool(for: "it checks"), ["-a", "-G1", "-s", "-n", path])
  }

  @Test(
    "a batch of photos, one damaged, a RAW file and a film become renditions without metadata; a text has its reason")
  func batch() throws {
    let paths = [
      "orientation/Landscape_6.jpg", "gps/HTC Desire.jpg", "heic/IMG_1034.heic", "raw/Issue 247-1.nef",
      "video/with-gps.mov",
      // Seven bytes without a meaning between two segments, which decoders skip.
      "corrupt/broken.jpg",
    ]
    var sources: [URL] = []
    for path in paths { sources.append(try sample(path)) }
    let text = try TemporaryFolder()
    sources.append(URL(filePath: try text.write("text.jpg", Data("no picture".utf8)).description))
    let outcomes = renderer.renditions(of: sources)
    #expect(outcomes.count == sources.count)
    for (path, outcome) in zip(paths, outcomes) {
      let made = try outcome.get()
      let (large, small) = (try tags(made.large, "a.jpg"), try tags(made.small, "b.jpg"))
      for printed in [large, small] {
        for group in ["GPS", "IFD0", "ExifIFD", "XMP", "ICC", "MakerNotes", "IPTC"] {
          #expect(!printed.contains("[\(group)"), "\(path): \(group) is left in \(printed)")
        }
      }
      #expect(made.placeholder.bytes.count == Placeholder.count)
    }
    let error = #expect(throws: ImportError.self) { try outcomes[6].get() }
    #expect(error?.code == .toolFailed && error?.isPassing == false)
    #expect(error?.description == "The file text.jpg has no picture to show.")
  }

  @Test("the sides of renditions are 256 and 1440, upright, and nothing is enlarged: a panorama has what 1440 leaves")
  func sides() throws {
    // 1200x1800 stored pixels that are shown as 1800x1200.
    let made = try renderer.renditions(of: [try sample("orientation/Landscape_6.jpg")])[0].get()
    let folder = try TemporaryFolder()
    func size(_ data: Data, _ name: String) throws -> PixelSize? {
      try renderer.description(of: URL(filePath: try folder.write(name, data).description))?.displayedSize
    }
    #expect(try size(made.large, "large.jpg") == PixelSize(width: 1440, height: 960))
    #expect(try size(made.small, "small.jpg") == PixelSize(width: 384, height: 256))
    // The small one is made of the large one, whose shorter side is less than 256 already.
    let file = URL(filePath: folder.path + "/panorama.png")
    try ColourGrid.make([String(repeating: "rg", count: 5)], side: 300, at: file)
    let panorama = try renderer.renditions(of: [file])[0].get()
    for (data, name) in [(panorama.large, "wide-large.jpg"), (panorama.small, "wide-small.jpg")] {
      #expect(try size(data, name) == PixelSize(width: 1440, height: 144), "\(name)")
    }
  }

  @Test("a picture of more pixels than the limit is rejected with its size, before it is decoded")
  func bomb() throws {
    let folder = try TemporaryFolder()
    // A frame header that claims 60000x60000 pixels.
    let bomb = TinyMedia.jpeg(TinyMedia.Photo(width: 60_000, height: 60_000))
    let file = URL(filePath: try folder.write("bomb.jpg", bomb).description)
    let outcome = renderer.renditions(of: [file])[0]
    let error = #expect(throws: ImportError.self) { try outcome.get() }
    #expect(error?.description.contains("60000x60000") == true)
  }

  @Test("films are played directly, by remux or by a transcode; a remux contains no location")
  func playback() throws {
    let folder = try TemporaryFolder()
    let source = try sample("video/with-gps.mov")
    #expect(try renderer.playback(of: source) == .remux)
    #expect(try renderer.playback(of: try sample("video/100_0306.AVI")) == .transcode)
    let target = URL(filePath: folder.path + "/play.mp4")
    try renderer.makePlayable(source, by: .remux, at: target, isCancelled: { false })
    #expect(try renderer.playback(of: target) == .original)
    #expect(!(try tags(try Data(contentsOf: target), "a.mp4")).contains("GPS"))
  }

  @Test("the order of the boxes is read without parsing them, whatever sizes they claim")
  func boxes() throws {
    let folder = try TemporaryFolder()
    func layout(_ bytes: [UInt8]) throws -> (isMP4: Bool, isIndexFirst: Bool) {
      MovieBoxes.layout(of: URL(filePath: try folder.write("film", Data(bytes)).description))
    }
    func box(_ kind: String, _ content: String = "isom") -> [UInt8] {
      [0, 0, 0, UInt8(8 + content.utf8.count)] + Array(kind.utf8) + Array(content.utf8)
    }
    #expect(try layout(box("ftyp") + box("moov") + box("mdat")) == (true, true))
    #expect(try layout(box("ftyp") + box("free") + box("mdat") + box("moov")) == (true, false))
    #expect(try layout(box("ftyp", "qt  ") + box("moov")) == (false, true))
    #expect(try layout([0, 0, 0, 1] + Array("free".utf8) + Array(repeating: 255, count: 8)) == (false, false))
    #expect(try layout(Array(repeating: 0, count: 64)) == (false, false))
    #expect(try layout([]) == (false, false))
  }
}
