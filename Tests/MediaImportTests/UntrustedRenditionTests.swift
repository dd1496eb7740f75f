import Foundation
import LibraryPicking
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

// libvips marks the loaders that were not made for hostile files, and leaves them out when VIPS_BLOCK_UNTRUSTED says
// so. Each of these files is one that the installed libvips reads by such a loader if it is let.

@Suite(
  "Files that libvips reads with loaders that are not safe for hostile input", .blocking,
  .enabled(if: SamplePhotos.areInstalled("vipsthumbnail", "vips", "ffmpeg", "exiftool"), "Needs the programs."))
struct UntrustedRenditionTests {
  private let renderer = SharedTool.renderer

  private static let files = [
    "svg": #"<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64"/></svg>"#,
    "pdf": """
    %PDF-1.1
    1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
    3 0 obj<</Type/Page/MediaBox[0 0 64 64]/Parent 2 0 R>>endobj
    trailer<</Root 1 0 R>>
    """,
    "ppm": "P6\n64 64\n255\n" + String(repeating: "abc", count: 64 * 64),
  ]

  private func write(_ kind: String, to folder: TemporaryFolder) throws -> String {
    let path = try folder.write("source.\(kind)", Data(try #require(Self.files[kind]).utf8)).description
    let target = folder.path + "/unblocked.png"
    let run = try ChildRun.of(["vipsthumbnail", path, "--size", "8x8", "-o", target])
    try #require(access(target, R_OK) == 0, "The installed libvips does not read such a file: \(run.text)")
    return path
  }

  @Test("the loaders are disabled, for one file of a batch as for all", arguments: files.keys.sorted())
  func loaders(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let path = try write(kind, to: folder)
    let photo = URL(filePath: folder.path + "/photo.jpg")
    try ColourGrid.make(["rg", "bw"], side: 32, at: photo)
    let program = try #require(Programs().find("vipsthumbnail"))
    let work = try renderer.root.folder()
    let sources = [try work.take(URL(filePath: path), as: "untrusted"), try work.take(photo, as: "photo")]
    try renderer.shrink(sources, "8x8!", "-small.png[strip]", in: work, program) { false }
    let made = ["untrusted", "photo"].map { access(work.file("\($0)-small.png"), R_OK) == 0 }
    #expect(made == [false, true])
  }

  @Test("no picture and no rendition is made of such a file, whatever its name", arguments: files.keys.sorted())
  func refused(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let named = try write(kind, to: folder)
    let renamed = try folder.write("photo.jpg", try Data(contentsOf: URL(filePath: named))).description
    for path in [named, renamed] {
      let source = URL(filePath: path)
      let rendition = #expect(throws: ImportError.self) { try renderer.renditions(of: [source])[0].get() }
      let picture = #expect(throws: ImportError.self) {
        try renderer.picture(PictureRequest(source: source, sourceType: "public.jpeg"))
      }
      #expect(rendition?.code == .toolFailed && picture?.code == .toolFailed)
    }
  }

  @Test("no photo is converted of such a file, whatever its name", arguments: files.keys.sorted())
  func converted(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let named = try write(kind, to: folder)
    let renamed = try folder.write("photo.tif", try Data(contentsOf: URL(filePath: named))).description
    let target = URL(filePath: folder.path + "/target.jpg")
    for path in [named, renamed] {
      let conversion = RepresentationConversion(
        source: URL(filePath: path), sourceType: "public.tiff", target: target, targetType: "public.jpeg")
      let error = #expect(throws: ImportError.self) { try SharedTool.converter.convert(conversion) }
      #expect(error?.code == .toolFailed && !FileManager.default.fileExists(atPath: target.path))
    }
  }

  @Test("no rendition is made of a file that a program which finds previews links to", arguments: [false, true])
  func linked(isLinked: Bool) throws {
    let folder = try TemporaryFolder()
    let (source, other) = (URL(filePath: folder.path + "/raw.jpg"), URL(filePath: folder.path + "/other.jpg"))
    for file in [source, other] { try ColourGrid.make(["rg", "bw"], side: 32, at: file) }
    // An exiftool that takes what a renderer is given for a RAW file, and leaves its bytes or a link as the preview.
    let script = """
      #!/usr/bin/perl
      use File::Copy;
      $| = 1;
      if (my ($preview) = grep { m{/%t%-c} } @ARGV) {
        $preview =~ s/%t%-c/JpgFromRaw/;
        exit(\(isLinked ? "symlink('\(other.path)', $preview)" : "copy($ARGV[-1], $preview)") ? 0 : 1);
      }
      exit 0 unless grep { $_ eq "-stay_open" } @ARGV;
      my $path = "";
      while (my $line = <STDIN>) {
        $path = $line if $line =~ m{^/};
        next unless $line =~ /^-execute(\\d+)$/;
        my $number = $1;
        my ($mime, $type) = $path =~ m{/source$} ? ("image/x-nikon-nef", "NEF") : ("image/jpeg", "JPEG");
        my $size = qq("File:ImageWidth":64,"File:ImageHeight":64);
        print qq([{"SourceFile":"a","File:MIMEType":"$mime","File:FileType":"$type",$size}]\\n{ready$number}\\n);
      }

      """
    let programs = "\(folder.path)/programs"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    try writeProgram(script, at: programs + "/exiftool")
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let outcome = MediaRenderer(searchPath: "\(programs):\(path)").renditions(of: [source])[0]
    guard isLinked else {
      #expect(try !outcome.get().large.isEmpty, "The program works, so that only the link is refused.")
      return
    }
    let error = #expect(throws: ImportError.self) { try outcome.get() }
    #expect(error?.code == .toolFailed)
  }

  @Test("a turned picture is not taken from a file that exiftool links to", arguments: [0, 1])
  func turned(status: Int) throws {
    let folder = try TemporaryFolder()
    let (source, other) = (URL(filePath: folder.path + "/a.jpg"), URL(filePath: folder.path + "/other.jpg"))
    for file in [source, other] { try ColourGrid.make(["rg", "bw"], side: 32, at: file) }
    let before = try Data(contentsOf: other)
    // An exiftool that leaves a link in place of what it marks, and then says that it is marked.
    let script = """
      #!/usr/bin/perl
      $| = 1;
      if (grep { /^-Orientation=/ } @ARGV) {
        exit 2 unless rename($ARGV[-1], "$ARGV[-1].was");
        symlink('\(other.path)', $ARGV[-1]) or rename("$ARGV[-1].was", $ARGV[-1]);
        exit \(status);
      }
      exit 0 unless grep { $_ eq "-stay_open" } @ARGV;
      my $path = "";
      while (my $line = <STDIN>) {
        $path = $line if $line =~ m{^/};
        next unless $line =~ /^-execute(\\d+)$/;
        my $number = $1;
        chomp($path);
        my $orientation = -l $path ? 6 : 1;
        my $size = qq("File:ImageWidth":64,"File:ImageHeight":64,"IFD0:Orientation":$orientation);
        print qq([{"SourceFile":"a","File:MIMEType":"image/jpeg","File:FileType":"JPEG",$size}]\\n{ready$number}\\n);
      }

      """
    let programs = "\(folder.path)/programs"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    try writeProgram(script, at: programs + "/exiftool")
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let renderer = MediaRenderer(searchPath: "\(programs):\(path)")
    let error = #expect(throws: ImportError.self) { try renderer.turned(try Data(contentsOf: source), to: 6) }
    #expect(error?.code == .toolFailed && error?.path.hasSuffix("/exiftool") == true, "\(String(describing: error))")
    #expect(try Data(contentsOf: other) == before)
  }
}
