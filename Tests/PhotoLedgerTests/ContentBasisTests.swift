import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Indexes of a result that was passed in (AL-05)")
struct ContentBasisTests {
  @Test("at the end of a limited result, members are inserted directly after those it shows")
  func limited() throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(8)
    let album = try made.album(Array(ids[..<5]))
    let basis = try made.members(album, limit: 2)
    try made.library.performChangesAndWait { $0.album(album, assets: basis).insert([ids[5]], at: 2) }
    #expect(try made.members(album).map(\.id) == [0, 1, 5, 2, 3, 4].map { ids[$0] })
    // What stood behind the shown ones has gone meanwhile: the next one takes its part.
    try made.library.performChangesAndWait { $0.album(album).remove([ids[5], ids[2]]) }
    try made.library.performChangesAndWait { $0.album(album, assets: basis).insert([ids[6]], at: 2) }
    #expect(try made.members(album).map(\.id) == [0, 1, 6, 3, 4].map { ids[$0] })
    let whole = try made.members(album)
    try made.library.performChangesAndWait { $0.album(album, assets: whole).insert([ids[7]], at: 5) }
    #expect(try made.members(album).last?.id == ids[7])
  }

  @Test("an index past the shown members is rejected, though the album has more")
  func pastTheEnd() throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(6)
    let album = try made.album(Array(ids[..<5]))
    let basis = try made.members(album, limit: 2)
    let edits: [(ContentEditor) -> Void] = [
      { $0.insert([ids[5]], at: 3) }, { $0.remove(at: [2]) }, { $0.move(at: [0], to: 4) },
      { $0.replace(at: [2], with: [ids[5]]) },
    ]
    for edit in edits {
      let error = #expect(throws: LibraryError.self) {
        try made.library.performChangesAndWait { edit($0.album(album, assets: basis)) }
      }
      #expect(error?.code == .changeNotSupported && error?.description.contains("it shows 2 members") == true)
    }
    #expect(try made.members(album).map(\.id) == Array(ids[..<5]))
  }

  @Test("a result of another folder, of the whole library or of another library is rejected")
  func foreign() throws {
    let made = try TemporaryLibrary()
    let other = try TemporaryLibrary(.seeded(2))
    var folder = LocalIdentifier(UUID())
    var album = LocalIdentifier(UUID())
    for library in [other.library, made.library] {
      try library.performChangesAndWait { block in
        folder = block.createFolder(title: "folder")
        album = block.createAlbum(title: "album")
        block.folder(folder).add([album])
      }
    }
    let all = try made.library.fetchCollections()
    let inFolder = try made.library.fetchCollections(in: try made.collection(folder))
    let elsewhere = try other.library.fetchCollections(in: nil)
    let edits: [(ChangeBlock) -> Void] = [
      { $0.folder(nil, collections: all).move(at: [1], to: 0) },
      { $0.folder(nil, collections: inFolder).replace(at: [0], with: [folder]) },
      { $0.folder(nil, collections: elsewhere).move(at: [0], to: 0) },
      { $0.folder(folder, collections: all).insert([album], at: 0) },
    ]
    let token = try made.library.currentToken
    for edit in edits {
      let error = #expect(throws: LibraryError.self) { try made.library.performChangesAndWait { edit($0) } }
      #expect(error?.code == .changeNotSupported && error?.description.contains("result passed in") == true)
    }
    #expect(try made.library.currentToken == token)
  }

  @Test("an index past the end of an album, however far, is rejected with the number of members that the client sees")
  func farPastTheEnd() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    let album = try await small.album("Sea", ids)
    let app = try await small.ruleClient(.limited, ids)
    let made = try app.performChangesAndWait { block in
      let own = block.createAlbum(title: "own")
      block.album(own).add(ids)
    }
    let own = try #require(LocalIdentifier(made.created[0]))
    try await small.change { $0.setHidden(true, for: [ids[1]]) }
    try await small.change { $0.withdraw([ids[2]], from: app.client) }
    for (library, container, count) in [(small.library, album.id, 3), (app, own, 2)] {
      for past in [0, 1, Int.max - count] {
        let indexes = [count + past]
        var edits: [(ContentEditor) -> Void] = [
          { $0.remove(at: indexes) }, { $0.move(at: indexes, to: 0) }, { $0.replace(at: indexes, with: [ids[0]]) },
        ]
        if past > 0 { edits.append { $0.insert([ids[0]], at: count + past) } }
        for edit in edits {
          let error = #expect(throws: LibraryError.self) {
            try library.performChangesAndWait { edit($0.album(container)) }
          }
          #expect(error?.code == .changeNotSupported)
          #expect(error?.description.contains("it shows \(count) members") == true, "\(past) past the end")
        }
      }
      try library.performChangesAndWait { $0.album(container).move(at: [count - 1], to: 0) }
    }
    #expect(try small.members(album) == [ids[3], ids[0], ids[2]])
    #expect(try app.fetchAssets(FetchOptions(), in: small.now(own)).map(\.id) == [ids[3], ids[0]])
  }

  @Test("without a result, every index counts the shown members, from either end")
  func counted() throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(30)
    let hidden = Set([0, 3, 4, 9, 17, 19].map { ids[$0] })
    let album = try made.album(Array(ids[..<20]))
    try made.library.performChangesAndWait { $0.setHidden(true, for: Array(hidden)) }
    var expected = ids[..<20].filter { !hidden.contains($0) }
    for (newcomer, index) in zip(ids[20...], [14, 13, 0, 8, 7, 12, 19, 1, 22, 3]) {
      try made.library.performChangesAndWait { $0.album(album).insert([newcomer], at: index) }
      expected.insert(newcomer, at: index)
      #expect(try made.members(album).map(\.id) == expected, "index \(index)")
    }
    let moves = [(23, 0), (0, 23), (11, 12), (20, 3)]
    for (source, destination) in moves {
      try made.library.performChangesAndWait { $0.album(album).move(at: [source], to: destination) }
      expected.insert(expected.remove(at: source), at: destination)
      #expect(try made.members(album).map(\.id) == expected, "\(source) to \(destination)")
    }
  }
}
