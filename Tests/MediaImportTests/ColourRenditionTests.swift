import Foundation
import TestSupport
import Testing

@testable import MediaImport

@Suite(
  "The colours of renditions", .blocking,
  .enabled(
    if: SamplePhotos.areInstalled("vipsthumbnail", "vips", "ffmpeg", "ffprobe", "exiftool"), "Needs the programs."))
struct ColourRenditionTests {
  private let renderer = SharedTool.renderer
  private static let colours: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]

  /// The largest difference between two lists of colours.
  private func distance(_ one: [[UInt8]], _ other: [[UInt8]]) -> Int {
    zip(one.joined(), other.joined()).map { abs(Int($0) - Int($1)) }.max() ?? .max
  }

  @Test("a picture in the colours of Display P3, as phones take it, becomes sRGB", arguments: ["png", "jpg"])
  func wide(_ ending: String) throws {
    let folder = try TemporaryFolder()
    let (plain, wide) = (URL(filePath: folder.path + "/plain.png"), URL(filePath: folder.path + "/wide.\(ending)"))
    try ColourGrid.make(["rg", "bw"], side: 64, at: plain)
    let target = wide.path + (ending == "jpg" ? "[Q=100]" : "")
    let run = try ChildRun.of(["vips", "icc_transform", plain.path, target, "p3", "--input-profile", "srgb"])
    try #require(run.end == .status(0), "\(run.text)")
    func samples(_ data: Data) throws -> [[UInt8]] { try ColourGrid.samples(data, columns: 2, rows: 2) }
    // What is stored are other numbers, which mean the same colours.
    #expect(distance(try samples(Data(contentsOf: plain)), Self.colours) <= 2)
    #expect(distance(try samples(Data(contentsOf: wide)), Self.colours) > 60)
    let set = try renderer.renditions(of: [wide])[0].get()
    var request = PictureRequest(source: wide, sourceType: ending == "png" ? "public.png" : "public.jpeg")
    request.format = .png
    for made in [set.large, set.small, try renderer.picture(request).data] {
      let found = try samples(made)
      #expect(distance(found, Self.colours) <= 12, "\(found)")
    }
  }

  @Test("a picture without a profile keeps its colours", arguments: ["png", "jpg"])
  func plain(_ ending: String) throws {
    let folder = try TemporaryFolder()
    let file = URL(filePath: folder.path + "/plain.\(ending)")
    let grid = URL(filePath: folder.path + "/grid.png")
    try ColourGrid.make(["rg", "bw"], side: 64, at: grid)
    let target = file.path + (ending == "jpg" ? "[Q=100,strip]" : "[strip]")
    try #require(try ChildRun.of(["vips", "copy", grid.path, target]).end == .status(0))
    let set = try renderer.renditions(of: [file])[0].get()
    var request = PictureRequest(source: file, sourceType: ending == "png" ? "public.png" : "public.jpeg")
    request.format = .png
    for made in [set.large, set.small, try renderer.picture(request).data] {
      let found = try ColourGrid.samples(made, columns: 2, rows: 2)
      #expect(distance(found, Self.colours) <= 6, "\(found)")
    }
  }

  @Test("a picture of a film in BT.709, as cameras record it, keeps the film's colours", arguments: ["tv", "pc"])
  func film(_ range: String) throws {
    let folder = try TemporaryFolder()
    let (grid, film) = (URL(filePath: folder.path + "/grid.png"), URL(filePath: folder.path + "/film.mov"))
    try ColourGrid.make(["rg", "bw"], side: 64, at: grid)
    let samples = "scale=out_color_matrix=bt709:out_range=\(range),format=\(range == "pc" ? "yuvj420p" : "yuv420p")"
    let run = try ChildRun.of(
      ["ffmpeg", "-nostdin", "-v", "error", "-loop", "1", "-t", "2", "-i", grid.path, "-vf", samples]
        + ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", range]
        + ["-c:v", "libx264", "-qp", "0", film.path])
    try #require(run.end == .status(0), "\(run.text)")
    let set = try renderer.renditions(of: [film])[0].get()
    var request = PictureRequest(source: film, sourceType: "com.apple.quicktime-movie")
    request.format = .png
    for made in [set.large, set.small, try renderer.picture(request).data] {
      let found = try ColourGrid.samples(made, columns: 2, rows: 2)
      #expect(distance(found, Self.colours) <= 6, "\(found)")
    }
  }

  @Test("a grey picture without a profile stays grey, beside one with colours")
  func grey() throws {
    let folder = try TemporaryFolder()
    let (grid, grey) = (URL(filePath: folder.path + "/grid.png"), URL(filePath: folder.path + "/grey.png"))
    try ColourGrid.make(["rg", "bw"], side: 64, at: grid)
    let run = try ChildRun.of(["vips", "colourspace", grid.path, grey.path + "[strip]", "b-w"])
    try #require(run.end == .status(0), "\(run.text)")
    let sets = try renderer.renditions(of: [grey, grid]).map { try $0.get() }
    for made in [sets[0].large, sets[0].small] {
      for sample in try ColourGrid.samples(made, columns: 2, rows: 2) {
        #expect(distance([sample], [[sample[0], sample[0], sample[0]]]) <= 1, "\(sample)")
      }
    }
    #expect(distance(try ColourGrid.samples(sets[1].large, columns: 2, rows: 2), Self.colours) <= 6)
    var request = PictureRequest(source: grey, sourceType: "public.png")
    request.format = .png
    #expect(try renderer.picture(request).size.width == 128)
  }
}
