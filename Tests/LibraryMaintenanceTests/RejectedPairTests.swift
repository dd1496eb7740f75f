import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Pairs that are not duplicates")
struct RejectedPairTests {
  private static func content(_ number: Int) -> [UInt8] { Array("content \(number)".utf8).sha256 }

  private static func pair(_ one: Int, _ other: Int) -> ContentPair { ContentPair(content(one), content(other)) }

  @Test("the last decision about a pair counts, in either order, and in a library that is opened again")
  func decisions() throws {
    let small = try SmallLibrary()
    let pairs = RejectedPairs(in: small.library.store.folder)
    #expect(try pairs.pairs().isEmpty)
    try pairs.record([Self.pair(1, 2), Self.pair(3, 2), Self.pair(5, 5)], isRejected: true)
    try RejectedPairs(in: small.library.store.folder).record([Self.pair(2, 1)], isRejected: false)
    #expect(try pairs.pairs() == [Self.pair(2, 3), Self.pair(5, 5)])
    try pairs.record([Self.pair(1, 2)], isRejected: true)
    try pairs.record([], isRejected: true)
    #expect(try pairs.pairs() == [Self.pair(1, 2), Self.pair(2, 3), Self.pair(5, 5)])
    let file = small.library.url.appending(path: RejectedPairs.name)
    #expect(try Data(contentsOf: file).count == 5 * 131)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("a truncated or damaged entry is skipped, and what follows is read")
  func damaged() throws {
    let small = try SmallLibrary()
    let pairs = RejectedPairs(in: small.library.store.folder)
    try pairs.record([Self.pair(1, 2), Self.pair(3, 4)], isRejected: true)
    let file = small.library.url.appending(path: RejectedPairs.name)
    let whole = try Data(contentsOf: file)
    for count in 0..<130 {
      try whole.prefix(131 + count).write(to: file)
      #expect(try pairs.pairs() == [Self.pair(1, 2)], "\(count)")
      try pairs.record([Self.pair(5, 6)], isRejected: true)
      #expect(try pairs.pairs() == [Self.pair(1, 2), Self.pair(5, 6)], "\(count)")
    }
    for (position, byte) in [(0, "*"), (7, "g"), (65, "+"), (130, " ")] {
      var altered = Array(whole)
      altered[position] = Array(byte.utf8)[0]
      try Data(altered).write(to: file)
      #expect(try pairs.pairs().subtracting([Self.pair(3, 4)]).isEmpty, "\(position)")
    }
    // A link there leads to somebody else's file.
    let other = small.temporary.folder.place("other")
    try whole.write(to: other)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
    #expect(throws: LibraryError.self) { try pairs.pairs() }
    #expect(throws: LibraryError.self) { try pairs.record([Self.pair(5, 6)], isRejected: true) }
    #expect(try Data(contentsOf: other) == whole)
  }

  @Test("an erasure removes the pairs of contents that no asset has any more, here and in a follower; copies keep them")
  func erased() async throws {
    let kept = try await KeptLibrary.make()
    let photo = Array(KeptLibrary.photo).sha256
    let contents = try [kept.other, kept.twin].map { id in
      try kept.library.resources(of: #require(try kept.library.asset(id.uuidString)))[0].sha256
    }
    let start = try kept.library.currentToken
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(kept.library)))
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let staying = ContentPair(contents[0], contents[1])
    for library in [kept.library, follower] {
      try RejectedPairs(in: library.store.folder).record([ContentPair(photo, contents[0]), staying], isRejected: true)
    }
    try kept.library.backup(to: kept.folder.place("backup"))
    try kept.library.fork(to: kept.folder.place("fork"))
    try PhotoLibrary.restore(from: kept.folder.place("backup"), to: kept.folder.place("restored"))
    for copy in ["backup", "fork", "restored"] {
      let library = try PhotoLibrary(at: kept.folder.place(copy))
      defer { library.close() }
      #expect(try RejectedPairs(in: library.store.folder).pairs().count == 2, "\(copy)")
    }
    let digits = Data(photo.hexadecimal.utf8)
    let file = kept.url.appending(path: RejectedPairs.name)
    #expect(try Data(contentsOf: file).range(of: digits) != nil)
    try kept.library.eraseAssets([kept.secret])
    #expect(try RejectedPairs(in: kept.library.store.folder).pairs() == [staying])
    #expect(try Data(contentsOf: file).range(of: digits) == nil && Data(contentsOf: file).count == 2 * 131)
    try follower.appendLog(next: LogText.source(try LogText.lines(kept.library, after: start)))
    #expect(try RejectedPairs(in: follower.store.folder).pairs() == [staying])
  }

  @Test(
    "an erasure keeps the pairs of a content that an undo can bring back to another asset, until that one is erased")
  func former() throws {
    let made = try TemporaryLibrary()
    let undone = try made.create(.photo("content 1"))
    try made.library.undoAndWait(.commit(try made.library.currentToken))
    try made.create(.photo("content 2"))
    let pairs = RejectedPairs(in: made.library.store.folder)
    try pairs.record([Self.pair(1, 2)], isRejected: true)
    try made.library.eraseAssets([try made.create(.photo("content 1"))])
    #expect(try pairs.pairs() == [Self.pair(1, 2)])
    try made.library.eraseAssets([undone])
    #expect(try pairs.pairs().isEmpty)
  }
}
