// Rows where they lie.
//
// A fetch without an index reads every row of the library and keeps none. Copying each row, again for every closure
// that reads it, took a third of such a fetch. So conditions and sort terms are compiled for views of rows: three words
// that say where the bytes of one lie, in the store or in memory. The decoding of a property is written once, for the
// row and for its view (`AssetBytes`).
//
// A view points into a page of the store, or into a row. It is valid only during the call that it is passed to, and
// must not escape. Rejected: a view whose type prevents escaping; the closures that conditions are compiled to would
// have to be written for such types, and for rows of collections once more.

/// The bytes of a row, wherever they are.
package protocol AssetBytes: Sendable {
  var number: ObjectNumber { get }
  /// Reads a place of ``AssetRow/Layout``.
  func load<Value: BitwiseCopyable>(_ offset: Int, as: Value.Type) -> Value
  var burstIdentifier: String? { get }
  /// Whether it has a burst identifier.
  var isOfBurst: Bool { get }
}

extension AssetRow: AssetBytes {
  package var isOfBurst: Bool { burstIdentifier != nil }

  // As for all rows; the generic functions are not specialised in other modules, which write rows as JSON with these.

  @inline(__always)
  package func byte(_ offset: Int) -> UInt8 { load(offset, as: UInt8.self) }

  @inline(__always)
  package func word(_ offset: Int) -> UInt32 { load(offset, as: UInt32.self) }

  /// The number at an offset, or the date there in seconds since 2001; NaN if absent.
  @inline(__always)
  package func seconds(_ offset: Int) -> Double { load(offset, as: Double.self) }

  /// Lends a view of the row.
  /// - Complexity: O(1); the bytes of a row with a burst identifier are copied.
  func withView<Result>(_ body: (AssetView) -> Result) -> Result {
    guard let burstIdentifier else {
      return fixed.span.bytes.withUnsafeBytes { body(AssetView(number: number, rowBytes: $0)) }
    }
    let bytes = fixed.span.bytes.withUnsafeBytes { Array($0) } + burstIdentifier.utf8
    return bytes.withUnsafeBytes { body(AssetView(number: number, rowBytes: $0)) }
  }
}

/// The row of an asset where it lies, for as long as the call that it is given to.
package struct AssetView: AssetBytes {
  package let number: ObjectNumber
  // Points into a page that is not written during the transaction of the view, or into a row that is borrowed for it.
  private nonisolated(unsafe) let bytes: UnsafeRawPointer  // guarded by the transaction or the row that lends it
  private let byteCount: Int

  /// A view of bytes that are those of a row.
  fileprivate init(number: ObjectNumber, rowBytes: UnsafeRawBufferPointer) {
    guard let start = rowBytes.baseAddress else { preconditionFailure("A row has bytes.") }
    (self.number, bytes, byteCount) = (number, start, rowBytes.count)
  }

  /// A view of the row of an asset.
  /// - Throws: ``LibraryError`` `.corrupted` if the bytes are not a valid row.
  package init(number: ObjectNumber, bytes: UnsafeRawBufferPointer) throws {
    guard let start = bytes.baseAddress, bytes.count >= AssetRow.Layout.size else {
      throw AssetRow.corruption(number)
    }
    self.number = number
    self.bytes = start
    byteCount = bytes.count
    guard AssetRow.knownValues.areAll(in: self) else { throw AssetRow.corruption(number) }
  }

  @inline(__always)
  package func load<Value: BitwiseCopyable>(_ offset: Int, as type: Value.Type) -> Value {
    bytes.loadUnaligned(fromByteOffset: offset, as: type)
  }

  package var isOfBurst: Bool { byteCount > AssetRow.Layout.size }

  package var burstIdentifier: String? {
    guard isOfBurst else { return nil }
    let text = UnsafeRawBufferPointer(start: bytes, count: byteCount)[AssetRow.Layout.size...]
    return String(decoding: text, as: UTF8.self)
  }
}

/// The raw values that there are of each enumeration in a row, as bits.
struct KnownValues {
  private let mediaTypes = Self.bits { MediaType(rawValue: $0) }
  private let playbackStyles = Self.bits { PlaybackStyle(rawValue: $0) }
  private let ratings = Self.bits { AssetRating(rawValue: $0) }
  private let adjustmentsStates = Self.bits { AdjustmentsState(rawValue: $0) }
  private let playbackVariations = Self.bits { PlaybackVariation(rawValue: $0) }
  private let originalResourceChoices = Self.bits { OriginalResourceChoice(rawValue: $0) }

