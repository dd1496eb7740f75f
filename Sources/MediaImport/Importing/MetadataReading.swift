internal import Foundation
internal import Glibc
package import PhotoLedger

// What files say now, for assets that are in the library already: libraries that were made before metadata was kept,
// files that a newer exiftool reads better, sidecars that came later.
//
//     assets, a hundred at a time
//       original there, and as it was recorded?      no: said, nothing is read
//       exiftool, and sidecars where asked for       threads; the same tags and precedence as at an import
//       is it what the library keeps?                yes: nothing is recorded
//       fileMetadata of the others                   one commit; all of a run have one cause
//
// Only `fileMetadata` is recorded. Captions, keywords, stars, dates and places began with what the files said when they
// were imported, and are people's since then; a reading never touches them.
//
// What stands in `sources` was said by something else than the file: the JSON of a Takeout, an option, a sidecar. None
// of that can be read again here but sidecars, so it is kept as it is, unless everything that a value is from is a
// sidecar and sidecars are read. A re-read so loses nothing that an import took in.
//
// An original that is not what was recorded is left out: its words would stand beside pixels that the library does not
// know. Files outside of the library are hashed for that, since any program may write them; of the library's own, the
// size is compared, and `verify --content` does the rest.
//
// Interruption. Cancelling the task stops between two files, and records what was read by then. A second run records
// only what differs, and with `onlyMissing` reads only what no run has recorded, so a stopped run goes on where it was.

/// What became of the reading of an asset.
package enum MetadataOutcome: String, Sendable, Hashable, CaseIterable {
  /// The files say something else than was kept, which is recorded.
  case recorded
  /// It would be recorded: a dry run records nothing.
  case wanted
  /// The files say what is kept.
  case unchanged
  /// The original is not where the library says it is.
  case missing
  /// The original is not what was recorded, or was written while it was read.
  case altered
  /// The original could not be read, or is not a medium.
  case failed
  /// It was put here by another computer or a shared album, or purged meanwhile.
  case notEditable
  /// The run was stopped before it.
  case notReached
}

/// The reading of one asset.
package struct MetadataReport: Sendable, Hashable {
  /// The asset, as PhotoKit spells its identifier.
  package let asset: String
  /// Where the original lies.
  package let path: String?
  /// What became of it.
  package var outcome: MetadataOutcome
  /// The names of the fields of `fileMetadata` that differ.
  package let fields: [String]
  /// A sentence about what went wrong.
  package var message: String?
}

/// What a run did.
package struct MetadataSummary: Sendable, Hashable {
  /// How many assets had each outcome.
  package fileprivate(set) var counts: [MetadataOutcome: Int] = [:]
  /// The cause of its commits.
  package let cause: String

  /// Whether every original could be read.
  package var isComplete: Bool {
    [.missing, .altered, .failed, .notReached].allSatisfy { counts[$0] == nil }
  }
}

/// Reads the metadata of originals again, and records what they say now.
package struct MetadataReading: Sendable {
  /// What is read and how.
  package struct Options: Sendable {
    /// Whether sidecars beside originals outside of the library are read.
    package var readsSidecars = false
    /// Whether assets are left out of whose files something is kept.
    package var onlyMissing = false
    /// Whether nothing is recorded.
    package var isDryRun = false
    /// What one file may cost exiftool.
    package var metadataLimits = ExifToolLimits()
    /// Where exiftool is looked for; nil: `PATH`.
    package var searchPath: String?
    /// The number of threads that read files; nil for two a processor.
    package var threadCount: Int?
    /// Lists a folder whose sidecars are read.
    var listFolder: SidecarFolders.List = { try FileManager.default.contentsOfDirectory(atPath: $0) }
    /// The exiftool that reads, which keeps running after the run, and to which `metadataLimits` and `searchPath` do
    /// not apply; nil: one of the run's own, which ends with it.
    var tool: ExifTool?

    /// The usual way.
    package init() {}
  }

  /// How many assets one commit is about.
  static let batchCount = 100

  private let library: PhotoLibrary
  private let options: Options
  private let tool: ExifTool

  /// - Parameter library: the view of the client that reads; its name stands in every commit.
  /// - Throws: ``ImportError`` `.toolMissing` without exiftool.
  package init(of library: PhotoLibrary, options: Options = Options()) throws(ImportError) {
    (self.library, self.options) = (library, options)
    if let running = options.tool {
      tool = running
    } else {
      tool = try ExifTool(searchPath: options.searchPath, limits: options.metadataLimits)
    }
  }

  /// Reads the originals of the assets of some results. Cancelling the task stops it between two files.
  /// - Parameters:
  ///   - results: which assets.
  ///   - cause: the cause of every commit; nil: `metadata read` and the name of the run.
  ///   - progress: called with the number of assets done.
  ///   - report: called once for each asset.
  /// - Throws: ``LibraryError`` when the library cannot be read or written; ``ImportError`` when exiftool cannot be
  ///   run. Commits before that stay.
  /// - Complexity: O(n) exiftool questions for n assets, and the bytes of originals outside of the library.
  package func run(
    _ results: [FetchResult<Asset>], cause: String? = nil, progress: @escaping @Sendable (Int) -> Void = { _ in },
    report: @escaping @Sendable (MetadataReport) -> Void = { _ in }
  ) async throws -> MetadataSummary {
    let stop = StopFlag()
    defer { if options.tool == nil { tool.close() } }
    return try await withTaskCancellationHandler {
      var run = MetadataRun(
        library: library, options: options, tool: tool, stop: stop,
        summary: MetadataSummary(cause: cause ?? "metadata read \(library.newRunName())"),
        folders: SidecarFolders(list: options.listFolder))
      var done = 0
      for result in results {
        for start in stride(from: 0, to: result.count, by: Self.batchCount) {
          let range = start..<min(start + Self.batchCount, result.count)
          // As they are now: a run over many assets takes hours.
          let batch = try result.objects(at: range).compactMap { try library.asset($0.id.uuidString) }
          for answer in try await run.read(batch) { report(answer) }
          done += range.count
          progress(done)
        }
      }
      return run.summary
    } onCancel: {
      stop.set()
    }
  }
}

