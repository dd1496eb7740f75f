internal import Foundation
internal import Glibc
internal import PhotoLedger

/// What is done with one new file: metadata, then bytes.
struct FileWork: Sendable {
  enum Outcome {
    case taken(PreparedFile)
    case skipped(FileOutcome)
  }

  let resources: ResourceStore
  let tool: ExifTool
  let leavesFilesInPlace: Bool
  /// Whether files are examined and not stored.
  var isDryRun = false
  let stop: StopFlag
  var wishes = StatementWishes()
  /// When photos were taken that are imported; nil: whenever.
  var dates: ClosedRange<Date>?

  /// Takes the first of the files with one content that can be taken.
  /// - Returns: nil if the import was stopped meanwhile.
  func attempt(_ group: [ImportRun.HashedFile], _ progress: ProgressCounter) throws(ImportError) -> ImportRun.Attempt? {
    var attempt = ImportRun.Attempt()
    for file in group {
      if let taken = attempt.taken {
        attempt.outcomes[file.index] = .duplicateOfFile(taken.path)
      } else {
        do throws(ImportError) {
          switch try prepare(file) {
          case .taken(let prepared): attempt.taken = prepared
          case .skipped(let outcome): attempt.outcomes[file.index] = outcome
          }
        } catch  where error.code == .cancelled {
          return nil
        }
      }
      progress.fileDone(file.index, byteCount: file.content.byteCount)
    }
    return attempt
  }

  /// - Throws: What ends the import; what concerns this file alone is an outcome.
  func prepare(_ file: ImportRun.HashedFile) throws(ImportError) -> Outcome {
    do throws(ImportError) {
      let isThorough = try !endsAsJPEG(file)
      let tags = try tool.tags(of: file.bytes, isThorough: isThorough, isCancelled: { stop.isSet })
      var metadata = try Self.metadata(tags, of: file.path)
      if let reason = outOfRange(file, metadata) { return .skipped(.skipped(.excluded, reason)) }
      if metadata.mayLackPixels { metadata.warnings = try lackOfPixels(file) }
      let stored = try place(file)
      return .taken(
        PreparedFile(
          index: file.index, path: file.path, stored: stored, metadata: metadata, name: file.note?.name,
          unit: file.unit, note: file.note, isRendition: file.edit == .rendition, wishes: wishes))
    } catch {
      guard error.concernsOneFile else { throw error }
      return .skipped(.skipped(SkipReason(error), error.description))
    }
  }

  /// What a photo or video says of itself.
  /// - Throws: ``ImportError`` `notMedia` for anything else.
  static func metadata(_ tags: ExifTags, of path: FilePath) throws(ImportError) -> MediaMetadata {
    guard let metadata = MediaMetadata(tags), metadata.mediaType != .audio else {
      let type = tags.text("MIMEType") ?? tags.text("Error") ?? "unknown"
      throw ImportError(.notMedia, path: path.description, "\(path) is not a photo or video (\(type)).")
    }
    return metadata
  }

  /// The warning that a file is cut off in its pixels; none if exiftool fails to validate it.
  private func lackOfPixels(_ file: ImportRun.HashedFile) throws(ImportError) -> [String] {
    do throws(ImportError) {
      let tags = try tool.tags(of: file.bytes, isValidated: true, isCancelled: { stop.isSet })
      return MediaMetadata.lackOfPixels(tags)
    } catch  where error.concernsOneFile {
      return []
    }
  }

  /// Reads adjustment data and puts their bytes into the library.
  /// - Returns: nil for what is too long, or no adjustment data.
  /// - Throws: What concerns the file, or ends the import; `cancelled` if it was stopped meanwhile.
  func adjustment(
    _ file: ImportRun.HashedFile?
  ) throws(ImportError) -> (file: PreparedAdjustment, content: FileContent)? {
    guard let file, file.content.byteCount <= SmallFile.descriptionLimit else { return nil }
    let tags = try tool.tags(of: file.bytes, isCancelled: { stop.isSet })
    guard let format = AdjustmentFormat(tags) else { return nil }
    let adjustment = PreparedAdjustment(
      index: file.index, path: file.path, stored: try place(file), format: format, unit: Array(file.unitBytes))
    return (adjustment, file.content)
  }

