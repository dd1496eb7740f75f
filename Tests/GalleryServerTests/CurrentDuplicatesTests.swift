#if Gallery
  @testable import GalleryServer
  import JSONReading
  import LibraryJSON
  @testable import MediaImport
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Groups of duplicates in their current state")
  struct CurrentDuplicatesTests {
    /// A library with invented photos, all of one group; the distance of each from the keeper is its place.
    private static func made(_ count: Int) async throws -> (made: TemporaryLibrary, group: DuplicateGroup) {
      let made = try TemporaryLibrary(.seeded(1))
      var ids: [LocalIdentifier] = []
      try await made.library.performChanges { change in ids = (0..<count).map { change.createAsset(.invented($0)) } }
      let others = ids.enumerated().dropFirst().map { DuplicateGroup.Member(id: $1, distance: $0) }
      return (made, DuplicateGroup(keeper: ids[0], others: others))
    }

    /// The places of the photos that are shown beside the keeper, and how many follow.
    private struct Shown: Equatable {
      var places: [Int]
      var further: Int
    }

    /// What is shown of a group; nil if it is done.
    private static func shown(_ group: DuplicateGroup, in library: PhotoLibrary) throws -> Shown? {
      let decisions = try DuplicateDecisions(of: library)
      guard let json = try DuplicateRoutes.json(of: group, in: library, decisions) else { return nil }
      let others = try #require(json["others"]?.listValue)
      return Shown(
        places: others.compactMap { $0["distance"]?.wholeValue },
        further: try #require(json["furtherCount"]?.wholeValue))
    }

    @Test("the first photos that are left are shown, and those that follow are counted, until none are left")
    func large() async throws {
      let (made, group) = try await Self.made(62)
      let first = try Self.shown(group, in: made.library)
      #expect(first == Shown(places: Array(1...50), further: 11))
      try await made.library.performChanges { $0.deleteAssets([group.others[0].id]) }
      let second = try Self.shown(group, in: made.library)
      #expect(second == Shown(places: Array(2...51), further: 10), "One went to the trash.")
      let decided = [group.keeper] + group.others[1...50].map(\.id)
      try DuplicateDecisions.decide(decided, isRejected: true, in: made.library)
      let third = try Self.shown(group, in: made.library)
      #expect(third == Shown(places: Array(52...61), further: 0), "Those that were shown were rejected.")
      try await made.library.performChanges { $0.merge(group.others[51...].map(\.id), into: group.keeper) }
      let last = try Self.shown(group, in: made.library)
      #expect(last == nil)
    }

    @Test("photos that were rejected since are not shown together, also under a keeper with which they were not")
    func rejected() async throws {
      let (made, group) = try await Self.made(4)
      let decided = group.others[...1].map(\.id)
      try DuplicateDecisions.decide(decided, isRejected: true, in: made.library)
      let apart = try Self.shown(group, in: made.library)
      #expect(apart == Shown(places: [1, 3], further: 0))
      try DuplicateDecisions.decide(decided, isRejected: false, in: made.library)
      let together = try Self.shown(group, in: made.library)
      #expect(together == Shown(places: [1, 2, 3], further: 0))
    }
  }
#endif
