import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

@Suite("Numbers that differ in few bits")
struct HammingIndexTests {
  /// Random numbers, and for some of them others that differ in a few bits.
  private static func numbers(_ count: Int, _ random: inout SeededGenerator) -> [UInt64] {
    var numbers: [UInt64] = []
    while numbers.count < count {
      var number = numbers.isEmpty || random.chance(1, of: 2) ? random.next() : random.one(of: numbers)
      for _ in 0..<random.int(0..<10) { number ^= 1 << UInt64(random.int(0..<64)) }
      numbers.append(number)
    }
    return numbers
  }

  @Test(
    "the index finds what comparing all pairs finds, each once, at every distance", arguments: [0, 1, 17, 300, 3000])
  func model(count: Int) {
    var random = SeededGenerator(seed: UInt64(count) + 7)
    let numbers = Self.numbers(count, &random)
    let index = HammingIndex(numbers)
    var hits = 0
    for distance in DuplicateSearch.distances {
      for number in random.some(60, of: numbers) + [random.next(), 0, .max] {
        var found: [Int] = []
        index.forEach(within: distance, of: number) {
          found.append($0)
          return true
        }
        let wanted = numbers.indices.filter { (numbers[$0] ^ number).nonzeroBitCount <= distance }
        #expect(found.sorted() == wanted, "\(count) numbers, distance \(distance)")
        hits += wanted.count
      }
    }
    #expect(count < 17 || hits > 100, "The numbers must have neighbours.")
  }

  // Both have the same bands.
  @Test(
    "the bands of a large index cover every pair of bits", arguments: Dose.isFull ? [1 << 18, 1 << 20] : [1 << 18])
  func large(count: Int) {
    var random = SeededGenerator(seed: 3)
    var numbers = (0..<count).map { _ in random.next() }
    let center = random.next()
    var wanted: [Int] = []
    for place in random.some(40, of: Array(0..<1000)) {
      var near = center
      for bit in random.some(8, of: Array(0..<64)) { near ^= 1 << UInt64(bit) }
      numbers[place] = near
      wanted.append(place)
    }
    var found: [Int] = []
    HammingIndex(numbers).forEach(within: 8, of: center) {
      found.append($0)
      return true
    }
    #expect(found.sorted() == wanted.sorted())
  }
}

@Suite("Groups of duplicates")
struct DuplicateGroupTests {
  private static func invented() -> LocalIdentifier { LocalIdentifier(UUID()) }

  private static func candidate(
    _ bits: UInt64, width: Int = 400, height: Int = 300, raw: Bool = false, edited: Bool = false, moving: Bool = false,
    bytes: UInt64 = 1000, added: Double = 0, burst: String? = nil, id: LocalIdentifier = invented()
  ) -> DuplicateCandidate {
    DuplicateCandidate(
      id: id, hash: PictureHash(coarse: bits, fine: (bits, bits, bits), means: (100, 128, 128)), width: width,
      height: height, isRaw: raw, isEdited: edited, isMoving: moving, byteCount: bytes,
      addedDate: Date(timeIntervalSince1970: added), burst: burst)
  }

  @Test("a chain of pictures of which only neighbours are similar is not one group")
  func chain() {
    // Each differs from the next in three bits; the first and the third in six.
    let chain = (0..<6).map { step in
      Self.candidate((1 << UInt64(3 * step)) - 1, added: Double(step))
    }
    let groups = DuplicateGroup.find(among: chain.shuffled(), within: 3).groups
    let wanted = [[0, 1], [2, 3], [4, 5]].map { $0.map { chain[$0].id } }
    #expect(groups.map { [$0.keeper] + $0.others.map(\.id) } == wanted)
    #expect(groups.allSatisfy { $0.others.map(\.distance) == [3] })
  }

