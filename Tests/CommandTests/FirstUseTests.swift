import EventLog
import Foundation
import LMDB
import StoreTestSupport
import TestSupport
import Testing

@testable import PhotoLedgerCommand

// The first command that a person runs, with no library yet and nothing set.

@Suite("First use")
struct FirstUseTests {
  /// GIF images of one pixel, each of another colour.
  private func pictures(in folder: URL, count: Int) throws -> String {
    let pictures = folder.appending(path: "pictures")
    try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
    for index in 0..<count {
      var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0]
      bytes += [UInt8(index), 0, 0, 255, 255, 255, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
      try Data(bytes).write(to: pictures.appending(path: "\(index).gif"))
    }
    return pictures.path
  }

  /// Runs the program with these variables and no others but PATH.
  private func run(_ words: [String], _ variables: [String: String] = [:]) throws -> RunResult {
    var environment = variables
    environment["PATH"] = ProcessInfo.processInfo.environment["PATH"]
    let child = try ChildRun(programURL, words, environment: environment)
    let output = String(decoding: try child.output.readToEnd() ?? Data(), as: UTF8.self)
    let errors = String(decoding: try child.errors.readToEnd() ?? Data(), as: UTF8.self)
    return RunResult(end: child.end(), output: output, errors: errors)
  }

  private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  @Test("an import creates the library that it fills, says so, and the next one finds it")
  func importMakesLibrary() throws {
    let folder = try TemporaryFolder()
    let photos = try pictures(in: folder.url, count: 3)
    let library = folder.place("deep/down/library")
    let first = try run(["import", photos, "--library", library.path, "--json"])
    #expect(first.status == 0 && first.errors.contains("Created the library \(library.path)"))
    #expect(try first.objects().first?["assetsAdded"] as? Int == 3)
    let second = try run(["import", photos, "--library", library.path, "--json"])
    #expect(second.status == 0 && second.errors.isEmpty)
    #expect(try second.objects().first?["duplicates"] as? Int == 3)
    #expect(try run(["verify", "--library", library.path]).status == 0)
  }

  @Test(
    "an import that may not create a library, or fails, leaves nothing behind",
    arguments: [
      (["import", "pictures", "--no-create"], "There is no library at "),
      (["import", "pictures", "--as", "com.example.scanner"], "There is no library at "),
      (["import", "nowhere"], "nowhere cannot be imported"),
      (["import", "pictures", "nowhere"], "nowhere cannot be imported"),
    ])
  func leavesNothing(words: [String], sentence: String) throws {
    let folder = try TemporaryFolder()
    _ = try pictures(in: folder.url, count: 1)
    let words = words.map { ["pictures", "nowhere"].contains($0) ? folder.place($0).path : $0 }
    let result = try run(words + ["--library", folder.place("a/library").path])
    #expect(result.status == 1 && result.errors.contains(sentence), "\(result.errors)")
    #expect(!exists(folder.place("a")))
  }

