#if Gallery
  import Foundation
  import LibraryJSON
  import PhotoLedger

  /// Assets as columns: one list for each property that a grid needs, with a value for each asset.
  ///
  /// A page asks for hundreds of assets at once while it scrolls, so the text is written straight into bytes, and the
  /// resources of all of them are read in one transaction.
  enum Columns {
    /// The columns as a value that is written already.
    static func json(_ assets: [Asset], _ renditions: RenditionColumns) throws -> JSON {
      var bytes = JSONBytes(capacity: 1 << 10 + assets.count * 320)
      try write(assets, renditions, to: &bytes)
      return .written(bytes.text())
    }

    /// Writes the columns as an object.
    /// - Returns: where those begin that say which renditions there are; what stands before them is the state's alone.
    @discardableResult
    static func write(_ assets: [Asset], _ renditions: RenditionColumns, to bytes: inout JSONBytes) throws -> Int {
      let shown = try renditions.shown(assets)
      let cells = assets.map(Cell.init)
      func column(_ name: StaticString, _ value: (inout JSONBytes, Cell) -> Void) {
        bytes.key(name)
        bytes.beginList()
        for cell in cells { value(&bytes, cell) }
        bytes.endList()
      }
      bytes.beginObject()
      column("localIdentifier") { $0.identifier($1.id, of: .asset) }
      column("mediaType") { $0.integer(Int64($1.mediaType)) }
      column("mediaSubtypes") { $0.integer(Int64($1.mediaSubtypes)) }
      column("pixelWidth") { $0.integer(Int64($1.pixelWidth)) }
      column("pixelHeight") { $0.integer(Int64($1.pixelHeight)) }
      column("duration") { $0.number($1.duration) }
      column("creationDate") { bytes, cell in
        guard let date = cell.creationDate else { return bytes.null() }
        bytes.date(date)
      }
      column("timeZoneOffset") { bytes, cell in
        if let offset = cell.timeZoneOffset { bytes.integer(Int64(offset)) } else { bytes.null() }
      }
      column("isFavorite") { $0.bool($1.isFavorite) }
      column("isHidden") { $0.bool($1.isHidden) }
      // The number of members is not a column: a change to another member leaves the top's row, and so feeds, alone.
      column("isStackTop") { $0.bool($1.isStackTop) }
      let start = write(shown, to: &bytes)
      bytes.endObject()
      return start
    }

    /// What the columns show of an asset, without anything that has to be retained when a loop copies it.
    private struct Cell {
      let id: LocalIdentifier
      let mediaType: Int
      let mediaSubtypes: UInt32
      let pixelWidth: Int
      let pixelHeight: Int
      let duration: TimeInterval
      let creationDate: Date?
      let timeZoneOffset: Int?
      let isFavorite: Bool
      let isHidden: Bool
      let isStackTop: Bool

      init(_ asset: Asset) {
        (id, mediaType, mediaSubtypes) = (asset.id, asset.mediaType.rawValue, asset.mediaSubtypes.rawValue)
        (pixelWidth, pixelHeight, duration) = (asset.pixelWidth, asset.pixelHeight, asset.duration)
        (creationDate, timeZoneOffset) = (asset.creationDate, asset.timeZoneOffset)
        (isFavorite, isHidden, isStackTop) = (asset.isFavorite, asset.isHidden, asset.stack == asset.id)
      }
    }

    /// Writes `sha256`, `rendition` and `placeholder`; null where an asset shows nothing.
    /// - Returns: where `rendition` begins.
    private static func write(_ shown: [RenditionColumns.Shown?], to bytes: inout JSONBytes) -> Int {
      func column(_ name: StaticString, _ value: (inout JSONBytes, RenditionColumns.Shown) -> Void) {
        bytes.key(name)
        bytes.beginList()
        for one in shown {
          if let one { value(&bytes, one) } else { bytes.null() }
        }
        bytes.endList()
      }
      column("sha256") { bytes, one in one.sha256.withUnsafeBytes { bytes.hexadecimalText($0) } }
      let start = bytes.count
      column("rendition") { $0.text($1.record.state.name) }
      column("placeholder") { bytes, one in
        if one.record.placeholder.isEmpty { return bytes.null() }
        bytes.text(Data(one.record.placeholder).base64EncodedString())
      }
      return start
    }
  }
#endif
