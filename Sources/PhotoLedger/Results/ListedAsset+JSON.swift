import EventLog
import Foundation

// A list of assets as columns: one list for each property that a grid needs, with a value for each asset.
//
// A window of a grid has thousands of values of some bytes each, so what is done around a value weighs as much as the
// value. Here the room of a column is reserved at once, and its values are written one after the other without a look
// at what stands before them.

extension JSONBytes {
  /// Writes what a list shows of assets, as members of an object.
  package mutating func columns(of assets: [ListedAsset]) {
    typealias Place = UnsafeMutableRawPointer
    let assetEnd = Self.assetEnd
    column("localIdentifier", assets, width: 45) { (asset: ListedAsset, place: Place) in
      place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      asset.id.spell(at: place + 1)
      // The suffix of an asset, and the quotation mark after it.
      (place + 37).storeBytes(of: assetEnd, as: UInt64.self)
      return 45
    }
    column("mediaType", assets, width: 20) { Self.put(UInt64($0.mediaType), at: $1) }
    column("mediaSubtypes", assets, width: 20) { Self.put(UInt64($0.mediaSubtypes), at: $1) }
    column("pixelWidth", assets, width: 20) { Self.put(UInt64($0.pixelWidth), at: $1) }
    column("pixelHeight", assets, width: 20) { Self.put(UInt64($0.pixelHeight), at: $1) }
    list("duration", assets) { $0.number($1.duration) }
    var dates = DateSpelling()
    column("creationDate", assets, width: DateSpelling.longest + 3) { (asset: ListedAsset, place: Place) in
      guard let date = asset.creationDate else { return Self.putNull(at: place) }
      place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      let end = place + 1 + dates.wallTime(date, at: place + 1)
      end.storeBytes(of: UInt8(ascii: "Z"), as: UInt8.self)
      (end + 1).storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      return end + 2 - place
    }
    list("timeZoneOffset", assets) { bytes, asset in
      if let offset = asset.timeZoneOffset { bytes.integer(Int64(offset)) } else { bytes.null() }
    }
    column("hasClock", assets, width: 5) { Self.put($0.hasClock, at: $1) }
    column("isFavorite", assets, width: 5) { Self.put($0.isFavorite, at: $1) }
    column("isHidden", assets, width: 5) { Self.put($0.isHidden, at: $1) }
    // The number of members is not a column: a change to another member leaves the top's row, and so feeds, alone.
    column("isStackTop", assets, width: 5) { Self.put($0.isStackTop, at: $1) }
    column("sha256", assets, width: 66) { (asset: ListedAsset, place: Place) in
      asset.withSHA256 { digest in
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        HexadecimalDigits.spell(digest, at: place + 1)
        (place + 65).storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        return 66
      } ?? Self.putNull(at: place)
    }
  }

  /// Writes a member with a list of one word, which is not escaped, for each asset that shows a file; null for others.
  package mutating func column(_ name: StaticString, of assets: [ListedAsset], ifShown word: StaticString) {
    let (length, start) = (word.utf8CodeUnitCount, word.utf8Start)
    column(name, assets, width: max(4, length + 2)) { (asset: ListedAsset, place: UnsafeMutableRawPointer) in
      guard asset.showsContent else { return Self.putNull(at: place) }
      place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      (place + 1).copyMemory(from: start, byteCount: length)
      (place + 1 + length).storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      return length + 2
    }
  }

  /// Writes a member with a list of null for each asset.
  package mutating func column(ofNulls name: StaticString, _ assets: [ListedAsset]) {
    column(name, assets, width: 4) { (_: ListedAsset, place: UnsafeMutableRawPointer) in Self.putNull(at: place) }
  }

  /// `/L0/001"` as it stands in memory.
  private static let assetEnd: UInt64 =
    (ObjectKind.asset.suffix + "\"").utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }.littleEndian

  /// Writes a member with a list of a value of each asset.
  /// - Parameters:
  ///   - width: how many bytes a value has at most.
  ///   - write: writes a value to a place, and returns how many bytes it has.
  @inline(__always)
  private mutating func column(
    _ name: StaticString, _ assets: [ListedAsset], width: Int,
    _ write: (ListedAsset, UnsafeMutableRawPointer) -> Int
  ) {
    key(name)
    reserve(assets.count * (width + 1) + 2)
    let first = start + count
    first.storeBytes(of: UInt8(ascii: "["), as: UInt8.self)
    var place = first + 1
    for asset in assets {
      place += write(asset, place)
      place.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
      place += 1
    }
    // The last comma stands where the list ends.
    if !assets.isEmpty { place -= 1 }
    place.storeBytes(of: UInt8(ascii: "]"), as: UInt8.self)
    advance(by: place - first + 1)
  }

  /// Writes a member with a list of a value of each asset, where a value may be long.
  @inline(__always)
  private mutating func list(
    _ name: StaticString, _ assets: [ListedAsset], _ write: (inout JSONBytes, ListedAsset) -> Void
  ) {
    key(name)
    beginList()
    for asset in assets { write(&self, asset) }
    endList()
  }

  @inline(__always)
  private static func put(_ value: Bool, at place: UnsafeMutableRawPointer) -> Int {
    // The first four letters at once; the fifth is written over where there is none.
    place.storeBytes(of: (value ? 0x6575_7274 as UInt32 : 0x736C_6166).littleEndian, as: UInt32.self)
    (place + 4).storeBytes(of: UInt8(ascii: "e"), as: UInt8.self)
    return value ? 4 : 5
  }

  @inline(__always)
  private static func putNull(at place: UnsafeMutableRawPointer) -> Int {
    place.storeBytes(of: (0x6C6C_756E as UInt32).littleEndian, as: UInt32.self)
    return 4
  }

  @inline(__always)
  private static func put(_ value: UInt64, at place: UnsafeMutableRawPointer) -> Int {
    if value < 10 {
      place.storeBytes(of: 0x30 &+ UInt8(truncatingIfNeeded: value), as: UInt8.self)
      return 1
    }
    if 1000...9999 ~= value {
      place.storeBytes(of: pair(UInt8(truncatingIfNeeded: value / 100)), as: UInt16.self)
      (place + 2).storeBytes(of: pair(UInt8(truncatingIfNeeded: value % 100)), as: UInt16.self)
      return 4
    }
    return putLong(value, at: place)
  }

  private static func putLong(_ value: UInt64, at place: UnsafeMutableRawPointer) -> Int {
    var (rest, length) = (value, 1)
    while rest >= 10 { (rest, length) = (rest / 10, length + 1) }
    rest = value
    for offset in (0..<length).reversed() {
      (place + offset).storeBytes(of: 0x30 &+ UInt8(truncatingIfNeeded: rest % 10), as: UInt8.self)
      rest /= 10
    }
    return length
  }
}
