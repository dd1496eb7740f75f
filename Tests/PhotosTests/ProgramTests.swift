import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import Photos
import TestSupport
import Testing

@Suite("A backup client")
struct BackupProgramTests {
  private func folder() throws -> TemporaryFolder { try TemporaryFolder() }

  /// Saves a photo with bytes of its own through PhotoKit, and gives its identifier.
  private nonisolated(nonsending) func save(_ text: String) async throws -> String {
    var identifier = ""
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetCreationRequest.forAsset()
      request.addResource(with: .photo, data: Data(text.utf8), options: nil)
      identifier = request.placeholderForCreatedAsset?.localIdentifier ?? ""
    }
    return identifier
  }

  @Test(
    "it copies everything at first and then what changed; trash and purge remove copies (PH-01 to PH-05, PH-08)",
    arguments: Language.allCases)
  func incremental(language: Language) async throws {
    let (gallery, place) = (try Gallery(), try folder())
    try await gallery.shared {
      let backup = language.backup(place.place("token"))
      let (a, b) = (try await save("a"), try await save("bb"))
      try await backup.run()
      #expect(await backup.fullScanCount == 1)
      // FNV-1a of "a" is a published value.
      #expect(await backup.kept[a] == ["1 1 \(0xaf63_dc4c_8601_ec8c as UInt64)"])
      #expect(await backup.kept[b]?.first?.hasPrefix("1 2 ") == true)
      try await backup.run()
      #expect(await backup.incrementalCount == 0, "The token is still the present one.")
      let c = try await save("ccc")
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetChangeRequest.deleteAssets(PHAsset.fetchAssets(withLocalIdentifiers: [a], options: nil))
      }
      try await backup.run()
      #expect(await Set(backup.kept.keys) == [b, c])
      // Another instance goes on from the archived token.
      let next = language.backup(place.place("token"))
      let d = try await save("dddd")
      try await next.run()
      #expect(await next.fullScanCount == 0)
      #expect(await Set(next.kept.keys) == [d])
    }
  }

  @Test("a token that the history no longer reaches back to means a full scan (PH-06)", arguments: Language.allCases)
  func expired(language: Language) async throws {
    let (gallery, place) = (try Gallery(), try folder())
    try await gallery.shared {
      let backup = language.backup(place.place("token"))
      let a = try await save("a")
      try await backup.run()
      let b = try await save("b")
      try gallery.library.shortenHistory(to: try gallery.library.currentToken)
      try await backup.run()
      #expect(await backup.fullScanCount == 2)
      #expect(await Set(backup.kept.keys) == [a, b])
    }
  }

  @Test(
    "a token of another library, as after a library was recreated, means a full scan (PH-06)",
    arguments: Language.allCases)
  func foreign(language: Language) async throws {
    let (former, present, place) = (try Gallery(seed: 1), try Gallery(seed: 2), try folder())
    let foreign = try await former.shared {
      _ = try await save("former")
      try await language.backup(place.place("token")).run()
      return PHPhotoLibrary.shared().currentChangeToken
    }
    try await present.shared {
      let a = try await save("present")
      let error = #expect(throws: PHPhotosError.self) {
        _ = try PHPhotoLibrary.shared().fetchPersistentChanges(since: foreign)
      }
      #expect(error?.code == .persistentChangeTokenExpired && error?.description.contains("another library") == true)
      #expect((error?.userInfo[NSUnderlyingErrorKey] as? LibraryError)?.code == .invalidToken)
      let backup = language.backup(place.place("token"))
      try await backup.run()
      #expect(await backup.fullScanCount == 1)
      #expect(await Set(backup.kept.keys) == [a])
      try await backup.run()
      #expect(await backup.fullScanCount == 1, "Its token is of this library from now on.")
    }
  }

  @Test("its cloud identifiers lead back, and several equal contents are all named (CI-01, CI-03, CI-05)")
  func cloud() async throws {
    for language in Language.allCases {
      let (here, there, place) = (try Gallery(seed: 1), try Gallery(seed: 2), try folder())
      let cloud = try await here.shared {
        let backup = language.backup(place.place("here"))
        let a = try await save("same")
        try await backup.run()
        let cloud = try #require(await backup.cloudIdentifiers()[a])
        #expect(await backup.localIdentifiers(forCloud: [cloud]) == [cloud: [a]])
        return cloud
      }
      try await there.shared {
        let backup = language.backup(place.place("there"))
        #expect(await backup.localIdentifiers(forCloud: [cloud, "no identifier"]) == [cloud: [], "no identifier": []])
        let copies = [try await save("same"), try await save("same")]
        #expect(await backup.localIdentifiers(forCloud: [cloud]) == [cloud: copies])
      }
    }
  }

  @Test("it needs all photos, and says so to a limited client (AU-10)", arguments: Language.allCases)
  func limited(language: Language) async throws {
    let (gallery, place) = (try Gallery(), try folder())
    try await gallery.client(.limited)
    try await gallery.shared(as: "com.example.app") {
      let backup = language.backup(place.place("token"))
      await #expect(throws: (any Error).self) { try await backup.run() }
      #expect(await backup.fullScanCount == 0)
    }
  }
}

