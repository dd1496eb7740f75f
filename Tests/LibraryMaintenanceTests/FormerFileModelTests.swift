import EventLog
import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// The files of a library, against a walk over its log.
//
// The model knows no table: it reads all events and keeps of each asset every content that it ever had in the library's
// folder, until a purge that is not an undo's. That is what has to be in the folder, no more and no less.

/// A library of few contents, whose assets share files and lose them in every way that there is.
private final class FormerFileHistory {
  let made: TemporaryLibrary
  private var random: SeededGenerator
  private var assets: [LocalIdentifier] = []
  private var commits: [Token] = []
  /// The assets that were purged or erased: only of these an undo may lack bytes.
  private var purged: Set<String> = []
  /// How often something happened that the tables are there for.
  private(set) var counts: [String: Int] = [:]

  static let texts = ["shore", "tide", "dune", "reed", "gull"]

  var library: PhotoLibrary { made.library }

  init(seed: UInt64) throws {
    made = try TemporaryLibrary(.seeded(seed))
    random = SeededGenerator(seed: seed)
  }

  private func text() -> String { random.one(of: Self.texts) }

  private func living() throws -> [LocalIdentifier] { try assets.filter { try library.asset($0.uuidString) != nil } }

  /// Does one thing; what the library rejects changes nothing.
  func step() throws {
    do { try draw() } catch is LibraryError { counts["rejected", default: 0] += 1 }
  }

  private func draw() throws {
    let some = random.some(2, of: try living())
    switch random.int(0..<20) {
    case 0, 1, 2, 3:
      try perform { block in
        for _ in 0..<random.int(1..<3) { assets.append(block.createAsset(.photo(text()))) }
      }
    case 4, 5, 6: try perform { block in if let asset = some.first { block.editContent(of: asset, edit()) } }
    case 7, 8: try perform { block in for asset in some { block.revertContent(of: asset) } }
    case 9:
      let file = ResourceDraft(type: .alternatePhoto, source: .data(Data(text().utf8)))
      try perform { block in if let asset = some.first { block.addResources([file], to: asset) } }
    case 10: try perform { $0.deleteAssets(some) }
    case 11: try perform { $0.restoreAssets(some) }
    case 12: try purge(some, editing: random.chance(1, of: 3))
    case 13, 14, 15, 16, 17: try undo()
    case 18: try erase()
    default:
      try perform { block in
        block.createAsset(.photo(text()))
        block.deleteCollections([LocalIdentifier(using: &random)])
      }
    }
  }

  private func perform(_ changes: (ChangeBlock) throws -> Void) throws {
    let before = try library.currentToken
    let receipt = try library.performChangesAndWait(changes)
    if receipt.token != before { commits.append(receipt.token) }
  }

  private func edit() -> ContentEdit {
    let render = ResourceDraft(type: .fullSizePhoto, source: .data(Data(text().utf8)))
    let recipe = AdjustmentData(formatIdentifier: "com.example", formatVersion: "1", data: Data(text().utf8))
    return ContentEdit(
      adjustmentData: recipe, rendered: [render], base: random.one(of: [.unedited, .rendered]))
  }

  private func purge(_ some: [LocalIdentifier], editing: Bool) throws {
    if some.isEmpty { return }
    try perform { block in
      if editing, let asset = some.first { block.editContent(of: asset, edit()) }
      block.deleteAssets(some)
      block.purgeAssets(some)
    }
    purged.formUnion(some.map { $0.spelled(as: .asset) })
    counts["purge", default: 0] += 1
  }

  /// Undoes a commit, an undo among them.
  private func undo() throws {
    guard !commits.isEmpty else { return }
    // A plan that is made while the files of a purge are still there names no conflict; by force, the undo would then
    // bring an asset back without them.
    try waitForRemoval()
    let selection = UndoSelection.commit(random.chance(1, of: 2) ? commits[commits.count - 1] : random.one(of: commits))
    let plan = try library.planUndo(selection, onConflict: .force)
    let gone = plan.conflicts.filter { $0.reason == .bytesGone }
    for conflict in gone {
      #expect(purged.contains(conflict.change.object), "\(conflict.sentence)")
    }
    // By force, assets whose files are gone would name them.
    let report = try library.undoAndWait(selection, onConflict: gone.isEmpty ? .force : .skip)
    if let token = report.token { commits.append(token) }
    counts["undo", default: 0] += report.changes.isEmpty ? 0 : 1
  }

  /// Erases an asset of any kind: one of the library, one that was purged, or one that an undo took out.
  private func erase() throws {
    let some = random.some(random.int(1..<3), of: assets)
    if some.isEmpty { return }
    let isUndone = try some.contains { id in
      try library.asset(id.uuidString) == nil && !purged.contains(id.spelled(as: .asset))
    }
    let report = try library.eraseAssets(some)
    purged.formUnion(some.map { $0.spelled(as: .asset) })
    counts["erasure", default: 0] += 1
    counts["erasure of what an undo took out", default: 0] += isUndone ? 1 : 0
    counts["kept by an erasure", default: 0] += report.assets.contains { !$0.keptFiles.isEmpty } ? 1 : 0
  }

