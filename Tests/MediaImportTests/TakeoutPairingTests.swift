import TestSupport
import Testing

@testable import MediaImport

// Items and JSONs of a Takeout, paired as an import does and by comparing each with each.

@Suite("pairing the items and JSONs of a Takeout")
struct TakeoutPairingTests {
  /// The pairs by the rules that stand in TakeoutNames.swift, from a list of all that are possible.
  struct EachWithEach {
    private let items: [TakeoutNames.Item]
    private let sidecars: [TakeoutNames.Sidecar]

    init(_ items: [TakeoutNames.Item], _ sidecars: [TakeoutNames.Sidecar]) {
      self.items = items.sorted { ($0.name, $0.index) < ($1.name, $1.index) }
      self.sidecars = sidecars.sorted {
        (TakeoutNames.split($0.stem)?.number ?? 0, $0.stem, $0.index)
          < (TakeoutNames.split($1.stem)?.number ?? 0, $1.stem, $1.index)
      }
    }

    private static func has(_ sidecar: TakeoutNames.Sidecar, _ names: [String], _ number: Int?) -> String? {
      names.first { name in
        if number == nil, name == sidecar.stem { return true }
        guard let split = TakeoutNames.split(sidecar.stem) else { return false }
        return split.base == name && split.number == number
      }
    }

    private static func isNamed(_ sidecar: TakeoutNames.Sidecar, _ names: [String]) -> Bool {
      names.contains(sidecar.stem) || TakeoutNames.split(sidecar.stem).map { names.contains($0.base) } ?? false
    }

    private static func fits(_ name: String, _ sidecar: TakeoutNames.Sidecar) -> Bool {
      PlainName(name).fits(sidecar.title.flatMap { $0.isEmpty ? nil : PlainName($0) })
    }

    /// Why a JSON may be an item's own, with the penalties.
    private static func reasons(
      _ name: String, _ sidecar: TakeoutNames.Sidecar
    ) -> [(penalty: Int, rule: TakeoutNames.Rule)] {
      let split = TakeoutNames.splitItem(name)
      var reasons: [(penalty: Int, rule: TakeoutNames.Rule)] = []
      func add(_ base: String, _ number: Int?, _ penalty: Int) {
        let late = fits(base, sidecar) ? 0 : 100
        if let key = has(sidecar, TakeoutNames.fullNames(of: base), number) {
          let isWhole = key == base || key == base + TakeoutNames.suffix
          reasons.append((penalty + late, number != nil ? .numbered : isWhole ? .exact : .cut))
        }
        let cut = TakeoutNames.cutNames(of: base)
        if has(sidecar, cut, number) != nil { reasons.append((penalty + 2 + late, .cut)) }
        for other in TakeoutNames.otherCases(of: base) {
          if has(sidecar, TakeoutNames.fullNames(of: other), number) != nil {
            reasons.append((penalty + 4 + late, .otherCase))
          }
          if has(sidecar, TakeoutNames.cutNames(of: other), number) != nil {
            reasons.append((penalty + 6 + late, .otherCase))
          }
        }
        if isNamed(sidecar, cut) { reasons.append((20 + late, .collision)) }
      }
      add(name, nil, split == nil ? 0 : 1)
      if let (base, number) = split { add(base, number, 0) }
      let whole = split?.base ?? name
      let stem = TakeoutNames.stem(whole)
      if stem != whole, fits(stem, sidecar), has(sidecar, TakeoutNames.fullNames(of: stem), split?.number) != nil {
        reasons.append((30, .withoutExtension))
      }
      return reasons
    }

    func matches() -> [Int: TakeoutNames.Match] {
      var pairs: [(penalty: Int, item: Int, sidecar: Int, rule: TakeoutNames.Rule)] = []
      for (item, one) in items.enumerated() {
        for (sidecar, other) in sidecars.enumerated() {
          for reason in Self.reasons(one.name, other) { pairs.append((reason.penalty, item, sidecar, reason.rule)) }
        }
      }
      pairs.sort { ($0.penalty, $0.item, $0.sidecar) < ($1.penalty, $1.item, $1.sidecar) }
      var found: [Int: TakeoutNames.Match] = [:]
      var used: Set<Int> = []
      for pair in pairs where found[items[pair.item].index] == nil && used.insert(pair.sidecar).inserted {
        found[items[pair.item].index] = TakeoutNames.Match(sidecar: sidecars[pair.sidecar].index, rule: pair.rule)
      }
      return withBorrowed(found)
    }