  @Test("in a chain by colours or finer waves, the group has the pictures that are similar to the keeper only")
  func otherChains() {
    func photo(_ step: Int, light: UInt8, fine: UInt64) -> DuplicateCandidate {
      DuplicateCandidate(
        id: Self.invented(), hash: PictureHash(coarse: 7, fine: (fine, 0, 0), means: (light, 128, 128)), width: 400,
        height: 300, isRaw: false, isEdited: false, isMoving: false, byteCount: 1,
        addedDate: Date(timeIntervalSince1970: Double(step)), burst: nil)
    }
    let lights = (0..<3).map { photo($0, light: UInt8(100 + 10 * $0), fine: 0) }
    let waves = (0..<3).map { photo($0, light: 200, fine: (1 << UInt64(20 * $0)) - 1) }
    for chain in [lights, waves] {
      let groups = DuplicateGroup.find(among: chain.shuffled(), within: 0).groups
      #expect(groups.map { [$0.keeper] + $0.others.map(\.id) } == [[chain[0].id, chain[1].id]])
    }
  }

  @Test("the keeper has more pixels, then RAW, an edit, a moving part, more bytes, and the earliest addition")
  func keeper() {
    let ranked = [
      Self.candidate(7, width: 4000, height: 3000), Self.candidate(7, raw: true), Self.candidate(7, edited: true),
      Self.candidate(7, moving: true), Self.candidate(7, bytes: 1001), Self.candidate(7), Self.candidate(7, added: 1),
    ]
    let group = DuplicateGroup.find(among: ranked.shuffled(), within: 0).groups
    #expect(group.map { [$0.keeper] + $0.others.map(\.id) } == [ranked.map(\.id)])
  }

  @Test("pictures of another shape, of one burst, of other colours or other detail are not similar")
  func apart() {
    func areAlike(_ one: DuplicateCandidate, _ other: DuplicateCandidate) -> Bool {
      !DuplicateGroup.find(among: [one, other], within: 4).groups.isEmpty
    }
    let one = Self.candidate(7, burst: "B")
    #expect(areAlike(one, Self.candidate(7, width: 133, height: 100)), "A third of the size, rounded.")
    #expect(!areAlike(one, Self.candidate(7, width: 300, height: 300)))
    #expect(!areAlike(one, Self.candidate(7, width: 300, height: 400)))
    let spelled = ["caf\u{E9}", "cafe\u{301}"].map { Self.candidate(7, burst: $0) }
    #expect(areAlike(spelled[0], spelled[1]), "The store has two bursts.")
    #expect(!areAlike(one, Self.candidate(7, burst: "B")) && areAlike(one, Self.candidate(7, burst: "C")))
    func with(_ fine: UInt64, _ blue: UInt8) -> DuplicateCandidate {
      let hash = PictureHash(coarse: 7, fine: (7, 7 ^ fine, 7), means: (100, blue, 128))
      return DuplicateCandidate(
        id: Self.invented(), hash: hash, width: 400, height: 300, isRaw: false, isEdited: false, isMoving: false,
        byteCount: 1, addedDate: Date(timeIntervalSince1970: 0), burst: nil)
    }
    #expect(areAlike(one, with(0xFF, 130)) && !areAlike(one, with(0xFFFF_FFFF_FFFF, 128)))
    #expect(!areAlike(one, with(0, 150)))
  }

  @Test("a rejected pair is in no group, and the pairs that it leaves can be")
  func rejected() {
    let contents = (UInt8(0)..<4).map { [UInt8](repeating: $0, count: 32) }
    let photos = contents.enumerated().map { index, content in
      var candidate = Self.candidate(7, bytes: UInt64(1000 - index))
      candidate.content = content
      return candidate
    }
    func groups(_ rejected: [(Int, Int)]) -> [[Int]] {
      let pairs = Set(rejected.map { ContentPair(contents[$0.0], contents[$0.1]) })
      return DuplicateGroup.find(among: photos.shuffled(), within: 4, rejecting: pairs).groups.map { group in
        ([group.keeper] + group.others.map(\.id)).compactMap { id in photos.firstIndex { $0.id == id } }
      }
    }
    #expect(groups([]) == [[0, 1, 2, 3]])
    #expect(groups([(0, 1)]) == [[0, 2, 3]])
    #expect(groups([(1, 0), (2, 0), (0, 3)]) == [[1, 2, 3]])
    #expect(groups([(0, 1), (0, 2), (3, 1), (1, 2)]) == [[0, 3]])
    // Neither are they together under a keeper with which they were not rejected.
    #expect(groups([(1, 2)]) == [[0, 1, 3]])
    #expect(groups([(1, 2), (1, 3)]) == [[0, 1], [2, 3]])
  }

