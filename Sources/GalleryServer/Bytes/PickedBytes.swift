#if Gallery
  import Foundation
  import PhotoLedger

  /// The bytes of picked items: proved or converted by the core into a file without a name, and sent from that.
  enum PickedBytes {
    static let copyPrefix = "server/.picked-"

    /// Removes the copies that a server left which was killed while it made them.
    static func removeLeftCopies(in folder: LibraryFolder) {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.linkedPath(of: "server"))) ?? []
      for name in names where "server/\(name)".hasPrefix(copyPrefix) { folder.remove("server/\(name)") }
    }
  }
#endif
