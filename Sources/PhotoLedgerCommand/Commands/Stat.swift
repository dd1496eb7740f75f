import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import MediaImport
import PhotoLedger

extension Command {
  static let stat = Command(
    words: ["stat"], summary: "print the library's counts, and the state of its store", options: .looking + [.json],
    example: "stat"
  ) { invocation in
    try invocation.withLibrary { library in
      let statistics = try library.statistics()
      if invocation.printsJSON {
        try invocation.output.line(
          JSON(statistics, and: [.init("sandbox", .text(SandboxLayer.active.rawValue))]))
      } else {
        try invocation.output.write(text(statistics, library, invocation.output.terminal))
      }
      return .done
    }
  }
}

private func text(_ statistics: LibraryStatistics, _ library: PhotoLibrary, _ terminal: Terminal) -> String {
  var facts = Facts(terminal: terminal)
  facts.add("library", library.url.path)
  for (type, name) in [(MediaType.image, "images"), (.video, "videos"), (.audio, "sound recordings")] {
    facts.add(name, TextLayout.grouped(statistics.assetCounts[type] ?? 0))
  }
  facts.add("favourites", TextLayout.grouped(statistics.favoriteCount))
  facts.add("hidden", TextLayout.grouped(statistics.hiddenCount))
  facts.add("in the trash", TextLayout.grouped(statistics.trashedCount))
  facts.add("albums", TextLayout.grouped(statistics.albumCount))
  facts.add("smart albums", TextLayout.grouped(statistics.smartAlbumCount))
  facts.add("folders", TextLayout.grouped(statistics.folderCount))
  facts.add(
    "resources", "\(TextLayout.grouped(statistics.resourceCount)), \(TextLayout.bytes(statistics.resourceBytes))")
  let events = TextLayout.counted(Int(statistics.eventCount), "event")
  facts.add("history", "\(events) in \(TextLayout.counted(Int(statistics.commitCount), "commit"))")
  if statistics.quarantinedCount > 0 {
    facts.add("quarantined", TextLayout.counted(statistics.quarantinedCount, "event"))
  }
  facts.add("token", statistics.token.description)
  facts.add("chain", statistics.chain)
  facts.add("durability", statistics.durability)
  let used = TextLayout.bytes(UInt64(statistics.storeBytes))
  let free = TextLayout.bytes(UInt64(statistics.storeFreeBytes))
  let map = TextLayout.bytes(UInt64(statistics.mapBytes))
  facts.add("store", "\(used) used, \(free) to reuse, of a map of \(map)")
  facts.add(
    "readers", "\(statistics.readerCount), the oldest \(statistics.oldestReaderLag) transactions behind")
  facts.add("sandbox", SandboxLayer.active.explanation)
  return facts.text
}
