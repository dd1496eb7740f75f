internal import Glibc
internal import PhotoLedger

// Taking originals away that the library has, by `import --move`.
//
//     batch committed ──▶ report durable ──▶ for each of its files whose content the library should have:
//
//       an asset outside the trash names the content, with a file of the library's own     else it stays
//       that file is read back and has the hash                                            else it stays
//       the original is what it was when it was read: device, inode, size, times           else it stays
//       unlink                                                                             nothing else goes
//
// Each proof is made after the commit, from what is there then, and not from what the import believes to have done. So
// a run that was killed anywhere has removed nothing that it could not prove, and the next one goes on: what the
// library has by then is a duplicate, for which the same is proved.
//
// What an earlier import read is read again here: its record says nothing of the device and the inode.
//
// Invariant: a name is removed only while the library holds the bytes that were read under it, in a file of its own
// that an asset names. Sidecars, folders, links and what was not taken stay, and the summary lists them. Between the
// last look at the original and its removal a program can still write it; one that has it open keeps its bytes.
//
// Rejected: a rename into the library. It costs no copy, but there is a moment when the only file is neither what the
// person had nor what the library has; and it cannot be proved by reading back what was copied.

/// Removes originals that a library has copies of.
struct OriginalRemoval: Sendable {
  let library: PhotoLibrary

  /// What became of an original.
  enum Outcome: Sendable, Hashable {
    case removed
    /// It stays, for a reason in a sentence.
    case kept(String)
  }

  /// A file that an import is done with.
  struct Original: Sendable {
    let index: Int
    let path: FilePath
    /// What this import read of it; nil: it was not read by this one.
    let read: FileContent?
  }

  /// Removes an original, or says why not.
  /// - Complexity: O(bytes): the library's copy is read, and the original where this import did not.
  func remove(_ original: Original) -> Outcome {
    let path = original.path
    do throws(LibraryError) {
      guard let before = Self.status(of: path) else { return .kept("\(path) is no longer there.") }
      guard before.st_mode & S_IFMT == S_IFREG else {
        return .kept("\(path) is a link, and links are not removed.")
      }
      let content = if let read = original.read { read } else { try FileContent(of: path) }
      if let reason = try whyUnproved(content) { return .kept("\(path) was kept: \(reason)") }
      guard let now = Self.status(of: path), now.st_mode & S_IFMT == S_IFREG, SourceStamp(now) == content.stamp else {
        return .kept("\(path) was kept: it was changed after it was read; import it again.")
      }
      guard path.withCString({ unlink($0) }) == 0 else {
        return .kept("\(path) cannot be removed: \(LibraryError.reason(errno)).")
      }
      return .removed
    } catch {
      return .kept("\(path) was kept: \(error.description)")
    }
  }

  /// Why it is not proved that the library holds a content; nil if it is.
  private func whyUnproved(_ content: FileContent) throws(LibraryError) -> String? {
    let assets: [Asset]
    do { assets = try library.assets(withContent: content.sha256) } catch { throw LibraryError(error) }
    let living = assets.filter { !$0.isTrashed }
    if living.isEmpty {
      return assets.isEmpty
        ? "no asset has its content." : "the asset with its content is in the trash; restore or purge that first."
    }
    var reason = "the library refers to a file of this content and has no copy; import it without --move first."
    for asset in living {
      let resources: [AssetResource]
      do { resources = try library.resources(of: asset) } catch { throw LibraryError(error) }
      for resource in resources where resource.sha256 == content.sha256 && resource.storage == .library {
        switch try library.store.resources.state(of: resource, hashing: true) {
        case .present: return nil
        case .missing: reason = "the library's copy is missing."
        case .altered: reason = "the library's copy does not have its hash."
        }
      }
    }
    return reason
  }

  private static func status(of path: FilePath) -> stat? {
    var status = stat()
    return path.withCString { lstat($0, &status) } == 0 ? status : nil
  }
}

/// What an import with removal did with the originals. Encodes to one JSON object.
public struct MovedOriginals: Sendable, Hashable, Codable {
  /// An original that is where it was.
  public struct Kept: Sendable, Hashable, Codable {
    /// Where it is; bytes that are no text are shown as U+FFFD.
    public let path: String
    /// Why, in a sentence.
    public let message: String
  }

  /// How many were removed.
  public var removed = 0
  /// How many files are where they were.
  public var kept = 0
  /// The first of these, in the order of the import; `kept` counts all.
  public var keptFiles: [Kept] = []

  /// Creates an account of nothing.
  public init() {}

  mutating func keep(_ path: FilePath, _ message: String) {
    kept += 1
    if keptFiles.count < ImportSummary.skippedFilesLimit {
      keptFiles.append(Kept(path: path.description, message: message))
    }
  }
}

extension FileOutcome {
  /// Whether the library should have the content of the file.
  var isOfContent: Bool {
    switch self {
    case .asset, .resource, .duplicateOfFile, .duplicateOfAsset: true
    default: false
    }
  }

  /// Why an original that an import did not take stays, as the rest of a sentence.
  func reasonToStay(_ path: FilePath) -> String {
    switch self {
    case .asset, .resource, .duplicateOfFile, .duplicateOfAsset: "\(path) was taken."
    case .sidecar, .describes, .describesAlbum: "\(path) describes other files; sidecars are not removed."
    case .skipped(_, let message): message
    case .notReached: "\(path) was not reached."
    }
  }
}
