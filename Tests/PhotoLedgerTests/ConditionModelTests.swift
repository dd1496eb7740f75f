import Foundation
import PhotoLedger
import Testing

/// A seeded generator of rows, values and conditions, and the model that they are checked with.
struct QueryRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ part: Int, of whole: Int) -> Bool { Int.random(in: 0..<whole, using: &self) < part }

  mutating func one<Element>(of list: [Element]) -> Element { list.randomElement(using: &self)! }

  mutating func maybe<Value>(_ value: Value) -> Value? { chance(1, of: 4) ? nil : value }

  static let dates: [Date] = [-1e9, -1, -0.0, 0, 0.125, 1, 7e8, 7e8 + 1].map(Date.init(timeIntervalSinceReferenceDate:))
  static let numbers: [Double] = [-90, -1.5, -0.0, 0, 0.5, 1, 2, 5.5, 59.99, 60, 0x1p53, 0x1p53 + 4]
  static let texts = [
    "", "a", "A", "Été", "e\u{301}te\u{301}", "ete 2024", "Zoo", "zo*o", "a\r\nb", "ß\u{0}x", "日本", "a\\*\"'",
  ]
  static let identifiers = (0..<6).map { LocalIdentifier(high: 0x4000 + UInt64($0 / 2), low: 1 << 63 | UInt64($0)) }

  /// The properties that a condition of an entity may name.
  private static let assetKeys = PropertyKey.allCases.filter { $0.isValid(for: .asset) }
  private static let collectionKeys = PropertyKey.allCases.filter { $0.isValid(for: .collection) }

  static func keys(of entity: Entity) -> [PropertyKey] { entity == .asset ? assetKeys : collectionKeys }

  mutating func asset() -> AssetRow {
    var row = AssetRow(number: next() >> 40, identifier: one(of: Self.identifiers), addedDate: one(of: Self.dates))
    row.flags = AssetRow.Flags(rawValue: UInt32.random(in: 0..<8, using: &self))
    row.mediaType = one(of: MediaType.allCases)
    row.playbackStyle = one(of: [.unsupported, .image, .livePhoto, .video])
    row.sourceType = SourceTypes(rawValue: one(of: [1, 2, 4]))
    row.mediaSubtypes = MediaSubtypes(rawValue: one(of: [0, 1, 2, 4, 8, 9, 12, 1 << 16, 1 << 31]))
    row.pixelWidth = one(of: [0, 1, 2, 100, 4032, .max])
    row.pixelHeight = one(of: [0, 1, 100, 3024])
    row.timeZoneOffset = maybe(one(of: [-3600, 0, 7200]))
    row.creationDate = maybe(one(of: Self.dates))
    row.localCreationDate = maybe(one(of: Self.dates))
    row.modificationDate = maybe(one(of: Self.dates))
    row.trashedDate = chance(1, of: 4) ? one(of: Self.dates) : nil
    row.location = maybe(
      Location(
        latitude: one(of: Self.numbers), longitude: one(of: Self.numbers), altitude: maybe(one(of: Self.numbers))))
    row.duration = one(of: Self.numbers.filter { $0 >= 0 })
    row.rating = one(of: [.unset, .one, .five])
    row.burstSelection = one(of: [[], .autoPick, [.autoPick, .userPick]])
    row.adjustmentsState = one(of: AdjustmentsState.allCases)
    row.adjustmentDate = maybe(one(of: [Date.distantPast, Date(timeIntervalSince1970: 0)]))
    row.playbackVariation = one(of: PlaybackVariation.allCases)
    row.originalResourceChoice = one(of: OriginalResourceChoice.allCases)
    row.flags.formUnion(one(of: [[], .raw, .selfPortrait]))
    row.burstIdentifier = maybe(one(of: Self.texts))
    row.stack = maybe(one(of: Self.identifiers))
    return row
  }

  mutating func collection() -> CollectionRow {
    var row = CollectionRow(
      number: next() >> 40, identifier: one(of: Self.identifiers), kind: one(of: [.album, .folder]),
      title: maybe(one(of: Self.texts)), date: one(of: Self.dates))
    row.modificationDate = one(of: Self.dates)
    row.assetCount = one(of: [0, 1, 2, 100])
    return row
  }

  /// A constant that the key takes.
  mutating func value(for key: PropertyKey) -> PropertyValue {
    if chance(1, of: 12) { return .null }
    switch key.valueKind {
    case .bool: return one(of: [.bool(true), .bool(false), .integer(1), .integer(0), .integer(2)])
    case .integer:
      let numbers: [Int64] = [.min, -Int64.max, -3600, 0, 1, 2, 3, 8, 100, 4032, 0x8000_0000, .max]
      let doubles: [Double] = Self.numbers + [1e30, -1e30, 0x1p63, -0x1p63, .infinity, -.infinity]
      return chance(1, of: 4) ? .double(one(of: doubles)) : .integer(one(of: numbers))
    case .double:
      let edge: Int64 = 1 << 53
      let numbers: [Int64] = [0, 1, 60, edge, edge + 1, edge + 3, edge - 1, (1 << 60) + 1]
      let doubles: [Double] = Self.numbers + [.infinity, -.infinity]
      return chance(1, of: 3) ? .integer(one(of: numbers)) : .double(one(of: doubles))
    case .date: return .date(one(of: Self.dates))
    case .text: return .text(one(of: Self.texts))
    case .identifier:
      let identifier = one(of: Self.identifiers)
      return one(of: [.identifier(identifier), .text(identifier.uuidString + "/L0/001"), .text("none")])
    }
  }

  /// A condition that a fetch of the entity takes.
  mutating func condition(for entity: Entity, depth: Int = 3) -> Condition {
    if depth > 0 && chance(3, of: 5) {
      let parts = (0..<Int.random(in: 0...3, using: &self)).map { _ in condition(for: entity, depth: depth - 1) }
      switch Int.random(in: 0..<3, using: &self) {
      case 0: return .and(parts)
      case 1: return .or(parts)
      default: return .not(condition(for: entity, depth: depth - 1))
      }
    }
    let key = one(of: Self.keys(of: entity))
    let leaf = leaf(key, for: entity)
    return (try? leaf.check(for: entity)) == nil ? condition(for: entity, depth: 0) : leaf
  }

  private mutating func leaf(_ key: PropertyKey, for entity: Entity) -> Condition {
    let comparator = one(of: Condition.Comparator.allCases)
    switch Int.random(in: 0..<8, using: &self) {
    case 0: return chance(1, of: 2) ? .always : .never
    case 1: return .pair(key, comparator, one(of: Self.keys(of: entity)))
    case 2: return .oneOf(key, (0..<Int.random(in: 0...4, using: &self)).map { _ in value(for: key) })
    case 3, 4:
      if key.valueKind == .integer {
        let masks: [Int64] = [-1, 0, 1, 8, 9, 0x8000_0000, -2]
        let values: [Int64] = [-1, 0, 1, 8, 9, 16, 0x8000_0000]
        return .bits(key, mask: one(of: masks), comparator, one(of: values))
      }
      let tests: [Condition.TextOperator] = [.equals, .contains, .beginsWith, .endsWith, .like]
      return .text(
        key, one(of: tests), one(of: Self.texts + ["e", "t", "b", "*e", "?", "L0"]),
        Condition.TextOptions(rawValue: UInt8.random(in: 0..<4, using: &self)))
    default: return .comparison(key, comparator, value(for: key))
    }
  }
}

