import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Identifiers across libraries")
struct CloudIdentifierRuleTests {
  /// Two libraries on disk: the second has a copy of the first's first asset, which remembers where it comes from.
  private struct Pair {
    let here: SmallLibrary
    let there: SmallLibrary
    let a: [LocalIdentifier]
    let cloud: [CloudIdentifier]

    init() async throws {
      (here, there) = (try SmallLibrary(.seeded(1)), try SmallLibrary(.seeded(2)))
      a = try await here.assets(3)
      cloud = try Pair.cloud(here, a)
    }

    static func cloud(_ small: SmallLibrary, _ ids: [LocalIdentifier]) throws -> [CloudIdentifier] {
      let mappings = try small.library.cloudIdentifierMappings(forLocalIdentifiers: ids.map(\.uuidString))
      return try ids.map { try #require(mappings[$0.uuidString]).get() }
    }

    func copy(_ seed: Int, origin: CloudIdentifier? = nil) async throws -> LocalIdentifier {
      var creation = AssetCreation.invented(seed)
      creation.origin = origin
      let made = try await there.library.performChanges { $0.createAsset(creation) }
      return try #require(LocalIdentifier(made.created[0]))
    }

    func local(_ identifier: CloudIdentifier, syncedOnly: Bool = false) throws -> Result<String, LibraryError>? {
      try there.library.localIdentifierMappings(for: [identifier], syncedOnly: syncedOnly)[identifier]
    }
  }

  private static func name(_ id: LocalIdentifier) -> String { id.uuidString + "/L0/001" }

  @Test("both directions return one entry for each key, a value or an error; what is unknown is 3201 (CI-01, CI-02)")
  func everyKey() async throws {
    let pair = try await Pair()
    let album = try await pair.here.album("Sea")
    let stranger = UUID().uuidString
    let keys = [Self.name(pair.a[0]), pair.a[1].uuidString, album.localIdentifier, stranger, "no identifier", stranger]
    let forth = try pair.here.library.cloudIdentifierMappings(forLocalIdentifiers: keys)
    #expect(Set(forth.keys) == Set(keys))
    for key in [stranger, "no identifier"] {
      #expect(throws: LibraryError.self) { try forth[key]?.get() }
      guard case .failure(let error)? = forth[key] else { continue }
      #expect(error.code == .identifierNotFound && error.code.rawValue == 3201)
    }
    let back = try pair.here.library.localIdentifierMappings(for: keys[..<3].map { try #require(forth[$0]).get() })
    let found = Set(try back.values.map { try $0.get() })
    #expect(found == [Self.name(pair.a[0]), Self.name(pair.a[1]), album.localIdentifier])
    guard case .failure(let error)? = try pair.local(pair.cloud[0]) else { throw Divergence("Nothing is there yet.") }
    #expect(error.code == .identifierNotFound)
  }

  @Test("the record takes precedence over equal content; several equal contents are 3202 with all of them (CI-03)")
  func contents() async throws {
    let pair = try await Pair()
    let equal = try await pair.copy(0)
    #expect(try pair.local(pair.cloud[0])?.get() == Self.name(equal))
    let another = try await pair.copy(0)
    guard case .failure(let error)? = try pair.local(pair.cloud[0]) else { throw Divergence("Two are equal.") }
    #expect(error.code == .multipleIdentifiersFound && error.code.rawValue == 3202)
    #expect(error.localIdentifiers == [equal, another].map(Self.name))
    let recorded = try await pair.copy(0, origin: pair.cloud[0])
    #expect(try pair.local(pair.cloud[0])?.get() == Self.name(recorded), "One came with that very identifier.")
    #expect(try Pair.cloud(pair.there, [recorded]) == [pair.cloud[0]], "It keeps the identity of where it was made.")
  }

  @Test("a look-up of recorded identities only does not return equal content (CI-04)")
  func syncedOnly() async throws {
    let pair = try await Pair()
    _ = try await pair.copy(0)
    #expect(throws: LibraryError.self) { try pair.local(pair.cloud[0], syncedOnly: true)?.get() }
    let recorded = try await pair.copy(7, origin: pair.cloud[0])
    #expect(try pair.local(pair.cloud[0], syncedOnly: true)?.get() == Self.name(recorded))
  }

  @Test("within one library, without any cloud, every identifier maps there and back (CI-05)")
  func oneLibrary() async throws {
    let pair = try await Pair()
    let back = try pair.here.library.localIdentifierMappings(for: pair.cloud)
    #expect(try pair.cloud.map { try back[$0]?.get() } == pair.a.map(Self.name))
    try await pair.here.change { $0.deleteAssets([pair.a[0]]) }
    let trashed = try pair.here.library.localIdentifierMappings(for: pair.cloud)
    #expect(try trashed[pair.cloud[0]]?.get() == Self.name(pair.a[0]))
  }

  @Test("many are mapped in one call, each as it would be alone (CI-06)")
  func batches() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(300)
    let names = a.map(Self.name)
    let all = try small.library.cloudIdentifierMappings(forLocalIdentifiers: names + [UUID().uuidString])
    #expect(all.count == 301)
    for name in names.prefix(20) {
      let alone = try small.library.cloudIdentifierMappings(forLocalIdentifiers: [name])
      #expect(try alone[name]?.get() == all[name]?.get())
    }
    let cloud = try names.map { try #require(all[$0]).get() }
    let back = try small.library.localIdentifierMappings(for: cloud)
    #expect(try back.values.map { try $0.get() }.sorted() == names.sorted())
  }

  @Test("a spelling without the content part is read, and finds by record alone (CI-07)")
  func incomplete() async throws {
    let pair = try await Pair()
    let text = pair.cloud[0].archivalStringValue
    let bare = text.split(separator: ":", omittingEmptySubsequences: false)[..<2].joined(separator: ":") + ":"
    let incomplete = try #require(CloudIdentifier(archivalStringValue: bare))
    #expect(CloudIdentifier(archivalStringValue: text) == pair.cloud[0] && incomplete.stringValue == bare)
    #expect(try pair.here.library.localIdentifierMappings(for: [incomplete])[incomplete]?.get() == Self.name(pair.a[0]))
    _ = try await pair.copy(0)
    #expect(throws: LibraryError.self) { try pair.local(incomplete)?.get() }
    #expect(try JSONDecoder().decode(CloudIdentifier.self, from: JSONEncoder().encode(incomplete)) == incomplete)
    for wrong in ["", "x", "::", bare + "abc", String(bare.dropLast()), text.uppercased() + "0"] {
      #expect(CloudIdentifier(archivalStringValue: wrong) == nil, "\(wrong)")
    }
  }

  @Test("nothing is mapped that a client does not see (CI-02, AU-01)")
  func limited() async throws {
    let pair = try await Pair()
    let app = try await pair.here.ruleClient(.limited, [pair.a[1]])
    let forth = try app.cloudIdentifierMappings(forLocalIdentifiers: pair.a.map(Self.name))
    #expect(try forth[Self.name(pair.a[1])]?.get() == pair.cloud[1])
    let back = try app.localIdentifierMappings(for: pair.cloud)
    #expect(try back[pair.cloud[1]]?.get() == Self.name(pair.a[1]))
    for index in [0, 2] {
      #expect(throws: LibraryError.self) { try forth[Self.name(pair.a[index])]?.get() }
      #expect(throws: LibraryError.self) { try back[pair.cloud[index]]?.get() }
    }
  }
}
