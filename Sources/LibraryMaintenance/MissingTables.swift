import EventLog
import Foundation
import LMDB
import PhotoLedger
import StoreMigrations

extension LibraryStore {
  /// Creates missing derived tables, empty, after recording that the next opening has to fill them. Entries under names
  /// of no table are remains of such a table, and are cleared: nothing else would ever erase them.
  /// - Returns: whether any was missing; also false without a store or a log, which opening reports.
  static func makeMissingTables(_ url: URL) throws -> Bool {
    let path = storePath(url.standardFileURL)
    guard hasStore(url), !isEmptyStore(url) else { return false }
    return try reporting {
      var options = Self.options
      options.createsStore = false
      let environment = try LMDB.Environment.open(path: path, options: options)
      _ = try checkedSteps(of: environment, at: url)
      let names = try environment.databaseNames()
      guard EventLog.ownTableNames.allSatisfy(names.contains), !derivedTableNames.allSatisfy(names.contains)
      else { return false }
      for name in EventLog.ownTableNames + [StoreFormat.name] {
        // A table that exists but is not found by its name: more than a table is damaged.
        guard (try? environment.databaseOfAnyKeys(name)) != nil else { return false }
      }
      try checkLog(in: environment, names)
      let format = try StoreFormat(in: environment)
      let known = derivedTableNames + EventLog.ownTableNames + [StoreFormat.name]
      let strangers = names.filter { !known.contains($0) }.compactMap { name in
        try? environment.databaseOfAnyKeys(name)
      }
      try environment.write { t in
        try format.noteMissingProjections(in: &t)
        for stranger in strangers { try t.clear(stranger) }
      }
      try EventLog.makeDerivedTables(in: environment)
      _ = try Projections(in: environment)
      return true
    }
  }

  /// Refuses a store whose log was altered before anything in it is changed: nothing can be replayed from it. A log
  /// that lacks tables of its own is checked by the rebuild that makes them.
  private static func checkLog(in environment: LMDB.Environment, _ names: [String]) throws {
    guard EventLog.derivedTableNames.allSatisfy(names.contains) else { return }
    let log = try EventLog(in: environment, creates: false)
    let defect = try environment.read { t in try log.verify(in: t).defect }
    if let defect, defect.kind != .derivedCommit, defect.kind != .derivedKey { throw StoreCore.refusal(of: defect) }
  }
}
