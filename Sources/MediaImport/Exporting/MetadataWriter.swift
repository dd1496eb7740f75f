internal import Foundation
internal import Glibc
internal import PhotoLedger

// Fields of ours in files of others', by exiftool.
//
//     source ──exiftool──▶ result        the source is read and stays; the result is a new file in the work folder
//       ▲ the fields and nothing else, from a packet of ours in the work folder
//
// exiftool runs in its sandbox: it reads, and writes in the work folder alone. Values reach it in a packet, never as
// arguments; names of files are ours. For pictures the date and the place are written as EXIF too, since that is what
// most programs read first.
//
// Rejected: writing in place (`-overwrite_original`), which leaves no proved source when the program is ended midway.

/// Writes fields of assets into copies of files. Each process is used by one thread at a time.
final class MetadataWriter {
  private let process: ExifToolProcess
  /// The only folder that is written to.
  let folder: String

  /// - Parameter folder: an absolute path that is there.
  /// - Throws: ``ImportError`` `toolMissing` without exiftool.
  init(folder: String, limits: ExifToolLimits, searchPath: String?) throws(ImportError) {
    self.folder = folder
    process = ExifToolProcess(
      executable: try ExifTool.find(searchPath), limits: limits,
      sandbox: Sandbox(readable: ["/"], writable: [folder]),
      common: ["-q", "-q", "-m", "-api", "LargeFileSupport=1"])
  }

  /// Makes a file that is a source with fields changed.
  /// - Parameters:
  ///   - source: an absolute path without line feeds.
  ///   - result: the name of the new file in the folder; nothing has it.
  ///   - packet: the values; a field without one in it is removed from the result.
  ///   - fields: which are changed.
  ///   - picture: the asset of a picture, whose date and place are written as EXIF, too.
  /// - Throws: ``ImportError`` `toolFailed` where exiftool cannot write such a file; as exiftool's other failures.
  func write(
    _ fields: Set<MetadataField>, of packet: XMPPacket, from source: String, to result: String,
    picture: Asset? = nil, isCancelled: @escaping () -> Bool
  ) throws(ImportError) {
    let words = "\(folder)/\(result).fields"
    let target = "\(folder)/\(result)"
    guard FileManager.default.createFile(atPath: words, contents: Data(packet.bytes)) else {
      throw ImportError(.cannotStore, path: words, "\(words) cannot be written; check the free space.")
    }
    defer { unlink(words) }
    let ordered = MetadataField.allCases.filter { fields.contains($0) }
    let removed = ordered.filter { !packet.filled.contains($0) }.flatMap(\.tags)
    let copied = ordered.filter { packet.filled.contains($0) }.flatMap(\.tags)
    // What is written anew is removed first: a list would otherwise keep what it had.
    var arguments = (removed + copied).map { "-\($0)=" }
    arguments += ["-tagsFromFile", words] + copied.map { "-\($0)" }
    if let picture { arguments += picture.exifArguments(fields) }
    try process.execute(arguments + ["-o", target, source], about: FilePath(source), isCancelled: isCancelled)
    guard FileStamp(of: target) != nil else {
      throw ImportError(
        .toolFailed, path: source, "exiftool cannot write metadata into \(source), or into a file of its kind.")
    }
  }
}

extension Asset {
  /// The date and place as EXIF, for exiftool; digits only.
  fileprivate func exifArguments(_ fields: Set<MetadataField>) -> [String] {
    var arguments: [String] = []
    if fields.contains(.date), let clock = wallClock {
      let date = "\(clock.year):\(clock.month):\(clock.day) \(clock.hour):\(clock.minute):\(clock.second)"
      arguments.append("-EXIF:DateTimeOriginal=\(date)")
      arguments.append("-EXIF:OffsetTimeOriginal=\(xmpOffset == "Z" ? "+00:00" : xmpOffset)")
      arguments.append("-EXIF:SubSecTimeOriginal=\(clock.fraction.dropFirst())")
    }
    if fields.contains(.place), let location {
      arguments.append("-EXIF:GPSLatitude=\(abs(location.latitude))")
      arguments.append("-EXIF:GPSLatitudeRef=\(location.latitude < 0 ? "S" : "N")")
      arguments.append("-EXIF:GPSLongitude=\(abs(location.longitude))")
      arguments.append("-EXIF:GPSLongitudeRef=\(location.longitude < 0 ? "W" : "E")")
      arguments.append("-EXIF:GPSAltitude=\(location.altitude.map { "\(abs($0))" } ?? "")")
      arguments.append(
        "-EXIF:GPSAltitudeRef\(location.altitude.map { "#=\($0 < 0 ? 1 : 0)" } ?? "=")")
    }
    return arguments
  }
}