  private static func bits<Value>(_ value: (Int) -> Value?) -> UInt64 {
    (0..<64).reduce(0) { $0 | (value($1) == nil ? 0 : 1 << UInt64($1)) }
  }

  /// Whether every field of a row holds a value of its type.
  @inline(__always)
  func areAll(in row: some AssetBytes) -> Bool {
    typealias Layout = AssetRow.Layout
    return holds(mediaTypes, row.byte(Layout.mediaType)) && holds(playbackStyles, row.byte(Layout.playbackStyle))
      && holds(ratings, row.byte(Layout.rating)) && holds(adjustmentsStates, row.byte(Layout.adjustmentsState))
      && holds(playbackVariations, row.byte(Layout.playbackVariation))
      && holds(originalResourceChoices, row.byte(Layout.originalResourceChoice))
      && !row.seconds(Layout.addedDate).isNaN
  }

  @inline(__always)
  private func holds(_ bits: UInt64, _ value: UInt8) -> Bool { value < 64 && bits &>> UInt64(value) & 1 != 0 }
}

extension AssetBytes {
  @inline(__always)
  package func byte(_ offset: Int) -> UInt8 { load(offset, as: UInt8.self) }

  @inline(__always)
  package func word(_ offset: Int) -> UInt32 { load(offset, as: UInt32.self) }

  /// The number at an offset, or the date there in seconds since 2001; NaN if absent.
  @inline(__always)
  package func seconds(_ offset: Int) -> Double { load(offset, as: Double.self) }

  /// The identity of the asset in its library.
  package var identifier: LocalIdentifier {
    LocalIdentifier(
      high: UInt64(bigEndian: load(AssetRow.Layout.identifier, as: UInt64.self)),
      low: UInt64(bigEndian: load(AssetRow.Layout.identifier + 8, as: UInt64.self)))
  }

  /// Marks that are on or off.
  package var flags: AssetRow.Flags { AssetRow.Flags(rawValue: word(AssetRow.Layout.flags)) }

  /// Where the asset came from.
  package var sourceType: SourceTypes { SourceTypes(rawValue: byte(AssetRow.Layout.sourceType)) }

  /// Who chose this member of a burst.
  package var burstSelection: BurstSelectionTypes {
    BurstSelectionTypes(rawValue: byte(AssetRow.Layout.burstSelection))
  }

  /// Whether it lies in the trash.
  package var isTrashed: Bool { !seconds(AssetRow.Layout.trashedDate).isNaN }

  /// The top of the asset's stack; nil in no stack.
  package var stackTop: LocalIdentifier? {
    let (high, low) = (
      load(AssetRow.Layout.stack, as: UInt64.self), load(AssetRow.Layout.stack + 8, as: UInt64.self)
    )
    return high | low == 0 ? nil : LocalIdentifier(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
  }

  /// Whether another asset is on top of its stack.
  @inline(__always)
  package var isBeneathStack: Bool {
    let (high, low) = (
      load(AssetRow.Layout.stack, as: UInt64.self), load(AssetRow.Layout.stack + 8, as: UInt64.self)
    )
    return high | low != 0
      && (high != load(AssetRow.Layout.identifier, as: UInt64.self)
        || low != load(AssetRow.Layout.identifier + 8, as: UInt64.self))
  }

  /// Whether ordinary fetches show the asset in its albums: neither hidden, nor in the trash, nor inside a burst, nor
  /// beneath the top of a stack.
  package var isVisible: Bool { isVisibleInSelections && !isBeneathStack }

  /// The same for a client that is limited to its selection, which sees no stacks.
  package var isVisibleInSelections: Bool { !isTrashed && !flags.contains(.hidden) && standsOutOfBurst }

  /// Whether the asset is not in a burst, represents its burst, or was picked by the user (FR-07).
  package var standsOutOfBurst: Bool {
    !isOfBurst || flags.contains(.representsBurst) || burstSelection.contains(.userPick)
  }
}
