import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("files that other assets have in an export's folder", .blocking)
struct ExportOwnersTests {
  private let rig: ExportRig

  init() throws { rig = try ExportRig() }

  /// Makes an asset of each text, in this order of addition.
  private func add(_ texts: [String], named name: String? = nil, years: [Int] = []) async throws {
    for (index, text) in texts.enumerated() {
      try await rig.library.performChanges { block in
        var creation = AssetCreation(
          mediaType: .image,
          resources: [
            .init(type: .photo, source: .data(Data(text.utf8)), originalFilename: "\(name ?? text).png")
          ])
        if !years.isEmpty { creation.creationDate = Self.date(years[index]) }
        block.createAsset(creation)
      }
    }
  }

  private static func date(_ year: Int) -> Date { Date(timeIntervalSince1970: (Double(year) - 1969.5) * 31_556_952) }

  /// The assets in the order in which an export names them.
  private func assets() throws -> [Asset] {
    try rig.rig.assets().sorted { ($0.addedDate, $0.id.uuidString) < ($1.addedDate, $1.id.uuidString) }
  }

  private func text(_ asset: Asset) throws -> String {
    let resource = try #require(try rig.library.resources(of: asset).first)
    return String(decoding: try Data(contentsOf: rig.library.url(of: resource, in: asset)), as: UTF8.self)
  }

  private func files() throws -> [String: String] {
    try rig.files().mapValues { String(decoding: $0, as: UTF8.self) }
  }

  private func purge(_ ids: [LocalIdentifier]) async throws {
    try await rig.library.performChanges { $0.deleteAssets(ids) }
    try await rig.library.performChanges { $0.purgeAssets(ids) }
  }

  private func export(
    _ asset: Asset, _ template: String, _ change: (inout ExportOptions) -> Void = { _ in }
  ) async throws -> ExportSummary {
    var options = ExportOptions(template: try ExportTemplate(template))
    change(&options)
    let assets = try rig.library.fetchAssets(withLocalIdentifiers: [asset.localIdentifier])
    return try await LibraryExport(of: rig.library, options: options).run(assets, to: rig.target)
  }

  /// Where the library has the file with a text.
  private func stored(_ text: String) -> String {
    let digits = Array(text.utf8).sha256.hexadecimal
    return "\(rig.library.url.path)/resources/\(digits.prefix(2))/\(digits.dropFirst(2))"
  }

  @Test("the file of an asset that is gone keeps its path until unwanted files are removed")
  func gone() async throws {
    try await add(["b", "c"], named: "IMG_0001")
    _ = try await rig.export("{name}")
    let before = try files()
    let assets = try assets()
    let (first, second) = (try text(assets[0]), try text(assets[1]))
    #expect(before == ["IMG_0001.png": first, "IMG_0001 (1).png": second])
    try await purge([assets[0].id])
    try await add(["d"], named: "IMG_0001")
    let listed = try await rig.export("{name}")
    #expect(listed.count(.unchanged) == 1 && listed.count(.copied) == 1 && listed.isComplete, "\(listed)")
    #expect(listed.unwanted.map(\.path) == ["IMG_0001.png"] && listed.unwanted.first?.reason == .vanished)
    #expect(try files() == before.merging(["IMG_0001 (2).png": "d"]) { $1 })
    let planned = try await rig.export("{name}") { ($0.removesUnwanted, $0.isDryRun) = (true, true) }
    #expect(planned.unwanted.count == 2 && !planned.unwanted.contains(where: \.isRemoved), "\(planned)")
    let removed = try await rig.export("{name}") { $0.removesUnwanted = true }
    #expect(removed.isComplete && removed.count(.copied) == 2, "\(removed)")
    #expect(removed.unwanted.map(\.path).sorted() == ["IMG_0001 (2).png", "IMG_0001.png"])
    let replaced = try #require(removed.unwanted.first { $0.path == "IMG_0001.png" })
    #expect(replaced.isRemoved && replaced.reason == .vanished && replaced.asset == assets[0].id.uuidString)
    #expect(try files() == ["IMG_0001.png": second, "IMG_0001 (1).png": "d"])
  }

