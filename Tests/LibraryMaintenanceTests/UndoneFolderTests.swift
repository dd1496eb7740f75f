import Foundation
import LibraryMaintenance
import TestSupport
import Testing

@testable import PhotoLedger

// Undoing what was done to folders whose own folder was deleted since: whatever is left out, each live collection hangs
// in live folders up to the root.

@Suite("Undo in folders that are gone")
struct UndoneFolderTests {
  /// Folders, each in the one before; the first one is at the top level.
  private func chain(_ small: SmallLibrary, _ titles: String...) async throws -> [LocalIdentifier] {
    var ids: [LocalIdentifier] = []
    for title in titles {
      let id = try await small.folder(title).id
      if let parent = ids.last { try await small.change { $0.folder(parent).add([id]) } }
      ids.append(id)
    }
    return ids
  }

  /// Undoes the commits of the cause `tidy` where they still stand, and checks what is left.
  private func undoTidying(_ small: SmallLibrary) throws -> UndoReport {
    let plan = try small.library.planUndo(.cause("tidy"))
    #expect(plan.isRefused)
    let report = try small.library.undoAndWait(.cause("tidy"), onConflict: .skip)
    let collections = try UndoState(ofLibrary: small.library.url.path).collections
    for (number, collection) in collections where number != rootFolder {
      let home = collections[collection.parent]
      #expect(home?.members.contains(number) == true, "\(collection.title ?? "") is in no live folder.")
    }
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
    return report
  }

  @Test("a collection is not moved back into a folder that should be restored and stays deleted")
  func movedOut() async throws {
    let small = try SmallLibrary()
    let ids = try await chain(small, "P", "X", "B", "A")
    try small.library.performChangesAndWait(cause: "tidy") { $0.folder(nil).add([ids[3]]) }
    try small.library.performChangesAndWait(cause: "tidy") { $0.deleteCollections([ids[1]]) }
    try await small.change { $0.deleteCollections([ids[0]]) }
    let report = try undoTidying(small)
    #expect(try small.children(nil) == [ids[3]])
    #expect(report.changes.isEmpty && report.token == nil)
    #expect(report.conflicts.map(\.change.property) == ["deletedDate", "deletedDate", "parent"])
    #expect(report.conflicts.allSatisfy { $0.reason == .homeGone && $0.outcome == .skipped })
    let name = ids[3].spelled(as: .folder)
    #expect(report.conflicts.last?.sentence == "The former folder of the folder \(name) is deleted.")
    // By force each deleted folder comes back, the outermost at the top level.
    try small.library.undoAndWait(.cause("tidy"), onConflict: .force)
    #expect(try small.children(nil) == [ids[1]])
    let (outer, inner) = (try small.now(ids[1]), try small.now(ids[2]))
    #expect(try small.children(outer) == [ids[2]] && small.children(inner) == [ids[3]])
  }

  @Test("a move that depends on an omitted one is omitted, too: no folder is moved into itself (FO-05)")
  func closedLoop() async throws {
    let small = try SmallLibrary()
    let ids = try await chain(small, "P", "X", "B", "A", "K")
    try small.library.performChangesAndWait(cause: "tidy") { $0.folder(nil).add([ids[4]]) }
    try small.library.performChangesAndWait(cause: "tidy") { $0.folder(ids[4]).add([ids[3]]) }
    try small.library.performChangesAndWait(cause: "tidy") { $0.deleteCollections([ids[1]]) }
    try await small.change { $0.deleteCollections([ids[0]]) }
    let report = try undoTidying(small)
    let folder = try small.now(ids[4])
    #expect(try small.children(nil) == [ids[4]] && small.children(folder) == [ids[3]])
    #expect(report.changes.isEmpty && report.conflicts.count == 4)
  }

  @Test("a collection that stays deleted with its folder is not reported as moved there")
  func deletedTwice() async throws {
    let small = try SmallLibrary()
    let ids = try await chain(small, "P", "X", "C")
    try small.library.performChangesAndWait(cause: "tidy") { $0.folder(nil).add([ids[2]]) }
    try small.library.performChangesAndWait(cause: "tidy") { $0.deleteCollections([ids[1], ids[2]]) }
    try await small.change { $0.deleteCollections([ids[0]]) }
    let report = try undoTidying(small)
    #expect(try small.library.fetchCollections().isEmpty)
    #expect(report.changes.isEmpty && report.token == nil)
    #expect(report.conflicts.map(\.change.property) == ["deletedDate", "deletedDate", "parent"])
  }

