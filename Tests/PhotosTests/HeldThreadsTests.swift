import PhotoLedger
import Photos
import TestSupport
import Testing

/// A renderer that gives the bytes as they are.
private struct Copying: PHImageRenderer {
  func orientation(ofFileAt url: URL) throws -> CGImagePropertyOrientation? { .up }

  func image(_ request: PHImageRendering) async throws -> UIImage {
    UIImage(data: try Data(contentsOf: request.url), size: .zero)
  }
}

@Suite("Callers that block threads of the default queue", .serialized)
struct HeldThreadsTests {
  /// The default queue gets one thread more in a second if all wait, so that a thread for each caller would take it
  /// longer than a test waits.
  private static let count = 240

  /// Calls a function in many blocks on the default queue, and waits until all have returned.
  private nonisolated(nonsending) func inBlocks(_ body: @escaping @Sendable () -> Void) async throws {
    let returned = Gathered<Bool>()
    for _ in 0..<Self.count {
      DispatchQueue.global().async {
        body()
        returned.append(true)
      }
    }
    try await waitUntil("all blocks have returned") { returned.all.count == Self.count }
  }

  @Test("blocks of changes with bytes need no other thread of the queue")
  func changes() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let (library, failures) = (PHPhotoLibrary.shared(), Gathered<String>())
      try await inBlocks {
        do {
          try library.performChangesAndWait {
            let data = Data(UUID().uuidString.utf8)
            PHAssetCreationRequest.forAsset().addResource(with: .photo, data: data, options: nil)
          }
        } catch {
          failures.append("\(error)")
        }
      }
      #expect(failures.all == [] && assets().count == Self.count)
    }
  }

  @Test("synchronous requests for a picture and for its bytes need no other thread of the queue")
  func pictures() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data("photo".utf8), options: nil)
      }
      let (asset, texts) = (try #require(assets().lastObject), Gathered<String>())
      try await inBlocks {
        let options = PHImageRequestOptions()
        options.isSynchronous = true
        PHImageManager.$rendererOfTask.withValue(Copying()) {
          let manager = PHImageManager.default()
          manager.requestImage(for: asset, targetSize: .zero, contentMode: .default, options: options) { image, _ in
            texts.append(image.map { String(decoding: $0.data, as: UTF8.self) } ?? "none")
          }
          manager.requestImageDataAndOrientation(for: asset, options: options) { data, _, _, _ in
            texts.append(data.map { String(decoding: $0, as: UTF8.self) } ?? "none")
          }
        }
      }
      #expect(texts.all == Array(repeating: "photo", count: 2 * Self.count))
    }
  }

  @Test("a copy of a file, and a request for permission, need no thread of the tasks that wait for their handlers")
  func handlers() async throws {
    let (gallery, folder) = (try Gallery(), try TemporaryFolder())
    try await gallery.shared {
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetCreationRequest.forAsset().addResource(with: .photo, data: Data("photo".utf8), options: nil)
      }
      let asset = try #require(assets().lastObject)
      let resource = try #require(PHAssetResource.assetResources(for: asset).first)
      let (failures, count) = (Gathered<String>(), 32)
      let end = DispatchTime.now().uptimeNanoseconds + 120_000_000_000
      @Sendable func export(_ number: Int) {
        let done = DispatchSemaphore(value: 0)
        let manager = PHAssetResourceManager.default()
        manager.writeData(for: resource, toFile: folder.place("\(number)"), options: nil) { error in
          if let error { failures.append("\(error)") }
          done.signal()
        }
        PHPhotoLibrary.requestAuthorization(for: .readWrite) { status in
          if status != .authorized { failures.append("\(status)") }
          done.signal()
        }
        for _ in 0..<2 where done.wait(timeout: DispatchTime(uptimeNanoseconds: end)) == .timedOut {
          failures.append("A handler of \(number) was not called.")
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<count { group.addTask { export(number) } }
      }
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
      #expect(failures.all == [] && files.count == count)
    }
  }
}