    private func firstStill(
      of item: TakeoutNames.Item, where isWanted: (TakeoutNames.Item) -> Bool
    ) -> TakeoutNames.Item? {
      TakeoutNames.stillNames(of: item.name).lazy.flatMap { name in
        items.filter { TakeoutNames.stem($0.name) == name }
      }.first { TakeoutNames.isStill($0.name) && isWanted($0) }
    }

    private func withBorrowed(_ own: [Int: TakeoutNames.Match]) -> [Int: TakeoutNames.Match] {
      var borrowed: [Int: TakeoutNames.Match] = [:]
      for item in items where own[item.index] == nil {
        if let match = firstStill(of: item, where: { own[$0.index] != nil }).flatMap({ own[$0.index] }) {
          borrowed[item.index] = TakeoutNames.Match(sidecar: match.sidecar, rule: .movingPart)
        } else if let original = original(of: item, own) {
          borrowed[item.index] = TakeoutNames.Match(sidecar: original, rule: .edited)
        }
      }
      var found = own.merging(borrowed) { own, _ in own }
      for item in items where found[item.index] == nil {
        let still = firstStill(of: item) { borrowed[$0.index]?.rule == .edited }
        guard let match = still.flatMap({ borrowed[$0.index] }) else { continue }
        found[item.index] = TakeoutNames.Match(sidecar: match.sidecar, rule: .movingPart)
      }
      return found
    }

    private func original(of item: TakeoutNames.Item, _ own: [Int: TakeoutNames.Match]) -> Int? {
      for name in TakeoutNames.originals(of: item.name) {
        let stem = TakeoutNames.stem(name)
        if let original = items.first(where: { TakeoutNames.stem($0.name) == stem && own[$0.index] != nil }) {
          return own[original.index]?.sidecar
        }
        let split = TakeoutNames.splitItem(name)
        let base = split?.base ?? name
        for base in [base] + TakeoutNames.otherCases(of: base) {
          for key in TakeoutNames.fullNames(of: base) + TakeoutNames.cutNames(of: base) {
            let sidecar = sidecars.first { Self.has($0, [key], split?.number) != nil }
            if let sidecar { return sidecar.index }
          }
        }
        if items.contains(where: { TakeoutNames.stem($0.name) == stem }) { return nil }
      }
      return nil
    }
  }

  static func items(_ names: [String]) -> [TakeoutNames.Item] {
    names.enumerated().map { TakeoutNames.Item(index: $0.offset, name: $0.element) }
  }

  private static let long = "A very long title that somebody has written fo"
  private static let names = [
    "IMG_1.jpg", "IMG_1.JPG", "IMG_1.HEIC", "IMG_1.MP4", "IMG_1-edited.jpg", "IMG_1-edited.MP4", "IMG_1(1).jpg",
    "IMG_1(1).MP4", "IMG_1-edited(1).jpg", "\(long)a.jpg", "\(long)b.jpg", "\(long)b(1).jpg", "\(long)b.MP4",
    "\(long)b-edited.jpg",
  ]

  private static func sidecar(_ index: Int, _ random: inout SeededGenerator) -> TakeoutNames.Sidecar {
    let name = random.one(of: names)
    let base = TakeoutNames.splitItem(name)?.base ?? name
    let cut = TakeoutNames.cutNames(of: base) + [TakeoutNames.stem(base), base, base + TakeoutNames.suffix]
    let stem = random.one(of: random.chance(1, of: 2) ? cut : TakeoutNames.fullNames(of: base))
    let number = random.chance(1, of: 2) ? "(\(random.int(1..<3)))" : ""
    let title = random.chance(1, of: 3) ? nil : random.chance(1, of: 2) ? base : random.one(of: names + [""])
    return TakeoutNames.Sidecar(index: index, stem: stem + number, title: title)
  }

  // Each seed is compared alone: the usual dose has a quarter of them.
  @Test(
    "each item has the JSON that comparing all pairs gives it, by the same rule",
    arguments: 0..<(Dose.isFull ? 400 : 100))
  func same(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let names = Array(Self.names.shuffled(using: &random).prefix(random.int(1..<6)))
    let items = Self.items((0..<random.int(1..<16)).map { _ in random.one(of: names) })
    let sidecars = (0..<random.int(1..<16)).map { Self.sidecar($0, &random) }
    let found = TakeoutNames(items: items, sidecars: sidecars).matches()
    #expect(found == EachWithEach(items, sidecars).matches(), "\(items) \(sidecars)")
  }

