public import Foundation
internal import Glibc
public import LibraryPicking
internal import PhotoLedger

// Other representations of photos and films, by programs that are looked for on PATH when they are needed.
//
//     source ──▶ encode, if the bytes must change ──▶ strip, if something must not be in them ──▶ target
//                heif-convert, vips, magick,          exiftool, then exiftool again to see
//                convert; ffmpeg for films            that nothing is left
//
// Each runs as a child in a sandbox with limits on time and memory, reads a copy, and is ended when it is cancelled.
// An exit status other than 0 is a failure whatever was written: half a film would look like a whole one.
//
// Metadata that should be removed and are still found afterwards are a failure too, and the bytes are not delivered:
// exiftool cannot write every format that it reads, and a video may have its locations in a separate track.

/// Converts picked items and takes metadata out of them, with the programs that are installed.
public struct ExternalConverter: RepresentationConverter {
  /// What one conversion may cost.
  public struct Limits: Sendable {
    /// The longest one program may take.
    public var timePerFile: Duration = .seconds(900)
    /// The address space of one program, in bytes.
    public var memoryByteCount = 4 << 30

    /// The usual limits: 15 minutes, 4 GiB.
    public init() {}
  }

  private let programs: Programs
  private let limits: Limits

  /// Prepares to convert; programs are looked for when they are needed.
  /// - Parameters:
  ///   - searchPath: folders with colons between them; nil: the environment's `PATH`.
  ///   - limits: what one conversion may cost.
  public init(searchPath: String? = nil, limits: Limits = Limits()) {
    (programs, self.limits) = (Programs(searchPath: searchPath), limits)
  }

