/// A property of an asset; AssetProperties.swift has the table.
///
/// A class, since what walks the table for each asset or edit would otherwise copy a dozen references at each entry.
package final class AssetProperty: Sendable {
  /// How the values lie in a row, and what they are.
  package enum Form: Sendable {
    /// The identity.
    case identifier
    /// A flag that is set where the property is true.
    case flag(AssetRow.Flags)
    /// A flag that is set where the property is false.
    case clearFlag(AssetRow.Flags)
    /// All flags, as one number.
    case flags
    /// The number of an enumeration, in one byte.
    case choice(at: Int, ChoiceNames)
    /// Whether the number of an enumeration is not 0.
    case isChosen(at: Int)
    /// A set of bits.
    case bits(at: Int, BitNames)
    /// A count of pixels; 0 if unknown.
    case size(at: Int)
    /// Seconds, never missing.
    case seconds(at: Int)
    /// The offset from UTC.
    case zoneOffset
    case date(at: Int, Clock)
    /// Whether there is a date.
    case isPresent(at: Int)
    /// The place of capture.
    case location
    /// One number of the place of capture.
    case coordinate(at: Int)
    /// The identifier of the burst, after the fixed places.
    case burst
    /// The identity of the asset on top of the stack.
    case stack
    /// Whether another asset is on top of the stack.
    case isBeneathStack
    /// Words that the row does not hold.
    case text(@Sendable (ExtendedMetadata) -> String?)
    /// A list of words that the row does not hold.
    case texts(@Sendable (ExtendedMetadata) -> [String])
    /// A number that the row does not hold.
    case measure(@Sendable (ExtendedMetadata) -> Double?)
    /// Named values that the row does not hold.
    case record(@Sendable (ExtendedMetadata) -> LogValue?)
  }

  /// What a date is read from.
  package enum Clock: Sendable {
    case instant
    /// An instant, shown at the offset of the place of capture.
    case zoned
    /// The camera's clock, held as though it were UTC.
    case wallTime
  }

  /// By which requests the property is set.
  package enum Setting: Sendable {
    case never
    case atCreation
    case always
    /// Always; passed over in an edit of an asset outside a burst.
    case inBurst
    /// By edits of Live Photos; passed over in an edit of another asset.
    case inLivePhoto

    package var isAtCreation: Bool { self == .atCreation || self == .always || self == .inBurst }
    package var isByEdit: Bool { self == .always || self == .inBurst || self == .inLivePhoto }
  }

  /// What becomes of the property when commits are undone.
  package enum Undoing: Sendable {
    /// It is judged by itself.
    case alone
    /// It goes back together with the files, or not at all.
    case withFiles
    /// It follows from what else is undone.
    case follows
  }

  package struct Traits: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Every asset has it: it is always written, and a row without it is refused.
    static let required = Traits(rawValue: 1)
    /// An erasure keeps it: it reveals no more than the header of a commit, or the counts of albums count on it.
    static let keptByErasure = Traits(rawValue: 2)
    /// No member of an asset's JSON.
    static let unprinted = Traits(rawValue: 4)
  }

  /// The name as JSON spells it.
  package let key: StaticString
  /// The same, as text.
  package let name: String
  package let form: Form
  package let field: AssetField?
  /// The key in the map that a creation logs.
  let rowKey: UInt64?
  let propertyKey: PropertyKey?
  private let makePaths: @Sendable () -> [any PartialKeyPath<Asset> & Sendable]
  let aliases: [String]
  package let setting: Setting
  package let undoing: Undoing
  let traits: Traits

  /// Declares a property.
  /// - Parameters:
  ///   - name: as JSON, the log's words and sentences spell it.
  ///   - form: how its values lie in a row, and what they are.
  ///   - field: the field in the log, if an edit can change it.
  ///   - rowKey: the key in the map that a creation logs; nil for a flag, which `flags` holds.
  ///   - propertyKey: the key in predicates and sort terms.
  ///   - paths: the paths of `Asset` that `#Predicate` and sort descriptors may use.
  ///   - aliases: PhotoKit's other spellings of the key.
  ///   - setting: by which requests it is set.
  ///   - undoing: what becomes of it when commits are undone.
  ///   - traits: what else there is to say of it.
  init(
    _ name: StaticString, _ form: Form, log field: AssetField? = nil, row rowKey: UInt64? = nil,
    key propertyKey: PropertyKey? = nil,
    _ paths: @autoclosure @escaping @Sendable () -> [any PartialKeyPath<Asset> & Sendable] = [],
    spelled aliases: [String] = [], set setting: Setting = .never, undo undoing: Undoing = .alone,
    is traits: Traits = []
  ) {
    key = name
    self.name = name.description
    self.form = form
    self.field = field
    self.rowKey = rowKey
    self.propertyKey = propertyKey
    makePaths = paths
    self.aliases = aliases
    self.setting = setting
    self.undoing = undoing
    self.traits = traits
  }

  /// The paths of `Asset` that stand for it, which take a process longer to make than the rest of the table.
  var paths: [any PartialKeyPath<Asset> & Sendable] { makePaths() }

  /// Whether an edit of the asset may set the property.
  func isSettable(in row: AssetRow) -> Bool {
    switch setting {
    case .never, .atCreation: false
    case .always: true
    case .inBurst: row.burstIdentifier != nil
    case .inLivePhoto: row.mediaSubtypes.contains(.photoLive)
    }
  }

  /// Whether the row of an asset does not hold the property.
  var isDetail: Bool {
    switch form {
    case .text, .texts, .measure, .record: true
    default: false
    }
  }

  /// Whether a query compares each of a list.
  var hasSeveralValues: Bool {
    if case .texts = form { true } else { false }
  }

  /// Whether an asset may lack the property.
  var mayBeNil: Bool {
    switch form {
    case .date, .zoneOffset, .location, .coordinate, .burst, .stack, .text, .texts, .measure, .record:
      !traits.contains(.required)
    default: false
    }
  }
}