  @Test(
    "an import that fails after it created the library removes the library, and folders of others stay",
    .mountsMemory)
  func takesBack() throws {
    let folder = try TemporaryFolder()
    let photos = try pictures(in: folder.url, count: 1)
    // A picture for which the disk of the library has no room.
    let file = try FileHandle(forUpdating: URL(filePath: photos + "/0.gif"))
    try file.truncate(atOffset: 4 << 20)
    try file.close()
    let disk = folder.place("disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    try mountMemory(at: disk, kilobytes: 1024)
    defer { umount2(disk.path, Int32(MNT_DETACH)) }
    try FileManager.default.createDirectory(at: disk.appending(path: "mine"), withIntermediateDirectories: true)
    let result = try run(["import", photos, "--library", disk.appending(path: "mine/new/library").path])
    #expect(result.status == 1 && result.errors.contains("Created the library"), "\(result.errors)")
    #expect(result.errors.contains("was removed again"), "\(result.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.appending(path: "mine").path).isEmpty)
  }

  @Test("no library is created in a folder that holds something else")
  func occupied() throws {
    let folder = try TemporaryFolder()
    let photos = try pictures(in: folder.url, count: 1)
    let result = try run(["import", photos, "--library", folder.url.path])
    #expect(result.status == 1 && result.errors.contains("is not empty"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["pictures"])
  }

  @Test(
    "an import finishes a library whose creation was interrupted; another command says that there is none",
    arguments: [false, true])
  func unfinished(hasTables: Bool) throws {
    let folder = try TemporaryFolder()
    let photos = try pictures(in: folder.url, count: 2)
    let library = folder.place("library")
    let store = library.appending(path: "store")
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    if hasTables {
      var options = Environment.Options()
      options.maxDatabases = 16
      let environment = try Environment.open(path: store.path, options: options)
      _ = try EventLog(in: environment)
      try environment.close()
    } else {
      try Data().write(to: store.appending(path: "data.mdb"))
    }
    for words in [["ls"], ["rebuild"], ["import", photos, "--no-create"]] {
      let absent = try run(words + ["--library", library.path])
      #expect(absent.status == 1 && absent.errors.contains("holds no finished library"), "\(words): \(absent.errors)")
    }
    let first = try run(["import", photos, "--library", library.path, "--json"])
    #expect(first.status == 0, "\(first.errors)")
    #expect(try first.objects().first?["assetsAdded"] as? Int == 2)
    #expect(try run(["verify", "--library", library.path]).status == 0)
  }

  @Test(
    "a library that lost its store is not created again where its files may be, or where it held more than files",
    arguments: ["resources", "renditions"])
  func lostStore(name: String) throws {
    let folder = try TemporaryFolder()
    let photos = try pictures(in: folder.url, count: 1)
    let library = folder.place("library")
    let store = library.appending(path: "store/data.mdb")
    try FileManager.default.createDirectory(at: store.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: store)
    let place = library.appending(path: name).path
    // The disk that the link leads to is not there.
    #expect(name == "resources" ? symlink("/nowhere/resources", place) == 0 : mkdir(place, 0o700) == 0)
    let result = try run(["import", photos, "--library", library.path])
    #expect(result.status == 1 && result.errors.contains("holds no finished library"), "\(result.errors)")
    #expect(try Data(contentsOf: store).isEmpty)
  }

  @Test("without a name the library is in the user's data folder, which is created for the user alone")
  func dataFolder() throws {
    let folder = try TemporaryFolder()
    let photos = try pictures(in: folder.url, count: 2)
    let home = folder.place("home")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let variables = ["HOME": home.path, "XDG_DATA_HOME": "relative/data", "PHOTOLEDGER_LIBRARY": ""]
    #expect(try run(["import", photos], variables).status == 0)
    let library = home.appending(path: ".local/share/photoledger/library")
    #expect(exists(library.appending(path: "store/data.mdb")))
    let attributes = try FileManager.default.attributesOfItem(atPath: home.appending(path: ".local/share").path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    #expect(try run(["ls", "--json"], variables).lines.count == 2)
    #expect(try run(["ls", "--json"], ["HOME": home.path]).lines.count == 2)
    let data = ["HOME": home.path, "XDG_DATA_HOME": folder.place("data").path]
    #expect(try run(["init"], data).status == 0)
    #expect(exists(folder.place("data/photoledger/library")))
    #expect(try run(["ls", "--json"], data).lines.isEmpty)
    let named = ["HOME": home.path, "PHOTOLEDGER_LIBRARY": folder.place("data/photoledger/library").path]
    #expect(try run(["ls", "--json"], named).lines.isEmpty)
  }

  @Test(
    "where there is no library, a command says where it searched, why there, and what to do",
    arguments: [["ls"], ["log"], ["verify"], ["rebuild"], ["compact"], ["pick", "--as", "a"], ["export"]])
  func absence(words: [String]) throws {
    let folder = try TemporaryFolder()
    let place = folder.place("none").path
    let byOption = try run(words + ["--library", place])
    #expect(byOption.status == 1 && byOption.errors.contains("There is no library at \(place). --library names it"))
    let byVariable = try run(words, ["PHOTOLEDGER_LIBRARY": place])
    #expect(byVariable.errors.contains("at \(place). PHOTOLEDGER_LIBRARY names it"), "\(byVariable.errors)")
    let standard = try run(words, ["HOME": folder.url.path])
    #expect(standard.errors.contains("at \(folder.url.path)/.local/share/photoledger/library. "))
    for result in [byOption, byVariable, standard] {
      #expect(result.status == 1 && result.errors.contains("`import FOLDER` or `init`"))
    }
    #expect(try run(words + ["--library", ""]).status == 2)
    #expect(try run(words + ["--library", folder.url.path]).errors.contains("\(folder.url.path) is not a library"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test("the help of the program and of commands names the standard library")
  func help() throws {
    for words in [["--help"], ["ls", "--help"], ["import", "--help"], ["init", "--help"]] {
      let words = try run(words).output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
      #expect(words.contains("~/.local/share/photoledger/library (or in XDG_DATA_HOME)"))
    }
  }

  @Test(
    "a library for which the disk has no room leaves nothing behind, however little room there is",
    .mountsMemory, arguments: [4, 12, 40, 44, 48, 64, 72])
  func fullDisk(kilobytes: Int) throws {
    let folder = try TemporaryFolder()
    let disk = folder.place("disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    try mountMemory(at: disk, kilobytes: kilobytes)
    defer { umount2(disk.path, Int32(MNT_DETACH)) }
    let result = try run(["init", disk.appending(path: "a/library").path])
    #expect(result.status == 1 && result.errors.contains("the disk is full"), "\(kilobytes) KiB: \(result.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty, "\(kilobytes) KiB")
  }
}

/// Mounts a file system in memory.
private func mountMemory(at folder: URL, kilobytes: Int) throws {
  guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
  }
}