  @Test("the groups are those that comparing all pairs gives, best first")
  func model() {
    for seed in 1...UInt64(30) {
      var random = SeededGenerator(seed: seed)
      let bases = (0..<6).map { _ in random.next() }
      let candidates = (0..<120).map { _ in
        var bits = random.one(of: bases)
        for _ in 0..<random.int(0..<7) { bits ^= 1 << UInt64(random.int(0..<64)) }
        let scale = random.int(1..<4)
        return Self.candidate(
          bits, width: 400 * scale, height: 300 * scale, raw: random.chance(1, of: 9),
          added: Double(random.int(0..<50)))
      }
      let distance = random.one(of: Array(DuplicateSearch.distances))
      var left = candidates.sorted { $0.isBetter(than: $1) }
      var wanted: [[LocalIdentifier]] = []
      while let keeper = left.first {
        let others = left.dropFirst().filter { $0.isAlike(keeper, within: distance) }
        let ids = [keeper.id] + others.map(\.id)
        left.removeAll { ids.contains($0.id) }
        if !others.isEmpty { wanted.append(ids) }
      }
      let groups = DuplicateGroup.find(among: candidates.shuffled(), within: distance).groups
      #expect(groups.map { [$0.keeper] + $0.others.map(\.id) } == wanted, "seed \(seed)")
    }
  }
}

@Suite("A search among many nearly similar pictures")
struct CrowdedPicturesTests {
  /// Pictures of one coarse hash, each of whose finer waves are random, and each with a copy.
  private static func pages(_ count: Int) -> [DuplicateCandidate] {
    var random = SeededGenerator(seed: 11)
    return (0..<count).flatMap { page in
      let fine = (random.next(), random.next(), random.next())
      return (0..<2).map { copy in
        DuplicateCandidate(
          id: LocalIdentifier(high: UInt64(page), low: UInt64(copy)),
          hash: PictureHash(coarse: 7, fine: fine, means: (200, 128, 128)), width: 400, height: 300, isRaw: false,
          isEdited: false, isMoving: false, byteCount: 1, addedDate: Date(timeIntervalSince1970: Double(page)),
          burst: nil)
      }
    }
  }

  @Test("each is compared with a bounded number of others, and those that exceed it are counted")
  func bounded() {
    let pages = Self.pages(1500)
    let finding = DuplicateGroup.find(among: pages.shuffled(), within: 4, comparing: 50)
    #expect(finding.comparisonCount <= 50 * 1500 && finding.comparisonCount > 40 * 1500, "\(finding.comparisonCount)")
    // Copies follow each other in the order of the best, so all are found; the last 25 pages have fewer neighbours.
    #expect(finding.groups.count == 1500 && !finding.wasInterrupted)
    #expect(finding.crowded >= 1500 - 26 && finding.crowded < 1500, "\(finding.crowded)")
    let whole = DuplicateGroup.find(among: Self.pages(300).shuffled(), within: 4)
    #expect(whole.crowded == 0 && whole.groups.count == 300)
  }

  @Test("it stops between two pictures when it is cancelled")
  func cancelled() {
    var calls = 0
    let finding = DuplicateGroup.find(
      among: Self.pages(300), within: 4,
      isCancelled: {
        calls += 1
        return calls > 10
      })
    #expect(finding.wasInterrupted && finding.groups.count == 10 && calls == 11)
  }
}

@Suite("Failures of decoders")
struct PassingFailureTests {
  /// A program in place of vipsthumbnail.
  private static func outcome(_ script: String) throws -> Result<PictureHash?, any Error> {
    let folder = try MediaImportTests.TemporaryFolder()
    try FileManager.default.createDirectory(atPath: "\(folder.path)/bin", withIntermediateDirectories: true)
    try writeProgram("#!/bin/sh\n\(script)\n", at: "\(folder.path)/bin/vipsthumbnail")
    let photo = try folder.write("a.jpg", TinyMedia.jpeg())
    let renderer = MediaRenderer(searchPath: "\(folder.path)/bin:/usr/bin:/bin")
    return renderer.pictureHashes(of: [URL(filePath: photo.description)])[0]
  }

