internal import PhotoLedger

// Which JSON of a Takeout describes which photo or video.
//
// Google writes one JSON for each item, into the folder of the item, and names it by the item:
//
//     IMG_1.jpg       IMG_1.jpg.supplemental-metadata.json       since 2024
//                     IMG_1.jpg.supplemental-me.json             cut: the stem has at most 46 characters
//                     IMG_1.jpg.s.json    IMG_1.jpg.json         cut further; before 2024 there was no suffix
//     IMG_1(2).jpg    IMG_1.jpg.supplemental-metadata(2).json    the number goes behind what is left of the suffix
//                     IMG_1.jpg(2).json                          before 2024
//     LONG….jpg       LONG….json                                 a name of more than 46 characters is cut itself
//     IMG_1-edited.jpg    the JSON of IMG_1.jpg
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
//       20      the name, cut, with another number
//       30      the name without its extension, and the title fits
//
// Pairs are made from the smallest penalty on, in the order of names, so the result does not depend on the order in
// which files were found; of JSONs of one name the first that the caller gave counts. Lengths are counted as bytes,
// UTF-16 units and scalars, since exports of different years count differently; names are equal if they are the same
// text to a reader (é in one or two scalars).
//
// Rejected: from the JSON to the item by `title` alone (two items of a folder may have one title, and the title of an
// item with forbidden characters is no name).

/// Matches the items of one folder with the JSON files of that folder.
struct TakeoutNames {
  /// A photo or video.
  struct Item {
    /// What the caller knows it by.
    let index: Int
    let name: String
  }

  /// A JSON that describes an item.
  struct Sidecar {
    /// What the caller knows it by.
    let index: Int
    /// The file's name without `.json`.
    let stem: String
    let title: String?
  }

  /// How a JSON was found.
  enum Rule: String {
    case exact = "the JSON has the name of the item"
    case cut = "the name of the JSON is cut"
    case numbered = "the number of the item stands behind the name of the JSON"
    case collision = "several items have the same cut name, and their JSONs are numbered"
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

  private struct Candidate {
    let item: Int
    let sidecar: Int
    let rule: Rule
    let penalty: Int
  }

  static let suffix = ".supplemental-metadata"
  /// The most characters of the stem of a JSON.
  static let stemLimit = 46

  private let items: [Item]
  private let sidecars: [Sidecar]
  private var byKey: [Key: [Int]] = [:]
  private var byBase: [String: [Int]] = [:]

  init(items: [Item], sidecars: [Sidecar]) {
    self.items = items.sorted { ($0.name, $0.index) < ($1.name, $1.index) }
    self.sidecars = sidecars
    for (position, sidecar) in sidecars.enumerated() {
      byKey[Key(base: sidecar.stem, number: nil), default: []].append(position)
      byBase[sidecar.stem, default: []].append(position)
      if let (base, number) = Self.split(sidecar.stem) {
        byKey[Key(base: base, number: number), default: []].append(position)
        byBase[base, default: []].append(position)
      }
    }
  }

  /// The JSON of each item that has one, by the items' indexes.
  /// - Complexity: O((i + s) log (i + s)).
  func matches() -> [Int: Match] {
    var found: [Int: Match] = [:]
    var used: Set<Int> = []
    let candidates = items.indices.flatMap { position in own(position) }
    for candidate in candidates.sorted(by: precedes) {
      let index = items[candidate.item].index
      guard found[index] == nil, !used.contains(candidate.sidecar) else { continue }
      used.insert(candidate.sidecar)
      found[index] = Match(sidecar: sidecars[candidate.sidecar].index, rule: candidate.rule)
    }
    addBorrowed(to: &found)
    return found
  }

  private func precedes(_ left: Candidate, _ right: Candidate) -> Bool {
    if left.penalty != right.penalty { return left.penalty < right.penalty }
    if left.item != right.item { return left.item < right.item }
    let (first, second) = (sidecars[left.sidecar].stem, sidecars[right.sidecar].stem)
    // J.json stands before J(1).json, and J(2).json before J(10).json.
    return (Self.split(first)?.number ?? 0, first, left.sidecar)
      < (Self.split(second)?.number ?? 0, second, right.sidecar)
  }

  /// The JSONs that could be an item's own.
  private func own(_ position: Int) -> [Candidate] {
    let name = items[position].name
    var candidates: [Candidate] = []
    func add(_ base: String, _ number: Int?, _ rule: Rule, _ penalty: Int) {
      for sidecar in byKey[Key(base: base, number: number)] ?? [] {
        let fits = Self.titleFits(sidecars[sidecar].title, base: self.base(of: name, number))
        candidates.append(
          Candidate(item: position, sidecar: sidecar, rule: rule, penalty: penalty + (fits ? 0 : 100)))
      }
    }
    func addAll(_ base: String, _ number: Int?, _ penalty: Int) {
      let isNumbered = number != nil
      for key in Self.fullNames(of: base) {
        let isWhole = key.count == base.count || key.count == base.count + Self.suffix.count
        add(key, number, isNumbered ? .numbered : isWhole ? .exact : .cut, penalty)
      }
      for key in Self.cutNames(of: base) {
        add(key, number, .cut, penalty + 2)
        for sidecar in byBase[key] ?? [] {
          let fits = Self.titleFits(sidecars[sidecar].title, base: base)
          candidates.append(
            Candidate(item: position, sidecar: sidecar, rule: .collision, penalty: 20 + (fits ? 0 : 100)))
        }
      }
    }
    addAll(name, nil, Self.splitItem(name) == nil ? 0 : 1)
    if let (base, number) = Self.splitItem(name) { addAll(base, number, 0) }
    let (whole, number) = Self.splitItem(name).map { ($0.base, Optional($0.number)) } ?? (name, nil)
    let stem = Self.stem(whole)
    if stem != whole {
      for key in Self.fullNames(of: stem) {
        for sidecar in byKey[Key(base: key, number: number)] ?? []
        where Self.titleFits(sidecars[sidecar].title, base: stem) {
          candidates.append(Candidate(item: position, sidecar: sidecar, rule: .withoutExtension, penalty: 30))
        }
      }
    }
    return candidates
  }

