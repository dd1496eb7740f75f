import LibraryAudit
import PhotoLedger
import Photos
import TestSupport
import Testing

@Suite("Fetches through PhotoKit's types")
struct FetchTypesTests {
  @Test("a result stays unchanged, and returns positions and objects (FR-01 to FR-05, FR-11)")
  func results() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<4)
    try await gallery.make(4, .video)
    try await gallery.shared {
      let result = assets()
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetChangeRequest(for: result.object(at: 0)).isFavorite = true
        PHAssetChangeRequest.deleteAssets([result.object(at: 1)] as NSArray)
      }
      #expect(result.count == 5 && Array(result.names[..<4]) == ids, "Oldest addition first (FR-11).")
      #expect(!result.object(at: 0).isFavorite && result[1].localIdentifier == ids[1])
      #expect(result.objects(at: [0, 3]).map(\.localIdentifier) == [ids[0], ids[3]])
      let second = result.object(at: 1)
      #expect(result.contains(second) && result.index(of: second) == 1)
      #expect(result.index(of: second, in: NSRange(location: 2, length: 2)) == NSNotFound)
      #expect(assets().index(of: second) == NSNotFound && !assets().contains(second))
      #expect(result.countOfAssets(with: .image) == 4 && result.countOfAssets(with: .video) == 1)
      #expect(PHCollection.fetchTopLevelUserCollections(with: nil).countOfAssets(with: .image) == 0)
      let nobody = assets { $0.predicate = NSPredicate(value: false) }
      #expect(nobody.firstObject == nil && nobody.lastObject == nil && nobody.count == 0)
      #expect(assets { $0.fetchLimit = 2 }.names == [ids[0], ids[2]])
      var seen: [Int] = []
      result.enumerateObjects(options: .reverse) { _, index, stop in
        seen.append(index)
        if index == 2 { stop.pointee = true }
      }
      #expect(seen == [4, 3, 2])
    }
  }

  @Test("hidden, burst and foreign assets are left out unless asked for (FR-06 to FR-08, BU-01 to BU-03, AS-13)")
  func leftOut() async throws {
    let gallery = try Gallery()
    let hidden = try await gallery.make(0) { $0.isHidden = true }
    var burst: [String] = []
    for (seed, picked) in [(1, []), (2, BurstSelectionTypes.autoPick), (3, .userPick)] as [(Int, BurstSelectionTypes)] {
      burst.append(
        try await gallery.make(seed) {
          $0.burstIdentifier = "burst"
          $0.burstSelectionTypes = picked
        })
    }
    let shared = try await gallery.make(4) { $0.sourceType = .cloudShared }
    try await gallery.shared {
      #expect(assets().names == [burst[0], burst[2]])
      #expect(assets { $0.includeHiddenAssets = true }.names == [hidden, burst[0], burst[2]])
      #expect(assets { $0.includeAllBurstAssets = true }.names == burst)
      #expect(assets { $0.includeAssetSourceTypes = .typeCloudShared }.names == [shared])
      #expect(PHAsset.fetchAssets(withBurstIdentifier: "burst", options: nil).names == [burst[0], burst[2]])
      let members = try burst.map(asset)
      #expect(members.map(\.representsBurst) == [true, false, false])
      #expect(members.map(\.burstSelectionTypes) == [[], .autoPick, .userPick])
      #expect(try asset(hidden).isHidden)
      let foreign = try #require(assets { $0.includeAssetSourceTypes = .typeCloudShared }.firstObject)
      #expect(!foreign.canPerform(.delete) && !foreign.canPerform(.content), "It cannot be edited (AS-13).")
      #expect(members[0].canPerform(.delete))
    }
  }

  @Test("collections come in the library's order, and have neither dates nor places (FR-12 to FR-16)")
  func collections() async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<3)
    try await gallery.shared {
      let (b, a) = (try await album("B", [assets().object(at: 0)]), try await album("A"))
      #expect(PHCollection.fetchTopLevelUserCollections(with: nil).names == [b, a].map(\.localIdentifier))
      let options = PHFetchOptions()
      options.sortDescriptors = [NSSortDescriptor(key: "localizedTitle", ascending: true)]
      #expect(
        PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: options).titles == ["A", "B"])
      #expect(b.estimatedAssetCount == 1 && b.startDate == nil && b.endDate == nil && b.approximateLocation == nil)
      #expect(b.localizedLocationNames == [])
      let transient = PHAssetCollection.transientAssetCollection(withAssetFetchResult: assets(), title: "Chosen")
      #expect(PHAsset.fetchAssets(in: transient, options: nil).names == assets().names)
      #expect(PHAsset.fetchKeyAssets(in: transient, options: nil) == nil)
      #expect(PHAsset.fetchKeyAssets(in: b, options: nil)?.count == 1)
      #expect(PHCollection.fetchTopLevelUserCollections(with: nil).count == 2)
      try await PHPhotoLibrary.shared().performChanges {
        #expect(PHAssetCollectionChangeRequest(for: transient) == nil, "It cannot be changed (CB-10).")
      }
      #expect(PHAssetCollection.fetchAssetCollections(with: .moment, subtype: .any, options: nil).count == 0)
    }
  }

  @Test("smart albums are all found by the subtype of ordinary albums, as shipping programs ask for them")
  func smartAlbums() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      func titles(_ type: PHAssetCollectionType, _ subtype: PHAssetCollectionSubtype) -> [String] {
        PHAssetCollection.fetchAssetCollections(with: type, subtype: subtype, options: nil).titles
      }
      _ = try await album("Sea")
      let all = titles(.smartAlbum, .any)
      #expect(all.count > 10 && !all.contains("Sea"))
      #expect(titles(.smartAlbum, .albumRegular) == all)
      #expect(titles(.smartAlbum, .smartAlbumFavorites) == ["Favorites"])
      #expect(titles(.album, .albumRegular) == ["Sea"] && titles(.album, .smartAlbumFavorites) == [])
    }
  }
}

