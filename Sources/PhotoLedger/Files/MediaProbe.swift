public import Foundation
import Glibc
import Synchronization

// What bytes are, before they are recorded.
//
//     draft ──▶ stored, hashed, durable ──▶ probe ──▶ facts ──▶ the request is completed ──▶ the writer
//                                             │
//                                             └── no such medium: 3302, the bytes are removed
//
// The library parses no image and no film; a probe does, installed by the library's owner or by the module through
// which the library is used. It examines the stored copy, so the facts are those of exactly the bytes that are
// recorded, under a name with the ending of their own: a TIFF and some RAW formats differ in nothing else. It runs
// while a block is staged, off the writer's thread, and only for bytes that a block brings itself: an import has its
// facts already.
//
// The facts complete a request, they never contradict it: a value that the request sets stands. The kind of medium is
// the one exception, since bytes that are no photo cannot be made one by saying so.
//
// Rejected: to probe inside the writer's transaction, which would hold all writers for the time of a foreign program;
// to let the caller probe, since each would have to and the first that does not records a photo of 0 × 0 pixels.

/// Tells what the bytes of a file are (CB-06, CB-09).
///
/// Installed with ``PhotoLibrary/setMediaProbe(_:whenUnavailable:)``; the library parses no media itself. It is called
/// while a block is staged, on any thread, several at once.
public protocol MediaProbe: Sendable {
  /// Examines a file.
  /// - Parameter file: an absolute file URL; its name has the ending of the original name, if that had one.
  /// - Returns: the facts, or that the bytes are no medium, or that nothing can be examined now.
  /// - Throws: what kept this file from being examined; the block that brings it fails. A ``LibraryError`` keeps its
  ///   code, any other error is reported as ``LibraryError/Code/invalidResource``.
  func examine(_ file: URL) throws -> MediaFinding
}

/// What a ``MediaProbe`` found.
public enum MediaFinding: Sendable, Hashable {
  /// An image, a video or a sound recording.
  case medium(MediumFacts)
  /// Something else; the text says what, such as `text/plain`.
  case noMedium(String)
  /// The probe cannot work at all; the sentence says why, and what to do. Bytes are accepted unexamined.
  case unavailable(String)
}

/// What the bytes of a photo, a video or a sound recording say about themselves.
public struct MediumFacts: Sendable, Hashable {
  /// The kind of medium.
  public var mediaType: MediaType
  /// The kind of data, such as `public.jpeg`.
  public var uniformTypeIdentifier: String
  /// The width in pixels as displayed; 0 if unknown (AS-02).
  public var pixelWidth = 0
  /// The height in pixels as displayed; 0 if unknown (AS-02).
  public var pixelHeight = 0
  /// The length in seconds; 0 for photos (AS-03).
  public var duration: TimeInterval = 0
  /// The instant of capture; a local time without an offset is read as UTC.
  public var creationDate: Date?
  /// The wall time of the camera, held as though it were UTC.
  public var localCreationDate: Date?
  /// The offset from UTC in seconds, if the camera wrote it.
  public var timeZoneOffset: Int?
  /// The place of capture.
  public var location: Location?
  /// What is special about the medium.
  public var mediaSubtypes: MediaSubtypes = []
  /// What the still and the video of one Live Photo share.
  public var contentIdentifier: String?

  /// Describes a medium of which nothing else is known yet.
  /// - Parameters:
  ///   - mediaType: the kind of medium.
  ///   - uniformTypeIdentifier: the kind of data.
  public init(mediaType: MediaType, uniformTypeIdentifier: String) {
    (self.mediaType, self.uniformTypeIdentifier) = (mediaType, uniformTypeIdentifier)
  }
}