// MARK: - The table by what it is asked for

extension AssetProperty {
  /// The members of an asset's JSON, in their order.
  package static let printed = all.filter { !$0.traits.contains(.unprinted) }

  /// What requests set, in the order of JSON.
  package static let settable = all.filter { $0.setting != .never }

  /// A property in the map that a creation logs, without references: a replay goes through the table for each asset.
  struct InRow: BitwiseCopyable, Sendable {
    /// How the values lie in a row; the ``Form`` without names.
    enum Coding: BitwiseCopyable, Sendable {
      case flags
      case choice(at: Int, KnownChoices)
      case bits(at: Int, isWide: Bool, standard: UInt32)
      case size(at: Int)
      case seconds(at: Int)
      case zoneOffset
      case date(at: Int)
      case location
      case burst
      case stack
    }

    let key: UInt64
    let coding: Coding
    let isRequired: Bool

    fileprivate init(_ property: AssetProperty, key: UInt64) {
      self.key = key
      isRequired = property.traits.contains(.required)
      switch property.form {
      case .flags: coding = .flags
      case .choice(let place, let names): coding = .choice(at: place, names.known)
      case .bits(let place, let names): coding = .bits(at: place, isWide: names.isWide, standard: names.standard)
      case .size(let place): coding = .size(at: place)
      case .seconds(let place): coding = .seconds(at: place)
      case .zoneOffset: coding = .zoneOffset
      case .date(let place, _): coding = .date(at: place)
      case .location: coding = .location
      case .burst: coding = .burst
      case .stack: coding = .stack
      case .identifier, .flag, .clearFlag, .isChosen, .isPresent, .coordinate, .isBeneathStack, .text, .texts, .measure,
        .record:
        preconditionFailure("A creation cannot log a property of this form under the key \(key).")
      }
    }

    /// What a value of the property's enumeration is, for sentences.
    var noun: String {
      guard case .choice(_, let names)? = AssetProperty.all.first(where: { $0.rowKey == key })?.form else {
        preconditionFailure("The property under the key \(key) of a creation has no enumeration.")
      }
      return names.noun
    }
  }

  /// What a creation logs, ascending by its key there.
  static let inRow = unique("key of the row", \.rowKey).sorted { $0.key < $1.key }.map { key, property in
    InRow(property, key: key)
  }

  /// The same, by the key.
  static let byRowKey: [InRow?] = (0...(inRow.last?.key ?? 0)).map { key in inRow.first { $0.key == key } }

  /// The property with a key in predicates and sort terms; nil if assets do not have it. It is searched for, since a
  /// table by keys would be made whenever a process first fetches; by index, which copies no other declaration.
  static func named(_ key: PropertyKey) -> AssetProperty? {
    all.firstIndex { $0.propertyKey == key }.map { all[$0] }
  }

  fileprivate static func unique<Key: Hashable>(
    _ what: String, _ key: (AssetProperty) -> Key?
  ) -> [Key: AssetProperty] {
    Dictionary(all.compactMap { property in key(property).map { ($0, property) } }) { one, two in
      preconditionFailure("The properties \(one.name) and \(two.name) of an asset have the same \(what).")
    }
  }
}

extension AssetField {
  /// The declarations, by number; number 0 is not used, and has the first.
  private static let properties: [AssetProperty] = {
    let found = AssetProperty.unique("field", \.field)
    return [AssetProperty.all[0]]
      + allCases.enumerated().map { index, field in
        guard Int(field.rawValue) == index + 1, let property = found[field] else {
          preconditionFailure("The field \(field) of an asset is not the next number, or is not declared.")
        }
        return property
      }
  }()

  // Edits ask for these of each property that they change.
  private static let forms = properties.map(\.form)
  private static let names = properties.map(\.name)
  private static let keys = properties.map(\.key)

  /// The declaration.
  package var property: AssetProperty { Self.properties[Int(rawValue)] }

  /// How the values lie in a row, and what they are.
  package var form: AssetProperty.Form { Self.forms[Int(rawValue)] }

  /// The name, as JSON spells it.
  package var name: String { Self.names[Int(rawValue)] }

  /// The same.
  package var key: StaticString { Self.keys[Int(rawValue)] }
}