@Suite("Change blocks through PhotoKit's types")
struct ChangeBlockTypesTests {
  @Test("a block is one commit, and its placeholders hold inside and after it (CB-01, CB-05, CB-07)")
  func placeholders() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let start = PHPhotoLibrary.shared().currentChangeToken
      var (photo, sea) = ("", "")
      try await PHPhotoLibrary.shared().performChanges {
        let creation = PHAssetCreationRequest.forAsset()
        creation.addResource(with: .photo, data: Data("a".utf8), options: nil)
        let placeholder = creation.placeholderForCreatedAsset
        let album = PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "Sea")
        album.addAssets([placeholder].compactMap { $0 } as NSArray)
        (photo, sea) = (placeholder?.localIdentifier ?? "", album.placeholderForCreatedAssetCollection.localIdentifier)
        #expect(assets().count == 0, "Nothing is there before the block is over (CB-05).")
      }
      let album = try #require(
        PHAssetCollection.fetchAssetCollections(withLocalIdentifiers: [sea], options: nil).firstObject)
      #expect(PHAsset.fetchAssets(in: album, options: nil).names == [photo])
      #expect(Array(try PHPhotoLibrary.shared().fetchPersistentChanges(since: start)).count == 1)
    }
  }

  @Test("a block inside a block fails, in each form, and the outer one goes on (CB-03)")
  func nested() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let library = PHPhotoLibrary.shared()
      let told = Gathered<Int>()
      try await library.performChanges {
        PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "outer")
        let error = #expect(throws: PHPhotosError.self) { try library.performChangesAndWait {} }
        #expect(error?.code == .changeNotSupported)
        library.performChanges({}) { _, error in told.append((error as NSError?)?.code ?? 0) }
      }
      try await waitUntil("the inner block is answered") { told.all == [3300] }
      #expect(PHCollection.fetchTopLevelUserCollections(with: nil).titles == ["outer"])
    }
  }

  @Test("what cannot be executed fails the whole block with Apple's code (CB-06, AS-11, LP-02, CB-10, FO-05)")
  func failures() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<2)
    try await gallery.shared {
      let (first, sea) = (try asset(ids[0]), try await album("Sea"))
      func code(_ request: @escaping () -> Void) async -> PHPhotosError.Code? {
        await refusal {
          PHAssetChangeRequest(for: first).isFavorite = true
          request()
        }
      }
      #expect(await code { PHAssetCreationRequest.forAsset() } == .missingResource)
      let nowhere = URL(filePath: "/nowhere/a.jpg")
      #expect(
        await code { PHAssetCreationRequest.forAsset().addResource(with: .photo, fileURL: nowhere, options: nil) }
          == .missingResource)
      let film = Data("film".utf8)
      #expect(
        await code { PHAssetCreationRequest.forAsset().addResource(with: .pairedVideo, data: film, options: nil) }
          == .invalidResource)
      #expect(await code { PHAssetCollectionChangeRequest(for: sea)?.removeAssets(at: [3]) } == .changeNotSupported)
      #expect(try asset(ids[0]).isFavorite == false)
      let types: ([PHAssetResourceType]) -> Bool = { types in
        PHAssetCreationRequest.supportsAssetResourceTypes(types.map { NSNumber(value: $0.rawValue) })
      }
      #expect(types([.photo]) && types([.photo, .pairedVideo]) && types([.photo, .alternatePhoto]))
      #expect(!types([.pairedVideo]) && !types([]) && !types([.photo, .video, .audio]))
      try await PHPhotoLibrary.shared().performChanges {
        let outer = PHCollectionListChangeRequest.creationRequestForCollectionList(withTitle: "Outer")
        let inner = PHCollectionListChangeRequest.creationRequestForCollectionList(withTitle: "Inner")
        outer.addChildCollections([inner.placeholderForCreatedCollectionList] as NSArray)
      }
      let folders = PHCollectionList.fetchCollectionLists(with: .folder, subtype: .any, options: nil)
      let found = (0..<2).map { folders.object(at: $0) }
      let (outer, inner) = found[0].localizedTitle == "Outer" ? (found[0], found[1]) : (found[1], found[0])
      #expect(
        await refusal { PHCollectionListChangeRequest(for: inner)?.addChildCollections([outer] as NSArray) }
          == .changeNotSupported)
    }
  }

  /// Says no to every deletion.
  private struct Guard: ChangeConfirmation {
    func confirm(_ proposal: ChangeProposal) -> Bool { proposal.deletedAssets.isEmpty }
  }

  @Test("a confirmation handler may reject a block, which then fails as cancelled (CB-12)")
  func cancelled() async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<1)
    try gallery.library.setChangeConfirmation(Guard())
    try await gallery.shared {
      do {
        try await PHPhotoLibrary.shared().performChanges { PHAssetChangeRequest.deleteAssets(assets()) }
        Issue.record("The deletion was not confirmed.")
      } catch PHPhotosError.userCancelled {
        #expect(assets().count == 1)
      }
    }
  }

  @Test("positions refer to the result that was seen, though the album has changed since (CB-13, AL-05)")
  func rebased() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<5)
    try await gallery.shared {
      let sea = try await album("Sea", try ids[..<4].map(asset))
      let seen = PHAsset.fetchAssets(in: sea, options: nil)
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetCollectionChangeRequest(for: sea)?.removeAssets(at: [0])
      }
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetCollectionChangeRequest(for: sea, assets: seen)?.removeAssets(at: [2])
      }
      #expect(PHAsset.fetchAssets(in: sea, options: nil).names == [ids[1], ids[3]])
    }
  }

  @Test(
    "metadata is changed and dated; words are set, given once and taken away (AS-01, AS-03, AS-14, AS-15, PH-05)")
  func metadata() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<1)
    try await gallery.shared {
      let before = try asset(ids[0])
      func change(_ body: (PHAssetChangeRequest) -> Void) async throws -> PHAsset {
        try await PHPhotoLibrary.shared().performChanges { body(PHAssetChangeRequest(for: before)) }
        return try asset(ids[0])
      }
      let marked = try await change {
        $0.isFavorite = true
        $0.rating = .four
        $0.caption = "sunset"
        $0.addKeyword("sea")
        $0.addKeyword("sea")
        $0.removeKeyword("alp")
        $0.location = CLLocation(latitude: 46, longitude: 7)
        #expect($0.isFavorite && $0.caption == "sunset", "A request shows what was set.")
      }
      #expect(marked.isFavorite && marked.rating == .four && marked.location?.coordinate.longitude == 7)
      #expect(marked.extendedMetadata.caption == "sunset" && marked.extendedMetadata.keywords == ["sea"])
      #expect(try #require(marked.modificationDate) > (try #require(before.modificationDate)))
      #expect(marked.duration == 0 && marked == before && marked.hash == before.hash)
      let cleared = try await change {
        $0.caption = ""
        $0.location = nil
        $0.creationDate = nil
      }
      #expect(cleared.extendedMetadata.caption == nil && cleared.location == nil && cleared.creationDate == nil)
      let sea = try await album("Sea", [before])
      let token = PHPhotoLibrary.shared().currentChangeToken
      try await PHPhotoLibrary.shared().performChanges { PHAssetChangeRequest.deleteAssets([before] as NSArray) }
      #expect(assets().count == 0 && PHAsset.fetchAssets(in: sea, options: nil).count == 0)
      let change = try #require(try PHPhotoLibrary.shared().fetchPersistentChanges(since: token).first { _ in true })
      let details = try change.changeDetails(for: .asset)
      #expect(details.deletedLocalIdentifiers == [ids[0]] && details.updatedLocalIdentifiers.isEmpty)
      #expect(change.changeToken == PHPhotoLibrary.shared().currentChangeToken)
    }
  }
}

