import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Reading the bytes of a resource", .timeLimit(.minutes(60)))
struct ResourceReadingTests {
  typealias Chunk = OneFileLibrary
  static let sizes = [0, 1, 1000, Chunk.chunk - 1, Chunk.chunk, Chunk.chunk + 1, 3 * Chunk.chunk + 17]

  @Test(
    "the chunks of a resource are its bytes, each of 1 MiB but the last, in both forms (a.5)",
    arguments: sizes, [true, false])
  func equality(count: Int, isReferenced: Bool) async throws {
    let data = periodicBytes(count)
    let one = try await OneFileLibrary(data, isReferenced: isReferenced)
    let (chunks, error) = await one.read()
    #expect(error == nil && chunks.reduce(into: Data()) { $0 += $1 } == data)
    #expect(chunks.dropLast().allSatisfy { $0.count == Chunk.chunk } && chunks.allSatisfy { !$0.isEmpty })
    let handed = Gathered<Data>()
    #expect(await one.request { handed.append($0) } == nil)
    #expect(handed.all == chunks)
    #expect(try one.openCount == 0)
  }

  @Test("progress rises and reaches 1 once, by every way of reading (a.5)", arguments: sizes)
  func progress(count: Int) async throws {
    let one = try await OneFileLibrary(periodicBytes(count))
    var told: [[Double]] = []
    for way in 0..<3 {
      let shares = Gathered<Double>()
      let options = ResourceRequestOptions { shares.append($0) }
      switch way {
      case 0: for try await _ in one.library.data(of: one.resource, in: one.asset, options: options) {}
      case 1: #expect(await one.request(options) == nil)
      default: #expect(await one.copy(to: "a", options) == nil)
      }
      told.append(shares.all)
    }
    let chunks = max(1, (count + Chunk.chunk - 1) / Chunk.chunk)
    for shares in told {
      #expect(shares == (1...chunks).map { min(1, Double($0 * Chunk.chunk) / Double(max(1, count))) })
    }
  }

  @Test("a chunk is read when it is requested, and not ahead; several iterators read independently")
  func pull() async throws {
    let one = try await OneFileLibrary(periodicBytes(3 * Chunk.chunk))
    let shares = Gathered<Double>()
    let sequence = one.library.data(of: one.resource, in: one.asset, options: .init { shares.append($0) })
    var first = sequence.makeAsyncIterator()
    #expect(try one.openCount == 0, "Nothing is opened before the first chunk.")
    let chunk = try await first.next()
    #expect(shares.all.count == 1)
    #expect(try one.openCount == 1)
    var second = sequence.makeAsyncIterator()
    #expect(try await second.next() == chunk)
    #expect(try one.openCount == 2)
    while try await first.next() != nil {}
    #expect(try one.openCount == 1, "The end closes the file, though the iterator is still there.")
    #expect(try await first.next() == nil)
    #expect(try await second.next() != chunk)
  }

  @Test("dropping the iterator half way closes the file")
  func dropping() async throws {
    let one = try await OneFileLibrary(periodicBytes(3 * Chunk.chunk))
    // The thread that read the chunk may still be letting go of its work; that must not keep the file open.
    for round in 0..<100 {
      for try await _ in one.library.data(of: one.resource, in: one.asset) {
        #expect(try one.openCount == 1)
        break
      }
      #expect(try one.openCount == 0, "round \(round)")
    }
  }

  @Test("cancelling the task half way throws 3072, never an end, and closes the file (a.7)")
  func cancelling() async throws {
    let one = try await OneFileLibrary(periodicBytes(3 * Chunk.chunk))
    let reading = Task {
      var iterator = one.library.data(of: one.resource, in: one.asset).makeAsyncIterator()
      let first = try await iterator.next()
      #expect(first != nil)
      withUnsafeCurrentTask { $0?.cancel() }
      let error = await #expect(throws: LibraryError.self) { try await iterator.next() }
      #expect(error?.code == .userCancelled && error?.code.rawValue == 3072)
      #expect(error?.description.contains("IMG_1.HEIC") == true)
      #expect(try one.openCount == 0)
      #expect(try await iterator.next() == nil, "After its error a sequence is over.")
    }
    try await reading.value
  }

