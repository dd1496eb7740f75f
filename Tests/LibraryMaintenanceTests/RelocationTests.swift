import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Referenced files that were moved")
struct RelocationTests {
  private static func relocation(of resource: AssetResource, to path: String) throws -> FileRelocation {
    guard case .referenced(let old) = resource.storage else { throw Divergence("The file is the library's own.") }
    return FileRelocation(sha256: resource.sha256, from: old, to: path)
  }

  private static func paths(of id: LocalIdentifier, in library: PhotoLibrary) throws -> [String] {
    let asset = try #require(try library.asset(id.uuidString))
    return try library.resources(of: asset).compactMap { resource in
      guard case .referenced(let path) = resource.storage else { return nil }
      return path
    }
  }

  @Test("the asset names the new place and keeps everything else; earlier states name the old one")
  func moved() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let album = try await small.album("Sea", [id])
    let (asset, before) = (try small.asset(id), try small.library.currentToken)
    let resource = try #require(try small.library.resources(of: asset).first)
    let move = try Self.relocation(of: resource, to: "/elsewhere/1.jpg")
    let list = try small.library.fetchAssets()
    let change = try await small.change { $0.relocate(move, of: id) }
    #expect(change.changeDetails(for: asset)?.assetContentChanged != true, "The bytes are the same.")
    #expect(try change.changeDetails(for: list)?.changedIndexes ?? [] == [])
    #expect(try Self.paths(of: id, in: small.library) == ["/elsewhere/1.jpg"])
    #expect(try Self.paths(of: id, in: small.library.at(before)) == [move.from])
    let now = try small.asset(id)
    #expect(now.modificationDate == asset.modificationDate && now.creationDate == asset.creationDate)
    #expect(try small.members(album) == [id])
    try small.library.rebuild()
    #expect(try Self.paths(of: id, in: small.library) == ["/elsewhere/1.jpg"])
    try await small.library.undo(.commit(change.token))
    #expect(try Self.paths(of: id, in: small.library) == [move.from])
    #expect(try small.library.verify().isSound)
  }

  @Test("a file that was already moved by another process, or has other content, changes nothing")
  func stale() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let resource = try #require(try small.library.resources(of: small.asset(id)).first)
    let move = try Self.relocation(of: resource, to: "/elsewhere/1.jpg")
    try await small.change { $0.relocate(move, of: id) }
    let token = try small.library.currentToken
    var other = try Self.relocation(of: resource, to: "/third/1.jpg")
    try await small.library.performChanges { $0.relocate(other, of: id) }
    (other.from, other.sha256) = (move.to, [UInt8](repeating: 7, count: 32))
    try await small.library.performChanges { $0.relocate(other, of: id) }
    #expect(try small.library.currentToken == token)
    #expect(try Self.paths(of: id, in: small.library) == [move.to])
  }

  @Test("two spellings of a name by Unicode are two places")
  func normalization() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let resource = try #require(try small.library.resources(of: small.asset(id)).first)
    let (composed, decomposed) = ("/p/caf\u{E9}.jpg", "/p/cafe\u{301}.jpg")
    let first = try Self.relocation(of: resource, to: composed)
    try await small.change { $0.relocate(first, of: id) }
    let second = FileRelocation(sha256: resource.sha256, from: composed, to: decomposed)
    let change = try await small.change { $0.relocate(second, of: id) }
    #expect(try Self.paths(of: id, in: small.library).map { Array($0.utf8) } == [Array(decomposed.utf8)])
    try await small.library.undo(.commit(change.token))
    #expect(try Self.paths(of: id, in: small.library).map { Array($0.utf8) } == [Array(composed.utf8)])
  }

  @Test("a move of a file whose asset is gone is ignored")
  func gone() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let resource = try #require(try small.library.resources(of: small.asset(id)).first)
    let move = try Self.relocation(of: resource, to: "/elsewhere/1.jpg")
    try await small.change { $0.deleteAssets([id]) }
    try await small.change { $0.purgeAssets([id]) }
    let token = try small.library.currentToken
    try await small.library.performChanges { $0.relocate(move, of: id) }
    #expect(try small.library.currentToken == token)
  }

  @Test("a client without full access names no paths", arguments: [AuthorizationStatus.limited, .denied])
  func refused(_ status: AuthorizationStatus) async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let resource = try #require(try small.library.resources(of: small.asset(id)).first)
    let move = try Self.relocation(of: resource, to: "/elsewhere/1.jpg")
    try await small.change { block in
      block.setAuthorizationStatus(status, of: "app")
      if status == .limited { block.grant([id], to: "app") }
    }
    await #expect(throws: LibraryError.self) {
      try await small.library.as("app").performChanges { $0.relocate(move, of: id) }
    }
    #expect(try Self.paths(of: id, in: small.library) == [move.from])
  }
}
