import Foundation
import LibraryMaintenance
import TestSupport
import Testing

@testable import PhotoLedger

// Undoing that a selection follows an album. Whatever the album was given since, the client sees afterwards what it was
// granted by hand, and nothing else; where another following made its selection since, that is a conflict.

@Suite("Undo of a selection that follows an album")
struct UndoneFollowingTests {
  private static let name = "com.example.app"

  private let made: TemporaryLibrary
  private let ids: [LocalIdentifier]
  private let album: LocalIdentifier
  private var library: PhotoLibrary { made.library }

  /// The client is granted the first two assets by hand; the second and the third are in the album.
  init() throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(6)
    try made.library.performChangesAndWait { block in
      block.register(client: Self.name, .described)
      block.setAuthorizationStatus(.limited, of: Self.name)
      block.grant([ids[0], ids[1]], to: Self.name)
    }
    album = try made.album([ids[1], ids[2]])
    (self.made, self.ids) = (made, ids)
  }

  /// The positions of the assets that the client sees.
  private func shown() throws -> Set<Int> {
    let shown = Set(try library.as(Self.name).fetchAssets().map(\.id))
    return Set(ids.indices.filter { shown.contains(ids[$0]) })
  }

  private func followed() throws -> ObjectNumber? {
    try UndoState(ofLibrary: made.url.path).clients[Self.name]?.followedAlbum
  }

  @discardableResult
  private func follow(_ album: LocalIdentifier?, cause: String? = nil) throws -> Token {
    try library.performChangesAndWait(cause: cause) { $0.follow(album, as: Self.name) }.token
  }

  /// Adds the fourth asset to the album, and removes the second.
  private func changeAlbum() throws {
    try library.performChangesAndWait { $0.album(album).add([ids[3]]) }
    try library.performChangesAndWait { $0.album(album).remove([ids[1]]) }
  }

  @Test("the client sees again what it saw before, and no later addition to the album")
  func changedAlbum() throws {
    let token = try follow(album)
    #expect(try shown() == [1, 2])
    try changeAlbum()
    #expect(try shown() == [2, 3])
    let report = try library.undoAndWait(.commit(token))
    #expect(report.conflicts.isEmpty)
    #expect(try shown() == [0, 1] && followed() == nil)
    let members = report.changes.filter { $0.property == "orderKey" }.map(\.object)
    #expect(Set(members) == Set(ids[...3].map { UndoChange.Subject.asset($0).spelling }))
    try library.undoAndWait(.commit(try #require(report.token)))
    #expect(try shown() == [2, 3] && followed() != nil)
    #expect(try library.verify(scratch: made.folder.url).isSound)
  }

  @Test("the plan names the albums that a selection follows like the list of clients")
  func namesAlbum() throws {
    let other = try made.album([ids[5]])
    try follow(album)
    let token = try follow(other)
    let plan = try library.planUndo(.commit(token))
    let change = try #require(plan.changes.first { $0.property == "followedAlbum" })
    #expect(change.current == .text(other.spelled(as: .album)))
    #expect(change.restored == .text(album.spelled(as: .album)))
  }

  @Test("what the album granted the client is withdrawn also if it follows nothing now; later grants stay")
  func endedSince() throws {
    let token = try follow(album)
    try changeAlbum()
    try follow(nil)
    try library.performChangesAndWait { $0.grant([ids[4]], to: Self.name) }
    #expect(try shown() == [2, 3, 4])
    let report = try library.undoAndWait(.commit(token))
    #expect(report.conflicts.isEmpty)
    #expect(try shown() == [0, 1, 4])
  }

  @Test("a following that others began since is a conflict, also if it has ended", arguments: [false, true])
  func followedSince(hasEnded: Bool) throws {
    let token = try follow(album)
    try changeAlbum()
    try follow(try made.album([ids[5]]))
    if hasEnded { try follow(nil) }
    let head = try library.currentToken
    let error = #expect(throws: LibraryError.self) { try library.undoAndWait(.commit(token)) }
    #expect(error?.code == .conflict)
    let skipped = try library.undoAndWait(.commit(token), onConflict: .skip)
    #expect(skipped.changes.isEmpty && !skipped.conflicts.isEmpty)
    #expect(try shown() == [5] && library.currentToken == head)
    try library.undoAndWait(.commit(token), onConflict: .force)
    #expect(try shown() == [0, 1] && followed() == nil)
  }

  @Test("a selection that a later commit has kept stays, or by force becomes the earlier album")
  func keptSince() throws {
    try follow(album)
    let token = try follow(try made.album([ids[4], ids[5]]))
    try follow(nil)
    #expect(throws: LibraryError.self) { try library.undoAndWait(.commit(token)) }
    let skipped = try library.undoAndWait(.commit(token), onConflict: .skip)
    #expect(skipped.changes.isEmpty)
    #expect(try shown() == [4, 5])
    try library.undoAndWait(.commit(token), onConflict: .force)
    #expect(try shown() == [1, 2] && followed() != nil)
  }

  @Test("an asset that is added to the album after the undo was prepared is not left to the client")
  func raced() throws {
    let token = try follow(album)
    let racer = Racer { [library = self.library, id = ids[4], album = self.album] in
      _ = try? library.store.perform([.insert([id], .init(identifier: album), at: nil)], cause: "in between")
    }
    try library.setChangeConfirmation(racer)
    try library.undoAndWait(.commit(token))
    #expect(try shown() == [0, 1])
    #expect(try made.members(album).map(\.id) == [ids[1], ids[2], ids[4]])
  }

  @Test("an asset that the undone commits created, and that others keep in the album, is not left to the client")
  func createdInBetween() throws {
    var created = ids[0]
    try library.performChangesAndWait(cause: "job") { created = $0.createAsset(.invented(9)) }
    try follow(album, cause: "job")
    try library.performChangesAndWait(cause: "other") { $0.album(album).add([created]) }
    #expect(try library.as(Self.name).fetchAssets().contains { $0.id == created })
    let report = try library.undoAndWait(.cause("job"), onConflict: .skip)
    #expect(!report.conflicts.isEmpty)
    #expect(try library.fetchAssets().contains { $0.id == created })
    #expect(try Set(library.as(Self.name).fetchAssets().map(\.id)) == [ids[0], ids[1]])
  }

  @Test("the grant of an asset that the undone commits created and that was purged since is not a conflict")
  func createdAndPurged() throws {
    var created = ids[0]
    try library.performChangesAndWait(cause: "job") { created = $0.createAsset(.invented(9)) }
    try library.performChangesAndWait(cause: "other") { $0.grant([created], to: Self.name) }
    try follow(album, cause: "job")
    try library.performChangesAndWait(cause: "other") { $0.deleteAssets([created]) }
    try library.performChangesAndWait(cause: "other") { $0.purgeAssets([created]) }
    let report = try library.undoAndWait(.cause("job"))
    #expect(report.conflicts.isEmpty)
    #expect(try shown() == [0, 1] && followed() == nil)
  }

  /// Creates an album with the fifth asset.
  private func createAlbum(cause: String? = nil) throws -> (album: LocalIdentifier, token: Token) {
    var created: LocalIdentifier?
    let token = try library.performChangesAndWait(cause: cause) { block in
      let new = block.createAlbum(title: "Shared")
      block.album(new).add([ids[4]])
      created = new
    }.token
    return (try #require(created), token)
  }

  @Test("the creation of an album that others made a selection follow since is a conflict")
  func createdAlbum() throws {
    let created = try createAlbum()
    let followed = try follow(created.album)
    let plan = try library.planUndo(.commit(created.token))
    #expect(plan.isRefused && plan.conflicts.map(\.reason) == [.changedSince])
    #expect(plan.conflicts.first?.sentence.contains("'\(Self.name)' was made to follow it") == true)
    let skipped = try library.undoAndWait(.commit(created.token), onConflict: .skip)
    #expect(skipped.changes.isEmpty)
    #expect(try shown() == [4] && library.currentToken == followed)
    try library.undoAndWait(.commit(created.token), onConflict: .force)
    #expect(try shown().isEmpty && library.collection(created.album.uuidString) == nil)
    #expect(try library.verify(scratch: made.folder.url).isSound)
  }

  @Test("the creation of an album that only a denied client follows is undone, unless the undo gives it access again")
  func createdAlbumOfDenied() throws {
    let created = try createAlbum(cause: "job")
    try follow(created.album)
    try library.performChangesAndWait(cause: "job") { $0.setAuthorizationStatus(.denied, of: Self.name) }
    let both = try library.planUndo(.cause("job"))
    #expect(both.isRefused && both.conflicts.map(\.reason) == [.changedSince])
    let report = try library.undoAndWait(.commit(created.token))
    #expect(report.conflicts.isEmpty)
    #expect(try library.collection(created.album.uuidString) == nil)
    #expect(try library.verify(scratch: made.folder.url).isSound)
  }

  @Test("the creation of an album is undone together with the following, and the client sees what it saw before")
  func createdAndFollowed() throws {
    let start = try library.currentToken
    let created = try createAlbum()
    try follow(created.album)
    let report = try library.undoAndWait(.commits(after: start))
    #expect(report.conflicts.isEmpty)
    #expect(try shown() == [0, 1] && followed() == nil)
    #expect(try library.collection(created.album.uuidString) == nil)
  }

  @Test(
    "whatever happens to the albums, undone or not, the client sees what it was granted manually",
    arguments: 1...(Dose.isFull ? 20 : 8) as ClosedRange<UInt64>)
  func anyChanges(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let albums = [album, try made.album([ids[4]])]
    try follow(albums[0], cause: "chosen")
    for _ in 0..<12 {
      let cause = random.one(of: ["chosen", "other"])
      let editedAlbum = random.one(of: albums)
      let some = random.some(2, of: ids)
      switch random.int(0..<5) {
      case 0: try follow(editedAlbum, cause: "chosen")
      case 1, 2: try library.performChangesAndWait(cause: cause) { $0.album(editedAlbum).add(some) }
      default:
        let members = try made.members(editedAlbum).map(\.id)
        let going = some.filter { members.contains($0) }
        try library.performChangesAndWait(cause: cause) { $0.album(editedAlbum).remove(going) }
      }
    }
    var expected: Set = [0, 1]
    if random.chance(1, of: 2) {
      try follow(nil, cause: "other")
      let seen = try shown()
      for index in random.positions(2, of: ids.count) {
        try library.performChangesAndWait { block in
          if seen.contains(index) {
            block.withdraw([ids[index]], from: Self.name)
          } else {
            block.grant([ids[index]], to: Self.name)
          }
        }
        if seen.contains(index) { expected.remove(index) } else { expected.insert(index) }
      }
    }
    let report = try library.undoAndWait(.cause("chosen"), onConflict: .skip)
    #expect(report.conflicts.allSatisfy { $0.change.kind != .permission }, "seed \(seed)")
    #expect(try shown() == expected && followed() == nil, "seed \(seed)")
  }
}