  // MARK: The model

  /// The path of a content below `resources`.
  static func path(of content: [UInt8]) -> String {
    let digits = content.hexadecimal
    return "\(digits.prefix(2))/\(digits.dropFirst(2))"
  }

  /// The files that have to be there, by the log, and those of them that an asset has now.
  private func needed(_ t: borrowing StoreReading) throws -> (all: Set<String>, now: Set<String>) {
    let (log, projections) = (library.store.core.log, library.store.core.projections)
    var ever: [ObjectNumber: Set<String>] = [:]
    try log.read(after: 0, in: t) { record in
      guard record.type.hasPrefix("asset") else { return .proceed }
      let event = try projections.event(record, in: t)
      if case .assetPurged(let existence) = event, !existence.isByUndo {
        ever[existence.row.number] = nil
        return .proceed
      }
      for number in event.touched {
        for resource in event.resources(of: number) where resource.storage == .library {
          ever[number, default: []].insert(Self.path(of: resource.sha256))
        }
      }
      return .proceed
    }
    var (all, now): (Set<String>, Set<String>) = ([], [])
    for (number, paths) in ever {
      all.formUnion(paths)
      now.formUnion(try projections.details(number, in: t)?.resources.map { Self.path(of: $0.sha256) } ?? [])
    }
    return (all, now)
  }

  /// Returns when the files that the last block made unneeded are gone: the writer removes them before it takes the
  /// next.
  private func waitForRemoval() throws {
    try library.performChangesAndWait { $0.createAlbum(title: "checked") }
  }

  /// Compares the folder with the model, and the two tables with each other.
  @discardableResult
  func check() throws -> Set<String> {
    try waitForRemoval()
    let files = try made.resourceFiles().filter { !$0.hasPrefix("incoming/") }
    let (all, now) = try library.store.reading { t in try needed(t) }
    try demand(files == all, "\(files.sorted()) are there, and \(all.sorted()) have to be")
    counts["kept for an undo", default: 0] += all.subtracting(now).count
    let tables = try StoreDump(
      Environment.store(ofLibrary: made.url.path), only: ["formerContent", "formerFiles"]
    ).databases
    let former = try #require(tables["formerContent"]).map { Array($0.key[32...] + $0.key[..<32]) }
    let inverse = try #require(tables["formerFiles"]).map(\.key)
    try demand(Set(former) == Set(inverse) && former.count == inverse.count, "The tables are not each other's inverse.")
    return all
  }

  /// Makes the projections again from the log, which gives the same bytes.
  func rebuild() throws {
    let environment = try Environment.store(ofLibrary: made.url.path)
    let before = try StoreDump(environment, only: Projections.names)
    try library.rebuild()
    let difference = try StoreDump(environment, only: Projections.names).difference(from: before)
    try demand(difference == nil, "a rebuild: \(difference ?? "")")
  }

  /// Closes the library, adds a file of each content without one, and sweeps.
  func sweep() throws {
    let needed = try check()
    let contents = (Self.texts + ["never named"]).map { ($0, Self.path(of: Array($0.utf8).sha256)) }
    let garbage = contents.filter { !needed.contains($0.1) }
    for (text, path) in garbage {
      let file = made.url.appending(path: "resources/\(path)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    library.close()
    try Environment.store(ofLibrary: made.url.path).close()
    let report = try PhotoLibrary.compact(at: made.url, sweepingResources: true)
    try demand(report.sweptFiles == garbage.map(\.1).sorted(), "\(report.sweptFiles) were swept, not \(garbage)")
    let swept = try PhotoLibrary(at: made.url)
    defer { swept.close() }
    let found = try swept.verify(scratch: made.folder.url, hashingContent: true)
    try demand(found.isSound && found.missingResources.isEmpty, "\(found)")
  }
}

@Suite("Files of earlier states, compared with a scan of the log")
struct FormerFileModelTests {
  @Test("the folder holds the files that the log says an asset has or an undo can restore, and a sweep keeps these")
  func histories() throws {
    let wanted = [
      "rejected", "purge", "undo", "erasure", "erasure of what an undo took out", "kept by an erasure",
      "kept for an undo",
    ]
    var counts: [String: Int] = [:]
    // At the usual dose four, and more only as long as something was in none.
    for seed in 1...10 as ClosedRange<UInt64>
    where Dose.isFull || seed <= 4 || wanted.contains(where: { counts[$0, default: 0] == 0 }) {
      let history = try FormerFileHistory(seed: seed)
      do {
        for round in 0..<80 {
          try history.step()
          if round % 4 == 3 { try history.check() }
          if round % 20 == 19 { try history.rebuild() }
        }
        try history.sweep()
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
      counts.merge(history.counts) { $0 + $1 }
    }
    for what in wanted {
      #expect(counts[what, default: 0] > 0, "No history had this: \(what).")
    }
  }
}
