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
    static func write(_ assets: [Asset], _ renditions: RenditionColumns, to bytes: inout JSONBytes) throws {
      let shown = try renditions.shown(assets)
      func column(_ name: StaticString, _ value: (inout JSONBytes, Asset) -> Void) {
        bytes.key(name)
        bytes.beginList()
        for asset in assets { value(&bytes, asset) }
        bytes.endList()
      }
      bytes.beginObject()
      column("localIdentifier") { $0.identifier($1.id, of: .asset) }
      column("mediaType") { $0.integer(Int64($1.mediaType.rawValue)) }
      column("mediaSubtypes") { $0.integer(Int64($1.mediaSubtypes.rawValue)) }
      column("pixelWidth") { $0.integer(Int64($1.pixelWidth)) }
      column("pixelHeight") { $0.integer(Int64($1.pixelHeight)) }
      column("duration") { $0.number($1.duration) }
      column("creationDate") { bytes, asset in
        guard let date = asset.creationDate else { return bytes.null() }
        bytes.quoted { DateText.write(date, to: &$0) }
      }
      column("timeZoneOffset") { bytes, asset in
        if let offset = asset.timeZoneOffset { bytes.integer(Int64(offset)) } else { bytes.null() }
      }
      column("isFavorite") { $0.bool($1.isFavorite) }
      column("isHidden") { $0.bool($1.isHidden) }
      write(shown, to: &bytes)
      bytes.endObject()
    }

    /// Writes `sha256`, `rendition` and `placeholder`; null where an asset shows nothing.
    private static func write(_ shown: [RenditionColumns.Shown?], to bytes: inout JSONBytes) {
      func column(_ name: StaticString, _ value: (inout JSONBytes, RenditionColumns.Shown) -> Void) {
        bytes.key(name)
        bytes.beginList()
        for one in shown {
          if let one { value(&bytes, one) } else { bytes.null() }
        }
        bytes.endList()
      }
      column("sha256") { bytes, one in one.sha256.withUnsafeBytes { bytes.hexadecimalText($0) } }
      column("rendition") { $0.text($1.record.state.name) }
      column("placeholder") { bytes, one in
        if one.record.placeholder.isEmpty { return bytes.null() }
        bytes.text(Data(one.record.placeholder).base64EncodedString())
      }
    }
  }
#endif
