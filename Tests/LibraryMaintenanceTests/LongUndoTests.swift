import EventLog
import Foundation
import LibraryMaintenance
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Undo of more than a commit holds")
struct LongUndoTests {
  private let made: TemporaryLibrary
  private var library: PhotoLibrary { made.library }

  init() throws { made = try TemporaryLibrary() }

  /// The library with a log of which a commit holds few events.
  private func limited(toEvents count: Int) throws -> PhotoLibrary {
    let store = library.store
    var limits = EventLog.Limits()
    limits.commitEvents = count
    let core = StoreCore(
      environment: store.core.environment,
      log: try EventLog(in: store.core.environment, limits: limits, creates: false),
      projections: store.core.projections, libraryEnvironment: store.core.libraryEnvironment,
      identifier: store.core.identifier)
    return PhotoLibrary(
      store: LibraryStore(core: core, resources: store.resources, signal: store.signal), client: PhotoLibrary.owner)
  }

  private func isSound() throws -> Bool { try library.verify(scratch: made.folder.url).isSound }

  @Test("an import of many commits is undone in several, the latest first", arguments: [true, false])
  func parts(isByCause: Bool) throws {
    let before = try UndoState(ofLibrary: made.url.path)
    let start = try library.currentToken
    var tokens: [Token] = []
    for seed in 0..<40 {
      tokens.append(try library.performChangesAndWait(cause: "import") { $0.createAsset(.invented(seed)) }.token)
    }
    let few = try limited(toEvents: 15)
    let error = #expect(throws: LibraryError.self) { try few.undoAndWait(.cause("import")) }
    #expect(error?.code == .limitExceeded && error?.description.contains("in ranges, the latest first") == true)
    #expect(try library.fetchAssets().count == 40)
    var reports: [UndoReport] = []
    let selection = isByCause ? UndoSelection.cause("import") : .commits(after: start)
    try few.undoInParts(selection, onConflict: .refuse, cause: "undo") { reports.append($0) }
    #expect(reports.count > 2 && reports.reversed().flatMap(\.commits) == tokens)
    #expect(reports.allSatisfy { $0.conflicts.isEmpty && $0.token != nil })
    #expect(try UndoState(ofLibrary: made.url.path) == before && isSound())
  }

  @Test("the undo of one commit that is more than a commit holds is refused")
  func single() throws {
    let receipt = try library.performChangesAndWait { block in
      for seed in 0..<40 { block.createAsset(.invented(seed)) }
    }
    let few = try limited(toEvents: 15)
    let error = #expect(throws: LibraryError.self) {
      try few.undoInParts(.commit(receipt.token), onConflict: .refuse, cause: nil) { _ in }
    }
    #expect(error?.code == .limitExceeded)
    #expect(try library.currentToken == receipt.token)
  }
}
