#if Gallery
  import Foundation
  @testable import GalleryServer
  import MediaImport
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  @Suite(
    "Renditions whose programs are killed",
    .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
  struct RenditionFailureTests {
    /// A folder of programs with one in place of vipsthumbnail, found before the installed ones.
    private final class Programs {
      let folder: TemporaryFolder
      var searchPath: String { "\(folder.url.path):/usr/bin:/bin" }

      init() throws { folder = try TemporaryFolder() }

      /// Replaces the program.
      func put(_ script: String) throws {
        try writeProgram("#!/bin/sh\n\(script)\n", at: folder.place("vipsthumbnail").path)
      }
    }

    /// As a shell or a sandbox ends around a program that a signal ended.
    private static let killed = "exit 137"

    @Test("a decoder that is killed does not count as unable to decode a file", arguments: [1, 2])
    func passing(_ count: Int) throws {
      let programs = try Programs()
      let photos = try (0..<count).map { number in
        let place = programs.folder.place("\(number).jpg")
        try TinyMedia.jpeg().write(to: place)
        return place
      }
      for (script, isPassing) in [(Self.killed, true), ("exit 1", false)] {
        try programs.put(script)
        for outcome in MediaRenderer(searchPath: programs.searchPath).renditions(of: photos) {
          let error = #expect(throws: ImportError.self) { try outcome.get() }
          #expect(error?.isPassing == isPassing, "\(script): \(String(describing: error))")
        }
      }
    }

    private func asset(_ temporary: TemporaryLibrary) async throws -> (Asset, AssetResource) {
      let file = try #require(SamplePhotos.folder).appending(path: "orientation/Landscape_1.jpg")
      var id: LocalIdentifier?
      try await temporary.library.performChanges { change in
        id = change.createAsset(
          AssetCreation(
            mediaType: .image, resources: [ResourceDraft(type: .photo, source: .file(file, shouldMove: false))]))
      }
      let created = try #require(id)
      let asset = try #require(try temporary.library.asset(created.uuidString))
      return (asset, try #require(try Renditions.shown(asset, in: temporary.library)))
    }

    @Test("a picture whose program was killed is made the next time; killed each time, it has failed")
    func again() async throws {
      let (temporary, programs) = (try TemporaryLibrary(.seeded(3)), try Programs())
      let (asset, resource) = try await asset(temporary)
      var options = RenditionOptions()
      options.searchPath = programs.searchPath
      try programs.put(Self.killed)
      func renditions() -> Renditions {
        Renditions(temporary.library, options, now: { Date(timeIntervalSince1970: 1) }, ready: { _ in })
      }
      func outcome(_ renditions: Renditions) async throws -> String {
        let result = try await renditions.wait(
          for: resource, of: asset, isPlay: false, by: PhotoLibrary.owner.exact, atMost: .seconds(120))
        return switch result {
        case .there: "there"
        case .failed: "failed"
        case .pending: "pending"
        }
      }
      let first = renditions()
      #expect(try await outcome(first) == "pending")
      #expect(first.record(resource.sha256).state == .none)
      try programs.put("exec /usr/bin/vipsthumbnail \"$@\"")
      #expect(try await outcome(first) == "there")
      await first.stop()

      try FileManager.default.removeItem(at: temporary.library.url.appending(path: "renditions"))
      try programs.put(Self.killed)
      let second = renditions()
      for _ in 1..<RenditionCache.attempts { #expect(try await outcome(second) == "pending") }
      #expect(try await outcome(second) == "failed")
      await second.stop()
    }

    @Test("requests that wait for a moment end before their picture, which is still being made")
    func moments() async throws {
      let (temporary, programs) = (try TemporaryLibrary(.seeded(3)), try Programs())
      try programs.put("while :; do :; done")
      let (asset, resource) = try await asset(temporary)
      var options = RenditionOptions()
      options.searchPath = programs.searchPath
      let renditions = Renditions(
        temporary.library, options, now: { Date(timeIntervalSince1970: 1) }, ready: { _ in })
      // Many, so that the time of some is over as soon as it begins.
      let pendingCount = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<1000 {
          group.addTask {
            let outcome = try await renditions.wait(
              for: resource, of: asset, isPlay: false, by: PhotoLibrary.owner.exact, atMost: .nanoseconds(1))
            if case .pending = outcome { return true }
            return false
          }
        }
        var count = 0
        for try await isPending in group where isPending { count += 1 }
        return count
      }
      // A request that missed its end would have waited for the attempt.
      #expect(pendingCount == 1000 && renditions.record(resource.sha256).pictureAttempts == 0)
      await renditions.stop()
    }

    @Test("programs yield the processor in idle time, and not while a request waits", arguments: [true, false])
    func priority(isIdle: Bool) async throws {
      let (temporary, programs) = (try TemporaryLibrary(.seeded(3)), try Programs())
      let usual = niceness(of: getpid())
      let expected = isIdle ? min(19, usual + 10) : usual
      let check = "exit 1 if getpriority(0, 0) != \(expected); exec { $ARGV[0] } @ARGV"
      try programs.put("exec /usr/bin/perl -e '\(check)' /usr/bin/vipsthumbnail \"$@\"")
      let (asset, resource) = try await asset(temporary)
      var options = RenditionOptions()
      (options.fillsIdleTime, options.searchPath) = (isIdle, programs.searchPath)
      let renditions = Renditions(
        temporary.library, options, now: { Date(timeIntervalSince1970: 1) }, ready: { _ in })
      if isIdle {
        try renditions.start(sleep: GalleryEnvironment.system.sleep) { Issue.record("\($0)") }
        try await waitUntil("the picture is made, or has failed") {
          renditions.record(resource.sha256).state != .none
        }
      } else {
        _ = try await renditions.wait(
          for: resource, of: asset, isPlay: false, by: PhotoLibrary.owner.exact, atMost: .seconds(120))
      }
      let state = renditions.record(resource.sha256).state
      await renditions.stop()
      #expect(state == .ready)
    }

    /// Adds a photo of a day, whose bytes no other one has.
    private func add(_ day: Double, to temporary: TemporaryLibrary) async throws -> Asset {
      let bytes = TinyMedia.jpeg(TinyMedia.Photo(comment: "day \(day)"))
      var id: LocalIdentifier?
      try await temporary.library.performChanges { change in
        var creation = AssetCreation(
          mediaType: .image,
          resources: [ResourceDraft(type: .photo, source: .data(bytes), originalFilename: "a.jpg")])
        creation.creationDate = Date(timeIntervalSince1970: day * 86_400)
        id = change.createAsset(creation)
      }
      let created = try #require(id)
      return try #require(try temporary.library.asset(created.uuidString))
    }

    @Test("a stopped server releases the cache for another one, though a task still holds it")
    func lockOfStoppedServer() async throws {
      let folder = try TemporaryFolder()
      func cache() throws -> RenditionCache {
        try RenditionCache(in: folder.url, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      }
      func isPassing(_ cache: RenditionCache) -> Bool { cache.folder.path.contains("passing-") }
      let held = try cache()
      #expect(try isPassing(cache()), "Another server has the cache.")
      held.release()
      #expect(try !isPassing(cache()))
      #expect(!isPassing(held))
    }

    @Test("an unreadable asset does not delay older photos or photos that are added")
    func unreadableAsset() async throws {
      let (temporary, programs) = (try TemporaryLibrary(.seeded(3)), try Programs())
      // That a photo has failed shows that it had its turn.
      try programs.put("exit 1")
      let older = try await add(1, to: temporary)
      try temporary.library.damageDetails(of: try await add(2, to: temporary))
      var options = RenditionOptions()
      (options.fillsIdleTime, options.searchPath) = (true, programs.searchPath)
      let renditions = Renditions(
        temporary.library, options, now: { Date(timeIntervalSince1970: 1) }, ready: { _ in })
      let (said, waits) = (Gathered<String>(), Gathered<Double>())
      // Waits until the renditions are stopped.
      let sleep: @Sendable (Double) async throws -> Void = { seconds in
        waits.append(seconds)
        try await Task.sleep(for: .seconds(86_400))
      }
      func waitForTurn(of asset: Asset) async throws {
        let resource = try #require(try Renditions.shown(asset, in: temporary.library))
        try await waitUntil("a photo has its turn") { renditions.record(resource.sha256).state == .failed }
      }
      try renditions.start(sleep: sleep) { said.append($0) }
      try await waitForTurn(of: older)
      try await waitUntil("the next attempt is waited for") { !waits.all.isEmpty }
      try await waitForTurn(of: try await add(3, to: temporary))
      await renditions.stop()
      #expect(waits.all == [60] && said.all.count == 1, "\(said.all)")
    }

    @Test("a large import is read in parts, each when the one before has its places in the queue")
    func readsInParts() async throws {
      let (temporary, programs) = (try TemporaryLibrary(.seeded(3)), try Programs())
      try programs.put("exit 1")
      _ = try await add(1, to: temporary)
      var options = RenditionOptions()
      (options.fillsIdleTime, options.searchPath) = (true, programs.searchPath)
      (options.processCount, options.queueLimit) = (1, 1)
      let (isBusy, mayGoOn) = (Flag(), Flag())
      defer { mayGoOn.set() }
      // The only worker waits with the first photo.
      let renditions = Renditions(temporary.library, options, now: { Date(timeIntervalSince1970: 1) }) { _ in
        isBusy.set()
        while !mayGoOn.isSet { sched_yield() }
      }
      let said = Gathered<String>()
      let sleep: @Sendable (Double) async throws -> Void = { _ in try await Task.sleep(for: .seconds(86_400)) }
      try renditions.start(sleep: sleep) { said.append($0) }
      try await waitUntil("the worker is busy") { isBusy.isSet }
      // Of two contents one has the queue's place and the other waits for it. The oldest is in the second part.
      let contents = (0..<2).map { TinyMedia.jpeg(TinyMedia.Photo(comment: "of an import, \($0)")) }
      var oldest: LocalIdentifier?
      try await temporary.library.performChanges { change in
        for day in (0...Renditions.fillStride).reversed() {
          var creation = AssetCreation(
            mediaType: .image,
            resources: [ResourceDraft(type: .photo, source: .data(contents[day % 2]), originalFilename: "a.jpg")])
          creation.creationDate = Date(timeIntervalSince1970: Double(day + 2) * 86_400)
          oldest = change.createAsset(creation)
        }
      }
      try await waitUntil("the first part waits for room") { renditions.waitingCount == 1 }
      let last = try #require(oldest)
      let asset = try #require(try temporary.library.asset(last.uuidString))
      try temporary.library.damageRow(of: asset)
      mayGoOn.set()
      try await waitUntil("the second part has been read, and could not be") { !said.all.isEmpty }
      await renditions.stop()
      #expect(said.all.count == 1, "\(said.all)")
    }
  }

  @Suite("Failed renditions")
  struct FailedRenditionTests {
    private let hash: [UInt8] = Array(repeating: 7, count: 32)

    @Test("a lock whose holder cannot be determined leaves the pictures unchanged")
    func unknownLock() throws {
      let temporary = try TemporaryFolder()
      let parent = temporary.place("renditions")
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      // A link to itself cannot be opened, by root either.
      try #require(symlink("lock", parent.appending(path: "lock").path) == 0)
      let error = #expect(throws: GalleryError.self) {
        try RenditionCache(in: parent, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      }
      #expect(error?.description.contains("cannot be locked") == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["lock"])
      withExtendedLifetime(temporary) {}
    }

    @Test(
      "missing renditions are made once the cache can be opened; failures are reported once, and again much later",
      arguments: [(0.0, [60.0, 120, 240], 1), (7_200.0, [60.0, 60, 60], 3)])
    func openedLater(_ step: Double, _ expected: [Double], _ count: Int) async throws {
      let temporary = try TemporaryLibrary(.seeded(1))
      let parent = temporary.library.url.appending(path: "renditions")
      let lock = parent.appending(path: "lock")
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      try #require(symlink("lock", lock.path) == 0)
      var options = RenditionOptions()
      options.fillsIdleTime = true
      let looks = Gathered<Bool>()
      let now: @Sendable () -> Date = {
        looks.append(true)
        return Date(timeIntervalSince1970: step * Double(looks.all.count))
      }
      let renditions = Renditions(temporary.library, options, now: now, ready: { _ in })
      let (said, waits) = (Gathered<String>(), Gathered<Double>())
      let sleep: @Sendable (Double) async throws -> Void = { seconds in
        waits.append(seconds)
        if waits.all.count == 3 { try FileManager.default.removeItem(at: lock) }
      }
      try renditions.start(sleep: sleep) { said.append($0) }
      try await waitUntil("the cache is open") { renditions.isAtHand }
      await renditions.stop()
      #expect(said.all.count == count && said.all.allSatisfy { $0.contains("cannot be locked") }, "\(said.all)")
      #expect(waits.all == expected)
    }

    @Test("killed renditions count as failed after some attempts, with the same programs and across restarts")
    func attempts() throws {
      let temporary = try TemporaryLibrary(.seeded(1))
      let folder = temporary.library.url.appending(path: "renditions")
      func opened() throws -> RenditionCache {
        try RenditionCache(in: folder, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      }
      func fail(_ cache: RenditionCache, isPlay: Bool = false, programs: UInt64 = 1, _ count: Int = 1) {
        for _ in 0..<count { cache.fail("no", hash, isPlay: isPlay, isPassing: true, programs: programs) }
      }
      let allButOne = Int(RenditionCache.attempts) - 1
      do {
        let cache = try opened()
        fail(cache, allButOne)
        #expect(cache.record(hash).state == .none)
        let set = RenditionSet(
          small: Data(count: 5), large: Data(count: 5),
          placeholder: Placeholder(bytes: Array(repeating: 1, count: Placeholder.count)))
        try cache.keep(set, of: hash)
        cache.forget(hash, .small)
        // What was made in between makes the count begin anew, and so do other programs.
        fail(cache, allButOne)
        fail(cache, programs: 2, allButOne)
        fail(cache, isPlay: true, programs: 2, allButOne)
        #expect(cache.record(hash).state == .none && cache.record(hash).play == .unknown)
      }
      let cache = try opened()
      fail(cache, programs: 2)
      #expect(cache.record(hash).state == .failed && cache.record(hash).play == .unknown)
      fail(cache, isPlay: true, programs: 2)
      #expect(cache.record(hash).play == .failed)
      // What others could not do says nothing of these.
      fail(cache, programs: 3)
      #expect(cache.record(hash).state == .none && cache.record(hash).play == .unknown)
      cache.fail("no", hash, isPlay: false, isPassing: false, programs: 3)
      #expect(cache.record(hash).state == .failed)
    }

    @Test("a partial rendition of a killed server is overwritten by the content's next rendition, and removed with it")
    func drafts() throws {
      let temporary = try TemporaryFolder()
      let cache = try RenditionCache(in: temporary.url, budget: 10_000, now: { Date(timeIntervalSince1970: 1) })
      let place = cache.file(hash, .large).deletingLastPathComponent()
      let draft = place.appending(path: "\(hash.hexadecimal).large.new")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Data("the half of a picture".utf8).write(to: draft)
      let placeholder = Placeholder(bytes: Array(repeating: 9, count: Placeholder.count))
      try cache.keep(
        RenditionSet(small: Data(count: 5), large: Data(count: 7), placeholder: placeholder), of: hash)
      #expect(try Data(contentsOf: cache.file(hash, .large)) == Data(count: 7))
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).count == 2)
      try Data("the half of a picture".utf8).write(to: draft)
      try cache.erase([hash])
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
      withExtendedLifetime(temporary) {}
    }

    private func job(_ number: UInt8) -> RenditionJob {
      RenditionJob(name: .init(hash: [number], isPlay: false)) { URL(filePath: "/") }
    }

    @Test("idle work is not queued where no worker can be started: nothing would make room again")
    func refused() async {
      // No stack of a PiB can be had.
      let queue = RenditionQueue(workerCount: 2, limit: 1, stackSize: 1 << 50, dropped: { _ in }) { _, _ in .finished }
      for number in 1...2 as ClosedRange<UInt8> {
        await #expect(throws: LibraryError.self) { try await queue.fill(job(number)) }
      }
      #expect(queue.count == 0)
      queue.stop()
    }

    @Test("idle work that was abandoned once stays abandoned, though nothing waits any more")
    func stays() async throws {
      let isSeen = Gathered<Bool>()
      let (isInTheWay, isFree, isTaken, mayEnd) = (Flag(), Flag(), Flag(), Flag())
      let queue = RenditionQueue(workerCount: 2, limit: 100, dropped: { _ in }) { jobs, isCancelled in
        switch jobs[0].name.hash[0] {
        case 9 where isSeen.all.isEmpty:
          while !isCancelled() { sched_yield() }
          isInTheWay.set()
          while !isTaken.isSet { sched_yield() }
          isSeen.append(isCancelled())
          mayEnd.set()
          return .givenUp
        case 1: while !isFree.isSet { sched_yield() }
        case 2:
          isTaken.set()
          while !mayEnd.isSet { sched_yield() }
        default: break
        }
        return .finished
      }
      try await queue.fill(job(9))
      try await waitUntil("idle work has begun") { queue.count == 0 }
      #expect(queue.want(job(1)))
      try await waitUntil("the other worker is busy") { queue.count == 0 }
      #expect(queue.want(job(2)))
      try await waitUntil("idle work is in the way") { isInTheWay.isSet }
      isFree.set()
      try await waitUntil("the idle work has looked again") { !isSeen.all.isEmpty }
      #expect(isSeen.all == [true])
      queue.stop()
    }

    @Test("a request for a rendition that idle work makes precedes other idle work, if that work is abandoned")
    func asked() async throws {
      let (done, idle) = (Gathered<UInt8>(), Gathered<UInt8>())
      let begun = Flag()
      let queue = RenditionQueue(workerCount: 1, limit: 100, dropped: { _ in }) { jobs, isCancelled in
        if jobs[0].name.hash == [9], !begun.isSet {
          begun.set()
          while !isCancelled() { sched_yield() }
          return .givenUp
        }
        for job in jobs {
          done.append(job.name.hash[0])
          if job.isIdle { idle.append(job.name.hash[0]) }
        }
        return .finished
      }
      try await queue.fill(job(9))
      try await waitUntil("idle work has begun") { begun.isSet }
      try await queue.fill(job(8))
      #expect(queue.want(job(9)))
      #expect(queue.want(job(1)))
      try await waitUntil("all is done") { done.all.count == 3 }
      queue.stop()
      #expect(done.all == [9, 1, 8] && idle.all == [8])
    }
  }

  /// What was reached, for threads that wait for one another.
  private final class Flag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }
    func set() { flag.store(true, ordering: .sequentiallyConsistent) }
  }
#endif
