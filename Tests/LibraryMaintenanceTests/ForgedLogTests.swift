import EventLog
import Foundation
import LMDB
import LibraryAudit
import LibraryMaintenance
import TestSupport
import Testing

@testable import PhotoLedger

// Lines whose hashes are right, with an event that no library writes. The chain proves that lines were not altered
// after they were written, but not what wrote them; so each event is compared with those before it.

@Suite("Logs forged with the right hashes")
struct ForgedLogTests {
  /// An event that continues the log of a library and contradicts it.
  enum Forgery: CaseIterable {
    case returnedBeyond, returnedLiving, rootAgain, clientElsewhere, pickElsewhere, mismatch

    /// Whether the event alone is well formed, and the events before it contradict it.
    var isWellFormed: Bool { [.returnedBeyond, .returnedLiving, .mismatch].contains(self) }

    func event(of kept: KeptLibrary) throws -> Event {
      let date = Date(timeIntervalSinceReferenceDate: 0)
      let stranger = LocalIdentifier(high: 1, low: 2)
      switch self {
      case .returnedBeyond: return Self.returned(1 << 62, stranger)
      case .returnedLiving: return Self.returned(try Self.number(of: kept.twin, in: kept), stranger)
      case .rootAgain:
        let row = CollectionRow(number: rootFolder, identifier: stranger, kind: .album, title: "root", date: date)
        return .collectionCreated(CollectionExistence(row: row, key: OrderKey(rawValue: 1 << 63)))
      case .clientElsewhere:
        return .clientRegistered(ClientRow(number: 2, name: "com.example.forged", registeredDate: date))
      case .pickElsewhere: return .pickRecorded(PickRow(number: 2, client: 2, date: date, withheld: []))
      case .mismatch:
        // The asset is not a favorite, and so cannot stop being one.
        let change = AssetChange(field: .isFavorite, old: .bool(true), new: .bool(false))
        let edit = AssetEdit(number: try Self.number(of: kept.twin, in: kept), changes: [change])
        return .assetsEdited(AssetsEdited(verb: .edited, edits: [edit], shifts: []))
      }
    }

    private static func returned(_ number: UInt64, _ identifier: LocalIdentifier) -> Event {
      let row = AssetRow(number: number, identifier: identifier, addedDate: Date(timeIntervalSinceReferenceDate: 0))
      var existence = AssetExistence(row: row, details: AssetDetails())
      existence.isByUndo = true
      return .assetCreated(existence)
    }

    fileprivate static func number(of asset: LocalIdentifier, in kept: KeptLibrary) throws -> UInt64 {
      let core = kept.library.store.core
      let found = try core.environment.read { t in try core.assetNumber(asset, t) }
      return try #require(found)
    }
  }

  @Test("an event that contradicts those before it is refused by name, and leaves nothing", arguments: Forgery.allCases)
  func refused(forgery: Forgery) async throws {
    let kept = try await KeptLibrary.make()
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(kept.library)))
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let dump = try StoreDump(Environment.store(ofLibrary: place.path))
    let start = try kept.library.currentToken
    let event = try forgery.event(of: kept)
    let sequence = try Environment.store(ofLibrary: kept.url.path).appendForeignEvent(
      event.type, version: event.version, payload: event.payload())
    let lines = try LogText.lines(kept.library)
    let rest = try LogText.lines(kept.library, after: start)
    let again = kept.folder.place("again")
    let whole = #expect(throws: LibraryError.self) {
      try PhotoLibrary.importLog(to: again, next: LogText.source(lines))
    }
    let appended = #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(rest)) }
    for error in [whole, appended] {
      let description = error?.description ?? ""
      #expect(error?.code == .corrupted && description.contains("vent \(sequence)"), "\(forgery): \(description)")
      #expect(description.hasPrefix("The lines are consistent, ") == forgery.isWellFormed, "\(forgery): \(description)")
      #expect(!description.contains("`rebuild`"), "\(forgery): \(description)")
      // It names what the events disagree about.
      if forgery == .mismatch {
        #expect(description.contains("the isFavorite of object "), "\(description)")
        #expect(!description.contains("which event"), "\(description)")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: again.path))
    #expect(try StoreDump(Environment.store(ofLibrary: place.path)).difference(from: dump) == nil)
  }

  @Test(
    "a replacement of an erased event that makes no event is refused as that, with the reason, and leaves nothing",
    arguments: [true, false])
  func badReplacement(isOfOldEvent: Bool) async throws {
    let kept = try await KeptLibrary.make()
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(kept.library)))
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let dump = try StoreDump(Environment.store(ofLibrary: place.path))
    let start = try kept.library.currentToken
    let asset = try await isOfOldEvent ? kept.twin : kept.small.assets(1)[0]
    let number = try Forgery.number(of: asset, in: kept)
    let redaction = AssetErased.Redaction(sequence: number, version: 1, payload: [0xFF])
    let erasure = Event.assetErased(AssetErased(numbers: [number], redactions: [redaction]))
    let environment = try Environment.store(ofLibrary: kept.url.path)
    try environment.appendForeignEvent(erasure.type, version: erasure.version, payload: erasure.payload())
    let log = try EventLog(in: environment)
    _ = try environment.write { t in try log.erasePayload(of: number, in: &t) }
    let lines = try LogText.lines(kept.library)
    let rest = try LogText.lines(kept.library, after: start)
    let again = kept.folder.place("again")
    let whole = #expect(throws: LibraryError.self) {
      try PhotoLibrary.importLog(to: again, next: LogText.source(lines))
    }
    let appended = #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(rest)) }
    for error in [whole, appended] {
      let description = error?.description ?? ""
      #expect(error?.code == .corrupted, "\(description)")
      #expect(description.contains("he replacement of the erased event \(number) is invalid. "), "\(description)")
      #expect(description.contains("CBOR") && !description.contains("contradicts"), "\(description)")
      #expect(description.contains("Nothing was imported; run `verify`"), "\(description)")
    }
    #expect(!FileManager.default.fileExists(atPath: again.path))
    #expect(try StoreDump(Environment.store(ofLibrary: place.path)).difference(from: dump) == nil)
  }

  @Test("an asset that undos take out and restore again and again is replayed, imported and erased")
  func returnedTwice() throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let receipt = try library.performChangesAndWait { $0.createAsset(.invented(1)) }
    let asset = try #require(LocalIdentifier(receipt.created[0]))
    var token = receipt.token
    for _ in 1...4 { token = try #require(try library.undoAndWait(.commit(token)).token) }
    #expect(try library.asset(asset.uuidString) != nil)
    var returnCount = 0
    try library.forEachLogEntry { entry in
      if entry.type == "asset.returned" { returnCount += 1 }
      return true
    }
    #expect(returnCount == 2)
    for erases in [false, true] {
      if erases { try library.eraseAssets([asset]) }
      try library.rebuild()
      let place = made.folder.place(erases ? "erased" : "again")
      try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(library)))
      let dumps = try [place, made.url].map { try StoreDump(Environment.store(ofLibrary: $0.path)) }
      #expect(dumps[0].difference(from: dumps[1]) == nil)
      #expect(try library.verify(scratch: made.folder.url).isSound)
    }
  }
}