/// One run.
private struct MetadataRun {
  let library: PhotoLibrary
  let options: MetadataReading.Options
  let tool: ExifTool
  let stop: StopFlag
  var summary: MetadataSummary
  /// What was listed so far.
  let folders: SidecarFolders

  /// An asset with what is known before its original is read.
  private struct Item: Sendable {
    let asset: Asset
    let resources: [AssetResource]
    let kept: AssetMetadata?

    /// What the metadata of the asset is from, and what else may have a sidecar, in this order.
    var originals: [AssetResource] {
      let types: [ResourceType] = [.photo, .video, .audio, .alternatePhoto, .pairedVideo]
      return types.flatMap { type in resources.filter { $0.type == type } }
    }

    /// The originals outside of the library.
    var places: [FilePath] {
      originals.compactMap { if case .referenced(let path) = $0.storage { FilePath(path) } else { nil } }
    }
  }

  private struct Reading: Sendable {
    var report: MetadataReport
    let id: LocalIdentifier
    var found: AssetMetadata?
  }

  /// Reads a batch and records what differs.
  mutating func read(_ assets: [Asset]) async throws -> [MetadataReport] {
    var items: [Item] = []
    for asset in assets {
      let kept = try library.extendedMetadata(of: asset).fileMetadata
      if options.onlyMissing, kept != nil { continue }
      items.append(Item(asset: asset, resources: try library.resources(of: asset), kept: kept))
    }
    let notes = try await notes(of: items)
    let (library, options, tool, stop) = (library, options, tool, stop)
    var readings = try await onThreads(items, width: options.threadCount ?? tool.processCount * 2) {
      (item) throws(ImportError) in
      try Self.read(item, notes, library, options, tool, stop)
    }
    if !options.isDryRun { try await record(&readings) }
    for reading in readings { summary.counts[reading.report.outcome, default: 0] += 1 }
    return readings.map(\.report)
  }

  private func notes(of items: [Item]) async throws -> [FilePath: MediaNote] {
    guard options.readsSidecars, !stop.isSet else { return [:] }
    var sourceOptions = LibraryImport.Options()
    sourceOptions.threadCount = options.threadCount
    let reading = SourceReading(export: .folders, options: sourceOptions, tool: tool, copies: nil, stop: stop)
    return try await NeighbouringSidecars(reading: reading, folders: folders).notes(of: Set(items.flatMap(\.places)))
  }

