import Foundation
import Testing

import PhotoLedger
@testable import MediaImport

@Suite("walking folders")
struct FolderScanTests {
  static func relative(_ files: [ScannedFile]) -> [String] { files.map(\.relativePath.description) }

  @Test("files come in byte order of their path, hidden ones included")
  func order() throws {
    let folder = try TemporaryFolder()
    let names = ["a0.jpg", "a/x.jpg", "a-b.jpg", "a/b/c.jpg", ".hidden.jpg", "B.jpg", "é.jpg", "e\u{301}.jpg", "z.jpg"]
    for name in names { try folder.write(name, Data(name.utf8)) }
    let found = try FolderScan().files(in: [folder.asRoot])
    let sorted = names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(found.map(\.relativePath.bytes) == sorted)
  }

  @Test("a name that is not UTF-8 and one with a line feed are kept byte for byte")
  func strangeNames() throws {
    let folder = try TemporaryFolder()
    for name: [UInt8] in [[0xFF, 0xFE, 0x2E, 0x6A], Array("a\nb.jpg".utf8), Array("-v.jpg".utf8)] {
      let path = folder.asRoot.appending(name)
      let descriptor = path.withCString { open($0, O_CREAT | O_WRONLY, 0o600) }
      #expect(descriptor >= 0)
      close(descriptor)
      #expect(try FolderScan().files(in: [folder.asRoot]).contains { Array($0.path.nameBytes) == name })
    }
  }

  @Test("naming a folder, its child and a file in it lists each file once")
  func overlapping() throws {
    let folder = try TemporaryFolder()
    try folder.write("a/b/x.jpg", Data("x".utf8))
    try folder.write("a/y.jpg", Data("y".utf8))
    let roots = ["a/b/x.jpg", "a", "a/b", "a/y.jpg", "."].map { FilePath("\(folder.path)/\($0)") }
    #expect(try FolderScan().files(in: roots).map(\.path.name).sorted() == ["x.jpg", "y.jpg"])
  }

  @Test("a link to a file is followed; a link to a folder is an entry with a reason, so no loop is walked")
  func links() throws {
    let folder = try TemporaryFolder()
    try folder.write("store/x", Data("x".utf8))
    symlink("store/x", "\(folder.path)/link.jpg")
    symlink("..", "\(folder.path)/store/up")
    let found = try FolderScan().files(in: [folder.asRoot])
    #expect(Self.relative(found) == ["link.jpg", "store/up", "store/x"])
    #expect(found[0].role == .candidate && found[2].role == .candidate)
    guard case .unusable = found[1].role else { throw ImportError(.unreadable, "the link to a folder is unusable") }
  }

  @Test("an unreadable folder is reported, with the reason", .enabled(if: geteuid() != 0))
  func unlistable() throws {
    let folder = try TemporaryFolder()
    try folder.write("secret/x.jpg", Data("x".utf8))
    chmod("\(folder.path)/secret", 0)
    let found = try FolderScan().files(in: [folder.asRoot])
    #expect(found.count == 1)
    guard case .settled(.skipped(.unreadable, let reason))? = found.first?.role else {
      throw ImportError(.unreadable, "secret")
    }
    #expect(reason.contains("Permission denied"))
  }

