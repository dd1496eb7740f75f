import Foundation
import LMDB
import StoreMigrations

extension TemporaryLibrary {
  /// Raises the number of the store's format, as a newer program does that migrates it.
  package func migrateAsNewerProgram() throws { try noteFormat(StoreFormat.current + 1) }

  /// Notes a number as that of the store's format.
  package func noteFormat(_ number: UInt64) throws {
    let environment = try Environment.store(ofLibrary: url.path)
    let meta = try environment.database(StoreFormat.name, create: false)
    let bytes = [UInt8](repeating: 0, count: 7) + [UInt8(number)]
    try environment.write { t in try t.put(Array("format".utf8), bytes, in: meta) }
  }
}
