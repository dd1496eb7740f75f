import Foundation
import TestSupport
import Testing

import LibraryPicking
@testable import PhotoLedger

/// A library with photos whose bytes are there, and short ways through picking sessions.
final class PickingLibrary: Sendable {
  let folder: TemporaryFolder
  let library: PhotoLibrary
  /// The photos, in the order of their addition.
  let photos: [LocalIdentifier]

  static let client = "com.example.app"

  init(_ count: Int = 5, seed: UInt64 = 5) async throws {
    folder = try TemporaryFolder()
    library = try PhotoLibrary.create(at: folder.url.appending(path: "library"), environment: .seeded(seed))
    photos = try await library.performChanges { block in
      for index in 0..<count {
        block.createAsset(
          AssetCreation(mediaType: .image, resources: [Self.draft(.photo, Self.bytes(index), "IMG_\(index).jpg")]))
      }
    }.created.compactMap { LocalIdentifier($0) }
  }

  deinit { library.close() }

  static func bytes(_ index: Int) -> String { "the bytes of photo \(index)" }

  static func draft(_ type: ResourceType, _ bytes: String, _ name: String) -> ResourceDraft {
    ResourceDraft(type: type, source: .data(Data(bytes.utf8)), originalFilename: name)
  }

  /// The library as a client without any permission sees it.
  var app: PhotoLibrary { library.as(Self.client) }

  func name(_ index: Int) -> String { photos[index].uuidString }

  /// A configuration made with the library.
  func configuration(_ limit: Int = 0, _ selection: PickerConfiguration.Selection = .default) -> PickerConfiguration {
    var configuration = PickerConfiguration(library: app)
    (configuration.selectionLimit, configuration.selection) = (limit, selection)
    return configuration
  }

  /// Adds an asset.
  func add(_ drafts: [ResourceDraft], _ mediaType: MediaType = .image) async throws -> LocalIdentifier {
    let creation = AssetCreation(mediaType: mediaType, resources: drafts)
    let made = try await library.performChanges { $0.createAsset(creation) }
    return try #require(LocalIdentifier(made.created[0]))
  }

  /// Has assets picked for the client, and gives the one result.
  func pick(
    _ names: [String], _ configuration: PickerConfiguration? = nil, for client: PhotoLibrary? = nil
  ) async throws -> [PickedItem] {
    let session = try (client ?? app).beginPicking(configuration ?? self.configuration())
    let presenter = try library.present(session)
    for name in names { try await presenter.select(name) }
    try await presenter.finish()
    let results = await session.everyResult
    return try #require(results.last)
  }

  /// The indexes of photos that items name.
  func indexes(_ items: [PickedItem]) -> [Int] {
    items.compactMap { item in photos.firstIndex { item.assetIdentifier == "\($0.uuidString)/L0/001" } }
  }

  /// The code with which something fails.
  func code(_ body: () async throws -> Void) async -> LibraryError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return LibraryError(error).code
    }
  }

  /// What lies among the files on their way.
  var leftovers: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: library.url.appending(path: "resources/incoming").path)
    }
  }
}

extension PickingSession {
  /// The results of a session that is over.
  var everyResult: [[PickedItem]] {
    get async {
      var found: [[PickedItem]] = []
      for await result in results { found.append(result) }
      return found
    }
  }
}