  @Test("files of photos that were imported again belong to their new assets", arguments: [false, true])
  func importedAgain(withSidecars: Bool) async throws {
    let change = { (options: inout ExportOptions) in options.sidecars = withSidecars ? .full : nil }
    try await add(["a", "b"])
    _ = try await rig.export("{name}", change)
    let before = try files()
    try await purge(try assets().map(\.id))
    try await add(["a", "b"])
    let all = try await rig.export("{name}", change)
    #expect(all.count(.unchanged) == before.count && all.outcomes.count == 1 && all.unwanted.isEmpty, "\(all)")
    let first = try #require(try assets().first)
    let one = try await export(first, "{name}") {
      change(&$0)
      $0.removesUnwanted = true
    }
    #expect(one.ofOtherAssets == before.count / 2 && one.unwanted.isEmpty, "\(one)")
    #expect(try files() == before)
  }

  @Test("what an earlier export has of a photo that was imported again stays that photo's in later exports")
  func inherited() async throws {
    try await add(["a", "b"])
    _ = try await rig.export("{name}") { $0.sidecars = .full }
    let before = try files()
    try await purge(try assets().map(\.id))
    try await add(["a", "b"])
    for _ in 0..<2 {
      let summary = try await rig.export("{name}") { $0.sidecars = nil }
      #expect(summary.count(.unchanged) == 2 && summary.outcomes.count == 1, "\(summary)")
    }
    #expect(try files() == before && before.count == 4)
  }

