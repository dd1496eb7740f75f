import Foundation

// The bytes of a row, at the places that the table in AssetRow.swift gives. Whatever does not fit them is `.corrupted`.

extension AssetRow {
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
    package static let size = 144
    /// What stands for "the camera wrote no offset".
    package static let noOffset = Int32.min
  }

  /// Reads the row of an asset.
  /// - Throws: ``LibraryError`` `.corrupted` if the bytes make no row.
  package init(number: ObjectNumber, bytes: RawSpan) throws {
    guard bytes.byteCount >= Layout.size,
      let mediaType = MediaType(rawValue: Int(bytes.byte(Layout.mediaType))),
      let playbackStyle = PlaybackStyle(rawValue: Int(bytes.byte(Layout.playbackStyle))),
      let rating = AssetRating(rawValue: Int(bytes.byte(Layout.rating))),
      let adjustmentsState = AdjustmentsState(rawValue: Int(bytes.byte(Layout.adjustmentsState))),
      let playbackVariation = PlaybackVariation(rawValue: Int(bytes.byte(Layout.playbackVariation))),
      let choice = OriginalResourceChoice(rawValue: Int(bytes.byte(Layout.originalResourceChoice))),
      let added = bytes.date(Layout.addedDate)
    else {
      throw LibraryError(.corrupted, "The row of asset \(number) makes no sense; run `verify`, then `rebuild`.")
    }
    self.init(
      number: number,
      identifier: LocalIdentifier(
        high: bytes.number(at: Layout.identifier), low: bytes.number(at: Layout.identifier + 8)),
      addedDate: added)
    self.mediaType = mediaType
    self.playbackStyle = playbackStyle
    flags = Flags(rawValue: bytes.word(Layout.flags))
    sourceType = SourceTypes(rawValue: bytes.byte(Layout.sourceType))
    burstSelection = BurstSelectionTypes(rawValue: bytes.byte(Layout.burstSelection))
    mediaSubtypes = MediaSubtypes(rawValue: bytes.word(Layout.mediaSubtypes))
    pixelWidth = bytes.word(Layout.pixelWidth)
    pixelHeight = bytes.word(Layout.pixelHeight)
    let offset = Int32(bitPattern: bytes.word(Layout.timeZoneOffset))
    timeZoneOffset = offset == Layout.noOffset ? nil : offset
    creationDate = bytes.date(Layout.creationDate)
    localCreationDate = bytes.date(Layout.localCreationDate)
    modificationDate = bytes.date(Layout.modificationDate)
    trashedDate = bytes.date(Layout.trashedDate)
    if let latitude = bytes.double(Layout.latitude), let longitude = bytes.double(Layout.longitude) {
      location = Location(latitude: latitude, longitude: longitude, altitude: bytes.double(Layout.altitude))
    }
    duration = bytes.double(Layout.duration) ?? 0
    self.rating = rating
    self.adjustmentsState = adjustmentsState
    self.playbackVariation = playbackVariation
    originalResourceChoice = choice
    adjustmentDate = bytes.date(Layout.adjustmentDate)
    if bytes.byteCount > Layout.size {
      burstIdentifier = bytes.withUnsafeBytes { String(decoding: $0[Layout.size...], as: UTF8.self) }
    }
  }

  /// How many bytes the row takes.
  package var byteCount: Int { Layout.size + (burstIdentifier?.utf8.count ?? 0) }

  /// Writes the row into zeroed bytes of ``byteCount`` length.
  package func write(into bytes: inout MutableRawSpan) {
    bytes.store(identifier.high.bigEndian, Layout.identifier)
    bytes.store(identifier.low.bigEndian, Layout.identifier + 8)
    bytes.store(flags.rawValue, Layout.flags)
    bytes.store(UInt8(mediaType.rawValue), Layout.mediaType)
    bytes.store(UInt8(playbackStyle.rawValue), Layout.playbackStyle)
    bytes.store(sourceType.rawValue, Layout.sourceType)
    bytes.store(burstSelection.rawValue, Layout.burstSelection)
    bytes.store(mediaSubtypes.rawValue, Layout.mediaSubtypes)
    bytes.store(pixelWidth, Layout.pixelWidth)
    bytes.store(pixelHeight, Layout.pixelHeight)
    bytes.store(timeZoneOffset ?? Layout.noOffset, Layout.timeZoneOffset)
    bytes.store(creationDate, Layout.creationDate)
    bytes.store(localCreationDate, Layout.localCreationDate)
    bytes.store(addedDate, Layout.addedDate)
    bytes.store(modificationDate, Layout.modificationDate)
    bytes.store(trashedDate, Layout.trashedDate)
    bytes.store(location?.latitude ?? .nan, Layout.latitude)
    bytes.store(location?.longitude ?? .nan, Layout.longitude)
    bytes.store(location?.altitude ?? .nan, Layout.altitude)
    bytes.store(duration, Layout.duration)
    bytes.store(UInt8(rating.rawValue), Layout.rating)
    bytes.store(UInt8(adjustmentsState.rawValue), Layout.adjustmentsState)
    bytes.store(UInt8(playbackVariation.rawValue), Layout.playbackVariation)
    bytes.store(UInt8(originalResourceChoice.rawValue), Layout.originalResourceChoice)
    bytes.store(adjustmentDate, Layout.adjustmentDate)
    for (index, byte) in (burstIdentifier ?? "").utf8.enumerated() { bytes.store(byte, Layout.size + index) }
  }
}

extension RawSpan {
  fileprivate func byte(_ offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  fileprivate func word(_ offset: Int) -> UInt32 { unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self) }

  fileprivate func double(_ offset: Int) -> Double? {
    let value = Double(bitPattern: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    return value.isNaN ? nil : value
  }

  fileprivate func date(_ offset: Int) -> Date? { double(offset).map(Date.init(timeIntervalSinceReferenceDate:)) }
}

extension MutableRawSpan {
  fileprivate mutating func store<Value: BitwiseCopyable>(_ value: Value, _ offset: Int) {
    storeBytes(of: value, toByteOffset: offset, as: Value.self)
  }

  fileprivate mutating func store(_ date: Date?, _ offset: Int) {
    store(date?.timeIntervalSinceReferenceDate ?? .nan, offset)
  }
}