  private func base(of name: String, _ number: Int?) -> String {
    guard let number, let (base, own) = Self.splitItem(name), own == number else { return name }
    return base
  }

  // MARK: Copies and moving parts

  /// Gives items without a JSON that of the item they were made from, or that they move.
  private func addBorrowed(to found: inout [Int: Match]) {
    var byStem: [String: [Item]] = [:]
    for item in items { byStem[Self.stem(item.name), default: []].append(item) }
    var borrowed: [Int: Match] = [:]
    for item in items where found[item.index] == nil {
      if let still = Self.stillNames(of: item.name).lazy.flatMap({ byStem[$0] ?? [] }).first(where: {
        $0.index != item.index && Self.isStill($0.name) && found[$0.index] != nil
      }), let match = found[still.index] {
        borrowed[item.index] = Match(sidecar: match.sidecar, rule: .movingPart)
      } else if let original = original(of: item, byStem, found) {
        borrowed[item.index] = Match(sidecar: original, rule: .edited)
      }
    }
    found.merge(borrowed) { own, _ in own }
    // The moving part of an edited copy.
    for item in items where found[item.index] == nil {
      guard
        let still = Self.stillNames(of: item.name).lazy.flatMap({ byStem[$0] ?? [] }).first(where: {
          $0.index != item.index && Self.isStill($0.name) && borrowed[$0.index]?.rule == .edited
        }), let match = borrowed[still.index]
      else { continue }
      found[item.index] = Match(sidecar: match.sidecar, rule: .movingPart)
    }
  }

  /// The JSON of the item that an item is an edited copy of.
  private func original(of item: Item, _ byStem: [String: [Item]], _ found: [Int: Match]) -> Int? {
    for name in Self.originals(of: item.name) {
      // The original itself is best: its JSON is settled. A copy may be of another format, and the original elsewhere.
      if let original = byStem[Self.stem(name)]?.first(where: { $0.index != item.index && found[$0.index] != nil }) {
        return found[original.index]?.sidecar
      }
      let (base, number) = Self.splitItem(name).map { ($0.base, Optional($0.number)) } ?? (name, nil)
      for key in Self.fullNames(of: base) + Self.cutNames(of: base) {
        if let sidecar = byKey[Key(base: key, number: number)]?.first { return sidecars[sidecar].index }
      }
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

  /// The names that the original of a copy may have, the likelier first; none if it is no copy.
  static func originals(of name: String) -> [String] {
    let (whole, number) = splitItem(name).map { ($0.base, Optional($0.number)) } ?? (name, nil)
    let (stem, ending) = (stem(whole), whole.dropFirst(self.stem(whole).count))
    func named(_ stem: Substring) -> String {
      number.map { "\(stem)(\($0))\(ending)" } ?? "\(stem)\(ending)"
    }
    for suffix in editedSuffixes where stem.count > suffix.count && stem.lowercased().hasSuffix(suffix.lowercased()) {
      return [named(stem.dropLast(suffix.count))]
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

  /// The stems of stills that a movie may be the moving part of; none if it is no movie.
  static func stillNames(of name: String) -> [String] {
    let ending = FilePath(name).pathExtension
    guard movieEndings.contains(ending) else { return [] }
    // PXL_1.MP belongs to PXL_1.MP.jpg.
    let own = stem(name)
    return ["mp", "mv"].contains(ending) ? [name, own] : [own]
  }

  // MARK: Names

  /// What the JSON of a name may be called when its suffix is whole, cut or absent, the longest first.
  private static func fullNames(of base: String) -> [String] {
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

  /// Whether a title can be what an item with a name was called: forbidden characters are replaced, and the end is cut.
  static func titleFits(_ title: String?, base: String) -> Bool {
    guard let title, !title.isEmpty else { return false }
    let (name, wanted) = (plain(stem(title)), plain(stem(base)))
    if name == wanted || plain(title) == plain(base) { return true }
    return base.utf8.count > stemLimit && wanted.count >= 20 && name.hasPrefix(wanted)
  }

  /// A name with what Google replaces in names made equal.
  private static func plain(_ name: String) -> String {
    String(name.lowercased().map { "_&\"'<>:/\\|?*%#;@=+$,".contains($0) ? "_" : $0 })
  }
}
