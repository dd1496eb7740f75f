import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

// Archives that are honest, damaged, or built to harm. What is refused leaves nothing behind.

@Suite("archives", .enabled(if: TakeoutImportTests.canUnpack, "bsdtar of libarchive-tools is not installed."))
struct ArchiveTests {
  /// Reads an archive in a library's folder of its own.
  final class Pass {
    let library: TemporaryFolder
    let folder: LibraryFolder
    var limits = ArchiveLimits()
    var selection = NameSelection()

    init() throws {
      library = try TemporaryFolder()
      folder = try LibraryFolder(URL(filePath: library.path))
      try folder.makeFolder("resources")
      try folder.makeFolder("resources/incoming")
    }

    func files(_ path: FilePath) throws -> [ScannedFile] {
      let copies = MemberCopies(in: folder)
      let pass = ArchivePass(copies: copies, selection: selection, limits: limits, stop: StopFlag())
      let format = try #require(try ArchivePass.Format(of: path))
      let files = try pass.files(of: path, format)
      for file in files where file.copy != nil && file.byteCount > 0 {
        #expect(try FileContent(of: file.bytes(in: copies)).sha256 == file.content?.sha256)
      }
      return files
    }

    var leftovers: [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: library.path + "/resources/incoming")) ?? ["?"]
    }
  }

  static func outcome(_ file: ScannedFile) -> String {
    switch file.role {
    case .candidate: "candidate"
    case .sidecar: "sidecar"
    case .unusable(let reason): "unusable \(reason)"
    case .settled(.skipped(let reason, _)): reason.rawValue
    case .settled: "settled"
    }
  }

  private static func tree(_ folder: TemporaryFolder) throws {
    try folder.write("T/Été/写真.jpg", Data(repeating: 7, count: 300_000))
    try folder.write("T/Été/copy.jpg", Data(repeating: 7, count: 300_000))
    try folder.write("T/Été/写真.jpg.json", Data("{}".utf8))
    try folder.write("T/empty", Data())
    try folder.write("T/\(String(repeating: "long", count: 50))/\(String(repeating: "n", count: 200)).jpg", Data([1]))
    symlink("/etc/passwd", "\(folder.path)/T/link.jpg")
  }

  @Test(
    "members are had with their names and bytes; equal ones have one copy; links are refused",
    arguments: [
      ["bsdtar", "--format=zip", "-cf"], ["tar", "-czf"], ["bsdtar", "--format=ustar", "-czf"],
      ["tar", "--format=gnu", "-cf"], ["tar", "--format=pax", "-cf"],
    ])
  func honest(words: [String]) throws {
    let folder = try TemporaryFolder()
    try Self.tree(folder)
    let archive = "\(folder.path)/an archive"
    // The oldest format has no room for the long name.
    let isShort = words.contains("--format=ustar")
    let long = "\(folder.path)/T/\(String(repeating: "long", count: 50))"
    if isShort { try FileManager.default.removeItem(atPath: long) }
    try TakeoutImportTests.run(words + [archive, "-C", folder.path, "T"])
    let pass = try Pass()
    let files = try pass.files(FilePath(archive))
    let byName = Dictionary(uniqueKeysWithValues: files.map { ($0.relativePath.description, $0) })
    #expect(byName.count == (isShort ? 5 : 6))
    let (first, second) = (try #require(byName["T/Été/写真.jpg"]), try #require(byName["T/Été/copy.jpg"]))
    #expect(first.copy == second.copy && first.byteCount == 300_000 && Self.outcome(first) == "candidate")
    #expect(byName["T/Été/写真.jpg.json"].map(Self.outcome) == "sidecar")
    #expect(byName["T/link.jpg"].map(Self.outcome) == "unusable")
    #expect(byName["T/empty"]?.byteCount == 0)
    #expect(pass.leftovers.isEmpty, "Copies go with the pass.")
  }

  /// A zip with any members, written by Python, which does not ask whether they make sense.
  private static func zip(_ path: String, _ script: String) throws {
    let program = "import zipfile, sys\nz = zipfile.ZipFile(sys.argv[1], 'w')\n\(script)\nz.close()"
    try TakeoutImportTests.run(["python3", "-W", "ignore", "-c", program, path])
  }

  @Test(
    "names that lead out, second members of a name and bytes with a wrong checksum are refused one by one",
    .enabled(if: SamplePhotos.areInstalled("python3")))
  func hostileMembers() throws {
    let folder = try TemporaryFolder()
    let archive = "\(folder.path)/a.zip"
    try Self.zip(
      archive,
      """
      z.writestr('../../out.jpg', b'1')
      z.writestr('/abs.jpg', b'2')
      z.writestr('a/../../b.jpg', b'3')
      z.writestr('T/twice.jpg', b'4')
      z.writestr('T/twice.jpg', b'55')
      z.writestr('T/good.jpg', b'good bytes')
      z.writestr('T/bad.jpg', b'MARKED bytes')
      """)
    var bytes = try Data(contentsOf: URL(filePath: archive))
    let mark = try #require(bytes.range(of: Data("MARKED".utf8)))
    bytes[mark.lowerBound] = UInt8(ascii: "m")
    try bytes.write(to: URL(filePath: archive))
    let pass = try Pass()
    let files = try pass.files(FilePath(archive))
    func outcomes(_ name: String) -> [String] {
      files.filter { $0.relativePath.description == name }.map(Self.outcome)
    }
    #expect(outcomes("../../out.jpg") == ["unusable"] && outcomes("/abs.jpg") == ["unusable"])
    #expect(outcomes("a/../../b.jpg") == ["unusable"])
    #expect(outcomes("T/twice.jpg") == ["candidate", "unusable"])
    #expect(outcomes("T/good.jpg") == ["candidate"])
    #expect(outcomes("T/bad.jpg") == ["damaged"], "bsdtar itself does not say so.")
    #expect(files.count == 7)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/out.jpg"))
    #expect(pass.leftovers.isEmpty)
  }

  enum Harm: String, CaseIterable {
    case truncatedZip, truncatedTarball, flippedTarball, bombZip, bombTarball, manyMembers, longName, overlap, garbage,
      hugeSize
  }

  @Test(
    "an archive that is damaged or built to harm is refused as a whole",
    .enabled(if: SamplePhotos.areInstalled("python3")), arguments: Harm.allCases)
  func harm(harm: Harm) throws {
    let folder = try TemporaryFolder()
    let archive = "\(folder.path)/a"
    let pass = try Pass()
    var code = ImportError.Code.archiveRefused
    switch harm {
    case .truncatedZip, .truncatedTarball, .flippedTarball:
      code = .archiveDamaged
      var generator = SeededGenerator(seed: 1)
      let noise = Data((0..<100_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
      try folder.write("T/noise.jpg", noise)
      let words = harm == .truncatedZip ? ["bsdtar", "--format=zip", "-cf"] : ["tar", "-czf"]
      try TakeoutImportTests.run(words + [archive, "-C", folder.path, "T"])
      var bytes = try Data(contentsOf: URL(filePath: archive))
      if harm == .flippedTarball { bytes[bytes.count / 2] ^= 0xFF } else { bytes = bytes.prefix(bytes.count / 2) }
      try bytes.write(to: URL(filePath: archive))
    case .bombZip:
      pass.limits.allowance = 1 << 20
      try Self.zip(archive, "z.compression = zipfile.ZIP_DEFLATED\nz.writestr('a.jpg', b'0' * (64 << 20))")
    case .bombTarball:
      pass.limits.allowance = 1 << 20
      try folder.write("T/a.jpg", Data(count: 64 << 20))
      try TakeoutImportTests.run(["tar", "-C", folder.path, "-czf", archive, "T"])
    case .manyMembers:
      pass.limits.memberCount = 10
      try Self.zip(archive, "for i in range(11): z.writestr('%d.jpg' % i, b'')")
    case .longName:
      try Self.zip(archive, "z.writestr('x' * 5000, b'1')")
    case .overlap:
      try Self.zip(archive, "z.writestr('a', b'same bytes')\nz.filelist.append(z.filelist[0])")
    case .hugeSize:
      code = .archiveDamaged
      let program = """
        import tarfile, sys
        link = tarfile.TarInfo('a.jpg')
        link.type, link.linkname, link.pax_headers = tarfile.SYMTYPE, 'b.jpg', {'size': str(2 ** 64 - 1)}
        tarfile.open(sys.argv[1], 'w', format=tarfile.PAX_FORMAT).addfile(link)
        """
      try TakeoutImportTests.run(["python3", "-c", program, archive])
    case .garbage:
      code = .archiveDamaged
      try Data([0x50, 0x4B, 3, 4] + Array(repeating: 0, count: 1000)).write(to: URL(filePath: archive))
    }
    let error = #expect(throws: ImportError.self) { try pass.files(FilePath(archive)) }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(pass.leftovers.isEmpty)
  }

  @Test("a tar stream with any byte changed is read or refused, never more", arguments: 0..<Dose.of(50))
  func mutated(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let folder = try TemporaryFolder()
    try folder.write("T/a.jpg", Data(repeating: 1, count: 700))
    try folder.write("T/\(String(repeating: "n", count: 150)).jpg", Data(repeating: 2, count: 100))
    let archive = "\(folder.path)/a.tar"
    let format = random.chance(1, of: 2) ? "--format=pax" : "--format=gnu"
    try TakeoutImportTests.run(["tar", format, "-cf", archive, "-C", folder.path, "T"])
    var bytes = try Data(contentsOf: URL(filePath: archive))
    for _ in 0..<random.int(1..<4) {
      bytes[random.int(0..<min(bytes.count, 6000))] = UInt8(truncatingIfNeeded: random.next())
    }
    try bytes.write(to: URL(filePath: archive))
    let pass = try Pass()
    pass.limits.allowance = 1 << 20
    guard try ArchivePass.Format(of: FilePath(archive)) == .tar else { return }
    do {
      let files = try pass.files(FilePath(archive))
      #expect(files.reduce(0) { $0 + $1.byteCount } < 1 << 20)
    } catch let error as ImportError {
      #expect([.archiveDamaged, .archiveRefused].contains(error.code), "\(error)")
    }
    #expect(pass.leftovers.isEmpty)
  }

  @Test("the checksum is that of zip")
  func checksum() {
    for text in ["", "a", "123456789", String(repeating: "The quick brown fox", count: 31)] {
      var (whole, pieces) = (CRC32(), CRC32())
      Array(text.utf8).withUnsafeBytes { whole.update($0) }
      for byte in text.utf8 { withUnsafeBytes(of: byte) { pieces.update($0) } }
      #expect(whole.value == pieces.value)
      if text == "123456789" { #expect(whole.value == 0xCBF4_3926) }
    }
  }
}
