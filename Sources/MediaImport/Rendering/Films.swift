// What a film is made of, by ffprobe, and films made of films, by ffmpeg.
//
// A film is hostile: a file whose name ends in .mov may be a playlist that names other files of this machine or
// addresses of a network, and ffmpeg follows those. So only containers that hold their own bytes are opened
// (`-format_whitelist`), by the protocol of files alone, and the path is given as `file:`, so that no part of a name is
// taken for a protocol.

package import Foundation
internal import PhotoLedger

/// What a film says about itself.
package struct FilmDescription: Sendable, Hashable {
  /// One track of a film.
  package struct Track: Sendable, Hashable {
    /// Its number in the file, from 0.
    package let index: Int
    /// Pictures or sound.
    package let isVideo: Bool
    /// How it is encoded, as ffprobe names it: `h264`, `aac`.
    package let codec: String
    /// The size of the stored pictures; nil for sound.
    package let storedSize: PixelSize?
    /// By how much the pictures are turned to be shown, degrees with the clock: 0, 90, 180 or 270.
    package let rotation: Int
    /// Pictures a second; 0 for sound, and if not stated.
    package let frameRate: Double
    /// Bits a second; 0 if not stated.
    package let bitRate: Double
    /// Whether its pictures have 8 bits a sample and a quarter of the colours, as browsers play them.
    package var isPlain = false
    /// Seconds; 0 if not stated.
    package let duration: Double
  }

  /// Seconds; 0 if not stated.
  package let duration: Double
  /// The pictures and sounds, in the file's order, without cover pictures.
  package let tracks: [Track]

  /// The size of the pictures as they are shown; nil for a sound.
  package var displayedSize: PixelSize? {
    tracks.first { $0.isVideo }.flatMap { track in
      track.storedSize.map { track.rotation % 180 == 0 ? $0 : PixelSize(width: $0.height, height: $0.width) }
    }
  }
}

/// How a film is made of another one.
package struct FilmExport: Sendable {
  /// What becomes of the pictures.
  package enum Pictures: Sendable, Hashable {
    /// The tracks are copied as they are.
    case copied
    /// Encoded anew, H.264 or HEVC, no larger than a size with its longer side wide; nil: as large as they are.
    case encoded(isHEVC: Bool, quality: Int, largest: PixelSize?)
    /// Left out.
    case none
  }

  /// The film.
  package var source: URL
  /// Where the result goes; nothing is there yet.
  package var target: URL
  /// ffmpeg's name of the container: `mov`, `mp4`, `ipod`.
  package var container: String
  /// What becomes of the pictures.
  package var pictures: Pictures
  /// The part that is taken, seconds; nil: all of it.
  package var part: (start: Double, duration: Double)?
  /// Whether the index of the file comes first, so that it can be played while it is loaded.
  package var isIndexFirst = false
  /// Whether what the film says about itself, its place included, stands in the result.
  package var keepsMetadata = true
  /// Is given the share that is done, from 0 to 1.
  package var progress: @Sendable (Double) -> Void = { _ in }
  /// Whether the request was cancelled; then the work is abandoned.
  package var isCancelled: @Sendable () -> Bool = { false }

  /// A request for a video.
  package init(source: URL, target: URL, container: String, pictures: Pictures) {
    (self.source, self.target, self.container, self.pictures) = (source, target, container, pictures)
  }
}

/// What ffprobe and ffmpeg are given.
enum Films {
  /// Containers that hold their own bytes; ffmpeg's names.
  private static let containers =
    "mov,mp4,m4a,3gp,3g2,mj2,avi,mpegts,mpeg,mpegvideo,matroska,webm,asf,dv,mp3,wav,aiff,caf,aac,amr,flac,ogg,h264,hevc"

  /// What keeps a program to the file and its own bytes.
  static let limits = ["-protocol_whitelist", "file", "-format_whitelist", containers]

  /// The arguments that name a film as ffmpeg's input.
  static func inputArguments(_ path: String) -> [String] { limits + ["-i", "file:\(path)"] }

  /// The pictures that are read: the first track that is not a cover, whose size is the one that is checked.
  static let pictures = "0:V:0"

  /// The arguments that make a JPEG of one picture of a film. Its samples are what those of a JPEG are, BT.601 in full
  /// range: ffmpeg 5 keeps the matrix of the film if it is not asked, and a green of BT.709 becomes (20, 255, 9).
  static func pictureArguments(_ target: String) -> [String] {
    [
      "-map", pictures, "-frames:v", "1", "-vf", "scale=out_color_matrix=bt601:out_range=full", "-pix_fmt", "yuvj444p",
      "-q:v", "1", "-f", "mjpeg", target,
    ]
  }

