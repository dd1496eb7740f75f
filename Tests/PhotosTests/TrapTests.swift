import PhotoLedger
import Photos
import TestSupport
import Testing

/// A use that ends the process, as it raises on Apple's systems.
enum Trap: String, CaseIterable, Codable, Sendable {
  case noLibrary, assetRequest, creationRequest, deletion, albumRequest, folderRequest, keptRequest, keptEdit
  case wrongFormat, fewArguments, blockPredicate, castingPredicate, unknownKey, albumKeyOfAsset, comparator, unknownSort
  case pastEnd, negative, positionsPastEnd, placeholderOfChange, noReason, predicateInCompound
  case pathWithoutOrder, pathOfIdentifier, pathOfAlbums, foundationsPath
  case unknownValue, unknownResourceValue
  case predicateOfText, predicateOfNothing, namelessStandIn, standInWithoutKey, longClient

  /// What the sentence says.
  var words: [String] {
    switch self {
    case .noLibrary: ["PHPhotoLibrary.shared() has no library", "bootstrap"]
    case .longClient: ["PHPhotoLibrary.shared()", "PHOTOLEDGER_CLIENT", "300"]
    case .assetRequest: ["PHAssetChangeRequest(for:)", "outside of a change block"]
    case .creationRequest: ["PHAssetCreationRequest.forAsset()", "outside of a change block"]
    case .deletion: ["PHAssetChangeRequest.deleteAssets(_:)", "outside of a change block"]
    case .albumRequest: ["creationRequestForAssetCollection(withTitle:)", "outside of a change block"]
    case .folderRequest: ["creationRequestForCollectionList(withTitle:)", "outside of a change block"]
    case .keptRequest: ["change block"]
    case .keptEdit: ["contentEditingOutput", "inside the block"]
    case .wrongFormat: ["NSPredicate(format:) cannot read 'mediaType =='"]
    case .fewArguments: ["NSPredicate(format:)", "%@"]
    case .blockPredicate, .castingPredicate: ["PHAsset.fetchAssets(with:)", "NSPredicate(format:)"]
    case .predicateInCompound: ["PHAsset.fetchAssets(with:)", "NSPredicate(format:)"]
    case .unknownKey: ["PHAsset.fetchAssets(with:)", "colour"]
    case .albumKeyOfAsset: ["PHAsset.fetchAssets(with:)", "title"]
    case .comparator: ["PHAsset.fetchAssets(with:)", "NSSortDescriptor(key:ascending:)"]
    case .unknownSort: ["PHAsset.fetchAssets(with:)", "colour"]
    case .pastEnd: ["PHFetchResult.object(at:)", "2"]
    case .negative: ["PHFetchResult.object(at:)", "-1"]
    case .positionsPastEnd: ["PHFetchResult.objects(at:)", "5"]
    case .placeholderOfChange: ["placeholderForCreatedAssetCollection"]
    case .pathWithoutOrder: ["PHAsset.fetchAssets(with:)", "PHAsset", "CLLocation", "the keys are", "creationDate"]
    case .pathOfIdentifier: ["PHAsset.fetchAssets(with:)", "localIdentifier", "Sort by addedDate"]
    case .pathOfAlbums: ["PHAsset.fetchAssets(with:)", "localizedTitle"]
    case .foundationsPath: ["PHAsset.fetchAssets(with:)", "NSSortDescriptor(keyPath:ascending:)"]
    case .unknownValue: ["PHAsset.value(forKey:)", "colour"]
    case .unknownResourceValue: ["PHAssetResource.value(forKey:)", "colour"]
    case .noReason: ["PHPhotoLibrary.requestAuthorization(for:)"]
    case .predicateOfText: ["NSPredicate.evaluate(with:)", "isFavorite == YES", "String", "assets and collections"]
    case .predicateOfNothing: ["NSPredicate.evaluate(with:)", "nil", "assets and collections"]
    case .namelessStandIn: ["NSPredicate.evaluate(with:)", "PHAsset", "UUID"]
    case .standInWithoutKey: ["NSPredicate.evaluate(with:)", "PHAsset", "trashedDate"]
    }
  }

  func spring() async throws {
    if self == .noLibrary {
      unsetenv("PHOTOLEDGER_LIBRARY")
      _ = PHPhotoLibrary.shared()
      return
    }
    if self == .longClient {
      setenv("PHOTOLEDGER_LIBRARY", "/no/such/library", 1)
      setenv("PHOTOLEDGER_CLIENT", String(repeating: "c", count: 300), 1)
      _ = PHPhotoLibrary.shared()
      return
    }
    let gallery = try Gallery()
    try await gallery.images(0..<2)
    try await gallery.library.performChanges { $0.register(client: "com.example.silent") }
    PHPhotoLibrary.bootstrap(self == .noReason ? gallery.library.as("com.example.silent") : gallery.library)
    try await misuse()
  }

