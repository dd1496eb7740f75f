import EventLog
package import Foundation
import Glibc
import LMDB

// Rolling back the creation of a library.
//
// A creation makes the folders of its path, the store and the folders of resources. A full disk can stop it anywhere,
// and an import that creates a library for its photos may end before the first of them. In both cases the path must be
// restored to its previous state:
//
//     /home/ada          was there       stays
//     /home/ada/photos   was missing     removed once it is empty
//        store/          was missing     LMDB's files, if the library is the one that was made and nothing was added
//        resources/      was missing     removed with the store; one that was there stays, with its files
//        imports/        was missing     removed with the store; the same
//
// Invariant: what existed before, and what another process put there or opened, stays. LMDB's files are removed under
// the lock that every user of a store shares, so a library that another process has opened is left alone, and one that
// another process has made at the same path is known by its identifier.
//
// Rejected: filling the library under another name and renaming it (UnfinishedFolder). The store is open when the
// creation returns, and its files would be known by a path that no longer exists.

/// What a creation found missing, so that it can be rolled back.
package struct CreationRollback: Sendable {
  let url: URL
  /// The folders that were missing, the outermost first; the last one is the store's, if any was.
  private let missing: [String]
  /// The folders of the library that were missing, the inner ones first: what lies in them came with the library.
  private let own: [String]

  /// Records what is missing, before a library is created.
  /// - Parameter url: the directory of the library.
  package init(of url: URL) {
    self.url = url.standardFileURL
    var (path, missing) = ("", [String]())
    for name in LibraryStore.storePath(self.url).split(separator: "/") {
      path += "/\(name)"
      if access(path, F_OK) != 0 { missing.append(path) }
    }
    self.missing = missing
    let library = self.url.path
    own = ["store", "resources/incoming", "resources", "imports"].map { "\(library)/\($0)" }
      .filter { access($0, F_OK) != 0 }
  }

  /// Removes the library that was created if nothing was added to it, and every folder that was made for it.
  ///
  /// The library has to be closed in this process.
  /// - Parameter identifier: the library's; one with another stays.
  /// - Returns: whether there is no library any more. False if something was added or it is open elsewhere: all stays.
  /// - Throws: ``LibraryError`` `.storage` for what cannot be removed.
  package func run(of identifier: LocalIdentifier) throws -> Bool {
    let store = LibraryStore.storePath(url)
    guard missing.last == store else { return false }
    if access(store, F_OK) == 0 {
      guard try discardStore(store, identifier) else { return false }
      for folder in own where access(folder, F_OK) == 0 { try FileManager.default.removeItem(atPath: folder) }
    }
    for folder in missing.dropLast().reversed() where rmdir(folder) != 0 && errno != ENOENT {
      // Something else was put there meanwhile.
      if errno == ENOTEMPTY || errno == EEXIST || errno == EBUSY { break }
      throw LibraryError.store(folder, "remove the folder", errno: errno)
    }
    return true
  }

  /// The failure of a creation, after what it made was removed.
  func run(after failure: LibraryError, of identifier: LocalIdentifier) -> LibraryError {
    do {
      _ = try run(of: identifier)
      return failure
    } catch {
      return LibraryError(
        failure.code, "\(failure.description) The files at \(url.path) remain: \(LibraryError(error).description)")
    }
  }

  private func discardStore(_ path: String, _ identifier: LocalIdentifier) throws -> Bool {
    do {
      return try LMDB.Environment.discard(path: path, options: LibraryStore.options) { environment in
        // A creation that was stopped before its commit.
        let names = try environment.databaseNames()
        guard EventLog.ownTableNames.allSatisfy(names.contains) else { return true }
        let log = try EventLog(in: environment, creates: false)
        return try environment.read { t in
          let head = try log.head(t).sequence
          guard head == 1 else { return head == 0 }
          return try LibraryStore.identifier(of: log, t, at: url) == identifier
        }
      }
    } catch let error as LMDBError where error.code == .busy {
      return false
    }
  }
}

extension PhotoLibrary {
  /// Whether there is a library in a directory, sound or not.
  /// - Parameter url: the directory.
  package static func exists(at url: URL) -> Bool { LibraryStore.hasStore(url) }

  /// Whether the creation of a library in a directory was cut short: creating it again finishes it.
  /// - Parameter url: the directory.
  package static func isUnfinished(at url: URL) -> Bool { LibraryStore.isUnfinished(url) }

  /// Closes the library, and rolls back its creation if nothing was added to it. One that was moved
  /// stays, with the folders made for it.
  /// - Returns: whether it was removed; see ``CreationRollback/run(of:)``.
  /// - Throws: ``LibraryError`` `.storage`.
  package func closeAndDiscard(by rollback: CreationRollback) throws -> Bool {
    let isInPlace = store.folder.isNamed(by: rollback.url.path)
    close()
    // At once: a thread that ends may hold the store a moment longer.
    try store.core.environment.close()
    return try isInPlace && rollback.run(of: store.core.identifier)
  }
}
