package import LibraryPicking
import PhotoLedger

/// Where the bytes of a picked item come from: what every way of loading goes through.
package struct PickedSource: Sendable {
  package let item: PickedItem
  let library: PHPhotoLibrary

  package init(item: PickedItem, library: PHPhotoLibrary) { (self.item, self.library) = (item, library) }

  /// The kinds of data, the preferred one first.
  package var types: [UTType] { item.supportedContentTypes.compactMap { UTType($0) } }

  /// The first kind of data that is of a wanted kind; the exact one is preferred.
  package func type(conformingTo wanted: UTType) -> UTType? {
    types.contains(wanted) ? wanted : types.first { $0.conforms(to: wanted) }
  }

  /// All bytes.
  /// - Throws: `PHPhotosError`; for a kind that the item does not have the core's sentence, which says those it has.
  package func data(as type: UTType, _ progress: Progress? = nil) async throws -> Data {
    do {
      return try await library.present().load(item, options: options(type, progress))
    } catch {
      throw PHPhotosError.from(error)
    }
  }

  /// Lends a copy in a file of its own, which is gone afterwards unless the borrower moved it.
  package func withFile<Value>(
    as type: UTType, named name: String? = nil, _ progress: Progress? = nil, _ body: (URL) async throws -> Value
  ) async throws -> Value {
    let wanted = options(type, progress)
    let folder: URL
    do { folder = try FileManager.default.makeTemporaryFolder("picked") } catch { throw PHPhotosError.from(error) }
    // Fails only if the borrower removed the folder too.
    defer { try? FileManager.default.removeItem(at: folder) }
    let ending = wanted.contentType.flatMap { UTType($0)?.preferredFilenameExtension }.map { ".\($0)" } ?? ""
    let stem = name.map { $0.replacing("/", with: ":") } ?? "picked"
    let file = folder.appending(path: "\(stem)\(ending)", directoryHint: .notDirectory)
    do {
      try await library.present().write(item, to: file, options: wanted)
    } catch {
      throw PHPhotosError.from(error)
    }
    return try await body(file)
  }

  private func options(_ wanted: UTType, _ progress: Progress?) -> PickedItemOptions {
    var options = PickedItemOptions()
    options.contentType = (type(conformingTo: wanted) ?? wanted).identifier
    if let progress { options.progressHandler = { progress.report($0) } }
    return options
  }
}

extension Progress {
  private static let units: Int64 = 1000

  /// Runs a loading in a task, which ends when the progress is cancelled.
  ///
  /// Foundation's progress has no lock on Linux: only the thread that loads writes to it.
  package static func loading(_ body: @escaping @Sendable (Progress) async -> Void) -> Progress {
    let progress = discreteProgress(totalUnitCount: units)
    progress.isCancellable = true
    let task = HandlerTasks.begin { await body(progress) }
    progress.cancellationHandler = { task.cancel() }
    return progress
  }

  /// Takes the share of the bytes that are there, from 0 to 1.
  fileprivate func report(_ share: Double) { completedUnitCount = Int64(share * Double(Self.units)) }
}
