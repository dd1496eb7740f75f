import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Folders")
struct FolderRuleTests {
  @Test("a collection has one parent: adding it elsewhere moves it, taking it out puts it last at the top (FO-01)")
  func oneParent() async throws {
    let small = try SmallLibrary()
    let album = try await small.album("Sea")
    let other = try await small.album("Alps")
    let folders = [try await small.folder("A", [album.id]), try await small.folder("B")]
    #expect(try small.children(nil) == [other.id, folders[0].id, folders[1].id])
    try await small.change { $0.folder(folders[1].id).add([album.id]) }
    #expect(try small.children(folders[0]).isEmpty)
    #expect(try small.children(folders[1]) == [album.id])
    #expect(try small.library.fetchCollections(containing: album).map(\.id) == [folders[1].id])
    try await small.change { $0.folder(folders[1].id).remove([album.id]) }
    #expect(try small.children(nil) == [other.id, folders[0].id, folders[1].id, album.id])
    #expect(try await small.refusal { $0.folder(nil).remove([album.id]) } == .changeNotSupported)
  }

  @Test("folders hold albums and folders, albums hold assets (FO-02)")
  func kinds() async throws {
    let small = try SmallLibrary()
    let asset = try await small.assets(1)[0]
    let album = try await small.album()
    let folder = try await small.folder()
    #expect(try await small.refusal { $0.folder(folder.id).add([asset]) } == .changeNotSupported)
    #expect(try await small.refusal { $0.album(album.id).add([folder.id]) } == .changeNotSupported)
    #expect(folder.canContainCollections && !folder.canContainAssets)
    #expect(album.canContainAssets && !album.canContainCollections)
  }