  @Test("an album that was forced out of its deleted folder returns to it when that is undone, and with it later")
  func forcedOut() async throws {
    let small = try SmallLibrary()
    let album = try await small.album("A")
    let folder = try await small.folder("F", [album.id])
    let before = try UndoState(ofLibrary: small.library.url.path)
    let deletion = try small.library.performChangesAndWait { $0.deleteCollections([folder.id]) }
    let deleted = try UndoState(ofLibrary: small.library.url.path)
    var selection = UndoSelection.commit(deletion.token)
    selection.objects = [album.id]
    let forced = try small.library.undoAndWait(selection, onConflict: .force)
    #expect(try small.children(nil) == [album.id])
    let report = try small.library.undoAndWait(.commit(try #require(forced.token)))
    #expect(report.conflicts.isEmpty && report.changes.map(\.property) == ["deletedDate", "parent"])
    #expect(try UndoState(ofLibrary: small.library.url.path) == deleted)
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
    let restored = try small.library.undoAndWait(.commit(deletion.token))
    #expect(restored.conflicts.isEmpty)
    #expect(try UndoState(ofLibrary: small.library.url.path) == before)
  }

  /// A folder with an album in an inner folder that was deleted and restored, and then got another album.
  /// - Returns: the token of the restoration, the three of before and the other album.
  private func filled(_ small: SmallLibrary) async throws -> (restoration: Token, ids: [LocalIdentifier]) {
    let (album, other) = (try await small.album("A").id, try await small.album("B").id)
    var ids = try await chain(small, "F", "G")
    ids += [album, other]
    let inner = ids[1]
    try await small.change { $0.folder(inner).add([album]) }
    let outer = ids[0]
    let deletion = try small.library.performChangesAndWait { $0.deleteCollections([outer]) }
    let restoration = try small.library.undoAndWait(.commit(deletion.token))
    try await small.change { $0.folder(inner).add([other]) }
    return (try #require(restoration.token), ids)
  }

  @Test("the restoration of a folder that got an album since is undone only by force, and the report names the folder")
  func filledSince() async throws {
    let small = try SmallLibrary()
    let (restoration, ids) = try await filled(small)
    let plan = try small.library.planUndo(.commit(restoration))
    let name = ids[1].spelled(as: .folder)
    #expect(plan.isRefused && plan.conflicts.allSatisfy { $0.reason == .changedSince && $0.change.kind == .trash })
    #expect(
      plan.conflicts.first?.sentence == "The folder \(name) now contains items that would not be deleted with it.")
    #expect(throws: LibraryError.self) { try small.library.undoAndWait(.commit(restoration)) }
    try small.library.undoAndWait(.commit(restoration), onConflict: .force)
    #expect(try small.children(nil) == [ids[3]])
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }

  @Test("a folder that got an album since is skipped with the folder around it; what was restored in it is deleted")
  func filledAndSkipped() async throws {
    let small = try SmallLibrary()
    let (restoration, ids) = try await filled(small)
    let report = try small.library.undoAndWait(.commit(restoration), onConflict: .skip)
    #expect(report.changes.map(\.object) == [ids[2].spelled(as: .album)])
    #expect(report.conflicts.map(\.change.object) == [ids[1], ids[0]].map { $0.spelled(as: .folder) })
    let (outer, inner) = (try small.now(ids[0]), try small.now(ids[1]))
    #expect(try small.children(nil) == [ids[0]] && small.children(outer) == [ids[1]])
    #expect(try small.children(inner) == [ids[3]])
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }

  @Test("what others put into a restored folder stays there with it, though the undone commits have moved it within")
  func movedWithin() async throws {
    let small = try SmallLibrary()
    let (album, other) = (try await small.album("A").id, try await small.album("B").id)
    let folder = try await small.folder("F", [album]).id
    let deletion = try small.library.performChangesAndWait { $0.deleteCollections([folder]) }
    try small.library.undoAndWait(.commit(deletion.token), cause: "tidy")
    try await small.change { $0.folder(folder).add([other]) }
    try small.library.performChangesAndWait(cause: "tidy") { $0.folder(folder).move(at: [1], to: 0) }
    let report = try undoTidying(small)
    #expect(report.conflicts.map(\.reason) == [.changedSince])
    #expect(report.conflicts.map(\.change.object) == [folder.spelled(as: .folder)])
    let restored = try small.now(folder)
    #expect(try small.children(nil) == [folder] && small.children(restored) == [other])
  }

  @Test("an album that the undone commits created and moved is deleted with its folder, though others moved it, too")
  func createdAndMoved() async throws {
    let small = try SmallLibrary()
    var made: [LocalIdentifier] = []
    try small.library.performChangesAndWait(cause: "tidy") { block in
      made = [block.createFolder(title: "F"), block.createAlbum(title: "A"), block.createAlbum(title: "B")]
      block.folder(made[0]).add([made[1], made[2]])
    }
    let folder = made[0]
    try await small.change { $0.folder(folder).move(at: [1], to: 0) }
    try small.library.performChangesAndWait(cause: "tidy") { $0.folder(folder).move(at: [0], to: 1) }
    let before = try small.now(folder)
    #expect(try small.children(before) == [made[1], made[2]])
    let report = try small.library.undoAndWait(.cause("tidy"))
    #expect(report.conflicts.isEmpty && report.changes.allSatisfy { $0.kind == .creation })
    #expect(try small.library.fetchCollections().isEmpty)
  }

  @Test("albums return to a folder in their order, though another one now has the place of the last one")
  func takenPlace() async throws {
    let small = try SmallLibrary()
    var made: [LocalIdentifier] = []
    for title in ["first", "last", "late", "early", "middle", "other"] { made.append(try await small.album(title).id) }
    let ids = made
    let folder = try await small.folder("F", [ids[0], ids[1]]).id
    try await small.change { $0.folder(folder).insert([ids[2]], at: 1) }
    try await small.change { $0.folder(folder).insert([ids[3], ids[4]], at: 1) }
    let moved = try small.library.performChangesAndWait { $0.folder(nil).add([ids[2], ids[3], ids[4]]) }
    // The middle of the gap is the very key that was given up.
    try await small.change { $0.folder(folder).insert([ids[5]], at: 1) }
    let report = try small.library.undoAndWait(.commit(moved.token))
    #expect(report.conflicts.isEmpty)
    let filled = try small.now(folder)
    #expect(try small.children(filled) == [ids[0], ids[3], ids[4], ids[2], ids[5], ids[1]])
  }

  @Test("a folder of 300 albums comes back with all of them in their order, those that had been moved out included")
  func manyAlbums() async throws {
    let small = try SmallLibrary()
    let folder = try await small.folder("F").id
    var albums: [LocalIdentifier] = []
    try await small.change { block in
      albums = (0..<300).map { block.createAlbum(title: "\($0)") }
      block.folder(folder).add(albums)
    }
    let before = try UndoState(ofLibrary: small.library.url.path)
    try small.library.performChangesAndWait(cause: "tidy") { block in
      block.folder(nil).add(Array(albums[..<100]))
      block.deleteCollections([folder] + albums[..<50])
    }
    #expect(try small.children(nil) == Array(albums[50..<100]))
    let report = try small.library.undoAndWait(.cause("tidy"))
    #expect(report.conflicts.isEmpty)
    #expect(report.changes.filter { $0.kind == .membership }.count == 100)
    #expect(report.changes.filter { $0.kind == .restoration }.count == 251)
    let restored = try small.now(folder)
    #expect(try small.children(nil) == [folder] && small.children(restored) == albums)
    #expect(try UndoState(ofLibrary: small.library.url.path) == before)
    // The undo of a creation plans the deletions of all.
    try small.library.undoAndWait(UndoSelection())
    #expect(try small.library.fetchCollections().isEmpty)
  }
}
