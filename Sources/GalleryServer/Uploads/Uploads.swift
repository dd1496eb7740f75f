#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import MediaImport
  import PhotoLedger
  import Synchronization

  // Uploads: files that come over HTTP, in as many requests as it takes.
  //
  //   POST, PUT ─▶ create ─▶ bytes ─▶ whole? ─▶ digest ─▶ MediaIntake ─▶ one commit ─▶ answer, kept under the upload
  //   HEAD      ─▶ offset          ▲
  //   PATCH     ─▶ append ─────────┘
  //
  // Bytes stream into a file of the library's directory, on a thread that may wait for the disk, a quarter of a
  // megabyte at a time (HTTPServing/Reception.swift), and are hashed on their way (Upload.swift). They become part of
  // the library by one commit at the end, so a cut, a kill or a full disk leaves an upload that goes on, or nothing.
  //
  // The answer is kept as a file before it is sent: a client that lost it asks again and hears the same. The commit has
  // the upload's identifier as its idempotency key, so the same holds for a process that ends between the two.
  //
  // What is counted of all uploads has one lock, under which no file is synced or removed: a slow disk delays the
  // uploads that it works for, and no others. Only the folder is opened under it, before the first of them.
  //
  // Rejected: gathering bodies in memory; uploads in the store's own database (bytes would pass through it, and their
  // progress would be part of the history); one lock for all completions (exiftool takes milliseconds to seconds).

  /// The uploads of a server.
  final class Uploads: Sendable {
    private struct State {
      /// nil until it is opened: when the server starts, or by the first request if there was none.
      var folder: UploadFolder?
      var uploads: [String: Upload] = [:]
      /// The finished uploads of each client whose answers are kept, the oldest first.
      var finished: [ExactText: [(id: String, touched: Date)]] = [:]
      /// Why the records of other uploads could not be read.
      var unreadable: [String: LibraryError] = [:]
      /// Uploads that made room for others, whose files are still to be removed.
      var leaving: [Upload] = []
      var swept = Date.distantPast
      /// Whether no further expired upload is to be removed.
      var isEnding = false
      var isClosed = false
    }

    /// Guarded by its lock, which is held while the folder is opened; only threads that may wait take it.
    private let state = Mutex(State())
    /// How many bodies are being received, by client. Any thread takes its lock: nothing waits for the disk under it.
    private let active = Mutex<[ExactText: Int]>([:])
    private let library: PhotoLibrary
    private let environment: GalleryEnvironment
    /// Its exiftool reads the folder of uploads: strangers send what it parses, and the library lies beside.
    private let intake = MediaIntake(confinedTo: UploadFolder.name)
    /// Receives a sentence for each upload that cannot be read.
    private let reporting = Mutex<@Sendable (String) -> Void>({ _ in })
    private let settings:
      Mutex<(quota: UploadQuota, writing: UploadFolder.Writing, synchronizing: UploadFolder.Synchronizing)>

    init(_ library: PhotoLibrary, _ environment: GalleryEnvironment) {
      (self.library, self.environment) = (library, environment)
      settings = Mutex((UploadQuota(), { pwrite($0, $1.baseAddress, $1.count, $2) }, { fdatasync($0) }))
    }

    var quota: UploadQuota { settings.withLock { $0.quota } }

    /// Sets bounds, before the first upload.
    func set(
      quota: UploadQuota, writing: UploadFolder.Writing? = nil, synchronizing: UploadFolder.Synchronizing? = nil
    ) {
      settings.withLock { settings in
        settings.quota = quota
        if let writing { settings.writing = writing }
        if let synchronizing { settings.synchronizing = synchronizing }
      }
    }

    /// Sets what receives a sentence for each upload that cannot be read, before the first request.
    func report(to log: @escaping @Sendable (String) -> Void) { reporting.withLock { $0 = log } }

    /// Whether there is a folder of uploads.
    var hasFolder: Bool { library.store.folder.status(of: UploadFolder.name) != nil }

    /// Opens the folder, and removes what an earlier server left that no upload goes on with.
    func open() throws { try state.withLock { _ = try opened(&$0) } }

    /// Ends what still writes, and lets another server take uploads.
    func close() {
      let (uploads, folder) = state.withLock { state in
        defer { (state.uploads, state.finished, state.folder, state.isClosed) = ([:], [:], nil, true) }
        return (Array(state.uploads.values), state.folder)
      }
      // What cannot be made durable now is cut off by the next server.
      for upload in uploads { _ = try? upload.interrupt() }
      dropLeaving()
      // A task of a request that has just ended may hold an upload, and with it the folder, a moment longer.
      folder?.release()
      intake.close()
    }

    // MARK: Finding

    /// The upload of an identifier, if it is the client's; nil if it is finished, or has expired.
    /// - Throws: ``LibraryError`` if its record cannot be read, so that its client does not send it again.
    func unfinished(_ id: String, of client: String) throws -> Upload? {
      try Self.check(id)
      return try state.withLock { state in
        _ = try opened(&state)
        if let error = state.unreadable[id] { throw error }
        let upload = state.uploads[id].flatMap { $0.client.exact == client.exact && $0.isResumable ? $0 : nil }
        // The files of one that has expired may not be removed yet.
        return upload?.isExpired(before: oldest) == true ? nil : upload
      }
    }

    /// The result of a finished upload of the client.
    /// - Throws: ``Problem`` 404 for one that is unknown or another client's.
    func result(_ id: String, of client: String) throws -> UploadResult {
      try Self.check(id)
      let folder = try state.withLock { try opened(&$0) }
      guard let record = try folder.finished(id), record.client.exact == client.exact, let result = record.result,
        record.touched >= oldest
      else { throw Problem.notFound }
      return result
    }

    /// Identifiers are those that ``create(_:_:contentLength:for:)`` makes, so none leads out of the folder.
    private static func check(_ id: String) throws(Problem) {
      guard id.utf8.count == 24,
        id.utf8.allSatisfy({ byte in
          (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
        })
      else { throw .notFound }
    }

    private var oldest: Date { environment.now().addingTimeInterval(-quota.seconds) }

    private func opened(_ state: inout State) throws -> UploadFolder {
      guard !state.isClosed else {
        throw Problem(503, "library-offline", "The server is stopping; continue the upload when it is back.")
      }
      if let folder = state.folder { return folder }
      let (writing, synchronizing) = settings.withLock { ($0.writing, $0.synchronizing) }
      let folder = try UploadFolder(
        library.store.folder, now: environment.now, writing: writing, synchronizing: synchronizing)
      let (unfinished, finished, unreadable) = try folder.load(olderThan: oldest)
      for record in unfinished { state.uploads[record.id] = Upload(record, isResumable: true, in: folder) }
      for record in finished { state.finished[record.client.exact, default: []].append((record.id, record.touched)) }
      for client in Array(state.finished.keys) { dropFinished(of: client, &state).forEach(folder.removeFinished) }
      (state.folder, state.swept, state.unreadable) = (folder, environment.now(), unreadable)
      let report = reporting.withLock { $0 }
      for (id, error) in unreadable.sorted(by: { $0.key < $1.key }) {
        report(
          "The upload \(id) in \(UploadFolder.name) is left as it is: \(error.description) Make its files readable and "
            + "start the server again, or remove them.")
      }
      return folder
    }

    // MARK: Making

    /// Makes an upload and takes the turn for its first body. It makes no room for others before the body has begun.
    /// - Returns: the upload and the turn.
    /// - Throws: what ``make(_:contentLength:expecting:for:visitor:)`` and ``Upload/begin(at:_:contentLength:)`` throw.
    func start(
      _ head: UploadHead, contentLength: UInt64?, for client: String, visitor: String?
    ) throws -> (upload: Upload, turn: Int) {
      let (upload, end) = try make(head, contentLength: contentLength, for: client, visitor: visitor)
      defer { upload.release(end) }
      do { return (upload, try upload.begin(at: 0, head, contentLength: contentLength)) } catch {
        forget(upload)
        throw error
      }
    }

    /// Makes an upload whose first body begins later, or does not come.
    /// - Throws: what ``make(_:contentLength:expecting:for:visitor:)`` throws.
    func create(
      _ head: UploadHead, contentLength: UInt64?, expecting most: UInt64? = nil, for client: String,
      visitor: String? = nil
    ) throws -> Upload {
      let (upload, end) = try make(
        head, contentLength: contentLength, expecting: most, for: client, visitor: visitor)
      upload.release(end)
      return upload
    }

    /// Makes an upload, durably if it can be resumed. What it may bring is counted from here on, so that uploads which
    /// begin together do not exceed together what one of them might.
    /// - Parameters:
    ///   - most: what the file cannot exceed, where its length is not known; room is asked for it.
    ///   - visitor: the name of the key that makes it, if that is a visitor's of a share link.
    /// - Returns: the upload and the end of its first body, which is granted until it is released.
    /// - Throws: ``Problem`` 413 for a file that is too large, 429 for a client with too many, 507 without room;
    ///   ``Upload/Gone`` if it was dropped meanwhile.
    func make(
      _ head: UploadHead, contentLength: UInt64?, expecting most: UInt64? = nil, for client: String,
      visitor: String? = nil
    ) throws -> (upload: Upload, end: UInt64) {
      let quota = quota
      let length = head.length ?? (head.isLast != false ? contentLength : nil)
      let end = length ?? contentLength ?? most ?? 0
      try quota.check(size: end)
      let id = Keyring.spelled(environment.randomBytes(18))
      var record = UploadRecord(
        id: id, client: client, name: head.name, file: Self.file(id, head.name), touched: environment.now())
      (record.length, record.sha256, record.sha1) = (length, head.sha256, head.sha1)
      record.visitor = visitor
      let folder = try state.withLock { try opened(&$0) }
      // A part of an upload that can be resumed takes what room there is, up to the reserve, as what comes is written
      // (`Upload.write`). Rejected: counting what other uploads announced, as one that never comes would keep the
      // disk from all clients.
      guard folder.hasRoom(for: length ?? most ?? 0, keeping: quota.reserve) else {
        throw Problem(
          507, "not-enough-space", "The server's disk has not enough space for this file; try again later.")
      }
      let upload = Upload(record, isResumable: head.isLast != nil, expecting: end, in: folder)
      // Until it is durable and its body has begun it does not make room for others.
      upload.grant(upTo: end)
      defer { dropLeaving() }
      try state.withLock { state in
        _ = try opened(&state)
        try check(&state, record, quota, expecting: end)
        state.uploads[id] = upload
      }
      guard upload.isResumable else { return (upload, end) }
      do { try upload.establish() } catch {
        forget(upload)
        throw error
      }
      return (upload, end)
    }

    /// Names an upload whose name comes behind its head, before its first byte.
    func name(_ upload: Upload, _ name: String?) { upload.name(name, file: Self.file(upload.id, name)) }

    private static func file(_ id: String, _ name: String?) -> String { "\(id).bytes\(ending(of: name))" }

    /// The ending of a name, if it is a harmless one.
    private static func ending(of name: String?) -> String {
      let ending = FilePath(name ?? "").pathExtension
      let isHarmless = ending.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
      return isHarmless && (1...8).contains(ending.utf8.count) ? ".\(ending)" : ""
    }

    private func check(
      _ state: inout State, _ record: UploadRecord, _ quota: UploadQuota, expecting most: UInt64
    ) throws(Problem) {
      if let visitor = record.visitor {
        makeRoom(for: most, of: record.id, record.client.exact, visitor, &state, quota)
        guard state.uploads.values.count(where: { $0.visitor == visitor }) < quota.countOfVisitor else {
          throw Self.tooMany(
            "This visitor has \(quota.countOfVisitor) unfinished uploads; finish or delete some first.")
        }
      }
      let own = state.uploads.values.filter { $0.client.exact == record.client.exact }
      let bytes = own.reduce(most) { $0 + $1.reserved }
      guard own.count < quota.count, bytes <= quota.bytes else {
        throw Self.tooMany(
          "This client has \(own.count) unfinished uploads; finish or delete some before beginning another.")
      }
    }

    /// Lets uploads of a share link's visitors go until another one, or more bytes of one, keep within the bounds,
    /// since no visitor finds those of the others: those of the visitor itself, if it has too many, and else those of
    /// the visitor that would have most; of a visitor the one that had no request for longest. One that is being
    /// received or has come whole stays, and so does what a visitor has that would have less than this one. Uploads
    /// that an older version recorded have no visitor; they count as one visitor's.
    /// - Parameters:
    ///   - bytes: how many bytes the upload is to have.
    ///   - id: the upload that is to have them, which may be new.
    private func makeRoom(
      for bytes: UInt64, of id: String, _ client: ExactText, _ visitor: String, _ state: inout State,
      _ quota: UploadQuota
    ) {
      guard bytes <= quota.bytes else { return }
      while true {
        let others = state.uploads.values.filter { $0.client.exact == client && $0.id != id }
        let isOwnTooMany = others.count { $0.visitor == visitor } >= quota.countOfVisitor
        let isCrowded = isOwnTooMany || others.count >= quota.count
        guard isCrowded || others.reduce(bytes, { $0 + $1.reserved }) > quota.bytes else { return }
        var sizes = [visitor: isCrowded ? 1 : bytes]
        for other in others { sizes[other.visitor ?? "", default: 0] += isCrowded ? 1 : other.reserved }
        let own = sizes[visitor, default: 0]
        let candidates = others.filter { other in
          guard other.isResumable, other.isIdle else { return false }
          if isOwnTooMany { return other.visitor == visitor }
          return sizes[other.visitor ?? "", default: 0] >= own && (isCrowded || other.reserved > 0)
        }
        let leaving = candidates.min { one, other in
          let (most, more) = (sizes[one.visitor ?? "", default: 0], sizes[other.visitor ?? "", default: 0])
          return most == more ? one.touched < other.touched : most > more
        }
        guard let leaving else { return }
        state.leaving.append(leaving)
        state.uploads[leaving.id] = nil
      }
    }

    /// Removes the files of uploads that made room for others.
    private func dropLeaving() {
      let leaving = state.withLock { state in
        defer { state.leaving = [] }
        return state.leaving
      }
      for upload in leaving { upload.drop() }
    }

    private static func tooMany(_ sentence: String) -> Problem {
      var problem = Problem(429, "limit-exceeded", sentence)
      problem.fields = [("Retry-After", "60")]
      return problem
    }

    /// How much more is counted at a time of a body whose length is not announced.
    private static let countedAhead: UInt64 = 16 << 20

    /// Writes bytes of a body. Those beyond what it announced are counted first: bodies that come together do not
    /// exceed together what one of them might.
    /// - Throws: ``Problem`` 429 if the client's unfinished uploads would have too many bytes; what
    ///   ``Upload/write(_:turn:_:)`` throws.
    func write(_ bytes: [UInt8], of upload: Upload, turn: Int) throws {
      try count(bytes.count, of: upload)
      try upload.write(bytes, turn: turn, quota)
    }

    /// Takes the turn for a further body of an upload, if the client may have what it announces.
    /// - Throws: ``Problem`` 413 for a file that is too large, 429 if the client's unfinished uploads would have too
    ///   many bytes; what ``Upload/begin(at:_:contentLength:)`` throws.
    func resume(_ upload: Upload, at offset: UInt64, _ head: UploadHead, contentLength: UInt64?) throws -> Int {
      let quota = quota
      let (part, isTooLong) = offset.addingReportingOverflow(contentLength ?? 0)
      let end = isTooLong ? .max : max(part, head.length ?? 0)
      try quota.check(size: end)
      defer { dropLeaving() }
      try state.withLock { state in
        guard state.uploads[upload.id] === upload else { throw Upload.Gone() }
        _ = try room(for: end, of: upload, &state, quota)
        upload.grant(upTo: end)
      }
      defer { upload.release(end) }
      return try upload.begin(at: offset, head, contentLength: contentLength)
    }

    private func count(_ bytes: Int, of upload: Upload) throws(Problem) {
      let end = upload.written + UInt64(bytes)
      guard end > upload.reserved else { return }
      let quota = quota
      defer { dropLeaving() }
      try state.withLock { (state) throws(Problem) in
        let room = try room(for: end, of: upload, &state, quota)
        upload.reserve(upTo: min(end + Self.countedAhead, quota.fileSize, room))
      }
    }

    /// How many bytes an upload may have beside the others of its client.
    /// - Throws: ``Problem`` 429 if these are fewer than it is to have.
    private func room(
      for end: UInt64, of upload: Upload, _ state: inout State, _ quota: UploadQuota
    ) throws(Problem) -> UInt64 {
      if let visitor = upload.visitor {
        makeRoom(for: end, of: upload.id, upload.client.exact, visitor, &state, quota)
      }
      let others = state.uploads.values.filter { $0.client.exact == upload.client.exact && $0.id != upload.id }
        .reduce(0) { $0 + $1.reserved }
      guard others <= quota.bytes, end <= quota.bytes - others else {
        throw Self.tooMany(
          "The unfinished uploads of this client have more than \(quota.bytes) bytes; finish or delete some first.")
      }
      return quota.bytes - others
    }

    /// Removes what is too old, at most once an hour; a body that still comes keeps its upload. It removes files of
    /// any size, so it is called on no thread that answers requests.
    func sweep() {
      let (now, oldest, interval) = (environment.now(), oldest, min(3600, quota.seconds))
      let found = state.withLock { state -> (folder: UploadFolder, uploads: [Upload], finished: [String])? in
        guard let folder = state.folder, now.timeIntervalSince(state.swept) >= interval else { return nil }
        state.swept = now
        var finished: [String] = []
        for client in Array(state.finished.keys) { finished += dropFinished(of: client, &state) }
        let uploads = state.uploads.values.filter { $0.isExpired(before: oldest) }
        return (folder: folder, uploads: uploads, finished: finished)
      }
      guard let found else { return }
      // What is left when the server stops, the next one removes.
      for id in found.finished {
        guard !state.withLock({ $0.isEnding }) else { return }
        found.folder.removeFinished(id)
      }
      for upload in found.uploads {
        guard !state.withLock({ $0.isEnding }) else { return }
        if upload.dropExpired(before: oldest) { state.withLock { $0.uploads[upload.id] = nil } }
      }
    }

    /// Ends a sweep after what it is removing; a later one removes nothing.
    func endSweeping() { state.withLock { $0.isEnding = true } }

    /// Counts no longer the finished uploads of a client that are too old, and the oldest of those that are too many.
    /// - Returns: their identifiers; their records are still to be removed.
    private func dropFinished(of client: ExactText, _ state: inout State) -> [String] {
      guard let all = state.finished[client] else { return [] }
      let oldest = oldest
      let kept = all.suffix(quota.finished).drop { $0.touched < oldest }
      state.finished[client] = kept.isEmpty ? nil : Array(kept)
      return all.prefix(all.count - kept.count).map(\.id)
    }

    /// Counts a body that is being received.
    /// - Returns: its place, to be given back when nothing is received any more.
    /// - Throws: ``Problem`` 503 if there are too many, of this client or of all.
    func enter(for client: String) throws(Problem) -> UploadPlace {
      let (quota, client) = (quota, client.exact)
      let refusal = active.withLock { active -> String? in
        let own = active[client] ?? 0
        guard own < quota.activeOfClient else { return "The server receives \(own) uploads of this client now" }
        let all = active.values.reduce(0, +)
        guard all < quota.active else { return "The server receives \(all) uploads now" }
        active[client] = own + 1
        return nil
      }
      if let refusal { throw Problem(503, "limit-exceeded", "\(refusal); try again.") }
      return UploadPlace { [self] in
        active.withLock { active in
          let left = (active[client] ?? 1) - 1
          active[client] = left > 0 ? left : nil
        }
      }
    }

    /// How many uploads are unfinished, how many bytes came of them, and how many bodies are being received.
    var figures: (count: Int, bytes: UInt64, bodies: Int) {
      let uploads = state.withLock { Array($0.uploads.values) }
      return (uploads.count, uploads.reduce(0) { $0 + $1.written }, active.withLock { $0.values.reduce(0, +) })
    }

    func forget(_ upload: Upload) {
      upload.drop()
      state.withLock { $0.uploads[upload.id] = nil }
    }

    /// Drops the unfinished uploads of a client, whose bodies are rejected from then on. One that is being finished is
    /// left to its completion, which checks key and permission itself, and dropped if that leaves it unfinished.
    func forgetAll(of client: String) throws {
      // Where no client has uploaded anything, a full disk has no room for the folder.
      guard hasFolder else { return }
      let uploads = try state.withLock { state in
        _ = try opened(&state)
        return state.uploads.values.filter { $0.client.exact == client.exact }
      }
      for upload in uploads {
        guard let finishing = upload.finishing else {
          forget(upload)
          continue
        }
        Task.detached { [self] in
          _ = await finishing.value
          try? await offload { [self] in forget(upload) }
        }
      }
    }

    /// Removes the record of a finished upload; its asset stays.
    func forgetFinished(_ id: String, of client: String) throws {
      try Self.check(id)
      let folder = try state.withLock { state in
        let folder = try opened(&state)
        state.finished[client.exact]?.removeAll { $0.id == id }
        return folder
      }
      folder.removeFinished(id)
    }

    // MARK: Completion

    /// What came beside a file.
    struct Beside: Sendable {
      var statement = MediaIntake.Statement()
      /// The bytes of an XMP sidecar.
      var sidecar: [UInt8]?
    }

    /// Puts a whole upload into the library, once.
    /// - Parameters:
    ///   - beside: what came beside the file.
    ///   - changesOthers: whether the file may complete assets that the client did not upload; that changes the
    ///     library.
    ///   - respond: spells the result; by default as `/v1/uploads` does.
    ///   - mayStill: throws if the key was withdrawn meanwhile.
    func complete(
      _ upload: Upload, beside: Beside = Beside(), changesOthers: Bool,
      respond: (@Sendable (Result<UploadResult, Problem>) -> HTTPResponse)? = nil,
      _ mayStill: @escaping @Sendable () throws -> Void
    ) async -> HTTPResponse {
      await upload.finish { [self] in
        do {
          try mayStill()
          let result = try await result(of: upload, beside, changesOthers)
          try await offload { [self] in try keep(result, of: upload) }
          return respond?(.success(result)) ?? result.response(upload.path)
        } catch {
          // Not the upload's fault: its bytes stay, and a later request tries again.
          if upload.isResumable { upload.unfinish() } else { try? await offload { [self] in forget(upload) } }
          let problem = Self.problem(error, isKept: upload.isResumable)
          return respond?(.failure(problem)) ?? problem.response
        }
      }.value
    }

    private func keep(_ result: UploadResult, of upload: Upload) throws {
      var record = upload.record
      (record.result, record.touched) = (result, environment.now())
      if upload.isResumable {
        let (folder, id, touched) = (try state.withLock { try opened(&$0) }, record.id, record.touched)
        try folder.finish(record)
        let dropped = state.withLock { state in
          state.finished[upload.client.exact, default: []].append((id, touched))
          return dropFinished(of: upload.client.exact, &state)
        }
        for id in dropped { folder.removeFinished(id) }
      }
      forget(upload)
    }

    private func result(
      of upload: Upload, _ beside: Beside, _ changesOthers: Bool
    ) async throws -> UploadResult {
      let folder = try await offload { [self] in try state.withLock { try opened(&$0) } }
      let (record, content) = try await offload { (upload.record, try upload.content()) }
      if let expected = record.sha256, expected != content.sha256 {
        return .refused(
          status: 400, type: "invalid-resource",
          detail: """
            The file has the SHA-256 \(content.sha256.hexadecimal), but Repr-Digest states another; send it again.
            """)
      }
      if let expected = record.sha1, expected != content.sha1 {
        return .refused(
          status: 400, type: "invalid-resource",
          detail: "The file has the SHA-1 \(content.sha1.hexadecimal), but the request states another; send it again.")
      }
      guard content.byteCount > 0 else {
        return .refused(status: 422, type: "invalid-resource", detail: "The file is empty.")
      }
      var statement = beside.statement
      if let sidecar = beside.sidecar {
        statement.sidecar = try await offload { try folder.write(sidecar: sidecar, of: record) }
      }
      do {
        let taken = try await intake.take(
          folder.libraryName(of: record), content, named: record.name, into: library.as(record.client),
          key: "upload \(upload.id)", cause: "upload", saying: statement, changesOthers: changesOthers)
        let outcome =
          switch taken.outcome {
          case .created: "created"
          case .completed: "completed"
          case .duplicate: "duplicate"
          }
        return .taken(
          asset: taken.asset.spelled(as: .asset), commit: taken.token.description, sha256: content.sha256,
          size: UInt64(content.byteCount), outcome: outcome)
      } catch let refusal as MediaIntake.Refusal {
        return .refused(status: 422, type: "invalid-resource", detail: refusal.description)
      } catch let error as LibraryError
        where [.invalidResource, .limitExceeded, .malformedRequest].contains(error.code)
      {
        let problem = Problem(error)
        return .refused(status: problem.status, type: problem.type, detail: problem.detail)
      }
    }

    /// Why an upload could not be completed now.
    private static func problem(_ error: any Error, isKept: Bool) -> Problem {
      guard let error = error as? ImportError else { return Problem(error) }
      if error.code == .diskFull {
        let rest = isKept ? "the upload is kept and can be finished later" : "send the file again later"
        return Problem(507, "not-enough-space", "The server's disk is full; \(rest).")
      }
      var problem = Problem(
        503, "library-offline",
        error.code == .toolMissing ? error.description : "The file could not be examined now; try again later.")
      problem.fields = [("Retry-After", "60")]
      return problem
    }
  }

  /// A place among the bodies that are received at once; what is given back again changes nothing.
  final class UploadPlace: Sendable {
    private let isTaken = Atomic(true)
    private let free: @Sendable () -> Void

    init(_ free: @escaping @Sendable () -> Void) { self.free = free }

    func leave() {
      if isTaken.exchange(false, ordering: .relaxed) { free() }
    }
  }
#endif
