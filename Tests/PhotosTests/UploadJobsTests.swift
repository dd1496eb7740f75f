import FoundationNetworking
import LibraryUploads
import PhotoKitProgramsSwift5
import PhotoKitProgramsSwift6
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import Photos

// Upload jobs from PhotoKit's calls down to the socket of a server. What the protocol does in every case is
// UploadTransferTests'; here the same over connections that are cut.

/// A gallery whose uploads wait for nothing that a test need not wait for.
final class UploadGallery: Sendable {
  let gallery: Gallery
  let pauses = Gathered<Double>()

  init(portion: UInt64 = 64 << 10, seed: UInt64 = 1) throws {
    gallery = try Gallery(seed: seed)
    prepare(gallery.library, portion: portion)
  }

  func prepare(_ library: PhotoLibrary, portion: UInt64 = 64 << 10) {
    let random = SeededRandom()
    var environment = UploadEnvironment(now: { Date() }, random: { random.next() }) { [pauses] seconds in
      // Checks of the permission are not pauses.
      let isLook = seconds == UploadLimits().permissionCheck
      if !isLook { pauses.append(seconds) }
      try await Task.sleep(nanoseconds: isLook ? 100_000_000 : 2_000_000)
    }
    environment.limits.portion = portion
    library.startUploads(over: URLSessionTransport(idleSeconds: 10), environment)
  }
}

final class SeededRandom: Sendable {
  private let generator = Mutex(SeededGenerator(seed: 7))
  func next() -> UInt64 { generator.withLock { $0.next() } }
}

