internal import Glibc
internal import PhotoLedger

/// What wrote the files that are imported.
public enum MediaExport: String, Sendable, Hashable, CaseIterable {
  /// No program: folders with photos.
  case folders
  /// Google Takeout: folders and archives of one export, all parts together.
  case takeout
  /// An export of iCloud Photos: folders and archives, all parts together.
  case iCloud
}

// From the names on a command line to a catalog.
//
//     roots ──▶ walk of folders, pass over archives ──▶ small files read ──▶ the source's rules ──▶ equal files joined
//
// A part that is an archive is read here, to its end, before anything is recorded; see ArchivePass.

/// Reads a source of media.
struct SourceReading: Sendable {
  let export: MediaExport
  let options: LibraryImport.Options
  let tool: ExifTool
  let copies: MemberCopies?
  let stop: StopFlag
  /// What earlier imports read; nil: nothing is known.
  var known: KnownFiles?

  private var width: Int { options.threadCount ?? tool.processCount * 2 }

  /// Reads all parts together.
  /// - Throws: ``ImportError`` for a root that is not there, or an archive that is rejected or damaged.
  func catalog(of roots: [FilePath]) async throws(ImportError) -> MediaCatalog {
    // What is known is read while the folders are walked.
    async let refreshed: Void? = known?.refresh()
    let found = try await files(in: roots)
    _ = await refreshed
    return try await catalog(of: consume found)
  }

  /// The same for files that have been found already.
  func catalog(of found: consuming [ScannedFile]) async throws(ImportError) -> MediaCatalog {
    var files = withKnownContents(export == .folders ? AppleEdits.arranged(consume found) : consume found)
    var catalog: MediaCatalog
    switch export {
    case .folders where options.readsSidecars:
      let statements = try await statements(files)
      statements.settleUnread(in: &files)
      catalog = SidecarSource(options: options, files: files, statements: statements.records).catalog()
    case .folders: catalog = FolderSource(options: options).catalog(of: files)
    case .takeout:
      let records = try await described(files, "json", atMost: SmallFile.descriptionLimit) { TakeoutRecord($0) }
      records.settleUnread(in: &files)
      catalog = TakeoutSource(options: options, files: files, records: records.records).catalog()
    case .iCloud:
      let lists = try await described(files, "csv", atMost: SmallFile.listLimit) { CSVText.rows($0) }
      lists.settleUnread(in: &files)
      catalog = ICloudSource(files: files, lists: lists.records).catalog()
    }
    if options.formsStacks, export == .folders { catalog.edited = EditedCopy.named(in: catalog.files) }
    catalog.copies = copies
    try await join(&catalog)
    return catalog
  }

  /// Files that are what they were when an earlier import read them need not be read again.
  private func withKnownContents(_ files: consuming [ScannedFile]) -> [ScannedFile] {
    guard let known else { return files }
    for index in files.indices {
      guard files[index].role == .candidate || files[index].edit != nil, files[index].content == nil,
        let stamp = files[index].stamp, let content = known.content(of: files[index].path, stamp)
      else { continue }
      (files[index].content, files[index].isKnown) = (content, true)
    }
    return files
  }

  private var scan: FolderScan {
    var scan = FolderScan()
    scan.excluded = options.excludedFolders
    scan.selection = NameSelection(included: options.includedNames, excluded: options.excludedNames)
    return scan
  }

  /// The files of all roots: those of folders first, as one walk, then those of archives.
  private func files(in roots: [FilePath]) async throws(ImportError) -> [ScannedFile] {
    guard export != .folders else { return try scan.files(in: roots) }
    var archives: [(path: FilePath, format: ArchivePass.Format)] = []
    var folders: [FilePath] = []
    for root in roots {
      let status = try FolderScan.status(ofRoot: root)
      if status.st_mode & S_IFMT == S_IFDIR {
        folders.append(root)
        continue
      }
      let path = FolderScan.canonical(root)
      guard let format = try ArchivePass.Format(of: path) else {
        throw ImportError(
          .notFound, path: root.description,
          "\(root) is neither a folder nor an archive (.zip, .tgz, .tar); name the parts of the export.")
      }
      if !archives.contains(where: { $0.path == path }) { archives.append((path, format)) }
    }
    var files = try scan.files(in: folders)
    Self.settleArchives(in: &files, named: Set(archives.map(\.path)))
    if archives.isEmpty { return files }
    guard let copies else { preconditionFailure("An import that reads archives has a library's folder.") }
    let pass = ArchivePass(copies: copies, selection: scan.selection, stop: stop)
    // Two at a time: one unpacks while the other hashes.
    for list in try await onThreads(
      archives, width: 2,
      { (archive) throws(ImportError) in
        try pass.files(of: archive.path, archive.format)
      })
    {
      files += list
    }
    return files
  }

  /// The extensions of archives. Others of the same build, such as documents, may lie in a folder.
  private static let archiveEndings: Set<String> = ["zip", "tgz", "gz", "tar"]

