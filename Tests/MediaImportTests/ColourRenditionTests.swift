import Foundation
import TestSupport
import Testing

@testable import MediaImport

@Suite(
  "The colours of renditions", .blocking,
  .enabled(if: SamplePhotos.areInstalled("vipsthumbnail", "vips", "ffmpeg", "exiftool"), "Needs the programs."))
struct ColourRenditionTests {
  private static let shared = MediaRenderer()
  private let renderer = Self.shared
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
    for made in [set.large, try renderer.picture(request).data] {
      let found = try samples(made)
      #expect(distance(found, Self.colours) <= 12, "\(found)")
    }
  }
}
