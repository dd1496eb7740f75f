import Foundation
import LibraryPicking
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("Converting picked items with installed programs", .blocking, .timeLimit(.minutes(60)))
struct ExternalConverterTests {
  /// A JPEG that exiftool can write, with a scan that must not change.
  private static let scan = Data([0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0x3F, 0, 0xD2, 0xCF, 0x20, 0xFF, 0xD9])

  private static let located = [
    "-GPSLatitude=52.5", "-GPSLatitudeRef=N", "-GPSLongitude=13.3", "-GPSLongitudeRef=E", "-GPSDateStamp=2020:01:01",
    "-XMP:GPSLatitude=52.5", "-IPTC:City=Berlin", "-XMP-photoshop:City=Berlin", "-XMP-iptcExt:LocationShownCity=Berlin",
  ]
  private static let described = [
    "-ImageDescription=ashore", "-UserComment=ashore", "-IPTC:Caption-Abstract=ashore", "-XMP-dc:Description=ashore",
    "-XMP-dc:Title=ashore", "-Comment=ashore", "-IPTC:Keywords=ashore", "-XMP-dc:Subject=ashore",
    "-XMP-lr:HierarchicalSubject=ashore", "-XMP-digiKam:TagsList=ashore", "-XMP-mwg-kw:HierarchicalKeywords1=ashore",
    "-XMP-iptcExt:PersonInImage=ashore", "-XMP-mwg-rs:RegionName=ashore",
  ]

  /// Runs exiftool, and gives what it prints.
  @discardableResult
  private static func exiftool(_ words: [String], _ path: String) throws -> String {
    try ChildRun.of(["exiftool", "-q", "-q"] + words + [path]).text
  }

  /// A photo with a place and captions, which exiftool wrote once for all tests.
  private static let photo: Result<Data, any Error> = Result {
    let folder = try TemporaryFolder()
    let path = try folder.write("photo.jpg", TinyMedia.jpeg().dropLast(2) + scan).description
    try exiftool(["-overwrite_original"] + located + described, path)
    return try withExtendedLifetime(folder) { try Data(contentsOf: URL(filePath: path)) }
  }

  /// Has an asset of one file picked, and loads it.
  private static func load(
    _ data: Data, _ name: String, _ type: ResourceType = .photo, in folder: TemporaryFolder,
    with converter: ExternalConverter, _ options: PickedItemOptions
  ) async throws -> Data {
    let library = try PhotoLibrary.create(at: ImportedLibrary.place(in: folder.path))
    defer { library.close() }
    try library.setRepresentationConverter(converter)
    let draft = ResourceDraft(type: type, source: .data(data), originalFilename: name)
    let made = try await library.performChanges {
      $0.createAsset(AssetCreation(mediaType: type == .photo ? .image : .video, resources: [draft]))
    }
    let session = try library.as("app").beginPicking()
    let presenter = try library.present(session)
    try await presenter.select(made.created[0])
    try await presenter.finish()
    var results = session.results.makeAsyncIterator()
    let item = try #require(await results.next()?.first)
    defer {
      let incoming = library.url.appending(path: "resources/incoming").path
      #expect((try? FileManager.default.contentsOfDirectory(atPath: incoming)) == [], "Something was left behind.")
    }
    return try await library.as("app").load(item, options: options)
  }