@Suite("An album manager")
struct AlbumProgramTests {
  @Test(
    "it creates an album once, and adds, inserts, moves, replaces and removes (AL-01 to AL-06, CB-07)",
    arguments: Language.allCases)
  func albums(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<6)
    try await gallery.shared {
      let manager = language.albums
      let album = try await manager.findOrCreateAlbum(titled: "Sea")
      #expect(try await manager.findOrCreateAlbum(titled: "Sea") == album)
      let all = assets().names
      let photos = try all.map(asset)
      func members() -> [Int] { PHAsset.fetchAssets(in: album, options: nil).names.compactMap(all.firstIndex) }
      try await manager.add([photos[0], photos[1], photos[2]], to: album)
      try await manager.add([photos[1], photos[3]], to: album)
      #expect(members() == [0, 1, 2, 3])
      try await manager.insert(photos[4], at: 1, of: album)
      #expect(members() == [0, 4, 1, 2, 3])
      try await manager.move(from: [0, 2], to: 3, in: album)
      #expect(members() == [4, 2, 3, 0, 1], "Positions count without what is moved (AL-03).")
      try await manager.replace(at: 0, of: album, with: photos[3])
      #expect(members() == [3, 2, 0, 1], "A member is moved, and not there twice (AL-04).")
      try await manager.remove(PHAsset.fetchAssets(withLocalIdentifiers: [all[2]], options: nil), from: album)
      #expect(members() == [3, 0, 1] && assets().count == 6)
      #expect(manager.titles(containing: photos[0]) == ["Sea"] && manager.titles(containing: photos[2]) == [])
      try await manager.rename(album, to: "Sea side")
      #expect(manager.album(titled: "Sea") == nil && manager.album(titled: "Sea side") == album)
      try await manager.delete(album)
      #expect(manager.outline() == [] && assets().count == 6)
    }
  }

  @Test(
    "it creates and arranges folders, and deletes them with their contents (FO-01 to FO-03)",
    arguments: Language.allCases)
  func folders(language: Language) async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<1)
    try await gallery.shared {
      let manager = language.albums
      let folder = try await manager.createFolder(titled: "Trips", albums: ["North", "South"])
      _ = try await manager.findOrCreateAlbum(titled: "Loose")
      #expect(manager.outline() == ["Trips", "  North", "  South", "Loose"])
      let south = try #require(manager.album(titled: "South"))
      try await manager.add([try asset(ids[0])], to: south)
      try await manager.bringToFront(south, in: folder)
      #expect(manager.outline() == ["Trips", "  South", "  North", "Loose"])
      try await manager.delete(folder)
      #expect(manager.outline() == ["Loose"] && assets().names == ids)
    }
  }

  @Test("a smart album cannot be added to (AL-07)", arguments: Language.allCases)
  func smart(language: Language) async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<1)
    try await gallery.shared {
      let found = PHAssetCollection.fetchAssetCollections(
        with: .smartAlbum, subtype: .smartAlbumFavorites, options: nil)
      let favorites = try #require(found.firstObject)
      let photo = try asset(ids[0])
      await #expect(throws: (any Error).self) { try await language.albums.add([photo], to: favorites) }
      #expect(
        await refusal { PHAssetCollectionChangeRequest(for: favorites)?.addAssets([photo] as NSArray) }
          == .changeNotSupported)
    }
  }
}