@Suite("Files through PhotoKit's types")
struct FileTypesTests {
  @Test(
    "files keep their bytes and names, an image its bytes, and an invalid file makes nothing (CB-08, CB-09, CB-11)")
  func files() async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    let (picture, text) = (folder.place("sea.png"), folder.place("sea.txt"))
    for url in [picture, text] { try Data("png".utf8).write(to: url) }
    try await gallery.shared {
      try await PHPhotoLibrary.shared().performChanges {
        #expect(PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL: text) == nil)
        #expect(PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL: picture) == nil)
        let request = PHAssetChangeRequest.creationRequestForAssetFromImage(atFileURL: picture)
        request?.isFavorite = true
        #expect(request?.placeholderForCreatedAsset != nil)
      }
      #expect(FileManager.default.fileExists(atPath: picture.path), "It was copied, and not moved (CB-08).")
      let saved = try #require(assets().firstObject)
      #expect(saved.isFavorite && saved.mediaType == .image && saved.contentType == .png)
      let resource = try #require(PHAssetResource.assetResources(for: saved).first)
      #expect(resource.originalFilename == "sea.png" && resource.dataSize == 3)
      #expect(resource.assetLocalIdentifier == saved.localIdentifier)
      let copy = folder.place("copy.png")
      try await PHAssetResourceManager.default().writeData(for: resource, toFile: copy, options: nil)
      #expect(try Data(contentsOf: copy) == Data("png".utf8))
    }
  }

  @Test("the size is the current version's; a RAW pair shows the JPEG by default, its original is RAW (AS-02, AS-16)")
  func versions() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      for choice in [PHAsset.OriginalResourceChoice.compressed, .raw] {
        try await PHPhotoLibrary.shared().performChanges {
          let request = PHAssetCreationRequest.forAsset()
          request.addResource(with: .photo, data: Data("jpeg".utf8), options: nil)
          let raw = PHAssetResourceCreationOptions()
          raw.uniformTypeIdentifier = "com.adobe.raw-image"
          request.addResource(with: .alternatePhoto, data: Data("raw".utf8), options: raw)
          request.originalResourceChoice = choice
        }
      }
      let pairs = assets()
      #expect(pairs.object(at: 0).originalResourceChoice == .compressed)
      #expect(pairs.object(at: 1).originalResourceChoice == .raw)
      for version in [PHImageRequestOptionsVersion.current, .unadjusted, .original] {
        let options = PHImageRequestOptions()
        options.version = version
        for (asset, shown) in [(pairs.object(at: 0), "jpeg"), (pairs.object(at: 1), "raw")] {
          let data: Data? = await withCheckedContinuation { continuation in
            PHImageManager.default().requestImageDataAndOrientation(for: asset, options: options) { data, _, _, _ in
              continuation.resume(returning: data)
            }
          }
          #expect(data == Data((version == .original ? "raw" : shown).utf8), "\(version)")
        }
      }
      let first = pairs.object(at: 0)
      let id = try #require(LocalIdentifier(first.localIdentifier))
      var edit = ContentEdit(
        adjustmentData: AdjustmentData(formatIdentifier: "a", formatVersion: "1", data: Data("crop".utf8)),
        rendered: [ResourceDraft(type: .fullSizePhoto, source: .data(Data("cropped".utf8)))])
      (edit.pixelWidth, edit.pixelHeight) = (30, 20)
      try await gallery.library.performChanges { $0.editContent(of: id, edit) }
      let edited = assets().object(at: 0)
      #expect(edited.pixelWidth == 30 && edited.pixelHeight == 20 && first.pixelWidth == 0)
    }
  }

  @Test("recorded identities alone are returned on request; every key has an answer (CI-01, CI-02, CI-04)")
  func synced() async throws {
    let (here, there) = (try Gallery(seed: 1), try Gallery(seed: 2))
    let ids = try await here.images(0..<1)
    let cloud = try await here.shared {
      try #require(PHPhotoLibrary.shared().cloudIdentifierMappings(forLocalIdentifiers: ids)[ids[0]]).get()
    }
    let copies = try await there.images(0..<1)
    try await there.shared {
      let unknown = PHCloudIdentifier(stringValue: "no identifier")
      #expect(PHCloudIdentifier(archivalStringValue: "no identifier") == nil)
      let found = PHPhotoLibrary.shared().localIdentifierMappings(for: [cloud, unknown])
      #expect(found.count == 2)
      let local = try found[cloud]?.get()
      #expect(local == copies[0])
      let recorded = PHPhotoLibrary.shared().localIdentifierMappings(forSynced: [cloud, unknown])
      for key in [cloud, unknown] {
        let error = #expect(throws: PHPhotosError.self) { try recorded[key]?.get() }
        #expect(error?.code == .identifierNotFound)
      }
    }
  }
}

