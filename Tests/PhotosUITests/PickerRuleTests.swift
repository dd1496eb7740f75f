import Foundation
import LibraryPicking
import PhotoLedger
import PhotosUI
import TestSupport
import Testing

@Suite("The picker's rules", .timeLimit(.minutes(60)))
struct PickerRuleTests {
  // MARK: PK-01, PK-02

  @Test("an app without any permission gets what was picked, and nothing else (PK-01)")
  func access() async throws {
    let picking = try await PickerLibrary()
    let result = try await picking.pickOne(picking.name(1))
    #expect(try await result.itemProvider.data("public.jpeg") == Data(PickerLibrary.bytes(1).utf8))
    PHPhotoLibrary.withShared(picking.app) {
      #expect(PHPhotoLibrary.authorizationStatus(for: .readWrite) == .notDetermined)
      #expect(PHAsset.fetchAssets(with: nil).count == 0)
      #expect(PHAsset.fetchAssets(withLocalIdentifiers: [picking.name(1)], options: nil).count == 0)
    }
    #expect(result.itemProvider.suggestedName == nil)
    await #expect(throws: LibraryError.self) { try await picking.library.as("other").load(result.item) }
    #expect(try await picking.app.load(result.item) == Data(PickerLibrary.bytes(1).utf8))
  }

  @Test(
    "results name their assets only if the configuration was made with a library (PK-02)", arguments: [true, false])
  @MainActor
  func names(isNamed: Bool) async throws {
    let picking = try await PickerLibrary()
    let told = Told()
    let picker = PHPickerViewController(configuration: isNamed ? picking.configuration() : PHPickerConfiguration())
    picker.delegate = told
    let session = try PHPhotoLibrary.withShared(picking.app) { try picker.begin() }
    let presenter = try picking.library.present(session)
    try await presenter.select(picking.name(2))
    try await presenter.finish()
    let result = try #require(await told.next()?.first)
    #expect(result.assetIdentifier == (isNamed ? picking.name(2) : nil))
    #expect(PhotosPickerItem(result).itemIdentifier == result.assetIdentifier)
    #expect(try await result.itemProvider.data("public.image") == Data(PickerLibrary.bytes(2).utf8))
  }

  // MARK: PK-03

  @Test("by default one asset of any kind is requested; 0 is any number (PK-03)", arguments: [1, 0, 3])
  @MainActor
  func limits(limit: Int) async throws {
    let picking = try await PickerLibrary()
    var configuration = PHPickerConfiguration()
    #expect(configuration.selectionLimit == 1 && configuration.filter == nil && configuration.selection == .default)
    #expect(configuration.preferredAssetRepresentationMode == .automatic && configuration.metadataOptions.isEmpty)
    if limit != 1 { configuration.selectionLimit = limit }
    let picker = PHPickerViewController(configuration: configuration)
    let session = try PHPhotoLibrary.withShared(picking.app) { try picker.begin() }
    let presenter = try picking.library.present(session)
    #expect(try presenter.candidates().count == 5)
    let most = limit == 0 ? 5 : limit
    for index in 0..<most { try await presenter.select(picking.name(index)) }
    if most < 5 {
      let error = await #expect(throws: LibraryError.self) { try await presenter.select(picking.name(4)) }
      #expect(error?.code == .limitExceeded)
    }
    picker.dismiss(animated: false)
  }

  @Test(
    "a filter of each name offers what the core's filter of that name does (PK-03, a.8)",
    arguments: [
      (.images, "images"), (.videos, "videos"), (.livePhotos, "livePhotos"), (.panoramas, "panoramas"),
      (.screenshots, "screenshots"), (.screenRecordings, "screenRecordings"), (.slomoVideos, "slomoVideos"),
      (.timelapseVideos, "timelapseVideos"), (.bursts, "bursts"), (.cinematicVideos, "cinematicVideos"),
      (.depthEffectPhotos, "depthEffectPhotos"), (.spatialMedia, "spatialMedia"),
      (.playbackStyle(.videoLooping), "playbackStyle(videoLooping)"),
      (.any(of: [.images, .bursts]), "any(images,bursts)"),
      (.all(of: [.images, .not(.livePhotos)]), "all(images,not(livePhotos))"),
    ] as [(PHPickerFilter, String)])
  @MainActor
  func filters(filter: PHPickerFilter, spelling: String) async throws {
    let picking = try await PickerLibrary(0)
    var configuration = picking.configuration()
    configuration.filter = filter
    #expect(configuration.filter == filter && configuration != picking.configuration())
    let picker = PHPickerViewController(configuration: configuration)
    #expect(try picker.begin().configuration.filter?.description == spelling)
    picker.dismiss(animated: false)
  }