  @Test(
    "requested removals are made, and nothing else (a.8)",
    arguments: [.removeLocation, .removeCaptions, [.removeLocation, .removeCaptions]] as [PickerMetadataOptions])
  func stripping(removed: PickerMetadataOptions) async throws {
    let folder = try TemporaryFolder()
    let photo = try Self.photo.get()
    #expect(
      photo.contains(Data("Berlin".utf8)) && photo.contains(Data("ashore".utf8)), "The test has something to find.")
    var options = PickedItemOptions()
    options.metadataOptions = removed
    let result = try await Self.load(photo, "a.jpg", in: folder, with: ExternalConverter(), options)
    #expect(result.contains(Data("Berlin".utf8)) == !removed.contains(.removeLocation))
    #expect(result.contains(Data("ashore".utf8)) == !removed.contains(.removeCaptions))
    let path = try folder.write("result.jpg", result).description
    let lines = try Self.exiftool(["-a", "-S", "-DateTimeOriginal", "-Location:all", "-GPS*"], path)
      .split(separator: "\n")
    let left = lines.filter { !$0.hasPrefix("DateTimeOriginal") }
    #expect(left.isEmpty == removed.contains(.removeLocation), "\(left)")
    #expect(lines.filter { $0.hasPrefix("DateTimeOriginal") } == ["DateTimeOriginal: 2021:02:03 04:05:06"])
    #expect(result.suffix(Self.scan.count) == Self.scan, "The picture is the same.")
  }

  @Test("a file from which metadata cannot be removed is never returned (a.8)")
  func unwritable() async throws {
    let folder = try TemporaryFolder()
    var options = PickedItemOptions()
    options.metadataOptions = .removeLocation
    options.representation = .current
    let error = await #expect(throws: LibraryError.self) {
      _ = try await Self.load(
        Data("RIFF0000AVI ".utf8), "a.avi", .video, in: folder, with: ExternalConverter(), options)
    }
    #expect(error?.code == .conversionFailed && error?.description.contains("exiftool") == true, "\(error as Any)")
  }

  // MARK: Programs

  /// A folder for programs of the test's own.
  private static func program(_ name: String, _ script: String, in folder: TemporaryFolder) throws -> String {
    // Put there by a child: a program that some process still holds open for writing cannot be executed, and every
    // child that another test starts meanwhile inherits what this process has open.
    let source = try folder.write("scripts/\(name)", Data("#!/bin/sh\n\(script)\n".utf8)).description
    let path = source.replacing("/scripts/", with: "/bin/")
    try #require(try ChildRun.of(["install", "-D", "-m", "755", source, path]).end == .status(0))
    return URL(filePath: path).deletingLastPathComponent().path
  }

  /// Puts the installed exiftool beside a test's own programs, without which no photo is converted.
  private static func addExiftool(to path: String) throws {
    let exiftool = try #require(Programs().find("exiftool"), "The tests need exiftool.")
    try FileManager.default.createSymbolicLink(atPath: path + "/exiftool", withDestinationPath: exiftool)
  }

  /// Puts what answers as an exiftool that stays open beside a test's own programs: of every file it says the size of a
  /// small photo. For tests of other programs, since Perl starts slowly.
  private static func addSizeReader(in folder: TemporaryFolder) throws {
    _ = try program(
      "exiftool",
      """
      while read -r line; do case $line in -execute*)
        echo '[{"File:MIMEType":"image/jpeg","File:FileType":"JPEG","File:ImageWidth":8,"File:ImageHeight":6}]'
        echo "{ready${line#-execute}}";; esac; done
      """, in: folder)
  }

  private static func conversion(
    _ folder: TemporaryFolder, of photo: Data = TinyMedia.jpeg(), from type: String, to target: String,
    isEncoding: Bool = true, _ options: PickerMetadataOptions = [],
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws -> RepresentationConversion {
    var conversion = RepresentationConversion(
      source: URL(filePath: try folder.write("source", photo).description), sourceType: type,
      target: URL(filePath: folder.path).appending(path: "target.jpg"), targetType: target)
    (conversion.isEncoding, conversion.metadataOptions) = (isEncoding, options)
    conversion.isCancelled = isCancelled
    return conversion
  }

  @Test(
    "a program that is missing is named, with what to install (PK-07)",
    arguments: [
      ("public.heic", "public.jpeg", true, [], ["heif-convert", "vips", "libvips-tools"]),
      ("public.tiff", "public.jpeg", true, [], ["vips", "magick", "convert"]),
      ("public.avi", "public.mpeg-4", true, [], ["ffmpeg", "apt-get install ffmpeg"]),
      ("public.jpeg", "public.jpeg", false, .removeLocation, ["exiftool", "libimage-exiftool-perl"]),
      ("public.heic", "public.jpeg", true, .removeCaptions, ["exiftool", "libimage-exiftool-perl"]),
    ] as [(String, String, Bool, PickerMetadataOptions, [String])])
  func missing(
    type: String, target: String, isEncoding: Bool, options: PickerMetadataOptions, names: [String]
  ) throws {
    let folder = try TemporaryFolder()
    let conversion = try Self.conversion(folder, from: type, to: target, isEncoding: isEncoding, options)
    let error = #expect(throws: ImportError.self) {
      try ExternalConverter(searchPath: folder.path).convert(conversion)
    }
    #expect(error?.code == .toolMissing)
    for name in names { #expect(error?.description.contains(name) == true, "\(error as Any)") }
  }

  @Test(
    "the first installed program gets the file (PK-07)",
    arguments: [
      ("vips", "public.heic", "copy SOURCE TARGET[Q=92]"), ("vips", "public.tiff", "copy SOURCE TARGET[Q=92]"),
      ("heif-convert", "public.heic", "-q 92 SOURCE TARGET"), ("convert", "public.tiff", "SOURCE -quality 92 TARGET"),
    ])
  func programs(name: String, type: String, arguments: String) throws {
    let folder = try TemporaryFolder()
    let path = try Self.program(name, "for last; do :; done; echo \"$*\" > \"${last%%\\[*}\"", in: folder)
    try Self.addSizeReader(in: folder)
    let conversion = try Self.conversion(folder, from: type, to: "public.jpeg")
    try ExternalConverter(searchPath: path).convert(conversion)
    let words = try String(contentsOf: conversion.target, encoding: .utf8).split { $0.isWhitespace }.map { word in
      if word.contains("/in/") { return "SOURCE" }
      return word.contains("/out/") ? "TARGET" + word.drop { $0 != "[" } : String(word)
    }
    #expect(words.joined(separator: " ") == arguments)
  }

  @Test(
    "it can convert types for which a program is installed (PK-07)",
    arguments: [
      ([], []), (["vips"], []), (["vips", "exiftool"], ["heic", "tiff", "nef"]),
      (["heif-convert", "exiftool"], ["heic"]), (["ffmpeg"], []), (["ffmpeg", "ffprobe"], ["avi"]),
      (["ffmpeg", "ffprobe", "exiftool"], ["avi", "mov"]), (["exiftool"], []),
    ] as [([String], [String])])
  func canConvert(names: [String], expected: [String]) throws {
    let folder = try TemporaryFolder()
    for name in names { _ = try Self.program(name, "exit 1", in: folder) }
    let converter = ExternalConverter(searchPath: folder.path + "/bin")
    let conversions = [
      ("heic", "public.heic", "public.jpeg"), ("tiff", "public.tiff", "public.jpeg"),
      ("nef", "com.nikon.raw-image", "public.jpeg"),
      ("avi", "public.avi", "public.mpeg-4"), ("mov", "com.apple.quicktime-movie", "com.apple.quicktime-movie"),
    ]
    #expect(conversions.filter { converter.canConvert($0.1, to: $0.2) }.map(\.0) == expected)
  }

  @Test("a converted file passes through exiftool before it is returned (PK-07)")
  func encodedAndStripped() async throws {
    let folder = try TemporaryFolder()
    let photo = try Self.photo.get()
    let path = try Self.program("heif-convert", "exec cp \"$3\" \"$4\"", in: folder)
    let everywhere = path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    var options = PickedItemOptions()
    options.metadataOptions = .removeLocation
    let result = try await Self.load(
      photo, "a.heic", in: folder, with: ExternalConverter(searchPath: everywhere), options)
    #expect(!result.contains(Data("Berlin".utf8)) && result.contains(Data("ashore".utf8)))
  }

  @Test(
    "a program that fails, ends without a file, or does not end is a failure (PK-07)",
    arguments: [
      ("echo half > \"${3%%[*}\"; exit 3", "status 3", ImportError.Code.toolFailed),
      ("exit 0", "without a file", .toolFailed),
      // A program of the sandbox can send no signal, so it writes more than it may.
      ("ulimit -f 0; echo half > \"${3%%[*}\"", "signal", .toolFailed),
      ("read line; read line", "vips did not finish", .toolTimeout),
    ])
  func failing(script: String, words: String, code: ImportError.Code) throws {
    let folder = try TemporaryFolder()
    var limits = ExternalConverter.Limits()
    // Long enough for the size to be read before; the program waits for a line that never comes.
    if code == .toolTimeout { limits.timePerFile = .seconds(10) }
    let path = try Self.program("vips", script, in: folder)
    try Self.addSizeReader(in: folder)
    let converter = ExternalConverter(searchPath: path, limits: limits)
    let error = #expect(throws: ImportError.self) {
      try converter.convert(try Self.conversion(folder, from: "public.tiff", to: "public.jpeg"))
    }
    #expect(error?.code == code && error?.description.contains(words) == true, "\(error as Any)")
  }

  @Test("the limit of time holds for the exiftool that reads the size, too (PK-07)")
  func hangingReader() throws {
    let folder = try TemporaryFolder()
    _ = try Self.program("vips", "exit 3", in: folder)
    let path = try Self.program("exiftool", "exec sleep 1000", in: folder)
    var limits = ExternalConverter.Limits()
    limits.timePerFile = .milliseconds(50)
    let converter = ExternalConverter(searchPath: path, limits: limits)
    let conversion = try Self.conversion(folder, from: "public.tiff", to: "public.jpeg")
    let error = #expect(throws: ImportError.self) { try converter.convert(conversion) }
    #expect(error?.code == .toolTimeout && error?.description.contains("0.05 seconds") == true, "\(error as Any)")
  }

  @Test("a program is terminated when no caller waits for it any more (PK-07)")
  func cancelled() throws {
    let folder = try TemporaryFolder()
    let path = try Self.program("vips", "read line; read line", in: folder)
    try Self.addSizeReader(in: folder)
    // The first question may be that of a copy of the source.
    let questions = Gathered<Bool>()
    let conversion = try Self.conversion(folder, from: "public.tiff", to: "public.jpeg") {
      questions.append(true)
      return questions.all.count > 1
    }
    let error = #expect(throws: ImportError.self) { try ExternalConverter(searchPath: path).convert(conversion) }
    #expect(error?.code == .toolFailed && error?.description.contains("was stopped") == true, "\(error as Any)")
  }

  // MARK: Photos

  @Test(
    "a RAW file becomes the largest picture in it, with the metadata of the file (PK-07)",
    .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."),
    arguments: [
      ("canon-r6.cr3", "com.canon.cr3-raw-image", "1620x1080"),
      ("jølstravatnet.pef", "com.pentax.raw-image", "720x480"),
    ])
  func raw(name: String, type: String, size: String) throws {
    let folder = try TemporaryFolder()
    let source = try #require(SamplePhotos.folder).appending(path: "raw/\(name)")
    let converter = SharedTool.converter
    #expect(converter.canConvert(type, to: "public.jpeg"))
    for removed in [[], .removeLocation] as [PickerMetadataOptions] {
      let target = URL(filePath: folder.path + "/target.jpg")
      var conversion = RepresentationConversion(
        source: source, sourceType: type, target: target, targetType: "public.jpeg")
      conversion.metadataOptions = removed
      try converter.convert(conversion)
      #expect(try Self.exiftool(["-s3", "-FileType", "-ImageSize"], target.path) == "JPEG\n\(size)\n")
      let kept = ["-s3", "-Model", "-DateTimeOriginal", "-Orientation"]
      let (before, after) = (try Self.exiftool(kept, source.path), try Self.exiftool(kept, target.path))
      #expect(before == after)
      let place = try Self.exiftool(["-s3", "-GPSLatitude"], removed.isEmpty ? source.path : target.path)
      #expect(removed.isEmpty || place.isEmpty)
      #expect(try Self.exiftool(["-s3", "-GPSLatitude"], target.path) == place)
      try FileManager.default.removeItem(at: target)
    }
  }

  /// A BMP of 4x2 pixels, which libvips reads only with a loader that is not made for hostile files.
  private static var bitmap: Data {
    let words: [UInt32] = [78, 0, 54, 40, 4, 2, 24 << 16 | 1, 0, 24, 2835, 2835, 0, 0]
    var data = Data("BM".utf8)
    for word in words { withUnsafeBytes(of: word.littleEndian) { data.append(contentsOf: $0) } }
    return data + Data(repeating: 0x7F, count: 24)
  }

  @Test(
    "a photo that libvips may not read is decoded by ffmpeg (PK-07)",
    .enabled(if: SamplePhotos.areInstalled("vips", "ffmpeg", "exiftool"), "Needs the programs."))
  func decodedOtherwise() throws {
    let folder = try TemporaryFolder()
    let conversion = try Self.conversion(folder, of: Self.bitmap, from: "com.microsoft.bmp", to: "public.jpeg")
    try SharedTool.converter.convert(conversion)
    #expect(try Self.exiftool(["-s3", "-FileType", "-ImageSize"], conversion.target.path) == "JPEG\n4x2\n")
  }

  @Test(
    "a photo that is decoded by ffmpeg is turned once, whatever program failed on it (PK-07)",
    .enabled(if: SamplePhotos.areInstalled("vips", "ffmpeg", "exiftool"), "Needs the programs."),
    arguments: [("vips", "public.tiff"), ("heif-convert", "public.heic")])
  func turnedOnce(name: String, type: String) throws {
    let folder = try TemporaryFolder()
    let photo = URL(filePath: folder.path + "/turned.jpg")
    try ColourGrid.make(["rg"], side: 20, at: photo)
    try Self.exiftool(["-overwrite_original", "-n", "-Orientation=6"], photo.path)
    // It reads what ffmpeg decodes only if it is vips.
    let vips = try #require(Programs().find("vips"))
    let script = "case \"$1 $2\" in copy*.png) exec '\(vips)' \"$@\";; esac; exit 3"
    let path = try Self.program(name, script, in: folder)
    let everywhere = path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    let conversion = try Self.conversion(
      folder, of: try Data(contentsOf: photo), from: type, to: "public.jpeg")
    try ExternalConverter(searchPath: everywhere).convert(conversion)
    let words = try Self.exiftool(["-n", "-s3", "-FileType", "-ImageSize", "-Orientation"], conversion.target.path)
    #expect(words == "JPEG\n40 20\n6\n")
  }

  @Test("where ffmpeg fails as well, the failure of the first program is reported (PK-07)")
  func failingTwice() throws {
    let folder = try TemporaryFolder()
    _ = try Self.program("vips", "exit 3", in: folder)
    let path = try Self.program("ffmpeg", "exit 4", in: folder)
    try Self.addSizeReader(in: folder)
    let conversion = try Self.conversion(folder, from: "public.tiff", to: "public.jpeg")
    let error = #expect(throws: ImportError.self) { try ExternalConverter(searchPath: path).convert(conversion) }
    #expect(error?.description.contains("vips exited with status 3") == true, "\(error as Any)")
  }

  @Test("a photo of more pixels than the renderer's limit is rejected before a program decodes it")
  func bomb() throws {
    let folder = try TemporaryFolder()
    let path = try Self.program("vips", "exit 3", in: folder)
    try Self.addExiftool(to: path)
    let bomb = TinyMedia.jpeg(TinyMedia.Photo(width: 60_000, height: 60_000))
    let conversion = try Self.conversion(folder, of: bomb, from: "public.tiff", to: "public.jpeg")
    let error = #expect(throws: ImportError.self) { try ExternalConverter(searchPath: path).convert(conversion) }
    #expect(error?.code == .toolFailed && error?.description.contains("60000x60000") == true, "\(error as Any)")
  }

  @Test("a program runs without the loaders that are unsafe, and with a limit on the size of files")
  func guarded() throws {
    let folder = try TemporaryFolder()
    let script = "for last; do :; done; { echo \"$VIPS_BLOCK_UNTRUSTED\"; ulimit -f; } > \"${last%%\\[*}\""
    let path = try Self.program("vips", script, in: folder)
    try Self.addSizeReader(in: folder)
    let conversion = try Self.conversion(folder, from: "public.tiff", to: "public.jpeg")
    try ExternalConverter(searchPath: path).convert(conversion)
    let words = try String(contentsOf: conversion.target, encoding: .utf8).split { $0.isWhitespace }
    #expect(words.first == "1" && words.count == 2 && Int(words[1]) != nil, "\(words)")
  }

  // MARK: Films

  @Test(
    "a film of more pixels than the renderer's limit is rejected before ffmpeg reads it",
    arguments: [(60_000, false), (64, true)])
  func largeFilm(side: Int, isConverted: Bool) throws {
    let folder = try TemporaryFolder()
    let answer = """
      {"streams": [{"index": 0, "codec_type": "video", "codec_name": "hevc", "width": \(side), "height": \(side)}]}
      """
    _ = try Self.program("ffprobe", "echo '\(answer)'", in: folder)
    let path = try Self.program("ffmpeg", "for last; do :; done; echo film > \"$last\"", in: folder)
    let conversion = try Self.conversion(folder, from: "public.avi", to: "public.mpeg-4")
    let result = Result { try ExternalConverter(searchPath: path).convert(conversion) }
    #expect(FileManager.default.fileExists(atPath: conversion.target.path) == isConverted, "\(result)")
    guard case .failure(let error) = result else { return }
    #expect(!isConverted && "\(error)".contains("60000x60000"), "\(error)")
  }

  private static func atom(_ kind: String, _ parts: Data...) -> Data {
    let content = parts.reduce(Data(), +)
    return withUnsafeBytes(of: UInt32(content.count + 8).bigEndian) { Data($0) } + Data(kind.utf8) + content
  }

  /// A film with one track of pictures in an encoding.
  private static func film(_ encoding: String) -> Data {
    let handler = atom("hdlr", Data(count: 8) + Data("vide".utf8) + Data(count: 13))
    let entry = atom(encoding, Data(count: 78))
    let table = atom("stsd", Data([0, 0, 0, 0, 0, 0, 0, 1]) + entry)
    let track = atom("trak", atom("mdia", handler, atom("minf", atom("stbl", table))))
    return atom("ftyp", Data("qt  ".utf8) + Data(count: 4) + Data("qt  ".utf8)) + atom("moov", track)
  }

  @Test(
    "a film in H.264 is compatible, one in anything else or without pictures is not (PK-07)",
    arguments: [("avc1", true), ("hvc1", false), (nil, false)] as [(String?, Bool)])
  func films(encoding: String?, isCompatible: Bool) throws {
    let folder = try TemporaryFolder()
    let film = try folder.write("a.mov", encoding.map(Self.film) ?? TinyMedia.movie())
    let url = URL(filePath: film.description)
    #expect(try ExternalConverter().isCompatible(url, type: "com.apple.quicktime-movie") == isCompatible)
  }
}
