internal import Foundation
internal import PhotoLedger

// The work on the files of a batch, away from the run, which is used by one task: what is handed to threads, and what
// comes back from them.

extension ImportRun {
  /// A file whose content is known.
  struct HashedFile: Sendable {
    let index: Int
    let path: FilePath
    let content: FileContent
    /// Where its bytes are, if not at its path.
    var place: FilePath?
    /// The name of the library's own copy of a member of an archive.
    var copy: String?
    var unit: [UInt8]?
    var note: MediaNote?
    var edit: AppleEdits.Part?

    /// Reads a small file; nil for one that is too long.
    typealias Reading = @Sendable () throws(ImportError) -> HashedFile?

    /// What is planned together has the same.
    var unitBytes: ArraySlice<UInt8> { unit.map { $0[...] } ?? path.stemBytes }

    var bytes: FilePath { place ?? path }
  }

  /// What came of the files with one content.
  struct Attempt: Sendable {
    var taken: PreparedFile?
    var outcomes: [Int: FileOutcome] = [:]
    /// The adjustment data of the file that was taken, or of one of its name, with when they were read.
    var adjustment: (file: PreparedAdjustment, content: FileContent, began: Date)?
  }

  /// Each run of files of one name that was read, by its position in the batch; nil for one that was left.
  typealias HashResults = [[(Int, Result<HashedFile, ImportError>)]?]

  /// A batch whose metadata are being read.
  struct BatchReading {
    /// The files whose contents are known.
    let files: Range<Int>
    let hashed: [HashedFile]
    let outcomes: [Int: FileOutcome]
    /// What came of the files, and where those that were left begin.
    let preparing: Task<Prepared, any Error>
    /// The contents of the next batch.
    let hashing: Hashing?

    /// Waits for the end of the work, whatever comes of it.
    func end() async {
      _ = await preparing.result
      _ = await hashing?.task.result
    }
  }

  /// The reading of the candidates of a batch to their end, under way.
  struct Hashing {
    let task: Task<Hashed, any Error>
    let isDone: StopFlag
  }

  /// What was read of the candidates of a batch.
  struct Hashed: Sendable {
    let files: Range<Int>
    let results: HashResults
    let began: Date
  }

  /// What is known of files that belong to a later batch.
  struct Ahead {
    var hashed: [Int: HashedFile] = [:]
    var outcomes: [Int: FileOutcome] = [:]
  }

  /// A batch whose bytes are in place and whose metadata are read.
  struct GatheredBatch {
    let files: Range<Int>
    let prepared: [PreparedFile]
    let adjustments: [PreparedAdjustment]
    let outcomes: [Int: FileOutcome]
  }

  struct Candidate: Sendable {
    let index: Int
    let file: ScannedFile
    /// What is known of it already.
    let known: HashedFile?
  }

  /// Candidates whose names differ in the extension only.
  struct NamedAlike: Sendable {
    let position: Int
    let files: [Candidate]
  }

  /// The reading of candidates to their end.
  struct HashWork: Sendable {
    let files: Range<Int>
    let runs: [NamedAlike]
    let copies: MemberCopies?
    let large: LargeFiles
    let began: Date
    let width: Int
    let pace: Pace
    let stop: StopFlag

    func done() async throws -> Hashed {
      // Without anything to read, no thread is started.
      if runs.allSatisfy({ $0.files.allSatisfy { $0.known != nil } }) {
        let known: HashResults = runs.map { run in
          self.stop.isSet ? nil : run.files.compactMap { file in file.known.map { (file.index, .success($0)) } }
        }
        return Hashed(files: files, results: known, began: began)
      }
      let (copies, large, pace, stop) = (copies, large, pace, self.stop)
      let results = try await onThreads(runs, width: width) {
        (run) throws(ImportError) -> [(Int, Result<HashedFile, ImportError>)]? in
        if pace.leaves(run.position) { return nil }
        var results: [(Int, Result<HashedFile, ImportError>)] = []
        for file in run.files {
          let result: Result<HashedFile, ImportError> =
            file.known.map { .success($0) } ?? ImportRun.hashed(file.index, file.file, copies, large, stop)
          // What was being read when the import was stopped is not reached, and neither is what belongs to it.
          if case .failure(let error) = result, error.code == .cancelled { return nil }
          results.append((file.index, result))
        }
        return results
      }
      return Hashed(files: files, results: results, began: began)
    }
  }

  /// What is known of files that are large before they are read to their end.
  ///
  /// A photo or video of this size is read all the same. A disk image or a backup is not: that takes hours, during
  /// which nothing is recorded, and the outcome needs no content.
  struct LargeFiles: Sendable {
    let tool: ExifTool
    /// Files of more bytes are large.
    let byteCount: Int64

