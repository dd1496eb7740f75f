import Foundation
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

/// A library and a folder to export it to.
final class ExportRig: Sendable {
  let rig: ImportedLibrary
  let folder: MediaImportTests.TemporaryFolder

  init() throws {
    rig = try ImportedLibrary()
    folder = try MediaImportTests.TemporaryFolder()
  }

  var library: PhotoLibrary { rig.library }
  var target: String { folder.path + "/out" }

  /// Makes assets of tiny pictures with what people write.
  func add(_ count: Int, _ random: inout SeededGenerator) async throws {
    let drawn = (0..<count).map { _ in
      (
        bytes: TinyMedia.jpeg(.init(comment: "\(random.next())")),
        name: random.one(of: ["a.jpg", "A.JPG", "b.jpeg", "é.jpg", "..jpg"]),
        date: random.chance(1, of: 5) ? nil : Date(timeIntervalSince1970: Double(random.int(0..<40)) * 1e7),
        caption: random.one(of: [nil, "a/b", "<&>\n\u{1}é", "sea"]), keywords: random.some(2, of: ["x", "y,z", "é"])
      )
    }
    let favorites = drawn.map { _ in random.chance(1, of: 4) }
    try await library.performChanges { block in
      for (item, isFavorite) in zip(drawn, favorites) {
        var creation = AssetCreation(
          mediaType: .image, resources: [.init(type: .photo, source: .data(item.bytes), originalFilename: item.name)])
        (creation.creationDate, creation.caption) = (item.date, item.caption)
        (creation.keywords, creation.isFavorite) = (Set(item.keywords), isFavorite)
        block.createAsset(creation)
      }
    }
  }

  /// Changes something of some assets, or trashes or purges them.
  func mix(_ random: inout SeededGenerator) async throws {
    let assets = try rig.assets()
    let chosen = random.some(3, of: assets.map(\.id))
    guard !chosen.isEmpty else { return }
    let (kind, date) = (random.int(0..<5), Double(random.int(0..<40)) * 1e7)
    try await library.performChanges { block in
      switch kind {
      case 0: block.setFavorite(true, for: chosen)
      case 1:
        var changes = AssetChanges()
        changes.creationDate = .set(Date(timeIntervalSince1970: date))
        block.edit(chosen, changes)
      case 2: block.deleteAssets([chosen[0]])
      case 3:
        var changes = AssetChanges()
        changes.caption = .set("caption \(date)")
        block.edit(chosen, changes)
      default:
        let album = block.createAlbum(title: "Album/\(date)")
        block.album(album).add(chosen)
      }
    }
  }

  func export(
    _ template: String = ExportTemplate.standardText, _ change: (inout ExportOptions) -> Void = { _ in }
  ) async throws -> ExportSummary {
    try await export(template, change, at: {})
  }

  /// The same with what is called at each step.
  func export(
    _ template: String, _ change: (inout ExportOptions) -> Void, at step: @escaping @Sendable () throws -> Void
  ) async throws -> ExportSummary {
    var options = ExportOptions(template: try ExportTemplate(template))
    change(&options)
    var export = try LibraryExport(of: library, options: options)
    export.step = step
    return try await export.run(try library.fetchAssets(), to: target)
  }

