package import JSONReading
package import LibraryMaintenance
import PhotoLedger

extension JSON {
  /// The statistics of a library, and what else is known of how it stands.
  package init(_ statistics: LibraryStatistics, and more: [Member] = []) {
    func number(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }
    let own: [Member] = [
      Member("token", .text(statistics.token.description)),
      Member(
        "assetCounts",
        .object(MediaType.allCases.map { Member("\($0)", number(statistics.assetCounts[$0] ?? 0)) })),
      Member("favoriteCount", number(statistics.favoriteCount)),
      Member("hiddenCount", number(statistics.hiddenCount)),
      Member("trashedCount", number(statistics.trashedCount)),
      Member("albumCount", number(statistics.albumCount)),
      Member("smartAlbumCount", number(statistics.smartAlbumCount)),
      Member("folderCount", number(statistics.folderCount)),
      Member("resourceCount", number(statistics.resourceCount)),
      Member("resourceBytes", number(statistics.resourceBytes)),
      Member("eventCount", number(statistics.eventCount)),
      Member("commitCount", number(statistics.commitCount)),
      Member("quarantinedCount", number(statistics.quarantinedCount)),
      Member("chain", .text(statistics.chain)),
      Member("durability", .text(statistics.durability)),
      Member("storeBytes", number(statistics.storeBytes)),
      Member("storeFreeBytes", number(statistics.storeFreeBytes)),
      Member("mapBytes", number(statistics.mapBytes)),
      Member("readerCount", number(statistics.readerCount)),
      Member("oldestReaderLag", number(statistics.oldestReaderLag)),
    ]
    self = .object(own + more)
  }

  /// The last maintenance times of a library; null if not recorded.
  package init(_ record: MaintenanceRecord) {
    func entry(_ entry: MaintenanceRecord.Entry?) -> JSON {
      guard let entry else { return .null }
      return [
        "date": .text(DateText.instant(entry.date)),
        "eventCount": .integer(Int64(clamping: entry.eventCount)),
        "chain": .text(entry.chain),
      ]
    }
    self = [
      "backup": entry(record.backup), "verification": entry(record.verification),
      "checkpoint": entry(record.checkpoint),
    ]
  }
}
