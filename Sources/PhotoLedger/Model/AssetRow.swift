package import Foundation

// The row of an asset: everything that a predicate or a sort may ask, in 144 bytes at fixed places.
//
// A fetch without an index of its own reads every row of the library, so a row must be read without parsing: in memory
// it is the same bytes as in the store, and a property is decoded on access. Decoding all of them cost more than the
// rest of the fetch. Properties that no predicate uses (resources, file names) are in `AssetDetails`, so that a scan
// does not load them into the cache.
//
//   offset  bytes  field                       offset  bytes  field
//        0     16  identifier, big-endian          48      8  creation date, seconds since 2001 ⎫
//       16      4  flags                           56      8  local creation date               ⎪
//       20      1  media type                      64      8  added date                        ⎬ NaN: none
//       21      1  playback style                  72      8  modification date                 ⎪
//       22      1  source type                     80      8  trashed date                      ⎭
//       23      1  burst selection                 88      8  latitude  ⎫
//       24      4  media subtypes                  96      8  longitude ⎬ NaN: none
//       28      4  pixel width                    104      8  altitude  ⎭
//       32      4  pixel height                   112      8  duration, seconds
//       36      4  offset from UTC, seconds       120      1  rating (0: unset)
//       40      8  adjustment date (NaN: none)    121      1  adjustments state
//                                                122      1  playback variation
//                                                123      1  original resource choice
//                                                124      4  reserved, zero
//      144      –  burst identifier, UTF-8       128     16  stack: the identifier of its top (0: none)
//
// Integers and the bits of doubles are little-endian. Dates are stored with every bit that the caller gave: a date read
// back equals the date written.
//
// Invariant: the bytes always make a row. Whatever sets them writes a value of its type; bytes of a store are checked
// when they become a row (`init(number:bytes:)`), so that no property has to say that it might be wrong.

/// The properties of an asset that predicates and sort keys use.
package struct AssetRow: Equatable, Sendable {
  package struct Flags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let favorite = Flags(rawValue: 1)
    package static let hidden = Flags(rawValue: 2)
    package static let representsBurst = Flags(rawValue: 4)
    /// Taken with the camera on the screen's side.
    package static let selfPortrait = Flags(rawValue: 8)
    /// Some original is a RAW file; follows from the resources.
    package static let raw = Flags(rawValue: 16)
    /// A Live Photo whose video is not played.
    package static let stillPlayback = Flags(rawValue: 32)
    /// The asset was erased from the log; only rows of earlier states have this.
    package static let erased = Flags(rawValue: 64)

    /// Whether all of some flags are set; the generic function is not specialised in other modules.
    package func contains(_ flags: Flags) -> Bool { rawValue & flags.rawValue == flags.rawValue }
  }

  package var number: ObjectNumber
  /// The bytes of the table above, but for the burst identifier.
  package internal(set) var fixed: FixedBytes
  package var burstIdentifier: String?

  /// A row of an object about which nothing is known but its number, its identifier and when it was added.
  package init(number: ObjectNumber, identifier: LocalIdentifier, addedDate: Date) {
    self.number = number
    fixed = Self.blank
    self.identifier = identifier
    self.addedDate = addedDate
  }

  /// Whether both have the same bytes in the store; two spellings of a burst's name are two bursts.
  package static func == (one: AssetRow, other: AssetRow) -> Bool {
    one.number == other.number && one.hasSameBytes(as: other)
      && one.burstIdentifier?.exact == other.burstIdentifier?.exact
  }

  /// The row without its stack.
  package var unstacked: AssetRow {
    var row = self
    row.stack = nil
    return row
  }

  /// Whether the asset was erased from the log.
  package var isErased: Bool { flags.contains(.erased) }

  /// Whether it may be changed and deleted here (AS-13).
  package var isEditable: Bool { sourceType.isDisjoint(with: [.cloudShared, .iTunesSynced]) }
}
