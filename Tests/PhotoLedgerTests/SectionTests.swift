import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Sections")
struct SectionTests {
  /// Assets of the given days, each at noon; nil: no date.
  private func library(_ days: [String?]) async throws -> (small: SmallLibrary, ids: [LocalIdentifier]) {
    let small = try SmallLibrary()
    let dates = try days.map { try $0.map { try Date("\($0)T12:00:00Z", strategy: .iso8601) } }
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      ids = dates.enumerated().map { block.createAsset(.invented($0, date: $1)) }
    }
    return (small, ids)
  }

  private func options(_ sort: String..., offset: Int = 0, limit: Int = 0) throws -> FetchOptions {
    var options = FetchOptions()
    options.sort = try sort.map { try SortTerm($0, for: .asset) }
    options.fetchOffset = offset
    options.fetchLimit = limit
    return options
  }

  private func text(_ sections: [ResultSection]) -> String {
    sections.map { "\($0.key)[\($0.firstIndex)..\($0.indexes.upperBound)]" }.joined(separator: " ")
  }

  private func text(_ changes: [SectionChange]) -> String {
    changes.map { "\($0.key) \($0.countBefore)→\($0.countAfter)" }.joined(separator: " ")
  }

  private static let days = ["2024-05-31", nil, "2024-04-01", "2024-05-02", "2019-05-01", "2024-05-31"]

  @Test("sections come in the order of the result, with their positions; those without objects are left out")
  func sections() async throws {
    let (small, _) = try await library(Self.days)
    let newest = try small.library.fetchAssets(options("creationDate:desc"))
    #expect(text(try newest.sections(by: .month)) == "2024-05[0..3] 2024-04[3..4] 2019-05[4..5] undated[5..6]")
    #expect(text(try newest.sections(by: .year)) == "2024[0..4] 2019[4..5] undated[5..6]")
    let oldest = try small.library.fetchAssets(options("creationDate", "duration"))
    #expect(
      text(try oldest.sections(by: .day))
        == "undated[0..1] 2019-05-01[1..2] 2024-04-01[2..3] 2024-05-02[3..4] 2024-05-31[4..6]")
    let april = try newest.sections(by: .month)[1]
    #expect(april.dateInterval?.start == (try Date("2024-04-01T00:00:00Z", strategy: .iso8601)))
    #expect(april.dateInterval?.end == (try Date("2024-05-01T00:00:00Z", strategy: .iso8601)))
    #expect((april.key.year, april.key.month, april.key.day) == (2024, 4, nil))
    #expect(try newest.sections(by: .month)[3].dateInterval == nil)
    #expect(try small.library.fetchAssets(options("trashedDate")).sections(by: .year).map(\.count) == [6])
  }

  @Test("under a limit and an offset the shown objects are counted (FR-05)")
  func windows() async throws {
    let (small, _) = try await library(Self.days)
    let shown = try small.library.fetchAssets(options("creationDate:desc", offset: 1, limit: 3))
    #expect(text(try shown.sections(by: .month)) == "2024-05[0..2] 2024-04[2..3]")
    #expect(try small.library.fetchAssets(options("creationDate", offset: 9)).sections(by: .day).isEmpty)
  }

  @Test("a section belongs to the requested time zone")
  func zones() async throws {
    let (small, _) = try await library(["2024-05-31", "2024-06-01"])
    let result = try small.library.fetchAssets(options("creationDate"))
    #expect(text(try result.sections(by: .month)) == "2024-05[0..1] 2024-06[1..2]")
    #expect(text(try result.sections(by: .month, in: .named("GMT+12:00"))) == "2024-06[0..2]")
    let berlin = try result.sections(by: .day, in: .named("Europe/Berlin"))
    #expect(berlin[0].dateInterval?.start == (try Date("2024-05-30T22:00:00Z", strategy: .iso8601)))
  }

  @Test("a held result keeps its sections (FR-01)")
  func pinned() async throws {
    let (small, ids) = try await library(Self.days)
    let held = try small.library.fetchAssets(options("creationDate:desc"))
    let before = try held.sections(by: .day)
    try await small.change { $0.deleteAssets(ids) }
    #expect(try held.sections(by: .day) == before)
  }

  @Test("a result that is not sorted by a date first is rejected, with the required sort (FR-09)")
  func refusals() async throws {
    let small = try SmallLibrary()
    for sort in [[], ["pixelWidth"], ["isFavorite", "creationDate"], ["burstIdentifier"]] {
      var options = FetchOptions()
      options.sort = try sort.map { try SortTerm($0, for: .asset) }
      let error = try #require(throws: FetchError.self) {
        try small.library.fetchAssets(options).sections(by: .month)
      }
      #expect(error.code == .unsupportedSort && error.description.contains("creationDate:desc"))
      #expect(error.description.contains(sort.first ?? "natural order"))
    }
    let titles = try small.library.fetchCollections()
    #expect(throws: FetchError.self) { try titles.sections(by: .year) }
  }

  @Test("collections have sections too, by creation or modification date")
  func collections() async throws {
    let small = try SmallLibrary()
    let album = try await small.album("Sea")
    _ = try await small.folder("F")
    var options = FetchOptions()
    options.sort = [try SortTerm("creationDate", for: .collection)]
    let result = try small.library.fetchCollections(options)
    let year = SectionModel(.year, in: .gmt).section(of: album.creationDate).key
    #expect(text(try result.sections(by: .year)) == "\(year)[0..2]")
    let change = try await small.change { $0.deleteCollections([album.id]) }
    #expect(text(try #require(try change.changeDetails(for: result)).sectionChanges(by: .year)) == "\(year) 2→1")
  }

  @Test("changed sections are delivered with both counts, in the order of the result (CD-04 to CD-07)")
  func changes() async throws {
    let (small, ids) = try await library(Self.days)
    let result = try small.library.fetchAssets(options("creationDate:desc"))
    let change = try await small.change { block in
      block.deleteAssets([ids[4]])
      block.createAsset(.invented(90, date: try Date("2025-01-01T00:00:00Z", strategy: .iso8601)))
      var moved = AssetChanges()
      moved.creationDate = .clear
      block.edit([ids[0]], moved)
      block.setFavorite(true, for: [ids[2]])
    }
    let details = try #require(try change.changeDetails(for: result))
    #expect(text(try details.sectionChanges(by: .month)) == "2025-01 0→1 2024-05 3→2 2019-05 1→0 undated 1→2")
    #expect(text(try details.sectionChanges(by: .year)) == "2025 0→1 2024 4→3 2019 1→0 undated 1→2")
  }

  @Test("an object can change its section without moving (CD-18)")
  func inPlace() async throws {
    let (small, ids) = try await library(["2024-05-31", "2024-01-01"])
    let result = try small.library.fetchAssets(options("creationDate:desc"))
    let change = try await small.change { block in
      var edit = AssetChanges()
      edit.creationDate = .set(try Date("2024-03-01T00:00:00Z", strategy: .iso8601))
      block.edit([ids[0]], edit)
    }
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.moved.isEmpty && details.removedIndexes == [])
    #expect(text(try details.sectionChanges(by: .month)) == "2024-05 1→0 2024-03 0→1")
    #expect(try details.sectionChanges(by: .year).isEmpty)
  }

  @Test("under a limit the section changes from which an untouched object was pushed out (CD-19)")
  func pushedOut() async throws {
    let (small, _) = try await library(Self.days)
    let result = try small.library.fetchAssets(options("creationDate:desc", limit: 4))
    let change = try await small.change { block in
      block.createAsset(.invented(91, date: try Date("2024-05-15T00:00:00Z", strategy: .iso8601)))
    }
    let details = try #require(try change.changeDetails(for: result))
    #expect(text(try details.sectionChanges(by: .month)) == "2024-05 3→4 2024-04 1→0")
  }

  @Test("results that no commit connects, and details without indexes, are compared by their sections (CD-15, CD-20)")
  func compared() async throws {
    let (small, ids) = try await library(Self.days)
    let created = try small.library.fetchAssets(options("creationDate:desc"))
    let newest = try small.library.fetchAssets(options("creationDate", limit: 2))
    let difference = ChangeDetails(from: created, to: newest)
    #expect(text(try difference.sectionChanges(by: .year)) == "2024 4→0")
    // The same objects by another date: no index shows that they are in other sections.
    let added = try small.library.fetchAssets(options("addedDate"))
    #expect(
      text(try ChangeDetails(from: created, to: added).sectionChanges(by: .year))
        == "undated 1→0 2019 1→0 2024 4→0 2025 0→6")
    var silent = try options("creationDate")
    silent.wantsIncrementalChangeDetails = false
    let held = try small.library.fetchAssets(silent)
    let details = try #require(try await small.change { $0.deleteAssets([ids[1]]) }.changeDetails(for: held))
    #expect(!details.hasIncrementalChanges)
    #expect(text(try details.sectionChanges(by: .year)) == "undated 1→0")
    #expect(throws: FetchError.self) {
      try ChangeDetails(from: created, to: try small.library.fetchAssets()).sectionChanges(by: .day)
    }
  }

  @Test(
    "after every commit of a random history, sections and their changes match the model",
    .timeLimit(.minutes(60)), arguments: SectionZones.seeded)
  func histories(_ zone: String, seed: UInt64) async throws {
    var history = try SectionHistory(zone: .named(zone), seed: seed)
    do {
      try await history.run(commits: 60)
    } catch let divergence as Divergence {
      Issue.record("\(zone), seed \(seed): \(divergence)")
    }
    #expect(history.changeCount > 500 && history.untouchedCount > 50, "the history changed too little")
  }
}