/// Bytes that differ everywhere.
private func bytes(_ count: Int, seed: UInt64 = 3) -> Data {
  var generator = SeededGenerator(seed: seed)
  var data = Data()
  while data.count < count { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
  return data.prefix(count)
}

private func request(_ url: URL, _ headers: [String: String] = [:], method: String = "POST") -> URLRequest {
  var request = URLRequest(url: url)
  request.httpMethod = method
  for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
  return request
}

/// Saves a photo with bytes of its own, and gives its resource.
private nonisolated(nonsending) func saved(_ data: Data, _ name: String = "photo.jpg") async throws -> PHAssetResource {
  let made = Gathered<String>()
  try await PHPhotoLibrary.shared().performChanges {
    let request = PHAssetCreationRequest.forAsset()
    let options = PHAssetResourceCreationOptions()
    options.originalFilename = name
    options.uniformTypeIdentifier = "public.jpeg"
    request.addResource(with: .photo, data: data, options: options)
    made.append(request.placeholderForCreatedAsset?.localIdentifier ?? "")
  }
  let asset = try #require(PHAsset.fetchAssets(withLocalIdentifiers: made.all, options: nil).firstObject)
  return try #require(PHAssetResource.assetResources(for: asset).first)
}

/// Makes a job, and gives its identifier.
@discardableResult
private nonisolated(nonsending) func job(
  _ resource: PHAssetResource, _ destination: URLRequest
) async throws -> String {
  let made = Gathered<String>()
  try await PHPhotoLibrary.shared().performChanges {
    let request = PHAssetResourceUploadJobChangeRequest.creationRequestForJob(
      destination: destination, resource: resource)
    made.append(request.placeholderForCreatedAssetResourceUploadJob?.localIdentifier ?? "")
  }
  return try #require(made.all.first)
}

private func jobs(_ action: PHAssetResourceUploadJob.Action) -> [PHAssetResourceUploadJob] {
  let result = PHAssetResourceUploadJob.fetchJobs(action: action, options: nil)
  return (0..<result.count).map { result.object(at: $0) }
}

/// Waits for the end of the only job.
private nonisolated(nonsending) func ended() async throws -> PHAssetResourceUploadJob {
  try await waitUntil("the job ends") { jobs(.acknowledge).count == 1 }
  return try #require(jobs(.acknowledge).first)
}

private nonisolated(nonsending) func change(
  _ job: PHAssetResourceUploadJob, _ body: (PHAssetResourceUploadJobChangeRequest) -> Void
) async throws {
  try await PHPhotoLibrary.shared().performChanges {
    if let request = PHAssetResourceUploadJobChangeRequest(for: job) { body(request) }
  }
}

/// An extension that takes its time to end.
private struct SlowUploader: PHBackgroundResourceUploadJobExtension, Sendable {
  var steps = Gathered<String>()

  func processJobs() async -> PHBackgroundResourceUploadProcessingResult {
    steps.append("process")
    return .completed
  }

  func willTerminate() async {
    steps.append("asked to end")
    for _ in 0..<2000 { await Task.yield() }
    steps.append("ended with \(assets().count) assets")
  }
}

/// The same in the older form.
private struct SlowWaitingUploader: PHBackgroundResourceUploadExtension, Sendable {
  var steps = Gathered<String>()

  func process() -> PHBackgroundResourceUploadProcessingResult {
    steps.append("process")
    return .completed
  }

  func notifyTermination() {
    steps.append("asked to end")
    for _ in 0..<20_000 { sched_yield() }
    steps.append("ended with \(assets().count) assets")
  }
}

/// Registers an observer in the library that it is called for.
private struct ObservingUploader: PHBackgroundResourceUploadJobExtension, Sendable {
  final class Listener: NSObject, PHPhotoLibraryChangeObserver, Sendable {
    let calls = Gathered<Bool>()
    func photoLibraryDidChange(_ changeInstance: PHChange) { calls.append(true) }
  }

  var listener = Listener()
  var libraries = Gathered<PHPhotoLibrary>()

  func processJobs() async -> PHBackgroundResourceUploadProcessingResult {
    PHPhotoLibrary.shared().register(listener)
    libraries.append(PHPhotoLibrary.shared())
    return .completed
  }

  func willTerminate() async { PHPhotoLibrary.shared().unregisterChangeObserver(listener) }
}

@Suite("Upload jobs", .timeLimit(.minutes(10)))
struct UploadJobsTests {
  @Test(
    "a job sends a file of any size, by either form of the protocol or none",
    arguments: UploadServer.Form.allCases, [0, 1, 40_000, 65_536, 65_537, 300_000])
  func sent(form: UploadServer.Form, size: Int) async throws {
    let (server, uploads, data) = (try UploadServer(form), try UploadGallery(), bytes(size))
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      let resource = try await saved(data)
      let identifier = try await job(resource, request(server.url(), ["X-Filename": resource.originalFilename]))
      let done = try await ended()
      #expect(done.localIdentifier == identifier)
      #expect(done.state == .succeeded, "\(String(describing: done.error))")
      #expect(done.error == nil)
      #expect(done.responseHeaderFields?["x-server-resource-id"] == "asset-1", "\(done.responseHeaderFields ?? [:])")
      #expect(PHAssetResource.assetResource(forUploadJob: done) == resource)
      #expect(server.complete.map(\.data) == [data])
      #expect(server.complete.first?.headers["x-filename"] == "photo.jpg")
      try await change(done) { $0.acknowledge() }
      #expect(jobs(.acknowledge).isEmpty && jobs(.process).isEmpty)
    }
    #expect(server.requests.allSatisfy { form == .none || $0.read <= 64 << 10 }, "A portion was too large.")
  }

  @Test(
    "cut at any byte, repeatedly, it continues from the server's offset",
    arguments: 0..<Dose.of(3))
  func cut(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed) + 100)
    let data = bytes(500_000, seed: UInt64(seed))
    var faults: [UploadServer.Fault] = []
    for _ in 0..<6 {
      switch random.int(0..<4) {
      case 0: faults.append(.cutBeforeAnswer)
      case 1: faults.append(.answer(random.one(of: [500, 503, 429]), ["Retry-After": "1"]))
      default: faults.append(.cut(after: random.int(0..<65_000)))
      }
    }
    let form: UploadServer.Form = seed.isMultiple(of: 2) ? .incomplete : .complete
    let (server, uploads) = (try UploadServer(form, faults: faults), try UploadGallery())
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      try await job(try await saved(data), request(server.url()))
      let done = try await ended()
      #expect(done.state == .succeeded, "\(String(describing: done.error))")
      #expect(server.complete.count == 1)
      #expect(server.complete.first?.data == data)
    }
    // A cut costs what was on its way and no more; where the first answer was dropped, the first portion again.
    let read = server.requests.reduce(0) { $0 + $1.read }
    #expect(read <= data.count + 65_536 * faults.count, "\(read) bytes were sent for \(data.count).")
  }

  @Test("a connection that ends without an answer is not opened again with a request that lacks its body")
  func largePortions() async throws {
    let data = bytes(3_000_000)
    let faults: [UploadServer.Fault] = [.cut(after: 100_000), .cut(after: 300_000), .cutBeforeAnswer, .cut(after: 7)]
    let (server, uploads) = (try UploadServer(faults: faults), try UploadGallery(portion: 1 << 20))
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      try await job(try await saved(data), request(server.url()))
      let done = try await ended()
      #expect(done.state == .succeeded, "\(String(describing: done.error))")
      #expect(server.complete.map(\.data) == [data])
    }
    // Three portions and what the cuts left of them: no body is announced that does not come.
    #expect(server.requests.count { ["POST", "PATCH"].contains($0.method) } == 6)
  }

  @Test("a job survives its process: the next one that opens the library asks for the offset and continues")
  func restarted() async throws {
    let server = try UploadServer(faults: [.stall(after: 1000, seconds: 0.2), .stall(after: 1000, seconds: 30)])
    let (uploads, data) = (try UploadGallery(), bytes(400_000))
    let url = uploads.gallery.library.url
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      try await job(try await saved(data), request(server.url(), ["Authorization": "Bearer x"]))
      // Before that, the job may not have read yet where its upload is, and the next process creates another one.
      try await waitUntil("the job goes on after a cut") { server.requests.contains { $0.method == "PATCH" } }
    }
    uploads.gallery.library.close()
    let before = server.requests.count
    server.add(.cut(after: 5000))
    let reopened = try PhotoLibrary(at: url)
    defer { reopened.close() }
    uploads.prepare(reopened)
    try await PHPhotoLibrary.withShared(reopened) {
      let done = try await ended()
      #expect(done.state == .succeeded, "\(String(describing: done.error))")
      #expect(PHPhotoLibrary.shared().uploadJobExtensionEnabled)
    }
    #expect(server.complete.map(\.data) == [data])
    let later = server.requests.dropFirst(before)
    #expect(later.contains { $0.method == "HEAD" }, "\(later.map(\.method))")
    #expect(later.allSatisfy { $0.headers["authorization"] == "Bearer x" })
  }

  @Test("a failed job is retried once, to another destination, and its identifier stays")
  func retried() async throws {
    let (first, second) = (try UploadServer(authorization: "Bearer new"), try UploadServer())
    let (uploads, data) = (try UploadGallery(), bytes(100_000))
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      let identifier = try await job(try await saved(data), request(first.url(), ["Authorization": "Bearer old"]))
      let failed = try await ended()
      #expect(failed.state == .failed)
      #expect((failed.error as? URLError)?.code == .userAuthenticationRequired, "\(String(describing: failed.error))")
      #expect(failed.responseHeaderFields?["www-authenticate"] == "Bearer")
      #expect(jobs(.retry).map(\.localIdentifier) == [identifier])
      try await change(failed) { $0.retry(destination: request(second.url("/upload?again=1"))) }
      #expect(jobs(.retry).isEmpty)
      let done = try await ended()
      #expect(done.state == .succeeded && done.localIdentifier == identifier)
      #expect(done.destination.url == second.url("/upload?again=1"))
      await #expect(throws: PHPhotosError.self) { try await change(done) { $0.retry(destination: nil) } }
    }
    #expect(first.complete.isEmpty)
    #expect(second.complete.map(\.data) == [data])
    #expect(second.requests.allSatisfy { $0.headers["authorization"] == nil })
  }

  @Test("a cancelled job is gone at once, its connection ends, and the server is asked to drop its bytes")
  func cancelled() async throws {
    let (server, uploads) = (try UploadServer(), try UploadGallery(portion: 1000))
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      try await job(try await saved(bytes(1_000_000)), request(server.url()))
      // The answer to the first portion has named the upload.
      try await waitUntil("the second portion arrives") { server.uploads.values.contains { $0.data.count > 1000 } }
      server.add(.stall(after: 100, seconds: 30))
      try await waitUntil("a request stalls") { server.uploads.values.contains { $0.data.count % 1000 == 100 } }
      let running = try #require(jobs(.process).first)
      #expect(running.state == .pending)
      try await change(running) { $0.cancel() }
      #expect(jobs(.process).isEmpty && jobs(.acknowledge).isEmpty)
      await #expect(throws: PHPhotosError.self) {
        try await PHPhotoLibrary.shared().performChanges {
          #expect(PHAssetResourceUploadJobChangeRequest(for: running) == nil)
          throwaway(running)
        }
      }
      try await waitUntil("the server is asked to drop it") { server.uploads.values.contains(where: \.isDeleted) }
    }
    #expect(server.complete.isEmpty)
  }

  @Test("two results of jobs are compared by their jobs (CD-20)")
  func compared() async throws {
    let uploads = try UploadGallery()
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      let resource = try await saved(bytes(10))
      func over() -> PHFetchResult<PHAssetResourceUploadJob> {
        PHAssetResourceUploadJob.fetchJobs(action: .acknowledge, options: nil)
      }
      for _ in 0..<2 {
        try await PHPhotoLibrary.shared().performChanges {
          PHAssetResourceUploadJobChangeRequest.creationRequestForDownloadJob(resource: resource)
        }
      }
      try await waitUntil("two jobs end") { over().count == 2 }
      let before = over()
      try await change(before.object(at: 0)) { $0.acknowledge() }
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetResourceUploadJobChangeRequest.creationRequestForDownloadJob(resource: resource)
      }
      try await waitUntil("the third job ends") { over().count == 2 }
      let after = over()
      let details = PHFetchResultChangeDetails(from: before, to: after, changedObjects: [after.object(at: 0)])
      #expect(details.hasIncrementalChanges && !details.hasMoves)
      #expect(details.removedIndexes == [0] && details.insertedIndexes == [1] && details.changedIndexes == [0])
      #expect(details.removedObjects == [before.object(at: 0)] && details.insertedObjects == [after.object(at: 1)])
      let all = PHFetchResultChangeDetails(
        from: PHFetchResult<PHAssetResourceUploadJob>(), to: after, changedObjects: [])
      #expect(all.insertedIndexes == [0, 1] && all.removedIndexes == [])
    }
  }

  private func throwaway(_ job: PHAssetResourceUploadJob) {
    // A block with requests of both kinds is refused, whatever else it holds.
    PHAssetResourceUploadJobChangeRequest.creationRequestForDownloadJob(
      resource: PHAssetResource.assetResource(
        forUploadJob: job) ?? PHAssetResource())
    PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "Album")
  }

  @Test("a server that loses the upload gets everything again, and one that keeps losing it ends the job")
  func forgotten() async throws {
    let (server, uploads, data) = (try UploadServer(), try UploadGallery(), bytes(300_000))
    server.add(.cut(after: 60_000), .forget)
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      try await job(try await saved(data), request(server.url()))
      let done = try await ended()
      #expect(done.state == .succeeded, "\(String(describing: done.error))")
    }
    #expect(server.complete.map(\.data) == [data])
  }

  @Test("a redirect of the upload is followed with its body, and the client's fields stay with its own server")
  func redirected() async throws {
    let target = try UploadServer()
    let server = try UploadServer(faults: [.answerProbe(307, ["Location": target.url().absoluteString])])
    let (uploads, data) = (try UploadGallery(), bytes(200_000))
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      try await job(try await saved(data), request(server.url(), ["Authorization": "secret"]))
      #expect(try await ended().state == .succeeded)
    }
    #expect(target.complete.map(\.data) == [data])
    #expect(target.requests.allSatisfy { $0.headers["authorization"] == nil })
    #expect(server.requests.first?.headers["authorization"] == "secret")
  }

  @Test(
    "an unreachable server, or one that answers nonsense, ends the job with a URL error", arguments: [0, 400, 501, 505])
  func refused(status: Int) async throws {
    let server = try UploadServer(faults: [.answer(status, ["X-Why": "no"])])
    // Held, so that the server of another test does not get it.
    let (closed, uploads) = (try HeldPort(), try UploadGallery())
    let nowhere = try #require(URL(string: "http://127.0.0.1:\(closed.number)/upload"))
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      try await job(try await saved(bytes(1000)), request(status == 0 ? nowhere : server.url()))
      let done = try await ended()
      #expect(done.state == .failed)
      let code = (done.error as? URLError)?.code
      let why = "\(String(describing: done.error))"
      let expected: [URLError.Code] =
        status == 0 ? [.cannotConnectToHost, .networkConnectionLost] : [.badServerResponse]
      #expect(code.map(expected.contains) == true, "\(why)")
      #expect(done.responseHeaderFields?["x-why"] == (status == 0 ? nil : "no"))
    }
    if status == 0 { #expect(uploads.pauses.all.count >= 8, "It was tried again, with pauses.") }
    withExtendedLifetime(closed) {}
  }

  @Test("a large upload to a server without the protocol arrives complete, and its temporary copy is removed")
  func large() async throws {
    let (server, uploads) = (try UploadServer(.none), try UploadGallery())
    let folder = try TemporaryFolder()
    let file = folder.place("large.mov")
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    let handle = try FileHandle(forWritingTo: file)
    for index in 0..<8 { try handle.write(contentsOf: bytes(1 << 20, seed: UInt64(index))) }
    try handle.close()
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      let made = Gathered<String>()
      try await PHPhotoLibrary.shared().performChanges {
        let request = PHAssetCreationRequest.forAsset()
        request.addResource(with: .video, fileURL: file, options: nil)
        made.append(request.placeholderForCreatedAsset?.localIdentifier ?? "")
      }
      let asset = try #require(PHAsset.fetchAssets(withLocalIdentifiers: made.all, options: nil).firstObject)
      try await job(try #require(PHAssetResource.assetResources(for: asset).first), request(server.url()))
      #expect(try await ended().state == .succeeded)
    }
    #expect(server.complete.first?.data.count == 8 << 20)
    // The copy is removed before the end of the job is recorded.
    let files = try FileManager.default.contentsOfDirectory(atPath: uploads.gallery.library.url.path + "/uploads")
    #expect(files.allSatisfy { !$0.hasPrefix("whole-") }, "\(files)")
  }

  @Test("a copy that a killed process left is removed when its client's jobs continue")
  func leftCopy() async throws {
    let (server, uploads) = (try UploadServer(), try UploadGallery())
    try await uploads.gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      let first = try await job(try await saved(bytes(1000)), request(server.url()))
      _ = try await ended()
      let left = uploads.gallery.library.url.appending(path: "uploads/whole-\(first.prefix { $0 != "/" })")
      try Data("left".utf8).write(to: left)
      _ = try await job(try await saved(bytes(2000)), request(server.url()))
      try await waitUntil("the copy is removed") { !FileManager.default.fileExists(atPath: left.path) }
      try await waitUntil("both jobs have ended") { jobs(.acknowledge).count == 2 }
    }
  }

  @Test("an extension has time to end in its own library: it runs until then, in either form")
  func termination() async throws {
    let gallery = try UploadGallery().gallery
    try await gallery.images(0..<2)
    let library = try await gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      return PHPhotoLibrary.shared()
    }
    for isAsync in [true, false] {
      let steps = Gathered<String>()
      // Detached: outside, no library is the shared one.
      let host = Task.detached {
        if isAsync {
          await library.runUploadJobExtension(SlowUploader(steps: steps))
        } else {
          await library.runUploadJobExtension(SlowWaitingUploader(steps: steps))
        }
        steps.append("over")
      }
      try await waitUntil("the extension is called") { steps.all == ["process"] }
      host.cancel()
      await host.value
      #expect(steps.all == ["process", "asked to end", "ended with 2 assets", "over"], "\(steps.all)")
    }
  }

  @Test("enabling uploads of a closed library is an error", arguments: [false, true])
  func enablingClosed(wasEnabled: Bool) async throws {
    await #expect(processExitsWith: .success) { [wasEnabled] in
      let gallery = try UploadGallery().gallery
      try await gallery.shared {
        let library = PHPhotoLibrary.shared()
        if wasEnabled { try library.setUploadJobExtensionEnabled(true) }
        gallery.library.close()
        let error = #expect(throws: PHPhotosError.self) { try library.setUploadJobExtensionEnabled(true) }
        #expect(error?.code == .libraryVolumeOffline)
      }
    }
  }

  @Test("a closed library has no enabled uploads and no jobs, and to change a known job is an error")
  func closed() async throws {
    await #expect(processExitsWith: .success) {
      let gallery = try UploadGallery().gallery
      try await gallery.shared {
        let library = PHPhotoLibrary.shared()
        try library.setUploadJobExtensionEnabled(true)
        let resource = try await saved(bytes(10))
        try await library.performChanges {
          PHAssetResourceUploadJobChangeRequest.creationRequestForDownloadJob(resource: resource)
        }
        let done = try await ended()
        gallery.library.close()
        #expect(!library.uploadJobExtensionEnabled && library.uploadJobExtensionOptions == nil)
        #expect(jobs(.acknowledge).isEmpty && jobs(.retry).isEmpty && jobs(.process).isEmpty)
        #expect(PHAssetResource.assetResource(forUploadJob: done) == resource)
        let ofChange = await #expect(throws: PHPhotosError.self) { try await change(done) { $0.acknowledge() } }
        let ofDisabling = #expect(throws: PHPhotosError.self) { try library.setUploadJobExtensionEnabled(false) }
        #expect(ofChange?.code == .libraryVolumeOffline && ofDisabling?.code == .libraryVolumeOffline)
      }
    }
  }

  @Test("closing the library ends the run of an extension that waits, and one that begins later")
  func closing() async throws {
    await #expect(processExitsWith: .success) {
      let gallery = try UploadGallery().gallery
      let library = try await gallery.shared {
        try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
        return PHPhotoLibrary.shared()
      }
      let steps = Gathered<String>()
      let host = Task.detached { await library.runUploadJobExtension(SlowUploader(steps: steps)) }
      try await waitUntil("the extension is called") { steps.all == ["process"] }
      gallery.library.close()
      await host.value
      await library.runUploadJobExtension(SlowUploader(steps: steps))
      let end = ["asked to end", "ended with 0 assets"]
      #expect(steps.all == ["process"] + end + end)
    }
  }

  @Test("an observer that an extension registers is called after the extension has returned, for the same library")
  func observing() async throws {
    let gallery = try UploadGallery().gallery
    let library = try await gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      return PHPhotoLibrary.shared()
    }
    let uploader = ObservingUploader()
    let host = Task.detached { await library.runUploadJobExtension(uploader) }
    try await waitUntil("the extension was called") { !uploader.libraries.all.isEmpty }
    try await gallery.images(0..<1)
    try await waitUntil("its observer is called") { !uploader.listener.calls.all.isEmpty }
    host.cancel()
    await host.value
    #expect(uploader.libraries.all.allSatisfy { $0 === library })
  }

  @Test("an app's upload extension backs up existing and new assets", arguments: Language.allCases)
  func program(language: Language) async throws {
    let (server, uploads) = (try UploadServer(authorization: "Bearer t"), try UploadGallery())
    try await uploads.gallery.shared {
      let first = try await saved(bytes(150_000, seed: 1), "one.jpg")
      try PHPhotoLibrary.shared().enableUploadJobExtension(with: nil)
      let library = PHPhotoLibrary.shared()
      if language == .swift5 {
        PhotoKitProgramsSwift5.UploadLedger.shared.configure(endpoint: server.url(), token: "t")
      } else {
        PhotoKitProgramsSwift6.UploadLedger.shared.configure(endpoint: server.url(), token: "t")
      }
      let host = Task {
        if language == .swift5 {
          await library.runUploadJobExtension(PhotoKitProgramsSwift5.BackgroundUploader())
        } else {
          await library.runUploadJobExtension(PhotoKitProgramsSwift6.BackgroundUploader())
        }
      }
      func backedUp() -> [String: String] {
        language == .swift5
          ? PhotoKitProgramsSwift5.UploadLedger.shared.backedUp : PhotoKitProgramsSwift6.UploadLedger.shared.backedUp
      }
      try await waitUntil("the first photo is backed up") { backedUp().count == 1 }
      let second = try await saved(bytes(3000, seed: 2), "two.jpg")
      try await waitUntil("the second photo is backed up") { backedUp().count == 2 }
      #expect(Set(backedUp().keys) == [first.assetLocalIdentifier, second.assetLocalIdentifier])
      #expect(Set(backedUp().values) == Set(server.uploads.keys.map { "asset-\($0.split(separator: "/")[1])" }))
      host.cancel()
      await host.value
      #expect(jobs(.acknowledge).isEmpty)
    }
    #expect(Set(server.complete.map(\.data)) == [bytes(150_000, seed: 1), bytes(3000, seed: 2)])
  }
}