  @Test("a cancelled request delivers nothing more and completes once, with 3072 (a.5, a.7)", arguments: [0, 1, 2])
  func cancellingRequest(after count: Int) async throws {
    let one = try await OneFileLibrary(periodicBytes(3 * Chunk.chunk))
    let id = Mutex<ResourceDataRequestID?>(nil)
    let known = DispatchSemaphore(value: 0)
    let chunks = Gathered<Data>()
    let cancel: @Sendable () -> Void = {
      known.wait()
      known.signal()
      // Any client's view of the library will do.
      if let id = id.withLock({ $0 }) { one.library.as("com.example.other").cancelDataRequest(id) }
    }
    let error = await withCheckedContinuation { completion in
      let options = ResourceRequestOptions { _ in if count == 0 { cancel() } }
      let made = one.library.requestData(for: one.resource, in: one.asset, options: options) { chunk in
        chunks.append(chunk)
        if chunks.all.count == count { cancel() }
      } completionHandler: {
        completion.resume(returning: $0)
      }
      #expect(made.rawValue != 0)
      id.withLock { $0 = made }
      known.signal()
    }
    #expect(error?.code == .userCancelled)
    #expect(chunks.all.count == count, "A chunk is not delivered after a cancellation while it is read.")
    #expect(try one.openCount == 0)
    // Over requests and unknown ones are left alone.
    if let over = id.withLock({ $0 }) { one.library.cancelDataRequest(over) }
    one.library.cancelDataRequest(ResourceDataRequestID(rawValue: 0))
    #expect(await one.request() == nil)
  }

