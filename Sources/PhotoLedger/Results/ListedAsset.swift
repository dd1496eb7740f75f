import CSystem
import EventLog
package import Foundation
import LMDB

// What a list of many assets shows of each: properties, and the hash of the file that it shows.
//
// A server spells hundreds of them for each window of a grid. As assets with a list of hashes beside, half of the time
// of a window went into copying rows and into a block of memory for each hash. So a listed asset holds nothing that is
// retained, and at the end of the log it is made where the row and the details lie, in one transaction.
//
// Invariant: a range of a result is listed as its objects and `shownContents(of:)` of them would say.

/// What a list shows of an asset.
package struct ListedAsset: Equatable, Sendable {
  package let id: LocalIdentifier
  /// The value of a ``MediaType``.
  package let mediaType: Int
  /// The value of ``MediaSubtypes``.
  package let mediaSubtypes: UInt32
  package let pixelWidth: Int
  package let pixelHeight: Int
  package let duration: TimeInterval
  package let creationDate: Date?
  package let timeZoneOffset: Int?
  /// Whether the date is that of a clock on the wall, and not an instant alone.
  package let hasClock: Bool
  package let isFavorite: Bool
  package let isHidden: Bool
  /// Whether it is on top of a stack.
  package let isStackTop: Bool
  fileprivate var content: SHA256Digest?
  /// Whether the client of the view sees the asset in the current state, too; if not, it is not to learn what becomes
  /// of the file now.
  package fileprivate(set) var isVisibleNow = true

  fileprivate init(_ row: some AssetBytes) {
    typealias Layout = AssetRow.Layout
    (id, mediaType) = (row.identifier, Int(row.byte(Layout.mediaType)))
    mediaSubtypes = row.word(Layout.mediaSubtypes)
    (pixelWidth, pixelHeight) = (Int(row.word(Layout.pixelWidth)), Int(row.word(Layout.pixelHeight)))
    duration = row.seconds(Layout.duration)
    let created = row.seconds(Layout.creationDate)
    creationDate = created.isNaN ? nil : Date(timeIntervalSinceReferenceDate: created)
    let offset = row.load(Layout.timeZoneOffset, as: Int32.self)
    timeZoneOffset = offset == Layout.noOffset ? nil : Int(offset)
    hasClock = !row.seconds(Layout.localCreationDate).isNaN
    (isFavorite, isHidden) = (row.flags.contains(.favorite), row.flags.contains(.hidden))
    isStackTop = row.stackTop == row.identifier
  }

  /// Whether it shows a file.
  package var showsContent: Bool { content != nil }

  /// Lends the 32 bytes of the SHA-256 of the file that it shows; nil if it shows none.
  package func withSHA256<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? { content.map { $0.withUnsafeBytes(body) } }
}

extension PhotoLibrary {
  /// What a list shows of the assets at a range of a result, as of the commit of the result.
  /// - Complexity: as `FetchResult.objects(at:)` and ``shownContents(of:)``.
  package func listed(_ range: Range<Int>, of result: FetchResult<Asset>) throws -> [ListedAsset] {
    try listedNow(range, of: result) ?? listed(try result.objects(at: range))
  }

  /// What a list shows of assets, as of the commit of each.
  package func listed(_ assets: [Asset]) throws -> [ListedAsset] {
    let contents = try shownContents(of: assets)
    // Afterwards: what was visible at the end of the log may have been withdrawn meanwhile.
    let visible = try areVisibleNow(assets)
    return assets.indices.map { index in
      var listed = ListedAsset(assets[index].row)
      listed.content = contents[index].map { SHA256Digest($0.span.bytes) }
      listed.isVisibleNow = visible[index]
      return listed
    }
  }

  /// The same where the result is of the end of the log, and the client has full access; nil elsewhere.
  private func listedNow(_ range: Range<Int>, of result: FetchResult<Asset>) throws -> [ListedAsset]? {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= result.count,
      "Positions \(range) are past the end of a fetch result of \(result.count) objects.")
    let (numbers, frame) = try result.state.look(at: range, in: store)
    guard frame.plan.query.access == .full else { return nil }
    return try store.reading { t in
      let projections = store.core.projections
      guard try store.core.log.head(t).sequence == frame.sequence, try permission(t).access == .full else { return nil }
      if numbers.count > 256 { t.readAround() }
      var found: [ListedAsset] = []
      found.reserveCapacity(numbers.count)
      var contents: [ResourceContent] = []
      // Neighbours of a list often lie side by side in the store as well, or on one page: a cursor that stands at one
      // finds the other without going down the tree again.
      var rows = try t.cursor(in: projections.assets)
      var details = try t.cursor(in: projections.details)
      var last: FoundAsset?
      for number in numbers {
        var next = FoundAsset(number: number)
        if let entry = try details.seek(near: number) { next.details = entry.value.withUnsafeBytes { $0 } }
        guard let entry = try rows.seek(near: number) else { throw store.vanished(number) }
        next.row = entry.value.withUnsafeBytes { $0 }
        next.fetchAhead()
        if let last { found.append(try last.listed(&contents)) }
        last = next
      }
      if let last { found.append(try last.listed(&contents)) }
      return found
    }
  }
}

/// The bytes of an asset, which lie in pages that are not written during the transaction.
///
/// Of a million assets they are in no cache, and reading them at once would wait for each of their lines. So the
/// processor is asked for them, and they are read when those of the next asset are found.
private struct FoundAsset {
  let number: ObjectNumber
  var details: UnsafeRawBufferPointer?
  var row = UnsafeRawBufferPointer(start: nil, count: 0)

  /// Asks the processor for the bytes; what is far from the first of them is seldom read.
  func fetchAhead() {
    if let details { Self.fetchAhead(details) }
    Self.fetchAhead(row)
  }

  @inline(__always)
  private static func fetchAhead(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    // The heads of the entries beside it, which the next asset may be.
    psys_fetch_ahead(start - bytes.count - 2 * MemoryLayout<UInt64>.size)
    psys_fetch_ahead(start + bytes.count)
    let end = start + min(bytes.count, 256) - 1
    for place in stride(from: start, to: end, by: 64) { psys_fetch_ahead(place) }
    psys_fetch_ahead(end)
  }

  /// - Parameter contents: room for those of an asset.
  func listed(_ contents: inout [ResourceContent]) throws -> ListedAsset {
    contents.removeAll(keepingCapacity: true)
    if let details { try AssetDetails.readContents(RawSpan(_unsafeBytes: details), into: &contents) }
    let view = try AssetView(number: number, bytes: row)
    var listed = ListedAsset(view)
    listed.content = contents.shown(view)?.sha256
    return listed
  }
}