    /// Why a large file need not be read: it is not a photo or video, and was not written to while exiftool said so.
    /// - Returns: nil for all others, and where exiftool did not come to an answer: the reading decides.
    /// - Throws: ``LibraryError`` as the reading, for a file that cannot be opened or changes.
    func reasonToLeave(
      _ file: ScannedFile, at path: FilePath, _ stop: StopFlag
    ) throws(LibraryError) -> ImportError? {
      guard file.byteCount > byteCount else { return nil }
      let source = try SourceFile(path)
      guard let reason = notMedia(file, at: path, stop) else { return nil }
      try source.checkUnchanged(bytesRead: source.stamp.byteCount)
      return reason
    }

    /// What exiftool says about a file that is not a photo or video; nil for anything else that it says.
    private func notMedia(_ file: ScannedFile, at path: FilePath, _ stop: StopFlag) -> ImportError? {
      do throws(ImportError) {
        let tags = try tool.tags(of: path, isFast: true, isCancelled: { stop.isSet })
        _ = try FileWork.metadata(tags, of: file.path)
        return nil
      } catch {
        return error.code == .notMedia ? error : nil
      }
    }
  }

  /// Reads a file to its end, unless it is large and not a photo or video.
  static func hashed(
    _ index: Int, _ file: ScannedFile, _ copies: MemberCopies?, _ large: LargeFiles, _ stop: StopFlag
  ) -> Result<HashedFile, ImportError> {
    do throws(LibraryError) {
      let path = file.bytes(in: copies)
      if let reason = try large.reasonToLeave(file, at: path, stop) { return .failure(reason) }
      let content = try FileContent(of: path) { stop.isSet }
      return .success(HashedFile(index: index, file, content: content, copies))
    } catch {
      return .failure(ImportError(error, path: file.path))
    }
  }

  /// What came of the files of a batch, and where those that were left begin.
  struct Prepared: Sendable {
    let attempts: [Attempt]
    let end: Int
  }

  /// The reading of metadata, and the putting of bytes into the library.
  struct PrepareWork: Sendable {
    /// Files that are named alike, by their contents.
    struct Piece: Sendable {
      let position: Int
      let start: Int
      let groups: [[HashedFile]]
      let adjustment: HashedFile.Reading?
    }

    let end: Int
    let pieces: [Piece]
    let file: FileWork
    let pace: Pace
    let progress: ProgressCounter
    let began: Date
    let width: Int

    func done() async throws -> Prepared {
      let results = try await onThreads(pieces, width: width) { (piece) throws(ImportError) -> [Attempt]? in
        if pace.leaves(piece.position) { return nil }
        return try attempts(piece)
      }
      let count = results.firstIndex { $0 == nil } ?? results.count
      return Prepared(
        attempts: results.prefix(count).flatMap { $0 ?? [] }, end: count < pieces.count ? pieces[count].start : end)
    }

    /// What comes of files that are named alike; nil if the import was stopped meanwhile.
    private func attempts(_ piece: Piece) throws(ImportError) -> [Attempt]? {
      var attempts: [Attempt] = []
      for group in piece.groups {
        guard let attempt = try file.attempt(group, progress) else { return nil }
        attempts.append(attempt)
      }
      // Without it, the files of its name would be recorded, and it would never be.
      guard let adjustment = piece.adjustment, ImportPlanner.takesAdjustment(attempts.compactMap(\.taken)) else {
        return attempts
      }
      do throws(ImportError) {
        if let (data, content) = try file.adjustment(adjustment()) { attempts[0].adjustment = (data, content, began) }
      } catch {
        if error.code == .cancelled { return nil }
        guard error.concernsOneFile else { throw error }
      }
      return attempts
    }
  }
}

extension ImportRun.HashedFile {
  init(index: Int, _ file: ScannedFile, content: FileContent, _ copies: MemberCopies?) {
    self.init(
      index: index, path: file.path, content: content, place: file.bytes(in: copies), copy: file.copy,
      unit: file.unit, note: file.note, edit: file.edit)
  }
}

extension ScannedFile {
  /// Where the bytes of the file are.
  func bytes(in copies: MemberCopies?) -> FilePath {
    guard let copy, let copies else { return path }
    return copies.path(of: copy)
  }
}

extension FileOutcome {
  /// What a later import has to know of a file whose content decided; nil if something else did.
  var condition: KnownFile.Condition? {
    switch self {
    case .asset, .resource, .duplicateOfAsset, .duplicateOfFile: .taken
    case .skipped(.notMedia, _): .left
    default: nil
    }
  }
}
