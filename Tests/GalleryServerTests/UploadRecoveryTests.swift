#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  /// Runs a body on a thread of its own that has no privileges on files beyond those of their owner. Where tests are
  /// run by root, the files below a folder belong to another user meanwhile, and the thread acts as that user.
  private func withoutPrivileges<R: Sendable>(
    below folder: URL, _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    guard geteuid() == 0 else { return try await onThread(body) }
    @Sendable func give(to user: uid_t) throws {
      chown(folder.path, user, user)
      for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        lchown(folder.path + "/" + name, user, user)
      }
    }
    let user: uid_t = 65_534
    try give(to: user)
    let result = try await onThread {
      // Of this thread alone, unlike seteuid; Glibc's module leaves it out.
      typealias Setter = @convention(c) (uid_t) -> Int32
      let setter = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: Setter.self)
      _ = setter(user)
      defer { _ = setter(0) }
      return try body()
    }
    try give(to: 0)
    return result
  }

  /// A flag that a closure of another thread reads.
  private final class Flag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }
    func set(_ value: Bool) { flag.store(value, ordering: .sequentiallyConsistent) }
  }

  @Suite(
    "Uploads whose files fail", .enabled(if: SamplePhotos.areInstalled("exiftool")), .timeLimit(.minutes(5)))
  struct UploadRecoveryTests {
    private static func offset(_ gallery: TestGallery, _ place: String) throws -> Int {
      try #require(Int(try gallery.ask("HEAD", place).fields["upload-offset"] ?? ""))
    }

    /// Sends the rest of an upload, with or without an announced length.
    private static func end(
      _ gallery: TestGallery, _ place: String, _ data: Data, from offset: Int, isAnnounced: Bool
    ) throws -> Answer {
      let fields = ["Upload-Complete: ?1", "Upload-Offset: \(offset)", UploadTests.part]
      let rest = data.dropFirst(offset)
      if isAnnounced { return try gallery.send("PATCH", place, rest, fields).answer }
      let client = try RawClient(port: gallery.address.port)
      let head = try gallery.head("PATCH", place, fields + ["Transfer-Encoding: chunked", "Connection: close"])
      client.send(head + String(rest.count, radix: 16) + "\r\n")
      client.send(Array(rest))
      client.send("\r\n0\r\n\r\n")
      return TestGallery.checked("PATCH", place, try #require(TestGallery.parsed(client.readToEnd())))
    }

    enum Failure: CaseIterable { case sync, record }

    @Test(
      "bytes that could not be made durable are not acknowledged, and are sent again: the file is the sent one",
      arguments: Failure.allCases, [true, false])
    func failed(_ failure: Failure, _ isAnnounced: Bool) async throws {
      try await TestGallery.serving { gallery in
        let fails = Flag()
        gallery.server.uploads.set(quota: UploadQuota()) { descriptor, bytes, offset in
          // The records are the files that begin with a brace.
          if failure == .record, fails.isSet, offset == 0, bytes.first == 0x7B {
            errno = ENOSPC
            return -1
          }
          return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
        } synchronizing: { descriptor in
          if failure == .sync, fails.isSet {
            errno = ENOSPC
            return -1
          }
          return fdatasync(descriptor)
        }
        let data = photo("sync", 500_000)
        let fields = ["Upload-Complete: ?0"] + (isAnnounced ? ["Upload-Length: 500000"] : [])
        // The first part as the first request, and another one behind a part that is durable.
        for durable in [0, 100_000] {
          let begun = try gallery.send("POST", "/v1/uploads?name=a.jpg", data.prefix(durable), fields)
          #expect(begun.answer.status == 201, "\(begun)")
          let place = try #require(begun.interim?.fields["location"])
          fails.set(true)
          let part = ["Upload-Complete: ?0", "Upload-Offset: \(durable)", UploadTests.part]
          let lost = try gallery.send("PATCH", place, data[durable..<durable + 90_000], part).answer
          #expect(lost.status == 507, "\(lost)")
          fails.set(false)
          #expect(try Self.offset(gallery, place) == durable)
          let end = try Self.end(gallery, place, data, from: durable, isAnnounced: isAnnounced)
          #expect(durable == 0 ? end.status == 201 : end.status == 200, "\(end)")
          #expect(try gallery.bytes(of: try #require(end.fields["photoledger-asset"])) == data)
        }
        #expect(try gallery.assetCount == 1)
      }
    }

    @Test("a write that fails after the disk was asked to write is discarded, and the upload continues from before it")
    func writtenOut() async throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      let fails = Flag()
      uploads.set(quota: UploadQuota()) { descriptor, bytes, offset in
        if fails.isSet, bytes.count == 100_000 {
          errno = ENOSPC
          return -1
        }
        return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
      }
      var head = UploadHead()
      head.isLast = false
      let upload = try uploads.create(head, contentLength: nil, for: PhotoLibrary.owner)
      let piece = [UInt8](repeating: 7, count: 100_000)
      var turn = try upload.begin(at: 0, head, contentLength: nil)
      for _ in 0..<11 { try uploads.write(piece, of: upload, turn: turn) }
      fails.set(true)
      #expect(throws: LibraryError.self) { try uploads.write(piece, of: upload, turn: turn) }
      fails.set(false)
      let offset = try upload.interrupt().offset
      #expect(offset > 0 && offset < 1 << 20)
      turn = try upload.begin(at: offset, head, contentLength: nil)
      try uploads.write(piece, of: upload, turn: turn)
      #expect(try upload.seal(turn: turn, isLast: false).offset == offset + 100_000)
    }

    @Test(
      "a complete upload whose file can no longer be written is finished, by its server and by the next",
      arguments: [false, true])
    func readOnly(_ isRestarted: Bool) async throws {
      let temporary = try TemporaryLibrary()
      let data = photo("read only", 300_000)
      let count = UInt64(data.count)
      let whole: UploadHead = {
        var head = UploadHead()
        head.isLast = true
        return head
      }()
      let first = Uploads(temporary.library, .system)
      func sealed() throws -> (id: String, file: String) {
        let upload = try first.create(whole, contentLength: count, for: PhotoLibrary.owner)
        let turn = try upload.begin(at: 0, whole, contentLength: count)
        try first.write(Array(data), of: upload, turn: turn)
        return (upload.id, try upload.seal(turn: turn, isLast: true).file)
      }
      let (id, name) = try sealed()
      // As the library leaves the file when it takes it over, before the server ends or the commit fails.
      let file = temporary.library.url.path + "/server/uploads/" + name
      #expect(chmod(file, 0o444) == 0)
      if isRestarted { first.close() }
      let uploads = isRestarted ? Uploads(temporary.library, .system) : first
      defer { uploads.close() }
      let upload = try await withoutPrivileges(below: temporary.folder.url) {
        #expect(open(file, O_WRONLY) < 0, "The file can be written; the test proves nothing.")
        let upload = try #require(try uploads.unfinished(id, of: PhotoLibrary.owner))
        #expect(upload.record.offset == count)
        let turn = try upload.begin(at: count, whole, contentLength: 0)
        #expect(try upload.seal(turn: turn, isLast: true).offset == count)
        return upload
      }
      let answer = await uploads.complete(upload, changesOthers: true) {}
      #expect(answer.status == 201)
      #expect(try temporary.library.assets(withContent: Array(data).sha256).count == 1)
      #expect(try uploads.result(id, of: PhotoLibrary.owner).response("/").status == 201)
    }

    @Test("a stopped server lets another one accept uploads, though a task still holds an upload")
    func lockOfStoppedServer() async throws {
      let temporary = try TemporaryLibrary()
      let first = Uploads(temporary.library, .system)
      var head = UploadHead()
      head.isLast = false
      let held = try first.create(head, contentLength: nil, for: PhotoLibrary.owner)
      let second = Uploads(temporary.library, .system)
      #expect(throws: Problem.self) { try second.open() }
      first.close()
      try second.open()
      second.close()
      withExtendedLifetime(held) {}
    }

    /// Leaves three bytes of an upload, and the record of a finished one, as a server that has ended does.
    private static func leave(in library: PhotoLibrary) throws -> (unfinished: String, finished: String) {
      let uploads = Uploads(library, .system)
      defer { uploads.close() }
      var head = UploadHead()
      head.isLast = false
      let upload = try uploads.create(head, contentLength: nil, for: PhotoLibrary.owner)
      let turn = try upload.begin(at: 0, head, contentLength: nil)
      try uploads.write([1, 2, 3], of: upload, turn: turn)
      #expect(try upload.seal(turn: turn, isLast: false).offset == 3)
      let finished = String(repeating: "f", count: 24)
      var record = UploadRecord(
        id: finished, client: PhotoLibrary.owner, name: nil, file: "\(finished).bytes", touched: Date())
      record.result = .refused(status: 422, type: "invalid-resource", detail: "The file is empty.")
      try Data("\(record.json)".utf8).write(to: library.url.appending(path: "server/uploads/\(finished).done"))
      return (upload.id, finished)
    }

    @Test(
      "an upload that cannot be opened at start is left and named, the others continue, and it is found later",
      arguments: ["json", "bytes", "done"])
    func unreadable(_ ending: String) async throws {
      let temporary = try TemporaryLibrary()
      let library = temporary.library
      let (other, _) = try Self.leave(in: library)
      let (id, finished) = try Self.leave(in: library)
      let unreadable = ending == "done" ? finished : id
      let file = library.url.path + "/server/uploads/\(unreadable).\(ending)"
      #expect(chmod(file, 0) == 0)
      let log = Gathered<String>()
      try await withoutPrivileges(below: temporary.folder.url) {
        let uploads = Uploads(library, .system)
        uploads.report { log.append($0) }
        defer { uploads.close() }
        #expect(throws: LibraryError.self) { try uploads.unfinished(unreadable, of: PhotoLibrary.owner) }
        let upload = try #require(try uploads.unfinished(other, of: PhotoLibrary.owner))
        var head = UploadHead()
        head.isLast = false
        let turn = try upload.begin(at: 3, head, contentLength: nil)
        try uploads.write([4], of: upload, turn: turn)
        #expect(try upload.seal(turn: turn, isLast: false).offset == 4)
        try uploads.forgetAll(of: "another client")
      }
      #expect(log.all.count == 1 && log.all.first?.contains(unreadable) == true, "\(log.all)")
      #expect(chmod(file, 0o600) == 0)
      let uploads = Uploads(library, .system)
      defer { uploads.close() }
      #expect(try uploads.unfinished(id, of: PhotoLibrary.owner)?.record.offset == 3)
      #expect(try uploads.result(finished, of: PhotoLibrary.owner).response("/").status == 422)
      withExtendedLifetime(temporary) {}
    }

    @Test("an upload whose completion fails after its client was withdrawn is dropped, and not before")
    func completionOfWithdrawn() async throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      let folder = temporary.library.url.path + "/server/uploads"
      func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "lock" }
      }
      var head = UploadHead()
      head.isLast = false
      let upload = try uploads.create(head, contentLength: nil, for: "app")
      let (held, end) = AsyncStream<Void>.makeStream()
      let completion = upload.finish {
        for await _ in held {}
        upload.unfinish()
        return Problem.notFound.response
      }
      try uploads.forgetAll(of: "app")
      #expect(try files().count == 2)
      end.finish()
      _ = await completion.value
      try await waitUntil("the upload is dropped") { try files().isEmpty && uploads.figures.count == 0 }
    }

    @Test("a client that never uploaded has nothing to drop, and no folder is created for it")
    func nothingToDrop() throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      try uploads.forgetAll(of: "app")
      #expect(!uploads.hasFolder)
    }

    @Test("bytes behind the end of a whole upload are rejected: its file may be the library's already")
    func behindTheEnd() async throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      var head = UploadHead()
      head.isLast = true
      let upload = try uploads.create(head, contentLength: nil, for: PhotoLibrary.owner)
      let first = try upload.begin(at: 0, head, contentLength: nil)
      try uploads.write([1, 2, 3], of: upload, turn: first)
      #expect(try upload.seal(turn: first, isLast: true).isWhole)
      head.isLast = nil
      let announced = #expect(throws: Problem.self) { try upload.begin(at: 3, head, contentLength: 1) }
      #expect(announced?.status == 409)
      let turn = try upload.begin(at: 3, head, contentLength: nil)
      let written = #expect(throws: Problem.self) { try uploads.write([4], of: upload, turn: turn) }
      #expect(written?.status == 409)
      #expect(try upload.seal(turn: turn, isLast: true).offset == 3)
      let file = temporary.library.url.path + "/server/uploads/" + upload.record.file
      #expect(FileManager.default.contents(atPath: file) == Data([1, 2, 3]))
    }

    @Test("a client has a bounded number of bodies in reception, and leaves places to the others")
    func places() throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      let quota = uploads.quota
      var held = try (0..<quota.activeOfClient).map { _ in try uploads.enter(for: "greedy") }
      let refusal = #expect(throws: Problem.self) { try uploads.enter(for: "greedy") }
      #expect(refusal?.status == 503 && refusal?.fields.contains { $0.name == "Retry-After" } == true)
      try uploads.enter(for: "other").leave()
      held.removeLast().leave()
      held.append(try uploads.enter(for: "greedy"))
      // Each may have its own, up to what the server receives in all.
      var (count, others) = (quota.activeOfClient, [UploadPlace]())
      while count < quota.active {
        others.append(try uploads.enter(for: "client \(count / 10)"))
        count += 1
      }
      #expect(throws: Problem.self) { try uploads.enter(for: "last") }
      for place in held + others {
        place.leave()
        place.leave()
      }
      for _ in 0..<quota.activeOfClient { _ = try uploads.enter(for: "greedy") }
    }

    @Test("a place for a body is acquired and released while another upload waits for the disk")
    func placesWhileSyncing() async throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      let (waits, isOver, begun, entered) = (Flag(), Flag(), Gathered<Int>(), Gathered<Int>())
      let mayEnd = DispatchSemaphore(value: 0)
      uploads.set(
        quota: UploadQuota(),
        synchronizing: { descriptor in
          if waits.isSet {
            waits.set(false)
            begun.append(1)
            mayEnd.wait()
          }
          return fdatasync(descriptor)
        })
      var head = UploadHead()
      head.isLast = false
      let upload = try uploads.create(head, contentLength: nil, for: PhotoLibrary.owner)
      let first = try upload.begin(at: 0, head, contentLength: nil)
      try uploads.write([1, 2, 3], of: upload, turn: first)
      waits.set(true)
      async let resumed = onThread { [head] in try uploads.resume(upload, at: 3, head, contentLength: nil) }
      async let other: Void = onThread {
        while begun.all.isEmpty && !isOver.isSet { usleep(1000) }
        guard !begun.all.isEmpty else { return }
        try uploads.enter(for: "other").leave()
        if upload.finishing == nil { entered.append(1) }
      }
      // Before the two are waited for, whatever fails.
      defer {
        isOver.set(true)
        mayEnd.signal()
      }
      try await waitUntil("a place is had and left") { !entered.all.isEmpty }
      mayEnd.signal()
      try await other
      #expect(try await resumed == first + 1)
    }

    enum SlowWork: CaseIterable { case resume, seal, create }

    @Test("uploads begin, continue and are counted while the disk works for another one", arguments: SlowWork.allCases)
    func countedWhileSyncing(_ slow: SlowWork) async throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      let (waits, isOver, begun, counted) = (Flag(), Flag(), Gathered<Int>(), Gathered<UInt64>())
      let mayEnd = DispatchSemaphore(value: 0)
      @Sendable func work(_ isSlow: Bool) {
        guard isSlow, waits.isSet else { return }
        waits.set(false)
        begun.append(1)
        mayEnd.wait()
      }
      uploads.set(
        quota: UploadQuota(),
        writing: { descriptor, bytes, offset in
          // The records are the files that begin with a brace.
          work(slow == .create && offset == 0 && bytes.first == 0x7B)
          return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
        },
        synchronizing: { descriptor in
          work(slow != .create)
          return fdatasync(descriptor)
        })
      let head: UploadHead = {
        var head = UploadHead()
        head.isLast = false
        return head
      }()
      let upload = try uploads.create(head, contentLength: nil, for: PhotoLibrary.owner)
      let first = try upload.begin(at: 0, head, contentLength: nil)
      try uploads.write([1, 2, 3], of: upload, turn: first)
      waits.set(true)
      async let slowed: Void = onThread {
        switch slow {
        case .resume: _ = try uploads.resume(upload, at: 3, head, contentLength: nil)
        case .seal: _ = try upload.seal(turn: first, isLast: false)
        case .create: _ = try uploads.create(head, contentLength: nil, for: PhotoLibrary.owner)
        }
      }
      async let other: Void = onThread {
        while begun.all.isEmpty && !isOver.isSet { usleep(1000) }
        guard !begun.all.isEmpty else { return }
        let next = try uploads.create(head, contentLength: 10, for: PhotoLibrary.owner)
        _ = try uploads.resume(next, at: 0, head, contentLength: 10)
        counted.append(uploads.figures.bytes)
      }
      // Before the two are waited for, whatever fails.
      defer {
        isOver.set(true)
        mayEnd.signal()
      }
      try await waitUntil("another upload has begun") { !counted.all.isEmpty }
      mayEnd.signal()
      try await other
      try await slowed
      #expect(counted.all == [3])
    }

    @Test("bodies that are granted together have no more bytes than the client may, before either has begun")
    func grantedTogether() throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      var quota = UploadQuota()
      (quota.fileSize, quota.bytes) = (2_000_000, 3_000_000)
      uploads.set(quota: quota)
      var head = UploadHead()
      head.isLast = false
      let (first, second) = (
        try uploads.create(head, contentLength: 0, for: "app"), try uploads.create(head, contentLength: 0, for: "app")
      )
      // As a request that waits for the disk before its body.
      first.grant(upTo: 2_000_000)
      #expect(first.reserved == 2_000_000 && !first.isIdle)
      let refusal = #expect(throws: Problem.self) {
        try uploads.resume(second, at: 0, head, contentLength: 2_000_000)
      }
      #expect(refusal?.status == 429 && second.isIdle)
      first.release(2_000_000)
      #expect(first.reserved == 0)
      _ = try uploads.resume(second, at: 0, head, contentLength: 2_000_000)
      #expect(second.reserved == 2_000_000 && second.isReceiving)
    }

    @Test("an upload makes no room for another visitor's before its first body begins, nor while that is received")
    func grantedUntilBegun() throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      var quota = UploadQuota()
      quota.count = 1
      uploads.set(quota: quota)
      var head = UploadHead()
      head.isLast = false
      let (first, end) = try uploads.make(head, contentLength: nil, for: "share", visitor: "one")
      let early = #expect(throws: Problem.self) {
        try uploads.create(head, contentLength: nil, for: "share", visitor: "two")
      }
      #expect(early?.status == 429)
      let turn = try first.begin(at: 0, head, contentLength: nil)
      first.release(end)
      #expect(try first.seal(turn: turn, isLast: false).offset == 0)
      // One that nothing is received of does.
      let (second, _) = try uploads.start(head, contentLength: nil, for: "share", visitor: "two")
      #expect(try uploads.unfinished(first.id, of: "share") == nil)
      let late = #expect(throws: Problem.self) {
        try uploads.create(head, contentLength: nil, for: "share", visitor: "three")
      }
      #expect(late?.status == 429 && second.isReceiving)
      #expect(try uploads.unfinished(second.id, of: "share") != nil)
    }

    @Test("an upload that is dropped before its first body begins is answered with 503, and can be sent again")
    func droppedWhileBeginning() async throws {
      try await TestGallery.serving { gallery in
        let (waits, begun, mayEnd) = (Flag(), Gathered<Int>(), DispatchSemaphore(value: 0))
        var quota = UploadQuota()
        quota.count = 1
        let uploads = gallery.server.uploads
        uploads.set(
          quota: quota,
          writing: { descriptor, bytes, offset in
            // The records are the files that begin with a brace.
            if waits.isSet, offset == 0, bytes.first == 0x7B {
              waits.set(false)
              begun.append(1)
              mayEnd.wait()
            }
            return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
          })
        let assets = try await gallery.makeAssets(1).map(\.uuidString)
        let json: [String: Any] = ["title": "Party", "assets": assets, "upload": true]
        let link = try gallery.ask("POST", "/v1/shares", json: json).json()
        func visit() throws -> String {
          let opened = try gallery.ask("POST", "/v1/shares:open", json: ["secret": link["secret"] ?? ""], key: nil)
          return try #require(try opened.json()["secret"] as? String, "\(opened)")
        }
        let (one, two) = (try visit(), try visit())
        let client = try #require(gallery.server.shares.list().first).client
        let fields = ["Upload-Complete: ?0"]
        let first = try gallery.send("POST", "/v1/uploads", Data(), key: one, fields).answer
        let id = String(try #require(first.fields["location"], "\(first)").dropFirst("/v1/uploads/".count))
        let displaced = try #require(try uploads.unfinished(id, of: client))
        // The upload that is displaced waits for the disk, and so does the one that displaces it, before its body.
        gallery.clock.advance(by: 3600)
        waits.set(true)
        async let touched: Void = onThread { displaced.touch() }
        // Before that is waited for, whatever fails.
        defer { mayEnd.signal() }
        try await waitUntil("the record is written") { !begun.all.isEmpty }
        let slow = try RawClient(port: gallery.address.port)
        slow.send(
          try gallery.head("POST", "/v1/uploads", key: two, fields + ["Content-Length: 0", "Connection: close"]))
        try await waitUntil("the other upload has its record") {
          gallery.leftovers.count { $0.hasSuffix(".json") } == 2
        }
        try uploads.forgetAll(of: client)
        mayEnd.signal()
        try await touched
        let answer = TestGallery.checked("POST", "/v1/uploads", try #require(TestGallery.parsed(slow.readToEnd())))
        #expect(answer.status == 503 && answer.body.contains("library-offline"), "\(answer)")
        #expect(try gallery.send("POST", "/v1/uploads", Data(), key: two, fields).answer.status == 201)
      }
    }

    @Test(
      "a name keeps what joins or parts its letters, and has nothing that controls or reverses text",
      arguments: [
        // A family, a Persian word, a flag, and what one vendor and a soft hyphen add.
        ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} beach.jpg", true),
        ("\u{645}\u{6CC}\u{200C}\u{631}\u{648}\u{645}.jpg", true), ("\u{1F3F4}\u{E0067}\u{E007F}.jpg", true),
        ("\u{F8FF}.jpg", true), ("a\u{AD}b.jpg", true),
        ("a\u{7}.jpg", false), ("a\u{85}.jpg", false), ("a\u{2028}.jpg", false), ("gpj.\u{202E}a.exe", false),
        ("\u{2067}a.jpg", false), ("a\n.jpg", false),
      ] as [(String, Bool)])
    func names(_ name: String, _ isTaken: Bool) throws {
      if isTaken {
        #expect(try UploadHead.name(name) == name)
      } else {
        #expect(throws: Problem.self) { try UploadHead.name(name) }
      }
    }
  }
#endif
