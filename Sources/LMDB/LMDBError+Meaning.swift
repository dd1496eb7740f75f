import CLMDB
import CSystem
import Glibc

extension LMDBError {
  /// The error for a return code of LMDB: negative ones are its own, positive ones an errno.
  init(code number: Int32, _ operation: String, path: String?, key: [UInt8]? = nil) {
    let code: Code =
      switch number {
      case MDB_KEYEXIST: .keyExists
      case MDB_NOTFOUND: .notFound
      case MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_CURSOR_FULL, MDB_PAGE_FULL: .corrupted
      case MDB_PANIC: .panic
      case MDB_VERSION_MISMATCH: .versionMismatch
      case MDB_INVALID: .invalidFile
      case MDB_MAP_FULL: .mapFull
      case MDB_DBS_FULL: .databasesFull
      case MDB_READERS_FULL: .readersFull
      case MDB_TXN_FULL: .transactionFull
      case MDB_MAP_RESIZED: .mapResized
      case MDB_INCOMPATIBLE, MDB_BAD_DBI: .incompatibleDatabase
      case MDB_BAD_RSLOT, MDB_BAD_TXN: .transactionFailed
      case MDB_BAD_VALSIZE: .keyLength
      case ENOSPC, EDQUOT: .diskFull
      case EIO: Self.hasNoSpace(path) ? .diskFull : .io
      case EACCES, EPERM, EROFS: .permission
      default: .io
      }
    self.init(code, operation, path: path, key: key, number: number)
  }

  /// LMDB turns a short write into EIO; ext4 answers a full disk that way.
  private static func hasNoSpace(_ path: String?) -> Bool {
    guard let path else { return false }
    var space = statvfs()
    guard statvfs(path, &space) == 0 else { return false }
    return UInt64(space.f_bavail) * UInt64(space.f_frsize) < 1 << 20
  }
}

extension LMDBError: CustomStringConvertible {
  /// A full sentence: what failed, where, why, and what to do.
  public var description: String {
    var text = "\(operation) failed"
    if let path { text += " in \(path)" }
    if let key { text += " for key \(Self.hexadecimal(key))" }
    text += ": " + (detail ?? explanation)
    if number != 0 { text += " (\(Self.systemText(number)))" }
    if outcomeUnknown { text += "; the outcome of the commit is unknown, check before repeating it" }
    return text + "."
  }

  /// The same as an error of the store in the directory `path`, if it is of a store that is made inside for a while:
  /// that one goes with its folder, so neither where it was nor how its commit ended says anything.
  package func ofScratch(in path: String) -> LMDBError {
    guard let place = self.path.map({ StoreDirectory.name(of: $0) }), place.hasPrefix(path + "/") else { return self }
    var error = self
    error.path = path
    error.outcomeUnknown = false
    error.detail =
      code == .diskFull
      ? "the disk is full, and the store is unchanged; free some space and try again"
      : "\(detail ?? explanation); the store is unchanged"
    return error
  }

  private var explanation: String {
    switch code {
    case .diskFull where isAboutOpening: "the disk is full; free some space and try again"
    case .diskFull: "the disk is full; free some space and try again, reading still works"
    case .mapFull: "the memory map is full and could not be grown"
    case .readersFull: "every reader slot is taken; end read transactions or raise maxReaders"
    case .databasesFull: "there are more named databases than maxDatabases allows"
    case .transactionFull: "the transaction changed too many pages; split it"
    case .transactionFailed: "an earlier operation of this transaction failed, so it can only be aborted"
    case .mapResized: "another process grew the file and this one could not follow"
    case .panic: "writing a meta page failed earlier; reopen the environment before anything else"
    case .corrupted: "the file is damaged; restore a backup"
    case .notFound: "there is no such database"
    case .keyExists: "the key already exists"
    case .keyOutOfOrder: "the key does not follow the last one"
    case .keyLength: "a key must have 1 to 511 bytes, and exactly 8 in a database of integers"
    case .openedInAnotherProcess: "the environment was opened before a fork; open it again after exec"
    case .remoteFileSystem: "the file system is remote; keep the store on a local disk"
    case .invalidFile: "the file is not an LMDB file"
    case .versionMismatch: "the file has another LMDB format version"
    case .permission: "access is denied"
    case .optionsDiffer: "the environment is open in this process with other options"
    case .fileReplaced: "the data file was replaced while it is open; close the old environment first"
    case .incompatibleDatabase: "the database exists with other flags"
    case .closed: "the environment was closed"
    case .busy: "transactions of this process stayed open too long"
    case .noStore: "there is no store"
    default: "the system reported an error"
    }
  }

  /// Whether the files could not be opened, so that nothing can be read either.
  private var isAboutOpening: Bool {
    ["open", "mkdir", "fsync", "stat", "fstat", "fallocate", "mdb_env_open", "mdb_env_set_mapsize"].contains(operation)
  }

  private static func systemText(_ number: Int32) -> String {
    guard let text = mdb_strerror(number) else { return "error \(number)" }
    return String(cString: text)
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
