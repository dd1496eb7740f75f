import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("Limits of films", .blocking)
struct FilmLimitTests {
  private let folder: TemporaryFolder
  private let source: URL
  private let target: URL

  init() throws {
    folder = try TemporaryFolder()
    source = URL(filePath: try folder.write("film.mov", Data("film".utf8)).description)
    target = URL(filePath: folder.path + "/made.mp4")
  }

  /// A renderer whose ffprobe claims a size, and whose ffmpeg is a script that knows its output as `$target`.
  private func renderer(width: Int, height: Int, _ script: String) throws -> MediaRenderer {
    let programs = "\(folder.path)/programs"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    let film = """
      {"streams": [{"index": 0, "codec_type": "video", "codec_name": "hevc", "width": \(width), "height": \(height)}]}
      """
    try writeProgram("#!/bin/sh\necho '\(film)'\n", at: "\(programs)/ffprobe")
    let start = "for target; do :; done\ntarget=\"${target#file:}\""
    try writeProgram("#!/bin/sh\n\(start)\n\(script)\n", at: "\(programs)/ffmpeg")
    var limits = MediaRenderer.Limits()
    (limits.filmByteCount, limits.timePerFilm) = (10_000, .seconds(60))
    return MediaRenderer(searchPath: programs, limits: limits)
  }

  @Test(
    "a program that writes more than a film may have is killed, and nothing is left",
    .timeLimit(.minutes(5)), arguments: [Playback.remux, .transcode])
  func writtenSize(_ playback: Playback) throws {
    let endless = try renderer(width: 64, height: 64, "while :; do echo more; done > \"$target\"")
    let error = #expect(throws: ImportError.self) {
      try endless.makePlayable(source, by: playback, at: target, isCancelled: { false })
    }
    #expect(error?.description.contains("file size") == true, "\(String(describing: error))")
    #expect(error?.isPassing == false, "It would write as much the next time.")
    let killed = try renderer(width: 64, height: 64, "echo film > \"$target\"; exit 137")
    let other = #expect(throws: ImportError.self) {
      try killed.makePlayable(source, by: playback, at: target, isCancelled: { false })
    }
    #expect(other?.isPassing == true, "\(String(describing: other))")
    #expect(!FileManager.default.fileExists(atPath: target.path))
    let modest = try renderer(width: 64, height: 64, "echo film > \"$target\"")
    try modest.makePlayable(source, by: playback, at: target, isCancelled: { false })
    #expect(try Data(contentsOf: target) == Data("film\n".utf8))
  }

  @Test("pictures are those of the track whose size is checked, and not of a cover that stands before it")
  func covers() throws {
    for playback in [Playback.remux, .transcode] {
      let renderer = try renderer(width: 64, height: 64, "echo \"$*\" > \"$target\"")
      try renderer.makePlayable(source, by: playback, at: target, isCancelled: { false })
      let words = try String(contentsOf: target, encoding: .utf8).split(separator: " ")
      #expect(words.contains { $0.hasPrefix("0:V:0") } && !words.contains { $0.hasPrefix("0:v") }, "\(words)")
      try FileManager.default.removeItem(at: target)
    }
    #expect(Films.pictureArguments("a.jpg").starts(with: ["-map", "0:V:0"]))
  }

  @Test("a film of more pixels than the limit is rejected with its size, before ffmpeg reads it")
  func pixels() throws {
    // What it writes would be an answer.
    let renderer = try renderer(width: 60_000, height: 60_000, "echo film > \"$target\"")
    let ways: [() throws -> Void] = [
      { try renderer.makePlayable(source, by: .transcode, at: target, isCancelled: { false }) },
      { try renderer.makePlayable(source, by: .remux, at: target, isCancelled: { false }) },
      { _ = try renderer.picture(PictureRequest(source: source, sourceType: "com.apple.quicktime-movie")) },
    ]
    for way in ways {
      let error = #expect(throws: ImportError.self) { try way() }
      #expect(error?.description.contains("60000x60000") == true, "\(String(describing: error))")
    }
    #expect(!FileManager.default.fileExists(atPath: target.path))
  }
}
