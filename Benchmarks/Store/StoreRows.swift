/// The rows of the store, all of one size measured in the same invented library.
enum StoreRows {
  private static let names: [String] = [
    Creation.names, ["S10 creation, one commit of 1000 assets"], ColdStart.names, FirstScreens.names,
    Streams.names, RebuildCosts.names, Fetching.rebuildNames,
    Fetching.questions.flatMap(Fetching.names), Searching.names, Observing.names, CatchingUp.names, LongAlbum.names,
    Memory.names,
    Commits.names, Proofs.names, UglyShapes.names, Auditing.names, Undoing.names, LookingBack.names, BackingUp.names,
    Examining.names, ImportingFiles.names, ImportingTakeout.names, ImportingPhotos.names, Renditions.names,
    Serving.names, Uploading.names, Browsing.names, peerNames,
  ].flatMap { $0 }

  private static var peerNames: [String] {
    #if PeerBenchmarks
      SQLiteLiveQuery.names
    #else
      []
    #endif
  }

  static func measure(size: Int, into report: inout Report) throws {
    guard report.wantsAny(of: names) else { return }
    let stage = try Creation.stage(size, into: &report)
    try Fetching.measure(stage, into: &report)
    try Searching.measure(stage, into: &report)
    try ColdStart.measure(stage, into: &report)
    try FirstScreens.measure(stage, into: &report)
    try Streams.measure(stage, into: &report)
    try RebuildCosts.measure(stage, into: &report)
    try Creation.measure(stage, into: &report)
    try Commits.measure(stage, into: &report)
    try Proofs.measure(stage, into: &report)
    #if PeerBenchmarks
      try SQLiteLiveQuery.measure(stage, into: &report)
    #endif
    try Observing.measure(stage, into: &report)
    try CatchingUp.measure(stage, into: &report)
    try LongAlbum.measure(stage, into: &report)
    try Memory.measure(stage, into: &report)
    try UglyShapes.measure(stage, into: &report)
    try Auditing.measure(stage, into: &report)
    try Undoing.measure(stage, into: &report)
    try LookingBack.measure(stage, into: &report)
    try BackingUp.measure(stage, into: &report)
    try Examining.measure(stage, into: &report)
    try ImportingFiles.measure(stage, into: &report)
    try ImportingTakeout.measure(stage, into: &report)
    try ImportingPhotos.measure(stage, into: &report)
    try Renditions.measure(stage, into: &report)
    try Serving.measure(stage, into: &report)
    try Uploading.measure(stage, into: &report)
    try Browsing.measure(stage, into: &report)
  }
}
