import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite(
  "What the exiftool of uploads may read",
  .enabled(if: CuriousExifTool.isPossible, "Needs a sandbox that keeps files away, and perl."))
struct ConfinedIntakeTests {
  private static let uploads = "server/uploads"

  /// What exiftool can read when a file is added: it is in the reason for which the file is refused.
  private func answer(
    _ name: String, of intake: MediaIntake, _ library: PhotoLibrary, at path: String
  ) async throws -> String {
    let file = "\(Self.uploads)/\(name)"
    try Data(name.utf8).write(to: URL(filePath: "\(path)/\(file)"))
    let content = try FileContent(of: FilePath("\(path)/\(file)"))
    let refusal = await #expect(throws: MediaIntake.Refusal.self) {
      try await intake.take(file, content, named: "a.jpg", into: library, key: name, cause: "test")
    }
    return refusal?.description ?? ""
  }

  @Test("it reads the uploads and not the store, also when their folder is made anew or the library is moved")
  func confined() async throws {
    let rig = try ImportedLibrary()
    let programs = try TemporaryFolder()
    try CuriousExifTool.write(in: programs.path)
    let (old, new) = (rig.library.url.path, rig.library.url.path + " elsewhere")
    let folder = URL(filePath: "\(old)/\(Self.uploads)")
    try #require(FileManager.default.isReadableFile(atPath: "\(old)/store/data.mdb"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let intake = MediaIntake(searchPath: programs.path, confinedTo: Self.uploads)
    defer { intake.close() }

    let first = try await answer("first", of: intake, rig.library, at: old)
    #expect(first.contains("(own no-store)"), "\(first)")
    try FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let anew = try await answer("anew", of: intake, rig.library, at: old)
    #expect(anew.contains("(own no-store)"), "\(anew)")
    try #require(rename(old, new) == 0)
    let moved = try await answer("moved", of: intake, rig.library, at: new)
    #expect(moved.contains("(own no-store)"), "\(moved)")

    let free = MediaIntake(searchPath: programs.path)
    defer { free.close() }
    let all = try await answer("all", of: free, rig.library, at: new)
    #expect(all.contains("(own STORE)"), "The test has something to find: \(all)")
  }

  @Test("it reads the uploads of a library that is named by a link, also when the library and the link are moved")
  func linked() async throws {
    let (folder, programs) = (try TemporaryFolder(), try TemporaryFolder())
    try CuriousExifTool.write(in: programs.path)
    let (old, new, link) = (folder.path + "/old", folder.path + "/new", folder.path + "/link")
    try PhotoLibrary.create(at: URL(filePath: old)).close()
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: old)
    let library = try PhotoLibrary(at: URL(filePath: link))
    defer { library.close() }
    try FileManager.default.createDirectory(
      at: URL(filePath: "\(old)/\(Self.uploads)"), withIntermediateDirectories: true)
    let intake = MediaIntake(searchPath: programs.path, confinedTo: Self.uploads)
    defer { intake.close() }

    let first = try await answer("first", of: intake, library, at: link)
    #expect(first.contains("(own no-store)"), "\(first)")
    try #require(rename(old, new) == 0 && unlink(link) == 0)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: new)
    // A process that runs keeps what it saw when it was started.
    intake.close()
    let moved = try await answer("moved", of: intake, library, at: link)
    #expect(moved.contains("(own no-store)"), "\(moved)")
  }

  @Test("a process that was asked about files of one client is asked about none of another")
  func clients() async throws {
    let rig = try ImportedLibrary()
    let programs = try TemporaryFolder()
    try CountingExifTool.write(in: programs.path)
    let path = rig.library.url.path
    try FileManager.default.createDirectory(atPath: "\(path)/\(Self.uploads)", withIntermediateDirectories: true)
    let intake = MediaIntake(searchPath: programs.path, confinedTo: Self.uploads)
    defer { intake.close() }
    // So few answers start no second process.
    for (name, client, count) in [("a", "one", 1), ("b", "one", 2), ("c", "two", 1), ("d", "one", 1)] {
      let answer = try await answer(name, of: intake, rig.library.as(client), at: path)
      #expect(answer.contains("(answer \(count))"), "\(name): \(answer)")
    }
  }
}