  /// The exported files by path, ours left out.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: target) {
      var isFolder: ObjCBool = false
      let path = "\(target)/\(name)"
      guard !name.hasPrefix(ExportFolder.own), FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
        !isFolder.boolValue
      else { continue }
      files[name] = try Data(contentsOf: URL(filePath: path))
    }
    return files
  }

  /// The bytes of the library's own files.
  func stored() throws -> [Data] {
    try rig.storedFiles().sorted().map { try Data(contentsOf: library.url.appending(path: "resources/\($0)")) }
  }

  /// What lies where, written a second time and more simply: what a person would say of a library and a template.
  func model(_ options: ExportOptions) throws -> [String: Data] {
    var files: [String: Data] = [:]
    var stems: Set<String> = []
    let assets = try library.fetchAssets().sorted {
      ($0.addedDate, $0.id.uuidString) < ($1.addedDate, $1.id.uuidString)
    }
    let collections = try library.fetchCollections().map { album in
      (title: album.localizedTitle ?? "", members: Set(try library.fetchAssets(FetchOptions(), in: album).map(\.id)))
    }
    for asset in assets {
      let resource = try #require(try library.resources(of: asset).first)
      let albums = collections.filter { $0.members.contains(asset.id) }.map { [$0.title] }
      var details = AssetDetails(resources: [resource])
      let words = try library.extendedMetadata(of: asset)
      (details.caption, details.keywords) = (words.caption, words.keywords)
      let subject = ExportSubject(asset: asset, details: details, albums: albums)
      for path in options.template.paths(for: subject).map({ $0.joined(separator: "/") }) {
        var stem = path
        var number = 0
        while !stems.insert(stem.precomposedStringWithCanonicalMapping.lowercased()).inserted {
          number += 1
          stem = "\(path) (\(number))"
        }
        let ending = SafeFileName.ending(of: resource.originalFilename) ?? ".jpg"
        files[stem + ending] = try Data(contentsOf: library.url(of: resource, in: asset))
        if options.sidecars != nil { files[stem + ending + ".xmp"] = Data(XMPPacket(subject).bytes) }
      }
    }
    return files
  }
}

@Suite("exporting files", .blocking)
struct LibraryExportTests {
  static let templates = [
    "{year|undated}/{month}/{name}", "{album|none}/{name}", "{name}", "{caption|-}/{favorite?f/}{id}",
  ]

  // The seeds of the usual dose draw each template, and sidecars and links with and without each other.
  @Test(
    "random libraries: the folder contains what the model says, and a second export adds nothing",
    arguments: Dose.isFull ? Array(0..<12) : [0, 3, 5, 6, 7] as [UInt64])
  func random(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let rig = try ExportRig()
    let template = random.one(of: Self.templates)
    let withSidecars = random.chance(1, of: 2)
    let links = random.chance(1, of: 3)
    var options = ExportOptions(template: try ExportTemplate(template))
    options.sidecars = withSidecars ? .full : nil
    for round in 0..<5 {
      try await rig.add(random.int(1..<8), &random)
      if round > 0 { try await rig.mix(&random) }
      let before = round == 0 ? [:] : try rig.files()
      let wanted = try rig.model(options)
      let change = { (options: inout ExportOptions) in
        options.sidecars = withSidecars ? .full : nil
        options.removesUnwanted = true
        options.links = links
      }
      let first = try await rig.export(template, change)
      #expect(try rig.files() == wanted, "\(template), round \(round)")
      #expect(first.isComplete && first.assetsWithoutFile == 0)
      let written = first.count(.copied) + first.count(.linked) + first.count(.written)
      #expect(written == wanted.count { before[$0.key] != $0.value }, "Exactly the difference is written.")
      let second = try await rig.export(template, change)
      #expect(second.count(.unchanged) == wanted.count && second.outcomes.count == 1, "\(second.outcomes)")
    }
  }

  private struct Crash: Error {}

