#if Gallery
  import Foundation
  import MediaImport
  import PhotoLedger
  import Synchronization

  // The renditions that were made, in `renditions/` of the library's folder. A cache: it is in no log, may be removed
  // at any time, and is made anew.
  //
  //     renditions/r3/records            128 bytes a content: hash, state, placeholder, sizes, last use, checksum
  //     renditions/r3/ab/ab12….small     files by content hash; `.large`, `.play`
  //     renditions/r3/ab/ab12….why       why there are none
  //     renditions/r3/ab/ab12….large.new being written: named by its content, so that an erasure finds what a killed
  //                                      server left, and the next rendering of the content overwrites it
  //     renditions/removed-1/            what is being removed
  //     renditions/lock                  held by the process that has the cache
  //     renditions/passing-4711/r3/      the cache of process 4711 while another one has the lock
  //
  // The recipe's revision names the folder; folders of other revisions get another name when the cache is opened, and
  // are removed afterwards, or when a later server opens it: they may have as many bytes as the budget. In memory
  // there is the place of each record by the first eight bytes of its hash, 24 bytes a content, and the records that
  // were used last: a window of a grid needs hundreds, and several clients request the same ones. The hash of a content
  // determines the one slot in which its record is cached.
  //
  // Invariants: a file has its name only when it is whole (written aside, then renamed); a record that says `ready` is
  // written after its files. Nothing is synced, so after a power cut a file may be shorter than its record says: it is
  // measured when it is opened, and dropped if it is not what was written. A record is written to a file that has a
  // name: if the folder was removed, `records` is made anew before that, and what was in memory is forgotten. A folder
  // is written by one process: its lock may have been removed or moved away with it, so before each file and record the
  // folder is taken anew if the lock is not there. If another process has taken it by then, what is made goes to a
  // passing folder.
  //
  // An erasure of assets, in this process or another, removes the files of contents that no asset has any more and
  // overwrites their records by zeros; the server forgets them when the log says so, and after it has made something.
  //
  // Rejected: the pictures in LMDB (a file is sent by the kernel, and a cache would grow the store's file for good);
  // one file of JSON for each content (a million small files to read at the start).

  /// The renditions that were made.
  final class RenditionCache: Sendable {
    /// One of the files of a content.
    enum Kind: String, Sendable, CaseIterable { case small, large, play }

    /// The open `records`, closed when the last one that reads it has ended.
    private final class RecordFile: Sendable {
      let descriptor: Int32

      init(owning descriptor: Int32) { self.descriptor = descriptor }

      deinit { close(descriptor) }

      /// Whether it was removed, so that what is written to it is lost.
      var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
      }
    }

    /// A folder of files and records.
    private struct Place {
      let folder: URL
      /// nil if another process has the cache, or if there are no locks.
      let lock: FileLock?
      /// Whether it is a passing folder, since another process has the cache.
      let isPassing: Bool
    }

    private struct State {
      let place: Place
      let file: RecordFile
      /// Whether another server may have the cache.
      var isReleased = false
      var places: [UInt64: UInt32] = [:]
      var count: UInt32 = 0
      var total: UInt64 = 0
      /// How many changes of records there were since the cache was opened, and the opening itself.
      var revision = 1
      /// The records used last, by the last bytes of the first eight of their hashes; made with the first one.
      var recent: [(hash: [UInt8], record: RenditionRecord)] = []

      /// The record of a content if it was used lately.
      func recent(_ hash: UnsafeRawBufferPointer) -> RenditionRecord? {
        guard !recent.isEmpty else { return nil }
        let slot = Self.slot(hash)
        return recent[slot].hash.elementsEqual(hash) ? recent[slot].record : nil
      }

      mutating func keep(_ record: RenditionRecord, of hash: [UInt8]) {
        if recent.isEmpty { recent = Array(repeating: ([], RenditionRecord()), count: RenditionCache.recentCount) }
        hash.withUnsafeBytes { recent[Self.slot($0)] = (hash, record) }
      }

      private static func slot(_ hash: UnsafeRawBufferPointer) -> Int {
        Int(hash.loadUnaligned(fromByteOffset: 4, as: UInt32.self) % UInt32(RenditionCache.recentCount))
      }
    }

    /// How many of the records used last are in memory, about 200 bytes each.
    static let recentCount = 4096

    /// `renditions/`, which is closed to other users.
    private let root: URL
    /// What other revisions and other processes left: to be removed, and not in the way of anything.
    let strangers: [URL]
    private let budget: UInt64
    private let now: @Sendable () -> Date
    /// Guarded by its lock, which is held while a record is read or written.
    private let state: Mutex<State>
    /// Held while a file is written.
    private let writing = Mutex(())
    /// Receives a sentence when another process has taken the cache.
    private let report: @Sendable (String) -> Void

    /// The folder of the files and records.
    var folder: URL { state.withLock { $0.place.folder } }
    /// Whether another process has the cache, so that this one's is removed when a later server opens it.
    var isPassing: Bool { state.withLock { $0.place.isPassing } }

    /// Opens the cache, or a passing one if another process has it.
    /// - Parameter report: receives a sentence when another process has taken the cache since.
    /// - Throws: ``GalleryError`` if its folder cannot be made, or if it is not known whether another process has it.
    init(
      in parent: URL, budget: UInt64, now: @escaping @Sendable () -> Date,
      report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
      (self.budget, self.now, self.report, root) = (budget, now, report, parent)
      let place = try Self.takePlace(in: parent)
      strangers = place.lock != nil ? Self.takeStrangersAside(in: parent) : []
      state = Mutex(Self.load(try Self.openRecords(in: place.folder), in: place))
    }

    /// Makes and locks a folder, or makes a passing one if another process has the lock.
    /// - Parameter held: the lock, if this process has it.
    private static func takePlace(in root: URL, holding held: FileLock? = nil) throws -> Place {
      var parent = root
      do {
        try FileManager.default.createDirectory(
          at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var (lock, isOthers) = (held, false)
        if held == nil { (lock, isOthers) = try takeLock(lockPath(in: root)) }
        if isOthers { parent = root.appending(path: "passing-\(getpid())") }
        let folder = parent.appending(path: RenditionRecipe.revision, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return Place(folder: folder, lock: lock, isPassing: isOthers)
      } catch let error as GalleryError {
        throw error
      } catch {
        throw GalleryError(
          "The folder of renditions \(parent.path) cannot be created: \(LibraryError.reason(of: error)).")
      }
    }

    private static func lockPath(in root: URL) -> String { root.appending(path: "lock").path }

    private static func openRecords(in folder: URL) throws -> RecordFile {
      let records = folder.appending(path: "records").path
      let descriptor = open(records, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw GalleryError("The list of renditions \(records) cannot be opened; remove its folder.")
      }
      return RecordFile(owning: descriptor)
    }

    /// Lets another server have the cache; nothing is made for it by this value afterwards.
    func release() {
      let lock = state.withLock { state in
        state.isReleased = true
        return state.place.lock
      }
      lock?.release()
    }

    /// Why a cache without a lock does not belong to another process: what is in the lock's place is not a file, or the
    /// file system has no locks.
    private static let lockless: Set<Int32> = [EISDIR, ENOENT, ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL]

    /// Locks the cache.
    /// - Throws: ``GalleryError`` if it is not known whether another process has it: this process can open no more
    ///   files, or may not open that of another user.
    private static func takeLock(_ path: String) throws -> (lock: FileLock?, isOthers: Bool) {
      var code: Int32 = 0
      do {
        let lock = try FileLock(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)) { (failure: Int32) -> GalleryError in
          code = failure
          return GalleryError("The file \(path) cannot be locked: \(String(cString: strerror(failure))).")
        }
        return (lock, lock == nil)
      } catch {
        guard lockless.contains(code) else { throw error }
        return (nil, false)
      }
    }

    /// Renames what other revisions and other processes left.
    private static func takeStrangersAside(in parent: URL) -> [URL] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
      let aside = "removed-"
      var number = 0
      return names.filter { name in
        name != "lock" && name != RenditionRecipe.revision && !name.hasPrefix(WorkRoots.prefix)
      }.map { name in
        let place = parent.appending(path: name)
        if name.hasPrefix(aside) { return place }
        repeat { number += 1 } while names.contains("\(aside)\(number)")
        let new = parent.appending(path: "\(aside)\(number)")
        return rename(place.path, new.path) == 0 ? new : place
      }
    }

    private static func load(_ file: RecordFile, in taken: Place) -> State {
      var state = State(place: taken, file: file)
      let size = RenditionRecord.size
      var (chunk, place) = ([UInt8](repeating: 0, count: size * 4096), UInt32(0))
      while true {
        let count = pread(file.descriptor, &chunk, chunk.count, Int(place) * size)
        guard count >= size else { break }
        for start in stride(from: 0, to: count / size * size, by: size) {
          let bytes = Array(chunk[start..<start + size])
          // A record that was torn is passed over; its place is not used again and costs 128 bytes.
          if let record = RenditionRecord(bytes, of: Array(bytes[..<32])) {
            state.places[RenditionRecord.number(bytes, 0, 8)] = place
            state.total += record.total
          }
          place += 1
        }
      }
      state.count = place
      return state
    }

    // MARK: Records

    /// What there is of a content.
    func record(_ hash: [UInt8]) -> RenditionRecord {
      state.withLock { state in hash.withUnsafeBytes { Self.read($0, &state) } } ?? RenditionRecord()
    }

    /// Grows with each change of a record.
    var revision: Int { state.withLock { $0.revision } }

    /// What there is of the files that assets show; nil for one that shows none, and for all while there is nothing. Of
    /// an asset that the client does not see any more there is nothing.
    func records(of assets: [ListedAsset]) -> [RenditionRecord?]? {
      state.withLock { state in
        if state.places.isEmpty { return nil }
        return assets.map { asset in
          asset.withSHA256 { hash in
            (asset.isVisibleNow ? Self.read(hash, &state) : nil) ?? RenditionRecord()
          }
        }
      }
    }

    /// The bytes of all files.
    var total: UInt64 { state.withLock { $0.total } }

    private static func read(_ hash: UnsafeRawBufferPointer, _ state: inout State) -> RenditionRecord? {
      if state.places.isEmpty { return nil }
      if let record = state.recent(hash) { return record }
      let key = UInt64(littleEndian: hash.loadUnaligned(as: UInt64.self))
      guard let place = state.places[key] else { return nil }
      var bytes = [UInt8](repeating: 0, count: RenditionRecord.size)
      let count = pread(state.file.descriptor, &bytes, bytes.count, Int(place) * bytes.count)
      guard count == bytes.count else { return nil }
      let hash = Array(hash)
      guard let record = RenditionRecord(bytes, of: hash) else { return nil }
      state.keep(record, of: hash)
      return record
    }

    /// Takes the folder anew if it was removed or moved away while the server runs, or its lock was.
    /// - Throws: ``GalleryError`` if it cannot be made or closed, or if it is not known whether another process has it.
    private func renew() throws {
      let isLost = try state.withLock { (state) throws -> Bool in
        let (lock, wasPassing) = (state.place.lock, state.place.isPassing)
        let isUnlocked = lock?.isOfFile(at: Self.lockPath(in: root)) == false
        guard isUnlocked || state.file.isRemoved, !state.isReleased else { return false }
        let place = try Self.takePlace(in: root, holding: isUnlocked ? nil : lock)
        // What wrote the first file into the folder may have made it with other permissions.
        guard place.isPassing || chmod(root.path, 0o700) == 0 else {
          throw GalleryError("The folder of renditions \(root.path) cannot be closed to other users.")
        }
        Self.reload(&state, try Self.openRecords(in: place.folder), place)
        return place.isPassing && !wasPassing
      }
      if isLost {
        report(
          "The folder 'renditions' was removed while the server ran, and another process has made it anew. "
            + "What this server makes from now on is removed when a later one starts.")
      }
    }

    /// Changes the record of a content.
    private func update(_ hash: [UInt8], _ change: (inout RenditionRecord) -> Void) {
      // Without a folder the record is written to the removed file, and lasts as long as the server.
      try? renew()
      state.withLock { state in
        var record = hash.withUnsafeBytes { Self.read($0, &state) } ?? RenditionRecord()
        let before = record
        change(&record)
        if record == before { return }
        state.revision += 1
        let key = RenditionRecord.number(hash, 0, 8)
        let place = state.places[key] ?? state.count
        let bytes = record.bytes(of: hash)
        guard pwrite(state.file.descriptor, bytes, bytes.count, Int(place) * bytes.count) == bytes.count else { return }
        if place == state.count { state.count += 1 }
        state.places[key] = place
        state.keep(record, of: hash)
        state.total = state.total - min(state.total, before.total) + record.total
      }
    }

    // MARK: Files

    /// The file of a content.
    func file(_ hash: [UInt8], _ kind: Kind) -> URL { file(hash, kind.rawValue) }

    private func file(_ hash: [UInt8], _ ending: String) -> URL {
      let name = hash.hexadecimal
      return folder.appending(path: "\(name.prefix(2))/\(name).\(ending)")
    }

    /// What the names of files end with while they are written.
    private static let draftEnding = ".new"

    /// The file of a content before it is written: in a folder that is there, and that no other process has.
    func newFile(_ hash: [UInt8], _ kind: Kind) throws -> URL { try newFile(hash, kind.rawValue) }

    private func newFile(_ hash: [UInt8], _ ending: String) throws -> URL {
      try renew()
      let file = file(hash, ending)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      return file
    }

    private func put(_ data: Data, _ hash: [UInt8], _ ending: String) throws {
      let file = try newFile(hash, ending)
      let draft = URL(filePath: file.path + Self.draftEnding)
      // A content may be rendered twice at a time, and its draft has one name.
      try writing.withLock { _ in
        do {
          try data.write(to: draft)
          guard rename(draft.path, file.path) == 0 else {
            throw GalleryError("The rendition \(file.path) cannot be written.")
          }
        } catch {
          unlink(draft.path)
          throw error
        }
      }
    }

    /// Keeps the pictures of a content.
    func keep(_ set: RenditionSet, of hash: [UInt8]) throws {
      try put(set.small, hash, Kind.small.rawValue)
      try put(set.large, hash, Kind.large.rawValue)
      let time = seconds
      update(hash) { record in
        (record.state, record.placeholder, record.lastUse) = (.ready, set.placeholder.bytes, time)
        record.pictureAttempts = 0
        (record.smallSize, record.largeSize) = (UInt32(clamping: set.small.count), UInt32(clamping: set.large.count))
      }
      evict()
    }

    /// Keeps how a film is played.
    func keep(_ play: RenditionRecord.Play, size: UInt64, of hash: [UInt8]) {
      let time = seconds
      update(hash) { ($0.play, $0.playSize, $0.lastUse, $0.playAttempts) = (play, size, time, 0) }
      evict()
    }

    /// How often programs may be ended before they have made something, by a timeout or a signal, until that counts as
    /// their failure: a busy machine ends them once, and some files do each time.
    static let attempts: UInt8 = 3

    /// Records that something could not be made by these programs: that it cannot be, or one more attempt.
    /// - Parameter isPassing: whether the next attempt may succeed.
    func fail(_ reason: String, _ hash: [UInt8], isPlay: Bool, isPassing: Bool, programs: UInt64) {
      // Without its reason a failure is still one.
      try? put(Data(reason.utf8), hash, isPlay ? "why-play" : "why")
      update(hash) { record in
        if record.programs != programs {
          // What others could not do says nothing of these.
          if record.state == .failed { record.state = .none }
          if record.play == .failed { record.play = .unknown }
          (record.pictureAttempts, record.playAttempts, record.programs) = (0, 0, programs)
        }
        var attempts = isPlay ? record.playAttempts : record.pictureAttempts
        attempts = min(attempts + 1, Self.attempts)
        if isPlay { record.playAttempts = attempts } else { record.pictureAttempts = attempts }
        if isPassing, attempts < Self.attempts { return }
        if isPlay { record.play = .failed } else { record.state = .failed }
      }
    }

    /// Whether the disk has room, so that an error is the file's or a program's: a full disk fails in many ways.
    var hasRoom: Bool {
      var space = statvfs()
      guard statvfs(folder.path, &space) == 0 else { return false }
      return UInt64(space.f_bavail) * UInt64(space.f_frsize) > 64 << 20
    }

    /// Why something cannot be made.
    func reason(_ hash: [UInt8], isPlay: Bool) -> String {
      (try? String(contentsOf: file(hash, isPlay ? "why-play" : "why"), encoding: .utf8))
        ?? "The server's rendering programs cannot render this file."
    }

    /// Drops the records of missing or altered files.
    func forget(_ hash: [UInt8], _ kind: Kind) {
      update(hash) { record in
        if kind == .play {
          (record.play, record.playSize) = (.unknown, 0)
        } else {
          (record.state, record.smallSize, record.largeSize) = (.none, 0, 0)
        }
      }
    }

    // MARK: Erasing

    /// Removes the files and records of contents that are gone, placeholders included, and forgets what is in memory.
    /// An erasure by another process may have removed them from the folder already.
    /// - Parameter gone: returns those of some contents that no asset has.
    /// - Throws: what the closure throws; ``GalleryError`` if something cannot be removed.
    func erase(_ gone: ([[UInt8]]) throws -> Set<[UInt8]>) throws {
      var erased: Set<[UInt8]> = []
      for batch in kept().map(\.hash).inRuns(of: 4096) { erased.formUnion(try gone(Array(batch))) }
      try erase(erased)
      state.withLock { Self.reload(&$0, $0.file, $0.place) }
    }

    /// Removes the files and the records of contents.
    /// - Throws: ``GalleryError`` if something cannot be removed.
    func erase(_ hashes: Set<[UInt8]>) throws {
      if hashes.isEmpty { return }
      for hash in hashes {
        let endings = Kind.allCases.map(\.rawValue) + ["why", "why-play"]
        for ending in endings + endings.map({ $0 + Self.draftEnding }) {
          let file = file(hash, ending).path
          guard unlink(file) == 0 || errno == ENOENT else {
            throw GalleryError("The rendition \(file) of an erased asset cannot be removed; remove its folder.")
          }
        }
      }
      let isWritten = state.withLock { state in
        let zeros = [UInt8](repeating: 0, count: RenditionRecord.size)
        let written = Self.places(of: hashes, state).map { place in
          pwrite(state.file.descriptor, zeros, zeros.count, Int(place) * zeros.count) == zeros.count
        }
        Self.reload(&state, state.file, state.place)
        return written.allSatisfy(\.self)
      }
      guard isWritten else {
        throw GalleryError(
          "The records of erased assets in \(folder.path) cannot be overwritten; remove the folder.")
      }
    }

    /// The contents that have a record, with it; nil for a record that is damaged or was being written.
    ///
    /// They are read without the lock, which requests take: there may be a million. What changes meanwhile may be
    /// there as it was or as it is.
    private func kept() -> [(hash: [UInt8], record: RenditionRecord?)] {
      let (file, places) = state.withLock { ($0.file, Array($0.places.values)) }
      defer { withExtendedLifetime(file) {} }
      var bytes = [UInt8](repeating: 0, count: RenditionRecord.size)
      return places.sorted().compactMap { place in
        guard pread(file.descriptor, &bytes, bytes.count, Int(place) * bytes.count) == bytes.count else { return nil }
        let hash = Array(bytes[..<32])
        return hash.contains { $0 != 0 } ? (hash, RenditionRecord(bytes, of: hash)) : nil
      }
    }

    /// Where the records of contents are; one whose first bytes are those of another content is not among them.
    private static func places(of hashes: Set<[UInt8]>, _ state: State) -> [UInt32] {
      hashes.compactMap { hash in
        guard let place = state.places[RenditionRecord.number(hash, 0, 8)] else { return nil }
        var found = [UInt8](repeating: 0, count: hash.count)
        let count = pread(state.file.descriptor, &found, found.count, Int(place) * RenditionRecord.size)
        return count == hash.count && found == hash ? place : nil
      }
    }

    /// Forgets what is in memory, and reads the records of a file.
    private static func reload(_ state: inout State, _ file: RecordFile, _ place: Place) {
      let (revision, isReleased) = (state.revision, state.isReleased)
      state = load(file, in: place)
      (state.revision, state.isReleased) = (revision + 1, isReleased)
    }

    /// Records the use of a content, at most once an hour.
    func touch(_ hash: [UInt8], _ record: RenditionRecord) {
      let time = seconds
      if time > record.lastUse &+ 3600 { update(hash) { $0.lastUse = time } }
    }

    private var seconds: UInt32 { UInt32(clamping: Int64(now().timeIntervalSince1970)) }

    // MARK: The budget

    /// Removes what was not looked at for longest, until nine tenths of the budget are left; placeholders stay.
    private func evict() {
      guard total > budget else { return }
      let all = kept().compactMap { hash, record in record.map { (hash: hash, record: $0) } }
        .filter { $0.record.total > 0 }
      for (hash, record) in all.sorted(by: { $0.record.lastUse < $1.record.lastUse }) {
        if total <= budget / 10 * 9 { return }
        if record.playSize > 0 { forget(hash, .play) }
        if record.state == .ready { forget(hash, .small) }
        for kind in Kind.allCases { unlink(file(hash, kind).path) }
      }
    }
  }
#endif