/// The meaning of conditions, written as plainly as possible, over the public values instead of the rows.
struct QueryModel {
  /// How the identifier's text ends.
  var suffix = "/L0/001"
  let value: (PropertyKey) -> PropertyValue

  func holds(_ condition: Condition) -> Bool {
    switch condition {
    case .always: return true
    case .never: return false
    case .comparison(let key, let comparator, let constant):
      return compare(value(key), comparator, key.valueKind == .identifier ? constant.asIdentifier : constant)
    case .pair(let one, let comparator, let two): return compare(value(one), comparator, value(two))
    case .oneOf(let key, let constants):
      return constants.contains { holds(.comparison(key, .equal, $0)) }
    case .bits(let key, let mask, let comparator, let number):
      guard case .integer(let word) = value(key) else { return comparator == .notEqual }
      return compare(.integer(word & mask), comparator, .integer(number))
    case .text(let key, let test, let text, let options):
      if options.isEmpty && test == .equals { return holds(.comparison(key, .equal, .text(text))) }
      return holds(value(key), test, text, options)
    case .and(let parts): return !parts.contains { !holds($0) }
    case .or(let parts): return parts.contains { holds($0) }
    case .not(let part): return !holds(part)
    }
  }

  private func compare(
    _ one: PropertyValue, _ comparator: Condition.Comparator, _ two: PropertyValue
  ) -> Bool {
    let isEqual: Bool
    var isLess: Bool?
    switch (one, two) {
    case (.null, .null): isEqual = true
    case (.text(let one), .text(let two)): (isEqual, isLess) = (one == two, one < two)
    case (.date(let one), .date(let two)): (isEqual, isLess) = (one == two, one < two)
    case (.identifier(let one), .identifier(let two)): isEqual = one == two
    default:
      guard let one = one.scaled, let two = two.scaled else { return comparator == .notEqual }
      (isEqual, isLess) = (one == two, one < two)
    }
    switch comparator {
    case .equal: return isEqual
    case .notEqual: return !isEqual
    case .less: return isLess ?? false
    case .greater: return !isEqual && isLess == false
    case .lessOrEqual: return isLess != nil && (isEqual || isLess!)
    case .greaterOrEqual: return isLess != nil && !isLess!
    }
  }

