import PhotoLedger

// The identifiers of assets by their numbers, as far as a walk over the log has met their creations.
//
// An album of ten thousand photos is an event that names ten thousand numbers. Finding the identifier of one means
// reading its row, and rows that lie far apart are each a page fault: in a log of a million creations and forty
// thousand other events a fifth of the time. But a walk from the oldest event on has read the creation of every asset
// that a later event names, and an identifier never changes:
//
//     number − first   0    1    2    3    4   …        16 bytes each
//                      id   id   –    id   –            –: no asset, or not known: its row is read
//
// Invariant: what is kept is what the row says. A creation whose payload was erased is not kept.
//
// Rejected: a dictionary, four times as large; keeping everything, since a stream has to do with bounded memory.

/// Finds the identifiers of assets that were created in a part of the log.
struct CreatedAssets {
  /// The number and the identifier of an asset.
  typealias Creation = (number: ObjectNumber, identifier: LocalIdentifier)

  /// How many are kept at most; 32 MiB.
  private static let most = 1 << 21
  /// Marks a number without an asset. An asset with this identifier is not kept.
  private static let none = LocalIdentifier(high: 0, low: 0)

  private let numbers: Range<ObjectNumber>
  private var identifiers: [LocalIdentifier] = []

  /// - Parameter numbers: the events in which they were created; the first of them are kept.
  init(_ numbers: Range<ObjectNumber>) {
    self.numbers = numbers.lowerBound..<min(numbers.upperBound, numbers.lowerBound + UInt64(Self.most))
  }

  /// The identifier of the asset with a number; nil if it is not kept.
  subscript(number: ObjectNumber) -> LocalIdentifier? {
    guard numbers.contains(number) else { return nil }
    let place = Int(number - numbers.lowerBound)
    guard place < identifiers.count, identifiers[place] != Self.none else { return nil }
    return identifiers[place]
  }

  /// Adds assets.
  mutating func add(_ creations: [Creation]) {
    guard !creations.isEmpty else { return }
    // At once, and touched when it is filled: to grow is to copy.
    if identifiers.isEmpty { identifiers.reserveCapacity(numbers.count) }
    for creation in creations where numbers.contains(creation.number) {
      let place = Int(creation.number - numbers.lowerBound)
      while identifiers.count <= place { identifiers.append(Self.none) }
      identifiers[place] = creation.identifier
    }
  }
}
