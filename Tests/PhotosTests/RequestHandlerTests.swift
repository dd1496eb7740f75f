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
