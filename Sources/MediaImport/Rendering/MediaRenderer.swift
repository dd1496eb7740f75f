// Renders pictures of photos and videos, and videos, with the installed programs. One place for everything that needs
// pixels: the image manager of `Photos`, its stand-ins for images and videos, and a server's renditions.
//
//     film ──── ffmpeg: one frame ───────────────┐
//     RAW ───── exiftool: the embedded preview ──┼──▶ exiftool: size, turn ──▶ vipsthumbnail ──▶ vips crop ──▶ bytes
//     photo ─────────────────────────────────────┘         │                     │
//                                                          │                     └─ what it cannot decode: ffmpeg first
//                                                          └─ too large: refused before anything is decoded, and so
//                                                             is a film, by the size that ffprobe reads
//
// The files are hostile. Each program is a child in a sandbox (`Sandbox`) that can read the one file and write into the
// one folder (`WorkFolder`), with limits on time, memory, and the size of what it writes; loaders of libvips that are
// not made for such files are off (VIPS_BLOCK_UNTRUSTED); ffmpeg opens only containers that hold their own bytes
// (`Films`). A file that hangs a decoder costs its time; one that crashes it is an error.
//
// The size of the result is decided here, from the upright size that exiftool reads, and not by the decoder, so that a
// caller can rely on it to the pixel:
//
//     fit     the whole region is inside the size: one side is equal, the other smaller
//     fill    the size is inside the region: one side is equal, the other larger
//     exact   as asked, cut in the middle where the region is to fill the size; only this one enlarges
//
// A result is upright, sRGB, and holds no metadata. How many work at the same time is the caller's: each takes a core.
//
// Rejected: linking libvips and libav, since a decoder's bug would be the process's; asking the decoder for the size,
// since that decodes first.

package import Foundation
internal import Glibc
internal import PhotoLedger
internal import Synchronization

