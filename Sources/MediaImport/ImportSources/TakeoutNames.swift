internal import Foundation
internal import JSONReading
internal import PhotoLedger

// Which JSON of a Takeout describes which photo or video.
//
// Google writes one JSON for each item, into the folder of the item, and names it by the item:
//
//     IMG_1.jpg       IMG_1.jpg.supplemental-metadata.json       since 2024
//                     IMG_1.jpg.supplemental-me.json             cut: the stem has at most 46 characters
//                     IMG_1.jpg.s.json    IMG_1.jpg.json         cut further; before 2024 there was no suffix
//     IMG_1(2).jpg    IMG_1.jpg.supplemental-metadata(2).json    the number goes after what is left of the suffix
//                     IMG_1.jpg(2).json                          before 2024
//     LONG….jpg       LONG….json                                 a name of more than 46 characters is cut itself
//     IMG_1-edited.jpg    the JSON of IMG_1.jpg
//     IMG_1-edited(1).jpg    that of IMG_1(1).jpg; where neither that nor its JSON is there, that of IMG_1.jpg
//     IMG_1.MP4           the JSON of IMG_1.HEIC                 the moving part of a Live Photo
//
// The cut can be undone in many ways and be made in one, so the way goes from the item to its JSON: what its JSON could
// be called is made from its name, and looked up. Two items whose cut names are the same have JSONs that are numbered
// in Google's order; the `title` in the JSON distinguishes them, and otherwise their order.
//
// A JSON describes one item, and besides those copies and moving parts that have none of their own.
//
//     penalty   what fits                                      a title that does not fit adds 100
//        0      the name and the number
//        1      the name with its parentheses, which are the photographer's
//        2      the name, cut, with its number
//        4      the same three with the extension in the other case: IMG_1.jpg, IMG_1.JPG.json
//       20      the name, cut, with another number
//       30      the name without its extension, and the title fits
//
// Pairs are made from the smallest penalty on, in the order of names, so the result does not depend on the order in
// which files were found; of JSONs of one name the first that the caller gave counts. Lengths are counted as bytes,
// UTF-16 units and scalars, since exports of different years count differently; names are equal if they are the same
// text to a reader (é in one or two scalars).
//
// Thousands of items may have one name, from as many folders, or one cut name, and each of them could have each of the
// JSONs of that name. So pairs are not listed: an item that is open when its turn comes takes the first free JSON of
// its names, at the penalty itself of those whose titles fit, and 100 later of all.
//
// Folders of one name are matched together, since an export is cut into parts. Folders of two exports may be among
// them, so what is in an item's own folder counts first: a JSON of its own name whose title fits (penalties below 20),
// and for copies and moving parts the JSON of the item that they were made from, or that they move. In one export no
// name is twice in a folder, so there this decides nothing.
//
// Rejected: from the JSON to the item by `title` alone (two items of a folder may have one title, and the title of an
// item with forbidden characters is not a name).

/// Matches the items of one folder, or of folders of one name, with the JSON files there.
struct TakeoutNames {
  /// A photo or video.
  struct Item {
    /// What the caller knows it by.
    let index: Int
    let name: String
    /// What stands for the folder that it lies in.
    var folder = 0
  }

  /// A JSON that describes an item.
  struct Sidecar {
    /// What the caller knows it by.
    let index: Int
    /// The file's name without `.json`.
    let stem: String
    let title: String?
    /// What stands for the folder that it lies in.
    var folder = 0
  }

  /// How a JSON was found.
  enum Rule: String {
    case exact = "the JSON has the name of the item"
    case cut = "the name of the JSON is cut"
    case numbered = "the number of the item stands behind the name of the JSON"
    case collision = "several items have the same cut name, and their JSONs are numbered"
    case otherCase = "the name of the JSON has the extension in the other case"
    case withoutExtension = "the name of the JSON lacks the extension"
    case edited = "an edited copy has the JSON of its original"
    case movingPart = "the moving part of a photo has the JSON of its still"
  }

  /// The JSON of an item.
  struct Match: Equatable {
    let sidecar: Int
    let rule: Rule
  }

  /// What a JSON is called by, and its number.
  private struct Key: Hashable {
    let base: String
    let number: Int?
  }

  /// The same in one folder.
  private struct PlacedKey: Hashable {
    let key: Key
    let folder: Int
  }

