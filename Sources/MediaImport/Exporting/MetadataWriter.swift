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
// Invariant: the result says of the fields what the packet says, under whatever tags the source had them. A keyword that
// was removed would otherwise come back from a list of another program, and a place from EXIF. Paths of keywords that
// are there still (`Nature|Sea`) are read from the source and stay; a result that states a removed place fails.
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

  /// What the content of a file is named by, besides its fields: another number where they are written in another way.
  static let revision = 2

  /// Makes a file that says of the fields of a packet what the packet says, and nothing else.
  /// - Parameters:
  ///   - packet: the fields; one without a value is removed, also where the source has it under other tags.
  ///   - source: an absolute path without line feeds.
  ///   - result: the name of the new file in the folder; nothing has it.
  ///   - asset: the asset of a picture or a film, of which the source is no sidecar: what most programs read first, the
  ///     EXIF of a picture and the coordinates of a film, are written, too.
  ///   - isPicture: whether the source is a picture.
  /// - Throws: ``ImportError`` `toolFailed` where exiftool cannot write such a file, or cannot remove its place; as
  ///   exiftool's other failures.
  func write(
    _ packet: XMPPacket, from source: String, to result: String, of asset: Asset? = nil, isPicture: Bool = false,
    isCancelled: @escaping () -> Bool
  ) throws(ImportError) {
    let words = "\(folder)/\(result).fields"
    let target = "\(folder)/\(result)"
    var packet = packet
    var paths: [String] = []
    if packet.filled.contains(.keywords) {
      let tags = try read(KeywordPaths.tags, of: source, isCancelled)
      packet = packet.adding(KeywordPaths(tags, of: packet.keywords))
      paths = KeywordPaths.tags
    }
    guard FileManager.default.createFile(atPath: words, contents: Data(packet.bytes)) else {
      throw ImportError(.cannotStore, path: words, "\(words) cannot be written; check the free space.")
    }
    defer { unlink(words) }
    let ordered = MetadataField.allCases.filter { packet.fields.contains($0) }
    let empty = ordered.filter { !packet.filled.contains($0) }
    let copied = ordered.filter { packet.filled.contains($0) }.flatMap(\.tags) + paths
    // What is written anew is removed first: a list would otherwise keep what it had.
    var arguments = (ordered.flatMap { $0.tags + $0.otherTags } + empty.flatMap(\.tagsOfValue)).map { "-\($0)=" }
    arguments += ["-tagsFromFile", words] + copied.map { "-\($0)" }
    if let asset {
      arguments += isPicture ? asset.exifArguments(packet.fields) : asset.filmArguments(packet.fields)
    }
    try process.execute(arguments + ["-o", target, source], about: FilePath(source), isCancelled: isCancelled)
    guard FileStamp(of: target) != nil else {
      throw ImportError(
        .toolFailed, path: source, "exiftool cannot write metadata into \(source), or into a file of its kind.")
    }
    guard empty.contains(.place) else { return }
    let tags = try read(["GPSLatitude", "GPSLongitude"], of: target, isCancelled)
    guard Limits.location(Location(tags)) == nil else {
      throw ImportError(
        .toolFailed, path: source,
        "exiftool cannot remove the place that \(source) states; export the asset without embedded metadata.")
    }
  }

  /// The values of some tags of a file; none where exiftool cannot read it.
  private func read(
    _ tags: [String], of path: String, _ isCancelled: @escaping () -> Bool
  ) throws(ImportError) -> ExifTags {
    let answer = try process.execute(
      ["-j", "-n", "-G1"] + tags.map { "-\($0)" } + [path], about: FilePath(path), isCancelled: isCancelled)
    return ExifTags(json: answer) ?? ExifTags()
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

  /// The place as films have it, for exiftool; digits only.
  fileprivate func filmArguments(_ fields: Set<MetadataField>) -> [String] {
    guard fields.contains(.place), let location else { return [] }
    let numbers = [location.latitude, location.longitude] + (location.altitude.map { [$0] } ?? [])
    let text = numbers.map { "\($0)" }.joined(separator: " ")
    return ["-Keys:GPSCoordinates#=\(text)", "-UserData:GPSCoordinates#=\(text)"]
  }
}
