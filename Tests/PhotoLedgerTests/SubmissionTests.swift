import EventLog
import Foundation
import TestSupport
import Testing

@testable import LMDB
@testable import PhotoLedger

/// The three ways to execute a block.
enum Form: CaseIterable {
  case waiting, handling, awaiting

  func perform(
    on library: PhotoLibrary, cause: String? = nil, key: String? = nil, _ changes: (ChangeBlock) throws -> Void
  ) async throws -> CommitReceipt {
    switch self {
    case .waiting: return try library.performChangesAndWait(cause: cause, key: key, changes)
    case .awaiting: return try await library.performChanges(cause: cause, key: key, changes)
    case .handling:
      return try await withCheckedThrowingContinuation { continuation in
        library.performChanges(cause: cause, key: key, changes) { continuation.resume(with: $0) }
      }
    }
  }
}

@Suite("Failures of a block")
struct BlockFailureTests {
  @Test("a rejection by the log is an error of the library, in every form", arguments: Form.allCases)
  func refusedByLog(form: Form) async throws {
    let made = try TemporaryLibrary()
    let long = String(repeating: "c", count: 2000)
    let stranger = PhotoLibrary(store: made.library.store, client: long)
    let cases: [(PhotoLibrary, cause: String?, key: String?, LibraryError.Code)] = [
      (made.library, long, nil, .limitExceeded), (made.library, nil, "", .malformedRequest),
      (made.library, nil, long, .limitExceeded), (stranger, nil, nil, .limitExceeded),
      (stranger, nil, "k", .limitExceeded),
    ]
    let token = try made.library.currentToken
    for (library, cause, key, code) in cases {
      let error = await #expect(throws: LibraryError.self) {
        try await form.perform(on: library, cause: cause, key: key) { $0.createAlbum(title: "x") }
      }
      #expect(error?.code == code && error?.description.contains("bytes") == true)
    }
    #expect(try made.library.currentToken == token)
  }

  @Test("an unknown outcome is reported as such, whatever failed; a full disk only where nothing happened")
  func unknownOutcome() {
    var error = LMDBError(.diskFull, "mdb_txn_commit", path: "/library")
    #expect(LibraryError(error).code == .notEnoughSpace)
    error.outcomeUnknown = true
    #expect(LibraryError(error).code == .outcomeUnknown)
    #expect(LibraryError(EventLogError(error)).code == .outcomeUnknown)
    #expect(LibraryError(error).description.contains("check before repeating it"))
  }
}
