import PhotoLedger
import Photos
import TestSupport
import Testing

@Suite("What the handlers of requests receive, and where")
struct RequestHandlerTests {
  private func photo() async throws -> PHAsset {
    try await PHPhotoLibrary.shared().performChanges {
      PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data("original".utf8), options: nil)
    }
    return try #require(assets().lastObject)
  }

  @Test("a flag in a handler's information can be cast to a number, to a Bool and to Foundation's class")
  func flags() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let (asset, flags) = (try await photo(), Gathered<[Int?]>())
      /// A flag by each of the casts.
      @Sendable func casts(_ flag: Any?) -> [Int?] {
        [flag as? Int, (flag as? Bool).map { $0 ? 1 : 0 }, (flag as? NSNumber)?.intValue]
      }
      for stops in [false, true] {
        let options = PHImageRequestOptions()
        options.progressHandler = { _, _, stop, _ in stop.pointee = ObjCBool(stops) }
        PHImageManager.default().requestImageDataAndOrientation(for: asset, options: options) { _, _, _, information in
          for key in [PHImageResultIsDegradedKey, PHImageResultIsInCloudKey, PHImageCancelledKey] {
            flags.append(casts(information?[key]))
          }
        }
        try await waitUntil("the handler is called") { flags.all.count == (stops ? 6 : 3) }
      }
      let (no, yes, absent): ([Int?], [Int?], [Int?]) = ([0, 0, 0], [1, 1, 1], [nil, nil, nil])
      #expect(flags.all == [no, no, absent, no, no, yes])
    }
  }

  @Test("the original of an edited Live Photo has the size of its own still, and the current version that of the edit")
  func originalSize() async throws {
    let gallery = try Gallery()
    func file(_ type: ResourceType, _ width: Int = 0, _ height: Int = 0) -> ResourceDraft {
      var file = AssetResource.invented(type.rawValue, type)
      (file.pixelWidth, file.pixelHeight) = (width, height)
      return .staged(file)
    }
    try await gallery.make(1) { creation in
      creation.resources = [
        file(.photo, 4000, 3000), file(.pairedVideo), file(.fullSizePhoto, 100, 80), file(.fullSizePairedVideo),
        file(.adjustmentData),
      ]
      (creation.pixelWidth, creation.pixelHeight) = (100, 80)
    }
    try await gallery.shared {
      let (asset, sizes) = (try #require(assets().lastObject), Gathered<CGSize?>())
      for (index, version) in [PHImageRequestOptionsVersion.current, .original].enumerated() {
        let options = PHLivePhotoRequestOptions()
        options.version = version
        PHImageManager.default().requestLivePhoto(
          for: asset, targetSize: .zero, contentMode: .aspectFit, options: options
        ) { live, _ in
          sizes.append(live?.size)
        }
        try await waitUntil("the Live Photo is there") { sizes.all.count > index }
      }
      #expect(sizes.all == [CGSize(width: 100, height: 80), CGSize(width: 4000, height: 3000)])
    }
  }

  @Test(
    "a progress handler may wait for the main queue, where the request is made and waited for",
    .timeLimit(.minutes(5)))
  func waitingProgress() async throws {
    await #expect(processExitsWith: .success) {
      let (suite, gallery) = (Self(), try Gallery())
      try await gallery.shared {
        let asset = try await suite.photo()
        await MainActor.run {
          let input = PHContentEditingInputRequestOptions()
          input.progressHandler = { _, _ in DispatchQueue.main.sync {} }
          var hasInput = false
          asset.requestContentEditingInput(with: input) { found, _ in hasInput = found != nil }
          let bytes = PHImageRequestOptions()
          bytes.isSynchronous = true
          bytes.progressHandler = { _, _, _, _ in DispatchQueue.main.sync {} }
          var text: String?
          PHImageManager.default().requestImageDataAndOrientation(for: asset, options: bytes) { data, _, _, _ in
            text = data.map { String(decoding: $0, as: UTF8.self) }
          }
          #expect(hasInput && text == "original")
        }
      }
    }
  }
}
