import EventLog
import Foundation
import LibraryMaintenance
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Undo that does not fit into one commit")
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

  @Test("the error names the limits and changes nothing, and the ranges are undone, the latest first")
  func ranges() throws {
    let before = try UndoState(ofLibrary: made.url.path)
    var tokens: [Token] = []
    for seed in 0..<40 {
      tokens.append(try library.performChangesAndWait(cause: "import") { $0.createAsset(.invented(seed)) }.token)
    }
    let few = try limited(toEvents: 15)
    let error = try #require(throws: LibraryError.self) { try few.undoAndWait(.cause("import")) }
    #expect(error.code == .limitExceeded)
    for words in ["at most 15 events and 64 MiB", "by ranges, the latest first", "--from and --to"] {
      #expect(error.description.contains(words), "\(error)")
    }
    #expect(try library.currentToken == tokens.last)
    for end in stride(from: 30, through: 0, by: -10) {
      var selection = UndoSelection.cause("import")
      selection.after = end == 0 ? nil : tokens[end - 1]
      selection.through = tokens[end + 9]
      let report = try few.undoAndWait(selection)
      #expect(report.conflicts.isEmpty && report.token != nil)
      #expect(try library.fetchAssets().count == end)
    }
    #expect(try UndoState(ofLibrary: made.url.path) == before && isSound())
  }
}