  /// ffprobe's question.
  static func question(_ path: String) -> [String] {
    limits + [
      "-v", "error", "-print_format", "json", "-show_entries",
      "format=duration:stream=index,codec_type,codec_name,pix_fmt,width,height,duration,avg_frame_rate,bit_rate"
        + ":stream_side_data=rotation:stream_tags=rotate:stream_disposition=attached_pic",
      "file:\(path)",
    ]
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  // The names are ffprobe's.
  private struct Answer: Decodable {
    struct Stream: Decodable {
      struct Side: Decodable { var rotation: Double? }
      struct Disposition: Decodable { var attached_pic: Int? }
      var index: Int?
      var codec_type: String?
      var codec_name: String?
      var pix_fmt: String?
      var width: Int?
      var height: Int?
      var duration: String?
      var avg_frame_rate: String?
      var bit_rate: String?
      var side_data_list: [Side]?
      var disposition: Disposition?

      var track: FilmDescription.Track? {
        guard let index, codec_type == "video" || codec_type == "audio", disposition?.attached_pic != 1 else {
          return nil
        }
        let isVideo = codec_type == "video"
        // ffprobe counts against the clock.
        let turn = side_data_list?.compactMap(\.rotation).first.map { Int(exactly: (-$0).rounded()) ?? 0 } ?? 0
        let sides = (width ?? 0, height ?? 0)
        let isSized = isVideo && (1...1 << 20).contains(sides.0) && (1...1 << 20).contains(sides.1)
        return FilmDescription.Track(
          index: index, isVideo: isVideo, codec: codec_name ?? "",
          storedSize: isSized ? PixelSize(width: sides.0, height: sides.1) : nil,
          rotation: ((turn % 360 + 360) % 360) / 90 * 90, frameRate: isVideo ? Films.ratio(avg_frame_rate) : 0,
          bitRate: Films.number(bit_rate), isPlain: ["yuv420p", "yuvj420p"].contains(pix_fmt),
          duration: Films.number(duration))
      }
    }
    struct Format: Decodable { var duration: String? }
    var streams: [Stream]?
    var format: Format?
  }

  /// A number of the file's, as the file states it: what is not a length of anything is 0.
  private static func number(_ text: String?) -> Double {
    text.flatMap(Double.init).flatMap { (0...1e12).contains($0) ? $0 : nil } ?? 0
  }

  private static func ratio(_ text: String?) -> Double {
    let parts = (text ?? "").split(separator: "/").map { number(String($0)) }
    return parts.count == 2 && parts[1] > 0 ? parts[0] / parts[1] : 0
  }

  /// What ffprobe's answer says; nil if it has neither pictures nor sound.
  static func description(_ answer: String) -> FilmDescription? {
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(answer.utf8)) else { return nil }
    let tracks = (answer.streams ?? []).compactMap(\.track)
    guard !tracks.isEmpty else { return nil }
    let stated = number(answer.format?.duration)
    return FilmDescription(
      duration: stated > 0 ? stated : tracks.map(\.duration).max() ?? 0, tracks: tracks)
  }

  /// ffmpeg's arguments for an export, to a file, of a film that is shown in a size.
  static func arguments(_ export: FilmExport, to target: String, shownIn size: PixelSize?) -> [String] {
    var words = ["-nostdin", "-v", "error", "-y", "-progress", "pipe:1", "-nostats"]
    if let part = export.part { words += ["-ss", "\(part.start)", "-t", "\(part.duration)"] }
    words += inputArguments(WorkFolder.real(export.source))
    switch export.pictures {
    case .copied: words += ["-map", "\(pictures)?", "-map", "0:a?", "-c", "copy"]
    case .none: words += ["-map", "0:a:0", "-vn", "-c:a", "aac"]
    case .encoded(let isHEVC, let quality, let largest):
      // Of a sound with a cover only the sound is kept.
      words += ["-map", "\(pictures)?", "-map", "0:a?", "-c:v", isHEVC ? "libx265" : "libx264", "-crf", "\(quality)"]
      words += ["-pix_fmt", "yuv420p", "-c:a", "aac"] + (isHEVC ? ["-tag:v", "hvc1"] : [])
      let scaled = fitted(size, into: largest)
      words += ["-vf", scaled.map { "scale=\($0.width):\($0.height)" } ?? "scale=trunc(iw/2)*2:trunc(ih/2)*2"]
    }
    let order = export.isIndexFirst ? "+faststart" : ""
    words +=
      export.keepsMetadata
      ? ["-map_metadata", "0", "-movflags", order + "+use_metadata_tags"]
      : ["-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-movflags", order + "+faststart"]
    return words + ["-f", export.container, "file:\(target)"]
  }

  /// A size with even sides, as the encoders want it, that a film is not enlarged to.
  private static func fitted(_ size: PixelSize?, into box: PixelSize?) -> PixelSize? {
    guard let size, let box else { return nil }
    let isUpright = size.height > size.width
    let (width, height) = isUpright ? (box.height, box.width) : (box.width, box.height)
    let share = min(1, Double(width) / Double(size.width), Double(height) / Double(size.height))
    func even(_ side: Int) -> Int { max(2, Int((Double(side) * share / 2).rounded()) * 2) }
    return PixelSize(width: even(size.width), height: even(size.height))
  }

  /// The seconds that ffmpeg has written, by the newest line of its progress.
  static func written(_ portion: String) -> Double? {
    portion.split(separator: "\n").last { $0.hasPrefix("out_time_us=") }
      .flatMap { Double($0.dropFirst("out_time_us=".count)) }.map { $0 / 1e6 }
  }
}
