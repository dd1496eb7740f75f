public import Foundation
public import PhotoLedger

// When a library was last backed up and verified, so that a later reader can see whether it is maintained.
//
//     LIBRARY/care/backup.json          the last backup that was finished
//                  verification.json    the last verification that found nothing wrong
//                  checkpoint.json      the last that compared the log with a checkpoint kept elsewhere
//
// Records beside the log, not events: a read-only library can be backed up and verified, and a program's own statement
// proves nothing, so nothing is derived from it. Any program with write access to the directory can write them.
//
// Each kind has its own file, which is replaced as a whole, so that two programs that record at once lose nothing.

/// The last maintenance times of a library.
public struct MaintenanceRecord: Sendable, Hashable {
  /// What can be noted.
  public enum Kind: String, Sendable, CaseIterable {
    /// A backup was finished.
    case backup
    /// A verification found nothing wrong.
    case verification
    /// A verification found that the log begins with every checkpoint that it was compared with.
    case checkpoint
  }

  /// When something was done, and how far the log reached then.
  public struct Entry: Sendable, Hashable, Codable {
    /// When it was done.
    public let date: Date
    /// How many events the log had.
    public let eventCount: UInt64
    /// The chain hash at that end of the log, in hexadecimal digits.
    public let chain: String
  }

  /// The last backup; nil if none was noted.
  public internal(set) var backup: Entry?
  /// The last verification that found nothing wrong; nil if none was noted.
  public internal(set) var verification: Entry?
  /// The last that compared the log with a checkpoint; nil if none was noted.
  public internal(set) var checkpoint: Entry?

  fileprivate static let folder = "care"
  /// A longer file was not written by this program.
  fileprivate static let byteLimit: Int64 = 4096
}

extension PhotoLibrary {
  /// Reads what was last done to keep the library safe.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.corrupted` for a note that cannot
  ///   be read, `.storage`.
  /// - Complexity: O(1).
  public func maintenanceRecord() throws -> MaintenanceRecord {
    try checkIsOwner("read the maintenance times")
    return try store.folder.withPath { library in
      func entry(_ kind: MaintenanceRecord.Kind) throws -> MaintenanceRecord.Entry? {
        let path = "\(library)/\(MaintenanceRecord.folder)/\(kind.rawValue).json"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let count = LibraryCopy.byteCount(ofFile: path), count <= MaintenanceRecord.byteLimit,
          let bytes = FileManager.default.contents(atPath: path)
        else { throw LibraryError(.corrupted, "\(path) cannot be read; remove the file, which contains only a time.") }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
          return try decoder.decode(MaintenanceRecord.Entry.self, from: bytes)
        } catch {
          throw LibraryError(
            .corrupted, "\(path) is not a maintenance record; remove the file, which contains only a time.")
        }
      }
      return MaintenanceRecord(
        backup: try entry(.backup), verification: try entry(.verification), checkpoint: try entry(.checkpoint))
    }
  }

  /// Records a completed backup.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.storage` where the directory cannot
  ///   be written.
  /// - Complexity: O(1).
  public func note(_ report: BackupReport) throws {
    try note(.backup, report.eventCount, report.chain)
  }

  /// Records a verification without defects; one with a defect is not recorded.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.storage` where the directory cannot
  ///   be written.
  /// - Complexity: O(1).
  public func note(_ found: Verification) throws {
    guard found.isSound else { return }
    try note(.verification, found.eventCount, found.chain)
    if found.checkpointCount > 0 { try note(.checkpoint, found.eventCount, found.chain) }
  }

  private func note(_ kind: MaintenanceRecord.Kind, _ eventCount: UInt64, _ chain: String) throws {
    try checkIsOwner("record maintenance times")
    let entry = MaintenanceRecord.Entry(
      date: store.core.libraryEnvironment.date(), eventCount: eventCount, chain: chain)
    try store.folder.withPath { library in
      let folder = URL(filePath: "\(library)/\(MaintenanceRecord.folder)", directoryHint: .isDirectory)
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      encoder.outputFormatting = [.sortedKeys]
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The next note removes what one that was killed left.
        let file = try UnfinishedFile(at: folder.appending(path: "\(kind.rawValue).json"), isReplacing: true)
        try file.write(Array(encoder.encode(entry)))
        try file.finish()
      } catch let error as LibraryError {
        throw error
      } catch {
        throw LibraryError(.storage, "\(folder.path) cannot be written: \(LibraryError.reason(of: error)).")
      }
    }
  }
}