  @Test(
    "an asset does not get the path of another one's file before that has its new place, whatever the file's times",
    arguments: [false, true], [false, true])
  func younger(removes: Bool, isTouched: Bool) async throws {
    let change = { (options: inout ExportOptions) in
      (options.removesUnwanted, options.replacesChanged) = (removes, isTouched)
    }
    try await add(["a", "b"], named: "IMG_1")
    let assets = try assets()
    let (older, younger) = (try text(assets[0]), try text(assets[1]))
    #expect(try await export(assets[1], "{name}").count(.copied) == 1)
    if isTouched {
      let date = Date(timeIntervalSince1970: 1_000_000)
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: rig.target + "/IMG_1.png")
    }
    let lost = stored(younger)
    #expect(rename(lost, lost + ".away") == 0)
    let kept = try await rig.export("{name}", change)
    #expect(kept.count(.failed) == 1 && kept.count(.conflict) == 1 && kept.unwanted.isEmpty, "\(kept)")
    #expect(try files() == ["IMG_1.png": younger])
    #expect(rename(lost + ".away", lost) == 0)
    let summary = try await rig.export("{name}", change)
    #expect(summary.isComplete && summary.count(.copied) == 2, "\(summary)")
    #expect(try files() == ["IMG_1.png": older, "IMG_1 (1).png": younger])
  }

  @Test("assets change places only if the files of all of them can be made")
  func rings() async throws {
    try await add(["a", "b", "c"], named: "x", years: [2001, 2002, 2003])
    _ = try await rig.export("{year}/{name}")
    let before = try files()
    #expect(before == ["2001/x.png": "a", "2002/x.png": "b", "2003/x.png": "c"])
    let texts = try Dictionary(uniqueKeysWithValues: rig.rig.assets().map { (try text($0), $0.id) })
    try await rig.library.performChanges { block in
      for (text, year) in [("a", 2002), ("b", 2003), ("c", 2001)] {
        guard let id = texts[text] else { continue }
        var changes = AssetChanges()
        changes.creationDate = .set(Self.date(year))
        block.edit([id], changes)
      }
    }
    let lost = stored("b")
    #expect(rename(lost, lost + ".away") == 0)
    let kept = try await rig.export("{year}/{name}")
    #expect(kept.count(.failed) == 1 && kept.count(.conflict) == 2, "\(kept)")
    #expect(try files() == before)
    #expect(rename(lost + ".away", lost) == 0)
    let summary = try await rig.export("{year}/{name}")
    #expect(summary.isComplete && summary.count(.copied) == 3 && summary.unwanted.isEmpty, "\(summary)")
    #expect(try files() == ["2001/x.png": "c", "2002/x.png": "a", "2003/x.png": "b"])
  }

  /// Gives assets the years of others.
  private func move(_ years: [String: Int]) async throws {
    let assets = try rig.rig.assets().map { (text: try text($0), id: $0.id) }
    try await rig.library.performChanges { block in
      for asset in assets {
        guard let year = years[asset.text] else { continue }
        var changes = AssetChanges()
        changes.creationDate = .set(Self.date(year))
        block.edit([asset.id], changes)
      }
    }
  }

  @Test("assets that change places in pairs are exported in batches")
  func manyRings() async throws {
    struct TooMany: Error {}
    let numbers = Array(0..<70)
    try await add(numbers.map { "\($0)" }, named: "x", years: numbers.map { 2001 + $0 })
    _ = try await rig.export("{year}/{name}")
    try await move(Dictionary(uniqueKeysWithValues: numbers.map { ("\($0)", 2001 + ($0 ^ 1)) }))
    let coming = "\(rig.target)/\(ExportFolder.own)/coming"
    let step: @Sendable () throws -> Void = {
      if FileStamp.all(in: coming).count > 64 { throw TooMany() }
    }
    let summary = try await rig.export("{year}/{name}", { _ in }, at: step)
    #expect(summary.isComplete && summary.count(.copied) == 70 && summary.unwanted.isEmpty, "\(summary)")
    let wanted = numbers.map { ("\(2001 + ($0 ^ 1))/x.png", "\($0)") }
    #expect(try files() == Dictionary(uniqueKeysWithValues: wanted))
  }

  @Test("an asset that was in the folder all along does not inherit the sidecar of its purged duplicate")
  func duplicate() async throws {
    let change = { (options: inout ExportOptions) in options.sidecars = .full }
    try await add(["a", "a"], named: "x", years: [2001, 2002])
    _ = try await rig.export("{year}/{name}", change)
    let before = try files()
    try await purge(try assets().filter { $0.wallClock?.year == "2001" }.map(\.id))
    try await add(["c"], named: "x", years: [2001])
    let summary = try await rig.export("{year}/{name}", change)
    #expect(summary.isComplete && summary.unwanted.map(\.reason) == [.vanished, .vanished], "\(summary)")
    #expect(try files().filter { before[$0.key] != nil } == before)
  }

  @Test("a file that the options leave out keeps its path until unwanted files are removed")
  func leftOut() async throws {
    try await rig.library.performChanges { block in
      let files = [(ResourceType.photo, "x.png"), (ResourceType.pairedVideo, "x.mov")].map { type, name in
        ResourceDraft(type: type, source: .data(Data(name.utf8)), originalFilename: name)
      }
      var creation = AssetCreation(mediaType: .image, resources: files)
      creation.creationDate = Self.date(2001)
      block.createAsset(creation)
    }
    _ = try await rig.export("{year}/{name}")
    let ids = try rig.rig.assets().map(\.id)
    try await rig.library.performChanges { block in
      var changes = AssetChanges()
      changes.creationDate = .set(Self.date(2002))
      block.edit(ids, changes)
      let film = ResourceDraft(type: .video, source: .data(Data("film".utf8)), originalFilename: "x.mov")
      var creation = AssetCreation(mediaType: .video, resources: [film])
      creation.creationDate = Self.date(2001)
      block.createAsset(creation)
    }
    let kept = try await rig.export("{year}/{name}") { $0.takesPairedVideos = false }
    #expect(kept.count(.conflict) == 1 && kept.count(.copied) == 1, "\(kept)")
    #expect(try files() == ["2001/x.png": "x.png", "2001/x.mov": "x.mov", "2002/x.png": "x.png"])
    let summary = try await rig.export("{year}/{name}") { ($0.takesPairedVideos, $0.removesUnwanted) = (false, true) }
    #expect(summary.isComplete && summary.count(.copied) == 1, "\(summary)")
    #expect(try files() == ["2001/x.mov": "film", "2002/x.png": "x.png"])
  }

  @Test("what keeps a path names the asset that could not be exported")
  func named() async throws {
    try await add(["a"], named: "x", years: [2001])
    _ = try await rig.export("{year}/{name}")
    try await purge(try assets().map(\.id))
    try await add(["a", "c"], named: "x", years: [2002, 2001])
    let again = try #require(try assets().first { try text($0) == "a" })
    let lost = stored("a")
    #expect(rename(lost, lost + ".away") == 0)
    let reports = Gathered<ExportedFile>()
    let options = ExportOptions(template: try ExportTemplate("{year}/{name}"))
    _ = try await LibraryExport(of: rig.library, options: options).run(
      try rig.library.fetchAssets(), to: rig.target, report: { reports.append($0) })
    let messages = reports.all.filter { $0.outcome == .conflict }.map { $0.message ?? "" }
    #expect(messages.count == 1 && messages.allSatisfy { $0.contains(again.id.uuidString) }, "\(messages)")
  }
}
