#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger
  import Synchronization

  // Recently sent files of the library, kept open.
  //
  //   path ─▶ descriptor, with what fstat said when it was opened
  //             │ before each use, and at each sweep: fstat again
  //             ├─ the same                        ─▶ sent from it
  //             └─ removed, renamed, another size  ─▶ closed; the path is opened anew, or is missing
  //
  // Opening walks a path of six names; a file of a grid's screen is asked for by several people and several times. The
  // time of the last change of an inode moves with its size, its content, its names and its modes, so what differs in
  // it is not the file that was checked.
  //
  // Invariant: whether a client may have a file is decided for each request, before it is looked for here. At most
  // `limit` descriptors are kept, and none of a removed file for longer than to the next sweep: each commit and every
  // few seconds there is one, so that erased bytes leave the disk.
  //
  // A small file is kept as the response that it is sent in, so that sending it again reads and builds nothing. The
  // response is part of what is kept of the file, and goes with it: it is sent only after the same `fstat`.
  //
  // Rejected: the bytes of larger files in memory (the kernel keeps them once, for all processes); files outside the
  // library (a disk with an open file cannot be unmounted).

  /// Descriptors of recently sent files.
  final class OpenFiles: Sendable {
    private struct Kept {
      let file: HTTPFile
      let status: stat
      var lastUse: UInt64
      /// The response that it was last sent in, whole, and what is asked of it beside its bytes.
      var made: (look: FileLook, response: HTTPMadeResponse)?
    }

    private struct State {
      var kept: [String: Kept] = [:]
      var clock: UInt64 = 0
    }

    static let limit = 128
    private let state = Mutex(State())

    /// How many descriptors are kept.
    var count: Int { state.withLock { $0.kept.count } }

    /// The file at a path, which has to have a size.
    /// - Parameters:
    ///   - path: the path; one in the library's folder is relative to it.
    ///   - folder: the folder of the library; nil for an absolute path.
    ///   - size: in bytes.
    /// - Throws: ``Problem`` 404 if it is missing, 500 if it has another size.
    func file(_ path: String, in folder: LibraryFolder? = nil, size: UInt64) throws(Problem) -> HTTPFile {
      if let known = used(path), UInt64(known.status.st_size) == size, Self.isUnchanged(known) { return known.file }
      let opened = try? FileAnswer.open(path, in: folder, size: size)
      state.withLock { state in
        state.kept[path] = opened.map { Kept(file: $0.file, status: $0.status, lastUse: state.clock) }
        guard state.kept.count > Self.limit, let oldest = state.kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return }
        state.kept[oldest.key] = nil
      }
      guard let opened else { return try FileAnswer.open(path, in: folder, size: size).file }
      return opened.file
    }

    /// What is kept of a path, which is used now.
    private func used(_ path: String) -> Kept? {
      state.withLock { state in
        state.clock += 1
        return Self.use(&state.kept[path], at: state.clock)
      }
    }

    private static func use(_ kept: inout Kept?, at clock: UInt64) -> Kept? {
      kept?.lastUse = clock
      return kept
    }

    /// The response in which a whole file was last sent, if it was sent in that look, and is as it was.
    func made(_ path: String, _ look: FileLook, size: UInt64) -> HTTPMadeResponse? {
      guard size <= HTTPResponse.copiedSize, let known = used(path), let made = known.made, made.look == look,
        UInt64(known.status.st_size) == size, Self.isUnchanged(known)
      else { return nil }
      return made.response
    }

    /// Keeps the response in which a whole file is sent.
    func keep(_ response: HTTPMadeResponse, _ look: FileLook, of file: HTTPFile, at path: String) {
      state.withLock { state in
        if state.kept[path]?.file === file { state.kept[path]?.made = (look, response) }
      }
    }

    /// How many responses are kept.
    var madeCount: Int { state.withLock { $0.kept.values.count { $0.made != nil } } }

    /// Closes what is not as it was opened.
    func sweep() {
      for (path, kept) in state.withLock({ $0.kept }) where !Self.isUnchanged(kept) {
        state.withLock { state in
          if state.kept[path]?.file === kept.file { state.kept[path] = nil }
        }
      }
    }

    private static func isUnchanged(_ kept: Kept) -> Bool {
      var now = stat()
      let then = kept.status
      return fstat(kept.file.descriptor, &now) == 0 && now.st_nlink > 0 && now.st_size == then.st_size
        && now.st_ctim.tv_sec == then.st_ctim.tv_sec && now.st_ctim.tv_nsec == then.st_ctim.tv_nsec
    }
  }
#endif