  // MARK: PK-04

  @Test("a preselection is returned without bytes, to be merged with what the app kept (PK-04)")
  func preselection() async throws {
    let picking = try await PickerLibrary()
    let first = try await picking.pick([picking.name(1), picking.name(3)], picking.configuration(0, .ordered))
    var selection = Dictionary(uniqueKeysWithValues: first.map { ($0.assetIdentifier ?? "", $0) })

    var configuration = picking.configuration(0, .ordered)
    configuration.preselectedAssetIdentifiers = first.compactMap(\.assetIdentifier)
    let second = try await picking.pick([picking.name(0)], configuration)
    #expect(picking.indexes(second) == [1, 3, 0])
    for (place, result) in second.enumerated() {
      #expect(result.itemProvider.registeredTypeIdentifiers.isEmpty == (place < 2))
      #expect(result.itemProvider.canLoadObject(ofClass: UIImage.self) == (place == 2))
    }
    let error = await failure { _ = try await second[0].itemProvider.data("public.jpeg") }
    #expect(error?.code == .requestNotSupportedForAsset)
    #expect(error?.description.contains("preselected") == true)
    #expect(try await PhotosPickerItem(second[0]).loadTransferable(type: Data.self) == nil)

    // As Apple's sample does it.
    for result in second {
      let identifier = result.assetIdentifier ?? ""
      selection[identifier] = selection[identifier] ?? result
    }
    for index in [0, 1, 3] {
      let result = try #require(selection[picking.name(index)])
      #expect(try await result.itemProvider.data("public.jpeg") == Data(PickerLibrary.bytes(index).utf8))
    }
  }

  @Test("cancelling returns the preselection to the delegate (PK-04)", arguments: [true, false])
  @MainActor
  func cancelling(isPreselected: Bool) async throws {
    let picking = try await PickerLibrary()
    var configuration = picking.configuration(0, .ordered)
    if isPreselected { configuration.preselectedAssetIdentifiers = [picking.name(3), picking.name(1)] }
    let told = Told()
    let picker = PHPickerViewController(configuration: configuration)
    picker.delegate = told
    let presenter = try picking.library.present(picker.begin())
    try await presenter.select(picking.name(0))
    presenter.cancel()
    let results = try #require(await told.next())
    #expect(picking.indexes(results) == (isPreselected ? [3, 1] : []))
    #expect(results.allSatisfy { $0.itemProvider.registeredContentTypes.isEmpty })
  }

  // MARK: PK-05, PK-06

