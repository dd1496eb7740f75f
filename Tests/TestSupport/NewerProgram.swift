import Foundation
import LMDB
import StoreMigrations

extension TemporaryLibrary {
  /// Raises the number of the store's format, as a newer program does that migrates it.
  package func migrateAsNewerProgram() throws {
    let environment = try Environment.store(ofLibrary: url.path)
    let meta = try environment.database(StoreFormat.name, create: false)
    let next = [UInt8](repeating: 0, count: 7) + [UInt8(StoreFormat.current) + 1]
    try environment.write { t in try t.put(Array("format".utf8), next, in: meta) }
  }
}
