import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LibraryMaintenance
import LibraryAudit
import LibraryPicking
@testable import PhotoLedger

@Suite("Loading picked items", .timeLimit(.minutes(60)))
struct PickedItemTests {
  // MARK: Later

  @Test("a stored item is loaded after the library is opened again (PK-01)")
  func archived() async throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "library")
    let archive: Data
    let token: String
    do {
      let library = try PhotoLibrary.create(at: url, environment: .seeded(1))
      let made = try await library.performChanges { block in
        block.createAsset(AssetCreation(mediaType: .image, resources: [PickingLibrary.draft(.photo, "photo", "a.jpg")]))
      }
      let session = try library.as("app").beginPicking(PickerConfiguration(library: library))
      let presenter = try library.present(session)
      try await presenter.select(made.created[0])
      try await presenter.finish()
      let item = try #require(await session.everyResult.last?.first)
      archive = try JSONEncoder().encode(item)
      token = try #require(item.token)
      #expect(try JSONDecoder().decode(PickedItem.self, from: archive) == item)
      library.close()
    }
    let library = try PhotoLibrary(at: url)
    defer { library.close() }
    try library.rebuild()
    let item = try JSONDecoder().decode(PickedItem.self, from: archive)
    #expect(try await library.as("app").load(item) == Data("photo".utf8))
    let found = try library.as("app").pickedItem(token)
    #expect(found.supportedContentTypes == ["public.jpeg"])
    #expect(try await library.as("app").load(found) == Data("photo".utf8))
  }

  @Test("an invented token returns nothing")
  func nonsense() async throws {
    let picking = try await PickingLibrary(1)
    for token in ["", "p1", "p1.x.y", "o1.nonsense", "p1..", "p2.t1-0-0.1"] {
      #expect(await picking.code { _ = try picking.app.pickedItem(token) } == .invalidToken, "\(token)")
    }
  }

  @Test("a token cannot be altered into one of another place or pick")
  func forged() async throws {
    let picking = try await PickingLibrary()
    let token = try #require(try await picking.pick([picking.name(0)]).first?.token)
    _ = try await picking.pick([picking.name(1), picking.name(2)], for: picking.library.as("other"))
    let parts = token.split(separator: ".")
    for spelling in ["+\(parts[2])", "0\(parts[2])", parts[2].uppercased()] where spelling != parts[2] {
      let token = "\(parts[0]).\(parts[1]).\(spelling)"
      #expect(await picking.code { _ = try picking.app.pickedItem(token) } == .invalidToken, "\(token)")
    }
    for place in [OrderKey.middle - 1, OrderKey.middle + 1, OrderKey.middle + OrderKey.stride, 0, .max] {
      let forged = "\(parts[0]).\(parts[1]).\(String(place, radix: 36))"
      #expect(await picking.code { _ = try picking.app.pickedItem(forged) } == .missingResource)
    }
    let view = parts[1].prefix { _ in true }.split(separator: "-")
    for position in 0..<12 {
      let commit = "p1.t1-\(view[1])-\(String(position, radix: 36)).\(parts[2])"
      let revision = "p1.v1-\(view[1])-\(view[2])-\(String(position, radix: 36)).\(parts[2])"
      for forged in [commit, revision] where forged != token {
        #expect(await picking.code { _ = try picking.app.pickedItem(forged) } == .accessUserDenied, "\(forged)")
      }
    }
  }

  @Test("an asset in the trash can still be loaded; after its purge it is missing (3303)")
  func purged() async throws {
    let picking = try await PickingLibrary()
    let items = try await picking.pick([picking.name(0), picking.name(1), picking.name(2)])
    try await picking.library.performChanges { $0.deleteAssets([picking.photos[1]]) }
    #expect(try await picking.app.load(items[1]) == Data(PickingLibrary.bytes(1).utf8))
    try await picking.library.performChanges { $0.purgeAssets([picking.photos[1]]) }
    let error = await #expect(throws: LibraryError.self) { _ = try await picking.app.load(items[1]) }
    #expect(error?.code == .missingResource && error?.description.contains("no longer in the library") == true)
    #expect(try await picking.app.load(items[2]) == Data(PickingLibrary.bytes(2).utf8))
    let photo = try #require(try picking.library.asset(picking.name(0)))
    let path = try picking.library.url(of: picking.library.resources(of: photo)[0], in: photo).path
    try #require(unlink(path) == 0)
    #expect(await picking.code { _ = try await picking.app.load(items[0]) } == .missingResource)
  }

  // MARK: Forms

  @Test("an item is loaded as a whole, by chunks and as a file, each with its progress")
  func ways() async throws {
    let picking = try await PickingLibrary(0)
    let bytes = periodicBytes(2_500_000)
    let asset = try await picking.add([ResourceDraft(type: .photo, source: .data(bytes), originalFilename: "a.jpg")])
    let item = try #require(try await picking.pick([asset.uuidString]).first)
    let shares = Gathered<Double>()
    var options = PickedItemOptions()
    options.progressHandler = { shares.append($0) }
    #expect(try await picking.app.load(item, options: options) == bytes)
    var chunks = Data()
    for try await chunk in picking.app.data(of: item, options: options) { chunks += chunk }
    #expect(chunks == bytes)
    let file = picking.folder.url.appending(path: "out.jpg")
    try await picking.app.write(item, to: file, options: options)
    #expect(try Data(contentsOf: file) == bytes)
    #expect(shares.all.count == 9 && shares.all.filter { $0 == 1 }.count == 3)
    #expect(await picking.code { try await picking.app.write(item, to: file) } == .alreadyExists)
    try await picking.app.write(item, to: file, replacing: true)
    let other = picking.folder.url.appending(path: "other.jpg")
    #expect(await picking.code { try await picking.library.as("b").write(item, to: other) } == .accessUserDenied)
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }

  @Test("a load whose task is cancelled ends with 3072")
  func cancelled() async throws {
    let picking = try await PickingLibrary()
    let item = try #require(try await picking.pick([picking.name(0)]).first)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await picking.code { _ = try await picking.app.load(item) }
    }
    #expect(await task.value == .userCancelled)
  }

  @Test("the current form is the render of an edited asset, otherwise the original, with a Live Photo's video (PK-07)")
  func current() async throws {
    let picking = try await PickingLibrary(0)
    let live = try await picking.add([
      PickingLibrary.draft(.photo, "still", "a.heic"), PickingLibrary.draft(.pairedVideo, "movie", "a.mov"),
    ])
    let raw = try await picking.add([
      PickingLibrary.draft(.photo, "jpeg", "b.jpg"), PickingLibrary.draft(.alternatePhoto, "raw", "b.dng"),
    ])
    let edited = try await picking.add([PickingLibrary.draft(.photo, "before", "c.heic")])
    try await picking.library.performChanges { block in
      var changes = AssetChanges()
      changes.originalResourceChoice = .raw
      block.edit([raw], changes)
      block.editContent(
        of: edited,
        ContentEdit(
          adjustmentData: AdjustmentData(formatIdentifier: "x", formatVersion: "1", data: Data([1])),
          rendered: [PickingLibrary.draft(.fullSizePhoto, "after", "c.jpg")]))
    }
    var configuration = picking.configuration()
    configuration.preferredRepresentation = .current
    let items = try await picking.pick([live, raw, edited].map(\.uuidString), configuration)
    #expect(
      items.map(\.supportedContentTypes) == [
        ["public.heic", "com.apple.quicktime-movie"], ["com.adobe.raw-image"], ["public.jpeg"],
      ])
    for (item, content) in zip(items, ["still", "raw", "after"]) {
      #expect(try await picking.app.load(item) == Data(content.utf8))
    }
    var options = PickedItemOptions()
    options.contentType = "com.apple.quicktime-movie"
    #expect(try await picking.app.load(items[0], options: options) == Data("movie".utf8))
    options.contentType = "public.png"
    let error = await #expect(throws: LibraryError.self) { _ = try await picking.app.load(items[0], options: options) }
    #expect(error?.code == .requestNotSupportedForAsset)
    #expect(error?.description.contains("public.heic, com.apple.quicktime-movie") == true)
    try await picking.library.performChanges { $0.revertContent(of: edited) }
    #expect(try await picking.app.load(items[2]) == Data("before".utf8), "An item is of the asset, not of one version.")
  }

  @Test("an edited Live Photo has the film that it is shown with, and no film while it is a still (LP-01, PK-07)")
  func editedLivePhoto() async throws {
    let picking = try await PickingLibrary(0)
    let live = try await picking.add([
      PickingLibrary.draft(.photo, "still", "a.heic"), PickingLibrary.draft(.pairedVideo, "movie", "a.mov"),
    ])
    try await picking.library.performChanges { block in
      block.editContent(
        of: live,
        ContentEdit(
          adjustmentData: AdjustmentData(formatIdentifier: "x", formatVersion: "1", data: Data([1])),
          rendered: [PickingLibrary.draft(.fullSizePhoto, "after", "a.jpg")]))
    }
    let still = try #require(try await picking.pick([live.uuidString]).first)
    #expect(still.supportedContentTypes == ["public.jpeg"])
    // Logs of former versions have such assets, too.
    try await picking.library.performChanges { block in
      var changes = AssetChanges()
      changes.mediaSubtypes = .photoLive
      block.edit([live], changes)
    }
    let item = try #require(try await picking.pick([live.uuidString]).first)
    #expect(item.supportedContentTypes == ["public.jpeg", "com.apple.quicktime-movie"])
    var options = PickedItemOptions()
    options.contentType = "com.apple.quicktime-movie"
    #expect(try await picking.app.load(item, options: options) == Data("movie".utf8))
  }

  /// A converter that writes what it was asked for.
  private final class Scribe: RepresentationConverter {
    let asked = Gathered<String>()
    let compatible: Bool
    let failure: (any Error)?

    init(compatible: Bool = true, failure: (any Error)? = nil) {
      (self.compatible, self.failure) = (compatible, failure)
    }

    func isCompatible(_ file: URL, type: String) throws -> Bool { compatible }

    func convert(_ conversion: RepresentationConversion) throws {
      let source = try String(contentsOf: conversion.source, encoding: .utf8)
      asked.append("\(conversion.source.pathExtension) to \(conversion.target.pathExtension)")
      if let failure { throw failure }
      let words = [
        conversion.isEncoding ? "encoded" : "kept", "\(conversion.sourceType) \(source)", conversion.targetType,
        conversion.metadataOptions.contains(.removeLocation) ? "no place" : "",
        conversion.metadataOptions.contains(.removeCaptions) ? "no caption" : "",
      ]
      try Data(words.joined(separator: "|").utf8).write(to: conversion.target)
    }
  }

  @Test(
    "compatible bytes are returned unchanged, others converted; automatic converts if it can (PK-07)",
    arguments: [
      ("jpg", ResourceType.photo, AssetRepresentation.compatible, "bytes"), ("jpg", .photo, .automatic, "bytes"),
      ("heic", .photo, .current, "bytes"),
      ("heic", .photo, .compatible, "encoded|public.heic bytes|public.jpeg||"),
      ("heic", .photo, .automatic, "encoded|public.heic bytes|public.jpeg||"),
      ("png", .photo, .compatible, "bytes"), ("gif", .photo, .compatible, "bytes"),
      ("avi", .video, .compatible, "encoded|public.avi bytes|public.mpeg-4||"), ("mov", .video, .compatible, "bytes"),
      ("m4a", .audio, .compatible, "bytes"),
    ])
  func conversion(
    ending: String, type: ResourceType, representation: AssetRepresentation, expected: String
  ) async throws {
    let picking = try await PickingLibrary(0)
    let scribe = Scribe()
    try picking.library.setRepresentationConverter(scribe)
    let mediaType: MediaType = type == .photo ? .image : type == .video ? .video : .audio
    let asset = try await picking.add([PickingLibrary.draft(type, "bytes", "a.\(ending)")], mediaType)
    var configuration = picking.configuration()
    configuration.preferredRepresentation = representation
    let item = try #require(try await picking.pick([asset.uuidString], configuration).first)
    #expect(try await picking.app.load(item) == Data(expected.utf8))
    let stored = UniformType(filenameExtension: ending).identifier
    let converted = expected.split(separator: "|").dropFirst(2).first.map(String.init)
    let both = [converted, representation == .automatic ? stored : nil].compactMap(\.self)
    #expect(item.supportedContentTypes == (converted == nil ? [stored] : both))
    #expect(try picking.leftovers.isEmpty)
    // What was asked for is spelled by the caller of the loading, too.
    var options = PickedItemOptions()
    options.representation = .current
    #expect(try await picking.app.load(item, options: options) == Data("bytes".utf8))
  }

  @Test("a film is transcoded if the converter finds that others could not play it (PK-07)")
  func incompatibleFilm() async throws {
    let picking = try await PickingLibrary(0)
    let film = try await picking.add([PickingLibrary.draft(.video, "hevc", "a.mov")], .video)
    let item = try #require(try await picking.pick([film.uuidString]).first)
    var options = PickedItemOptions()
    options.representation = .compatible
    // Its encoding is unknown.
    #expect(await picking.code { _ = try await picking.app.load(item, options: options) } == .converterMissing)
    #expect(try await picking.app.load(item) == Data("hevc".utf8))
    try picking.library.setRepresentationConverter(Scribe(compatible: false))
    let expected = Data("encoded|com.apple.quicktime-movie hevc|com.apple.quicktime-movie||".utf8)
    #expect(try await picking.app.load(item, options: options) == expected)
    #expect(try await picking.app.load(item) == expected)
    try picking.library.setRepresentationConverter(Scribe(compatible: true))
    #expect(try await picking.app.load(item, options: options) == Data("hevc".utf8))
    #expect(try picking.leftovers.isEmpty)
  }

  @Test("an automatic film that cannot be transcoded is returned as stored, and a photo with its stored type (PK-07)")
  func failedAutomaticConversion() async throws {
    struct Refusal: Error {}
    let picking = try await PickingLibrary(0)
    try picking.library.setRepresentationConverter(Scribe(compatible: false, failure: Refusal()))
    let film = try await picking.add([PickingLibrary.draft(.video, "hevc", "a.mov")], .video)
    let movie = try #require(try await picking.pick([film.uuidString]).first)
    #expect(try await picking.app.load(movie) == Data("hevc".utf8))
    // Metadata that is left out is in the stored bytes, too.
    var stripped = PickedItemOptions()
    stripped.metadataOptions = .removeLocation
    for options in [Self.options(.compatible), stripped] {
      #expect(await picking.code { _ = try await picking.app.load(movie, options: options) } == .conversionFailed)
    }
    let still = try await picking.add([PickingLibrary.draft(.photo, "still", "a.heic")])
    let photo = try #require(try await picking.pick([still.uuidString]).first)
    #expect(photo.supportedContentTypes == ["public.jpeg", "public.heic"])
    #expect(await picking.code { _ = try await picking.app.load(photo) } == .conversionFailed)
    var stored = PickedItemOptions()
    stored.contentType = "public.heic"
    #expect(try await picking.app.load(photo, options: stored) == Data("still".utf8))
    #expect(try picking.leftovers.isEmpty)
  }

  @Test("what must not be shared is removed, or nothing is returned (a.8)")
  func stripping() async throws {
    let picking = try await PickingLibrary(1)
    var configuration = picking.configuration()
    configuration.metadataOptions = .removeLocation
    let item = try #require(try await picking.pick([picking.name(0)], configuration).first)
    for options in [PickedItemOptions(), Self.options(.current), Self.options(.compatible)] {
      let error = await #expect(throws: LibraryError.self) { _ = try await picking.app.load(item, options: options) }
      #expect(error?.code == .converterMissing && error?.description.contains("exiftool") == true)
    }
    try picking.library.setRepresentationConverter(Scribe())
    let bytes = PickingLibrary.bytes(0)
    #expect(try await picking.app.load(item) == Data("kept|public.jpeg \(bytes)|public.jpeg|no place|".utf8))
    var options = PickedItemOptions()
    options.metadataOptions = .removeCaptions
    #expect(
      try await picking.app.load(item, options: options)
        == Data("kept|public.jpeg \(bytes)|public.jpeg|no place|no caption".utf8))
    let archived = try JSONDecoder().decode(PickedItem.self, from: JSONEncoder().encode(item))
    #expect(archived.metadataOptions == .removeLocation)
    let file = picking.folder.url.appending(path: "a.jpg")
    try await picking.app.write(archived, to: file)
    #expect(try String(contentsOf: file, encoding: .utf8).contains("no place"))
    #expect(try picking.leftovers.isEmpty)
  }

  @Test("what the person excludes is excluded from each later loading, whatever the item says of itself")
  func withholding() async throws {
    let picking = try await PickingLibrary(2)
    try picking.library.setRepresentationConverter(Scribe())
    let session = try picking.app.beginPicking(picking.configuration())
    let presenter = try picking.library.present(session)
    try await presenter.withhold([.removeLocation, .removeCaptions])
    try await presenter.withhold(.removeLocation)
    #expect(presenter.presentation.withheld == .removeLocation)
    try await presenter.select(picking.name(0))
    try await presenter.finish()
    let item = try #require(await session.everyResult.last?.first)
    #expect(item.metadataOptions == .removeLocation)
    let bytes = PickingLibrary.bytes(0)
    let stripped = Data("kept|public.jpeg \(bytes)|public.jpeg|no place|".utf8)
    #expect(try await picking.app.load(item) == stripped)
    // The client's archive is the client's: it may say what it likes.
    var archive = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(item)) as? [String: Any])
    archive["metadataOptions"] = 0
    let forged = try JSONDecoder().decode(PickedItem.self, from: JSONSerialization.data(withJSONObject: archive))
    #expect(forged.metadataOptions.isEmpty)
    #expect(try await picking.app.load(forged) == stripped)
    #expect(try await picking.app.load(try picking.app.pickedItem(try #require(item.token))) == stripped)
    // Without a program that takes it out there are no bytes.
    try picking.library.setRepresentationConverter(nil)
    #expect(await picking.code { _ = try await picking.app.load(forged) } == .converterMissing)
    #expect(try await picking.app.load(try await picking.pick([picking.name(0)])[0]) == Data(bytes.utf8))
    var sentences: [String] = []
    try picking.library.forEachLogEntry(LogFilter()) { entry in
      if entry.type == "pick.recorded" { sentences.append(entry.sentence) }
      return true
    }
    let given = "'com.example.app' received picked assets"
    #expect(sentences == ["\(given), without the place.", "\(given)."])
  }

  @Test("options that the library does not know stay out of the log, which they would make unreadable")
  func unknownOptions() async throws {
    let picking = try await PickingLibrary(1)
    try picking.library.setRepresentationConverter(Scribe())
    var configuration = picking.configuration()
    configuration.metadataOptions = [.removeLocation, PickerMetadataOptions(rawValue: 1 << 20)]
    let item = try #require(try await picking.pick([picking.name(0)], configuration).first)
    let again = try picking.app.pickedItem(try #require(item.token))
    #expect(again.metadataOptions == .removeLocation)
    try picking.library.rebuild()
    #expect(try picking.library.verify().isSound)
  }

  @Test(
    "a token alone returns what the item of its session returns: in its representation, and without exclusions",
    arguments: [PhotoLibrary.owner, PickingLibrary.client])
  func token(_ client: String) async throws {
    let picking = try await PickingLibrary(0)
    let (view, scribe) = (picking.library.as(client), Scribe())
    try picking.library.setRepresentationConverter(scribe)
    let asset = try await picking.add([PickingLibrary.draft(.photo, "still", "a.heic")])
    var tokens: Set<String> = []
    for representation in AssetRepresentation.allCases {
      for options: PickerMetadataOptions in [[], .removeLocation, .removeCaptions, [.removeLocation, .removeCaptions]] {
        var configuration = picking.configuration()
        (configuration.preferredRepresentation, configuration.metadataOptions) = (representation, options)
        let item = try #require(try await picking.pick([asset.uuidString], configuration, for: view).first)
        let token = try #require(item.token)
        let found = try view.pickedItem(token)
        #expect(found.token == token && found.metadataOptions == options && item.metadataOptions == options)
        #expect(found.preferredRepresentation == representation)
        #expect(found.supportedContentTypes == item.supportedContentTypes)
        let (bytes, again) = (try await view.load(item), try await view.load(found))
        #expect(
          bytes == again && String(decoding: again, as: UTF8.self).contains("no place") == (options.rawValue & 1 != 0))
        tokens.insert(token)
        for ending in [".", ".automatic", ".current-current", ".captions-location", ".location.current", ".LOCATION"] {
          #expect(await picking.code { _ = try view.pickedItem(token + ending) } == .invalidToken, "\(token)\(ending)")
        }
      }
    }
    #expect(tokens.count == 12)
  }

  @Test("a client that alters its token gets nothing more than its pick records")
  func alteredToken() async throws {
    let picking = try await PickingLibrary(1)
    try picking.library.setRepresentationConverter(Scribe())
    var configuration = picking.configuration()
    configuration.metadataOptions = .removeLocation
    let token = try #require(try await picking.pick([picking.name(0)], configuration).first?.token)
    let plain = try await picking.app.load(try picking.app.pickedItem(token))
    #expect(String(decoding: plain, as: UTF8.self).contains("no place"))
    for form in ["current", "compatible", "captions", "current-captions"] {
      let item = try picking.app.pickedItem("\(token).\(form)")
      let text = String(decoding: try await picking.app.load(item), as: UTF8.self)
      #expect(text.contains("no place"), "\(form): \(text)")
    }
  }

  @Test("what is withheld in a continuous session is left out from then on, and earlier results stay as they were")
  func withholdingLate() async throws {
    let picking = try await PickingLibrary(2)
    try picking.library.setRepresentationConverter(Scribe())
    let session = try picking.app.beginPicking(picking.configuration(0, .continuousAndOrdered))
    let presenter = try picking.library.present(session)
    try await presenter.select(picking.name(0))
    let before = try picking.library.currentToken
    try await presenter.withhold(.removeLocation)
    #expect(try picking.library.currentToken == before, "Nothing was given by it.")
    try await presenter.select(picking.name(1))
    try await presenter.finish()
    #expect(await picking.code { try await presenter.withhold([]) } == .changeNotSupported)
    let items = try #require(await session.everyResult.last)
    #expect(items.map(\.metadataOptions) == [[], .removeLocation])
    #expect(try await picking.app.load(items[0]) == Data(PickingLibrary.bytes(0).utf8))
    #expect(try await String(decoding: picking.app.load(items[1]), as: UTF8.self).contains("no place"))
  }

  private static func options(_ representation: AssetRepresentation) -> PickedItemOptions {
    var options = PickedItemOptions()
    options.representation = representation
    return options
  }

  @Test("without a converter, a conversion fails with what to install (PK-07)")
  func withoutConverter() async throws {
    let picking = try await PickingLibrary(0)
    let asset = try await picking.add([PickingLibrary.draft(.photo, "still", "a.heic")])
    let item = try #require(try await picking.pick([asset.uuidString]).first)
    #expect(item.supportedContentTypes == ["public.heic"])
    #expect(try await picking.app.load(item) == Data("still".utf8), "Automatic is what can be had.")
    var jpeg = PickedItemOptions()
    jpeg.contentType = "public.jpeg"
    for options in [Self.options(.compatible), jpeg] {
      let error = await #expect(throws: LibraryError.self) { _ = try await picking.app.load(item, options: options) }
      #expect(error?.code == .converterMissing && error?.description.contains("setRepresentationConverter") == true)
    }
    let film = try await picking.add([PickingLibrary.draft(.video, "film", "a.mov")], .video)
    let movie = try #require(try await picking.pick([film.uuidString]).first)
    #expect(try await picking.app.load(movie) == Data("film".utf8))
    let error = await #expect(throws: LibraryError.self) {
      _ = try await picking.app.load(movie, options: Self.options(.compatible))
    }
    #expect(error?.code == .converterMissing && error?.description.contains("widely playable") == true)
    #expect(await picking.code { try picking.app.setRepresentationConverter(nil) } == .accessUserDenied)
  }

  @Test("a file for which the converter has no program is loaded as it is stored, and compatible is its error (PK-07)")
  func unableConverter() async throws {
    struct ImagesOnly: RepresentationConverter {
      struct NoProgram: Error, CustomStringConvertible { let description = "install ffmpeg" }
      func canConvert(_ sourceType: String, to targetType: String) -> Bool { targetType == "public.jpeg" }
      func isCompatible(_ file: URL, type: String) throws -> Bool { throw NoProgram() }
      func convert(_ conversion: RepresentationConversion) throws {
        try Data("made".utf8).write(to: conversion.target)
      }
    }
    let picking = try await PickingLibrary(0)
    try picking.library.setRepresentationConverter(ImagesOnly())
    let files = [PickingLibrary.draft(.photo, "still", "a.heic"), PickingLibrary.draft(.pairedVideo, "film", "a.mov")]
    let live = try await picking.add(files)
    let item = try #require(try await picking.pick([live.uuidString]).first)
    #expect(item.supportedContentTypes == ["public.jpeg", "com.apple.quicktime-movie", "public.heic"])
    #expect(try await picking.app.load(item) == Data("made".utf8))
    var film = PickedItemOptions()
    film.contentType = "com.apple.quicktime-movie"
    #expect(try await picking.app.load(item, options: film) == Data("film".utf8))
    film.representation = .compatible
    let error = await #expect(throws: LibraryError.self) { _ = try await picking.app.load(item, options: film) }
    #expect(error?.code == .conversionFailed && error?.description.contains("install ffmpeg") == true)
  }

  @Test("a converter that fails, or creates no file, returns nothing and leaves nothing (PK-07)")
  func failing() async throws {
    struct Refusal: Error, CustomStringConvertible { let description = "no such codec" }
    struct Idle: RepresentationConverter {
      func isCompatible(_ file: URL, type: String) throws -> Bool { true }
      func convert(_ conversion: RepresentationConversion) throws {}
    }
    let picking = try await PickingLibrary(0)
    let asset = try await picking.add([PickingLibrary.draft(.photo, "still", "a.heic")])
    let item = try #require(try await picking.pick([asset.uuidString]).first)
    let options = Self.options(.compatible)
    for (converter, words) in [(Scribe(failure: Refusal()), "no such codec"), (Idle(), "does not exist")]
      as [(any RepresentationConverter, String)]
    {
      try picking.library.setRepresentationConverter(converter)
      let error = await #expect(throws: LibraryError.self) { _ = try await picking.app.load(item, options: options) }
      #expect(
        error?.code == .conversionFailed && error?.description.contains(words) == true, "\(words): \(error as Any)")
      #expect(try picking.leftovers.isEmpty)
    }
    // Altered bytes reach no converter.
    let scribe = Scribe()
    try picking.library.setRepresentationConverter(scribe)
    let photo = try #require(try picking.library.asset(asset.uuidString))
    let path = try picking.library.url(of: picking.library.resources(of: photo)[0], in: photo).path
    chmod(path, 0o644)
    try Data("STILL".utf8).write(to: URL(filePath: path))
    #expect(await picking.code { _ = try await picking.app.load(item, options: options) } == .invalidResource)
    #expect(scribe.asked.all.isEmpty)
  }
}