@Suite("A camera that only adds")
struct CameraProgramTests {
  @Test(
    "it saves photo and film as a Live Photo that it cannot see itself (LP-01, AU-08, CB-08, AS-12)",
    arguments: Language.allCases)
  func live(language: Language) async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    try await gallery.client(.authorized, for: .addOnly)
    let movie = folder.place("IMG_0001.MOV")
    try Data("film".utf8).write(to: movie)
    try await gallery.shared(as: "com.example.app") {
      let camera = language.camera
      #expect(await camera.requestAccess())
      let outcome = await camera.saved(
        Data("photo".utf8), movie: movie, date: Date(timeIntervalSince1970: 5),
        at: CLLocation(latitude: 47, longitude: 8))
      #expect(outcome.hasPrefix("saved("))
      #expect(!FileManager.default.fileExists(atPath: movie.path), "The film was moved (CB-08).")
      let identifier = outcome.dropFirst(7).filter { $0 != "\"" && $0 != ")" }
      #expect(!camera.canSee(identifier))
      #expect(await camera.albumMade(titled: "Camera") == "notAllowed")
    }
    try await gallery.shared {
      let saved = try #require(assets().firstObject)
      #expect(assets().count == 1 && saved.mediaSubtypes.contains(.photoLive) && saved.mediaType == .image)
      #expect(saved.creationDate == Date(timeIntervalSince1970: 5))
      #expect(saved.location?.coordinate.latitude == 47)
      let resources = PHAssetResource.assetResources(for: saved)
      #expect(resources.map(\.type) == [.photo, .pairedVideo])
      #expect(resources.map(\.uniformTypeIdentifier) == ["public.heic", "com.apple.quicktime-movie"])
      #expect(resources.map(\.originalFilename) == ["IMG_0001.HEIC", "IMG_0001.MOV"])
    }
  }

  @Test(
    "a film is saved with a handler; a file that is not one saves nothing (CB-04, CB-09)", arguments: Language.allCases)
  func film(language: Language) async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    let (movie, text) = (folder.place("a.mov"), folder.place("a.txt"))
    for url in [movie, text] { try Data("film".utf8).write(to: url) }
    try await gallery.shared {
      for url in [movie, text] {
        let success: Bool = await withCheckedContinuation { continuation in
          language.camera.saveMovie(at: url) { success, _ in continuation.resume(returning: success) }
        }
        #expect(success, "A block without a request is no failure.")
      }
      #expect(assets().count == 1 && assets().firstObject?.mediaType == .video)
    }
  }

  @Test("without permission nothing is saved (AU-11)", arguments: [AuthorizationStatus.denied, .restricted])
  func refused(status: AuthorizationStatus) async throws {
    for language in Language.allCases {
      let gallery = try Gallery()
      try await gallery.client(status, for: .addOnly)
      try await gallery.shared(as: "com.example.app") {
        let camera = language.camera
        #expect(await camera.requestAccess() == false)
        #expect(await camera.saved(Data("x".utf8), movie: nil, date: Date(), at: nil) == "notAllowed")
      }
    }
  }
}

