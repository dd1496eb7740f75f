import PhotoLedger
import TestSupport
import Testing

@Suite("Names of clients")
struct ClientNameTests {
  /// One name in two spellings.
  private static let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

  @Test("a new client's name that is not in Unicode's composed form is rejected, in every request")
  func new() async throws {
    let small = try SmallLibrary()
    let name = Self.decomposed
    #expect(try await small.refusal { $0.register(client: name, .described) } == .malformedRequest)
    #expect(try await small.refusal { $0.setAuthorizationStatus(.authorized, of: name) } == .malformedRequest)
    #expect(try small.library.clients().isEmpty)
    try await small.change { $0.register(client: Self.composed, .described) }
    // The name equals that of a client, and is still another one.
    #expect(try await small.refusal { $0.setAuthorizationStatus(.authorized, of: name) } == .malformedRequest)
    #expect(try small.library.clients().count == 1)
  }

  @Test("two clients of an earlier log whose names differ in spelling alone are independent")
  func former() async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(2)
    let one = try await small.ruleClient(.authorized, named: Self.composed)
    try small.library.registerFormer(client: Self.decomposed)
    let other = small.library.as(Self.decomposed)
    try await small.change { $0.setAuthorizationStatus(.authorized, of: other.client) }
    #expect(try one.client == other.client && small.library.clients().count == 2)
    let made = try await other.performChanges { $0.setFavorite(true, for: [assets[0]]) }
    await #expect(throws: LibraryError.self) { try await one.undo(.commit(made.token)) }
    await #expect(throws: LibraryError.self) {
      try await one.performChanges { $0.register(client: other.client, .described) }
    }
    var selection = UndoSelection()
    selection.client = one.client
    #expect(try small.library.planUndo(selection).changes.isEmpty, "It made no commit.")
    try await other.undo(.commit(made.token))
    #expect(try small.asset(assets[0]).isFavorite == false)
  }

  @Test("texts are equal by their bytes, and so are keys of dictionaries")
  func exact() {
    let (one, other) = (Self.composed, Self.decomposed)
    #expect(one == other && one.exact != other.exact && one.exact == "caf\u{E9}".exact)
    #expect([one.exact: 1][other.exact] == nil && [one.exact: 1][one.exact] == 1)
  }
}
