import Glibc
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

// Edited copies and their originals, paired by the planner and by comparing each with each.

@Suite("pairing edited copies with their originals")
struct StackPairingTests {
  /// - Parameter content: nil for a file that was not read yet.
  static func scanned(_ path: String, content: Int?) -> ScannedFile {
    var file = ScannedFile(path: FilePath(path), relativeCount: path.utf8.count - 1, role: .candidate, byteCount: 1)
    file.content = content.map { FileContent(sha256: Array("\($0)".utf8), sha1: [], stamp: FileStamp(stat())) }
    return file
  }

  /// Photos and videos of one camera and one moment, so that the names decide.
  static func metadata(_ mediaType: MediaType) throws -> MediaMetadata {
    var metadata = PairingTests.file(0, "", mediaType, nil).metadata
    let reading = try #require(WallClock(2021, 2, 3, 4, 5, 6))
    metadata.captureTime = CaptureTime(reading: reading, clock: .local, offsetSeconds: nil, source: "test")
    (metadata.make, metadata.model) = ("SONY", "ILCE-7M3")
    return metadata
  }

  static func change(_ index: Int, _ path: FilePath, _ mediaType: MediaType) throws -> PlannedChange {
    let resource = ImportedResource(
      type: mediaType == .image ? .photo : .video, stored: PairingTests.file(index, "", mediaType, nil).stored,
      originalFilename: path.name, source: path, metadata: try metadata(mediaType))
    return PlannedChange(change: .asset(ImportedAsset(primary: resource)), files: [index])
  }

  /// A folder of photos, videos and edited copies, some of which the library has, that is imported in batches.
  struct Folder {
    struct Pair: Hashable {
      var copy: Int
      var original: ImportedStack.Member
    }

    private(set) var paths: [String] = []
    private(set) var contents: [Int] = []
    private(set) var files: [ScannedFile] = []
    /// The assets that the library had before, by content; those that nothing happened to are even.
    private var library: [Int: LocalIdentifier] = [:]
    /// The files that were taken, with what they became.
    private(set) var taken: [Int: RecordedChange] = [:]

    init(_ random: inout SeededGenerator) {
      for index in 0..<random.int(1..<30) {
        let isCopy = random.chance(1, of: 2)
        let name = "/\(random.int(0..<2))/IMG_\(random.int(0..<3))\(isCopy ? "_edited" : "").\(index)"
        let content = random.int(0..<8) + (isCopy ? 100 : 0)
        paths.append(name)
        contents.append(content)
        files.append(StackPairingTests.scanned(name, content: random.chance(3, of: 4) ? content : nil))
      }
      for content in random.some(random.int(0..<4), of: Array(0..<8)) {
        library[content] = LocalIdentifier(high: 1, low: UInt64(content))
      }
    }

    /// Equal contents are of one type.
    func mediaType(_ file: Int) -> MediaType { contents[file] % 5 == 4 ? .video : .image }

    func isUntouched(_ asset: LocalIdentifier) -> Bool { asset.low % 2 == 0 }

    /// What becomes of the files of a batch before it is recorded, and those that are new.
    func outcomes(of batch: Range<Int>) -> (outcomes: [Int: FileOutcome], new: [Int]) {
      var firsts = Dictionary(taken.keys.map { (contents[$0], $0) }) { first, _ in first }
      var (outcomes, new) = ([Int: FileOutcome](), [Int]())
      for file in batch {
        if let asset = library[contents[file]] {
          outcomes[file] = .duplicateOfAsset(asset)
        } else if let first = firsts[contents[file]] {
          outcomes[file] = .duplicateOfFile(files[first].path)
        } else {
          firsts[contents[file]] = file
          new.append(file)
        }
      }
      return (outcomes, new)
    }

    mutating func record(_ recorded: [RecordedChange], of new: [Int]) {
      for (file, recorded) in zip(new, recorded) { taken[file] = recorded }
    }

    /// The files that may be the original of a copy: those of its name, and all with the content of one of these.
    private func originals(of copy: Int) -> Set<Int> {
      func stem(_ file: Int) -> Substring { paths[file].prefix { $0 != "." } }
      let named = files.indices.filter { stem($0) + "_edited" == stem(copy) }
      return named.reduce(into: Set<Int>()) { originals, file in
        guard let content = files[file].content else {
          originals.insert(file)
          return
        }
        originals.formUnion(files.indices.filter { files[$0].content == content })
      }
    }

