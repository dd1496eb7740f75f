import EventLog
import Foundation
@testable import PhotoLedger
import TestSupport
import Testing

@Suite("Assets as a list shows them")
struct ListedAssetTests {
  /// The columns, written value by value.
  private static func columns(_ assets: [ListedAsset]) -> String {
    func column(_ name: String, _ value: (inout JSONBytes, ListedAsset) -> Void) -> String {
      let values = assets.map { asset in
        var bytes = JSONBytes(capacity: 1)
        value(&bytes, asset)
        return bytes.text()
      }
      return "\"\(name)\":[\(values.joined(separator: ","))]"
    }
    return [
      column("localIdentifier") { $0.text($1.id.spelled(as: .asset)) },
      column("mediaType") { $0.integer(Int64($1.mediaType)) },
      column("mediaSubtypes") { $0.integer(Int64($1.mediaSubtypes)) },
      column("pixelWidth") { $0.integer(Int64($1.pixelWidth)) },
      column("pixelHeight") { $0.integer(Int64($1.pixelHeight)) },
      column("duration") { $0.number($1.duration) },
      column("creationDate") { bytes, asset in
        if let date = asset.creationDate { bytes.date(date) } else { bytes.null() }
      },
      column("timeZoneOffset") { bytes, asset in
        if let offset = asset.timeZoneOffset { bytes.integer(Int64(offset)) } else { bytes.null() }
      },
      column("hasClock") { $0.bool($1.hasClock) },
      column("isFavorite") { $0.bool($1.isFavorite) }, column("isHidden") { $0.bool($1.isHidden) },
      column("isStackTop") { $0.bool($1.isStackTop) },
      column("sha256") { bytes, asset in bytes.text(asset.withSHA256 { Array($0).hexadecimal }) },
    ].joined(separator: ",")
  }

  @Test("the columns of any assets are those that are written value by value", arguments: 0..<5)
  func columns(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let small = try SmallLibrary(.seeded(UInt64(seed)))
    try await small.change { change in
      for number in 0..<60 {
        var creation = AssetCreation.random(number, &random)
        if number % 7 == 0 { creation = .invented(number, .audio) }
        creation.pixelWidth = random.one(of: [0, 7, 10, 99, 100, 999, 1000, 4032, 9999, 10_000, 100_000, 2_000_000_000])
        creation.pixelHeight = Int(random.next() >> UInt64(random.int(33..<64)))
        change.createAsset(creation)
      }
    }
    var options = FetchOptions()
    options.includeHiddenAssets = true
    let result = try small.library.fetchAssets(options)
    #expect(result.count > 30)
    for range in [0..<0, 0..<1, 0..<result.count, 10..<11, 3..<29] {
      let assets = try small.library.listed(range, of: result)
      let ids = try result.objects(at: range).map(\.id)
      #expect(assets.map(\.id) == ids)
      var bytes = JSONBytes(capacity: 1)
      bytes.columns(of: assets)
      #expect(bytes.text() == Self.columns(assets))
      // Row and details of each: the objects, and what is read of their files one by one.
      let objects = try result.objects(at: range)
      #expect(try assets.map { $0.withSHA256 { Array($0) } } == small.library.shownContents(of: objects))
      var listed = JSONBytes(capacity: 1)
      listed.columns(of: try small.library.listed(objects))
      #expect(listed.text() == bytes.text())
    }
  }

  @Test(
    "files are read in place as the strict reader reads them, damaged ones too",
    arguments: 0..<(Dose.isFull ? 5 : 2))
  func contents(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for number in 0..<200 {
      var details = AssetDetails()
      for file in 0..<random.int(0..<4) {
        let type: ResourceType = random.one(of: [.photo, .pairedVideo, .fullSizePhoto])
        var resource = AssetResource.invented(number * 4 + file, type)
        resource.originalFilename = String(repeating: "n", count: random.one(of: [0, 8, 23, 24, 255, 256, 70_000]))
        resource.uniformTypeIdentifier = random.one(of: ["public.jpeg", "com.adobe.raw-image", "raw-image", "e", ""])
        resource.dataSize = random.next() >> UInt64(random.int(2..<64))
        (resource.pixelWidth, resource.pixelHeight) = (random.one(of: [0, 5, 4032]), random.one(of: [0, 300]))
        if random.chance(1, of: 2) { resource.storage = .library }
        if random.chance(1, of: 2) { resource.sha1 = Array(repeating: 7, count: 20) }
        if random.chance(1, of: 2) { resource.contentIdentifier = "LIVE" }
        details.resources.append(resource)
      }
      if random.chance(1, of: 2) { details.caption = "sea" }
      var bytes = details.encoded()
      func usual() -> [ResourceContent]? {
        var contents: [ResourceContent] = []
        return bytes.withUnsafeBytes { UsualContents.read($0, into: &contents) } ? contents : nil
      }
      let read = try #require(usual())
      #expect(read.map(\.sha256.bytes) == details.resources.map(\.sha256))
      #expect(read.map(\.type) == details.resources.map(\.type) && read.map(\.isRaw) == details.resources.map(\.isRaw))
      // What is damaged is read here only if the strict reader reads it, and then as the same.
      for _ in 0..<20 where !bytes.isEmpty {
        let sound = bytes
        if random.chance(1, of: 2) {
          bytes[random.int(0..<min(bytes.count, 120))] = UInt8(truncatingIfNeeded: random.next())
        } else {
          bytes.removeLast(random.int(1..<bytes.count + 1))
        }
        if let read = usual() {
          var strict: [ResourceContent] = []
          try AssetDetails.readContentsStrictly(bytes.span.bytes, into: &strict)
          #expect(read.map(\.sha256.bytes) == strict.map(\.sha256.bytes))
          #expect(read.map(\.type) == strict.map(\.type) && read.map(\.isRaw) == strict.map(\.isRaw))
        }
        bytes = sound
      }
    }
  }

  @Test("a later position is available once the order is built, and concurrent requests share one order")
  func completion() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(40)
    var options = FetchOptions()
    options.sort = [try SortTerm("creationDate", for: .asset)]
    let result = try small.library.fetchAssets(options)
    #expect(result.isAtHand(0..<BegunResult.firstCount) && !result.isAtHand(0..<40))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          do { try result.complete() } catch { Issue.record("\(error)") }
        }
      }
    }
    #expect(result.isAtHand(0..<40) && result.isAtHand(39..<40))
    #expect(try small.library.listed(30..<40, of: result).map(\.id) == Array(ids[30...]))
  }
}
