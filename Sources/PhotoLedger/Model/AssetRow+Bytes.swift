package import Foundation

// The bytes of a row, at the places that the table in AssetRow.swift gives, and the properties that lie there. Bytes of
// a store that do not make a row are `.corrupted`.

extension AssetRow {
  /// The bytes at fixed places; words, so that they lie where a word may be read.
  package typealias FixedBytes = InlineArray<18, UInt64>

  /// The places of the fields.
  package enum Layout {
    package static let identifier = 0
    package static let flags = 16
    package static let mediaType = 20
    package static let playbackStyle = 21
    package static let sourceType = 22
    package static let burstSelection = 23
    package static let mediaSubtypes = 24
    package static let pixelWidth = 28
    package static let pixelHeight = 32
    package static let timeZoneOffset = 36
    package static let adjustmentDate = 40
    package static let creationDate = 48
    package static let localCreationDate = 56
    package static let addedDate = 64
    package static let modificationDate = 72
    package static let trashedDate = 80
    package static let latitude = 88
    package static let longitude = 96
    package static let altitude = 104
    package static let duration = 112
    package static let rating = 120
    package static let adjustmentsState = 121
    package static let playbackVariation = 122
    package static let originalResourceChoice = 123
    package static let stack = 128
    package static let size = 144
    /// The encoding of "the camera recorded no offset".
    package static let noOffset = Int32.min
  }

  /// A row without anything.
  package static let blank: FixedBytes = {
    var row = AssetRow(number: 0, fixed: FixedBytes(repeating: 0))
    row.sourceType = .userLibrary
    row.timeZoneOffset = nil
    for date in [
      Layout.adjustmentDate, Layout.creationDate, Layout.localCreationDate, Layout.addedDate, Layout.modificationDate,
      Layout.trashedDate,
    ] {
      row.store(Double.nan, date)
    }
    row.location = nil
    return row.fixed
  }()

  private init(number: ObjectNumber, fixed: FixedBytes) {
    self.number = number
    self.fixed = fixed
  }

  /// Reads the row of an asset.
  /// - Throws: ``LibraryError`` `.corrupted` if the bytes make no row.
  package init(number: ObjectNumber, bytes: RawSpan) throws {
    guard bytes.byteCount >= Layout.size else { throw Self.corruption(number) }
    // One copy; a store's bytes need not lie where a word may be read.
    self.init(number: number, fixed: bytes.unsafeLoadUnaligned(as: FixedBytes.self))
    guard Self.knownValues.areAll(in: self) else { throw Self.corruption(number) }
    if bytes.byteCount > Layout.size {
      burstIdentifier = bytes.withUnsafeBytes { String(decoding: $0[Layout.size...], as: UTF8.self) }
    }
  }

  static let knownValues = KnownValues()

  static func corruption(_ number: ObjectNumber) -> LibraryError {
    LibraryError(.corrupted, "The row of asset \(number) is invalid; run `verify`, then `rebuild`.")
  }

  /// How many bytes the row takes.
  package var byteCount: Int { Layout.size + (burstIdentifier?.utf8.count ?? 0) }

  /// Writes the row into bytes of ``byteCount`` length.
  package func write(into bytes: inout MutableRawSpan) {
    bytes.storeBytes(of: fixed, toByteOffset: 0, as: FixedBytes.self)
    for (index, byte) in (burstIdentifier ?? "").utf8.enumerated() {
      bytes.storeBytes(of: byte, toByteOffset: Layout.size + index, as: UInt8.self)
    }
  }

  /// Whether all bytes at fixed places are the same.
  func hasSameBytes(as other: AssetRow) -> Bool {
    fixed.indices.allSatisfy { fixed[$0] == other.fixed[$0] }
  }

  // MARK: Reading and writing places

  @inline(__always)
  package func load<Value: BitwiseCopyable>(_ offset: Int, as type: Value.Type) -> Value {
    fixed.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type)
  }

  @inline(__always)
  mutating func store<Value: BitwiseCopyable>(_ value: Value, _ offset: Int) {
    var span = fixed.mutableSpan
    var bytes = span.mutableBytes
    bytes.storeBytes(of: value, toByteOffset: offset, as: Value.self)
  }

  private func double(_ offset: Int) -> Double? {
    let value = seconds(offset)
    return value.isNaN ? nil : value
  }

  /// The date at a place; nil if there is none.
  package func date(_ offset: Int) -> Date? { double(offset).map(Date.init(timeIntervalSinceReferenceDate:)) }

  private mutating func store(_ date: Date?, at offset: Int) {
    store(date?.timeIntervalSinceReferenceDate ?? .nan, offset)
  }

  /// The value of an enumeration at a place, which was checked when it came there.
  private func known<Value: RawRepresentable>(_ offset: Int) -> Value where Value.RawValue == Int {
    guard let value = Value(rawValue: Int(byte(offset))) else {
      preconditionFailure("The row of asset \(number) holds an unknown \(Value.self).")
    }
    return value
  }
}

