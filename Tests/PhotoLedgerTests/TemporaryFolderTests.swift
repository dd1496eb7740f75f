import Foundation
import TestSupport
import Testing

// The folders of tests lie in memory or on the disk, as there is room. What a process left behind is in either.

@Suite("Folders of tests")
struct TemporaryFolderTests {
  @Test("a folder whose process is gone is deleted by the next process, in memory as on the disk")
  func forgotten() async throws {
    let files = FileManager.default
    // No process has this number.
    let name = "photoledger-test-\(pid_t.max)-\(UUID().uuidString)"
    let left = [URL(filePath: "/dev/shm"), files.temporaryDirectory]
      .filter { files.isWritableFile(atPath: $0.path) }.map { $0.appending(path: name) }
    defer { for folder in left { try? files.removeItem(at: folder) } }
    for folder in left { try files.createDirectory(at: folder, withIntermediateDirectories: true) }
    await #expect(processExitsWith: .success) { _ = try TemporaryFolder() }
    #expect(left.filter { files.fileExists(atPath: $0.path) } == [])
  }
}