/// Makes pictures and films of files, and says what they are, with the programs that are installed.
package final class MediaRenderer: Sendable {
  /// What one step may cost.
  package struct Limits: Sendable {
    /// The longest that one program may take for a picture or a question.
    package var timePerPicture: Duration = .seconds(60)
    /// The longest that the export of a film may take.
    package var timePerFilm: Duration = .seconds(3600)
    /// The address space of one program, in bytes.
    package var memoryByteCount = 4 << 30
    /// The largest file that one program may write for a picture, in bytes.
    package var pictureByteCount = 1 << 30
    /// By how many bytes a film or a conversion may exceed four times its source.
    package var filmByteCount = 1 << 30
    /// The most pixels of a picture that is read or made.
    package var pixelCount = 300_000_000

    /// The usual limits: a minute for a picture, an hour for a film, 4 GiB, pictures of 1 GiB and 300 megapixels, films
    /// of 1 GiB more than four times their source.
    package init() {}
  }

  let programs: Programs
  let limits: Limits
  let root: WorkRoot
  /// Whose exiftool is used; nil: one of its own, which reads work folders only.
  private let probe: ExternalProbe?
  private let tool: OpenTool
  /// By how much the priority of programs is lower than the usual one.
  private let niceness: Int32

  /// An exiftool that stays open, once it is needed.
  private final class OpenTool: Sendable {
    let state = Mutex<(tool: ExifTool, readable: String)?>(nil)
  }

  /// Prepares to render; programs are looked for when they are needed.
  /// - Parameters:
  ///   - searchPath: folders with colons between them; nil: the environment's `PATH`.
  ///   - limits: what one step may cost.
  ///   - workFolder: where the programs' input and output lie meanwhile: a folder in the directory of the library whose
  ///     files are rendered, so that its own need not be copied; nil: the folder for temporary files.
  ///   - probe: shares its exiftool, which reads every file of this user and writes none; nil: one that reads nothing
  ///     but what is rendered.
  package init(
    searchPath: String? = nil, limits: Limits = Limits(), workFolder: URL? = nil, probe: ExternalProbe? = nil
  ) {
    // An exiftool that is shared reads a file where it is; the others are let read it for one run.
    root = WorkRoot(in: workFolder, mayRefer: probe != nil)
    (programs, self.limits) = (Programs(searchPath: searchPath), limits)
    self.probe = probe
    (tool, niceness) = (OpenTool(), 0)
  }

  private init(_ other: MediaRenderer, niceness: Int32) {
    (programs, limits, root) = (other.programs, other.limits, other.root)
    (probe, tool, self.niceness) = (other.probe, other.tool, niceness)
  }

  /// The same renderer for what is made before it is needed: its programs leave the processor to others. The exiftool
  /// that stays open is shared, and has the usual priority.
  package func yielding() -> MediaRenderer { MediaRenderer(self, niceness: 10) }

  /// Whether the program that makes pictures is installed.
  package var makesPictures: Bool { programs.find("vipsthumbnail") != nil }

  /// The names of the programs that are not installed, without which some files have no picture or film.
  package var missingPrograms: [String] {
    ["vipsthumbnail", "ffmpeg", "exiftool", "bwrap"].filter { programs.find($0) == nil }
  }

  // MARK: What files are

  /// What a photo or film says about itself.
  /// - Parameter isCancelled: whether it is no longer wanted; ends the copying of a file for exiftool.
  /// - Throws: ``ImportError``: `toolMissing` without exiftool, `toolTimeout` and `toolCrashed` about the file,
  ///   `cancelled`.
  package func description(of file: URL, isCancelled: () -> Bool = { false }) throws -> StillDescription? {
    if probe != nil { return try description(ofInput: WorkFolder.real(file)) }
    let folder = try root.folder()
    return try description(ofInput: try folder.take(file, isCancelled: isCancelled))
  }

  /// What a file in a work folder says about itself.
  func description(ofInput path: String) throws -> StillDescription? {
    MediaMetadata(try exiftool().tags(of: FilePath(path))).map(StillDescription.init)
  }

  /// The exiftool that stays open; it reads work folders, and nothing else.
  private func exiftool() throws -> ExifTool {
    let path = try programs.exiftool(for: "it reads the size and the orientation of photos")
    if let probe { return try probe.running() }
    let readable = try root.located()
    return try tool.state.withLock { tool in
      if let tool, tool.readable == readable { return tool.tool }
      var limits = ExifToolLimits()
      limits.timePerFile = self.limits.timePerPicture
      let sandbox = Sandbox(readable: [readable])
      let made = try ExifTool(executable: path, processCount: 2, limits: limits, sandbox: sandbox)
      tool = (made, readable)
      return made
    }
  }

  /// What a film is made of.
  /// - Throws: ``ImportError``: `toolMissing` without ffprobe, `toolFailed` for what is not a film, `toolTimeout`.
  package func film(
    at file: URL, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws -> FilmDescription {
    let program = try programs.require(
      "ffprobe", for: "it reads the duration and the size of videos", package: "ffmpeg")
    let run = run(isCancelled, readable: [WorkFolder.real(file)])
    let answer = try run.output(of: program, Films.question(WorkFolder.real(file)))
    guard let film = Films.description(answer) else {
      throw ImportError(
        .toolFailed, path: program, "The file \(file.lastPathComponent) has no video or audio track.")
    }
    return film
  }

  // MARK: Pictures

  /// Of programs that decode with libvips: its loaders that are not made for hostile files are off, and a program takes
  /// one core.
  static let environment = ["VIPS_BLOCK_UNTRUSTED=1", "VIPS_CONCURRENCY=1"]

  /// A picture of a photo or a film.
  /// - Throws: ``ImportError``: `toolMissing` with the program to install; `toolFailed` for what cannot be decoded, or
  ///   is too large; `toolTimeout`; `cancelled` while the photo is copied.
  package func picture(_ request: PictureRequest) throws -> Picture {
    let folder = try root.folder()
    let still = try still(of: request, in: folder)
    guard let described = try description(ofInput: still), let size = described.displayedSize else {
      throw ImportError(
        .toolFailed, path: request.source.path, "The file \(request.source.lastPathComponent) is not a picture.")
    }
    let geometry = PictureGeometry(of: size, for: request)
    for size in [size, geometry.scaled, geometry.window] { try check(size, of: request.source) }
    return try decode(still, request, geometry, in: folder)
  }

  /// Refuses a size that would take too much memory and time.
  func check(_ size: PixelSize, of file: URL) throws {
    guard size.isLarger(than: limits.pixelCount) else { return }
    throw ImportError(
      .toolFailed, path: file.path,
      "A picture of \(size.width)x\(size.height) pixels is too large; the limit is \(limits.pixelCount) pixels.")
  }

  /// Refuses a film whose pictures are too large.
  func check(_ film: FilmDescription, at file: URL) throws {
    if let size = film.displayedSize { try check(size, of: file) }
  }

  /// A file that the decoder of photos reads: the photo, a frame of a film, the preview in a RAW file.
  private func still(of request: PictureRequest, in folder: borrowing WorkFolder) throws -> String {
    if UniformType(identifier: request.sourceType).medium == .video {
      let program = try programs.require("ffmpeg", for: "it extracts pictures from videos", package: "ffmpeg")
      try check(try film(at: request.source, isCancelled: request.isCancelled), at: request.source)
      let frame = folder.file("frame.jpg")
      // Without a seek: a film may be shorter than any step.
      let source = WorkFolder.real(request.source)
      let words = ["-nostdin", "-v", "error", "-y"] + Films.inputArguments(source)
      let run = run(request.isCancelled, readable: [source], writable: folder.output)
      _ = try run.output(of: program, words + Films.pictureArguments(frame))
      return try folder.checked(frame, by: program)
    }
    let source = try folder.take(request.source, isCancelled: request.isCancelled)
    guard request.sourceType.hasSuffix("raw-image") else { return source }
    return try preview(of: source, in: folder, request.isCancelled)
  }

  /// The tags that hold a RAW file's picture as the camera made it, the largest first.
  private static let previews = ["JpgFromRaw", "PreviewImage", "OtherImage", "ThumbnailImage"]

  /// The largest picture in a RAW file, turned upright by its tag.
  func preview(
    of source: String, in folder: borrowing WorkFolder, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> String {
    let program = [try programs.exiftool(for: "it finds the picture in a RAW file"), "-config", "", "-q", "-q"]
    let run = run(isCancelled, readable: try folder.readable(), writable: folder.output)
    _ = try run.output(
      of: program, ["-b"] + Self.previews.map { "-\($0)" } + ["-W!", folder.file("%t%-c.jpg"), source])
    let found = Self.previews.map { folder.file("\($0).jpg") }.filter(WorkFolder.isFile)
    let sized = try found.map { file in
      (file, try description(ofInput: file)?.displayedSize.map { $0.width * $0.height } ?? 0)
    }
    guard let best = sized.max(by: { $0.1 < $1.1 })?.0 else {
      throw ImportError(
        .toolFailed, path: source, "The RAW file has no picture inside, and sensor data is not developed.")
    }
    // The preview stands as the sensor does; how it is turned stands in the RAW file.
    let turn = try description(ofInput: source)?.orientation ?? 1
    _ = try run.output(of: program, ["-n", "-overwrite_original", "-Orientation=\(turn)", best])
    return try folder.checked(best, by: program[0])
  }

  private func decode(
    _ still: String, _ request: PictureRequest, _ geometry: PictureGeometry, in folder: borrowing WorkFolder
  ) throws -> Picture {
    let program = try programs.require("vipsthumbnail", for: "it scales pictures", package: "libvips-tools")
    var run = run(request.isCancelled, readable: try folder.readable(), writable: folder.output)
    run.environment = Self.environment
    let target = folder.file("target\(request.format.ending)")
    let whole = geometry.isCut ? folder.file("whole.png") : target
    let options = geometry.isCut ? "[compression=1,strip]" : request.format.options
    let size = "\(geometry.scaled.width)x\(geometry.scaled.height)!"
    func shrink(_ still: String) throws {
      do {
        _ = try run.output(of: program, [still, "--size", size] + RenditionRecipe.toSRGB + ["-o", whole + options])
      } catch let error as ImportError where error.code == .toolFailed && !error.isPassing && !request.isCancelled() {
        // A grey picture without a profile, which becomes one of three colours.
        _ = try run.output(of: program, [still, "--size", size, "--eprofile", "srgb", "-o", whole + options])
      }
    }
    do { try shrink(still) } catch let error as ImportError where error.code == .toolFailed && !request.isCancelled() {
      guard programs.find("ffmpeg") != nil else { throw error }
      try shrink(try decoded(still, in: folder, request.isCancelled))
    }
    _ = try folder.checked(whole, by: program)
    if geometry.isCut {
      let vips = try programs.require("vips", for: "it crops pictures", package: "libvips-tools")
      let (left, top) = geometry.origin
      let window = [left, top, geometry.window.width, geometry.window.height].map(String.init)
      _ = try run.output(of: vips, ["crop", whole, target + request.format.options] + window)
      _ = try folder.checked(target, by: vips)
    }
    return Picture(data: try Data(contentsOf: URL(filePath: target)), size: geometry.window)
  }

  /// A photo that libvips does not read, as ffmpeg decodes it.
  /// - Parameter isTurning: whether the picture is turned upright where ffmpeg reads its orientation.
  func decoded(
    _ still: String, in folder: borrowing WorkFolder, isTurning: Bool = true,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> String {
    let ffmpeg = try programs.require("ffmpeg", for: "it decodes what libvips does not", package: "ffmpeg")
    let decoded = folder.file("decoded.png")
    let formats = "bmp_pipe,j2k_pipe,psd_pipe,exr_pipe,tiff_pipe,webp_pipe,jpegxl_pipe,jpeg_pipe,png_pipe,gif"
    let input = (isTurning ? [] : ["-noautorotate"]) + ["-i", "file:\(still)"]
    _ = try run(isCancelled, readable: try folder.readable(), writable: folder.output).output(
      of: ffmpeg,
      ["-nostdin", "-v", "error", "-y", "-protocol_whitelist", "file", "-format_whitelist", formats] + input
        + ["-frames:v", "1", "-f", "image2", "-update", "1", decoded])
    return try folder.checked(decoded, by: ffmpeg)
  }

  // MARK: Films

  /// Makes a film of a film, whole or not at all.
  /// - Throws: ``ImportError``: `toolMissing` without ffmpeg or ffprobe, `toolTimeout`; `toolFailed`, also for pictures
  ///   that are too large, and for a result that would be.
  package func export(_ export: FilmExport) throws {
    let film = try film(at: export.source, isCancelled: export.isCancelled)
    try check(film, at: export.source)
    let program = try programs.require("ffmpeg", for: "it writes videos", package: "ffmpeg")
    let length = export.part.map { min($0.duration, max(0, film.duration - $0.start)) } ?? film.duration
    let folder = try root.folder()
    let (made, limit) = (folder.file("film"), fileByteCount(of: export.source))
    let run = ToolRun(
      limits: ToolLimits(
        timePerFile: limits.timePerFilm, memoryByteCount: limits.memoryByteCount, fileByteCount: limit),
      isCancelled: export.isCancelled,
      sandbox: Sandbox(readable: [WorkFolder.real(export.source)], writable: [folder.output]), niceness: niceness)
    do {
      _ = try run.output(of: [program], Films.arguments(export, to: made, shownIn: film.displayedSize)) { portion in
        guard length > 0, let written = Films.written(portion) else { return }
        export.progress(min(1, max(0, written / length)))
      }
      try folder.hand(try folder.checked(made, by: program), to: export.target)
    } catch {
      unlink(export.target.path)
      guard (error as? ImportError)?.isPassing == true, Self.byteCount(of: made) >= limit else { throw error }
      // It was killed for that, and would be the next time.
      throw ImportError(
        .toolFailed, path: program,
        "\(program) was killed, since its film exceeds the limit of file size, \(limit) bytes.")
    }
    export.progress(1)
  }

  /// The largest file that a program may make of another one, in bytes: a film grows where it is encoded less well.
  func fileByteCount(of source: URL) -> Int {
    // A file that cannot be asked about cannot be read either, and the program says so.
    4 * min(Self.byteCount(of: WorkFolder.real(source)), 1 << 50) + limits.filmByteCount
  }

  /// The size of a file; 0 if there is none.
  private static func byteCount(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  func run(
    _ isCancelled: @escaping @Sendable () -> Bool, readable: [String], writable: String? = nil
  ) -> ToolRun {
    let limits = ToolLimits(
      timePerFile: limits.timePerPicture, memoryByteCount: limits.memoryByteCount,
      fileByteCount: limits.pictureByteCount)
    let sandbox = Sandbox(readable: readable, writable: writable.map { [$0] } ?? [])
    return ToolRun(limits: limits, isCancelled: isCancelled, sandbox: sandbox, niceness: niceness)
  }
}

extension MediaRenderer {
  /// Changes when a program that makes pictures or films is installed, removed or replaced.
  package var programMark: UInt64 {
    var mark: UInt64 = 0xCBF2_9CE4_8422_2325
    for name in ["vipsthumbnail", "vips", "ffmpeg", "ffprobe", "exiftool", "bwrap"] {
      var status = stat()
      let path = programs.find(name) ?? ""
      let isThere = stat(path, &status) == 0
      let parts = isThere ? [Int64(status.st_mtim.tv_sec), Int64(status.st_size), Int64(status.st_ino)] : [0]
      for part in parts + path.utf8.map(Int64.init) { mark = (mark ^ UInt64(bitPattern: part)) &* 0x100_0000_01B3 }
    }
    return mark
  }
}