@Suite("A limited-access flow")
struct LimitedProgramTests {
  @Test(
    "it asks once, shows the selection, gets more, and makes an album of it (AU-01 to AU-07, FR-18)",
    arguments: Language.allCases)
  @MainActor
  func flow(language: Language) async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<5)
    try await gallery.client(.notDetermined)
    let chosen = [ids[1], ids[3]].compactMap { LocalIdentifier($0) }
    try gallery.library.setPermissionPrompt(SettledPrompt(.limit(to: chosen), more: [ids[3], ids[4]]))
    try await gallery.shared(as: "com.example.app") {
      let flow = language.limited
      #expect(flow.screenText == "explanation")
      #expect(PHPhotoLibrary.authorizationStatus(for: .readWrite) == .notDetermined)
      await flow.start()
      #expect(flow.screenText == "photos(canAskForMore: true)" && flow.identifiers == [ids[1], ids[3]])
      #expect(flow.legacyStatus == .authorized)
      #expect(await flow.askForMore() == [ids[4]])
      try await waitUntil("the selection arrives") { flow.identifiers == [ids[1], ids[3], ids[4]] }
      #expect(flow.arrivals == [ids[4]])
      #expect(try await flow.makeAlbum(titled: "Mine") == 3)
      let new = try await withNewPhoto()
      try await waitUntil("what the app saved is seen") { flow.identifiers.last == new }
    }
  }

  @MainActor
  private func withNewPhoto() async throws -> String {
    var identifier = ""
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetCreationRequest.forAsset()
      request.addResource(with: .photo, data: Data("own".utf8), options: nil)
      identifier = request.placeholderForCreatedAsset?.localIdentifier ?? ""
    }
    return identifier
  }

  @Test("while access is undecided, fetches are empty and changes fail; the first of them shows a prompt (FR-18)")
  func undecided() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<2)
    try await gallery.client(.notDetermined)
    try await gallery.shared(as: "com.example.app") {
      #expect(assets().count == 0 && PHPhotoLibrary.authorizationStatus(for: .readWrite) == .notDetermined)
      let code = await refusal {
        PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "x")
      }
      #expect(code == .accessUserDenied)
      try gallery.library.setPermissionPrompt(SettledPrompt(.allow))
      try await waitUntil("the prompt has answered") { assets().names == ids }
    }
  }

  @Test("rejected, it points to the settings (AU-09, AU-11)", arguments: Language.allCases)
  @MainActor
  func refused(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<2)
    try await gallery.client(.denied)
    try await gallery.shared(as: "com.example.app") {
      let flow = language.limited
      await flow.start()
      #expect(flow.screenText == "settingsHint" && flow.identifiers == [])
      #expect(await flow.askForMore() == [])
    }
  }
}

@Suite("An editor")
struct EditorProgramTests {
  private func text(_ resource: PHAssetResource) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      let portions = Gathered<Data>()
      PHAssetResourceManager.default().requestData(for: resource, options: nil) {
        portions.append($0)
      } completionHandler: {
        error in
        continuation.resume(
          with: Result {
            if let error { throw error }
            return String(decoding: portions.all.reduce(Data(), +), as: UTF8.self)
          })
      }
    }
  }

  @Test(
    "its edits begin with the base it can handle, keep the original and can be reverted (AS-04 to AS-09, CD-21)",
    arguments: Language.allCases)
  func edits(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let editor = language.editor
      let keeper = keeper()
      _ = try await keeper.told {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data("sea".utf8), options: nil)
      }
      let photo = try #require(assets().firstObject)
      #expect(try await editor.strengthAndBase(of: photo) == (nil, "sea"))
      try await editor.brighten(photo, by: 2)
      try await waitUntil("the edit is delivered") { keeper.all.count == 2 }
      #expect(keeper.all[1].changeDetails(for: photo)?.assetContentChanged == true)
      let edited = try #require(assets().firstObject)
      #expect(edited.hasAdjustments && edited.adjustmentsState == .userAdjusted && !photo.hasAdjustments)
      #expect(edited.adjustmentFormatIdentifier == "com.example.brighten")
      #expect(await editor.currentData(of: edited) == Data("sea brightened by 2".utf8))
      // It knows its own recipe, so it is given the unedited base.
      #expect(try await editor.strengthAndBase(of: edited) == (2, "sea"))
      try await editor.brighten(edited, by: 5)
      let again = try #require(assets().firstObject)
      #expect(await editor.currentData(of: again) == Data("sea brightened by 5".utf8))
      let resources = PHAssetResource.assetResources(for: again)
      #expect(Set(resources.map(\.type)).isSuperset(of: [.photo, .fullSizePhoto, .adjustmentData]))
      let original = try #require(resources.first)
      #expect(try await text(original) == "sea")
      try await editor.revert(again)
      let reverted = try #require(assets().firstObject)
      #expect(!reverted.hasAdjustments && PHAssetResource.assetResources(for: reverted).map(\.type) == [.photo])
      #expect(await editor.currentData(of: reverted) == Data("sea".utf8))
    }
  }

  @Test("an edit without a recipe is rejected and leaves nothing (AS-04, CB-06)", arguments: Language.allCases)
  func recipe(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data("sea".utf8), options: nil)
      }
      let photo = try #require(assets().firstObject)
      await #expect(throws: PHPhotosError.self) { try await language.editor.commitWithoutRecipe(photo) }
      #expect(assets().firstObject?.hasAdjustments == false)
      try await language.editor.setFavorite(true, photo)
      #expect(assets().firstObject?.isFavorite == true && !photo.isFavorite, "What was fetched stays (CB-05).")
    }
  }
}
