import TestSupport
import Testing

@testable import MediaImport
@testable import PhotoLedger

// The halves of Live Photos with one content identifier, paired by the planner and by comparing each with each.

@Suite("pairing the halves of Live Photos")
struct PairingTests {
  static func file(_ index: Int, _ path: String, _ mediaType: MediaType, _ identifier: String?) -> PreparedFile {
    let isStill = mediaType == .image
    let metadata = MediaMetadata(
      mediaType: mediaType, uniformTypeIdentifier: isStill ? "public.jpeg" : "com.apple.quicktime-movie",
      mimeType: isStill ? "image/jpeg" : "video/quicktime", fileType: isStill ? "JPEG" : "MOV", isRaw: false,
      orientation: 1, duration: isStill ? 0 : 3, contentIdentifier: identifier, isBurstPrimary: false, subtypes: [],
      playbackStyle: isStill ? .image : .video, isMotionPhoto: false, keywords: [], warnings: [])
    let stored = StoredContent(sha256: Array("\(index)".utf8), dataSize: 1, storage: .library)
    return PreparedFile(index: index, path: FilePath(path), stored: stored, metadata: metadata)
  }

  /// The movie of each still, as ImportPlan.swift states the rule: the nearest pairs first, of equally near ones that
  /// of the first still with the first movie.
  struct EachWithEach {
    private var waiting: [PreparedFile] = []

    mutating func pairs(_ files: [PreparedFile]) -> [Int: Int] {
      waiting += files.filter { $0.metadata.mediaType == .video }
      var stills = files.filter { $0.metadata.mediaType == .image }
      var pairs: [Int: Int] = [:]
      while let (still, movie) = nearest(stills) {
        pairs[stills.remove(at: still).index] = waiting.remove(at: movie).index
      }
      return pairs
    }

    private func nearest(_ stills: [PreparedFile]) -> (still: Int, movie: Int)? {
      var best: (still: Int, movie: Int, nearness: Int)?
      for (still, one) in stills.enumerated() {
        for (movie, other) in waiting.enumerated()
        where one.metadata.contentIdentifier == other.metadata.contentIdentifier {
          let nearness =
            one.path.stemBytes == other.path.stemBytes ? 2 : one.path.folderBytes == other.path.folderBytes ? 1 : 0
          if nearness > best?.nearness ?? -1 { best = (still, movie, nearness) }
        }
      }
      return best.map { ($0.still, $0.movie) }
    }
  }

  @Test("each still has the nearest movie, whatever batches they come in", arguments: 0..<200)
  func nearest(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let count = random.int(1..<40)
    let files = (0..<count).map { index in
      let isStill = random.chance(1, of: 2)
      let name = "/\(random.int(0..<3))/IMG_\(random.int(0..<4)).\(isStill ? "HEIC" : "MOV")\(index)"
      return Self.file(index, name, isStill ? .image : .video, random.one(of: ["A", "A", "B"]))
    }
    var (planner, expected) = (ImportPlanner(), EachWithEach())
    var start = 0
    while start < count {
      let end = random.int(start..<count) + 1
      let planned = planner.plan(Array(files[start..<end]), halves: [:])
      let pairs = planned.filter { $0.files.count == 2 }.map { ($0.files[0], $0.files[1]) }
      let wanted = expected.pairs(Array(files[start..<end]))
      #expect(Dictionary(uniqueKeysWithValues: pairs) == wanted)
      start = end
    }
  }

  /// Each with each would be 400,000,000 comparisons at the usual dose, and six times as many at the full one.
  static let count = Dose.isFull ? 50_000 : 20_000

  @Test(
    "tens of thousands of stills and as many movies with one content identifier are paired, in different folders",
    .timeLimit(.minutes(10)))
  func manyMovies() {
    var planner = ImportPlanner()
    let movies = (0..<Self.count).map { Self.file($0, "/m\($0)/IMG_\($0).MOV", .video, "A") }
    let waiting = planner.plan(movies, halves: [:])
    #expect(waiting.isEmpty)
    let stills = (0..<Self.count).map { Self.file(Self.count + $0, "/s\($0)/IMG_\($0).HEIC", .image, "A") }
    let planned = planner.plan(stills, halves: [:])
    #expect(planned.map(\.files) == (0..<Self.count).map { [Self.count + $0, $0] })
    let left = planner.takeWaiting()
    #expect(left.isEmpty)
  }

  @Test("stills complete the library's movies with their content identifier, each the first that is left")
  func halvesOfLibrary() {
    let count = 100
    func asset(_ number: Int) -> LocalIdentifier { LocalIdentifier(high: 0, low: UInt64(number)) }
    let halves = (0..<2 * count).map { number in
      LivePhotoHalf(asset: asset(number), mediaType: number < count ? .image : .video)
    }
    var planner = ImportPlanner()
    let stills = (0...count).map { Self.file($0, "/s/IMG_\($0).HEIC", .image, "A") }
    let videos = planner.plan(stills, halves: ["A".exact: halves]).map { planned -> LocalIdentifier? in
      if case .pairedStill(_, let video) = planned.change { video } else { nil }
    }
    let expected: [LocalIdentifier?] = (count..<2 * count).map { asset($0) } + [nil]
    #expect(videos == expected, "The last still stands alone.")
  }

  static let spelledAlike = ["caf\u{E9}", "cafe\u{301}"]

  @Test("a still and a movie whose content identifiers are one text to Unicode, but not to the store, are not a pair")
  func spellings() throws {
    let still = Self.file(0, "/a/IMG_1.HEIC", .image, Self.spelledAlike[0])
    var movie = Self.file(1, "/a/IMG_1.MOV", .video, Self.spelledAlike[1])
    let half = LivePhotoHalf(asset: LocalIdentifier(high: 0, low: 1), mediaType: .video)
    for isMovingPart in [false, true] {
      movie.note = MediaNote()
      movie.note?.isMovingPart = isMovingPart
      var planner = ImportPlanner()
      #expect(planner.contentIdentifiers([still, movie]).count == 2)
      let planned = planner.plan([still, movie], halves: [Self.spelledAlike[1].exact: [half]])
      #expect(planned.map(\.files) == [[0]] && planned.map(\.change.resources.count) == [1])
      if case .pairedStill? = planned.first?.change { Issue.record("It is a half of another Live Photo.") }
      let waiting = planner.takeWaiting()
      #expect(waiting.map(\.index) == [1])
    }
  }

  @Test("each of two content identifiers that are one text to Unicode finds its own halves in the library")
  func spellingsInLibrary() throws {
    let rig = try ImportedLibrary()
    var ids: [LocalIdentifier] = []
    try rig.library.performChangesAndWait { block in
      for (index, identifier) in Self.spelledAlike.enumerated() {
        var still = AssetResource.invented(index + 1)
        still.contentIdentifier = identifier
        ids.append(block.createAsset(AssetCreation(mediaType: .image, resources: [.staged(still)])))
      }
    }
    let target = LibraryTarget(library: rig.library, cause: "test", run: "run")
    let halves = try target.unpairedHalves(contentIdentifiers: Self.spelledAlike)
    for (identifier, id) in zip(Self.spelledAlike, ids) { #expect(halves[identifier.exact]?.map(\.asset) == [id]) }
  }
}
