import PhotoLedger
import TestSupport
import Testing

@Suite("Sorting the keys of a fetch")
struct KeySortingTests {
  /// The first place at which two lists of keys differ, with what is there; nil if there is none. An expectation that
  /// compares the lists themselves would compute all that differs between them, for minutes.
  private static func difference(_ found: [NarrowKey], _ wanted: [NarrowKey]) -> String? {
    if let place = zip(found, wanted).enumerated().first(where: { $1.0 != $1.1 })?.offset {
      return "\(found[place]) instead of \(wanted[place]) at \(place)"
    }
    return found.count == wanted.count ? nil : "\(found.count) keys instead of \(wanted.count)"
  }

  @Test(
    "sorting by digits gives the order that comparisons give, whatever bits the keys differ in",
    arguments: [0, 1, 511, 512, 700, 5_000], 0..<6 as Range<UInt64>)
  func digits(count: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Dates of one day, of all times, flags, and keys that are all the same but for a bit.
    let mask: UInt64 = [.max, 0xFFFF_FFFF, 1, 1 << 63, 0xFFFF << 40, 0][Int(seed)]
    let base = random.next()
    let keys = (0..<count).map { index in
      let number = seed % 2 == 0 ? UInt64(index) << 3 : random.next()
      return NarrowKey(word: base & ~mask | random.next() & mask, number: number)
    }
    var sorted = keys
    NarrowKey.sort(&sorted)
    #expect(Self.difference(sorted, keys.sorted()) == nil)
    var descending = Array(sorted.reversed())
    NarrowKey.sort(&descending)
    #expect(Self.difference(descending, sorted) == nil)
    let lists = stride(from: 0, to: count, by: 200).map { Array(keys[$0..<min($0 + 200, count)]) }
    #expect(Self.difference(NarrowKey.sorted([[]] + lists + [[]]), sorted) == nil)
  }
}

@Suite("Rows read in place")
struct AssetViewTests {
  @Test(
    "an invalid value of an enumeration makes a row corrupted, copied or not",
    arguments: AssetField.allCases.compactMap { if case .choice(let place, _) = $0.form { place } else { nil } },
    [6, 63, 64, 255] as [UInt8])
  func unknownValues(offset: Int, value: UInt8) throws {
    var random = QueryRandom(seed: UInt64(offset))
    try random.asset().whereItLies { view in
      var bytes = (0..<AssetRow.Layout.size).map { view.load($0, as: UInt8.self) }
      _ = try AssetRow(number: 1, bytes: bytes.span.bytes)
      bytes[offset] = value
      let error = #expect(throws: LibraryError.self) { try AssetRow(number: 1, bytes: bytes.span.bytes) }
      #expect(error?.code == .corrupted)
      let same = #expect(throws: LibraryError.self) {
        try bytes.withUnsafeBytes { _ = try AssetView(number: 1, bytes: $0) }
      }
      #expect(same == error)
      let short = #expect(throws: LibraryError.self) {
        try bytes.withUnsafeBytes {
          _ = try AssetView(number: 1, bytes: UnsafeRawBufferPointer(rebasing: $0.dropLast()))
        }
      }
      #expect(short?.code == .corrupted)
    }
  }

  @Test("a row read back from its bytes is the row, and has its properties", arguments: 1...4 as ClosedRange<UInt64>)
  func readingBack(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    for _ in 0..<200 {
      var row = random.asset()
      if row.burstIdentifier == "" { row.burstIdentifier = nil }
      try row.whereItLies { view in
        #expect(view.identifier == row.identifier && view.burstIdentifier == row.burstIdentifier)
        #expect(view.isVisible == row.isVisible && view.isTrashed == (row.trashedDate != nil))
        #expect(view.stackTop == row.stack && view.isBeneathStack == row.isBeneathStack)
        #expect(row.isBeneathStack == (row.stack != nil && row.stack != row.identifier))
        var copy = AssetRow(number: row.number, identifier: row.identifier, addedDate: row.addedDate)
        copy.flags = row.flags
        copy.mediaType = row.mediaType
        copy.playbackStyle = row.playbackStyle
        copy.sourceType = row.sourceType
        copy.burstSelection = row.burstSelection
        copy.mediaSubtypes = row.mediaSubtypes
        copy.pixelWidth = row.pixelWidth
        copy.pixelHeight = row.pixelHeight
        copy.timeZoneOffset = row.timeZoneOffset
        copy.adjustmentDate = row.adjustmentDate
        copy.creationDate = row.creationDate
        copy.stack = row.stack
        copy.localCreationDate = row.localCreationDate
        copy.modificationDate = row.modificationDate
        copy.trashedDate = row.trashedDate
        copy.location = row.location
        copy.duration = row.duration
        copy.rating = row.rating
        copy.adjustmentsState = row.adjustmentsState
        copy.playbackVariation = row.playbackVariation
        copy.originalResourceChoice = row.originalResourceChoice
        copy.burstIdentifier = row.burstIdentifier
        #expect(copy == row)
      }
    }
  }
}
