internal import Foundation
internal import PhotoLedger

// The sidecars that lie beside some files, without a walk: for files whose places are known.
//
//     files ──▶ their folders, each listed once ──▶ names that can be a sidecar's ──▶ SidecarSource, as at an import
//
// The names and the precedence are those of an import with sidecars. PhotoPrism's tree of its own is not beside its
// photos, and so is not found.

/// Finds and reads the sidecars beside files.
struct NeighbouringSidecars {
  let reading: SourceReading

  /// What the sidecars beside files say, by the path of the file; those that cannot be read say nothing.
  func notes(of files: Set<FilePath>) async throws(ImportError) -> [FilePath: MediaNote] {
    var notes: [FilePath: MediaNote] = [:]
    for (folder, files) in Dictionary(grouping: files, by: { Array($0.folderBytes) }) {
      let sidecars = Self.sidecars(of: files, in: folder)
      if sidecars.isEmpty { continue }
      let scanned = files.sorted().map { Self.scanned($0, .candidate) } + sidecars.map { Self.scanned($0, .sidecar) }
      let source = SidecarSource(
        options: reading.options, files: scanned, statements: try await reading.statements(scanned))
      for file in source.catalog().files where file.role == .candidate { notes[file.path] = file.note }
    }
    return notes
  }

  private static func scanned(_ path: FilePath, _ role: ScannedFile.Role) -> ScannedFile {
    ScannedFile(path: path, relativePath: FilePath(bytes: path.nameBytes), role: role, byteCount: 0)
  }

  /// The entries of a folder whose names are those of sidecars of some of its files.
  private static func sidecars(of files: [FilePath], in folder: [UInt8]) -> [FilePath] {
    let names = Set(files.map { Array($0.nameBytes) } + files.map { Array(FilePath(bytes: $0.stemBytes).nameBytes) })
    let entries: [String]
    do { entries = try FileManager.default.contentsOfDirectory(atPath: FilePath(bytes: folder).description) } catch {
      // The files of a folder that cannot be listed are found missing themselves.
      return []
    }
    return entries.map { FilePath(bytes: folder + [FilePath.slash] + Array($0.utf8)) }.sorted().filter { path in
      SidecarSource.endings.contains(path.pathExtension)
        && names.contains(Array(FilePath(bytes: path.stemBytes).nameBytes))
    }
  }
}
