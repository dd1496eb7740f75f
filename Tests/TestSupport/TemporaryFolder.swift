package import Foundation
package import PhotoLedger

/// A folder that is deleted when its owner goes.
///
/// It lies in memory (`/dev/shm`) where that has room: tests commit ten thousands of times, and a sync that
/// reaches a disk would be nearly all of their time. A test that is meant to trap leaves its folder behind; the folders
/// of processes that have ended are deleted by the next one.
package final class TemporaryFolder: Sendable {
  package let url: URL

  private static let prefix = "photoledger-test-"
  private static let memory = URL(filePath: "/dev/shm")
  /// Both places: which one has room may have been different then.
  private static let sweep: Void = {
    for folder in [memory, FileManager.default.temporaryDirectory] { removeForgotten(in: folder) }
  }()

  package init() throws {
    Self.sweep
    url = Self.parent.appending(path: "\(Self.prefix)\(getpid())-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  private static let parent: URL = {
    // A container has 64 MiB there by default, and tests that run at the same time write more.
    var space = statvfs()
    let isThere = statvfs(memory.path, &space) == 0
    let mebibytes = UInt64(space.f_bavail) * UInt64(space.f_frsize) / 1_048_576
    let isUsable = isThere && mebibytes >= 1024 && FileManager.default.isWritableFile(atPath: memory.path)
    return isUsable ? memory : FileManager.default.temporaryDirectory
  }()

  private static func removeForgotten(in folder: URL) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let owner = pid_t(name.dropFirst(prefix.count).prefix { $0 != "-" }) else { continue }
      if kill(owner, 0) != 0, errno == ESRCH { try? FileManager.default.removeItem(at: folder.appending(path: name)) }
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A place in the folder where nothing is yet.
  package func place(_ name: String) -> URL { url.appending(path: name) }
}

/// An empty library in a folder of its own; closed and deleted when its owner goes.
package final class TemporaryLibrary: Sendable {
  package let library: PhotoLibrary
  package let folder: TemporaryFolder

  /// - Parameter folder: where the library lies; one in a folder of its own if nil.
  package init(_ environment: LibraryEnvironment = .seeded(1), in folder: TemporaryFolder? = nil) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    library = try PhotoLibrary.create(at: folder.place("library"), environment: environment)
  }

  deinit { library.close() }

  /// The directory of the library.
  package var url: URL { folder.place("library") }

  /// Lets clients see and change everything.
  package func authorize(_ clients: String...) throws {
    try library.performChangesAndWait { change in
      for client in clients { change.setAuthorizationStatus(.authorized, of: client) }
    }
  }
}
