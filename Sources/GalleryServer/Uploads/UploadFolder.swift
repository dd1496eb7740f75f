#if Gallery
  import CSystem
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // Where uploads lie.
  //
  //   LIBRARY/server/uploads/
  //     lock               held by the server that takes uploads of this library
  //     ID.bytes[.jpg]     what came; the ending helps exiftool with RAW files
  //     ID.xmp             the sidecar that came with a file
  //     ID.json            the record of an upload that can be resumed
  //     ID.done            the record of one that is finished, with its answer
  //
  // A record is replaced as a whole: written beside, fsynced, renamed, and the folder fsynced, so that after any crash
  // there is the old one or the new one. Bytes without a record are those of a plain request, or of an upload that was
  // cut before it was named; they are removed when a server starts. `done` is written before the rest is removed.
  //
  // A record that cannot be read, as one of another user or on a bad sector, is kept with its bytes and named in the
  // log; the other uploads go on. Where the process or the machine can open no more files, nothing is known of any.

  /// The files of uploads.
  final class UploadFolder: Sendable {
    /// How bytes are written; a test puts a full disk here.
    typealias Writing = @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ offset: off_t) -> Int
    /// How written bytes are made durable; a test puts a disk here that fails to.
    typealias Synchronizing = @Sendable (_ descriptor: Int32) -> Int32

    static let name = "server/uploads"

    private let folder: LibraryFolder
    private let lock: FileLock
    let now: @Sendable () -> Date
    private let writing: Writing
    private let synchronizing: Synchronizing

    /// - Throws: ``Problem`` 503 if another server has the folder; ``LibraryError`` `.storage`, `.notEnoughSpace`.
    init(
      _ folder: LibraryFolder, now: @escaping @Sendable () -> Date, writing: @escaping Writing,
      synchronizing: @escaping Synchronizing
    ) throws {
      (self.folder, self.now, self.writing, self.synchronizing) = (folder, now, writing, synchronizing)
      try folder.makeFolder("server", 0o700)
      try folder.makeFolder(Self.name)
      try folder.synchronize("server")
      let lock = try FileLock(folder.open("\(Self.name)/lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)) { code in
        Self.failure("lock", code)
      }
      guard let lock else {
        throw Problem(503, "library-offline", "Another server accepts the uploads of this library; send them there.")
      }
      self.lock = lock
    }

    /// Lets another server take uploads; nothing is written by this value afterwards.
    func release() { lock.release() }

    private static func failure(_ action: String, _ code: Int32) -> LibraryError {
      LibraryError(
        code == ENOSPC || code == EDQUOT || code == EFBIG
          ? .notEnoughSpace : Problem.isOfDescriptors(code) ? .libraryOffline : .storage,
        "The server cannot \(action) the file of an upload: \(String(cString: strerror(code))).")
    }

    private func place(_ file: String) -> String { "\(Self.name)/\(file)" }

    /// The name of an upload's bytes in the library's directory.
    func libraryName(of record: UploadRecord) -> String { place(record.file) }

    func path(of record: UploadRecord) -> FilePath { FilePath(folder.path(of: place(record.file))) }

    // MARK: Bytes

    func open(_ file: String) throws -> Int32 {
      let descriptor = folder.open(place(file), O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw Self.failure("open", errno) }
      return descriptor
    }

    func close(_ descriptor: Int32) { Foundation.close(descriptor) }

    /// - Returns: how many bytes were written: all of them.
    func write(_ bytes: [UInt8], to descriptor: Int32, at offset: UInt64) throws -> Int {
      var done = 0
      while done < bytes.count {
        let count = bytes.withUnsafeBytes { bytes in
          writing(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]), off_t(offset) + off_t(done))
        }
        if count > 0 { done += count } else if errno != EINTR { throw Self.failure("write", errno) }
      }
      return done
    }

    /// Writes the sidecar of an upload.
    /// - Returns: its name in the library's directory.
    func write(sidecar bytes: [UInt8], of record: UploadRecord) throws -> String {
      let descriptor = try open(record.sidecar)
      defer { close(descriptor) }
      _ = try write(bytes, to: descriptor, at: 0)
      return place(record.sidecar)
    }

    func truncate(_ descriptor: Int32, to count: UInt64) throws {
      guard ftruncate(descriptor, off_t(count)) == 0 else { throw Self.failure("cut", errno) }
    }

    func synchronize(_ descriptor: Int32) throws {
      guard synchronizing(descriptor) == 0 else { throw Self.failure("make durable", errno) }
    }

    /// Lets the kernel begin to write out what a file has, without waiting for it.
    func beginWritingOut(_ descriptor: Int32) { psys_begin_writing_out(descriptor) }

    /// The state of an upload's bytes; nil if they are not a file.
    func stamp(of record: UploadRecord) -> FileStamp? {
      folder.status(of: place(record.file)).flatMap { $0.st_mode & S_IFMT == S_IFREG ? FileStamp($0) : nil }
    }

    /// How many bytes the disk has left for uploads.
    var room: UInt64 {
      guard let status = folder.fileSystem else { return .max }
      return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// Whether the disk has room for more bytes beside its reserve.
    func hasRoom(for bytes: UInt64, keeping reserve: UInt64) -> Bool {
      let room = room
      return room >= reserve && room - reserve >= bytes
    }

    /// Checks that the disk has room for more bytes beside its reserve.
    /// - Throws: ``LibraryError`` `.notEnoughSpace`.
    func checkRoom(for bytes: UInt64, keeping reserve: UInt64) throws {
      guard hasRoom(for: bytes, keeping: reserve) else { throw Self.failure("write", ENOSPC) }
    }

    // MARK: Records

    /// Replaces the record of an upload.
    func keep(_ record: UploadRecord) throws {
      try put(record.json, at: "\(record.id).json")
    }

    /// Writes the record of a finished upload, and removes the rest.
    func finish(_ record: UploadRecord) throws {
      try put(record.json, at: "\(record.id).done")
      remove(record)
    }

    private func put(_ json: JSON, at name: String) throws {
      let (new, final) = (place(name + ".new"), place(name))
      let descriptor = folder.open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw Self.failure("make", errno) }
      defer { Foundation.close(descriptor) }
      _ = try write(Array(json.description.utf8), to: descriptor, at: 0)
      // The time of the file is the server's, which decides when it is too old.
      let seconds = now().timeIntervalSince1970
      let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
      let times = [time, time]
      guard futimens(descriptor, times) == 0, fsync(descriptor) == 0 else { throw Self.failure("make durable", errno) }
      let code = folder.rename(new, to: final)
      guard code == 0 else { throw Self.failure("rename", code) }
      try folder.synchronize(Self.name)
    }

    /// Removes the bytes and the record of an unfinished upload.
    func remove(_ record: UploadRecord) {
      folder.remove(place(record.file))
      folder.remove(place(record.sidecar))
      folder.remove(place("\(record.id).json"))
    }

    /// The record of a finished upload; nil if there is none.
    /// - Throws: ``LibraryError`` if it cannot be read now.
    func finished(_ id: String) throws -> UploadRecord? { try read("\(id).done") }

    func removeFinished(_ id: String) { folder.remove(place("\(id).done")) }

    /// Opens a file that an earlier server left.
    /// - Returns: nil if it is not there, or is not a file.
    /// - Throws: ``LibraryError`` if it cannot be opened now, which does not mean that it is of no use.
    private func left(_ name: String, _ flags: Int32) throws -> Int32? {
      let descriptor = folder.open(place(name), flags | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else {
        let code = errno
        guard [ENOENT, ELOOP, ENXIO].contains(code) else { throw Self.failure("open", code) }
        return nil
      }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        Foundation.close(descriptor)
        return nil
      }
      return descriptor
    }

    private func read(_ name: String) throws -> UploadRecord? {
      guard let descriptor = try left(name, O_RDONLY) else { return nil }
      defer { Foundation.close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = Foundation.read(descriptor, &bytes, bytes.count)
      guard count >= 0 else { throw Self.failure("read", errno) }
      return count > 0 ? UploadRecord(Array(bytes[..<count])) : nil
    }

    /// What an earlier server left: unfinished uploads, each cut to what its record promises, and the records of
    /// finished ones, the oldest first. What cannot be read is left as it is; the rest is removed.
    /// - Returns: the records, and why others could not be read, by the identifier of the upload.
    /// - Throws: ``LibraryError``, ``Problem`` if no more files can be opened now; nothing is removed then.
    func load(
      olderThan oldest: Date
    ) throws -> (unfinished: [UploadRecord], finished: [UploadRecord], unreadable: [String: LibraryError]) {
      let names: [String]
      do { names = try FileManager.default.contentsOfDirectory(atPath: folder.path(of: Self.name)) } catch {
        var problem = Problem(503, "library-offline", "The server cannot list the uploads now; try again later.")
        problem.note = error.localizedDescription
        throw problem
      }
      let done = Set(names.filter { $0.hasSuffix(".done") }.map { $0.dropLast(5) })
      var (records, finished): ([UploadRecord], [UploadRecord]) = ([], [])
      var unreadable: [String: LibraryError] = [:]
      for name in names {
        let isFinished = name.hasSuffix(".done")
        guard isFinished || name.hasSuffix(".json") && !done.contains(name.dropLast(5)) else { continue }
        do {
          guard let record = try read(name), record.id == name.dropLast(5), record.touched >= oldest else { continue }
          if isFinished { finished.append(record) } else if try isCut(record) { records.append(record) }
        } catch let error as LibraryError where error.code != .libraryOffline {
          unreadable[Self.upload(of: name)] = error
        }
      }
      var kept: Set = ["lock"]
      for record in records { kept.formUnion(["\(record.id).json", record.file]) }
      for record in finished { kept.insert("\(record.id).done") }
      for name in names where !kept.contains(name) && unreadable[Self.upload(of: name)] == nil {
        folder.remove(place(name))
      }
      return (records, finished.sorted { $0.touched < $1.touched }, unreadable)
    }

    /// The identifier of the upload that a file belongs to.
    private static func upload(of name: String) -> String { String(name.prefix { $0 != "." }) }

    /// Cuts the bytes of an upload to those that are durable; false if they are not there. The file of a whole upload
    /// may be the library's already: it is not written, and often cannot be.
    private func isCut(_ record: UploadRecord) throws -> Bool {
      guard !record.file.contains("/"), record.file.hasPrefix(record.id),
        let read = try left(record.file, O_RDONLY)
      else { return false }
      defer { Foundation.close(read) }
      var status = stat()
      guard fstat(read, &status) == 0, UInt64(status.st_size) >= record.offset else { return false }
      if UInt64(status.st_size) == record.offset { return true }
      guard !record.isWhole, let written = try left(record.file, O_WRONLY) else { return false }
      defer { Foundation.close(written) }
      try truncate(written, to: record.offset)
      return true
    }
  }
#endif