  @Test("items of two exports, with copies and moving parts, have the JSONs of their own folders", arguments: 0..<50)
  func twoExports(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let sidecars = [
      ("IMG_1.jpg", "IMG_1.jpg"), ("IMG_1.jpg.supplemental-metadata(1)", "IMG_1.jpg"), (Self.long, "\(Self.long)a.jpg"),
      ("IMG_2.jpg", "IMG_2.jpg"),
    ]
    // The items, with the JSON that is theirs.
    let items = [
      ("IMG_1.jpg", 0), ("IMG_1-edited.jpg", 0), ("IMG_1.MP4", 0), ("IMG_1(1).jpg", 1), ("\(Self.long)a.jpg", 2),
      ("IMG_2-edited.jpg", 3),
    ]
    let absent = random.int(0..<2 * sidecars.count)
    var (all, described): ([TakeoutNames.Item], [TakeoutNames.Sidecar]) = ([], [])
    for folder in 0..<2 {
      for (index, item) in items.enumerated() {
        all.append(TakeoutNames.Item(index: folder * items.count + index, name: item.0, folder: folder))
      }
      for (index, sidecar) in sidecars.enumerated() where folder * sidecars.count + index != absent {
        let number = folder * sidecars.count + index
        described.append(TakeoutNames.Sidecar(index: number, stem: sidecar.0, title: sidecar.1, folder: folder))
      }
    }
    all.shuffle(using: &random)
    described.shuffle(using: &random)
    let found = TakeoutNames(items: all, sidecars: described).matches()
    for item in all {
      let (folder, index) = (item.index / items.count, item.index % items.count)
      let own = folder * sidecars.count + items[index].1
      if own != absent { #expect(found[item.index]?.sidecar == own, "\(item.name) of \(folder), \(absent) is absent") }
    }
  }

  @Test("a JSON of the written name in another folder counts before one in the other case in the item's own")
  func casesOfTwoFolders() {
    let names = ["IMG_1.jpg", "IMG_1.JPG"]
    let items = names.enumerated().map { TakeoutNames.Item(index: $0.offset, name: $0.element, folder: $0.offset) }
    let sidecars = names.enumerated().map { index, name in
      TakeoutNames.Sidecar(index: index, stem: name, title: name, folder: 1 - index)
    }
    #expect(TakeoutNames(items: items, sidecars: sidecars).matches().mapValues(\.sidecar) == [0: 0, 1: 1])
  }

  @Test("an edited copy has the JSON of its own folder, though the original is in another folder only")
  func originalElsewhere() {
    let items = ["IMG_2.jpg", "IMG_2-edited.jpg", "IMG_2-edited.jpg"].enumerated().map { index, name in
      TakeoutNames.Item(index: index, name: name, folder: index == 2 ? 1 : 0)
    }
    let sidecars = (0..<2).map { TakeoutNames.Sidecar(index: $0, stem: "IMG_2.jpg", title: "IMG_2.jpg", folder: $0) }
    let found = TakeoutNames(items: items, sidecars: sidecars).matches()
    #expect(found.mapValues(\.sidecar) == [0: 0, 1: 0, 2: 1])
    // Without it, that of the original in the other folder.
    let others = TakeoutNames(items: items, sidecars: Array(sidecars.prefix(1))).matches()
    #expect(others.mapValues(\.sidecar) == [0: 0, 1: 0, 2: 0])
  }

  // A list of all pairs would have 100,000,000, or four times as many.

  @Test(
    "thousands of items of one name, from as many folders, have each a JSON of that name", .timeLimit(.minutes(10)))
  func manyOfOneName() {
    let count = Dose.isFull ? 20_000 : 10_000
    let sidecars = (0..<count).map { TakeoutNames.Sidecar(index: $0, stem: "IMG_1.jpg", title: "other.jpg") }
    let names = TakeoutNames(items: Self.items(Array(repeating: "IMG_1.jpg", count: count)), sidecars: sidecars)
    let expected = (0..<count).map { ($0, TakeoutNames.Match(sidecar: $0, rule: .exact)) }
    #expect(names.matches() == Dictionary(uniqueKeysWithValues: expected))
  }

  // A look at each item of the name for each of them would be 400,000,000, or four times as many.

  @Test("tens of thousands of movies of one name without a still have no JSON", .timeLimit(.minutes(10)))
  func manyMovies() {
    let sidecar = TakeoutNames.Sidecar(index: 0, stem: "IMG_2.jpg", title: nil)
    let items = Self.items(Array(repeating: "IMG_1.MP4", count: Dose.isFull ? 40_000 : 20_000))
    #expect(TakeoutNames(items: items, sidecars: [sidecar]).matches().isEmpty)
  }
}