  private func holds(
    _ value: PropertyValue, _ test: Condition.TextOperator, _ text: String, _ options: Condition.TextOptions
  ) -> Bool {
    var whole: String
    switch value {
    case .text(let text): whole = text
    case .identifier(let identifier): whole = identifier.uuidString + suffix
    default: return false
    }
    var compare: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    whole = whole.folding(options: compare, locale: nil)
    let part = text.folding(options: compare, locale: nil)
    switch test {
    case .equals: return whole == part
    case .contains: return whole.indices.contains { whole[$0...].starts(with: part) } || part.isEmpty
    case .beginsWith: return whole.starts(with: part)
    case .endsWith: return whole.count >= part.count && String(whole.suffix(part.count)) == part
    case .like: return like(Array(whole)[...], Array(part)[...])
    case .matches: preconditionFailure("the model has no regular expressions")
    }
  }

  private func like(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "\\", let literal = pattern.dropFirst().first {
      return text.first == literal && like(text.dropFirst(), pattern.dropFirst(2))
    }
    if first == "*" {
      return like(text, pattern.dropFirst()) || (!text.isEmpty && like(text.dropFirst(), pattern))
    }
    guard let character = text.first, first == "?" || first == character else { return false }
    return like(text.dropFirst(), pattern.dropFirst())
  }
}

extension PropertyValue {
  /// A number in 1/1024ths, if it is one; infinite ones beyond all others. The tests' numbers lie further apart.
  fileprivate var scaled: Int128? {
    switch self {
    case .bool(let flag): flag ? 1024 : 0
    case .integer(let number): Int128(number) * 1024
    case .double(let number) where number.isInfinite: number < 0 ? .min : .max
    case .double(let number): Int128((number * 1024).rounded(.down))
    default: nil
    }
  }

  fileprivate var asIdentifier: PropertyValue {
    guard case .text(let text) = self else { return self }
    return LocalIdentifier(text).map { .identifier($0) } ?? self
  }
}

extension Asset {
  /// A property as a predicate sees it, read through the public interface.
  func value(of key: PropertyKey) -> PropertyValue {
    func date(_ date: Date?) -> PropertyValue { date.map { .date($0) } ?? .null }
    func number(_ number: Double?) -> PropertyValue { number.map { .double($0) } ?? .null }
    switch key {
    case .localIdentifier: return .identifier(id)
    case .creationDate: return date(creationDate)
    case .modificationDate: return date(modificationDate)
    case .addedDate: return date(addedDate)
    case .localCreationDate: return date(localCreationDate)
    case .trashedDate: return date(trashedDate)
    case .mediaType: return .integer(Int64(mediaType.rawValue))
    case .mediaSubtypes: return .integer(Int64(mediaSubtypes.rawValue))
    case .playbackStyle: return .integer(Int64(playbackStyle.rawValue))
    case .sourceType: return .integer(Int64(sourceType.rawValue))
    case .duration: return number(duration)
    case .pixelWidth: return .integer(Int64(pixelWidth))
    case .pixelHeight: return .integer(Int64(pixelHeight))
    case .isFavorite: return .bool(isFavorite)
    case .isHidden: return .bool(isHidden)
    case .isTrashed: return .bool(isTrashed)
    case .burstIdentifier: return burstIdentifier.map { .text($0) } ?? .null
    case .representsBurst: return .bool(representsBurst)
    case .stack: return stack.map { .identifier($0) } ?? .null
    case .isBeneathStack: return .bool(isBeneathStack)
    case .rating: return .integer(Int64(rating.rawValue))
    case .burstSelectionTypes: return .integer(Int64(burstSelectionTypes.rawValue))
    case .hasAdjustments: return .bool(hasAdjustments)
    case .adjustmentsState: return .integer(Int64(adjustmentsState.rawValue))
    case .adjustmentTimestamp: return date(adjustmentTimestamp)
    case .playbackVariation: return .integer(Int64(playbackVariation.rawValue))
    case .originalResourceChoice: return .integer(Int64(originalResourceChoice.rawValue))
    case .isRaw: return .bool(isRaw)
    case .isSelfPortrait: return .bool(isSelfPortrait)
    case .latitude: return number(location?.latitude)
    case .longitude: return number(location?.longitude)
    case .altitude: return number(location?.altitude)
    case .timeZoneOffset: return timeZoneOffset.map { .integer(Int64($0)) } ?? .null
    default: return .null
    }
  }
}

extension PhotoCollection {
  /// A property as a predicate sees it, read through the public interface.
  func value(of key: PropertyKey) -> PropertyValue {
    switch key {
    case .localIdentifier: .identifier(id)
    case .creationDate: .date(creationDate)
    case .modificationDate: .date(modificationDate)
    case .localizedTitle: localizedTitle.map { .text($0) } ?? .null
    case .estimatedAssetCount: .integer(Int64(estimatedAssetCount))
    case .kind: .integer(Int64(kind.rawValue))
    case .albumSubtype: albumSubtype.map { .integer(Int64($0.rawValue)) } ?? .null
    case .canContainAssets: .bool(canContainAssets)
    case .canContainCollections: .bool(canContainCollections)
    default: .null
    }
  }
}
