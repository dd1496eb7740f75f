package import Foundation
package import PhotoLedger

/// A folder that is deleted when its owner goes.
///
/// It lies in memory (`/dev/shm`) where there is such a place: tests commit ten thousands of times, and a sync that
/// reaches a disk would be nearly all of their time.
package final class TemporaryFolder: Sendable {
  package let url: URL

  package init() throws {
    let memory = URL(filePath: "/dev/shm")
    let isRoomy = FileManager.default.isWritableFile(atPath: memory.path)
    let parent = isRoomy ? memory : FileManager.default.temporaryDirectory
    url = parent.appending(path: "photoledger-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A place in the folder where nothing is yet.
  package func place(_ name: String) -> URL { url.appending(path: name) }
}

/// An empty library in a folder of its own; closed and deleted when its owner goes.
package final class TemporaryLibrary: Sendable {
  package let library: PhotoLibrary
  package let folder: TemporaryFolder

  package init(_ environment: LibraryEnvironment = .seeded(1)) throws {
    folder = try TemporaryFolder()
    library = try PhotoLibrary.create(at: folder.place("library"), environment: environment)
  }

  deinit { library.close() }

  /// The directory of the library.
  package var url: URL { folder.place("library") }
}