@Suite("Albums, folders and history through PhotoKit's types")
struct CollectionTypesTests {
  @Test("a collection is in one folder, and deleting its folder deletes it and no asset (FO-01 to FO-04, AL-08)")
  func folders() async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<1)
    try await gallery.shared {
      let (one, twin) = (try await album("Sea", [assets().object(at: 0)]), try await album("Sea"))
      #expect(one != twin, "Titles need not be unique (AL-08).")
      func top() -> PHFetchResult<PHCollection> { PHCollection.fetchTopLevelUserCollections(with: nil) }
      for title in ["First", "Second"] {
        try await PHPhotoLibrary.shared().performChanges {
          PHCollectionListChangeRequest.creationRequestForCollectionList(withTitle: title)
            .addChildCollections([one] as NSArray)
        }
      }
      #expect(top().titles == ["Sea", "First", "Second"])
      let roots = PHCollectionList.fetchCollectionLists(with: .folder, subtype: .rootFolder, options: nil)
      #expect(roots.count == 0, "The page of symbols lists this as different: the root is no list.")
      let parents = PHCollectionList.fetchCollectionListsContaining(one, options: nil)
      #expect(parents.titles == ["Second"], "Adding it elsewhere moves it (FO-01).")
      try await PHPhotoLibrary.shared().performChanges {
        PHCollectionListChangeRequest(forTopLevelCollectionListUserCollections: top())?
          .moveChildCollections(at: [2], to: 0)
      }
      #expect(top().titles == ["Second", "Sea", "First"])
      let second = try #require(top().firstObject as? PHCollectionList)
      #expect(second.canContainCollections && !second.canContainAssets, "A folder holds no assets (FO-02).")
      try await PHPhotoLibrary.shared().performChanges {
        PHCollectionListChangeRequest.deleteCollectionLists([second] as NSArray)
      }
      let gone = PHAssetCollection.fetchAssetCollections(withLocalIdentifiers: [one.localIdentifier], options: nil)
      #expect(gone.count == 0 && top().titles == ["Sea", "First"] && assets().count == 1)
    }
  }

  @Test("the history comes oldest first, each change with its token, and the sets are disjoint (PH-01 to PH-03, PH-10)")
  func history() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let library = PHPhotoLibrary.shared()
      let start = library.currentChangeToken
      var tokens: [PHPersistentChangeToken] = []
      let ids = try await gallery.images(0..<2)
      tokens.append(library.currentChangeToken)
      try await library.performChanges { PHAssetChangeRequest(for: assets().object(at: 0)).isFavorite = true }
      tokens.append(library.currentChangeToken)
      let sea = try await album("Sea")
      tokens.append(library.currentChangeToken)
      let changes = Array(try library.fetchPersistentChanges(since: start))
      #expect(changes.map(\.changeToken) == tokens && Set(tokens).count == 3)
      #expect(try changes[0].changeDetails(for: .asset).insertedLocalIdentifiers == Set(ids))
      #expect(try changes[1].changeDetails(for: .asset).updatedLocalIdentifiers == [ids[0]])
      #expect(try changes[1].changeDetails(for: .asset).insertedLocalIdentifiers.isEmpty)
      let albums = try changes[2].changeDetails(for: .assetCollection)
      #expect(albums.insertedLocalIdentifiers == [sea.localIdentifier] && albums.objectType == .assetCollection)
      #expect(try changes[2].changeDetails(for: .collectionList).insertedLocalIdentifiers.isEmpty)
      let later = Array(try library.fetchPersistentChanges(since: changes[0].changeToken))
      #expect(later.map(\.changeToken) == Array(tokens[1...]))
      var first: [PHPersistentChangeToken] = []
      try library.fetchPersistentChanges(since: start).enumerateChanges { change, stop in
        first.append(change.changeToken)
        stop.pointee = true
      }
      #expect(first == [tokens[0]])
    }
  }

  /// Counts how often it is notified of more history.
  private final class Listener: NSObject, PHPhotoLibraryPersistentChangesObserver {
    let told = Gathered<Bool>()
    func photoLibraryPersistentChangesDidUpdate(_ photoLibrary: PHPhotoLibrary) { told.append(true) }
  }

  @Test("an observer of the history is notified that there is more, and held weakly (PH-09)")
  func listener() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      var listener: Listener? = Listener()
      weak let weakly = listener
      let told = try #require(listener?.told)
      PHPhotoLibrary.shared().register(try #require(listener))
      try await gallery.images(0..<1)
      try await waitUntil("the observer is notified") { !told.all.isEmpty }
      listener = nil
      try await waitUntil("the observer is let go") { weakly == nil }
    }
  }
}

