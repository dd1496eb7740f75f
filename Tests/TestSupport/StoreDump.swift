package import LMDB
import EventLog

/// Every byte of a store, database by database, in the order of the keys.
package struct StoreDump: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    package let key: [UInt8]
    package let value: [UInt8]
  }

  package private(set) var databases: [String: [Entry]] = [:]

  /// The databases whose keys are numbers.
  package static let numbered: Set<String> = [
    "events", "commits", "assets", "details", "collections", "clients", "picks", "redactions",
  ]

  /// Reads some or all databases of an environment.
  package init(_ environment: Environment, only names: [String]? = nil) throws {
    for name in try names ?? environment.databaseNames() {
      let database = try environment.database(name, integerKeys: Self.numbered.contains(name), create: false)
      databases[name] = try environment.read { t in
        var entries: [Entry] = []
        try t.forEach(in: database) { (key, value) throws(LMDBError) in
          entries.append(Entry(key: key.withUnsafeBytes { Array($0) }, value: value.withUnsafeBytes { Array($0) }))
          return .proceed
        }
        return entries
      }
    }
  }

  /// A sentence about the first difference; nil if there is none.
  package func difference(from other: StoreDump) -> String? {
    for name in Set(databases.keys).union(other.databases.keys).sorted() {
      let (here, there) = (databases[name] ?? [], other.databases[name] ?? [])
      if let index = zip(here, there).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        return "\(name) differs at entry \(index): key \(here[index].key) has \(here[index].value), "
          + "key \(there[index].key) has \(there[index].value)"
      }
      if here.count != there.count { return "\(name) has \(here.count) entries, the other \(there.count)" }
    }
    return nil
  }
}

extension StoreDump {
  /// The SHA-256 of everything.
  package var digest: String {
    var bytes: [UInt8] = []
    for (name, entries) in databases.sorted(by: { $0.key < $1.key }) {
      bytes += Array(name.utf8) + [0]
      for entry in entries { for part in [entry.key, entry.value] { bytes += Array("\(part.count):".utf8) + part } }
    }
    return SHA256.digest(of: bytes).description
  }
}

extension Environment {
  /// The store of the library in a directory, opened as the library opens it.
  package static func store(ofLibrary path: String) throws -> Environment {
    var options = Options()
    options.maxDatabases = 128
    return try open(path: path + "/store", options: options)
  }
}
