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
    "members are listed with their names and bytes; equal ones have one copy; links are rejected",
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

  @Test("a name that is too long for the library is cut, and any other is kept")
  func longNames() {
    for name in ["IMG_1.jpg", String(repeating: "n", count: 1024), String(repeating: "é", count: 512)] {
      #expect(Limits.fileName(name) == name)
    }
    #expect(Limits.fileName(String(repeating: "n", count: 1025)) == String(repeating: "n", count: 256))
    let marks = String(repeating: "\u{301}", count: 200)
    #expect(Limits.fileName("q\(marks)").unicodeScalars.count == 129)
    #expect(Limits.fileName(String(repeating: "😀", count: 500)).utf8.count == 1024)
  }

  /// A zip with any members, written by Python, which does not check whether they are valid.
  private static func zip(_ path: String, _ script: String) throws {
    let program = "import zipfile, sys\nz = zipfile.ZipFile(sys.argv[1], 'w')\n\(script)\nz.close()"
    try TakeoutImportTests.run(["python3", "-W", "ignore", "-c", program, path])
  }

  @Test(
    "names that lead outside, second members of a name and bytes with a wrong checksum are rejected one by one",
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

  @Test(
    "members with decomposed names keep their names, and two that differ only in that stay two",
    .enabled(if: SamplePhotos.areInstalled("python3")))
  func decomposedNames() throws {
    let folder = try TemporaryFolder()
    let archive = "\(folder.path)/a.zip"
    try Self.zip(
      archive,
      #"""
      z.writestr('T/Cafe\u0301.jpg', b'decomposed')
      z.writestr('T/Caf\u00e9.jpg', b'composed')
      z.writestr('Ko\u0308ln/a.jpg', b'in a folder')
      """#)
    let pass = try Pass()
    let files = try pass.files(FilePath(archive))
    #expect(files.map(Self.outcome) == ["candidate", "candidate", "candidate"])
    let names = files.map { Array($0.relativePath.bytes) }
    let expected = ["T/Cafe\u{301}.jpg", "T/Caf\u{e9}.jpg", "Ko\u{308}ln/a.jpg"].map { Array($0.utf8) }
    #expect(names == expected)
    #expect(files.map(\.byteCount) == [10, 8, 11])
    #expect(pass.leftovers.isEmpty)
  }

  @Test(
    "a member has the name in UTF-8 that a packer adds to one of another encoding",
    .enabled(if: SamplePhotos.areInstalled("python3")), arguments: [false, true])
  func secondNames(isOfName: Bool) throws {
    let folder = try TemporaryFolder()
    let archive = "\(folder.path)/a.zip"
    try Self.zip(
      archive,
      #"""
      import struct, zlib
      name = 'Fotos/M\u00fcll.jpg'.encode()
      member = zipfile.ZipInfo('Fotos/M_ll.jpg')
      crc = zlib.crc32(b'Fotos/M\x81ll.jpg')
      member.extra = struct.pack('<HHBI', 0x7075, 5 + len(name), 1, crc) + name
      z.writestr(member, b'named twice')
      z.writestr('Fotos/plain.jpg', b'plain')
      """#)
    var bytes = try Data(contentsOf: URL(filePath: archive))
    // The letter in code page 437, in the header and in the list; without it, the name has another checksum.
    while isOfName, let mark = bytes.range(of: Data("M_ll".utf8)) { bytes[mark.lowerBound + 1] = 0x81 }
    try bytes.write(to: URL(filePath: archive))
    let pass = try Pass()
    let files = try pass.files(FilePath(archive))
    #expect(files.map(Self.outcome) == ["candidate", "candidate"])
    #expect(files.map(\.relativePath.description) == ["Fotos/M\(isOfName ? "ü" : "_")ll.jpg", "Fotos/plain.jpg"])
    #expect(files.map(\.byteCount) == [11, 5])
    #expect(pass.leftovers.isEmpty)
  }

  enum Harm: String, CaseIterable {
    case truncatedZip, truncatedTarball, flippedTarball, bombZip, bombTarball, manyMembers, longName, overlap, garbage,
      hugeSize
  }

  @Test(
    "an archive that is damaged or malicious is rejected as a whole",
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

  @Test("a tar stream with any byte changed is read or rejected, and nothing else happens", arguments: 0..<Dose.of(50))
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

  /// A header of a tar stream.
  private static func header(_ name: String, _ kind: Character, _ byteCount: Int) -> [UInt8] {
    func field(_ text: String, _ count: Int) -> [UInt8] {
      Array(text.utf8) + [UInt8](repeating: 0, count: count - text.utf8.count)
    }
    func octal(_ number: Int, _ count: Int) -> [UInt8] {
      let digits = String(number, radix: 8)
      return field(String(repeating: "0", count: count - 1 - digits.count) + digits, count)
    }
    let numbers = [octal(0o644, 8), octal(0, 8), octal(0, 8), octal(byteCount, 12), octal(0, 12)]
    let start = field(name, 100) + numbers.joined()
    let rest = [Array(String(kind).utf8), field("", 100), Array("ustar\u{0}00".utf8), field("", 247)]
    let end = Array(rest.joined())
    // The checksum counts as blanks.
    let sum = (start + end).reduce(8 * 0x20) { $0 + Int($1) }
    return start + octal(sum, 8) + end
  }

  /// An extended header with its records.
  private static func extended(_ kind: Character, _ records: [String]) -> [UInt8] {
    let data = records.flatMap { record -> [UInt8] in
      // The length counts its own digits, and the blank and the line end.
      let rest = record.utf8.count + 2
      let length = (1...9).lazy.map { rest + $0 }.first { "\($0)".count + rest == $0 } ?? rest
      return Array("\(length) \(record)\n".utf8)
    }
    let filling = [UInt8](repeating: 0, count: (512 - data.count % 512) % 512)
    return header("pax", kind, data.count) + data + filling
  }

  private static func members(_ bytes: [UInt8]) throws -> [ArchiveMember] {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.tar", Data(bytes))
    var reader = TarReader(try FileStream(path), of: path, byteCount: UInt64(bytes.count), ArchiveLimits())
    var members: [ArchiveMember] = []
    while let member = try reader.next() { members.append(member) }
    return members
  }

  private static let endMark = [UInt8](repeating: 0, count: 1024)

  @Test("records of an extended header count for one member, those of a global one for all, and the later count")
  func records() throws {
    let data = [UInt8](repeating: 1, count: 512)
    let parts: [[UInt8]] = [
      Self.extended("g", ["size=512", "comment=x", "size=3"]), Self.header("a", "0", 0), data,
      Self.extended("x", ["path=long", "mtime=1.5", "size=512"]), Self.header("b", "0", 0), data,
      Self.extended("g", ["size=0"]), Self.header("c", "0", 7),
      Self.extended("x", ["GNU.sparse.major=1"]), Self.header("d", "0", 0), Self.header("e", "0", 0), Self.endMark,
    ]
    let members = try Self.members(Array(parts.joined()))
    #expect(members.map { String(decoding: $0.name, as: UTF8.self) } == ["a", "long", "c", "d", "e"])
    #expect(members.map(\.byteCount) == [3, 512, 0, 0, 0])
    let sparse = members.map { member in if case .other = member.kind { true } else { false } }
    #expect(sparse == [false, false, false, true, false])
    #expect(throws: ImportError.self) {
      try Self.members(Self.extended("x", ["size=x"]) + Self.header("a", "0", 0))
    }
  }

  @Test("a global header of many records is not scanned for each member", .timeLimit(.minutes(10)))
  func manyRecords() throws {
    let records = Self.extended("g", (0..<60_000).map { "k\($0)=v" })
    let count = 5000
    let members = Array(repeating: Self.header("a", "0", 0), count: count)
    let bytes = records + Array(members.joined()) + Self.endMark
    #expect(try Self.members(bytes).count == count)
  }

  @Test("the checksum is the one of zip, whatever the pieces")
  func checksum() {
    #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
    #expect(CRC32.of([]) == 0)
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for cut in [0, 1, 7, 8, 9, 500, 999] {
      var pieces = CRC32()
      bytes[..<cut].withUnsafeBytes { pieces.update($0) }
      bytes[cut...].withUnsafeBytes { pieces.update($0) }
      #expect(pieces.value == CRC32.of(bytes))
    }
    var single = CRC32()
    for byte in bytes { withUnsafeBytes(of: byte) { single.update($0) } }
    #expect(single.value == CRC32.of(bytes))
  }
}
