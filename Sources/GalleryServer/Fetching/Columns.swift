#if Gallery
  import Foundation
  import LibraryJSON
  import PhotoLedger

  /// Assets as columns: one list for each property that a grid needs, with a value for each asset.
  ///
  /// A page asks for hundreds of assets at once while it scrolls, so the text is written straight into bytes, and rows
  /// and hashes are read in one transaction, where they lie.
  enum Columns {
    /// The columns as a value that is written already.
    static func json(_ assets: [Asset], _ renditions: RenditionColumns) throws -> JSON {
      var bytes = JSONBytes(capacity: 1 << 10 + assets.count * 320)
      try write(try renditions.library.listed(assets), renditions, to: &bytes)
      return .written(bytes.text())
    }

    /// Writes the columns as an object.
    /// - Returns: where those begin that say which renditions there are; what stands before them is the state's alone.
    @discardableResult
    static func write(
      _ assets: [ListedAsset], _ renditions: RenditionColumns, to bytes: inout JSONBytes
    ) throws -> Int {
      func column(_ name: StaticString, _ value: (inout JSONBytes, ListedAsset) -> Void) {
        bytes.key(name)
        bytes.beginList()
        for asset in assets { value(&bytes, asset) }
        bytes.endList()
      }
      bytes.beginObject()
      column("localIdentifier") { $0.identifier($1.id, of: .asset) }
      column("mediaType") { $0.integer(Int64($1.mediaType)) }
      column("mediaSubtypes") { $0.integer(Int64($1.mediaSubtypes)) }
      column("pixelWidth") { $0.integer(Int64($1.pixelWidth)) }
      column("pixelHeight") { $0.integer(Int64($1.pixelHeight)) }
      column("duration") { $0.number($1.duration) }
      column("creationDate") { bytes, asset in
        guard let date = asset.creationDate else { return bytes.null() }
        bytes.date(date)
      }
      column("timeZoneOffset") { bytes, asset in
        if let offset = asset.timeZoneOffset { bytes.integer(Int64(offset)) } else { bytes.null() }
      }
      column("isFavorite") { $0.bool($1.isFavorite) }
      column("isHidden") { $0.bool($1.isHidden) }
      // The number of members is not a column: a change to another member leaves the top's row, and so feeds, alone.
      column("isStackTop") { $0.bool($1.isStackTop) }
      column("sha256") { bytes, asset in
        let isShown: Void? = asset.withSHA256 { bytes.hexadecimalText($0) }
        if isShown == nil { bytes.null() }
      }
      let start = bytes.count
      write(renditions.renditions.records(of: assets), to: &bytes)
      bytes.endObject()
      return start
    }

    /// Writes `rendition` and `placeholder`; null where an asset shows nothing.
    private static func write(_ records: [RenditionRecord?], to bytes: inout JSONBytes) {
      func column(_ name: StaticString, _ value: (inout JSONBytes, RenditionRecord) -> Void) {
        bytes.key(name)
        bytes.beginList()
        for record in records {
          if let record { value(&bytes, record) } else { bytes.null() }
        }
        bytes.endList()
      }
      column("rendition") { bytes, record in bytes.quoted { $0.raw(record.state.word) } }
      column("placeholder") { bytes, record in
        if record.placeholder.isEmpty { return bytes.null() }
        bytes.quoted { bytes in record.placeholder.withUnsafeBytes { bytes.base64($0) } }
      }
    }
  }
#endif