  /// What the JSON of an item could be called, at one penalty.
  private struct Wish {
    let item: Int
    let penalty: Int
    /// What a title has to fit.
    let name: String
    /// Those that there are JSONs of.
    let keys: [(key: Key, rule: Rule)]
  }

  static let suffix = ".supplemental-metadata"
  /// The most characters of the stem of a JSON.
  static let stemLimit = 46

  /// What is added to the penalty where the extension is in the other case.
  private static let otherCasePenalty = 4
  /// The penalty from which on an item has a JSON of its cut name with any number.
  private static let collisionPenalty = 20

  private let items: [Item]
  /// In the order in which Google numbers them: J.json stands before J(1).json, and J(2).json before J(10).json.
  private let sidecars: [Sidecar]
  /// The titles, as they are compared; nil where there is none.
  private let titles: [PlainName?]
  private var byKey: [Key: [Int]] = [:]
  private var byBase: [String: [Int]] = [:]
  private var firstInFolder: [PlacedKey: Int] = [:]

  init(items: [Item], sidecars: [Sidecar]) {
    self.items = items.sorted { ($0.name, $0.index) < ($1.name, $1.index) }
    var numbered = sidecars.enumerated().map { offset, sidecar in
      (sidecar: sidecar, split: Self.split(sidecar.stem), offset: offset)
    }
    numbered.sort {
      ($0.split?.number ?? 0, $0.sidecar.stem, $0.offset) < ($1.split?.number ?? 0, $1.sidecar.stem, $1.offset)
    }
    self.sidecars = numbered.map(\.sidecar)
    titles = self.sidecars.map { sidecar in
      sidecar.title.flatMap { $0.isEmpty ? nil : PlainName($0) }
    }
    for (position, entry) in numbered.enumerated() {
      var keys = [Key(base: entry.sidecar.stem, number: nil)]
      if let (base, number) = entry.split { keys.append(Key(base: base, number: number)) }
      for key in keys {
        byKey[key, default: []].append(position)
        byBase[key.base, default: []].append(position)
        let placed = PlacedKey(key: key, folder: entry.sidecar.folder)
        if firstInFolder[placed] == nil { firstInFolder[placed] = position }
      }
    }
  }

  /// The JSON of each item that has one, by the items' indexes.
  /// - Complexity: O((i + s) log (i + s)).
  func matches() -> [Int: Match] {
    var pairs = Pairs()
    let ordered = orderedWishes
    // A name as it is written counts in any folder before one in the other case counts in the item's own.
    for penalties in [0..<Self.otherCasePenalty, Self.otherCasePenalty..<Self.collisionPenalty] {
      takeInFolders(penalties, &pairs)
      for wish in ordered where penalties.contains(wish.penalty) { take(wish, withTitles: true, &pairs) }
    }
    let middle = ordered.firstIndex { $0.penalty >= Self.collisionPenalty } ?? ordered.endIndex
    takeCollisions(withTitles: true, &pairs)
    for wish in ordered[middle...] { take(wish, withTitles: true, &pairs) }
    for wish in ordered[..<middle] { take(wish, withTitles: false, &pairs) }
    takeCollisions(withTitles: false, &pairs)
    addBorrowed(to: &pairs.found)
    return pairs.found
  }

  /// What the items' JSONs could be called, the smallest penalty first.
  private var orderedWishes: [Wish] {
    items.indices.flatMap { wishes($0) }.sorted { ($0.penalty, $0.item) < ($1.penalty, $1.item) }
  }

  /// Gives open items the free JSONs of their own folders that have their own names, and titles that fit.
  private func takeInFolders(_ penalties: Range<Int>, _ pairs: inout Pairs) {
    let beside = Dictionary(grouping: sidecars.indices) { sidecars[$0].folder }
    let members = Dictionary(grouping: items) { $0.folder }
    // In one folder it is what comes first anyway.
    if beside.count < 2, members.count < 2 { return }
    for (folder, positions) in beside {
      let items = (members[folder] ?? []).filter { pairs.found[$0.index] == nil }
      let free = positions.filter { !pairs.used.contains($0) }
      if items.isEmpty || free.isEmpty { continue }
      let names = TakeoutNames(
        items: items,
        sidecars: free.map { Sidecar(index: $0, stem: sidecars[$0].stem, title: sidecars[$0].title) })
      var own = Pairs()
      for wish in names.orderedWishes where penalties.contains(wish.penalty) {
        names.take(wish, withTitles: true, &own)
      }
      for (item, match) in own.found {
        pairs.used.insert(match.sidecar)
        pairs.found[item] = Match(sidecar: sidecars[match.sidecar].index, rule: match.rule)
      }
    }
  }