  /// Runs programs that may read a file, and write into a folder.
  private func toolRun(
    reading input: String, writing output: String? = nil, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> ToolRun {
    ToolRun(
      limits: ToolLimits(timePerFile: limits.timePerFile, memoryByteCount: limits.memoryByteCount),
      isCancelled: isCancelled, sandbox: Sandbox(readable: [input], writable: output.map { [$0] } ?? []))
  }

  /// Whether the pictures of a film are H.264, by what exiftool reads of it.
  /// - Throws: ``ImportError``: `toolMissing`, `toolFailed`, `toolTimeout`.
  public func isCompatible(_ file: URL, type: String) throws -> Bool {
    let path = WorkFolder.real(file)
    let run = toolRun(reading: path) { false }
    let answer = try run.output(of: try exiftool(), ["-q", "-q", "-a", "-s3", "-CompressorID", path])
    let encodings = answer.split { $0.isWhitespace }
    return !encodings.isEmpty && encodings.allSatisfy { ["avc1", "avc3"].contains($0) }
  }

  /// Whether a program that encodes the type is installed, and for films of one type exiftool, which finds the
  /// encoding.
  public func canConvert(_ sourceType: String, to targetType: String) -> Bool {
    guard Self.tools(sourceType, targetType).contains(where: { programs.find($0.program) != nil }) else { return false }
    return sourceType != targetType || programs.find("exiftool") != nil
  }

  /// Encodes with the first program that is installed, and takes metadata out with exiftool.
  /// - Throws: ``ImportError``: `toolMissing` with the names of programs to install; `toolFailed`, `toolTimeout`.
  public func convert(_ conversion: RepresentationConversion) throws {
    // Found before hours of encoding.
    if !conversion.metadataOptions.isEmpty { _ = try exiftool() }
    let folder = try Self.root.folder()
    let run = toolRun(reading: folder.input, writing: folder.output, conversion.isCancelled)
    var made = try folder.take(conversion.source, as: Self.name("source", like: conversion.source))
    let ending = UniformType.filenameExtension(of: conversion.targetType)
    if conversion.isEncoding {
      let target = folder.file("target.\(ending)")
      try encode(conversion, made, to: target, run)
      made = try folder.checked(target, by: conversion.targetType)
    }
    if !conversion.isEncoding || !conversion.metadataOptions.isEmpty {
      let target = folder.file("stripped.\(ending)")
      try strip(made, to: target, conversion, run)
      made = try folder.checked(target, by: "exiftool")
    }
    try folder.hand(made, to: conversion.target)
  }

  private static let root = WorkRoot()

  /// A name with the ending of another one, if that is a plain one.
  private static func name(_ name: String, like file: URL) -> String {
    let ending = file.pathExtension
    return ending.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) } && !ending.isEmpty
      ? "\(name).\(ending)" : name
  }

  // MARK: Encoding

  /// A program with its arguments.
  private struct Tool {
    let program: String
    let arguments: @Sendable (_ source: String, _ target: String) -> [String]
  }

  private static let images = [
    Tool(program: "vips") { ["copy", $0, "\($1)[Q=92]"] },
    Tool(program: "magick") { [$0, "-quality", "92", $1] },
    Tool(program: "convert") { [$0, "-quality", "92", $1] },
  ]

  /// Before the others, which may have been built without the decoder.
  private static let highEfficiencyImages = [Tool(program: "heif-convert") { ["-q", "92", $0, $1] }] + images

  private static let movies = [
    Tool(program: "ffmpeg") { source, target in
      [
        "-nostdin", "-v", "error", "-y",
      ] + Films.inputArguments(source) + [
        "-map", "0:v:0", "-map", "0:a?", "-c:v", "libx264", "-crf", "20",
        "-pix_fmt", "yuv420p", "-c:a", "aac", "-map_metadata", "0", "-movflags", "+faststart+use_metadata_tags", target,
      ]
    }
  ]

  /// The programs that encode a type as another, the preferred one first.
  private static func tools(_ sourceType: String, _ targetType: String) -> [Tool] {
    let isHighEfficiency = ["public.heic", "public.heif", "public.heics", "public.heifs", "public.avif"]
      .contains(sourceType)
    return isHighEfficiency ? highEfficiencyImages : targetType == "public.jpeg" ? images : movies
  }

  private func encode(
    _ conversion: RepresentationConversion, _ source: String, to target: String, _ run: ToolRun
  ) throws {
    let tools = Self.tools(conversion.sourceType, conversion.targetType)
    for tool in tools {
      guard let program = programs.find(tool.program) else { continue }
      _ = try run.output(of: program, tool.arguments(source, target))
      guard access(target, R_OK) == 0 else {
        throw ImportError(.toolFailed, path: program, "\(program) exited without an error and without a file.")
      }
      return
    }
    let names = tools.map(\.program).joined(separator: ", ")
    let package = conversion.targetType == "public.jpeg" ? "libvips-tools" : "ffmpeg"
    throw ImportError(
      .toolMissing, path: tools[0].program,
      "converting \(conversion.sourceType) needs \(tools.count > 1 ? "one of " : "")\(names), and "
        + "\(tools.count > 1 ? "none of them" : "it") is not on PATH. Install it with: apt-get install \(package)")
  }

  // MARK: Stripping

  /// The tags in which captions, titles, keywords and names of people are written, in whatever group.
  private static let captions = [
    "ImageDescription", "UserComment", "Description", "Caption-Abstract", "Caption", "LocalCaption", "Title",
    "ObjectName", "Headline", "Comment", "XPTitle", "XPComment", "XPSubject", "AltTextAccessibility",
    "ExtDescrAccessibility", "Information", "Keywords", "Keyword", "Subject", "HierarchicalSubject",
    "HierarchicalKeywords*", "XPKeywords", "LastKeywordXMP", "LastKeywordIPTC", "TagsList", "CatalogSets",
    "SupplementalCategories", "Category", "PersonInImage", "RegionPersonDisplayName", "RegionName",
  ]

  private func strip(
    _ source: String, to target: String, _ conversion: RepresentationConversion, _ run: ToolRun
  ) throws {
    var tags: [String] = []
    if conversion.metadataOptions.contains(.removeLocation) { tags += ["Location:all", "GPS:all", "GPS*"] }
    if conversion.metadataOptions.contains(.removeCaptions) { tags += Self.captions }
    let program = try exiftool()
    let quiet = ["-q", "-q", "-api", "LargeFileSupport=1"]
    _ = try run.output(of: program, quiet + tags.map { "-\($0)=" } + ["-o", target, source])
    let left = try run.output(of: program, quiet + ["-a", "-G1", "-s", "-ee3"] + tags.map { "-\($0)" } + [target])
    guard left.allSatisfy(\.isWhitespace) else {
      let names = left.split(separator: "\n").prefix(5).map { $0.prefix { $0 != ":" }.split { $0.isWhitespace } }
      throw ImportError(
        .toolFailed, path: program[0],
        "exiftool could not remove all of it from a \(conversion.targetType) file; left are "
          + names.map { $0.joined(separator: " ") }.joined(separator: ", "))
    }
  }

  /// exiftool and the arguments that come first: no configuration file of the user or the system, which is Perl code.
  private func exiftool() throws -> [String] {
    [try programs.exiftool(for: "it removes metadata from photos and videos"), "-config", ""]
  }
}
