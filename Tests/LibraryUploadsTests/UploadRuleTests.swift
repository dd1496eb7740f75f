import Foundation
import Synchronization
import TestSupport
import Testing

import LibraryAudit
@testable import LibraryMaintenance
@testable import LibraryUploads
@testable import PhotoLedger

/// A server that answers at once and keeps what it was sent, or holds every request until it is let go.
private final class Taker: UploadTransport {
  struct State {
    var sent: [Data] = []
    var isHeld = false
    var active = 0
  }

  let state = Mutex(State())

  func send(_ call: UploadCall, _ body: UploadBody) async -> UploadOutcome {
    if call.method == "OPTIONS" { return UploadOutcome(.success(UploadAnswer(status: 501, headers: [:]))) }
    state.withLock { $0.active += 1 }
    defer { state.withLock { $0.active -= 1 } }
    while state.withLock({ $0.isHeld }), !Task.isCancelled { try? await Task.sleep(nanoseconds: 1_000_000) }
    if Task.isCancelled { return UploadOutcome(.failure(UploadProblem(-999, "cancelled"))) }
    if case .bytes(let data) = body { state.withLock { $0.sent.append(data) } }
    return UploadOutcome(.success(UploadAnswer(status: 201, headers: ["ETag": "x"])))
  }

  var sent: [Data] { state.withLock { $0.sent } }
  func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }
}

/// A clock that a test sets.
private final class SetClock: Sendable {
  private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

  var now: Date { time.withLock { $0 } }
  func advance(days: Double) { time.withLock { $0 += days * 86_400 } }
}

/// A server that names an upload when its first bytes come, and does not answer requests of one method until their
/// connection ends.
private final class Stalling: UploadTransport {
  let calls = Gathered<UploadCall>()
  private let method: String
  private let never = AsyncStream.makeStream(of: Void.self)

  init(at method: String) { self.method = method }

  func send(_ call: UploadCall, _ body: UploadBody) async -> UploadOutcome {
    calls.append(call)
    let place = ["Location": "/uploads/1", "Upload-Complete": "?0"]
    switch call.method {
    case method:
      for await _ in never.stream {}
      let named = UploadAnswer(status: 104, headers: place)
      return UploadOutcome(informed: named, .failure(UploadProblem(-999, "cancelled")))
    case "OPTIONS": return UploadOutcome(.success(UploadAnswer(status: 200, headers: ["Upload-Limit": "1000"])))
    case "POST": return UploadOutcome(.success(UploadAnswer(status: 201, headers: place)))
    default: return UploadOutcome(.success(UploadAnswer(status: 204, headers: [:])))
    }
  }
}

@Suite("The rules of upload jobs", .timeLimit(.minutes(5)))
struct UploadRuleTests {
  private let small: SmallLibrary
  private let taker = Taker()
  private let clock = SetClock()

  init() throws {
    small = try SmallLibrary()
    let environment = UploadEnvironment(now: { [clock] in clock.now }, random: { UInt64.random(in: 0 ... .max) }) { _ in
      try await Task.sleep(nanoseconds: 1_000_000)
    }
    small.library.startUploads(over: taker, environment)
  }

  private var destination: UploadDestination {
    UploadDestination(url: "https://server/upload", method: "POST", headers: ["Authorization": "secret"])
  }

  /// Makes photos with bytes.
  private nonisolated(nonsending) func photos(_ texts: String...) async throws -> [Asset] {
    let receipt = try await small.library.performChanges { block in
      for text in texts {
        let draft = ResourceDraft(type: .photo, source: .data(Data(text.utf8)), originalFilename: "a.jpg")
        block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
      }
    }
    return try receipt.created.compactMap { try small.library.asset($0) }
  }

  private func creation(_ asset: Asset, as client: PhotoLibrary? = nil) throws -> UploadRequest {
    let library = client ?? small.library
    let resource = try #require(try small.library.resources(of: asset).first)
    return .create(identifier: library.newUploadIdentifier(), destination, resource, asset)
  }

  private nonisolated(nonsending) func perform(
    _ requests: UploadRequest..., as client: PhotoLibrary? = nil, and body: (ChangeBlock) -> Void = { _ in }
  ) async throws {
    try await (client ?? small.library).performChanges { block in
      for request in requests { block.add(request) }
      body(block)
    }
  }