extension PhotoLibrary {
  /// Installs what examines the bytes of new assets and edits; nil: nothing, and bytes are taken for what they are
  /// called.
  ///
  /// With a probe, bytes that are no such medium fail their block with ``LibraryError/Code/invalidResource`` (CB-06),
  /// and size, length, date, place, subtypes and uniform type come from the bytes where the request leaves them open
  /// (AS-02). Without one, the file name decides about the kind, and those values stay unknown. The module `Photos`
  /// installs MediaImport's `ExternalProbe` where nothing was chosen here before; passing nil is a choice.
  /// - Parameters:
  ///   - probe: the probe.
  ///   - handler: called once, at the first bytes that the probe is not available for, with its sentence; nil writes it
  ///     to standard error.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner.
  public func setMediaProbe(
    _ probe: (any MediaProbe)?, whenUnavailable handler: (@Sendable (String) -> Void)? = nil
  ) throws {
    try checkIsOwner("choose what examines new files")
    store.probing.install(probe, handler)
  }

  /// Installs a probe if nothing was chosen before.
  package func setDefaultMediaProbe(_ probe: any MediaProbe) { store.probing.installDefault(probe) }
}

/// The probe of a library.
///
/// `state` is guarded by its lock, which is not held while a file is examined.
final class MediaProbing: Sendable {
  private struct State {
    var probe: (any MediaProbe)?
    var handler: (@Sendable (String) -> Void)?
    var isChosen = false
    var hasTold = false
  }

  private let state = Mutex(State())

  func install(_ probe: (any MediaProbe)?, _ handler: (@Sendable (String) -> Void)?) {
    state.withLock { $0 = State(probe: probe, handler: handler, isChosen: true) }
  }

  func installDefault(_ probe: any MediaProbe) {
    state.withLock { if !$0.isChosen { $0 = State(probe: probe, isChosen: true) } }
  }

  var isInstalled: Bool { state.withLock { $0.probe != nil } }

  /// Examines a file.
  /// - Parameter name: what errors call it.
  /// - Returns: the finding; nil if nothing examines files now.
  func finding(_ file: URL, named name: String) throws(LibraryError) -> MediaFinding? {
    guard let probe = state.withLock({ $0.probe }) else { return nil }
    let finding: MediaFinding
    do {
      finding = try probe.examine(file)
    } catch {
      let failure = error as? LibraryError
      throw LibraryError(
        failure?.code ?? .invalidResource, "\(name) cannot be examined: \(failure?.description ?? "\(error)")")
    }
    guard case .unavailable(let sentence) = finding else { return finding }
    tellOnce(sentence)
    return nil
  }

  private func tellOnce(_ sentence: String) {
    let (isFirst, handler) = state.withLock { state in
      defer { state.hasTold = true }
      return (!state.hasTold, state.handler)
    }
    guard isFirst else { return }
    if let handler { handler(sentence) } else { FileHandle.standardError.write(Data("\(sentence)\n".utf8)) }
  }
}

// MARK: Files

/// What was found in a file while it was in a state.
struct ExaminedFile: Sendable {
  let stamp: FileStamp
  let outcome: Result<MediaFinding, LibraryError>

  /// Examines a file; nil if nothing does now, or if the file changed meanwhile.
  init?(_ path: FilePath, _ probing: MediaProbing) throws(LibraryError) {
    let before = try SourceFile(path).stamp
    let url = URL(filePath: path.description, directoryHint: .notDirectory).standardizedFileURL
    do throws(LibraryError) {
      guard let finding = try probing.finding(url, named: path.description) else { return nil }
      outcome = .success(finding)
    } catch {
      outcome = .failure(error)
    }
    guard try SourceFile(path).stamp == before else { return nil }
    stamp = before
  }
}