  private static func read(
    _ item: Item, _ notes: [FilePath: MediaNote], _ library: PhotoLibrary, _ options: MetadataReading.Options,
    _ tool: ExifTool, _ stop: StopFlag
  ) throws(ImportError) -> Reading {
    var path: String?
    func answer(_ outcome: MetadataOutcome, _ message: String? = nil) -> Reading {
      let report = MetadataReport(
        asset: item.asset.localIdentifier, path: path, outcome: outcome, fields: [], message: message)
      return Reading(report: report, id: item.asset.id)
    }
    if stop.isSet { return answer(.notReached) }
    guard item.asset.canPerform(.properties) else {
      return answer(.notEditable, "The asset was synced from another computer or a shared album.")
    }
    guard let original = item.originals.first else { return answer(.missing, "The asset has no original.") }
    let isOutside = !item.places.isEmpty
    let file = library.url(of: original).path
    path = file
    let stamp = FileStamp(of: file)
    do throws(LibraryError) {
      let state = try library.store.resources.state(of: original, hashing: isOutside)
      switch state {
      case .present: break
      case .missing: return answer(.missing, "\(file) does not exist or cannot be opened.")
      case .altered: return answer(.altered, "\(file) is not the file that was imported; import it to have both.")
      }
    } catch {
      throw ImportError(error)
    }
    let metadata: MediaMetadata
    do throws(ImportError) {
      let tags = try tool.tags(of: FilePath(file), isCancelled: { stop.isSet })
      guard let found = MediaMetadata(tags) else {
        return answer(.failed, "exiftool does not find a photo or video in \(file).")
      }
      metadata = found
    } catch {
      if error.code == .cancelled { return answer(.notReached) }
      guard error.concernsOneFile else { throw error }
      return answer(.failed, error.description)
    }
    if isOutside, FileStamp(of: file) != stamp { return answer(.altered, "\(file) was written while it was read.") }
    var note = MediaNote()
    for place in item.places { if let said = notes[place] { note.join(said) } }
    let said = StatedFacts(note.layers, beside: metadata, StatementWishes()).metadata ?? AssetMetadata()
    // What a sidecar said stays where none of its kind says anything now: it may not be found, or not be readable.
    let readable = MetadataLayer.Source.ofSidecars.intersection(note.layers.map(\.source.rawValue))
    let found = said.keeping(item.kept ?? AssetMetadata(), unlessFrom: readable)
    let fields = found.differences(from: item.kept ?? AssetMetadata())
    let report = MetadataReport(
      asset: item.asset.localIdentifier, path: path,
      outcome: fields.isEmpty ? .unchanged : options.isDryRun ? .wanted : .recorded, fields: fields, message: nil)
    return Reading(report: report, id: item.asset.id, found: fields.isEmpty ? nil : found)
  }

  /// Records what was found. Assets that were purged meanwhile are left out.
  private mutating func record(_ readings: inout [Reading]) async throws {
    for attempt in 1...2 {
      let found = readings.filter { $0.found != nil }
      if found.isEmpty { return }
      let cause = summary.cause
      do {
        // Apart from the task, which may be cancelled: what was read is recorded.
        let library = library
        for commit in Self.commits(of: found) {
          _ = try await Task { try await library.performChanges(cause: cause) { Self.ask(commit, of: $0) } }.value
        }
        return
      } catch let error as LibraryError where error.code == .identifierNotFound && attempt == 1 {
        for index in readings.indices where readings[index].found != nil {
          guard try library.asset(readings[index].id.uuidString) == nil else { continue }
          readings[index].found = nil
          (readings[index].report.outcome, readings[index].report.message) = (.notEditable, "It was purged meanwhile.")
        }
      }
    }
  }

  private static func ask(_ readings: [Reading], of block: ChangeBlock) {
    for reading in readings {
      guard let found = reading.found else { continue }
      var changes = AssetChanges()
      changes.fileMetadata = found.isEmpty ? .clear : .set(found)
      block.edit([reading.id], changes)
    }
  }

  /// The most bytes of words that one commit records, far below what a commit may hold with the words before.
  private static let commitByteCount = 8 << 20

  /// The readings in parts of which each fits into a commit, however much the files say.
  private static func commits(of readings: [Reading]) -> [[Reading]] {
    var parts: [[Reading]] = [[]]
    var byteCount = 0
    for reading in readings {
      let weight = reading.found?.byteCount ?? 0
      if byteCount + weight > commitByteCount, byteCount > 0 {
        parts.append([])
        byteCount = 0
      }
      parts[parts.count - 1].append(reading)
      byteCount += weight
    }
    return parts
  }
}

extension MetadataLayer.Source {
  /// Those that lie beside a file and can be read again.
  fileprivate static let ofSidecars = Set([xmp, json, yaml].map(\.rawValue))
}

extension AssetMetadata {
  /// With the values that were kept from elsewhere than the file, and cannot be read again.
  /// - Parameter readable: the sources that were read for this.
  fileprivate func keeping(_ kept: AssetMetadata, unlessFrom readable: Set<String>) -> AssetMetadata {
    var result = self
    let own = MetadataLayer.Source.embedded.rawValue
    for (name, source) in kept.sources {
      let others = Set(source.split(separator: " ").map(String.init)).subtracting([own])
      if others.isSubset(of: readable) { continue }
      switch name {
      case "caption": result.caption = kept.caption
      case "keywords": result.keywords = kept.keywords
      case "people": result.people = kept.people
      case "rating": result.rating = kept.rating
      default: break
      }
      result.sources[name] = source
    }
    return result.bounded()
  }

  /// The names of the fields that differ, in the order of JSON.
  fileprivate func differences(from other: AssetMetadata) -> [String] {
    let (mine, others) = (fields, other.fields)
    let names = mine.map(\.name) + others.map(\.name).filter { name in !mine.contains { $0.name == name } }
    return names.filter { name in
      mine.first { $0.name == name }?.value != others.first { $0.name == name }?.value
    }
  }

  /// About how many bytes its words have.
  fileprivate var byteCount: Int {
    let texts = [title, caption, copyright, cameraMake, cameraModel, lens, software].compactMap(\.self)
    let lists = keywords + hierarchicalKeywords + people + creators + sources.keys + sources.values
    return (texts + lists).reduce(0) { $0 + $1.utf8.count }
  }
}