  @Test("stopped at any step, an export leaves complete files and continues", arguments: 0..<4)
  func ended(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let rig = try ExportRig()
    try await rig.add(6, &random)
    _ = try await rig.export()
    try await rig.add(6, &random)
    for _ in 0..<3 { try await rig.mix(&random) }
    let wanted = try rig.model(ExportOptions(template: try ExportTemplate(ExportTemplate.standardText)))
    let known = Set(wanted.values).union(try rig.files().values)
    var point = 0
    while true {
      let left = Mutex(point)
      do {
        let change = { (options: inout ExportOptions) in
          options.removesUnwanted = true
          options.threadCount = 1
        }
        let summary = try await rig.export(ExportTemplate.standardText, change) {
          let isOver = left.withLock { left in
            left -= 1
            return left < 0
          }
          if isOver { throw Crash() }
        }
        #expect(summary.isComplete, "\(summary)")
        break
      } catch is Crash {
        for (path, bytes) in try rig.files() { #expect(known.contains(bytes), "\(path) is whole") }
        // Each run gets a little further or a little less far, as kills do.
        point = random.int(0..<(point + 3))
        if random.chance(1, of: 3) { point += 4 }
      }
    }
    #expect(try rig.files() == wanted)
  }

  @Test("foreign and changed files are left unchanged")
  func foreign() async throws {
    var random = SeededGenerator(seed: 5)
    let rig = try ExportRig()
    try await rig.add(3, &random)
    _ = try await rig.export("{id}")
    let paths = try rig.files().keys.sorted()
    try Data("mine".utf8).write(to: URL(filePath: "\(rig.target)/\(paths[0])"))
    #expect(unlink("\(rig.target)/\(paths[1])") == 0)
    #expect(symlink("/etc/passwd", "\(rig.target)/\(paths[1])") == 0)
    let summary = try await rig.export("{id}") { $0.removesUnwanted = true }
    #expect(summary.count(.conflict) == 2 && summary.count(.unchanged) == 1 && !summary.isComplete)
    #expect(try String(contentsOfFile: "\(rig.target)/\(paths[0])", encoding: .utf8) == "mine")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(rig.target)/\(paths[1])") == "/etc/passwd")
    let again = try await rig.export("{id}") { $0.replacesChanged = true }
    #expect(again.count(.copied) == 1 && again.count(.conflict) == 1, "A link is not an export.")
  }

  @Test("a file that another program has changed stays an export's when files beside it are rewritten")
  func changedBesideOthers() async throws {
    var random = SeededGenerator(seed: 8)
    let rig = try ExportRig()
    try await rig.add(3, &random)
    _ = try await rig.export("{id}")
    let paths = try rig.files().keys.sorted()
    try Data("turned".utf8).write(to: URL(filePath: "\(rig.target)/\(paths[0])"))
    #expect(unlink("\(rig.target)/\(paths[1])") == 0)
    // The second line of a path has the journal written anew.
    let summary = try await rig.export("{id}")
    #expect(summary.count(.conflict) == 1 && summary.count(.copied) == 1 && summary.count(.unchanged) == 1)
    let again = try await rig.export("{id}") { $0.replacesChanged = true }
    #expect(again.count(.copied) == 1 && again.count(.unchanged) == 2 && again.isComplete)
  }

  @Test("a folder of the target that is a link is not followed")
  func linkedFolder() async throws {
    var random = SeededGenerator(seed: 6)
    let rig = try ExportRig()
    try await rig.add(2, &random)
    let outside = rig.folder.path + "/outside"
    for path in [outside, rig.target] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    #expect(symlink(outside, "\(rig.target)/x") == 0)
    let summary = try await rig.export("x/{id}")
    #expect(summary.count(.conflict) == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty)
  }

  @Test("vanished and moved files are listed, and removed only on request")
  func vanished() async throws {
    var random = SeededGenerator(seed: 7)
    let rig = try ExportRig()
    try await rig.add(3, &random)
    _ = try await rig.export("{favorite|no}/{id}")
    let assets = try rig.rig.assets()
    try await rig.library.performChanges { block in
      block.deleteAssets([assets[0].id])
      block.setFavorite(!assets[1].isFavorite, for: [assets[1].id])
    }
    let listed = try await rig.export("{favorite|no}/{id}")
    #expect(listed.unwanted.map(\.reason.rawValue).sorted() == ["superseded", "vanished"])
    #expect(try rig.files().count == 4 && !listed.unwanted.contains(where: \.isRemoved))
    let removed = try await rig.export("{favorite|no}/{id}") { $0.removesUnwanted = true }
    #expect(removed.unwanted.allSatisfy(\.isRemoved) && removed.unwanted.count == 2)
    #expect(try rig.files().count == 2)
  }

  @Test("the files of an asset stay until its new ones are in their places", arguments: [false, true])
  func lastCopy(isForeign: Bool) async throws {
    let rig = try ExportRig()
    try await rig.library.performChanges { block in
      for name in ["a", "b"] {
        block.createAsset(
          AssetCreation(
            mediaType: .image,
            resources: [.init(type: .photo, source: .data(Data(name.utf8)), originalFilename: "\(name).png")]))
      }
    }
    let made = try await rig.export("{name}") { $0.sidecars = .full }
    #expect(made.count(.copied) == 2 && made.count(.written) == 2 && made.bytesCopied == 2, "\(made)")
    let before = try rig.files()
    let digits = Array("b".utf8).sha256.hexadecimal
    let lost = "\(rig.library.url.path)/resources/\(digits.prefix(2))/\(digits.dropFirst(2))"
    if isForeign {
      try FileManager.default.createDirectory(atPath: rig.target + "/all/b.png", withIntermediateDirectories: true)
    } else {
      #expect(rename(lost, lost + ".away") == 0)
    }
    let change = { (options: inout ExportOptions) in (options.removesUnwanted, options.sidecars) = (true, .full) }
    let summary = try await rig.export("all/{name}", change)
    #expect(summary.count(isForeign ? .conflict : .failed) == 1 && !summary.isComplete)
    let kept = summary.unwanted.filter { !$0.isRemoved }
    #expect(kept.map(\.path) == ["b.png", "b.png.xmp"] && kept.allSatisfy { $0.message?.contains("was kept") == true })
    let files = try rig.files()
    #expect(files["b.png"] == before["b.png"] && files["b.png.xmp"] == before["b.png.xmp"] && files["a.png"] == nil)
    if isForeign { #expect(rmdir(rig.target + "/all/b.png") == 0) } else { #expect(rename(lost + ".away", lost) == 0) }
    #expect(try await rig.export("all/{name}", change).isComplete)
    #expect(try Set(rig.files().keys) == ["all/a.png", "all/a.png.xmp", "all/b.png", "all/b.png.xmp"])
  }

  @Test("an export of some assets leaves the files of others alone")
  func others() async throws {
    var random = SeededGenerator(seed: 8)
    let rig = try ExportRig()
    try await rig.add(4, &random)
    _ = try await rig.export("{type}")
    let before = try rig.files()
    var options = ExportOptions(template: try ExportTemplate("{type}"))
    options.removesUnwanted = true
    let last = try #require(try rig.rig.assets().max { $0.id.uuidString < $1.id.uuidString })
    let one = try rig.library.fetchAssets(withLocalIdentifiers: [last.localIdentifier])
    let summary = try await LibraryExport(of: rig.library, options: options).run(one, to: rig.target)
    #expect(summary.ofOtherAssets == 3 && summary.unwanted.isEmpty && summary.count(.unchanged) == 1)
    #expect(try rig.files() == before)
  }

  @Test("a dry run writes nothing")
  func dryRun() async throws {
    var random = SeededGenerator(seed: 9)
    let rig = try ExportRig()
    try await rig.add(3, &random)
    let summary = try await rig.export { $0.isDryRun = true }
    #expect(summary.count(.wanted) == 3)
    #expect(!FileManager.default.fileExists(atPath: rig.target))
  }

  @Test("without its journal, an export recognises its files by their bytes")
  func adopted() async throws {
    var random = SeededGenerator(seed: 10)
    let rig = try ExportRig()
    try await rig.add(3, &random)
    _ = try await rig.export()
    try FileManager.default.removeItem(atPath: "\(rig.target)/\(ExportFolder.own)")
    #expect(try await rig.export().count(.found) == 3)
    #expect(try await rig.export().count(.unchanged) == 3)
  }

  @Test(
    "sidecars and copies with metadata are recognised, too, without the journal or with other times",
    arguments: [false, true], [false, true])
  func adoptedMetadata(embeds: Bool, losesJournal: Bool) async throws {
    let rig = try ExportRig()
    try await rig.library.performChanges { block in
      for name in ["a", "b"] {
        var creation = AssetCreation(
          mediaType: .image,
          resources: [
            .init(type: .photo, source: .data(TinyMedia.scanned(name, isWhole: true)), originalFilename: "\(name).jpg")
          ])
        creation.caption = "words about \(name)"
        block.createAsset(creation)
      }
    }
    let change = { (options: inout ExportOptions) in
      (options.embeds, options.sidecars) = (embeds, embeds ? nil : .full)
      // Each thread starts an exiftool, in each of the exports: one at the usual dose.
      if !Dose.isFull { options.threadCount = 1 }
    }
    #expect(try await rig.export("{name}", change).isComplete)
    let paths = try rig.files().keys.sorted()
    let last = try #require(paths.last)
    try Data("mine".utf8).write(to: URL(filePath: "\(rig.target)/\(last)"))
    for path in paths {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: "\(rig.target)/\(path)")
    }
    if losesJournal { try FileManager.default.removeItem(atPath: "\(rig.target)/\(ExportFolder.own)") }
    let before = try rig.files()
    let found = try await rig.export("{name}", change)
    #expect(found.count(.found) == paths.count - 1 && found.count(.conflict) == 1, "\(found.outcomes)")
    let again = try await rig.export("{name}", change)
    #expect(again.count(.unchanged) == paths.count - 1 && again.count(.conflict) == 1, "\(again.outcomes)")
    #expect(try rig.files() == before)
  }

  @Test("the current version of a Live Photo has its film, unless an edit rendered the still alone", arguments: 0..<3)
  func livePhotos(renderCount: Int) async throws {
    let rig = try ExportRig()
    func draft(_ type: ResourceType, _ name: String) -> ResourceDraft {
      let bytes = name.hasSuffix("MOV") ? TinyMedia.movie() : TinyMedia.jpeg(.init(comment: name))
      return ResourceDraft(type: type, source: .data(bytes), originalFilename: name)
    }
    let files = [draft(.photo, "IMG_1.JPG"), draft(.pairedVideo, "IMG_1.MOV")]
    let renders = [draft(.fullSizePhoto, "E.JPG"), draft(.fullSizePairedVideo, "E.MOV")].prefix(renderCount)
    try await rig.library.performChanges { block in
      let asset = block.createAsset(AssetCreation(mediaType: .image, resources: files))
      guard !renders.isEmpty else { return }
      let recipe = AdjustmentData(formatIdentifier: "a", formatVersion: "1", data: Data([1]))
      block.editContent(of: asset, ContentEdit(adjustmentData: recipe, rendered: Array(renders)))
    }
    let summary = try await rig.export("{name}") { $0.versions = .current }
    let endings = try rig.files().keys.map { $0.suffix(4).uppercased() }.sorted()
    #expect(summary.isComplete && endings == (renderCount == 1 ? [".JPG"] : [".JPG", ".MOV"]))
  }

  @Test("a file whose bytes are damaged in the library is not exported, and named")
  func damaged() async throws {
    var random = SeededGenerator(seed: 11)
    let rig = try ExportRig()
    try await rig.add(2, &random)
    let asset = try #require(try rig.rig.assets().first)
    let path = try rig.library.url(of: try rig.library.resources(of: asset)[0], in: asset).path
    let size = try Data(contentsOf: URL(filePath: path)).count
    #expect(chmod(path, 0o644) == 0)
    try Data(count: size).write(to: URL(filePath: path))
    let summary = try await rig.export()
    #expect(summary.count(.failed) == 1 && summary.count(.copied) == 1 && summary.assetsWithoutFile == 1)
    #expect(try rig.files().count == 1)
  }

  @Test("an export that is imported again gives the same library")
  func roundTrip() async throws {
    let source = try MediaImportTests.TemporaryFolder()
    for index in 0..<6 { try source.write("d\(index % 2)/p.\(index).jpg", ImportTests.still("\(index)")) }
    let rig = try ExportRig()
    _ = try await rig.rig.run([source.asRoot])
    _ = try await rig.export("{year}/{name}")
    let copy = try ImportedLibrary()
    _ = try await copy.run([FilePath(rig.target)])
    #expect(try copy.content() == rig.rig.content())
  }

  @Test("a favourite is restored when an export with sidecars is imported")
  func favorites() async throws {
    let rig = try ExportRig()
    try await rig.library.performChanges { block in
      for name in ["a", "b"] {
        var creation = AssetCreation(
          mediaType: .image,
          resources: [
            .init(type: .photo, source: .data(TinyMedia.jpeg(.init(comment: name))), originalFilename: "\(name).jpg")
          ])
        creation.caption = name
        creation.isFavorite = name == "a"
        block.createAsset(creation)
      }
    }
    _ = try await rig.export("{name}") { $0.sidecars = .full }
    var options = LibraryImport.Options()
    options.readsSidecars = true
    let other = try ImportedLibrary()
    let (summary, _) = try await other.run([FilePath(rig.target)], options)
    #expect(summary.assetsAdded == 2 && summary.described == 2)
    for asset in try other.assets() {
      #expect(try asset.isFavorite == (other.library.extendedMetadata(of: asset).caption == "a"))
    }
    #expect(try other.assets().count { $0.isFavorite } == 1)
  }

  @Test("the library's words are written to copies and sidecars, and exiftool reads them", arguments: [false, true])
  func metadata(embeds: Bool) async throws {
    let rig = try ExportRig()
    let (caption, keywords) = ("Line\ntwo & \"x\" -XMP-dc:Title=no", ["a, b", "é", "-delete_original"])
    try await rig.library.performChanges { block in
      var creation = AssetCreation(
        mediaType: .image,
        resources: [
          .init(type: .photo, source: .data(TinyMedia.scanned("x", isWhole: true)), originalFilename: "-o\n.jpg")
        ])
      creation.creationDate = Date(timeIntervalSince1970: 1_717_180_200)
      (creation.caption, creation.keywords, creation.isFavorite) = (caption, Set(keywords), true)
      creation.rating = .four
      creation.location = Location(latitude: -48.2, longitude: 8.5, altitude: -3)
      block.createAsset(creation)
    }
    let before = try rig.stored()
    let summary = try await rig.export("{name}") {
      $0.embeds = embeds
      $0.sidecars = embeds ? nil : .full
    }
    #expect(summary.isComplete, "\(summary)")
    let file = try #require(try rig.files().keys.first { embeds || $0.hasSuffix(".xmp") })
    let read = try ChildRun.of(["exiftool", "-j", "-n", "-G1", "\(rig.target)/\(file)"]).text
    let objects = try #require(try JSONSerialization.jsonObject(with: Data(read.utf8)) as? [[String: Any]])
    let tags = try #require(objects.first)
    #expect(tags["XMP-dc:Description"] as? String == caption)
    #expect(Set(tags["XMP-dc:Subject"] as? [String] ?? []) == Set(keywords))
    #expect(tags["XMP-xmp:Rating"] as? Int == 4 && tags["XMP-dc:Title"] == nil)
    #expect("\(tags["XMP-xmpDM:Good"] ?? "")" == "1" || "\(tags["XMP-xmpDM:Good"] ?? "")".lowercased() == "true")
    let latitude = tags[embeds ? "Composite:GPSLatitude" : "XMP-exif:GPSLatitude"] as? Double
    #expect(abs((latitude ?? 0) + 48.2) < 1e-6)
    if embeds {
      #expect(tags["ExifIFD:DateTimeOriginal"] as? String == "2024:05:31 18:30:00")
      #expect(tags["GPS:GPSAltitudeRef"] as? Int == 1)
    }
    #expect(try rig.stored() == before, "The library's own files are never written.")
    let again = try await rig.export("{name}") {
      $0.embeds = embeds
      $0.sidecars = embeds ? nil : .full
    }
    #expect(again.count(.copied) == 0)
  }

  @Test("without exiftool nothing is embedded, and nothing is written")
  func noTool() async throws {
    var random = SeededGenerator(seed: 12)
    let rig = try ExportRig()
    try await rig.add(1, &random)
    await #expect {
      try await rig.export {
        $0.embeds = true
        $0.searchPath = "/nowhere"
      }
    } throws: {
      ($0 as? ImportError)?.code == .toolMissing
    }
    #expect(!FileManager.default.fileExists(atPath: rig.target))
  }

  @Test("an export into the library's own folder is rejected, also when it was moved there meanwhile")
  func intoItself() async throws {
    let rig = try ExportRig()
    let path = rig.library.url.path
    for moved in [path, path + " moved"] {
      if moved != path { #expect(rename(path, moved) == 0) }
      for target in [moved, moved + "/resources/out"] {
        let export = try LibraryExport(of: rig.library, options: ExportOptions(template: try ExportTemplate("{name}")))
        await #expect {
          _ = try await export.run(try rig.library.fetchAssets(), to: target)
        } throws: {
          ($0 as? LibraryError)?.code == .malformedRequest
        }
      }
    }
  }
}