  @Test("a folder whose path is longer than the kernel takes counts as lost, also to root")
  func tooLongPath() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", ImportTests.still("a"))
    var parent = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<20 {
      let name = String(repeating: "d", count: 250)
      #expect(mkdirat(parent, name, 0o755) == 0)
      let child = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      close(parent)
      parent = child
    }
    close(parent)
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 1 && summary.skipped == ["unreadable": 1] && summary.lostCount == 1)
    #expect(summary.skippedFiles.first?.message.contains("cannot be listed") == true)
  }

  @Test("a library's folder is not walked, below a root or as one, and is an entry with the reason, once")
  func libraries() throws {
    let folder = try TemporaryFolder()
    try folder.write("a/x.jpg", Data("x".utf8))
    try folder.write("a/library/store/data.mdb", Data())
    try folder.write("a/library/resources/ab/cd", Data("y".utf8))
    // A name that is not UTF-8.
    let odd = folder.asRoot.appending([0xFF, 0xFE])
    #expect(odd.withCString { mkdir($0, 0o755) } == 0)
    let library = FilePath("\(folder.path)/a/library")
    let inOdd = odd.appending(Array("library".utf8))
    #expect(library.withCString { from in inOdd.withCString { rename(from, $0) } } == 0)
    var scan = FolderScan()
    for excluded in [[], [inOdd]] {
      scan.excluded = excluded
      for roots in [[folder.asRoot], [inOdd, folder.asRoot], [folder.asRoot, inOdd]] {
        let found = try scan.files(in: roots).filter { $0.path == FolderScan.canonical(inOdd) }
        guard case .settled(.skipped(.excluded, let reason))? = found.first?.role else {
          throw ImportError(.unreadable, "The library is an entry of its own.")
        }
        #expect(found.count == 1 && reason.hasSuffix("the folder of a PhotoLedger library, which is skipped."))
        #expect(try !scan.files(in: roots).contains { $0.path.name == "cd" })
      }
    }
  }

  @Test(
    "auxiliary and temporary files of other programs and devices are left out, unless all names are requested",
    arguments: [
      "DCIM/Camera/.trashed-1735689600-IMG_1.jpg", "DCIM/Camera/.pending-1735689600-IMG_2.jpg", "GOPR0001.THM",
      "gopr0001.lrv", "DJI_0001.LRF", "M4ROOT/THMBNL/C0001T01.JPG", "@Recycle/a.jpg", "photos/.@__thumb/default1.jpg",
      "DCIM/.syncthing.IMG_1.jpg.tmp", "~syncthing~IMG_1.jpg.tmp", "IMG_1.jpg.!sync", ".IMG_1.jpg.Xa3b9Q",
      ".rsync-partial/IMG_1.jpg", ".~tmp~/IMG_1.jpg", "IMG_1.jpg.part", "IMG_1.jpg.partial", "IMG_1.JPG.FILEPART",
      "Unconfirmed 1.crdownload", "IMG_1.jpg.download/IMG_1.jpg", ".IMG_1.jpg.~3fa1",
    ])
  func usualExclusions(name: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(name, Data("x".utf8))
    try folder.write("a.jpg", Data("a".utf8))
    var scan = FolderScan()
    scan.selection = NameSelection(excluded: LibraryImport.Options.usualExclusions)
    let found = try scan.files(in: [folder.asRoot])
    #expect(found.filter { $0.role == .candidate }.map(\.path.name) == ["a.jpg"])
    let left = try #require(found.first { $0.path.name != "a.jpg" })
    guard case .settled(.skipped(.excluded, _)) = left.role else { throw ImportError(.unreadable, name) }
    let all = try FolderScan().files(in: [folder.asRoot])
    #expect(all.count == 2 && all.allSatisfy { $0.role == .candidate })
  }

  @Test(
    "a name that only resembles a temporary file's is imported",
    arguments: [
      "IMG_1.jpg.Xa3b9Q", ".IMG_1.jpg", ".IMG.01.jpg", ".a.x.heic", ".trip.photos/IMG_1.jpg", "IMG_1.~2.jpg",
      "part.jpg", "a.parts/IMG_1.jpg", "syncthing.jpg", "~IMG_1.jpg",
    ])
  func resemblingNames(name: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(name, Data("x".utf8))
    var scan = FolderScan()
    scan.selection = NameSelection(excluded: LibraryImport.Options.usualExclusions)
    let found = try scan.files(in: [folder.asRoot])
    #expect(found.count == 1 && found.allSatisfy { $0.role == .candidate })
  }

  @Test("folders are walked deeper than files can be open")
  func depth() throws {
    let folder = try TemporaryFolder()
    // More than the usual limit of 1024, and the path is within the kernel's of 4096 bytes.
    let depth = 1500
    try folder.write(String(repeating: "d/", count: depth) + "x.jpg", Data("x".utf8))
    let found = try FolderScan().files(in: [folder.asRoot])
    #expect(found.map(\.path.name) == ["x.jpg"])
    #expect(found.first?.relativePath.bytes.count == 2 * depth + 5)
  }

  @Test("a pattern that is compared as bytes matches what the shell matches")
  func patterns() {
    var random = SplitMix(state: 7)
    let letters = Array("aAzZ.@_#* ?[".utf8)
    for _ in 0..<4000 {
      func word(_ most: Int, _ letters: ArraySlice<UInt8>) -> [UInt8] {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in letters.randomElement(using: &random) ?? 0x61 }
      }
      let pattern = String(decoding: word(4, letters[...]), as: UTF8.self)
      let name = word(6, letters.dropLast(3) + [0xC3, 0x5A])
      let expected = FilePath(bytes: name).withCString { fnmatch(pattern, $0, 1 << 4) } == 0
      #expect(NamePattern(pattern).fits(Array("folder/".utf8) + name) == expected, "\(pattern) \(name)")
    }
  }

  @Test("a folder that does not exist is an error that names it")
  func missing() throws {
    let path = FilePath("/no/such/folder of photos")
    let error = #expect(throws: ImportError.self) { try FolderScan().files(in: [path]) }
    #expect(error?.code == .notFound)
    #expect(error?.description.contains("/no/such/folder of photos") == true)
  }

  @Test("more files than the limit end the walk with an error")
  func limit() throws {
    let folder = try TemporaryFolder()
    for index in 0..<5 { try folder.write("\(index).jpg", Data()) }
    var scan = FolderScan()
    scan.maximumFileCount = 4
    #expect(throws: ImportError.self) { try scan.files(in: [folder.asRoot]) }
    scan.maximumFileCount = 5
    #expect(try scan.files(in: [folder.asRoot]).count == 5)
  }

  @Test(
    "names that describe other files are sidecars",
    arguments: [("x.XMP", true), ("IMG_1.AAE", true), ("x.jpg.json", true), (".json", false), ("x.jpg", false)])
  func sidecars(name: String, isSidecar: Bool) throws {
    let folder = try TemporaryFolder()
    try folder.write(name, Data("{}".utf8))
    #expect(try FolderScan().files(in: [folder.asRoot]).first?.role == (isSidecar ? .sidecar : .candidate))
  }
}