  /// What is matched so far.
  private struct Pairs {
    var found: [Int: Match] = [:]
    /// The JSONs that an item has.
    var used: Set<Int> = []
    /// The JSONs of the names that were asked for.
    var named: [Key: OpenSidecars] = [:]
    /// The JSONs of the cut names that were asked for, with any number.
    var collisions: [String: OpenSidecars] = [:]
  }

  private func match(_ item: Int, with sidecar: Int, _ rule: Rule, _ pairs: inout Pairs) {
    pairs.used.insert(sidecar)
    pairs.found[items[item].index] = Match(sidecar: sidecars[sidecar].index, rule: rule)
  }

  /// Gives an item, if it is open, the first free JSON of its names.
  /// - Parameter withTitles: whether the JSON has a title that fits. False comes after true, when those that are free
  ///   have no title that fits.
  private func take(_ wish: Wish, withTitles: Bool, _ pairs: inout Pairs) {
    guard pairs.found[items[wish.item].index] == nil else { return }
    let wanted = withTitles ? PlainName(wish.name) : nil
    var first: (sidecar: Int, rule: Rule)?
    for (key, rule) in wish.keys {
      let free = pairs.named[key, default: OpenSidecars(of: byKey[key] ?? [], titles)]
        .first(fitting: wanted, besides: pairs.used)
      if let free, free < first?.sidecar ?? .max { first = (free, rule) }
    }
    if let first { match(wish.item, with: first.sidecar, first.rule, &pairs) }
  }

  /// Gives each open item the first free JSON of its cut names.
  /// - Parameter withTitles: whether the JSON has a title that fits.
  private func takeCollisions(withTitles: Bool, _ pairs: inout Pairs) {
    for (position, item) in items.enumerated() where pairs.found[item.index] == nil {
      var first: Int?
      for base in [item.name, Self.splitItem(item.name)?.base].compactMap({ $0 }) {
        let keys = Self.cutNames(of: base).filter { byBase[$0] != nil }
        if keys.isEmpty { continue }
        let wanted = withTitles ? PlainName(base) : nil
        for key in keys {
          let free = pairs.collisions[key, default: OpenSidecars(of: byBase[key] ?? [], titles)]
            .first(fitting: wanted, besides: pairs.used)
          first = [first, free].compactMap { $0 }.min()
        }
      }
      if let first { match(position, with: first, .collision, &pairs) }
    }
  }

  /// What an item's own JSON could be called, without those of its cut name that have another number.
  private func wishes(_ position: Int) -> [Wish] {
    let name = items[position].name
    let split = Self.splitItem(name)
    var wishes: [Wish] = []
    func add(_ names: [(String, Rule)], of base: String, _ number: Int?, _ penalty: Int) {
      let keys = names.map { (key: Key(base: $0.0, number: number), rule: $0.1) }.filter { byKey[$0.key] != nil }
      if !keys.isEmpty { wishes.append(Wish(item: position, penalty: penalty, name: base, keys: keys)) }
    }
    func addAll(_ base: String, _ number: Int?, _ penalty: Int) {
      let full = Self.fullNames(of: base).map { key -> (String, Rule) in
        let isWhole = key.count == base.count || key.count == base.count + Self.suffix.count
        return (key, number != nil ? .numbered : isWhole ? .exact : .cut)
      }
      add(full, of: base, number, penalty)
      let cut = Self.cutNames(of: base)
      add(cut.map { ($0, .cut) }, of: base, number, penalty + 2)
      let others = Self.otherCases(of: base)
      let late = penalty + Self.otherCasePenalty
      add(others.flatMap { Self.fullNames(of: $0) }.map { ($0, .otherCase) }, of: base, number, late)
      let otherCut = others.flatMap { Self.cutNames(of: $0) }.filter { !cut.contains($0) }
      add(otherCut.map { ($0, .otherCase) }, of: base, number, late + 2)
    }
    addAll(name, nil, split == nil ? 0 : 1)
    if let (base, number) = split { addAll(base, number, 0) }
    let whole = split?.base ?? name
    let stem = Self.stem(whole)
    if stem != whole { add(Self.fullNames(of: stem).map { ($0, .withoutExtension) }, of: stem, split?.number, 30) }
    return wishes
  }