  private func misuse() async throws {
    switch self {
    case .noLibrary, .longClient: break
    case .noReason: await PHPhotoLibrary.requestAuthorization(for: .readWrite)
    case .assetRequest: _ = PHAssetChangeRequest(for: assets().object(at: 0))
    case .creationRequest: PHAssetCreationRequest.forAsset()
    case .deletion: PHAssetChangeRequest.deleteAssets(assets())
    case .albumRequest: PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "x")
    case .folderRequest: PHCollectionListChangeRequest.creationRequestForCollectionList(withTitle: "x")
    case .keptRequest:
      var kept: PHAssetChangeRequest?
      try await PHPhotoLibrary.shared().performChanges { kept = PHAssetChangeRequest(for: assets().object(at: 0)) }
      kept?.isFavorite = true
    case .keptEdit:
      var kept: PHAssetChangeRequest?
      try await PHPhotoLibrary.shared().performChanges { kept = PHAssetChangeRequest(for: assets().object(at: 0)) }
      kept?.contentEditingOutput = nil
    case .placeholderOfChange:
      let sea = try await album("Sea")
      try await PHPhotoLibrary.shared().performChanges {
        _ = PHAssetCollectionChangeRequest(for: sea)?.placeholderForCreatedAssetCollection
      }
    case .unknownValue: _ = assets().object(at: 0).value(forKey: "colour")
    case .predicateOfText: _ = NSPredicate(format: "isFavorite == YES").evaluate(with: "text")
    case .predicateOfNothing: _ = NSPredicate(format: "isFavorite == YES").evaluate(with: nil)
    case .namelessStandIn: _ = NSPredicate(format: "localIdentifier == 'x'").evaluate(with: PHAsset())
    case .standInWithoutKey: _ = NSPredicate(format: "trashedDate == nil").evaluate(with: PHAsset())
    case .unknownResourceValue: _ = PHAssetResource().value(forKey: "colour")
    case .pastEnd: _ = assets()[2]
    case .negative: _ = assets().object(at: -1)
    case .positionsPastEnd: _ = assets().objects(at: [0, 5])
    default: misfetch()
    }
  }

  private func misfetch() {
    let block = NSPredicate { _, _ in true }
    _ = assets { options in
      switch self {
      case .wrongFormat: options.predicate = NSPredicate(format: "mediaType ==")
      case .fewArguments: options.predicate = NSPredicate(format: "creationDate > %@")
      case .blockPredicate: options.predicate = block
      case .castingPredicate:
        // As apps write it.
        options.predicate = NSPredicate { object, _ in (object as! PHAsset).isFavorite }
      case .predicateInCompound: options.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [block])
      case .unknownKey: options.predicate = NSPredicate(format: "colour == %@", "red")
      case .albumKeyOfAsset: options.predicate = NSPredicate(format: "title == %@", "Sea")
      case .comparator:
        options.sortDescriptors = [
          NSSortDescriptor(keyPath: \PHObject.localIdentifier, ascending: true) { _, _ in .orderedSame }
        ]
      case .pathWithoutOrder:
        options.sortDescriptors = [NSSortDescriptor(keyPath: \PHAsset.location, ascending: true)]
      case .pathOfIdentifier:
        options.sortDescriptors = [NSSortDescriptor(keyPath: \PHAsset.localIdentifier, ascending: true)]
      case .pathOfAlbums:
        options.sortDescriptors = [NSSortDescriptor(keyPath: \PHAssetCollection.localizedTitle, ascending: true)]
      case .foundationsPath: options.sortDescriptors = [NSSortDescriptor(keyPath: \String.count, ascending: true)]
      default: options.sortDescriptors = [NSSortDescriptor(key: "colour", ascending: true)]
      }
    }
  }
}

@Suite("Misuse")
struct TrapTests {
  @Test(
    "it ends the process with a sentence that names the call (CB-02, FR-02, FR-09, FR-18)",
    arguments: Trap.allCases)
  func traps(trap: Trap) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [trap] in
      try await trap.spring()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for word in trap.words { #expect(text.contains(word), "\(word) is not in: \(text)") }
  }

  @Test("the environment names library and client; an empty client is the owner", arguments: ["", "com.example.app"])
  func environment(client: String) async throws {
    await #expect(processExitsWith: .success) { [client] in
      let gallery = try Gallery()
      setenv("PHOTOLEDGER_LIBRARY", gallery.library.url.path, 1)
      setenv("PHOTOLEDGER_CLIENT", client, 1)
      let expected: PHAuthorizationStatus = client.isEmpty ? .authorized : .notDetermined
      try #require(PHPhotoLibrary.authorizationStatus(for: .readWrite) == expected)
    }
  }

  @Test("after another bootstrap the old objects return errors, and old results can be read")
  func secondBootstrap() async throws {
    await #expect(processExitsWith: .success) {
      let (first, second) = (try Gallery(seed: 1), try Gallery(seed: 2))
      try await first.images(0..<3)
      PHPhotoLibrary.bootstrap(first.library)
      let (old, held) = (PHPhotoLibrary.shared(), assets())
      let keeper = keeper()
      PHPhotoLibrary.bootstrap(second.library)
      try #require(PHPhotoLibrary.shared() !== old && assets().count == 0)
      try #require(held.count == 3 && held.object(at: 2).mediaType == .image)
      do {
        try await old.performChanges { PHAssetChangeRequest.deleteAssets(held) }
        Issue.record("The old library took a change.")
      } catch {
        try #require((error as NSError).code == 3143 && (error as NSError).domain == PHPhotosErrorDomain)
      }
      try #require((old.unavailabilityReason as? PHPhotosError)?.code == .switchingSystemPhotoLibrary)
      #expect(throws: PHPhotosError.self) { try old.fetchPersistentChanges(since: old.currentChangeToken) }
      try await first.images(3..<4)
      try #require(keeper.all.isEmpty)
      try #require(try first.library.fetchAssets().count == 4)
    }
  }
}