    /// The pairs of a batch, before it is recorded.
    func pairs(_ batch: Range<Int>, _ new: [Int]) -> Set<Pair> {
      var pairs: [Pair] = []
      for copy in new {
        var members: Set<ImportedStack.Member> = []
        var isClear = true
        for file in originals(of: copy) where mediaType(file) == mediaType(copy) || library[contents[file]] != nil {
          if let position = new.firstIndex(of: file) {
            members.insert(.change(position))
          } else if let recorded = taken[file] {
            members.insert(.asset(recorded.asset))
            if recorded.stack != nil { isClear = false }
          } else if let asset = library[contents[file]], file < batch.upperBound {
            if !isUntouched(asset) { isClear = false }
            if mediaType(file) == mediaType(copy) { members.insert(.asset(asset)) }
          }
        }
        if isClear, members.count == 1, let original = members.first {
          pairs.append(Pair(copy: copy, original: original))
        }
      }
      let counts = Dictionary(grouping: pairs, by: \.original).mapValues(\.count)
      return Set(pairs.filter { counts[$0.original] == 1 })
    }
  }

  @Test("each copy gets the original that comparing all pairs finds, whatever the batches", arguments: 0..<300)
  func same(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var folder = Folder(&random)
    var catalog = MediaCatalog(files: folder.files)
    catalog.edited = EditedCopy.named(in: folder.files)
    var planner = StackPlanner(of: catalog)
    var start = 0
    while start < folder.files.count {
      let batch = start..<random.int(start..<folder.files.count) + 1
      let (outcomes, new) = folder.outcomes(of: batch)
      let planned = try new.map { try Self.change($0, folder.files[$0].path, folder.mediaType($0)) }
      var known: [Int: StackPlanner.KnownFile] = [:]
      for (file, asset) in planner.questions(planned, outcomes) where folder.isUntouched(asset) {
        known[file] = StackPlanner.KnownFile(
          id: asset, asset: UntouchedAsset(isHidden: false), metadata: try Self.metadata(folder.mediaType(file)))
      }
      let stacks = planner.plan(planned, outcomes, known)
      #expect(stacks.allSatisfy { $0.rule == .editedCopy && $0.others.count == 1 })
      let found = stacks.map { Folder.Pair(copy: $0.files[0], original: $0.others[0]) }
      #expect(found.count == Set(found).count && Set(found) == folder.pairs(batch, new), "\(folder.paths)")
      let recorded = zip(planned, new).map { planned, file in
        RecordedChange(change: planned.change, asset: LocalIdentifier(high: 2, low: UInt64(file)))
      }
      let stacked = ImportBatch(changes: planned.map(\.change), stacks: stacks).withStacks(recorded)
      planner.note(stacked)
      planner.settle(to: batch.upperBound, outcomes)
      folder.record(stacked, of: new)
      start = batch.upperBound
    }
  }

  @Test(
    "a copy has the files of its original's name as originals, unless they are more than one shot leaves",
    arguments: [1, StackPlanner.unitLimit, StackPlanner.unitLimit + 1])
  func named(count: Int) {
    let originals = (0..<count).map { Self.scanned("/a/IMG_1.\($0)", content: nil) }
    let files = originals + (0..<3).map { Self.scanned("/a/IMG_1_edited.\($0)", content: nil) }
    let copy = EditedCopy(originals: Array(0..<count), isStated: false)
    let copies = count <= StackPlanner.unitLimit ? [count: copy, count + 1: copy, count + 2: copy] : [:]
    #expect(EditedCopy.named(in: files) == copies)
  }

  // Lists of the originals of each copy would be 400,000,000 numbers, which are 3 GB, or four times as many.

  private static let count = Dose.isFull ? 40_000 : 20_000

  @Test(
    "tens of thousands of edited copies, and as many originals of one name, are not a shot", .timeLimit(.minutes(10)))
  func manyOfOneName() {
    let files = (0..<Self.count).flatMap { number in
      ["", "_edited"].map { Self.scanned("/a/scan\($0).\(number)", content: nil) }
    }
    #expect(EditedCopy.named(in: files).isEmpty)
  }

  @Test(
    "tens of thousands of copies whose originals have one content have the one asset as original, and are not stacked",
    .timeLimit(.minutes(10)))
  func manyOfOneContent() throws {
    let originals = (0..<Self.count).map { Self.scanned("/\($0)/IMG_1.jpg", content: -1) }
    var catalog = MediaCatalog(
      files: originals + (0..<Self.count).map { Self.scanned("/\($0)/IMG_1-edited.jpg", content: $0) })
    for number in 0..<Self.count {
      catalog.edited[Self.count + number] = EditedCopy(originals: [number], isStated: true)
    }
    var planner = StackPlanner(of: catalog)
    let changes = try ([0] + Array(Self.count..<2 * Self.count)).map { index in
      try Self.change(index, catalog.files[index].path, .image)
    }
    let copied = (1..<Self.count).map { ($0, FileOutcome.duplicateOfFile(originals[0].path)) }
    let outcomes = Dictionary(uniqueKeysWithValues: copied)
    let one = planner.plan(Array(changes.prefix(2)), outcomes, [:])
    #expect(one.map(\.others) == [[.change(0)]])
    let all = planner.plan(changes, outcomes, [:])
    #expect(all.isEmpty, "Of two copies neither is the one to show.")
  }
}
