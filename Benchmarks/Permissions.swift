import Foundation
import PhotoLedger

/// What it costs that a client sees a selection only: looking one asset up, and fetching all that it sees.
enum Permissions {
  static func measure(size: Int, into report: inout Report) throws {
    guard report.wantsAny("permission look-up", "permission fetch", "permission commit") else { return }
    try MeasuredLibrary.make(size) { library, assets in try measure(library, assets, into: &report) }
  }

  private static func measure(
    _ library: PhotoLibrary, _ assets: [LocalIdentifier], into report: inout Report
  ) throws {
    let size = assets.count
    let alone = try commits(library, assets, report)
    report.add("permission commit, no client", size: size, caches: .warm, alone)
    let selections = [10, size / 100, size / 2].map { max(1, min($0, size)) }
    for (index, count) in selections.enumerated() {
      try grant(every: size / count, count, of: assets, to: name(index), in: library)
    }
    try measureReads(library, assets, selections, into: &report)
    let watched = try commits(library, assets, report)
    report.add(
      "permission commit, \(selections.count) limited clients", size: size, caches: .warm, watched,
      comparedWith: alone.quantile(0.5))
  }

  private static func name(_ index: Int) -> String { "com.example.client\(index)" }

  private static func measureReads(
    _ library: PhotoLibrary, _ assets: [LocalIdentifier], _ selections: [Int], into report: inout Report
  ) throws {
    let size = assets.count
    let base = try lookUps(library, assets, report)
    report.add("permission look-up, owner", size: size, caches: .warm, base, operations: lookUpCount)
    let whole = try fetches(library, expecting: size, report)
    report.add("permission fetch, owner, an asset", size: size, caches: .warm, whole, operations: size)
    for (index, count) in selections.enumerated() {
      let client = library.as(name(index))
      let found = try lookUps(client, assets, report)
      report.add(
        "permission look-up, selection of \(count)", size: size, caches: .warm, found, operations: lookUpCount,
        comparedWith: base.quantile(0.5) / Double(lookUpCount))
      let fetched = try fetches(client, expecting: count, report)
      report.add(
        "permission fetch, selection of \(count), an asset", size: size, caches: .warm, fetched, operations: count,
        comparedWith: whole.quantile(0.5) / Double(size))
    }
  }

  // MARK: The library

  private static func grant(
    every step: Int, _ count: Int, of assets: [LocalIdentifier], to client: String, in library: PhotoLibrary
  ) throws {
    let chosen = (0..<count).map { assets[$0 * step] }
    try library.performChangesAndWait { $0.setAuthorizationStatus(.limited, of: client) }
    for start in stride(from: 0, to: count, by: 10_000) {
      try library.performChangesAndWait { $0.grant(Array(chosen[start..<min(start + 10_000, count)]), to: client) }
    }
  }

  // MARK: The operations

  private static let lookUpCount = 2000

  /// Looks assets up one by one, seen and unseen ones.
  private static func lookUps(
    _ client: PhotoLibrary, _ assets: [LocalIdentifier], _ report: Report
  ) throws -> Sample {
    var random = Seeded(5)
    let asked = (0..<lookUpCount).map { _ in assets[Int.random(in: assets.indices, using: &random)].uuidString }
    var found = 0
    let sample = try repeated(report) { found = try asked.count { try client.asset($0) != nil } }
    Report.keep(found)
    return sample
  }

  private static func fetches(
    _ client: PhotoLibrary, expecting count: Int, _ report: Report
  ) throws -> Sample {
    var found = 0
    let sample = try repeated(report) { found = try client.fetchAssets().wholly().count }
    guard found == count else { throw WrongAnswer(description: "A fetch found \(found) assets instead of \(count).") }
    return sample
  }

  /// Marks one asset, durably as far as the file system is.
  private static func commits(
    _ library: PhotoLibrary, _ assets: [LocalIdentifier], _ report: Report
  ) throws -> Sample {
    var isFavorite = false
    var place = 0
    return try repeated(report) {
      isFavorite.toggle()
      place = (place + 7919) % assets.count
      let (mark, asset) = (isFavorite, assets[place])
      try library.performChangesAndWait { $0.setFavorite(mark, for: [asset]) }
    }
  }

  private static func repeated(_ report: Report, _ body: () throws -> Void) rethrows -> Sample {
    let stopwatch = Stopwatch()
    try body()
    return Sample(try (0..<min(11, report.repetitions)).map { _ in try stopwatch.time(body) })
  }
}
