import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

/// A real library in a folder of its own, with what tests ask about an import into it.
final class ImportedLibrary: Sendable {
  let folder: TemporaryFolder
  let library: PhotoLibrary

  init() throws {
    folder = try TemporaryFolder()
    library = try PhotoLibrary.create(at: Self.place(in: folder.path))
  }

  deinit { library.close() }

  static func place(in path: String) -> URL { URL(filePath: path).appending(path: "library") }

  /// Imports, and gives the outcome of each file by its relative path.
  func run(
    _ roots: [FilePath], _ options: LibraryImport.Options = LibraryImport.Options(), of export: MediaExport = .folders,
    cause: String? = nil, report: @escaping @Sendable (FileReport) -> Void = { _ in }
  ) async throws -> (summary: ImportSummary, outcomes: [String: FileOutcome]) {
    let outcomes = Mutex<[String: FileOutcome]>([:])
    let summary = try await LibraryImport(into: library, options: options.sharingTool()).run(
      roots, of: export, cause: cause,
      report: { file in
        outcomes.withLock { $0[file.relativePath.description] = file.outcome }
        report(file)
      })
    return (summary, outcomes.withLock { $0 })
  }

  func assets() throws -> [Asset] { Array(try library.fetchAssets(Self.everyAsset)) }

  /// How many they are, which reads none of them: for what asks again and again.
  func assetCount() throws -> Int { try library.fetchAssets(Self.everyAsset).count }

  private static var everyAsset: FetchOptions {
    var options = FetchOptions()
    options.includeHiddenAssets = true
    (options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true)
    return options
  }

  /// Every asset with its resources as text that does not depend on identifiers, on times of adding, or on order.
  func content() throws -> [String] { try Self.content(of: library) }

  static func content(of library: PhotoLibrary) throws -> [String] {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllStackAssets) = (true, true)
    return try library.fetchAssets(options).map { asset in
      let resources = try library.resources(of: asset).map {
        "\($0.type.name) \($0.originalFilename) \($0.uniformTypeIdentifier) \($0.dataSize) \($0.sha256Hex) "
          + "\($0.storage)"
      }
      let time = "\(String(describing: asset.creationDate)) \(String(describing: asset.timeZoneOffset))"
      return "\(asset.mediaType) \(asset.mediaSubtypes.names) \(asset.pixelWidth)x\(asset.pixelHeight) "
        + "\(asset.duration) \(time) \(resources.sorted())"
    }.sorted()
  }

  /// Checks the whole library, contents of files included.
  func verify() throws -> Verification { try library.verify(scratch: URL(filePath: folder.path), hashingContent: true) }

  /// The files that hold bytes in the library.
  func storedFiles() throws -> Set<String> {
    let folder = library.url.appending(path: "resources")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return Set(names.filter { $0.count == 65 })
  }

  /// The lines of an import's report file, as JSON objects.
  static func lines(_ summary: ImportSummary) throws -> [[String: Any]] {
    try String(contentsOfFile: summary.reportFile, encoding: .utf8).split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }
}

/// What reads metadata for all imports of the tests: starting exiftool takes longer than most of them.
///
/// An import that is cancelled ends the processes that read for it at that moment; the next file starts new ones.
enum SharedTool {
  private static let tool = Result { try ExifTool() }

  static func exiftool() throws -> ExifTool { try tool.get() }

  /// The usual renderer and the usual converter; each has an exiftool of its own, which reads work folders.
  static let renderer = MediaRenderer()
  static let converter = ExternalConverter()
}

extension LibraryImport.Options {
  /// The options, with the exiftool that the tests share.
  func sharingTool() throws -> Self {
    var options = self
    options.tool = try SharedTool.exiftool()
    return options
  }

  /// The options for an import in a process that is killed: at the usual dose with one exiftool, else with as many as
  /// imports have.
  func inKilledProcess() throws -> Self {
    var options = self
    if !Dose.isFull { options.tool = try ExifTool(processCount: 1) }
    return options
  }
}
