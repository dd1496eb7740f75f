import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

/// A library with one asset that has one file.
final class OneFileLibrary: Sendable {
  let folder: ScratchFolder
  let library: PhotoLibrary
  let asset: Asset
  let resource: AssetResource

  /// One chunk of a reading.
  static let chunk = 1 << 20

  /// - Parameters:
  ///   - data: the bytes of the file.
  ///   - isReferenced: whether the library holds its path only.
  init(_ data: Data, isReferenced: Bool = false) async throws {
    folder = try ScratchFolder()
    library = try PhotoLibrary.create(at: URL(filePath: folder.path).appending(path: "library"))
    var draft = ResourceDraft(type: .photo, source: .data(data), originalFilename: "IMG_1.HEIC")
    if isReferenced {
      let path = try folder.write("card/IMG_1.HEIC", data)
      draft = .stored(
        AssetResource(
          type: .photo, originalFilename: "IMG_1.HEIC", uniformTypeIdentifier: "public.heic",
          dataSize: UInt64(data.count), sha256: Array(data).sha256, storage: .referenced(path: path.description)))
    }
    let made = try await library.performChanges {
      $0.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
    }
    asset = try #require(try library.asset(made.created[0]))
    resource = try #require(try library.resources(of: asset).first)
  }

  deinit { library.close() }

  var path: String { library.url(of: resource).path }

  /// Puts other bytes into the file, long ago by its times, so that a later write is seen in them.
  func overwrite(_ data: Data) throws {
    chmod(path, 0o644)
    try data.write(to: URL(filePath: path))
    try age()
  }

  /// Sets the file's times to long ago.
  func age() throws {
    var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
    try #require(utimensat(AT_FDCWD, path, &times, 0) == 0)
  }

  /// Writes into the file where it lies.
  func write(_ data: Data, at offset: UInt64) throws {
    chmod(path, 0o644)
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: offset)
    try file.write(contentsOf: data)
    try file.close()
  }

  /// How many descriptors of this process lead to the file.
  var openCount: Int {
    get throws {
      let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      return numbers.count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
      }
    }
  }

  /// Reads with the sequence, to its end or error.
  func read() async -> (chunks: [Data], error: LibraryError?) {
    var chunks: [Data] = []
    do {
      for try await chunk in library.data(of: resource, in: asset) { chunks.append(chunk) }
      return (chunks, nil)
    } catch {
      return (chunks, LibraryError(error))
    }
  }

  /// Reads with handlers, to the completion; a second completion would trap.
  func request(
    _ options: ResourceRequestOptions = ResourceRequestOptions(),
    _ onChunk: @escaping @Sendable (Data) -> Void = { _ in }
  ) async -> LibraryError? {
    await withCheckedContinuation { completion in
      library.requestData(for: resource, in: asset, options: options, dataReceivedHandler: onChunk) {
        completion.resume(returning: $0)
      }
    }
  }

  /// Copies to a file, and gives the error.
  func copy(
    to name: String, replacing: Bool = false, _ options: ResourceRequestOptions = ResourceRequestOptions()
  ) async -> LibraryError? {
    do {
      try await library.write(resource, in: asset, to: target(name), replacing: replacing, options: options)
      return nil
    } catch {
      return LibraryError(error)
    }
  }

  /// A place in a folder that holds nothing else.
  func target(_ name: String) -> URL {
    let out = URL(filePath: folder.path).appending(path: "out")
    mkdir(out.path, 0o755)
    return out.appending(path: name)
  }

  /// What lies in that folder, temporary names too.
  var written: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: target("").path).sorted() }
  }
}
