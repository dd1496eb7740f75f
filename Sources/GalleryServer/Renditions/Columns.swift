#if Gallery
  import Foundation
  import JSONReading
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
      bytes.beginObject()
      bytes.columns(of: assets)
      let start = bytes.count
      if let records = renditions.renditions.records(of: assets) {
        write(records, to: &bytes)
      } else {
        writeNoRecords(of: assets, to: &bytes)
      }
      bytes.endObject()
      return start
    }

    /// Writes what `write(_:to:)` writes where nothing was made of anything yet.
    private static func writeNoRecords(of assets: [ListedAsset], to bytes: inout JSONBytes) {
      bytes.column("rendition", of: assets, ifShown: RenditionRecord.State.none.word)
      bytes.column(ofNulls: "placeholder", assets)
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
