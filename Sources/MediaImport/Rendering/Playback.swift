// How a film is played in a browser.
//
//     H.264, 8 bits, AAC or no sound?  no ──▶ one transcode, at most 1920x1080
//         yes                          MP4, moov in front? ── no ──▶ remux: the same pictures, the index first
//                                          yes ──▶ the original
//
// Where the index is, is read here: eight bytes of each box at the top of the file, nothing inside of them.

package import Foundation
internal import Glibc
internal import PhotoLedger

/// What is done so that a browser plays a film.
package enum Playback: String, Sendable, Hashable {
  /// Nothing: it plays as it is.
  case original
  /// Its tracks are copied into an MP4 with the index in front.
  case remux
  /// Its tracks are encoded anew.
  case transcode
}

/// The order of the boxes at the top of an MP4 or QuickTime file.
package enum MovieBoxes {
  /// The most boxes that are looked at.
  private static let limit = 4096

  /// Whether the file is an MP4, and whether its index stands before the pictures.
  package static func layout(of file: URL) -> (isMP4: Bool, isIndexFirst: Bool) {
    let descriptor = open(WorkFolder.real(file), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return (false, false) }
    defer { close(descriptor) }
    var (offset, isMP4) = (Int64(0), false)
    for _ in 0..<limit {
      var head = [UInt8](repeating: 0, count: 16)
      guard pread(descriptor, &head, 16, Int(offset)) >= 8 else { return (isMP4, false) }
      var size = Int64(head[..<4].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      if size == 1 { size = Int64(clamping: head[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) }
      switch String(decoding: head[4..<8], as: UTF8.self) {
      case "ftyp": isMP4 = !head[8..<12].elementsEqual("qt  ".utf8)
      case "moov": return (isMP4, true)
      case "mdat": return (isMP4, false)
      default: break
      }
      // A size of 0 means to the end of the file.
      guard size >= 8, !offset.addingReportingOverflow(size).overflow else { return (isMP4, false) }
      offset += size
    }
    return (isMP4, false)
  }
}

extension MediaRenderer {
  /// What is done so that a browser plays a film.
  /// - Throws: ``ImportError``: `toolMissing` without ffprobe, `toolFailed` for what is not a film, `toolTimeout`.
  package func playback(of file: URL) throws -> Playback {
    let film = try film(at: file)
    guard let video = film.tracks.first(where: \.isVideo), video.codec == "h264", video.isPlain,
      film.tracks.allSatisfy({ $0.isVideo || $0.codec == "aac" })
    else { return .transcode }
    let layout = MovieBoxes.layout(of: file)
    return layout.isMP4 && layout.isIndexFirst ? .original : .remux
  }

  /// Makes the film that a browser plays, without metadata.
  /// - Throws: ``ImportError`` as ``export(_:)`` does.
  package func makePlayable(
    _ file: URL, by playback: Playback, at target: URL, isCancelled: @escaping @Sendable () -> Bool
  ) throws {
    precondition(playback != .original, "A playable original is not transcoded.")
    let pictures: FilmExport.Pictures =
      playback == .remux
      ? .copied : .encoded(isHEVC: false, quality: 23, largest: PixelSize(width: 1920, height: 1080))
    var export = FilmExport(source: file, target: target, container: "mp4", pictures: pictures)
    (export.isIndexFirst, export.keepsMetadata, export.isCancelled) = (true, false, isCancelled)
    try self.export(export)
  }
}