  /// Whether the last bytes of a file are those of a whole JPEG (ITU-T T.81, B.1.1.3: the marker EOI). One with other
  /// bytes at its end is truncated or has data after the picture; exiftool decides, which takes longer.
  private func endsAsJPEG(_ file: ImportRun.HashedFile) throws(ImportError) -> Bool {
    try Self.endsAsJPEG(file.bytes)
  }

  /// Why a file is left out by its date; nil if it is not.
  private func outOfRange(_ file: ImportRun.HashedFile, _ metadata: MediaMetadata) -> String? {
    guard let dates else { return nil }
    let facts = StatedFacts(file.note?.layers ?? [], beside: metadata, wishes)
    guard let time = facts.captureTime else {
      return "\(file.path) has no date of capture, and a range of dates was given."
    }
    if dates.contains(time.date) { return nil }
    return "\(file.path) was taken at \(time.reading), outside of the given range."
  }

  static func endsAsJPEG(_ path: FilePath) throws(ImportError) -> Bool {
    do throws(LibraryError) {
      let source = try SourceFile(path)
      var end: [UInt8] = [0, 0]
      let count = pread(source.descriptor.number, &end, end.count, off_t(max(0, source.stamp.byteCount - 2)))
      return count == 2 && end == [0xFF, 0xD9]
    } catch {
      throw ImportError(error, path: path)
    }
  }

  /// Puts the bytes of a content that the library has lost into it again, from the first of the files with it that can
  /// be read.
  /// - Returns: that file, nil for none, and the outcomes of those that could not be read.
  /// - Throws: What ends the import.
  func restore(
    _ group: [ImportRun.HashedFile]
  ) throws(ImportError) -> (restored: Int?, outcomes: [Int: FileOutcome]) {
    var outcomes: [Int: FileOutcome] = [:]
    for file in group {
      if stop.isSet {
        outcomes[file.index] = .notReached
        continue
      }
      do throws(ImportError) {
        _ = try place(file)
        return (file.index, outcomes)
      } catch  where error.code == .cancelled {
        outcomes[file.index] = .notReached
      } catch {
        guard error.concernsOneFile else { throw error }
        outcomes[file.index] = .skipped(SkipReason(error), error.description)
      }
    }
    return (nil, outcomes)
  }

  private func place(_ file: ImportRun.HashedFile) throws(ImportError) -> StoredContent {
    do throws(LibraryError) {
      var stored: StoredContent
      let isCancelled: @Sendable () -> Bool = { [stop] in stop.isSet }
      if leavesFilesInPlace {
        stored = try resources.reference(
          fileAt: file.bytes, expecting: file.content.sha256, isCancelled: isCancelled)
      } else if isDryRun {
        stored = try resources.examine(fileAt: file.bytes, expecting: file.content.sha256, isCancelled: isCancelled)
      } else if let copy = file.copy {
        try makeDurable(file.bytes)
        stored = try resources.adopt(copy, file.content)
      } else {
        stored = try resources.store(fileAt: file.path, expecting: file.content.sha256, isCancelled: isCancelled)
      }
      stored.sha1 = file.content.sha1
      return stored
    } catch {
      throw ImportError(error, path: file.path)
    }
  }

  /// Makes the bytes of a copy durable, as `adopt` wants them.
  private func makeDurable(_ path: FilePath) throws(LibraryError) {
    let number = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard number >= 0 else { throw LibraryError.store(path.description, "open", errno: errno) }
    let file = Descriptor(number)
    guard fsync(file.number) == 0 else { throw LibraryError.store(path.description, "make durable", errno: errno) }
  }
}