  @Test("a decoder that is killed is retried, and one that cannot decode a file is not")
  func kept() throws {
    // As a shell or a sandbox ends around a program that a signal ended; alone in a sandbox it cannot kill itself.
    for script in ["exit 137", "exit 134"] {
      let killed = try Self.outcome(script)
      #expect(DuplicateSearch.entry(killed, 5, isStopped: false) == nil, "\(script): \(killed)")
    }
    let failed = try Self.outcome("exit 1")
    #expect(DuplicateSearch.entry(failed, 5, isStopped: false) == .failed(5), "\(failed)")
    #expect(DuplicateSearch.entry(failed, 5, isStopped: true) == nil, "Stopped by us, it says nothing.")
    for code in [ImportError.Code.toolTimeout, .toolCrashed, .vanished] {
      #expect(DuplicateSearch.entry(.failure(ImportError(code, "No.")), 5, isStopped: false) == nil)
    }
  }

  @Test("failures recorded during temporary ones are tried again, too")
  func formerRecords() throws {
    let rig = try ImportedLibrary()
    let content = [UInt8](repeating: 9, count: 32)
    try HashCache(in: rig.library.store.folder).add([(content, .failed(5))])
    let file = rig.library.url.appending(path: "\(HashCache.folder)/\(PictureHash.recipe)")
    var record = Array(try Data(contentsOf: file))
    record[32] = 3
    let sum = CRC32.of(Array(record.dropLast(4)))
    record.replaceSubrange(76..<80, with: (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) })
    try Data(record).write(to: file)
    let cache = try HashCache(in: rig.library.store.folder)
    #expect(cache.recordCount == 1 && cache.entries.isEmpty)
  }
}

@Suite("Hashes of pictures")
struct PictureHashTests {
  private static func pixels(_ value: (Int, Int) -> Int) -> [UInt8] {
    (0..<32 * 32).flatMap { index -> [UInt8] in
      Array(repeating: UInt8(max(0, min(255, value(index % 32, index / 32)))), count: 3)
    }
  }

  /// Blocks of random light.
  private static func picture(_ seed: UInt64) -> [Int] {
    var random = SeededGenerator(seed: seed)
    return (0..<64).map { _ in random.int(0..<256) }
  }

  @Test("noise, contrast and light leave a picture similar to itself, and others are not")
  func robust() throws {
    for seed in UInt64(1)...40 {
      let blocks = Self.picture(seed)
      // Not in fours: some waves would contain only noise.
      func light(_ x: Int, _ y: Int) -> Int { blocks[x / 5 + y / 5 * 8] }
      let hash = try #require(PictureHash(pixels: Self.pixels(light)))
      var random = SeededGenerator(seed: seed)
      let worn = try #require(
        PictureHash(pixels: Self.pixels { x, y in light(x, y) * 9 / 10 + 12 + random.int(-1..<2) }))
      #expect(hash.isAlike(worn, within: DuplicateSearch.usualDistance), "\(seed): \(hash.distance(to: worn))")
      let other = Self.picture(seed + 1000)
      let stranger = try #require(PictureHash(pixels: Self.pixels { other[$0 / 5 + $1 / 5 * 8] }))
      #expect(!hash.isAlike(stranger, within: DuplicateSearch.distances.upperBound))
      let mirrored = try #require(PictureHash(pixels: Self.pixels { light(31 - $0, $1) }))
      #expect(!hash.isAlike(mirrored, within: DuplicateSearch.distances.upperBound))
    }
  }

  @Test("a plain picture has no hash: a blank page, a dark frame, a smooth sky")
  func plain() {
    #expect(PictureHash(pixels: Self.pixels { _, _ in 255 }) == nil)
    var random = SeededGenerator(seed: 1)
    #expect(PictureHash(pixels: Self.pixels { _, _ in random.int(0..<4) }) == nil)
    #expect(PictureHash(pixels: Self.pixels { _, y in 100 + y * 2 }) == nil)
  }
}