  // MARK: Copies and moving parts

  /// Gives items without a JSON that of the item they were made from, or that they move.
  private func addBorrowed(to found: inout [Int: Match]) {
    // The JSONs of the first still, and of the first item at all, of each name without its extension.
    var (ofStills, ofItems, ofCopies) = (SidecarsOfItems(), SidecarsOfItems(), SidecarsOfItems())
    for item in items {
      guard let match = found[item.index] else { continue }
      ofItems.add(match.sidecar, of: item)
      if Self.isStill(item.name) { ofStills.add(match.sidecar, of: item) }
    }
    var borrowed: [Int: Match] = [:]
    let stems = Set(items.lazy.map { Self.stem($0.name) })
    for item in items where found[item.index] == nil {
      if let sidecar = ofStills.first(of: Self.stillNames(of: item.name), nearest: item.folder) {
        borrowed[item.index] = Match(sidecar: sidecar, rule: .movingPart)
      } else if let sidecar = original(of: item, ofItems, stems) {
        borrowed[item.index] = Match(sidecar: sidecar, rule: .edited)
        if Self.isStill(item.name) { ofCopies.add(sidecar, of: item) }
      }
    }
    found.merge(borrowed) { own, _ in own }
    // The moving part of an edited copy.
    for item in items where found[item.index] == nil {
      guard let sidecar = ofCopies.first(of: Self.stillNames(of: item.name), nearest: item.folder) else { continue }
      found[item.index] = Match(sidecar: sidecar, rule: .movingPart)
    }
  }

  /// The JSON of the item that an item is an edited copy of.
  /// - Parameters:
  ///   - ofItems: the JSONs of items, by the items' names without extension.
  ///   - stems: the names of all items without extension.
  private func original(of item: Item, _ ofItems: SidecarsOfItems, _ stems: Set<String>) -> Int? {
    for name in Self.originals(of: item.name) {
      // The original itself is best: its JSON is settled. A copy may be of another format, and the original elsewhere.
      // What is in the item's own folder comes first.
      let stem = Self.stem(name)
      if let sidecar = ofItems.first(of: stem, in: item.folder) { return sidecar }
      let (base, number) = Self.splitItem(name).map { ($0.base, Optional($0.number)) } ?? (name, nil)
      let keys = ([base] + Self.otherCases(of: base)).flatMap { base in
        (Self.fullNames(of: base) + Self.cutNames(of: base)).map { Key(base: $0, number: number) }
      }
      let own = keys.lazy.compactMap { firstInFolder[PlacedKey(key: $0, folder: item.folder)] }.first
      if let own { return sidecars[own].index }
      if let sidecar = ofItems.first(of: stem, in: nil) { return sidecar }
      let any = keys.lazy.compactMap { byKey[$0]?.first }.first
      if let any { return sidecars[any].index }
      // It is the copy of that, which has no JSON.
      if stems.contains(stem) { return nil }
    }
    return nil
  }

  /// What Google calls edited copies, in the languages whose word is known.
  static let editedSuffixes = [
    "-edited", "-effects", "-smile", "-mix", "-edytowane", "-bearbeitet", "-bewerkt", "-編集済み", "-modificato",
    "-modifié", "-modifie", "-ha editado", "-editat", "-editado", "-editada", "-redigerad", "-redigeret", "-redigert",
    "-muokattu", "-upraveno", "-upravené", "-düzenlendi", "-отредактировано", "-изменено", "-відредаговано", "-已修改",
    "-已編輯", "-已编辑", "-编辑", "-編輯", "-수정됨", "-szerkesztett", "-editată", "-uređeno", "-επεξεργασμένο", "-แก้ไขแล้ว",
  ]
  /// Whether a name ends with one of these, before the number of a copy.
  static func hasEditedSuffix(_ name: String) -> Bool {
    let stem = stem(splitItem(name)?.base ?? name).lowercased()
    return editedSuffixes.contains { stem.count > $0.count && stem.hasSuffix($0.lowercased()) }
  }

  /// The longest word that is believed to say "edited" in a language that is not known here.
  private static let wordLimit = 24