  @Test(
    "an ordered selection keeps the order of picking, a continuous one calls the delegate after each tap (PK-05)",
    arguments: [
      (.default, [[0, 3, 4]]), (.ordered, [[3, 4, 0]]), (.continuous, [[3], [3, 4], [0, 3, 4]]),
      (.continuousAndOrdered, [[3], [3, 4], [3, 4, 0]]),
    ] as [(PHPickerConfiguration.Selection, [[Int]])])
  @MainActor
  func order(selection: PHPickerConfiguration.Selection, expected: [[Int]]) async throws {
    let picking = try await PickerLibrary()
    let told = Told()
    let picker = PHPickerViewController(configuration: picking.configuration(0, selection))
    picker.delegate = told
    let presenter = try picking.library.present(picker.begin())
    for index in [3, 4, 0] {
      try await presenter.select(picking.name(index))
      guard selection == .continuous || selection == .continuousAndOrdered else { continue }
      let results = try #require(await told.next())
      #expect(picking.indexes(results) == expected[told.count - 1])
      let last = try #require(results.first { $0.assetIdentifier == picking.name(index) })
      #expect(try await last.itemProvider.data("public.jpeg") == Data(PickerLibrary.bytes(index).utf8))
    }
    try await presenter.finish()
    if told.count == 0 { #expect(await told.next().map(picking.indexes) == expected[0]) }
    #expect(told.count == expected.count)
  }

  @Test("an asset is moved after another, or first, and removed; unknown ones are skipped (PK-06)")
  @MainActor
  func movingAndDeselecting() async throws {
    let picking = try await PickerLibrary()
    let told = Told()
    let picker = PHPickerViewController(configuration: picking.configuration(0, .continuousAndOrdered))
    picker.delegate = told
    picker.deselectAssets(withIdentifiers: [picking.name(0)])
    picker.moveAsset(withIdentifier: picking.name(0), afterAssetWithIdentifier: nil)
    let presenter = try picking.library.present(picker.begin())
    for index in 0..<4 { try await presenter.select(picking.name(index)) }
    picker.moveAsset(withIdentifier: picking.name(2), afterAssetWithIdentifier: nil)
    picker.moveAsset(withIdentifier: picking.name(0), afterAssetWithIdentifier: picking.name(3))
    picker.moveAsset(withIdentifier: picking.name(1), afterAssetWithIdentifier: "unknown")
    #expect(presenter.presentation.selection == [2, 1, 3, 0].map(picking.name))
    picker.deselectAssets(withIdentifiers: [picking.name(1), picking.name(4), "unknown"])
    try await presenter.select(picking.name(4))
    try await presenter.finish()
    let results = await told.next(5)
    #expect(results.map(picking.indexes) == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [2, 3, 0, 4]])
  }

  // MARK: PK-07

  @Test(
    "current bytes are as stored, compatible ones converted, automatic ones the best available (PK-07)",
    arguments: [
      (.current, true, [.heic]), (.compatible, true, [.jpeg]), (.automatic, true, [.jpeg, .heic]),
      (.automatic, false, [.heic]),
    ] as [(PHPickerConfiguration.AssetRepresentationMode, Bool, [UTType])])
  func representations(
    mode: PHPickerConfiguration.AssetRepresentationMode, canConvert: Bool, expected: [UTType]
  ) async throws {
    let picking = try await PickerLibrary(0)
    if canConvert { try picking.library.setRepresentationConverter(TellingConverter()) }
    let photo = try await picking.add([PickerLibrary.draft(.photo, "photo", "a.heic")])
    var configuration = picking.configuration()
    configuration.preferredAssetRepresentationMode = mode
    let provider = try await picking.pickOne(photo, configuration).itemProvider
    #expect(provider.registeredContentTypes == expected)
    let bytes = expected[0] == .jpeg ? "public.jpeg of photo, without 0" : "photo"
    #expect(try await provider.data("public.image") == Data(bytes.utf8))
    #expect(try await provider.file("public.image") { $0.pathExtension } == expected[0].preferredFilenameExtension)
  }

  @Test("picked items are converted by the machine's programs, unless the owner chose others before (PK-07)")
  func defaultConverter() async throws {
    let picking = try await PickerLibrary(0, convertsAsPhotos: true)
    let photo = try await picking.add([PickerLibrary.draft(.photo, "photo", "a.heic")])
    var configuration = picking.configuration()
    configuration.preferredAssetRepresentationMode = .compatible
    let provider = try await picking.pickOne(photo, configuration).itemProvider
    // The bytes are not a picture: whichever program is installed, or none, cannot convert them.
    let error = await failure { _ = try await provider.data("public.jpeg") }
    #expect(error?.description.contains("cannot be converted to public.jpeg") == true, "\(error as Any)")
    try picking.library.setRepresentationConverter(TellingConverter())
    _ = PHPhotoLibrary(core: picking.app)
    #expect(try await provider.data("public.jpeg") == Data("public.jpeg of photo, without 0".utf8))
  }

  @Test("without a converter, compatible bytes that have to be made are an error that says so (PK-07)")
  func converterMissing() async throws {
    let picking = try await PickerLibrary(0)
    let photo = try await picking.add([PickerLibrary.draft(.photo, "photo", "a.heic")])
    var configuration = picking.configuration()
    configuration.preferredAssetRepresentationMode = .compatible
    let result = try await picking.pickOne(photo, configuration)
    let error = await failure { _ = try await result.itemProvider.data("public.jpeg") }
    #expect(error?.code == .internalError && error?.description.contains("setRepresentationConverter") == true)
  }

  @Test("metadata that the app excludes is removed from the bytes (a.8)")
  func metadataOptions() async throws {
    let picking = try await PickerLibrary(1)
    try picking.library.setRepresentationConverter(TellingConverter())
    var configuration = picking.configuration()
    configuration.metadataOptions = [.removeLocation, .removeCaptions]
    #expect(configuration.metadataOptions == [.removeLocation, .removeCaptions])
    let result = try await picking.pickOne(picking.name(0), configuration)
    #expect(
      try await result.itemProvider.data("public.jpeg")
        == Data("public.jpeg of \(PickerLibrary.bytes(0)), without 3".utf8))
  }
}
