internal import Dispatch
internal import Foundation
internal import Glibc
package import PhotoLedger
internal import Synchronization

// Single files that reach the library by another way than a folder: uploads.
//
//   file, content ──▶ was it recorded under this key? ── yes ──▶ that answer
//                        │ no
//                        ▼
//        one at a time for a content and for a content identifier
//        known content? ── yes ──▶ duplicate; the bytes adopted, if the library has lost its file of them
//        exiftool ── no medium ──▶ refused
//        bytes adopted, names durable, one commit under the key: an asset, or the other half of a Live Photo
//
// The tags, their reading, what is a duplicate and what belongs together are those of imports. Everything is looked up
// and recorded as the client whose file it is: a client that may only add sees no duplicates and no halves, so its
// files become assets of their own, and nothing that it may not see shows in the answer. A file that may not change
// what others brought completes only what the client itself added, by the same way (`changesOthers`). An exiftool that
// was asked about files of one client is asked about none of another: a file may have taken it over.
//
// Invariant: a key is recorded at most once, so a file that is taken twice under one key, because the first answer was
// lost or the process ended between the commit and the answer, gives one asset and one answer.
//
// Rejected: the lock of imports, which lets one run at a time and would answer a phone with "later" for the hours of an
// import. The price: a file that an import and an upload process at the same time can become two assets.