  @Test(
    "a missing file is a state; reading it throws 3303 and names the file and the asset (a.7)",
    arguments: [true, false])
  func missing(isReferenced: Bool) async throws {
    let one = try await OneFileLibrary(Data("photo".utf8), isReferenced: isReferenced)
    try #require(unlink(one.path) == 0)
    for hashing in [true, false] {
      #expect(try await one.library.state(of: one.resource, in: one.asset, hashing: hashing) == .missing)
    }
    for error in [await one.read().error, await one.request(), await one.copy(to: "a")] {
      #expect(error?.code == .missingResource && error?.code.rawValue == 3303)
      for part in [one.path, "IMG_1.HEIC", one.asset.localIdentifier] {
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "no error")")
      }
    }
    #expect(try one.written.isEmpty)
  }

  @Test("a file of another size delivers no byte, and 3302 (a.7)", arguments: [true, false])
  func otherSize(isReferenced: Bool) async throws {
    let one = try await OneFileLibrary(Data("photo".utf8), isReferenced: isReferenced)
    try one.overwrite(Data("photos".utf8))
    let (chunks, error) = await one.read()
    #expect(chunks.isEmpty && error?.code == .invalidResource && error?.code.rawValue == 3302)
    #expect(error?.description.contains("6 bytes") == true && error?.description.contains(one.path) == true)
    #expect(try await one.library.state(of: one.resource, in: one.asset) == .altered)
  }

  @Test("altered bytes of the same size are followed by 3302 instead of an end (a.7)", arguments: [true, false])
  func altered(isReferenced: Bool) async throws {
    var data = periodicBytes(Chunk.chunk + 5)
    let one = try await OneFileLibrary(data, isReferenced: isReferenced)
    data[Chunk.chunk + 2] ^= 1
    try one.overwrite(data)
    let (chunks, error) = await one.read()
    #expect(chunks.map(\.count) == [Chunk.chunk, 5])
    #expect(error?.code == .invalidResource && error?.description.contains(one.path) == true)
    let handed = Gathered<Double>()
    #expect(await one.request(.init { handed.append($0) })?.code == .invalidResource)
    #expect(handed.all.allSatisfy { $0 < 1 }, "Progress reaches 1 only when the bytes are right.")
    #expect(try await one.library.state(of: one.resource, in: one.asset) == .present)
    #expect(try await one.library.state(of: one.resource, in: one.asset, hashing: true) == .altered)
  }

  enum Interference: CaseIterable { case overwritten, truncated, appended, touched }

  @Test(
    "a file that is written to while it is read is distinguished from one that was different before",
    arguments: Interference.allCases)
  func interference(_ kind: Interference) async throws {
    let size = 3 * Chunk.chunk
    let one = try await OneFileLibrary(periodicBytes(size), isReferenced: true)
    try one.age()
    var iterator = one.library.data(of: one.resource, in: one.asset).makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    switch kind {
    case .overwritten: try one.write(Data("other".utf8), at: UInt64(size - 100))
    case .truncated: try #require(truncate(one.path, off_t(size - 100)) == 0)
    case .appended: try one.write(Data("more".utf8), at: UInt64(size))
    case .touched: try #require(chmod(one.path, 0o600) == 0)
    }
    var count = 1
    do {
      while try await iterator.next() != nil { count += 1 }
      #expect(count == 3 && (kind == .appended || kind == .touched), "What was given is what was recorded.")
    } catch let error as LibraryError {
      #expect(error.code == .resourceChanged && error.description.contains(one.path))
      #expect(kind == .truncated ? count == 2 : kind == .overwritten && count == 3)
    }
  }

  @Test("a process that can open no more files reports that as an error, not as a state of the file")
  func noDescriptors() async {
    await #expect(processExitsWith: .success) {
      let one = try await OneFileLibrary(Data("photo".utf8))
      var before = rlimit()
      try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) == 0)
      var limit = rlimit(rlim_cur: 0, rlim_max: before.rlim_max)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let error = await #expect(throws: LibraryError.self) {
        try await one.library.state(of: one.resource, in: one.asset)
      }
      let read = await one.read().error
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) == 0)
      #expect(error?.code == .storage && read == error && error?.description.contains(one.path) == true)
    }
  }

  @Test("only a regular file is read: a folder or a FIFO in its place is 3302, and blocks no reader (a.7)")
  func noRegularFile() async throws {
    let one = try await OneFileLibrary(Data("photo".utf8), isReferenced: true)
    for make in [{ mkdir($0, 0o755) }, { mkfifo($0, 0o644) }] as [@Sendable (String) -> Int32] {
      try FileManager.default.removeItem(atPath: one.path)
      try #require(make(one.path) == 0)
      #expect(await one.read().error?.code == .invalidResource)
      #expect(try await one.library.state(of: one.resource, in: one.asset) == .altered)
    }
  }

  @Test("a resource that is not the asset's is not opened, whatever path it claims")
  func forged() async throws {
    let one = try await OneFileLibrary(Data("photo".utf8))
    let secret = try one.folder.write("secret", Data("other".utf8))
    let other = try await one.library.performChanges {
      $0.createAsset(.photo(from: .data(Data("other".utf8))))
    }
    let stranger = try #require(try one.library.asset(other.created[0]))
    var forged = one.resource
    forged.storage = .referenced(path: secret.description)
    forged.sha256 = Array("other".utf8).sha256
    for (resource, asset) in [(forged, one.asset), (one.resource, stranger)] {
      let library = one.library
      await #expect(throws: Self.unknown(asset)) { for try await _ in library.data(of: resource, in: asset) {} }
      await #expect(throws: Self.unknown(asset)) { try await library.state(of: resource, in: asset) }
      await #expect(throws: Self.unknown(asset)) { try await library.write(resource, in: asset, to: one.target("a")) }
      let error = await withCheckedContinuation { completion in
        library.requestData(for: resource, in: asset) { _ in
          Issue.record("A byte was given.")
        } completionHandler: {
          completion.resume(returning: $0)
        }
      }
      #expect(error == Self.unknown(asset))
    }
    #expect(try one.written.isEmpty)
  }

  private static func unknown(_ asset: Asset) -> LibraryError {
    LibraryError(
      .identifierNotFound,
      "The library has no photo 'IMG_1.HEIC' of asset \(asset.localIdentifier); "
        + "pass one of the asset's own resources."
    )
  }

  @Test("a held value reads its files: after an addition, and until its purge removes the file")
  func held() async throws {
    let one = try await OneFileLibrary(Data("photo".utf8))
    try await one.library.performChanges {
      $0.addResources([ResourceDraft(type: .pairedVideo, source: .data(Data("movie".utf8)))], to: one.asset.id)
    }
    #expect(await one.read().chunks == [Data("photo".utf8)])
    let now = try #require(try one.library.asset(one.asset.localIdentifier))
    let video = try #require(try one.library.resources(of: now).last)
    for try await chunk in one.library.data(of: video, in: now) { #expect(chunk == Data("movie".utf8)) }
    await #expect(throws: LibraryError.self) { try await one.library.state(of: video, in: one.asset) }
    try await one.library.performChanges { $0.deleteAssets([one.asset.id]) }
    #expect(await one.read().error == nil)
    try await one.library.performChanges { $0.purgeAssets([one.asset.id]) }
    try await one.library.performChanges { $0.createAlbum(title: "The writer removes files before it takes this.") }
    #expect(await one.read().error?.code == .missingResource)
  }

  @Test("many concurrent reads, in all forms and of equal and different bytes, each return their own bytes")
  func concurrent() async throws {
    let libraries = try await [0, 1, Chunk.chunk, 2 * Chunk.chunk + 3].asyncMap { size in
      (periodicBytes(size), try await OneFileLibrary(periodicBytes(size)))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for round in 0..<6 {
        for (index, (data, one)) in libraries.enumerated() {
          group.addTask { #expect(await one.read().chunks.reduce(into: Data()) { $0 += $1 } == data) }
          group.addTask {
            let handed = Gathered<Data>()
            #expect(await one.request { handed.append($0) } == nil)
            #expect(handed.all.reduce(into: Data()) { $0 += $1 } == data)
          }
          group.addTask {
            let error = await one.copy(to: "\(round).\(index)")
            let copy = try Data(contentsOf: one.target("\(round).\(index)"))
            #expect(error == nil && copy == data)
          }
          group.addTask {
            let state = try await one.library.state(of: one.resource, in: one.asset, hashing: true)
            #expect(state == .present)
          }
        }
      }
      try await group.waitForAll()
    }
    for (_, one) in libraries {
      #expect(try one.written.count == 6)
      #expect(try one.openCount == 0)
    }
  }
}

extension Array where Element: Sendable {
  fileprivate func asyncMap<T: Sendable>(_ body: (Element) async throws -> T) async rethrows -> [T] {
    var mapped: [T] = []
    for element in self { mapped.append(try await body(element)) }
    return mapped
  }
}