extension ResourceStore {
  /// What stored bytes are.
  /// - Parameters:
  ///   - content: bytes in their place.
  ///   - name: the name that they came with.
  /// - Returns: nil if nothing examines files now, or if a purge took the bytes away, as the writer will find.
  func finding(
    in content: StoredContent, named name: String, _ probing: MediaProbing
  ) throws(LibraryError) -> MediaFinding? {
    let path = path(ofContent: content.sha256)
    let ending = FilePath(name).pathExtension
    var link: String?
    if !ending.isEmpty, ending.utf8.allSatisfy({ $0 != FilePath.slash }) {
      let place = incomingName(ending: ".\(ending)")
      unlink(place)
      guard symlink(path, place) == 0 else { throw LibraryError.store(place, "make", errno: errno) }
      link = place
    }
    defer { if let link { unlink(link) } }
    do throws(LibraryError) {
      return try probing.finding(URL(filePath: link ?? path, directoryHint: .notDirectory), named: name)
    } catch {
      guard holds(content.sha256, byteCount: content.dataSize) else { return nil }
      throw error
    }
  }
}

// MARK: Completing requests

/// A draft whose bytes are in place, with what they are.
struct StagedDraft: Sendable {
  let resource: AssetResource
  /// nil for bytes that were not examined.
  var facts: MediumFacts?

  var draft: ResourceDraft { .stored(resource) }
}

extension [StagedDraft] {
  /// The facts of the one original that an asset shows (AS-16).
  fileprivate func facts(of choice: OriginalResourceChoice) -> MediumFacts? {
    guard let original = map(\.resource).original(choice) else { return nil }
    return first { $0.resource == original }?.facts
  }
}

extension AssetCreation {
  /// Takes the bytes of staged files, and what they say where the request leaves it open.
  mutating func take(_ staged: [StagedDraft]) {
    let isBare = resources.contains(where: \.isBareImage)
    resources = staged.map(\.draft)
    guard var facts = staged.facts(of: originalResourceChoice) else { return }
    // A bare image is its pixels (CB-11).
    if isBare {
      (facts.creationDate, facts.localCreationDate) = (nil, nil)
      (facts.timeZoneOffset, facts.location) = (nil, nil)
    }
    complete(with: facts)
  }

  /// Sets what is not set yet from what the bytes say.
  package mutating func complete(with facts: MediumFacts) {
    if mediaSubtypes.isEmpty { mediaSubtypes = facts.mediaSubtypes }
    if pixelWidth == 0, pixelHeight == 0 { (pixelWidth, pixelHeight) = (facts.pixelWidth, facts.pixelHeight) }
    if duration == 0, mediaType != .image { duration = facts.duration }
    // The three are one statement: half of it with half of another would be a third.
    if creationDate == nil, localCreationDate == nil, timeZoneOffset == nil {
      creationDate = facts.creationDate
      localCreationDate = facts.localCreationDate
      timeZoneOffset = facts.timeZoneOffset
    }
    if location == nil, facts.location?.isValid == true { location = facts.location }
  }
}

extension ContentEditRequest {
  /// Takes the bytes of staged files, and the shape of the render where the edit leaves it open (AS-02).
  mutating func take(_ staged: [StagedDraft]) {
    drafts = staged.map(\.draft)
    let render = staged.first { [.fullSizePhoto, .fullSizeVideo].contains($0.resource.type) }
    guard let facts = render?.facts else { return }
    if edit.pixelWidth == nil, edit.pixelHeight == nil, facts.pixelWidth > 0, facts.pixelHeight > 0 {
      (edit.pixelWidth, edit.pixelHeight) = (facts.pixelWidth, facts.pixelHeight)
    }
    if edit.duration == nil, facts.mediaType == .video { edit.duration = facts.duration }
  }
}

extension AssetChanges {
  /// Takes the shape of a file that an existing asset is from now on shown by, as when a still joins a video.
  mutating func take(_ staged: [StagedDraft]) {
    let primary = staged.first { [.photo, .video, .audio].contains($0.resource.type) }
    guard let facts = primary?.facts, facts.pixelWidth > 0, pixelWidth == nil, pixelHeight == nil else { return }
    (pixelWidth, pixelHeight) = (facts.pixelWidth, facts.pixelHeight)
  }
}
