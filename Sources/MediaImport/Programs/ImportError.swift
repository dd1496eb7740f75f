internal import Glibc
internal import PhotoLedger

/// A failure of an import, saying what failed, on which file, and what to do.
///
/// A failure that concerns one source file only (`concernsOneFile`) becomes that file's outcome; every other failure
/// ends the import, with the batches recorded so far intact.
public struct ImportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What kind of failure it is; more kinds may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The kind as one word.
    public let description: String

    /// A file or folder that the caller named does not exist. Correct the name.
    public static let notFound = Code(description: "notFound")
    /// A source file was there when the folder was walked and is gone now.
    public static let vanished = Code(description: "vanished")
    /// A source file cannot be opened or read.
    public static let unreadable = Code(description: "unreadable")
    /// A source file is not a photo or video. It is always the outcome of the file.
    static let notMedia = Code(description: "notMedia")
    /// A source file changed while it was read; import it again when its writer has finished.
    public static let changedWhileRead = Code(description: "changedWhileRead")
    /// The walk found more files than the limit allows.
    public static let tooManyFiles = Code(description: "tooManyFiles")
    /// The metadata tool is not installed.
    public static let toolMissing = Code(description: "toolMissing")
    /// The metadata tool cannot be started, or ends at once.
    public static let toolFailed = Code(description: "toolFailed")
    /// The metadata tool took longer than the limit for one file and was ended.
    public static let toolTimeout = Code(description: "toolTimeout")
    /// The metadata tool ended, or answered something that is not an answer, while it read one file.
    public static let toolCrashed = Code(description: "toolCrashed")
    /// The metadata tool answered more bytes than the limit for one file and was ended.
    public static let toolOutputTooLarge = Code(description: "toolOutputTooLarge")
    /// Reading a file was stopped because the import was; the next import takes it.
    public static let cancelled = Code(description: "cancelled")
    /// The library's disk is full. Make room and import again: what is recorded is kept and found as known.
    public static let diskFull = Code(description: "diskFull")
    /// The library cannot store files or record assets; the sentence is the library's own.
    public static let cannotStore = Code(description: "cannotStore")
    /// An archive is not whole. Get it again.
    public static let archiveDamaged = Code(description: "archiveDamaged")
    /// An archive is built as no honest one is.
    public static let archiveRefused = Code(description: "archiveRefused")
    /// Another import into the same library is under way.
    public static let importRunning = Code(description: "importRunning")
  }

  /// What kind of failure it is.
  public let code: Code
  /// The file or folder it happened to, as readable text; empty when it concerns none.
  public let path: String
  /// A full sentence that names the thing and says what to do.
  public let description: String
  /// Whether a program did not come to an end of its own, so that the same question may have another answer the next
  /// time: it was killed, stopped or timed out, or could not be started.
  package var isPassing = false

  /// Creates a failure.
  /// - Parameters:
  ///   - code: The kind.
  ///   - path: The file or folder concerned.
  ///   - sentence: A full sentence.
  public init(_ code: Code, path: String = "", _ sentence: String) {
    self.code = code
    self.path = path
    self.description = sentence
  }

  /// True when only one source file is concerned and the import goes on with the next.
  public var concernsOneFile: Bool {
    switch code {
    case .vanished, .unreadable, .notMedia, .changedWhileRead, .toolTimeout, .toolCrashed, .toolOutputTooLarge: true
    default: false
    }
  }

  /// The same, of a program that did not come to an end of its own.
  var passing: ImportError {
    var error = self
    error.isPassing = true
    return error
  }

  /// The failure of a system call on a source file.
  static func source(_ path: FilePath, _ action: String, errno code: Int32) -> ImportError {
    if code == ENOENT || code == ENOTDIR {
      return ImportError(.vanished, path: path.description, "\(path) no longer exists; it did when the scan started.")
    }
    return ImportError(
      .unreadable, path: path.description, "\(path) cannot be \(action): \(LibraryError.reason(code)).")
  }

  /// The failure of the library while it read, stored or recorded a file.
  init(_ error: LibraryError, path: FilePath? = nil) {
    let code: Code =
      switch error.code {
      case .missingResource where path != nil: .vanished
      case .invalidResource where path != nil: .unreadable
      case .resourceChanged where path != nil: .changedWhileRead
      case .userCancelled where path != nil: .cancelled
      case .notEnoughSpace: .diskFull
      default: .cannotStore
      }
    self.init(code, path: path?.description ?? "", error.description)
  }
}
