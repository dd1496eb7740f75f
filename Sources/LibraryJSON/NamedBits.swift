package import PhotoLedger

/// A set of bits that are called by name in JSON and in options.
package protocol NamedBits: OptionSet {
  /// The bits with their names, lowest first.
  static var namedBits: [(name: String, bit: Self)] { get }
}

extension NamedBits where Element == Self {
  /// The names of the bits that are set, lowest first.
  package var names: [String] { Self.namedBits.filter { contains($0.bit) }.map(\.name) }

  /// The set of bits with names; nil if one of them is no name.
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
