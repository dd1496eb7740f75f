import Photos
import PhotoLedger
import TestSupport
import Testing

/// A prompt whose user allows everything after the library was closed.
private struct ClosingPrompt: PermissionPrompt {
  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? {
    library.close()
    return .allow
  }

  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] { [] }
}

/// What goes wrong where names are put over another module's calls, if it does.
@Suite("Bridging")
struct BridgingTests {
  private func library() -> PHPhotoLibrary { PHPhotoLibrary.shared() }

  private func photo(_ text: String) async throws -> PHAsset {
    try await library().performChanges {
      PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data(text.utf8), options: nil)
    }
    return try #require(assets().lastObject)
  }

  private func files(_ asset: PHAsset) -> [PHAssetResourceType] {
    PHAssetResource.assetResources(for: asset).map(\.type)
  }

  enum Form: CaseIterable { case async, waiting, handler }

  private func perform(_ form: Form, _ block: @escaping @Sendable () -> Void) async throws {
    switch form {
    case .async: try await library().performChanges(block)
    case .waiting:
      let library = library()
      try await onThread { try library.performChangesAndWait(block) }
    case .handler:
      let ends = Gathered<(Bool, (any Error)?)>()
      library().performChanges(block) { success, error in ends.append((success, error)) }
      try await waitUntil("the handler is called") { !ends.all.isEmpty }
      #expect(ends.all.count == 1 && ends.all[0].0 == (ends.all[0].1 == nil))
      if let error = ends.all[0].1 { throw error }
    }
  }

  @Test("an edit whose output is created and filled inside the block is kept (AS-04)", arguments: Form.allCases)
  func outputInside(form: Form) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await photo("original")
      try await perform(form) {
        let request = PHAssetChangeRequest(for: asset)
        asset.requestContentEditingInput(with: nil) { input, _ in
          guard let input else {
            Issue.record("There is no input.")
            return
          }
          let output = PHContentEditingOutput(contentEditingInput: input)
          request.contentEditingOutput = output
          // What is set after the assignment counts, too.
          output.adjustmentData = PHAdjustmentData(formatIdentifier: "a", formatVersion: "1", data: Data([1]))
          #expect((try? Data("edited".utf8).write(to: output.renderedContentURL)) != nil)
        }
      }
      let edited = try #require(assets().lastObject)
      #expect(edited.hasAdjustments && files(edited).contains(.fullSizePhoto))
    }
  }

  @Test(
    "the files that an edit rendered are removed with its block, whether it succeeds or not (AS-04)",
    arguments: Form.allCases, [true, false])
  func renderedFiles(form: Form, succeeds: Bool) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let asset = try await photo("original")
      let files = Gathered<URL>()
      let block: @Sendable () -> Void = {
        for request in [PHAssetChangeRequest(for: asset), PHAssetCreationRequest.forAsset()] {
          asset.requestContentEditingInput(with: nil) { input, _ in
            guard let input else { return }
            let output = PHContentEditingOutput(contentEditingInput: input)
            // An edit without its recipe is rejected.
            output.adjustmentData = PHAdjustmentData(
              formatIdentifier: "a", formatVersion: "1", data: Data(succeeds ? [1] : []))
            #expect((try? Data("edited".utf8).write(to: output.renderedContentURL)) != nil)
            files.append(output.renderedContentURL)
            request.contentEditingOutput = output
          }
        }
      }
      if succeeds {
        try await perform(form, block)
      } else {
        await #expect(throws: (any Error).self) { try await perform(form, block) }
      }
      #expect(assets().count == (succeeds ? 2 : 1) && files.all.count == 2)
      try await waitUntil("the files are removed") {
        files.all.allSatisfy { !FileManager.default.fileExists(atPath: $0.deletingLastPathComponent().path) }
      }
    }
  }

  @Test("rendered files make a new asset, or edit one as it is made (AS-04, LP-01)")
  func outputOfCreation() async throws {
    func output(_ request: PHAssetChangeRequest, _ types: [UTType]) throws {
      let placeholder = try #require(request.placeholderForCreatedAsset)
      let output = PHContentEditingOutput(placeholderForCreatedAsset: placeholder)
      for type in types { try Data("\(type)".utf8).write(to: output.renderedContentURL(for: type)) }
      output.adjustmentData = PHAdjustmentData(formatIdentifier: "a", formatVersion: "1", data: Data([1]))
      request.contentEditingOutput = output
    }
    let gallery = try Gallery()
    try await gallery.shared {
      for (types, expected, mediaType) in [
        ([.jpeg], [.photo], .image), ([.quickTimeMovie], [.video], .video),
        ([.heic, .quickTimeMovie], [.photo, .pairedVideo], .image),
      ] as [([UTType], [PHAssetResourceType], PHAssetMediaType)] {
        try await library().performChanges {
          #expect(throws: Never.self) { try output(PHAssetCreationRequest.forAsset(), types) }
        }
        let made = try #require(assets().lastObject)
        #expect(files(made) == expected && made.mediaType == mediaType && !made.hasAdjustments)
      }
      try await library().performChanges {
        let request = PHAssetCreationRequest.forAsset()
        request.addResource(with: .photo, data: Data("original".utf8), options: nil)
        #expect(throws: Never.self) { try output(request, [.jpeg]) }
      }
      let made = try #require(assets().lastObject)
      #expect(made.hasAdjustments && files(made).starts(with: [.photo]) && files(made).contains(.fullSizePhoto))
    }
  }

  @Test(
    "the photo that an edit begins with is the one that is shown, also if it is the alternate (AS-09, AS-16)",
    arguments: [
      (.jpeg, .rawImage, nil, .jpeg), (.jpeg, .rawImage, .raw, .rawImage), (.rawImage, .jpeg, nil, .jpeg),
      (.rawImage, .jpeg, .raw, .rawImage),
    ] as [(UTType, UTType, PHAsset.OriginalResourceChoice?, UTType)])
  func editedPair(
    photo: UTType, alternate: UTType, choice: PHAsset.OriginalResourceChoice?, shown: UTType
  ) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await library().performChanges {
        let request = PHAssetCreationRequest.forAsset()
        for (role, type) in [(PHAssetResourceType.photo, photo), (.alternatePhoto, alternate)] {
          let options = PHAssetResourceCreationOptions()
          options.contentType = type
          request.addResource(with: role, data: Data(type.identifier.utf8), options: options)
        }
      }
      let pair = try #require(assets().lastObject)
      if let choice {
        try await library().performChanges { PHAssetChangeRequest(for: pair).revertAssetContent(to: choice) }
      }
      let bytes = Gathered<Data>()
      pair.requestContentEditingInput(with: nil) { input, _ in
        guard let url = input?.fullSizeImageURL, let read = try? Data(contentsOf: url) else { return }
        bytes.append(read)
      }
      #expect(bytes.all == [Data(shown.identifier.utf8)])
    }
  }

  @Test("a program that renders stills makes a still of a Live Photo, which reverting brings back (LP-01)")
  func editedLivePhoto() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await library().performChanges {
        let request = PHAssetCreationRequest.forAsset()
        request.addResource(with: .photo, data: Data("still".utf8), options: nil)
        request.addResource(with: .pairedVideo, data: Data("film".utf8), options: nil)
      }
      let live = try #require(assets().lastObject)
      try await library().performChanges {
        live.requestContentEditingInput(with: nil) { input, _ in
          guard let input, input.fullSizeImageURL != nil else {
            Issue.record("There is nothing to edit.")
            return
          }
          let output = PHContentEditingOutput(contentEditingInput: input)
          output.adjustmentData = PHAdjustmentData(formatIdentifier: "a", formatVersion: "1", data: Data([1]))
          #expect((try? Data("edited".utf8).write(to: output.renderedContentURL)) != nil)
          PHAssetChangeRequest(for: live).contentEditingOutput = output
        }
      }
      let still = try #require(assets().lastObject)
      #expect(!still.mediaSubtypes.contains(.photoLive) && still.playbackStyle == .image && still.hasAdjustments)
      #expect(Set(files(still)) == [.photo, .pairedVideo, .fullSizePhoto, .adjustmentData])
      let code: PHPhotosError.Code? = await withCheckedContinuation { continuation in
        PHImageManager.default().requestLivePhoto(
          for: still, targetSize: .zero, contentMode: .aspectFit, options: nil
        ) { live, information in
          #expect(live == nil)
          continuation.resume(returning: (information?[PHImageErrorKey] as? PHPhotosError)?.code)
        }
      }
      #expect(code == .requestNotSupportedForAsset)
      try await library().performChanges { PHAssetChangeRequest(for: still).revertAssetContentToOriginal() }
      let reverted = try #require(assets().lastObject)
      #expect(reverted.mediaSubtypes.contains(.photoLive) && reverted.playbackStyle == .livePhoto)
    }
  }

  @Test("the output of a film that is being created has the URL of a film (AS-04)")
  func outputOfCreatedFilm() async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    let movie = folder.place("film.mov")
    try Data("film".utf8).write(to: movie)
    try await gallery.shared {
      try await library().performChanges {
        guard let request = PHAssetChangeRequest.creationRequestForAssetFromVideo(atFileURL: movie),
          let placeholder = request.placeholderForCreatedAsset
        else {
          Issue.record("There is no request.")
          return
        }
        let output = PHContentEditingOutput(placeholderForCreatedAsset: placeholder)
        #expect(output.defaultRenderedContentType == .quickTimeMovie)
        #expect((try? Data("filtered".utf8).write(to: output.renderedContentURL)) != nil)
        output.adjustmentData = PHAdjustmentData(formatIdentifier: "a", formatVersion: "1", data: Data([1]))
        request.contentEditingOutput = output
      }
      let film = try #require(assets().lastObject)
      #expect(film.mediaType == .video && film.hasAdjustments)
      #expect(Set(files(film)) == [.video, .fullSizeVideo, .adjustmentData])
    }
  }

  @Test("an object uses its own library, whichever is the shared one")
  func origins() async throws {
    let (one, other) = (try Gallery(), try Gallery(seed: 2))
    let (sea, first) = try await one.shared {
      try await one.images(0..<3)
      let first = try #require(assets().firstObject)
      return (try await album("Sea", [first]), first)
    }
    try await other.shared {
      try await other.images(10..<15)
      let forest = try await album("Forest", assets().objects(at: [1, 2]))
      #expect(PHAsset.fetchAssets(in: sea, options: nil).names == [first.localIdentifier])
      #expect(PHAssetCollection.fetchAssetCollectionsContaining(first, with: .album, options: nil).titles == ["Sea"])
      #expect(!assets().contains(first) && assets().index(of: first) == NSNotFound)
      let mixed = PHAssetCollection.transientAssetCollection(with: [first] + assets().objects(at: [0]), title: nil)
      #expect(PHAsset.fetchAssets(in: mixed, options: nil).names == [first.localIdentifier])
      #expect(PHAsset.fetchAssets(in: forest, options: nil).count == 2)
      let keeper = keeper()
      let change = try await keeper.told {
        PHAssetChangeRequest(for: try #require(assets().firstObject)).isFavorite = true
      }
      #expect(change.changeDetails(for: first) == nil)
    }
  }

  @Test("positions of several insertions are those of the album as it will be, with and without its result (AL-05)")
  func insertions() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await gallery.images(0..<5)
      let all = assets().objects(at: IndexSet(0..<5))
      for hasBasis in [false, true] {
        let album = try await album("Two", [all[0], all[1]])
        let members = PHAsset.fetchAssets(in: album, options: nil)
        try await library().performChanges {
          let request =
            hasBasis
            ? PHAssetCollectionChangeRequest(for: album, assets: members) : PHAssetCollectionChangeRequest(for: album)
          request?.insertAssets([all[2], all[3], all[4]] as NSArray, at: [0, 2, 4])
        }
        let order = [2, 0, 3, 1, 4].map { all[$0].localIdentifier }
        #expect(PHAsset.fetchAssets(in: album, options: nil).names == order)
      }
    }
  }

  @Test("an insertion of an existing member leaves it in place, and shifts no position after it (AL-06)")
  func insertionsOfMembers() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await gallery.images(0..<4)
      let all = assets().objects(at: IndexSet(0..<4))
      for hasBasis in [false, true] {
        let three = try await album("Three", [all[0], all[1], all[2]])
        let members = PHAsset.fetchAssets(in: three, options: nil)
        try await library().performChanges {
          let request =
            hasBasis
            ? PHAssetCollectionChangeRequest(for: three, assets: members) : PHAssetCollectionChangeRequest(for: three)
          request?.insertAssets([all[0], all[3]] as NSArray, at: [0, 2])
        }
        let order = [0, 1, 3, 2].map { all[$0].localIdentifier }
        #expect(PHAsset.fetchAssets(in: three, options: nil).names == order)
      }
    }
  }

  @Test("an observer that registers twice is called once (OB-03)")
  func registeredTwice() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let keeper = keeper()
      library().register(keeper)
      try await gallery.images(0..<1)
      let later = Keeper()
      library().register(later)
      _ = try await later.told { PHAssetChangeRequest(for: try #require(assets().firstObject)).isHidden = true }
      try await waitUntil("both are notified of the last commit") { keeper.all.count >= 2 }
      library().unregisterChangeObserver(keeper)
      #expect(keeper.all.count == 2)
    }
  }

  @Test("observers may unregister in their deinitializer, from many threads at once (OB-04)")
  func leaving() async throws {
    final class Leaver: NSObject, PHPhotoLibraryChangeObserver, PHPhotoLibraryAvailabilityObserver, Sendable {
      private let library: PHPhotoLibrary
      init(_ library: PHPhotoLibrary) { self.library = library }
      func photoLibraryDidChange(_ changeInstance: PHChange) {}
      func photoLibraryDidBecomeUnavailable(_ photoLibrary: PHPhotoLibrary) {}

      deinit {
        library.unregisterChangeObserver(self)
        library.unregisterAvailabilityObserver(self)
      }
    }
    let gallery = try Gallery()
    try await gallery.shared {
      let (keeper, library) = (keeper(), library())
      library.register(keeper)
      DispatchQueue.concurrentPerform(iterations: 2) { _ in
        for _ in 0..<10 {
          for leaver in (0..<100).map({ _ in Leaver(library) }) {
            library.register(leaver as any PHPhotoLibraryChangeObserver)
            library.register(leaver as any PHPhotoLibraryAvailabilityObserver)
          }
        }
      }
      try await gallery.images(0..<1)
      try await waitUntil("the one that stayed is notified") { keeper.all.count == 1 }
    }
  }

  @Test("a sort descriptor sorts arrays of objects as a fetch does (FR-11)", arguments: [true, false])
  func sortedArrays(ascending: Bool) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await gallery.images(0..<6)
      let order = NSSortDescriptor(key: "creationDate", ascending: ascending)
      let shuffled = [3, 0, 5, 1, 4, 2].map { assets().object(at: $0) }
      let sorted = (shuffled as NSArray).sortedArray(using: [order]) as? [PHAsset]
      #expect(sorted?.map(\.localIdentifier) == assets { $0.sortDescriptors = [order] }.names)
    }
  }

  @Test("a Boolean may be a number in a predicate (FR-10)")
  func flags() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let marked = try await gallery.make(1) { $0.isFavorite = true }
      try await gallery.images(2..<4)
      for flag in [NSNumber(value: true), NSNumber(value: 1), true as NSNumber] {
        #expect(assets { $0.predicate = NSPredicate(format: "isFavorite == %@", flag) }.names == [marked])
      }
    }
  }

  @Test("the history ends at the state of its fetch, though changes are made while it is read (PH-02)")
  func boundedHistory() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let start = library().currentChangeToken
      for seed in 0..<3 { try await gallery.images(seed..<seed + 1) }
      let end = library().currentChangeToken
      var seen: [PHPersistentChangeToken] = []
      for change in try library().fetchPersistentChanges(since: start) {
        seen.append(change.changeToken)
        try await gallery.images(10 + seen.count..<11 + seen.count)
      }
      #expect(seen.count == 3 && seen.last == end)
    }
  }

  @Test("an album and a folder are distinguished by their type, not by the spelling of the identifier (FR-12)")
  func spellings() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let made = try await gallery.library.performChanges { block in
        block.createAlbum(title: "Sea")
        block.createFolder(title: "Journeys")
      }.created.map { String($0.prefix(36)) }
      #expect(
        PHAssetCollection.fetchAssetCollections(withLocalIdentifiers: made, options: nil).titles == ["Sea"])
      #expect(
        PHCollectionList.fetchCollectionLists(withLocalIdentifiers: made, options: nil).titles == ["Journeys"])
    }
  }

  @Test("a closed library says why; it can still be read, and not be changed (OB-04)")
  func closed() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await gallery.images(0..<2)
      gallery.library.close()
      #expect(assets().count == 2)
      #expect((library().unavailabilityReason as? PHPhotosError)?.code == .libraryVolumeOffline)
      #expect(await refusal { PHAssetCreationRequest.forAsset() } == .libraryVolumeOffline)
      library().register(Keeper())
    }
  }

  @Test("a picker for more assets of a closed library adds none (AU-05, OB-04)")
  func closedPicker() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<2)
    try await gallery.client(.limited, [ids[0]])
    try gallery.library.setPermissionPrompt(SettledPrompt(nil, more: [ids[1]]))
    try await gallery.shared(as: "com.example.app") {
      gallery.library.close()
      #expect(await library().presentLimitedLibraryPicker().isEmpty)
    }
  }

  @Test(
    "a request for access to a library that is closed, also meanwhile, gives the status from before (AU-09, OB-04)",
    arguments: [false, true])
  func closedRequest(isClosedMeanwhile: Bool) async throws {
    let gallery = try Gallery()
    try await gallery.client(.notDetermined)
    try gallery.library.setPermissionPrompt(ClosingPrompt())
    try await gallery.shared(as: "com.example.app") {
      if !isClosedMeanwhile { gallery.library.close() }
      #expect(await PHPhotoLibrary.requestAuthorization(for: .readWrite) == .notDetermined)
      #expect(PHPhotoLibrary.authorizationStatus(for: .readWrite) == .notDetermined)
      #expect(gallery.library.unavailabilityReason?.code == .closed)
    }
  }

  @Test("an app's subclass overrides what it likes, fetches too")
  func standIns() {
    final class FakeAsset: PHAsset, @unchecked Sendable {  // guarded by: has no state
      override var localIdentifier: String { "fake" }
      override class func fetchAssets(with options: PHFetchOptions?) -> PHFetchResult<PHAsset> { PHFetchResult() }
    }
    #expect(FakeAsset().localIdentifier == "fake" && FakeAsset().pixelWidth == 0)
    #expect(FakeAsset.fetchAssets(with: nil).count == 0 && FakeAsset() == FakeAsset())
  }

  @Test("an error is created and read with information, as Foundation's are")
  func errorInformation() {
    let error = PHPhotosError(
      .multipleIdentifiersFound, userInfo: [PHLocalIdentifiersErrorKey: ["a", "b"], NSLocalizedDescriptionKey: "Two."])
    #expect(error.userInfo[PHLocalIdentifiersErrorKey] as? [String] == ["a", "b"])
    #expect((error as NSError).localizedDescription == "Two." && error.localIdentifiers == ["a", "b"])
  }
}