  /// The names that the original of a copy may have, the likelier first; none if it is not a copy.
  static func originals(of name: String) -> [String] {
    let (whole, number) = splitItem(name).map { ($0.base, Optional($0.number)) } ?? (name, nil)
    let (stem, ending) = (stem(whole), whole.dropFirst(self.stem(whole).count))
    func named(_ stem: Substring) -> String {
      number.map { "\(stem)(\($0))\(ending)" } ?? "\(stem)\(ending)"
    }
    for suffix in editedSuffixes where stem.count > suffix.count && stem.lowercased().hasSuffix(suffix.lowercased()) {
      let original = stem.dropLast(suffix.count)
      // The number may count the copies, and not the originals.
      return number == nil ? [named(original)] : [named(original), "\(original)\(ending)"]
    }
    // A name of full length has its suffix cut; any language has one word of letters.
    guard let hyphen = stem.lastIndex(of: "-"), hyphen > stem.startIndex else { return [] }
    let word = stem[stem.index(after: hyphen)...]
    let isWord = word.count <= wordLimit && word.allSatisfy { $0.isLetter || $0 == " " }
    return isWord ? [named(stem[..<hyphen])] : []
  }

  private static let stillEndings: Set<String> = ["jpg", "jpeg", "heic", "heif", "png", "webp", "avif", "dng"]
  private static let movieEndings: Set<String> = ["mp4", "mov", "mp", "mv", "m4v"]

  static func isStill(_ name: String) -> Bool { stillEndings.contains(FilePath(name).pathExtension) }

  /// The stems of stills that a movie may be the moving part of; none if it is not a movie.
  static func stillNames(of name: String) -> [String] {
    let ending = FilePath(name).pathExtension
    guard movieEndings.contains(ending) else { return [] }
    // PXL_1.MP belongs to PXL_1.MP.jpg.
    let own = stem(name)
    return ["mp", "mv"].contains(ending) ? [name, own] : [own]
  }

  // MARK: Names

  /// What the JSON of a name may be called when its suffix is whole, cut or absent, the longest first.
  static func fullNames(of base: String) -> [String] {
    (0...suffix.count).reversed().map { base + suffix.prefix($0) }
  }

  /// What the JSON of a long name may be called: as much of it as there is room for.
  static func cutNames(of base: String) -> [String] {
    guard base.utf8.count > stemLimit else { return [] }
    var names: [String] = []
    for count: (Character) -> Int in [
      { $0.utf16.count }, { $0.unicodeScalars.count }, { $0.utf8.count }, { _ in 1 },
    ] {
      var length = 0
      let cut = base.prefix { character in
        length += count(character)
        return length <= stemLimit
      }
      if cut.count < base.count, !names.contains(String(cut)) { names.append(String(cut)) }
    }
    return names
  }

  /// A name with its extension in the other case, or in each of the two where it mixes them.
  static func otherCases(of name: String) -> [String] {
    let stem = stem(name)
    let ending = String(name.dropFirst(stem.count))
    return [ending.lowercased(), ending.uppercased()].filter { $0 != ending }.map { stem + $0 }
  }

  /// A name without its extension.
  static func stem(_ name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }

  /// A name that ends with a number in parentheses, without it.
  static func split(_ name: String) -> (base: String, number: Int)? {
    guard name.last == ")", let open = name.lastIndex(of: "("), open > name.startIndex else { return nil }
    let digits = name[name.index(after: open)...].dropLast()
    guard (1...6).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits)
    else { return nil }
    return (String(name[..<open]), number)
  }

  /// The same for an item, whose number stands before the extension.
  static func splitItem(_ name: String) -> (base: String, number: Int)? {
    let stem = stem(name)
    guard let (base, number) = split(stem) else { return nil }
    return (base + name.dropFirst(stem.count), number)
  }
}

/// The JSONs of the first items of each name without its extension: in each folder, and in any.
private struct SidecarsOfItems {
  private struct Place: Hashable {
    let stem: String
    /// Nil stands for any.
    let folder: Int?
  }

  private var sidecars: [Place: Int] = [:]

  mutating func add(_ sidecar: Int, of item: TakeoutNames.Item) {
    let stem = TakeoutNames.stem(item.name)
    for place in [Place(stem: stem, folder: item.folder), Place(stem: stem, folder: nil)] where sidecars[place] == nil {
      sidecars[place] = sidecar
    }
  }

  /// The JSON of the first item of a name.
  /// - Parameter folder: nil stands for any.
  func first(of stem: String, in folder: Int?) -> Int? { sidecars[Place(stem: stem, folder: folder)] }