  /// Settles the archives that lie in folders. They are not parts, since a folder of downloads may have any; but one
  /// may be a part that was not named, so it counts as a file that could not be read.
  /// - Parameter named: those that are read as parts.
  private static func settleArchives(in files: inout [ScannedFile], named: Set<FilePath>) {
    for index in files.indices where files[index].role == .candidate {
      let path = files[index].path
      guard archiveEndings.contains(path.pathExtension) else { continue }
      if named.contains(FolderScan.canonical(path)) {
        files[index].role = .settled(.skipped(.excluded, "\(path) is read as a part of its own."))
      } else if (try? ArchivePass.Format(of: path)) != nil {
        let sentence = "\(path) is an archive in a folder, and was not read; name it as a part, or exclude it."
        files[index].role = .settled(.skipped(.unreadable, sentence))
      }
    }
  }

  /// What descriptions say, by the positions of the files.
  struct Descriptions<Record: Sendable>: Sendable {
    /// What was read of one file.
    enum Reading: Sendable {
      case said(Record)
      case nothing
      /// It could not be read, or is too long.
      case unread(SkipReason, String)

      static func failed(_ error: ImportError) -> Reading { .unread(SkipReason(error), error.description) }

      static func tooLong(_ path: FilePath, _ limit: Int64) -> Reading {
        .unread(.notMedia, "\(path) is longer than \(limit) bytes, and was not read as a description.")
      }
    }

    private(set) var records: [Int: Record] = [:]
    /// What could not be read, which may have stated dates and albums.
    private var unread: [Int: FileOutcome] = [:]

    init(_ readings: [(Int, Reading)]) {
      for (index, reading) in readings {
        switch reading {
        case .said(let record): records[index] = record
        case .nothing: break
        case .unread(let reason, let message): unread[index] = .skipped(reason, message)
        }
      }
    }

    /// Settles files that could not be read as skipped.
    func settleUnread(in files: inout [ScannedFile]) {
      for (index, outcome) in unread { files[index].role = .settled(outcome) }
    }
  }

  /// What files with an extension say, by their positions.
  private func described<Record: Sendable>(
    _ files: [ScannedFile], _ ending: String, atMost limit: Int64, _ parse: @escaping @Sendable ([UInt8]) -> Record
  ) async throws(ImportError) -> Descriptions<Record> {
    let sidecars = files.indices.filter {
      [.sidecar, .candidate].contains(files[$0].role) && files[$0].path.pathExtension == ending
    }
    let copies = copies
    let read = try await onThreads(sidecars.map { ($0, files[$0]) }, width: width) {
      (index, file) throws(ImportError) -> (Int, Descriptions<Record>.Reading) in
      do throws(ImportError) {
        guard let bytes = try SmallFile.read(file.bytes(in: copies), atMost: limit) else {
          return (index, .tooLong(file.path, limit))
        }
        return (index, .said(parse(bytes)))
      } catch  where error.concernsOneFile {
        return (index, .failed(error))
      }
    }
    return Descriptions(read)
  }

  /// What sidecars say, by their positions.
  func statements(_ files: [ScannedFile]) async throws(ImportError) -> Descriptions<SidecarSource.Statement> {
    let sidecars = files.indices.filter {
      [.sidecar, .candidate].contains(files[$0].role) && SidecarSource.endings.contains(files[$0].path.pathExtension)
    }
    let (tool, stop) = (tool, stop)
    let read = try await onThreads(sidecars.map { ($0, files[$0].path) }, width: width) {
      (index, path) throws(ImportError) -> (Int, Descriptions<SidecarSource.Statement>.Reading) in
      if stop.isSet { return (index, .nothing) }
      do throws(ImportError) {
        guard path.pathExtension == "xmp" else {
          let limit = SmallFile.descriptionLimit
          guard let bytes = try SmallFile.read(path, atMost: limit) else { return (index, .tooLong(path, limit)) }
          guard let said = SidecarSource.statement(bytes, ending: path.pathExtension) else { return (index, .nothing) }
          return (index, .said(said))
        }
        // exiftool answers about a file that it cannot read as about one that says nothing.
        try SmallFile.check(path)
        let tags = try tool.tags(of: path, isCancelled: { stop.isSet })
        return (index, .said(SidecarSource.Statement(layer: MetadataLayer(tags, .xmp))))
      } catch  where error.concernsOneFile {
        return (index, .failed(error))
      } catch  where error.code == .cancelled {
        return (index, .nothing)
      }
    }
    return Descriptions(read)
  }

  /// Reads files that may have equal content, so that what is said about any of them counts for all.
  private func join(_ catalog: inout MediaCatalog) async throws(ImportError) {
    // A stack must not hide in an album what is in it by another file.
    let hasNotes = catalog.files.contains { $0.note != nil }
    guard hasNotes || options.formsStacks && !catalog.albums.isEmpty else { return }
    let (copies, stop) = (copies, stop)
    let large = ImportRun.LargeFiles(tool: tool, byteCount: options.largeByteCount)
    let read = try await onThreads(catalog.candidatesOfEqualSize.map { ($0, catalog.files[$0]) }, width: width) {
      (index, file) throws(ImportError) -> (Int, FileContent?) in
      if stop.isSet { return (index, nil) }
      switch ImportRun.hashed(index, file, copies, large, stop) {
      case .success(let hashed): return (index, hashed.content)
      // The import itself meets it again, and reports it.
      case .failure: return (index, nil)
      }
    }
    for (index, content) in read { catalog.files[index].content = content }
    if hasNotes { catalog.joinNotes() }
  }
}
