// The names that the values of enumerations and sets of bits have in JSON, in the log's words and in options.

/// An enumeration whose values have names.
///
/// The names are written out: to ask the runtime for the name of a case took a fifth of the time in which a process
/// opens a library, and needs the protocol conformances of every library that is linked.
package protocol NamedChoice: RawRepresentable, Sendable where RawValue == Int {
  /// The name of the value, which is that of its case.
  var name: String { get }
}

extension MediaType: NamedChoice {
  package var name: String {
    switch self {
    case .unknown: "unknown"
    case .image: "image"
    case .video: "video"
    case .audio: "audio"
    }
  }
}

extension PlaybackStyle: NamedChoice {
  package var name: String {
    switch self {
    case .unsupported: "unsupported"
    case .image: "image"
    case .imageAnimated: "imageAnimated"
    case .livePhoto: "livePhoto"
    case .video: "video"
    case .videoLooping: "videoLooping"
    }
  }
}

extension PlaybackVariation: NamedChoice {
  package var name: String {
    switch self {
    case .none: "none"
    case .autoloop: "autoloop"
    case .mirror: "mirror"
    case .longExposure: "longExposure"
    }
  }
}

extension AdjustmentsState: NamedChoice {
  package var name: String {
    switch self {
    case .none: "none"
    case .userAdjusted: "userAdjusted"
    case .cameraAutoAdjusted: "cameraAutoAdjusted"
    }
  }
}

extension OriginalResourceChoice: NamedChoice {
  package var name: String {
    switch self {
    case .compressed: "compressed"
    case .raw: "raw"
    }
  }
}

extension AssetRating: NamedChoice {
  package var name: String {
    switch self {
    case .unset: "unset"
    case .one: "one"
    case .two: "two"
    case .three: "three"
    case .four: "four"
    case .five: "five"
    }
  }
}

extension PhotoCollection.Kind: NamedChoice {
  package var name: String {
    switch self {
    case .album: "album"
    case .folder: "folder"
    case .smartAlbum: "smartAlbum"
    }
  }
}

/// A set of bits that are called by name in JSON and in options.
package protocol NamedBits: OptionSet, Sendable {
  /// The bits with their names, lowest first.
  static var namedBits: [(name: String, bit: Self)] { get }
}

extension NamedBits where Element == Self {
  /// The names of the bits that are set, lowest first.
  package var names: [String] { Self.namedBits.filter { contains($0.bit) }.map(\.name) }

  /// The set of bits with names; nil if one of them is not a name.
  package init?(names: some Sequence<String>) {
    self.init()
    for name in names {
      guard let found = Self.namedBits.first(where: { $0.name == name }) else { return nil }
      formUnion(found.bit)
    }
  }
}

extension BurstSelectionTypes: NamedBits {
  package static let namedBits: [(name: String, bit: Self)] = [("autoPick", .autoPick), ("userPick", .userPick)]
}

extension SourceTypes: NamedBits {
  package static let namedBits: [(name: String, bit: Self)] = [
    ("userLibrary", .userLibrary), ("cloudShared", .cloudShared), ("iTunesSynced", .iTunesSynced),
  ]
}

extension MediaSubtypes {
  /// The set of bits with names, as ``names`` spells them, unknown bits included; nil if one of them is not a name.
  package init?(names: some Sequence<String>) {
    self.init()
    for name in names {
      guard let bit = (0..<32).map({ MediaSubtypes(rawValue: 1 << UInt32($0)) }).first(where: { $0.names == [name] })
      else { return nil }
      formUnion(bit)
    }
  }
}

/// Which numbers below 64 are those of an enumeration's values.
struct KnownChoices: BitwiseCopyable, Sendable {
  fileprivate let bits: UInt64

  /// Whether the enumeration has a value with the number.
  func hold(_ number: Int64) -> Bool { (0..<64).contains(number) && bits &>> UInt64(number) & 1 != 0 }
}

/// The names of an enumeration's values, by number; the numbers are below 64.
package final class ChoiceNames: Sendable {
  /// What a value is, for sentences.
  package let noun: String
  /// Nil where the enumeration has no value.
  package let names: [String?]
  let known: KnownChoices
  /// Whether JSON shows the number, which says as much as the name.
  package let isNumberInJSON: Bool
  /// What JSON takes, for sentences.
  package let wanted: String
  /// The values that a request can give.
  private let given: UInt64

  /// Reads the names of an enumeration.
  /// - Parameters:
  ///   - noun: what a value is.
  ///   - ungiven: a value that a request cannot give.
  ///   - numbers: what JSON takes, if it shows the number.
  init<Choice: NamedChoice>(_ type: Choice.Type, _ noun: String, except ungiven: Choice? = nil, numbers: String? = nil)
  {
    self.noun = noun
    let names = (0..<64).map { Choice(rawValue: $0)?.name }
    self.names = Array(names.prefix((names.lastIndex { $0 != nil } ?? -1) + 1))
    known = KnownChoices(bits: names.indices.reduce(0) { $0 | (names[$1] == nil ? 0 : 1 << UInt64($1)) })
    given = known.bits & ~(ungiven.map { 1 << UInt64($0.rawValue) } ?? 0)
    let choices = names.filter { $0 != nil && $0 != ungiven?.name }.compactMap(\.self)
    isNumberInJSON = numbers != nil
    wanted = numbers ?? choices.dropLast().joined(separator: ", ") + " or " + (choices.last ?? "")
  }

  /// Whether the enumeration has a value with the number.
  func hold(_ number: Int64) -> Bool { known.hold(number) }

  /// The name of a number; nil if the enumeration has no such value.
  package func name(of number: Int64) -> String? {
    hold(number) ? names[Int(number)] : nil
  }

  /// The number of a value that a request gives; nil if it cannot give that.
  package func number(given number: Int) -> Int64? {
    hold(Int64(number)) && given &>> UInt64(number) & 1 != 0 ? Int64(number) : nil
  }

  /// The number of a value that a request gives by its name; nil if it cannot give that.
  package func number(named name: String) -> Int64? { names.firstIndex(of: name).flatMap { number(given: $0) } }
}

/// The names of the bits of a set.
package final class BitNames: Sendable {
  /// Whether the set takes four bytes of a row and not one.
  let isWide: Bool
  /// The value that is not written to the log.
  let standard: UInt32
  /// What JSON takes, for sentences.
  package let wanted: String
  /// The names of the bits that are set, lowest first.
  package let names: @Sendable (_ bits: UInt32) -> [String]
  /// The bits with names; nil if one of them is not a name.
  package let bits: @Sendable (_ names: [String]) -> UInt32?

  init<Bits: NamedBits>(_ type: Bits.Type, standard: Bits = []) where Bits.RawValue == UInt8, Bits.Element == Bits {
    isWide = false
    self.standard = UInt32(standard.rawValue)
    wanted = "a list of names out of \(Bits.namedBits.map(\.name).joined(separator: ", "))"
    names = { Bits(rawValue: UInt8(truncatingIfNeeded: $0)).names }
    bits = { Bits(names: $0).map { UInt32($0.rawValue) } }
  }

  init(_ type: MediaSubtypes.Type) {
    isWide = true
    standard = 0
    wanted = "a list of names such as [\"photoPanorama\"]"
    names = { MediaSubtypes(rawValue: $0).names }
    bits = { MediaSubtypes(names: $0)?.rawValue }
  }
}