@Suite("Errors through PhotoKit's types")
struct ErrorTypesTests {
  @Test("giving the top level a title fails the block with the core's error (FR-13, CB-06)", arguments: [true, false])
  func topLevelTitle(isLimited: Bool) async throws {
    let gallery = try Gallery()
    try await gallery.client(.limited)
    try await gallery.shared(as: isLimited ? "com.example.app" : PhotoLibrary.owner) {
      func top() -> PHFetchResult<PHCollection> { PHCollection.fetchTopLevelUserCollections(with: nil) }
      do {
        try await PHPhotoLibrary.shared().performChanges {
          PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "Sea")
          let request = PHCollectionListChangeRequest(forTopLevelCollectionListUserCollections: top())
          request?.title = "Root"
          #expect(request?.title == "Root")
        }
        Issue.record("The top level was given a title.")
      } catch let error as PHPhotosError {
        #expect(error.code == .changeNotSupported)
        #expect(error.description == "The root folder cannot be renamed, deleted or moved.")
      }
      #expect(top().count == 0, "The block left something.")
    }
  }

  @Test("an error has Apple's domain, code and sentence, and matches by name (AU-11, CI-02, PH-06)")
  func errors() async throws {
    let gallery = try Gallery()
    try await gallery.client(.denied)
    try await gallery.shared(as: "com.example.app") {
      do {
        try await PHPhotoLibrary.shared().performChanges {
          PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "x")
        }
        Issue.record("A denied client made an album.")
      } catch PHPhotosError.userCancelled {
        Issue.record("The change was not cancelled.")
      } catch let error as PHPhotosError where error.code == .accessUserDenied {
        let bridged = error as NSError
        #expect(bridged.domain == "PHPhotosErrorDomain" && bridged.code == 3311)
        #expect(error.localizedDescription == error.description && error.description.hasSuffix("."))
        #expect(bridged.userInfo[NSUnderlyingErrorKey] is LibraryError)
      }
    }
    try await gallery.shared {
      let unknown = UUID().uuidString
      let answer = PHPhotoLibrary.shared().cloudIdentifierMappings(forLocalIdentifiers: [unknown])
      let error = #expect(throws: PHPhotosError.self) { try answer[unknown]?.get() }
      #expect(error?.code == .identifierNotFound && error?.errorCode == 3201)
      let old = PHPhotoLibrary.shared().currentChangeToken
      try await gallery.images(0..<2)
      let walk = try PHPhotoLibrary.shared().fetchPersistentChanges(since: old).makeIterator()
      try gallery.library.shortenHistory(to: try gallery.library.currentToken)
      #expect(throws: PHPhotosError.self) { try PHPhotoLibrary.shared().fetchPersistentChanges(since: old) }
      do {
        _ = try PHPhotoLibrary.shared().fetchPersistentChanges(since: old)
      } catch PHPhotosError.persistentChangeTokenExpired {
      } catch {
        Issue.record("Another error: \(error)")
      }
      // A walk that began before ends with a change that says why, not as though it had delivered everything.
      let cut = try #require(walk.next())
      #expect(cut.changeToken == old && walk.next() == nil)
      let reason = #expect(throws: PHPhotosError.self) { try cut.changeDetails(for: .asset) }
      #expect(reason?.code == .persistentChangeTokenExpired)
    }
  }

  @Test("an asset in the trash does not exist for requests of a program that still holds it (PH-05, CB-06, AS-14)")
  func trashed() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data("sea".utf8), options: nil)
      }
      let held = try #require(assets().firstObject)
      let identifier = try #require(LocalIdentifier(held.localIdentifier))
      let (sea, trip) = (try await album("Sea", [held]), try await album("Trip"))
      func albums() -> [String] {
        PHAssetCollection.fetchAssetCollectionsContaining(held, with: .album, options: nil).titles
      }
      #expect(held.canPerform(.delete) && held.canPerform(.content) && albums() == ["Sea"])
      try await gallery.library.performChanges { $0.deleteAssets([identifier]) }
      #expect(!held.canPerform(.delete) && !held.canPerform(.content) && albums() == [])
      var input: PHContentEditingInput?
      var information: [AnyHashable: Any] = [:]
      held.requestContentEditingInput(with: nil) { (input, information) = ($0, $1) }
      #expect(input == nil)
      #expect((information[PHContentEditingInputErrorKey] as? PHPhotosError)?.code == .identifierNotFound)
      #expect(await refusal { PHAssetChangeRequest(for: held).isFavorite = true } == .identifierNotFound)
      #expect(
        await refusal { PHAssetCollectionChangeRequest(for: trip)?.addAssets([held] as NSArray) }
          == .identifierNotFound)
      let code = await refusal { PHAssetChangeRequest.deleteAssets([held] as NSArray) }
      #expect(code == nil, "Deleting twice is harmless.")
      try await gallery.library.performChanges { block in
        block.setFavorite(true, for: [identifier])
        block.restoreAssets([identifier])
      }
      #expect(PHAsset.fetchAssets(in: trip, options: nil).count == 0 && held.canPerform(.delete))
      // What the block itself deletes can be named in it.
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetChangeRequest.deleteAssets([held] as NSArray)
        PHAssetCollectionChangeRequest(for: sea)?.removeAssets([held] as NSArray)
      }
      try await gallery.library.performChanges { $0.restoreAssets([identifier]) }
      #expect(assets().names == [held.localIdentifier] && albums() == [])
    }
  }

  @Test("resource types are numbers, those without a name too (AS-06)")
  func resourceTypes() {
    for number in 0..<30 {
      let type = PHAssetResourceType(rawValue: number)
      #expect(type?.rawValue == number)
      #expect(Set([type, PHAssetResourceType(rawValue: number)]).count == 1)
    }
    #expect(PHAssetResourceType.photoProxy.rawValue == 19 && PHAssetResourceType(rawValue: 9) == .pairedVideo)
  }
}
