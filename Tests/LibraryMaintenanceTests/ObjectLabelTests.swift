import Foundation
import LMDB
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Names of objects")
struct ObjectLabelTests {
  @Test("the names beside changes and differences are read in the same transaction: no second one is begun")
  func oneTransaction() async throws {
    let kept = try await KeptLibrary.make()
    let place = kept.folder.place("fork")
    try kept.library.fork(to: place)
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    let album = try #require(try fork.fetchCollections().first)
    try fork.performChangesAndWait { $0.setTitle("Isle", of: album.id) }
    let environment = fork.store.core.environment
    var names = ObjectLabels(of: fork)
    var found: [String] = []
    let comparison = try fork.readDifferences(from: kept.library) { difference, t in
      try environment.withoutReaders {
        try found.append(contentsOf: names.labels(of: [difference.localIdentifier], t).values)
      }
      return true
    }
    #expect(comparison.counts[.changed] == 1 && found == ["'Isle'"])
    found = []
    try fork.readPropertyChanges(of: album.localIdentifier) { _, t in
      try environment.withoutReaders {
        #expect(throws: LibraryError.self) { try names.labels(of: [album.localIdentifier]) }
        try found.append(contentsOf: names.labels(of: [album.localIdentifier], t).values)
      }
      return false
    }
    #expect(found == ["'Isle'"])
  }
}