// MARK: - The properties at fixed places

extension AssetRow {
  package var identifier: LocalIdentifier {
    get { LocalIdentifier(high: UInt64(bigEndian: fixed[0]), low: UInt64(bigEndian: fixed[1])) }
    set {
      fixed[0] = newValue.high.bigEndian
      fixed[1] = newValue.low.bigEndian
    }
  }

  package var flags: Flags {
    get { Flags(rawValue: word(Layout.flags)) }
    set { store(newValue.rawValue, Layout.flags) }
  }

  package var mediaType: MediaType {
    get { known(Layout.mediaType) }
    set { store(UInt8(newValue.rawValue), Layout.mediaType) }
  }

  package var playbackStyle: PlaybackStyle {
    get { known(Layout.playbackStyle) }
    set { store(UInt8(newValue.rawValue), Layout.playbackStyle) }
  }

  package var sourceType: SourceTypes {
    get { SourceTypes(rawValue: byte(Layout.sourceType)) }
    set { store(newValue.rawValue, Layout.sourceType) }
  }

  package var burstSelection: BurstSelectionTypes {
    get { BurstSelectionTypes(rawValue: byte(Layout.burstSelection)) }
    set { store(newValue.rawValue, Layout.burstSelection) }
  }

  package var mediaSubtypes: MediaSubtypes {
    get { MediaSubtypes(rawValue: word(Layout.mediaSubtypes)) }
    set { store(newValue.rawValue, Layout.mediaSubtypes) }
  }

  package var pixelWidth: UInt32 {
    get { word(Layout.pixelWidth) }
    set { store(newValue, Layout.pixelWidth) }
  }

  package var pixelHeight: UInt32 {
    get { word(Layout.pixelHeight) }
    set { store(newValue, Layout.pixelHeight) }
  }

  package var timeZoneOffset: Int32? {
    get {
      let offset = load(Layout.timeZoneOffset, as: Int32.self)
      return offset == Layout.noOffset ? nil : offset
    }
    set { store(newValue ?? Layout.noOffset, Layout.timeZoneOffset) }
  }

  package var creationDate: Date? {
    get { date(Layout.creationDate) }
    set { store(newValue, at: Layout.creationDate) }
  }

  package var localCreationDate: Date? {
    get { date(Layout.localCreationDate) }
    set { store(newValue, at: Layout.localCreationDate) }
  }

  package var addedDate: Date {
    get { Date(timeIntervalSinceReferenceDate: seconds(Layout.addedDate)) }
    set { store(newValue, at: Layout.addedDate) }
  }

  package var modificationDate: Date? {
    get { date(Layout.modificationDate) }
    set { store(newValue, at: Layout.modificationDate) }
  }

  package var trashedDate: Date? {
    get { date(Layout.trashedDate) }
    set { store(newValue, at: Layout.trashedDate) }
  }

  package var location: Location? {
    get {
      guard let latitude = double(Layout.latitude), let longitude = double(Layout.longitude) else { return nil }
      return Location(latitude: latitude, longitude: longitude, altitude: double(Layout.altitude))
    }
    set {
      store(newValue?.latitude ?? .nan, Layout.latitude)
      store(newValue?.longitude ?? .nan, Layout.longitude)
      store(newValue?.altitude ?? .nan, Layout.altitude)
    }
  }

  package var duration: Double {
    get { seconds(Layout.duration) }
    set { store(newValue, Layout.duration) }
  }

  package var rating: AssetRating {
    get { known(Layout.rating) }
    set { store(UInt8(newValue.rawValue), Layout.rating) }
  }

  package var adjustmentsState: AdjustmentsState {
    get { known(Layout.adjustmentsState) }
    set { store(UInt8(newValue.rawValue), Layout.adjustmentsState) }
  }

  package var playbackVariation: PlaybackVariation {
    get { known(Layout.playbackVariation) }
    set { store(UInt8(newValue.rawValue), Layout.playbackVariation) }
  }

  package var originalResourceChoice: OriginalResourceChoice {
    get { known(Layout.originalResourceChoice) }
    set { store(UInt8(newValue.rawValue), Layout.originalResourceChoice) }
  }

  /// The top of the asset's stack; nil in no stack.
  package var stack: LocalIdentifier? {
    get { stackTop }
    set {
      store((newValue?.high ?? 0).bigEndian, Layout.stack)
      store((newValue?.low ?? 0).bigEndian, Layout.stack + 8)
    }
  }

  package var adjustmentDate: Date? {
    get { date(Layout.adjustmentDate) }
    set { store(newValue, at: Layout.adjustmentDate) }
  }
}
