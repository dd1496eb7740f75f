#if PeerBenchmarks
  import CSQLite
  import Foundation

  /// An open SQLite database.
  final class SQLite {
    fileprivate let handle: OpaquePointer

    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    /// What a program sets before it writes much.
    enum Settings {
      /// SQLite's own: 2 MB of pages in its cache, a checkpoint whenever the log has 1000 pages.
      case standard
      /// A cache of 512 MiB, and a checkpoint whenever the log has 64 MiB.
      case tuned
    }

    /// Opens a database, or makes it: a write-ahead log, and every commit durable.
    init(_ file: URL, _ settings: Settings = .standard) throws {
      var opened: OpaquePointer?
      let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
      guard sqlite3_open_v2(file.path, &opened, flags, nil) == SQLITE_OK, let opened else {
        throw Failure(description: "SQLite cannot open \(file.path).")
      }
      handle = opened
      try run("PRAGMA journal_mode=WAL")
      try run("PRAGMA synchronous=FULL")
      // As much as the library maps: all of it.
      try run("PRAGMA mmap_size=68719476736")
      if settings == .tuned {
        try run("PRAGMA cache_size=-524288")
        try run("PRAGMA wal_autocheckpoint=16384")
      }
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements that give nothing.
    func run(_ statements: String) throws {
      guard sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else { throw failure(statements) }
    }

    fileprivate func failure(_ what: String) -> Failure {
      Failure(description: "SQLite refused '\(what)': \(String(cString: sqlite3_errmsg(handle)))")
    }
  }

  /// A prepared statement.
  final class SQLiteStatement {
    private let database: SQLite
    private let handle: OpaquePointer
    private let text: String

    init(_ text: String, in database: SQLite) throws {
      self.database = database
      self.text = text
      var made: OpaquePointer?
      guard sqlite3_prepare_v2(database.handle, text, -1, &made, nil) == SQLITE_OK, let made else {
        throw database.failure(text)
      }
      handle = made
    }

    deinit { sqlite3_finalize(handle) }

    /// What a parameter is bound to.
    enum Value {
      case integer(Int64), real(Double?), text(String?), blob([UInt8])
    }

    /// Runs the statement once, for what it does.
    func run(_ values: [Value] = []) throws {
      try begin(values)
      guard sqlite3_step(handle) == SQLITE_DONE else { throw database.failure(text) }
    }

    /// The first column of every row.
    func integers(_ values: [Value] = []) throws -> [Int64] {
      try begin(values)
      var found: [Int64] = []
      while true {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: found.append(sqlite3_column_int64(handle, 0))
        case SQLITE_DONE: return found
        default: throw database.failure(text)
        }
      }
    }

    private func begin(_ values: [Value]) throws {
      sqlite3_reset(handle)
      // SQLite copies what is marked as transient (-1).
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      for (index, value) in values.enumerated() {
        let place = Int32(index + 1)
        let code =
          switch value {
          case .integer(let number): sqlite3_bind_int64(handle, place, number)
          case .real(let number?): sqlite3_bind_double(handle, place, number)
          case .text(let text?): sqlite3_bind_text(handle, place, text, -1, transient)
          case .blob(let bytes): sqlite3_bind_blob(handle, place, bytes, Int32(bytes.count), transient)
          case .real(nil), .text(nil): sqlite3_bind_null(handle, place)
          }
        guard code == SQLITE_OK else { throw database.failure(text) }
      }
    }
  }
#endif
