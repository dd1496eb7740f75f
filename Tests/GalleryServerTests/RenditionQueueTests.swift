#if Gallery
  import Foundation
  @testable import GalleryServer
  import MediaImport
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  extension RenditionQueue {
    /// As a request of the owner.
    func want(_ job: RenditionJob) -> Bool { want(job, of: PhotoLibrary.owner.exact) }
  }

  /// What is set once, for all threads to see.
  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
    func set() { value.store(true, ordering: .sequentiallyConsistent) }
  }

  @Suite("The queue of renditions")
  struct RenditionQueueTests {
    private func job(_ number: UInt8, isPlay: Bool = false) -> RenditionJob {
      RenditionJob(name: .init(hash: [number], isPlay: isPlay)) { URL(filePath: "/") }
    }

    @Test("requests precede idle work, the newest first, and idle work in their way is abandoned")
    func order() async throws {
      let done = Gathered<UInt8>()
      let (begun, mayGoOn) = (Flag(), Flag())
      let queue = RenditionQueue(workerCount: 1, limit: 100, dropped: { _ in }) { jobs, isCancelled in
        // Idle work goes on until it is in the way.
        if jobs[0].name.hash == [9], !mayGoOn.isSet {
          begun.set()
          while !isCancelled() || !mayGoOn.isSet { sched_yield() }
          return .givenUp
        }
        for job in jobs { done.append(job.name.hash[0]) }
        return .finished
      }
      try await queue.fill(job(9))
      try await waitUntil("idle work has begun") { begun.isSet }
      for number in 7...8 as ClosedRange<UInt8> { try await queue.fill(job(number)) }
      for number in 1...3 as ClosedRange<UInt8> { #expect(queue.want(job(number))) }
      // What is asked for again is the newest, and what was to be made in idle time is made now.
      for number in [2, 8] as [UInt8] { #expect(queue.want(job(number))) }
      mayGoOn.set()
      try await waitUntil("all is done") { done.all.count == 6 }
      #expect(done.all == [8, 2, 3, 1, 9, 7])
      queue.stop()
      #expect(!queue.want(job(4)))
    }

    @Test("finished work belongs to no worker: a request that follows it starts a new rendition")
    func again() async throws {
      let (made, ended) = (Gathered<UInt8>(), Gathered<Bool>())
      let again = Mutex<(@Sendable () -> Void)?>(nil)
      let queue = RenditionQueue(
        workerCount: 1, limit: 2, dropped: { _ in },
        ended: { _, isDone in
          ended.append(isDone)
          again.withLock { $0 }?()
        },
        work: { jobs, _ in
          made.append(jobs[0].name.hash[0])
          return .finished
        })
      again.withLock { $0 = { [weak queue] in if ended.all.count < 50 { _ = queue?.want(self.job(1)) } } }
      #expect(queue.want(job(1)))
      try await waitUntil("it is made as often as it was asked for") { ended.all.count == 50 }
      queue.stop()
      #expect(made.all.count == 50 && ended.all.allSatisfy { $0 })
    }

    @Test("a content that several assets show is made once in idle time, in one batch and beside another one")
    func sameContent() async throws {
      let made = Gathered<UInt8>()
      let (mayBegin, mayEnd) = (Flag(), Flag())
      // Two of the workers take idle work.
      let queue = RenditionQueue(workerCount: 3, limit: 100, dropped: { _ in }) { jobs, _ in
        if jobs[0].name.hash[0] > 90 {
          while !mayBegin.isSet { sched_yield() }
          return .finished
        }
        for job in jobs { made.append(job.name.hash[0]) }
        while !mayEnd.isSet { sched_yield() }
        return .finished
      }
      for number in 91...93 as ClosedRange<UInt8> { #expect(queue.want(job(number))) }
      try await waitUntil("all workers are busy") { queue.count == 0 }
      // What is wanted as well is in the hands of another worker by then.
      #expect(queue.want(job(20)))
      for number in [1, 20, 1, 2, 3, 1, 4, 5, 6, 7, 8, 8, 1, 2] as [UInt8] { try await queue.fill(job(number)) }
      mayBegin.set()
      try await waitUntil("all idle work is in hands, or left out") { queue.count == 0 }
      mayEnd.set()
      queue.stop()
      #expect(made.all.sorted() == Array(1...8) + [20])
    }

    @Test("beyond the limit the oldest request is dropped, and its caller is notified")
    func bounded() async throws {
      let dropped = Gathered<UInt8>()
      let mayEnd = Atomic(false)
      let queue = RenditionQueue(workerCount: 1, limit: 2, dropped: { dropped.append($0.hash[0]) }) { _, _ in
        while !mayEnd.load(ordering: .sequentiallyConsistent) { sched_yield() }
        return .finished
      }
      #expect(queue.want(job(1)))
      try await waitUntil("the first is being made") { queue.count == 0 }
      for number in 2...5 as ClosedRange<UInt8> { #expect(queue.want(job(number))) }
      #expect(dropped.all == [2, 3])
      mayEnd.store(true, ordering: .sequentiallyConsistent)
      queue.stop()
      #expect(queue.count == 0)
    }
  }

  @Suite("Shares of clients in the queue of renditions")
  struct RenditionSharesTests {
    private let app = "app".exact
    private let owner = PhotoLibrary.owner.exact

    private func job(_ number: Int, isPlay: Bool = false, of client: ExactText? = nil) -> RenditionJob {
      let hash = [UInt8(number >> 8), UInt8(number & 0xFF)]
      var job = RenditionJob(name: .init(hash: hash, isPlay: isPlay)) { URL(filePath: "/") }
      if let client { job.clients = [client] }
      return job
    }

    private func number(_ name: RenditionJob.Name) -> Int { Int(name.hash[0]) << 8 | Int(name.hash[1]) }

    @Test("a client that wants thousands of pictures delays those of another one by a turn, also if it wants ever more")
    func turns() async throws {
      let (done, mayGoOn) = (Gathered<Int>(), Flag())
      let queue = RenditionQueue(workerCount: 1, limit: 4096, dropped: { _ in }) { jobs, _ in
        while !mayGoOn.isSet { sched_yield() }
        for job in jobs { done.append(number(job.name)) }
        return .finished
      }
      #expect(queue.want(job(0), of: app))
      try await waitUntil("the worker is busy") { queue.count == 0 }
      for number in 1...2000 { #expect(queue.want(job(number), of: app)) }
      for number in 3001...3003 { #expect(queue.want(job(number), of: owner)) }
      for number in 2001...2100 { #expect(queue.want(job(number), of: app)) }
      mayGoOn.set()
      try await waitUntil("all is done") { done.all.count == 2104 }
      queue.stop()
      #expect(done.all.prefix(13) == [0, 2100, 2099, 2098, 2097, 2096, 2095, 2094, 2093, 3003, 3002, 3001, 2092])
    }

    @Test("where there is no room, the client that wants most loses its oldest")
    func dropped() async throws {
      let (dropped, mayGoOn) = (Gathered<Int>(), Flag())
      let queue = RenditionQueue(workerCount: 1, limit: 10, dropped: { dropped.append(number($0)) }) { _, _ in
        while !mayGoOn.isSet { sched_yield() }
        return .finished
      }
      #expect(queue.want(job(0), of: app))
      try await waitUntil("the worker is busy") { queue.count == 0 }
      for number in 1...10 { #expect(queue.want(job(number), of: app)) }
      for number in 11...20 { #expect(queue.want(job(number), of: owner)) }
      #expect(dropped.all == [1, 2, 3, 4, 5, 11, 12, 13, 14, 15])
      mayGoOn.set()
      queue.stop()
    }

    @Test("what several clients want is made once, at the first of their turns, and leaves when none wants it")
    func shared() {
      var shares = RenditionShares()
      #expect(shares.add(job(1, of: app), 3).isEmpty)
      for number in 1...2 { #expect(shares.add(job(number, of: owner), 3).isEmpty) }
      #expect(shares.count == 2)
      // The owner's wish for the first leaves, and the app's stays.
      #expect(shares.add(job(3, of: owner), 3).isEmpty)
      #expect(shares.count == 3)
      let first = shares.take(atMost: 8)
      #expect(first.map { number($0.name) } == [1] && first[0].clients == [app])
      #expect(shares.add(job(3, of: app), 3).isEmpty)
      let second = shares.take(atMost: 8)
      #expect(second.map { number($0.name) } == [3, 2] && second[0].clients == [app, owner])
      #expect(shares.isEmpty && shares.take(atMost: 8).isEmpty)
    }

    @Test("a film is taken alone, and pictures without the films between them")
    func films() {
      var shares = RenditionShares()
      for number in 1...5 { #expect(shares.add(job(number, isPlay: number % 4 == 1, of: app), 10).isEmpty) }
      let taken = (0..<3).map { _ in shares.take(atMost: 8).map { number($0.name) } }
      #expect(taken == [[5], [4, 3, 2], [1]])
    }

    @Test("films that are transcoded have turns of clients, too")
    func transcoded() async throws {
      let (looks, made, mayGoOn) = (Gathered<Int>(), Gathered<Int>(), Flag())
      let queue = RenditionQueue(workerCount: 1, limit: 100, dropped: { _ in }) { jobs, _ in
        if jobs[0].playback == nil {
          looks.append(number(jobs[0].name))
          return .lookedAt(.transcode)
        }
        while !mayGoOn.isSet { sched_yield() }
        made.append(number(jobs[0].name))
        return .finished
      }
      #expect(queue.want(job(0, isPlay: true), of: app))
      try await waitUntil("a film is transcoded") { looks.all.count == 1 && queue.count == 0 }
      #expect(queue.want(job(21, isPlay: true), of: owner))
      try await waitUntil("the owner's film waits") { looks.all.count == 2 && queue.count == 1 }
      for number in 1...20 { #expect(queue.want(job(number, isPlay: true), of: app)) }
      try await waitUntil("all have been looked at") { looks.all.count == 22 && queue.count == 21 }
      mayGoOn.set()
      try await waitUntil("all are transcoded") { made.all.count == 22 }
      queue.stop()
      #expect(made.all.prefix(2) == [0, 21])
    }

    @Test("a line is a list whose elements are moved to its ends and removed")
    func line() {
      var (line, model) = (OrderedLine<Int>(), [Int]())
      var random = SeededGenerator(seed: 1)
      for _ in 0..<5000 {
        let element = random.int(0..<12)
        model.removeAll { $0 == element }
        switch random.int(0..<5) {
        case 0:
          line.prepend(element)
          model.insert(element, at: 0)
        case 1, 2:
          line.append(element)
          model.append(element)
        default: line.remove(element)
        }
        #expect(line.first == model.first && line.last == model.last && line.count == model.count)
        #expect(line.contains(element) == model.contains(element) && line.isEmpty == model.isEmpty)
      }
      while let first = line.first {
        line.remove(first)
        #expect(first == model.removeFirst())
      }
      #expect(model.isEmpty)
    }
  }
#endif