  /// The JSON of the first of some names that has one, in a folder if it is there.
  func first(of stems: [String], nearest folder: Int) -> Int? {
    stems.lazy.compactMap { stem in
      first(of: stem, in: folder) ?? first(of: stem, in: nil)
    }.first
  }
}

/// A name or a title without its extension, as they are compared: what Google replaces in names is made equal.
struct PlainName {
  let text: String
  /// Whether the end of the name may be cut.
  private let isLong: Bool

  init(_ name: String) {
    let plain = TakeoutNames.stem(name.boundedInMarks).lowercased().map { character -> Character in
      "_&\"'<>:/\\|?*%#;@=+$,".contains(character) ? "_" : character
    }
    let text = String(plain).precomposedStringWithCanonicalMapping
    self.text = text
    isLong = name.utf8.count > TakeoutNames.stemLimit && text.count >= 20
  }

  /// Whether a title can be what an item of this name was called: forbidden characters are replaced, and the end is
  /// cut.
  func fits(_ title: PlainName?) -> Bool {
    guard let title else { return false }
    return title.text == text || isLong && title.text.utf8.starts(with: text.utf8)
  }
}

/// The JSONs of one name, of which the first that is free is asked for again and again.
private struct OpenSidecars {
  /// By their rank.
  private let sidecars: [Int]
  /// All of lower rank are used.
  private var rank = 0
  /// The titles in the order of texts, so that those with one beginning stand together, with the ranks of their JSONs.
  private let titles: [(name: PlainName, rank: Int)]
  /// Where the title of a rank stands.
  private let places: [Int: Int]
  /// The lowest rank that may be free at each node of a binary tree over the titles: the root is 1, the children of n
  /// are 2n and 2n + 1, and the leaves are the last half.
  private var lowest: [Int]

  /// - Parameter sidecars: in their order.
  init(of sidecars: [Int], _ plain: [PlainName?]) {
    self.sidecars = sidecars
    var titles: [(name: PlainName, rank: Int)] = []
    for (rank, sidecar) in sidecars.enumerated() {
      if let name = plain[sidecar] { titles.append((name, rank)) }
    }
    titles.sort { $0.name.text < $1.name.text }
    self.titles = titles
    places = Dictionary(uniqueKeysWithValues: titles.enumerated().map { ($0.element.rank, $0.offset) })
    lowest = [Int](repeating: .max, count: titles.count) + titles.map(\.rank)
    for node in stride(from: titles.count - 1, to: 0, by: -1) {
      lowest[node] = min(lowest[2 * node], lowest[2 * node + 1])
    }
  }

  /// The first that is not used, of those whose titles fit a name if there is one.
  /// - Complexity: O(log n), and O(n log n) in all for those that were used since.
  mutating func first(fitting name: PlainName?, besides used: Set<Int>) -> Int? {
    guard let name else {
      while rank < sidecars.count, used.contains(sidecars[rank]) { rank += 1 }
      return rank < sidecars.count ? sidecars[rank] : nil
    }
    let start = firstPlace(from: 0) { !($0.text < name.text) }
    let end = firstPlace(from: start) { !name.fits($0) }
    while let found = lowestRank(start, end) {
      if !used.contains(sidecars[found]) { return sidecars[found] }
      remove(found)
    }
    return nil
  }

  /// The first place from which on all titles have a property.
  private func firstPlace(from start: Int, where hasIt: (PlainName) -> Bool) -> Int {
    var (low, high) = (start, titles.count)
    while low < high {
      let middle = (low + high) / 2
      if hasIt(titles[middle].name) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func lowestRank(_ start: Int, _ end: Int) -> Int? {
    var (left, right, found) = (start + titles.count, end + titles.count, Int.max)
    while left < right {
      if left % 2 == 1 {
        found = min(found, lowest[left])
        left += 1
      }
      if right % 2 == 1 {
        right -= 1
        found = min(found, lowest[right])
      }
      (left, right) = (left / 2, right / 2)
    }
    return found == .max ? nil : found
  }

  private mutating func remove(_ rank: Int) {
    guard let place = places[rank] else { return }
    var node = place + titles.count
    lowest[node] = .max
    while node > 1 {
      node /= 2
      lowest[node] = min(lowest[2 * node], lowest[2 * node + 1])
    }
  }
}