  private nonisolated(nonsending) func code(
    of body: nonisolated(nonsending) () async throws -> Void
  ) async -> LibraryError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? LibraryError)?.code }
  }

  @Test(
    "a state accepts the inputs of its transitions and rejects the others",
    arguments: [UploadJob.State.registered, .pending, .failed, .succeeded, .cancelled])
  func states(state: UploadJob.State) throws {
    let problem = UploadProblem(-1001, "late")
    let inputs: [(UploadJob.Input, [UploadJob.State])] = [
      (.begin, [.registered, .pending]), (.succeed([:]), [.pending]), (.fail(problem, [:]), [.registered, .pending]),
      (.retry(nil), [.failed]), (.acknowledge, [.failed, .succeeded]), (.cancel, [.registered, .pending]),
    ]
    for (input, from) in inputs {
      var job = UploadJob(
        identifier: "job", number: 1, kind: .upload, destination: destination, asset: "a",
        resource: .invented(1), since: 0)
      job.state = state
      let before = job
      do {
        _ = try job.apply(input)
        #expect(from.contains(state), "\(input) was taken in \(state).")
      } catch {
        #expect(error.code == .changeNotSupported)
        #expect(!from.contains(state), "\(input) was refused in \(state).")
        #expect(job == before)
      }
    }
  }

  @Test("a job that failed twice is not retried any more, and waits to be acknowledged")
  func retriedOnce() throws {
    var job = UploadJob(
      identifier: "job", number: 1, kind: .upload, destination: destination, asset: "a",
      resource: .invented(1), since: 0)
    for input in [.fail(UploadProblem(-1001, "late"), [:]), .retry(nil), .begin] as [UploadJob.Input] {
      #expect(try job.apply(input))
    }
    #expect(try job.apply(.fail(UploadProblem(-1001, "later"), [:])))
    let before = job
    #expect(!job.allows(.retry) && job.allows(.acknowledge))
    let error = #expect(throws: LibraryError.self) { try job.apply(.retry(nil)) }
    #expect(error?.code == .changeNotSupported && error?.description.contains("already retried") == true)
    #expect(job == before)
  }

  @Test("jobs are made while uploads are enabled, and acknowledged also afterwards")
  func enabled() async throws {
    let asset = try await photos("a")[0]
    #expect(await code { try await perform(try creation(asset)) } == .changeNotSupported)
    try small.library.enableUploads()
    try await perform(try creation(asset))
    try await waitUntil("the job ends") { try small.library.uploadJobs(.acknowledge).count == 1 }
    try small.library.disableUploads()
    #expect(try small.library.uploadSettings == nil)
    let job = try #require(try small.library.uploadJobs(.acknowledge).first)
    #expect(job.state == .succeeded && job.responseHeaders == ["etag": "x"])
    try await perform(.acknowledge(identifier: job.identifier))
    #expect(try small.library.uploadJobs(.acknowledge).isEmpty)
    #expect(taker.sent == [Data("a".utf8)])
  }

  @Test("what a server answered is recorded once the disk has room again, and nothing is sent a second time")
  func fullDisk() async throws {
    let asset = try await photos("a")[0]
    let writes = Mutex(0)
    // How far it is, and the end, can each be written the second time.
    small.library.store.uploads.jobs.obstruct { [taker] isWrite in
      guard isWrite, !taker.sent.isEmpty else { return }
      let number = writes.withLock { count -> Int in
        count += 1
        return count
      }
      if number == 1 || number == 3 { throw LibraryError(.notEnoughSpace, "The disk is full.") }
    }
    try small.library.enableUploads()
    try await perform(try creation(asset))
    try await waitUntil("the job ends") { try small.library.uploadJobs(.acknowledge).count == 1 }
    #expect(try small.library.uploadJobs(.acknowledge).first?.state == .succeeded)
    #expect(taker.sent == [Data("a".utf8)])
    #expect(writes.withLock { $0 } == 4)
  }

  @Test("jobs that could not be read once are read again without a call of the client")
  func unreadableOnce() async throws {
    let assets = try await photos("a", "b")
    taker.hold(true)
    try small.library.enableUploads()
    try await perform(try creation(assets[0]))
    try await waitUntil("the first request is on its way") { taker.state.withLock { $0.active == 1 } }
    // The first read after the second job was made is the driver's, since the first job is held.
    let accesses = Mutex<[Bool]>([])
    small.library.store.uploads.jobs.obstruct { isWrite in
      let seen = accesses.withLock { seen -> [Bool] in
        if isWrite || !seen.isEmpty { seen.append(isWrite) }
        return seen
      }
      if seen == [true, false] { throw LibraryError(.notEnoughSpace, "The system has no more files.") }
    }
    try await perform(try creation(assets[1]))
    try await waitUntil("the driver has looked") { accesses.withLock { $0.count >= 2 } }
    taker.hold(false)
    try await waitUntil("both are sent") { taker.sent.count == 2 }
    #expect(Set(taker.sent) == [Data("a".utf8), Data("b".utf8)])
    #expect(accesses.withLock { Array($0.prefix(2)) } == [true, false])
  }

  @Test("a store that fails is asked again after pauses that grow from the shortest to the longest")
  func growingPauses() async throws {
    let pauses = Gathered<Double>()
    var environment = UploadEnvironment(now: { [clock] in clock.now }, random: { 0 }) { pauses.append($0) }
    environment.limits.pauses = 3...10
    small.library.startUploads(over: taker, environment)
    let reads = Mutex(0)
    small.library.store.uploads.jobs.obstruct { isWrite in
      guard !isWrite else { return }
      let number = reads.withLock { count -> Int in
        count += 1
        return count
      }
      if number <= 4 { throw LibraryError(.notEnoughSpace, "The system has no more files.") }
    }
    try small.library.enableUploads()
    try await waitUntil("the store has answered") { reads.withLock { $0 } >= 5 }
    #expect(pauses.all == [3, 6, 10, 10])
  }

  @Test("damaged jobs are not read again and again, and the lock is released; the next call continues mended ones")
  func damagedMeanwhile() async throws {
    let asset = try await photos("a")[0]
    let jobs = small.library.store.uploads.jobs
    jobs.obstruct { [taker] _ in
      if !taker.sent.isEmpty { throw LibraryError(.corrupted, "The store is damaged.") }
    }
    try small.library.enableUploads()
    try await perform(try creation(asset))
    try await waitUntil("it is sent") { !taker.sent.isEmpty }
    try await waitUntil("no driver works on the jobs") { try jobs.lock(for: small.library.client) != nil }
    jobs.obstruct { _ in }
    try small.library.setUploadSettings(UploadSettings())
    try await waitUntil("the job ends") { try small.library.uploadJobs(.acknowledge).count == 1 }
    #expect(try small.library.uploadJobs(.acknowledge).first?.state == .succeeded)
  }

  @Test("uploads that are stopped and enabled again before their driver has started are looked at")
  func wokenBeforeTheDriverStarts() async throws {
    // Without a transport the library wakes no service of its own.
    let other = try SmallLibrary()
    try other.library.enableUploads()
    let store = other.library.store
    for _ in 0..<50 {
      let looks = Gathered<Bool>()
      store.uploads.jobs.obstruct { _ in looks.append(Task.isCancelled) }
      let service = UploadService(other.library.client, store, store.uploads)
      service.wake()
      service.stop()
      service.wake()
      try await waitUntil("a driver looks that was not stopped") { looks.all.contains(false) }
    }
    other.library.close()
  }

  @Test("a job that is cancelled in its first request has the server drop the upload that it has named by then")
  func cancelledAtFirst() async throws {
    let stalling = Stalling(at: "POST")
    small.library.startUploads(over: stalling, .system)
    let asset = try await photos("a")[0]
    try small.library.enableUploads()
    try await perform(try creation(asset))
    try await waitUntil("the first request is sent") { stalling.calls.all.contains { $0.method == "POST" } }
    let job = try #require(try small.library.uploadJobs(.process).first)
    try await perform(.cancel(identifier: job.identifier))
    try await waitUntil("the server is asked to drop it") {
      stalling.calls.all.contains { $0.method == "DELETE" && $0.url == "https://server/uploads/1" }
    }
  }

  /// Disables uploads after a server has a part of a file; no task runs its job any more.
  private func disabledInTheMiddle() async throws -> Stalling {
    let stalling = Stalling(at: "PATCH")
    var environment = UploadEnvironment.system
    environment.limits.portion = 1
    small.library.startUploads(over: stalling, environment)
    let asset = try await photos("two bytes")[0]
    try small.library.enableUploads()
    try await perform(try creation(asset))
    try await waitUntil("the second request is sent") { stalling.calls.all.contains { $0.method == "PATCH" } }
    try small.library.disableUploads()
    let jobs = small.library.store.uploads.jobs
    try await waitUntil("no task runs the job") { try jobs.lock(for: small.library.client) != nil }
    return stalling
  }

  @Test("a job that is cancelled while uploads are disabled leaves nothing at the server, and no copy of its file")
  func cancelledWhileDisabled() async throws {
    let stalling = try await disabledInTheMiddle()
    let jobs = small.library.store.uploads.jobs
    let job = try #require(try small.library.uploadJobs(.process).first)
    let copy = jobs.copy(for: job)
    try Data("left by a killed process".utf8).write(to: copy)
    try await perform(.cancel(identifier: job.identifier))
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    try await waitUntil("the server is asked to drop it") {
      stalling.calls.all.contains { $0.method == "DELETE" && $0.url == "https://server/uploads/1" }
    }
  }

  @Test("a job that is cancelled before it could be begun again leaves nothing at the server")
  func cancelledBeforeItBegins() async throws {
    let stalling = try await disabledInTheMiddle()
    let jobs = small.library.store.uploads.jobs
    // The first write enables uploads, the second begins the job.
    let writes = Mutex(0)
    jobs.obstruct { isWrite in
      guard isWrite else { return }
      let number = writes.withLock { count -> Int in
        count += 1
        return count
      }
      if number == 2 { throw LibraryError(.notEnoughSpace, "The disk is full.") }
    }
    try small.library.enableUploads()
    try await waitUntil("the job could not be begun") { writes.withLock { $0 } >= 2 }
    #expect(!stalling.calls.all.contains { $0.method == "HEAD" })
    let job = try #require(try small.library.uploadJobs(.process).first)
    try await perform(.cancel(identifier: job.identifier))
    try await waitUntil("the server is asked to drop it") {
      stalling.calls.all.contains { $0.method == "DELETE" && $0.url == "https://server/uploads/1" }
    }
  }

  @Test("a client has at most a hundred jobs; the block beyond fails with 3307 and makes none")
  func limit() async throws {
    let asset = try await photos("a")[0]
    taker.hold(true)
    try small.library.enableUploads()
    for _ in 0..<PhotoLibrary.uploadJobLimit - 1 { try await perform(try creation(asset)) }
    #expect(await code { try await perform(try creation(asset), try creation(asset)) } == .limitExceeded)
    #expect(try small.library.uploadJobs(.process).count == PhotoLibrary.uploadJobLimit - 1)
    try await perform(try creation(asset))
    #expect(await code { try await perform(try creation(asset)) } == .limitExceeded)
    let first = try #require(try small.library.uploadJobs(.process).first)
    try await perform(.cancel(identifier: first.identifier), try creation(asset))
    small.library.close()
  }

  @Test("a block has requests about jobs or about the library, not both, and then does neither")
  func mixed() async throws {
    let asset = try await photos("a")[0]
    try small.library.enableUploads()
    let token = try small.library.currentToken
    let refusal = await code {
      try await perform(try creation(asset)) { $0.setFavorite(true, for: [asset.id]) }
    }
    #expect(refusal == .changeNotSupported)
    #expect(try small.library.currentToken == token && small.library.uploadJobs(.process).isEmpty)
  }

  @Test("a limited client uploads what it sees, and a job ends when that is withdrawn, also in the middle (AU-01)")
  func permission() async throws {
    let assets = try await photos("seen", "unseen")
    let client = small.library.as("com.example.backup")
    #expect(await code { try client.enableUploads() } == .accessUserDenied)
    try await small.change { block in
      block.register(client: "com.example.backup", .described)
      block.setAuthorizationStatus(.limited, of: "com.example.backup")
      block.grant([assets[0].id], to: "com.example.backup")
    }
    try client.enableUploads()
    #expect(await code { try await perform(try creation(assets[1]), as: client) } == .identifierNotFound)
    taker.hold(true)
    let seen = try #require(try client.asset(assets[0].localIdentifier))
    try await perform(try creation(seen, as: client), as: client)
    try await waitUntil("the request is on its way") { taker.state.withLock { $0.active == 1 } }
    try await small.change { $0.setAuthorizationStatus(.denied, of: "com.example.backup") }
    try await waitUntil("the job ends") { try client.uploadJobs(.acknowledge).count == 1 }
    let job = try #require(try client.uploadJobs(.acknowledge).first)
    #expect(job.state == .failed && job.problem?.code == UploadProblem.noPermissionsToReadFile)
    #expect(taker.sent.isEmpty)
    #expect(try client.resource(of: job) == nil)
    #expect(try small.library.uploadJobs(.acknowledge).isEmpty, "Another client's jobs are not shown.")
  }

  @Test("bytes that were altered never complete an upload")
  func altered() async throws {
    let asset = try await photos("right")[0]
    let resource = try #require(try small.library.resources(of: asset).first)
    let file = small.library.url(of: resource)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    try Data("wrong".utf8).write(to: file)
    try small.library.enableUploads()
    try await perform(try creation(asset))
    try await waitUntil("the job ends") { try small.library.uploadJobs(.acknowledge).count == 1 }
    #expect(try small.library.uploadJobs(.acknowledge).first?.problem?.code == UploadProblem.cannotDecodeRawData)
    #expect(taker.sent.isEmpty)
  }

  @Test("the limit of seven days does not count the time while uploads are disabled")
  func disabledForLong() async throws {
    let assets = try await photos("a", "b", "c")
    taker.hold(true)
    try small.library.enableUploads()
    for asset in assets { try await perform(try creation(asset)) }
    // The third waits for its turn.
    try await waitUntil("two requests are on their way") { taker.state.withLock { $0.active == 2 } }
    try small.library.disableUploads()
    clock.advance(days: 8)
    taker.hold(false)
    try small.library.enableUploads()
    try await waitUntil("the jobs end") { try small.library.uploadJobs(.acknowledge).count == 3 }
    #expect(try small.library.uploadJobs(.acknowledge).allSatisfy { $0.state == .succeeded })
  }

  @Test("jobs wait while the network is expensive, if the client requests that, for longer than a job may last")
  func expensive() async throws {
    let asset = try await photos("a")[0]
    let isExpensive = Mutex(true)
    let asked = Gathered<Bool>()
    small.library.setNetworkIsExpensive {
      asked.append(true)
      return isExpensive.withLock { $0 }
    }
    try small.library.enableUploads(UploadSettings(preventsExpensiveNetworkAccess: true))
    try await perform(try creation(asset))
    try await waitUntil("it was asked") { asked.all.count > 3 }
    #expect(taker.sent.isEmpty)
    clock.advance(days: 8)
    isExpensive.withLock { $0 = false }
    try await waitUntil("the job ends") { try small.library.uploadJobs(.acknowledge).count == 1 }
    #expect(try small.library.uploadJobs(.acknowledge).first?.state == .succeeded)
  }

  @Test(
    "a destination is an absolute http URL with a method that has a body",
    arguments: [
      ("file:///etc/passwd", "POST"), ("/upload", "POST"), ("https://server/", "GET"), ("ftp://server/", "PUT"),
      ("", "PUT"),
    ])
  func destinations(url: String, method: String) async throws {
    let asset = try await photos("a")[0]
    try small.library.enableUploads()
    let resource = try #require(try small.library.resources(of: asset).first)
    let bad = UploadDestination(url: url, method: method, headers: [:])
    #expect(await code { try await perform(.create(identifier: "j", bad, resource, asset)) } == .malformedRequest)
    let split = UploadDestination(url: "https://server", method: "PUT", headers: ["X": "a\r\nY: b"])
    #expect(await code { try await perform(.create(identifier: "j", split, resource, asset)) } == .malformedRequest)
  }

  @Test("uploads do not change the history of a seed, and no backup contains them")
  func determinism() async throws {
    func history(uploading: Bool) async throws -> [String] {
      let small = try SmallLibrary()
      let taker = Taker()
      small.library.startUploads(over: taker)
      for seed in 0..<3 {
        let id = try await small.assets(1)[0]
        if uploading {
          try small.library.enableUploads()
          _ = small.library.newUploadIdentifier()
          let asset = try small.asset(id)
          let resource = try #require(try small.library.resources(of: asset).first)
          try await small.library.performChanges {
            $0.add(
              UploadRequest.create(
                identifier: "job \(seed)",
                UploadDestination(url: "http://server", method: "PUT", headers: [:]), resource, asset))
          }
        }
      }
      let copy = small.temporary.folder.place("copy")
      _ = try small.library.backup(to: copy, resources: .left)
      #expect(!FileManager.default.fileExists(atPath: copy.path + "/uploads"))
      var entries: [String] = []
      try small.library.forEachLogEntry { entry in
        entries.append("\(entry)")
        return true
      }
      return entries
    }
    #expect(try await history(uploading: true) == history(uploading: false))
  }

  @Test("an unreadable job is reported as such, and photos are not affected")
  func damaged() async throws {
    let asset = try await photos("a")[0]
    taker.hold(true)
    try small.library.enableUploads()
    try await perform(try creation(asset))
    small.library.close()
    let file = small.library.url.appending(path: "uploads/data.mdb")
    var data = try Data(contentsOf: file)
    let (name, other) = (Data("\"number\"".utf8), Data("\"nonsen\"".utf8))
    while let place = data.range(of: name) { data.replaceSubrange(place, with: other) }
    try data.write(to: file)
    let library = try PhotoLibrary(at: small.library.url)
    defer { library.close() }
    #expect(throws: LibraryError.self) { try library.uploadJobs(.process) }
    #expect(try library.fetchAssets().count == 1)
  }

  @Test("files that hold credentials are readable by the owner only")
  func mode() async throws {
    try small.library.enableUploads()
    let path = small.library.url.path + "/uploads/data.mdb"
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o600)
  }
}