/// Takes single files into a library, as an import would.
package final class MediaIntake: Sendable {
  /// What became of a file.
  package enum Outcome: Sendable, Equatable {
    /// It is an asset of its own.
    case created
    /// It completed an asset, as the movie of a Live Photo does.
    case completed
    /// The client's library had its content before.
    case duplicate
  }

  /// Where a file went.
  package struct Taken: Sendable, Equatable {
    /// What became of it.
    package let outcome: Outcome
    /// The asset that has it.
    package let asset: LocalIdentifier
    /// A state of the library with it.
    package let token: Token
  }

  /// What is said about a file beside its bytes, by the program that brings it.
  package struct Statement: Sendable {
    /// Whether it is marked as a favourite.
    package var isFavorite = false
    /// Whether it is hidden from ordinary fetches.
    package var isHidden = false
    /// When it was taken, in seconds since 1970; a record, which never replaces what the file says.
    package var secondsSince1970: Int64?
    /// The name of an XMP sidecar in the library's directory. It corrects the file.
    package var sidecar: String?

    /// Nothing.
    package init() {}
  }

  /// A file that is not taken: what is wrong with it, in a sentence.
  package struct Refusal: Error, Sendable, CustomStringConvertible {
    /// The sentence.
    package let description: String
  }

  /// A folder that exiftool may read: where it is, and which one. A sandbox knows no other one, if the library is moved
  /// or the folder is made anew.
  private struct Place: Equatable {
    let path: String
    /// The path without links in it, which a sandbox keeps as it was.
    let real: String
    /// The numbers of its device and of itself; none if it is not there.
    let numbers: [UInt64]

    init(_ name: String, in folder: LibraryFolder) {
      path = folder.path(of: name)
      real = WorkFolder.real(URL(filePath: path))
      numbers = folder.status(of: name).map { [UInt64($0.st_dev), UInt64($0.st_ino)] } ?? []
    }
  }

  private let tool = Mutex<(tool: ExifTool, place: Place?)?>(nil)
  private let limits: ExifToolLimits
  private let searchPath: String?
  private let folder: String?
  private let gate = IntakeGate()

  /// Prepares to take files; exiftool is looked for with the first one, and again until it is found.
  /// - Parameters:
  ///   - searchPath: folders with colons between them; nil: the environment's `PATH`.
  ///   - folder: the name of the folder in the library's directory that all files lie in; exiftool may read nothing
  ///     else of the machine but programs. Nil: it reads every file of this user.
  ///   - limits: what one file may cost.
  package init(
    searchPath: String? = nil, confinedTo folder: String? = nil, limits: ExifToolLimits = ExifToolLimits()
  ) {
    (self.searchPath, self.folder, self.limits) = (searchPath, folder, limits)
  }

  /// Takes a file of the library's own directory.
  /// - Parameters:
  ///   - file: its name in the library's directory; durable, and written by nothing any more. It stays.
  ///   - content: what it holds.
  ///   - name: what it was called where it comes from, without folders; nil if that is not known.
  ///   - library: the view of the client that brings it.
  ///   - key: an idempotency key of the client.
  ///   - cause: stands in the commit.
  ///   - statement: what is said about it; of a file that the client's library has already, nothing is changed.
  ///   - changesOthers: whether it completes every half of a Live Photo that the client sees; if not, only those that
  ///     the client added with the same cause.
  /// - Throws: ``Refusal`` for a file that is not a photo or video, or a sidecar that is not XMP; ``ImportError``
  ///   `.toolMissing` without exiftool;
  ///   ``LibraryError`` as a change block has it, for a client that may not add, or without room.
  package func take(
    _ file: String, _ content: FileContent, named name: String?, into library: PhotoLibrary, key: String, cause: String,
    saying statement: Statement = Statement(), changesOthers: Bool = true
  ) async throws -> Taken {
    let digest = "content \(content.sha256.hexadecimal)"
    await gate.enter(digest)
    do {
      let taken = try await takeAlone(file, content, name, library, key, cause, statement, changesOthers)
      await gate.leave(digest)
      return taken
    } catch {
      await gate.leave(digest)
      throw error
    }
  }

  private func takeAlone(
    _ file: String, _ content: FileContent, _ name: String?, _ library: PhotoLibrary, _ key: String, _ cause: String,
    _ statement: Statement, _ changesOthers: Bool
  ) async throws -> Taken {
    let path = FilePath(library.store.folder.path(of: file))
    let known = try await offload { () -> Taken? in
      if let earlier = try self.repetition(content, library, key) { return earlier }
      guard try Self.maySee(library) else { return nil }
      let same = try library.assets(withContent: content.sha256)
      guard let asset = same.first(where: { !$0.isTrashed }) ?? same.first else { return nil }
      try Self.restore(file, content, in: library)
      return Taken(outcome: .duplicate, asset: asset.id, token: try library.currentToken)
    }
    if let known { return known }
    let metadata = try await offload { try self.metadata(of: path, named: name, in: library) }
    let note = try await offload { try self.note(statement, in: library, named: name) }
    // Parts of one Live Photo that arrive at the same time must see each other.
    guard let identifier = metadata.contentIdentifier else {
      return try await record(file, path, content, metadata, note, name, library, key, cause, changesOthers)
    }
    await gate.enter(identifier)
    do {
      let taken = try await record(file, path, content, metadata, note, name, library, key, cause, changesOthers)
      await gate.leave(identifier)
      return taken
    } catch {
      await gate.leave(identifier)
      throw error
    }
  }

  /// Adopts the bytes of a duplicate if the library has lost its own file of them.
  private static func restore(_ file: String, _ content: FileContent, in library: PhotoLibrary) throws {
    let resources = library.store.resources
    if resources.holds(content.sha256, byteCount: UInt64(clamping: content.byteCount)) { return }
    let target = LibraryTarget(library: library, cause: "", run: "")
    if try target.copied([content.sha256]).isEmpty { return }
    _ = try resources.adopt(file, content)
    try resources.synchronize()
  }

  /// What became of the file when it was taken before under the same key; nil if it was not.
  /// - Throws: ``Refusal`` for one that completed an asset which the client sees no more: recording it again under the
  ///   key would give the receipt of the first time.
  private func repetition(_ content: FileContent, _ library: PhotoLibrary, _ key: String) throws -> Taken? {
    guard let receipt = try library.receipt(forKey: key) else { return nil }
    if let created = receipt.created.first.flatMap({ LocalIdentifier($0) }) {
      return Taken(outcome: .created, asset: created, token: receipt.token)
    }
    guard try Self.maySee(library), let asset = try library.assets(withContent: content.sha256).first else {
      throw Refusal(
        description: "This upload was already recorded, but its asset is no longer available; upload the file again.")
    }
    return Taken(outcome: .completed, asset: asset.id, token: receipt.token)
  }

  /// Whether a client reads the library. One that only adds is not asked about, as a look at the library would do.
  private static func maySee(_ library: PhotoLibrary) throws -> Bool {
    try library.authorizationStatus(for: .readWrite).isGranted
  }

  private func metadata(
    of path: FilePath, named name: String?, in library: PhotoLibrary
  ) throws -> MediaMetadata {
    let name = name ?? "The file"
    let tags: ExifTags
    do throws(ImportError) {
      let isThorough = try !FileWork.endsAsJPEG(path)
      tags = try running(for: library).tags(of: path, isThorough: isThorough, for: library.client)
    } catch {
      guard error.concernsOneFile else { throw error }
      // Without the path: that is the server's own.
      throw Refusal(description: "\(name) cannot be read as a photo or video (\(error.code)).")
    }
    guard let metadata = MediaMetadata(tags), metadata.mediaType != .audio else {
      let type = tags.text("MIMEType") ?? tags.text("Error") ?? "unknown"
      throw Refusal(description: "\(name) is not a photo or video (\(type)).")
    }
    return metadata
  }

  /// A statement as the layers of an import, nil for an empty one.
  private func note(_ statement: Statement, in library: PhotoLibrary, named name: String?) throws -> MediaNote? {
    var note = MediaNote()
    if let sidecar = statement.sidecar {
      let isReadable: Bool
      do throws(ImportError) {
        let path = FilePath(library.store.folder.path(of: sidecar))
        let tags = try running(for: library).tags(of: path, for: library.client)
        isReadable = tags.text("FileType") == "XMP"
        note.layers.append(MetadataLayer(tags, .xmp))
      } catch {
        guard error.concernsOneFile else { throw error }
        isReadable = false
      }
      guard isReadable else { throw Refusal(description: "The sidecar of \(name ?? "the file") is not XMP.") }
    }
    var record = MetadataLayer(.upload)
    record.isFavorite = statement.isFavorite ? true : nil
    record.isHidden = statement.isHidden ? true : nil
    record.captureTime = statement.secondsSince1970.flatMap { CaptureTime(secondsSince1970: $0, source: "upload") }
    if !record.isEmpty { note.layers.append(record) }
    return note.layers.isEmpty ? nil : note
  }

  private func running(for library: PhotoLibrary) throws(ImportError) -> ExifTool {
    let place = folder.map { Place($0, in: library.store.folder) }
    return try tool.withLock { (tool) throws(ImportError) -> ExifTool in
      if let tool, tool.place == place { return tool.tool }
      let sandbox = place.map { Sandbox(readable: [$0.path]) }
      let made = try ExifTool(searchPath: searchPath, limits: limits, sandbox: sandbox)
      tool = (made, place)
      return made
    }
  }

  /// Ends the idle processes of exiftool; the next file starts new ones.
  package func close() { tool.withLock { $0?.tool }?.close() }

  private func record(
    _ file: String, _ path: FilePath, _ content: FileContent, _ metadata: MediaMetadata, _ note: MediaNote?,
    _ name: String?, _ library: PhotoLibrary, _ key: String, _ cause: String, _ changesOthers: Bool
  ) async throws -> Taken {
    let stored = try await offload { try library.store.resources.adopt(file, content) }
    let usual = "upload" + UniformType.filenameExtension(of: metadata.uniformTypeIdentifier)
    var prepared = PreparedFile(index: 0, path: path, stored: stored, metadata: metadata, name: name ?? usual)
    prepared.note = note
    let target = LibraryTarget(library: library, cause: cause, run: key, key: key)
    var planner = ImportPlanner()
    let identifiers = planner.contentIdentifiers([prepared])
    let halves = try await offload { () -> [ExactText: [LivePhotoHalf]] in
      guard try Self.maySee(library) else { return [:] }
      let halves = try target.unpairedHalves(contentIdentifiers: identifiers)
      if changesOthers { return halves }
      return try halves.mapValues { seen in try seen.filter { try library.hasAdded($0.asset, cause: cause) } }
    }
    var planned = planner.plan([prepared], halves: halves)
    planned += planner.planWaiting(planner.takeWaiting(), halves: halves)
    do {
      try await offload { try library.store.resources.synchronize() }
      let recorded = try await target.record(ImportBatch(changes: planned.map(\.change)))
      guard let change = recorded.first, let token = change.token else {
        preconditionFailure("One file is one change, and a library tells its state.")
      }
      if case .asset = change.change { return Taken(outcome: .created, asset: change.asset, token: token) }
      return Taken(outcome: .completed, asset: change.asset, token: token)
    } catch {
      library.discardUnnamed(planned.flatMap(\.change.resources).map { AssetResource($0) })
      throw error
    }
  }
}

/// Admits one task at a time for each name.
private actor IntakeGate {
  private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

  func enter(_ name: String) async {
    guard waiting[name] != nil else {
      waiting[name] = []
      return
    }
    await withCheckedContinuation { waiting[name]?.append($0) }
  }

  func leave(_ name: String) {
    guard var queue = waiting[name], !queue.isEmpty else {
      waiting[name] = nil
      return
    }
    let next = queue.removeFirst()
    waiting[name] = queue
    next.resume()
  }
}