  @Test("deleting a folder deletes what it holds, but no assets (FO-03)")
  func deletion() async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(2)
    let inner = try await small.album("Inner", assets)
    let kept = try await small.album("Kept", assets)
    let nested = try await small.folder("Nested", [inner.id])
    let folder = try await small.folder("Outer", [nested.id, kept.id])
    try await small.change { block in
      block.folder(folder.id).remove([kept.id])
      block.deleteCollections([folder.id])
    }
    #expect(try small.library.fetchCollections().map(\.id) == [kept.id])
    #expect(try small.children(nil) == [kept.id])
    #expect(try small.members(kept) == assets)
    #expect(try await small.refusal { $0.setTitle("x", of: nested.id) } == .identifierNotFound)
  }

  @Test("the order of the top level is edited like that of a folder (FO-04, FR-13)")
  func topLevel() async throws {
    let small = try SmallLibrary()
    var ids: [LocalIdentifier] = []
    for title in ["a", "b", "c", "d"] { ids.append(try await small.album(title).id) }
    try await small.change { $0.folder(nil).move(at: [3], to: 0) }
    #expect(try small.children(nil) == [ids[3], ids[0], ids[1], ids[2]])
    let held = try small.library.fetchCollections(in: nil)
    try await small.change { $0.deleteCollections([ids[0]]) }
    try await small.change { $0.folder(nil, collections: held).move(at: [3], to: 1) }
    #expect(try small.children(nil) == [ids[3], ids[2], ids[1]])
  }

  @Test("a folder cannot hold itself, however deep (FO-05)")
  func cycles() async throws {
    let small = try SmallLibrary()
    let inner = try await small.folder("Inner")
    let middle = try await small.folder("Middle", [inner.id])
    let outer = try await small.folder("Outer", [middle.id])
    for (folder, child) in [(inner, inner), (inner, middle), (inner, outer), (middle, outer)] {
      #expect(try await small.refusal { $0.folder(folder.id).add([child.id]) } == .changeNotSupported)
    }
    let album = try await small.album("Fine")
    try await small.change { $0.folder(inner.id).add([album.id]) }
    #expect(try small.children(inner) == [album.id])
  }

  /// Makes folders of which each is in the one before.
  private func chain(_ small: SmallLibrary, _ count: Int) async throws -> [LocalIdentifier] {
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      for index in 0..<count {
        let id = block.createFolder(title: "\(index)")
        if let outer = ids.last { block.folder(outer).add([id]) }
        ids.append(id)
      }
    }
    return ids
  }

  @Test("folders are at most 64 levels deep, including those in a moved folder (FO-02)")
  func depth() async throws {
    let small = try SmallLibrary()
    let ids = try await chain(small, 64)
    let (inner, album) = (try await small.folder("Inner"), try await small.album("Album"))
    let outer = try await small.folder("Outer", [inner.id])
    #expect(try await small.refusal { $0.folder(ids[63]).add([inner.id]) } == .limitExceeded)
    #expect(try await small.refusal { $0.folder(ids[62]).add([outer.id]) } == .limitExceeded)
    #expect(try await small.refusal { $0.folder(ids[62]).replace(at: [0], with: [outer.id]) } == .limitExceeded)
    try await small.change { $0.folder(ids[63]).add([album.id]) }
    try await small.change { $0.folder(ids[61]).add([outer.id]) }
    #expect(try await small.refusal { $0.folder(ids[62]).add([outer.id]) } == .limitExceeded)
    try await small.change { $0.deleteCollections([inner.id]) }
    let refused = try await small.refusal { $0.folder(ids[62]).add([outer.id]) }
    #expect(refused == .limitExceeded, "An undo brings a deleted folder back where it was.")
    try await small.change { $0.folder(ids[61]).remove([outer.id]) }
    #expect(try small.children(nil) == [ids[0], outer.id])
  }

  @Test("an undo makes folders no deeper than a request (FO-02)")
  func depthByUndo() async throws {
    let small = try SmallLibrary()
    let ids = try await chain(small, 64)
    let moved = try await small.library.performChanges { $0.folder(nil).add([ids[63]]) }
    let inner = try await small.folder("Inner")
    try await small.change { $0.folder(ids[63]).add([inner.id]) }
    let error = await #expect(throws: LibraryError.self) {
      try await small.library.undo(.commit(moved.token))
    }
    #expect(error?.code == .limitExceeded)
    try await small.change { $0.folder(nil).add([inner.id]) }
    try await small.library.undo(.commit(moved.token))
    #expect(try small.library.collection(ids[62].uuidString).map { try small.children($0) } == [ids[63]])
  }

  /// Makes folders that are 65 levels deep: a client cannot see the folders above its own.
  /// - Returns: a folder at level 63, one of the client's in it, and two in that one.
  private func deepTree(
    _ small: SmallLibrary
  ) async throws -> (home: LocalIdentifier, outer: LocalIdentifier, inner: [LocalIdentifier]) {
    let home = try await chain(small, 63)[62]
    let client = try await small.ruleClient(.limited)
    var folders: [LocalIdentifier] = []
    try client.performChangesAndWait { block in
      folders = ["Outer", "One", "Two"].map { block.createFolder(title: $0) }
    }
    try await small.change { $0.folder(home).add([folders[0]]) }
    try client.performChangesAndWait { $0.folder(folders[0]).add(Array(folders[1...])) }
    return (home, folders[0], Array(folders[1...]))
  }

  @Test("a folder in a deeper tree can be moved to where it is no deeper than before (FO-02)")
  func deeperTrees() async throws {
    let small = try SmallLibrary()
    let (home, outer, inner) = try await deepTree(small)
    let sibling = try await small.folder("Sibling").id
    try await small.change { $0.folder(home).add([sibling]) }
    let moved = try await small.library.performChanges { $0.folder(sibling).add([inner[0]]) }
    #expect(try small.children(small.now(sibling)) == [inner[0]])
    try await small.library.undo(.commit(moved.token))
    #expect(try small.children(small.now(outer)) == inner)
    #expect(try await small.refusal { $0.folder(inner[1]).add([inner[0]]) } == .limitExceeded)
    #expect(try await small.refusal { $0.folder(sibling).add([outer]) } == .limitExceeded)
  }

  @Test("the order of a folder in a deeper tree is restored by an undo (FO-02, FO-04)")
  func deeperOrder() async throws {
    let small = try SmallLibrary()
    let (_, outer, inner) = try await deepTree(small)
    let moved = try await small.library.performChanges { $0.folder(outer).move(at: [1], to: 0) }
    #expect(try small.children(small.now(outer)) == [inner[1], inner[0]])
    try await small.library.undo(.commit(moved.token))
    #expect(try small.children(small.now(outer)) == inner)
  }
}
