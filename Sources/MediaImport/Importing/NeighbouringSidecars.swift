internal import Foundation
internal import PhotoLedger
internal import Synchronization

// The sidecars that lie beside some files, without a walk: for files whose places are known.
//
//     files ──▶ their folders, each listed once ──▶ names that can be a sidecar's ──▶ SidecarSource, as at an import
//
// Files are asked about a hundred at a time, and one folder may hold a hundred thousand. So what a listing found is
// kept for all questions of a run; a sidecar that comes after it is found by the next run.
//
// The names and the precedence are those of an import with sidecars. PhotoPrism's tree of its own is not beside its
// photos, and so is not found.

/// Finds and reads the sidecars beside files.
struct NeighbouringSidecars {
  let reading: SourceReading
  let folders: SidecarFolders

  /// What the sidecars beside files say, by the path of the file; those that cannot be read say nothing.
  func notes(of files: Set<FilePath>) async throws(ImportError) -> [FilePath: MediaNote] {
    var notes: [FilePath: MediaNote] = [:]
    for (folder, files) in Dictionary(grouping: files, by: { Array($0.folderBytes) }) {
      let sidecars = folders.sidecars(of: files, in: folder)
      if sidecars.isEmpty { continue }
      let scanned = files.sorted().map { Self.scanned($0, .candidate) } + sidecars.map { Self.scanned($0, .sidecar) }
      let source = SidecarSource(
        options: reading.options, files: scanned, statements: try await reading.statements(scanned).records)
      for file in source.catalog().files where file.role == .candidate { notes[file.path] = file.note }
    }
    return notes
  }

  private static func scanned(_ path: FilePath, _ role: ScannedFile.Role) -> ScannedFile {
    ScannedFile(path: path, relativeCount: path.nameBytes.count, role: role, byteCount: 0)
  }
}

/// The sidecars in folders, each of which is listed once.
final class SidecarFolders: Sendable {
  /// The names of the entries of a folder.
  typealias List = @Sendable (_ path: String) throws -> [String]

  /// By folder, then by the name that the sidecar has before its own ending.
  private let known = Mutex<[[UInt8]: [[UInt8]: [FilePath]]]>([:])
  private let list: List

  /// - Parameter list: lists a folder.
  init(list: @escaping List = { try FileManager.default.contentsOfDirectory(atPath: $0) }) { self.list = list }

  /// The sidecars in a folder that have the names of some of its files, with or without their endings.
  /// - Complexity: O(k log k) for k files, and once for each folder O(m) for its m entries.
  func sidecars(of files: [FilePath], in folder: [UInt8]) -> [FilePath] {
    let names = Set(files.map { Array($0.nameBytes) } + files.map { Self.stem($0) })
    return known.withLock { known in
      let sidecars = known[folder] ?? sidecars(in: folder)
      known[folder] = sidecars
      return names.flatMap { sidecars[$0] ?? [] }.sorted()
    }
  }

  private func sidecars(in folder: [UInt8]) -> [[UInt8]: [FilePath]] {
    let entries: [String]
    do { entries = try list(FilePath(bytes: folder).description) } catch {
      // The files of a folder that cannot be listed are found missing themselves.
      return [:]
    }
    let paths = entries.map { FilePath(bytes: folder + [FilePath.slash] + Array($0.utf8)) }
    return Dictionary(grouping: paths.filter { SidecarSource.endings.contains($0.pathExtension) }, by: Self.stem)
  }

  /// The name without its ending.
  private static func stem(_ path: FilePath) -> [UInt8] { Array(FilePath(bytes: path.stemBytes).nameBytes) }
}