@Suite(
  "Searching duplicates",
  .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
struct DuplicateSearchTests {
  private static let names = [
    "albums/nature/silver_fir.jpg", "albums/nature/prairie_falcon.jpg", "gps/HTC Desire.jpg",
    "orientation/Landscape_6.jpg", "png-screenshot/phoneScreenshots-8_en-US.png",
  ]

  /// A library with photos, and of each a smaller copy and one of another quality, made now.
  private static func library() async throws -> (rig: ImportedLibrary, files: MediaImportTests.TemporaryFolder) {
    let files = try MediaImportTests.TemporaryFolder()
    for (index, name) in names.enumerated() {
      let source = try #require(Corpus.folder).appending(path: name).path
      let place = "\(files.path)/\(index)"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: source, toPath: "\(place)/0.\(FilePath(source).pathExtension)")
      for (copy, words) in [("1.jpg[Q=60,strip]", "640x640>"), ("2.jpg[Q=35,strip]", "5000x5000>")] {
        let made = try ChildRun.of(["vipsthumbnail", source, "--size", words, "-o", "\(place)/\(copy)"])
        #expect(made.end == .status(0), "\(name): \(made.text)")
      }
    }
    let rig = try ImportedLibrary()
    _ = try await rig.run([files.asRoot])
    return (rig, files)
  }

  /// The folders of the photos of each group, and the name of its keeper.
  private static func found(
    _ rig: ImportedLibrary, _ distance: Int = DuplicateSearch.usualDistance
  ) async throws -> (summary: DuplicateSummary, groups: [[String]]) {
    let summary = try await DuplicateSearch(of: rig.library, within: distance).run(try rig.library.fetchAssets())
    let groups = try summary.groups.map { group in
      try ([group.keeper] + group.others.map(\.id)).map { id in
        let asset = try #require(try rig.library.asset(id.uuidString))
        return try rig.library.resources(of: asset)[0].originalFilename + " \(asset.pixelWidth)x\(asset.pixelHeight)"
      }
    }
    return (summary, groups)
  }

  @Test("resized and re-encoded copies are found, with the original as keeper, and nothing else is")
  func copies() async throws {
    let (rig, files) = try await Self.library()
    let assets = try rig.assets()
    let (summary, groups) = try await Self.found(rig)
    #expect(summary.failed == 0 && summary.compared + summary.plain == assets.count, "\(summary)")
    #expect(groups.count == Self.names.count, "\(groups)")
    for group in groups {
      #expect(group.count == 3 && group[0].hasPrefix("0."), "\(groups)")
    }
    // The hashes are there: the pictures are not read again.
    let folder = rig.library.url.appending(path: HashCache.folder)
    let records = folder.appending(path: PictureHash.recipe)
    let size = try Data(contentsOf: records).count
    #expect(size == assets.count * 80)
    let calls = Mutex(0)
    let again = try await DuplicateSearch(of: rig.library).run(
      try rig.library.fetchAssets(), progress: { _, _ in calls.withLock { $0 += 1 } })
    #expect(again.groups == summary.groups && calls.withLock { $0 } == 0)
    // A damaged record is made again, a lost cache whole.
    var bytes = try Data(contentsOf: records)
    bytes[40] ^= 1
    try bytes.dropLast(7).write(to: records)
    #expect(try await Self.found(rig).summary.groups == summary.groups)
    try FileManager.default.removeItem(at: folder)
    #expect(try await Self.found(rig).summary.groups == summary.groups)
    _ = files
  }

  @Test("a photo that is missing or damaged is counted, and the others are compared")
  func damaged() async throws {
    let rig = try ImportedLibrary()
    let files = try MediaImportTests.TemporaryFolder()
    let source = try #require(Corpus.folder).appending(path: Self.names[0])
    try files.write("a.jpg", try Data(contentsOf: source))
    try files.write("b.jpg", ImportTests.still("no picture inside", identifier: nil))
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = true
    _ = try await rig.run([files.asRoot], options)
    let summary = try await Self.found(rig).summary
    #expect(summary.failed == 1 && summary.compared == 1 && summary.groups.isEmpty)
    try FileManager.default.removeItem(atPath: "\(files.path)/a.jpg")
    try FileManager.default.removeItem(at: rig.library.url.appending(path: HashCache.folder))
    let missing = try await Self.found(rig).summary
    #expect(missing.failed == 2 && missing.compared == 0)
  }

  @Test("hashes of contents that are gone are dropped by a search over the whole library")
  func bounded() throws {
    let rig = try ImportedLibrary()
    let folder = rig.library.store.folder
    func content(_ index: Int) -> [UInt8] { Array("\(index)".utf8).sha256 }
    try HashCache(in: folder).add((0..<300).map { (content($0), $0 % 3 == 0 ? .plain : .failed(UInt64($0))) })
    let cache = try HashCache(in: folder)
    #expect(cache.entries.count == 300 && cache.entries[content(4)] == .failed(4))
    try cache.keep(Set((0..<200).map(content)))
    #expect(try HashCache(in: folder).recordCount == 300, "Two thirds are wanted.")
    try cache.keep(Set((0..<20).map(content)))
    let kept = try HashCache(in: folder)
    #expect(kept.recordCount == 20 && kept.entries[content(4)] == .failed(4) && kept.entries[content(20)] == nil)
  }

  /// Tiny pictures in a folder, and their assets, which refer to them.
  private static func referred(_ rig: ImportedLibrary, _ count: Int) async throws -> [Asset] {
    let folder = try MediaImportTests.TemporaryFolder()
    for index in 0..<count { try folder.write("\(index).jpg", ImportTests.still("\(index)")) }
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = true
    _ = try await rig.run([folder.asRoot], options)
    return try rig.assets()
  }

  @Test("an erasure overwrites the hash of a picture that no asset has any more, and the others are unchanged")
  func erased() async throws {
    let rig = try ImportedLibrary()
    let assets = try await Self.referred(rig, 3)
    let contents = try assets.map { try rig.library.resources(of: $0)[0].sha256 }
    try HashCache(in: rig.library.store.folder).add(contents.map { ($0, .failed(7)) })
    try rig.library.eraseAssets([assets[1].id])
    let cache = try HashCache(in: rig.library.store.folder)
    #expect(cache.recordCount == 3 && cache.entries == [contents[0]: .failed(7), contents[2]: .failed(7)])
    let file = rig.library.url.appending(path: "\(HashCache.folder)/\(PictureHash.recipe)")
    #expect(try Data(contentsOf: file).range(of: Data(contents[1])) == nil)
  }

  @Test(
    "a search during which an erasure happens writes nothing of the erased picture",
    .enabled(if: SamplePhotos.canRender),
    arguments: [false, true])
  func overtaken(isWhole: Bool) async throws {
    let rig = try ImportedLibrary()
    let folder = try MediaImportTests.TemporaryFolder()
    for index in 0..<2 { try folder.write("\(index).jpg", TinyMedia.scanned("\(index)", isWhole: true)) }
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = true
    _ = try await rig.run([folder.asRoot], options)
    let held = try rig.library.fetchAssets()
    let contents = try held.map { try rig.library.resources(of: $0)[0].sha256 }
    // As a search sees it that began before: the result has the asset, and its file is there.
    try await rig.library.performChanges { $0.deleteAssets([held[0].id]) }
    try await rig.library.performChanges { $0.purgeAssets([held[0].id]) }
    let cache = try HashCache(in: rig.library.store.folder)
    if isWhole { try cache.add([(contents[0], .plain)] + (0..<80).map { (Array("\($0)".utf8).sha256, .plain) }) }
    let summary = try await DuplicateSearch(of: rig.library).run(held, isWhole: isWhole)
    #expect(summary.passedOver == 0 && summary.failed + summary.plain == 2, "\(summary)")
    let file = rig.library.url.appending(path: "\(HashCache.folder)/\(PictureHash.recipe)")
    let bytes = try Data(contentsOf: file)
    #expect(bytes.range(of: Data(contents[0])) == nil && bytes.range(of: Data(contents[1])) != nil)
  }

  @Test("without libvips it says what to install")
  func noTool() throws {
    let rig = try ImportedLibrary()
    let error = #expect(throws: ImportError.self) {
      try DuplicateSearch(of: rig.library, searchPath: rig.folder.path)
    }
    #expect(error?.code == .toolMissing && error?.description.contains("libvips-tools") == true)
  }
}
