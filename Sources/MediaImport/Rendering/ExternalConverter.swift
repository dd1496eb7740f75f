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
// What a photo is, how large it may be, which picture of a RAW file counts, and what is done with a photo that libvips
// does not read, is the renderer's (`MediaRenderer`). The JPEG in a RAW file is not encoded again; it gets the metadata
// of the file, without those of the maker, which say where in the file their own previews lie.
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
    /// The longest one program may take; reading the size, extracting the picture of a RAW file and decoding by ffmpeg
    /// may take a minute at most.
    public var timePerFile: Duration = .seconds(900)
    /// The address space of one program, in bytes.
    public var memoryByteCount = 4 << 30

    /// The usual limits: 15 minutes, 4 GiB.
    public init() {}
  }

  private let programs: Programs
  private let limits: Limits
  private let renderer: MediaRenderer

  /// Prepares to convert; programs are looked for when they are needed.
  /// - Parameters:
  ///   - searchPath: folders with colons between them; nil: the environment's `PATH`.
  ///   - limits: what one conversion may cost.
  public init(searchPath: String? = nil, limits: Limits = Limits()) {
    (programs, self.limits) = (Programs(searchPath: searchPath), limits)
    var rendering = MediaRenderer.Limits()
    rendering.memoryByteCount = limits.memoryByteCount
    rendering.timePerPicture = min(rendering.timePerPicture, limits.timePerFile)
    renderer = MediaRenderer(searchPath: searchPath, limits: rendering)
  }

  /// Runs programs that may read a file or folder, and write into a folder what is made of a file.
  private func toolRun(
    of source: URL, reading input: String, writing output: String? = nil,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) -> ToolRun {
    let limits = ToolLimits(
      timePerFile: limits.timePerFile, memoryByteCount: limits.memoryByteCount,
      fileByteCount: renderer.fileByteCount(of: source))
    let sandbox = Sandbox(readable: [input], writable: output.map { [$0] } ?? [])
    return ToolRun(
      limits: limits, isCancelled: isCancelled, sandbox: sandbox, environment: MediaRenderer.environment)
  }

  /// Whether the pictures of a film are H.264, by what exiftool reads of it.
  /// - Throws: ``ImportError``: `toolMissing`, `toolFailed`, `toolTimeout`.
  public func isCompatible(_ file: URL, type: String) throws -> Bool {
    let path = WorkFolder.real(file)
    let run = toolRun(of: file, reading: path) { false }
    let answer = try run.output(of: try exiftool(), ["-q", "-q", "-a", "-s3", "-CompressorID", path])
    let encodings = answer.split { $0.isWhitespace }
    return !encodings.isEmpty && encodings.allSatisfy { ["avc1", "avc3"].contains($0) }
  }

  /// Whether a program that encodes the type is installed, and what reads the size: exiftool for photos and ffprobe for
  /// films; and exiftool for films of one type, of which it finds the encoding.
  public func canConvert(_ sourceType: String, to targetType: String) -> Bool {
    guard Self.tools(sourceType, targetType).contains(where: { programs.find($0.program) != nil }) else { return false }
    var readers = [targetType == Self.photoType ? "exiftool" : "ffprobe"]
    if sourceType == targetType { readers.append("exiftool") }
    return readers.allSatisfy { programs.find($0) != nil }
  }

  /// Encodes with the first program that is installed, and takes metadata out with exiftool.
  /// - Throws: ``ImportError``: `toolMissing` with the names of programs to install; `toolFailed`, also for what is not
  ///   a photo or film and for pictures that are too large; `toolTimeout`; `toolCrashed` and `toolOutputTooLarge` of
  ///   the exiftool that reads the size; `vanished` and `unreadable` of the source, `cancelled` while it is copied. An
  ///   error of the file system if there is no folder for the programs, or the result cannot be put in its place.
  public func convert(_ conversion: RepresentationConversion) throws {
    // Found before hours of encoding.
    if !conversion.metadataOptions.isEmpty { _ = try exiftool() }
    let folder = try renderer.root.folder()
    let run = toolRun(
      of: conversion.source, reading: folder.input, writing: folder.output, conversion.isCancelled)
    var made = try folder.take(
      conversion.source, as: Self.name("source", like: conversion.source), isCancelled: conversion.isCancelled)
    let ending = UniformType.filenameExtension(of: conversion.targetType)
    if conversion.isEncoding {
      made = try encode(conversion, made, to: folder.file("target.\(ending)"), in: folder, run)
    }
    if !conversion.isEncoding || !conversion.metadataOptions.isEmpty {
      let target = folder.file("stripped.\(ending)")
      try strip(made, to: target, conversion, run)
      made = try folder.checked(target, by: "exiftool")
    }
    try folder.hand(made, to: conversion.target)
  }

  /// A name with the ending of another one, if that is a plain one.
  private static func name(_ name: String, like file: URL) -> String {
    let ending = file.pathExtension
    return ending.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) } && !ending.isEmpty
      ? "\(name).\(ending)" : name
  }

  // MARK: Encoding

  /// The type that photos become.
  private static let photoType = "public.jpeg"

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
        "-map", Films.pictures, "-map", "0:a?", "-c:v", "libx264", "-crf", "20",
        "-pix_fmt", "yuv420p", "-c:a", "aac", "-map_metadata", "0", "-movflags", "+faststart+use_metadata_tags", target,
      ]
    }
  ]

  /// The programs that encode a type as another, the preferred one first.
  private static func tools(_ sourceType: String, _ targetType: String) -> [Tool] {
    let isHighEfficiency = ["public.heic", "public.heif", "public.heics", "public.heifs", "public.avif"]
      .contains(sourceType)
    return isHighEfficiency ? highEfficiencyImages : targetType == photoType ? images : movies
  }

  /// Encodes a film, or a photo within the limits of the renderer.
  /// - Returns: the path of what was made.
  private func encode(
    _ conversion: RepresentationConversion, _ source: String, to target: String, in folder: borrowing WorkFolder,
    _ run: ToolRun
  ) throws -> String {
    let chosen = try tool(for: conversion)
    guard conversion.targetType == Self.photoType else {
      let film = URL(filePath: source)
      try renderer.check(try renderer.film(at: film, isCancelled: conversion.isCancelled), at: film)
      return try encode(source, with: chosen, to: target, in: folder, run)
    }
    let photo = try renderer.photo(inTaken: source, in: folder, conversion.isCancelled)
    let type = photo.description.uniformTypeIdentifier
    if photo.isOfRAW, type == Self.photoType { return try tagged(photo.path, like: source, in: folder, run) }
    let made: String
    var isUpright = false
    do {
      made = try encode(photo.path, with: chosen, to: target, in: folder, run)
      if !photo.isOfRAW { return made }
    } catch let error as ImportError where error.code == .toolFailed && !error.isPassing && !conversion.isCancelled() {
      made = try encodeDecoded(photo.path, after: error, to: target, in: folder, run)
      // Decoders of JPEG XL turn the picture themselves.
      isUpright = !photo.isOfRAW && type == "public.jpeg-xl"
    }
    return try tagged(made, like: source, isUpright: isUpright, in: folder, run)
  }

  /// Encodes a photo that a program failed on by way of ffmpeg.
  /// - Throws: why that program failed, if ffmpeg or what encodes its picture is missing, or ffmpeg fails by itself as
  ///   well.
  private func encodeDecoded(
    _ photo: String, after failure: ImportError, to target: String, in folder: borrowing WorkFolder, _ run: ToolRun
  ) throws -> String {
    // heif-convert reads no PNG.
    guard let chosen = installed(Self.images) else { throw failure }
    let decoded: String
    do {
      decoded = try renderer.decoded(photo, in: folder, isTurning: false, run.isCancelled)
    } catch let error as ImportError where error.isPassing {
      throw error
    } catch {
      throw failure
    }
    return try encode(decoded, with: chosen, to: target, in: folder, run)
  }

  private func encode(
    _ source: String, with chosen: (tool: Tool, program: String), to target: String,
    in folder: borrowing WorkFolder, _ run: ToolRun
  ) throws -> String {
    _ = try run.output(of: chosen.program, chosen.tool.arguments(source, target))
    guard access(target, R_OK) == 0 else {
      throw ImportError(
        .toolFailed, path: chosen.program, "\(chosen.program) exited without an error and without a file.")
    }
    return try folder.checked(target, by: chosen.program)
  }

  /// The first of the programs that is installed.
  private func installed(_ tools: [Tool]) -> (tool: Tool, program: String)? {
    for tool in tools {
      if let program = programs.find(tool.program) { return (tool, program) }
    }
    return nil
  }

  /// The first program that is installed.
  private func tool(for conversion: RepresentationConversion) throws -> (tool: Tool, program: String) {
    let tools = Self.tools(conversion.sourceType, conversion.targetType)
    if let found = installed(tools) { return found }
    let names = tools.map(\.program).joined(separator: ", ")
    let package = conversion.targetType == Self.photoType ? "libvips-tools" : "ffmpeg"
    throw ImportError(
      .toolMissing, path: tools[0].program,
      "converting \(conversion.sourceType) needs \(tools.count > 1 ? "one of " : "")\(names), and "
        + "\(tools.count > 1 ? "none of them" : "it") is not on PATH. Install it with: apt-get install \(package)")
  }

  /// A copy of a picture with the metadata of the file that it was made of, but what is true of that file only.
  /// - Parameter isUpright: whether the picture is turned already, so that it gets no orientation.
  private func tagged(
    _ made: String, like source: String, isUpright: Bool = false, in folder: borrowing WorkFolder, _ run: ToolRun
  ) throws -> String {
    let target = folder.file("tagged.jpg")
    let tags = ["-all:all", "--MakerNotes", "--ExifImageWidth", "--ExifImageHeight"]
    let turn = isUpright ? ["--Orientation"] : []
    _ = try run.output(
      of: try exiftool(),
      ["-q", "-q", "-api", "LargeFileSupport=1", "-TagsFromFile", source] + tags + turn + ["-o", target, made])
    return try folder.checked(target, by: "exiftool")
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
