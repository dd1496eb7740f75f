/// A failure of the store, with what was being done, to which file, and what the caller should do about it.
public struct LMDBError: Error, Sendable, Equatable {
  /// What went wrong. Extensible: a later version may add codes, so a `switch` needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in the declarations below.
    public let description: String

    init(_ name: String) { description = name }

    /// No space left on the device or quota exhausted (ENOSPC, EDQUOT, or EIO with an empty `statvfs`).
    public static let diskFull = Code("diskFull")
    /// The memory map is full and could not be grown (MDB_MAP_FULL).
    public static let mapFull = Code("mapFull")
    /// Every reader slot is taken, also after stale ones were cleared (MDB_READERS_FULL).
    public static let readersFull = Code("readersFull")
    /// More named databases than `Options.maxDatabases` (MDB_DBS_FULL).
    public static let databasesFull = Code("databasesFull")
    /// One transaction changed too many pages (MDB_TXN_FULL).
    public static let transactionFull = Code("transactionFull")
    /// An earlier operation of this transaction failed; it can only be given up (MDB_BAD_TXN).
    public static let transactionFailed = Code("transactionFailed")
    /// Another process grew the map and this one could not follow (MDB_MAP_RESIZED).
    public static let mapResized = Code("mapResized")
    /// Writing a meta page failed; nothing works until `Environment.reopen()` (MDB_PANIC).
    public static let panic = Code("panic")
    /// The file breaks an invariant of LMDB (MDB_CORRUPTED, MDB_PAGE_NOTFOUND, or a check at open).
    public static let corrupted = Code("corrupted")
    /// The named database does not exist (MDB_NOTFOUND).
    public static let notFound = Code("notFound")
    /// The key exists and was not to be overwritten (MDB_KEYEXIST).
    public static let keyExists = Code("keyExists")
    /// An appended key does not follow the last one (MDB_KEYEXIST with MDB_APPEND).
    public static let keyOutOfOrder = Code("keyOutOfOrder")
    /// The key is empty, longer than 511 bytes, or not 8 bytes in a database of integers (MDB_BAD_VALSIZE).
    public static let keyLength = Code("keyLength")
    /// The environment was opened before a fork and is used in the child.
    public static let openedInAnotherProcess = Code("openedInAnotherProcess")
    /// The directory is on a file system where memory maps and locks of several machines do not agree.
    public static let remoteFileSystem = Code("remoteFileSystem")
    /// The file is not an LMDB file (MDB_INVALID).
    public static let invalidFile = Code("invalidFile")
    /// The file was written by another format version of LMDB (MDB_VERSION_MISMATCH).
    public static let versionMismatch = Code("versionMismatch")
    /// The system rejects access (EACCES, EPERM, EROFS), or a write to a read-only environment.
    public static let permission = Code("permission")
    /// The environment is already open in this process with other options.
    public static let optionsDiffer = Code("optionsDiffer")
    /// The data file was replaced while its environment is still open in this process.
    public static let fileReplaced = Code("fileReplaced")
    /// The database exists with other flags (MDB_INCOMPATIBLE).
    public static let incompatibleDatabase = Code("incompatibleDatabase")
    /// The environment was closed.
    public static let closed = Code("closed")
    /// Transactions of this process stayed open for longer than `Options.drainSeconds`.
    public static let busy = Code("busy")
    /// There is no store at the path.
    public static let noStore = Code("noStore")
    /// Any other failure of the system; `number` is its errno.
    public static let io = Code("io")
  }

  /// What the caller can do.
  public enum Advice: Sendable, Hashable {
    /// Try again: later, or with the cause out of the way (space, a long reader).
    case retry
    /// Change the request: the same one will always fail.
    case correct
    /// Stop using the environment until it was reopened, repaired or restored.
    case stop
  }

  /// What went wrong.
  public let code: Code
  /// What was being done: the LMDB function, or a verb of this module.
  public let operation: String
  /// The directory of the environment, when known.
  public internal(set) var path: String?
  /// The key concerned, when there is one.
  public internal(set) var key: [UInt8]?
  /// The number LMDB or the system gave, 0 when this module found the fault.
  public let number: Int32
  /// A sentence about this case.
  public internal(set) var detail: String?
  /// True when a commit failed after its bytes may have reached the disk: look whether it happened before repeating it.
  public internal(set) var outcomeUnknown = false

  init(
    _ code: Code, _ operation: String, path: String? = nil, key: [UInt8]? = nil, number: Int32 = 0,
    detail: String? = nil
  ) {
    self.code = code
    self.operation = operation
    self.path = path
    self.key = key
    self.number = number
    self.detail = detail
  }

  /// What the caller should do.
  public var advice: Advice {
    if outcomeUnknown { return .stop }
    switch code {
    case .diskFull, .mapFull, .readersFull, .mapResized, .busy, .transactionFailed: return .retry
    case .panic, .corrupted, .invalidFile, .versionMismatch, .fileReplaced, .closed, .io: return .stop
    default: return .correct
    }
  }
}
