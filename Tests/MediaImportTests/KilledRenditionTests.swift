import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite(
  "Pictures whose program is killed", .blocking,
  .enabled(if: SamplePhotos.areInstalled("vipsthumbnail", "ffmpeg", "exiftool"), "Needs the programs."))
struct KilledRenditionTests {
  private let folder: TemporaryFolder
  /// A picture whose rendition is small.
  private let plain: URL
  /// A picture whose large rendition takes more than ``limit`` allows.
  private let rich: URL

  /// Has a program killed in the middle of a large file: 64 blocks, of 512 or of 1024 bytes.
  private static let limit = "ulimit -f 64"

  init() throws {
    folder = try TemporaryFolder()
    (plain, rich) = (URL(filePath: folder.path + "/plain.png"), URL(filePath: folder.path + "/rich.png"))
    try ColourGrid.make(["rg", "bw"], side: 64, at: plain)
    var generator = SeededGenerator(seed: 1)
    let rows = (0..<128).map { _ in String((0..<128).compactMap { _ in "rgbw".randomElement(using: &generator) }) }
    try ColourGrid.make(rows, side: 4, at: rich)
  }

  /// Puts a script before the installed vipsthumbnail, which it ends as unless it exits.
  /// - Returns: its path, and a renderer that finds it first.
  private func replace(_ script: String) throws -> (program: String, renderer: MediaRenderer) {
    let installed = try #require(Programs().find("vipsthumbnail"))
    let lines = "#!/bin/sh\n\(script)\nexec \(installed) \"$@\"\n"
    let program = "\(folder.path)/programs/vipsthumbnail"
    try FileManager.default.createDirectory(atPath: "\(folder.path)/programs", withIntermediateDirectories: true)
    try writeProgram(lines, at: program)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return (program, MediaRenderer(searchPath: "\(folder.path)/programs:\(path)"))
  }

  @Test("the picture that a killed program was writing is removed, and those before it stay")
  func removed() throws {
    let (program, renderer) = try replace(Self.limit)
    let work = try renderer.root.folder()
    let stills = [try work.take(plain, as: "0"), try work.take(rich, as: "1"), try work.take(plain, as: "2")]
    let failure = try renderer.shrink(
      stills, "1440x1440>", "-large.jpg\(RenditionRecipe.large)", RenditionRecipe.toSRGB, in: work, program
    ) { false }
    #expect(failure?.isPassing == true)
    let made = (0...2).map { access(work.file("\($0)-large.jpg"), F_OK) == 0 }
    #expect(made == [true, false, false])
  }

  @Test("a partial picture is not a rendition, alone and in a batch", arguments: [1, 2])
  func half(_ count: Int) throws {
    let (_, renderer) = try replace("case \"$*\" in *1440x1440*) \(Self.limit);; esac")
    let outcomes = renderer.renditions(of: Array([rich, plain].prefix(count)))
    let error = #expect(throws: ImportError.self) { try outcomes[0].get() }
    #expect(error?.isPassing == true)
    for outcome in outcomes.dropFirst() { #expect(throws: Never.self) { try outcome.get() } }
  }

  @Test(
    "only a program that failed on its own is run again without converting colours",
    arguments: [(1, true), (137, false)])
  func again(_ status: Int, isMade: Bool) throws {
    let (_, renderer) = try replace("case \"$*\" in *--iprofile*) exit \(status);; esac")
    let ways: [() throws -> Void] = [
      { _ = try renderer.renditions(of: [plain])[0].get() },
      { _ = try renderer.picture(PictureRequest(source: plain, sourceType: "public.png")) },
    ]
    for way in ways {
      if isMade {
        #expect(throws: Never.self) { try way() }
      } else {
        let error = #expect(throws: ImportError.self) { try way() }
        #expect(error?.isPassing == true)
      }
    }
  }
}
