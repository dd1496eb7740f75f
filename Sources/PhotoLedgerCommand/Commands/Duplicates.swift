import JSONReading
import LibraryJSON
import MediaImport
import PhotoLedger

// Photos that are one picture twice: found, shown, and merged by a person.

extension Command {
  private static let distance = Option(
    "distance", "N",
    "how different pictures may be, 0 to \(DuplicateSearch.distances.upperBound); default "
      + "\(DuplicateSearch.usualDistance)")

  static let duplicates = Command(
    words: ["duplicates"], summary: "list photos that show the same picture, with the one to keep",
    options: .opening + FetchArguments.choosing.filter { $0.name != "trash" } + [
      distance, Option("jobs", "N", "pictures read at the same time in batches; default one for each processor"), .json,
    ],
    notes: """
      Finds copies that were re-encoded, resized or stripped of metadata. Each group has one photo to keep and others
      that are within the distance of it; nothing is changed. The photo to keep is the one with more pixels, then with
      a RAW original, with edits, with a paired video, with the larger file, then the one added first.

      Photos that differ in aspect ratio or colours, and members of one burst, are never duplicates of each other; plain
      pictures are not compared. Fingerprints of the pictures are kept beside the library, so that a second search is
      fast and one that was stopped continues. vipsthumbnail (libvips-tools) must be installed.
      """,
    example: "duplicates --where 'creationDate >= \"2024-01-01T00:00:00Z\"' --distance 2"
  ) { invocation in
    let wanted = try invocation.count(distance.name) ?? DuplicateSearch.usualDistance
    guard DuplicateSearch.distances.contains(wanted) else {
      throw UsageError("--distance needs a number from 0 to \(DuplicateSearch.distances.upperBound); got \(wanted).")
    }
    let jobs = try invocation.count("jobs")
    if let jobs, !(1...256).contains(jobs) { throw UsageError("--jobs needs a number from 1 to 256; got \(jobs).") }
    _ = try FetchArguments.read(invocation)
    let interruption = Interruption()
    return try invocation.withLibrary(interruption: interruption) { library in
      let search = try DuplicateSearch(of: library, within: wanted, threadCount: jobs)
      let assets = try FetchArguments.fetch(invocation, from: library, widened: { _ in })
      let isWhole = library.client == PhotoLibrary.owner && !FetchArguments.choosing.contains { invocation.has($0) }
      let bar = SharedProgressBar()
      defer { bar.clear() }
      let summary = try waiting(interruption) {
        try await search.run(assets, isWhole: isWhole) { done, total in
          bar.show("reading pictures", done: done, total: total)
        }
      }
      bar.clear()
      let status = try invocation.output.finish(with: summary.wasInterrupted ? .failed : .done) {
        try DuplicatePrinting(invocation: invocation, library: library).print(summary)
      }
      if summary.wasInterrupted { Output.notice("Stopped; run it again to continue.") }
      return status
    }
  }
}

extension Commands {
  private static let withdraw = Option("withdraw", "withdraw the decision")

  static let merging: [Command] = [
    Command(
      words: ["duplicates", "reject"], summary: "decide that photos are not duplicates of each other",
      operands: [
        Operand("KEEPER", "the identifier of an asset"), Operand("OTHER", .several, "identifiers of others"),
      ],
      options: .changing + [withdraw],
      notes: """
        No two of the photos are proposed together again; one decision covers at most
        \(DuplicateDecisions.assetLimit) photos. It applies to the pictures as they are: an edited photo is a different
        picture, which can be proposed again. The decision is kept beside the log, in
        `decisions/` of the library's directory, so that `undo` does not revert it; --withdraw does.
        """,
      example: """
        duplicates reject 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F 6FA459EA-EE8A-4CA4-894E-DB77E160355E
        """
    ) { invocation in
      try invocation.withLibrary { library in
        let assets = try invocation.operands.map { try library.asset(named: $0).id }
        let isRejected = !invocation.has(withdraw)
        let count = try DuplicateDecisions.decide(assets, isRejected: isRejected, in: library)
        if invocation.printsJSON {
          try invocation.output.line(["pairs": .integer(Int64(count)), "isRejected": .bool(isRejected)])
        } else {
          let pairs = TextLayout.counted(count, "pair")
          try invocation.output.line("\(pairs) \(isRejected ? "rejected" : "can be proposed again").")
        }
        return .done
      }
    },
    .editing(
      "duplicates merge", "merge photos into one, and move the others to the trash",
      [
        Operand("KEEPER", "the identifier of the asset to keep"),
        Operand("OTHER", .several, "identifiers of its duplicates"),
      ],
      notes: """
        Makes one commit, which `undo` reverts. KEEPER is added to each album of the others at the position of the first
        of them, is a favourite if any of them is, and gets all their keywords. It keeps its caption, stars, date and
        location, or gets those of the others if it has none. The others keep their album positions while they are in
        the trash. If the others have more than 1,024 keywords that KEEPER lacks, nothing is merged.
        """,
      example: """
        duplicates merge 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F 6FA459EA-EE8A-4CA4-894E-DB77E160355E
        """
    ) {
      ["op": "asset.merge", "asset": $0.operand(0), "others": $0.list(from: 1)]
    },
  ]
}

/// Prints what a search found.
private struct DuplicatePrinting {
  let invocation: Invocation
  let library: PhotoLibrary

  func print(_ summary: DuplicateSummary) throws {
    for group in summary.groups { try invocation.printsJSON ? printJSON(group) : printText(group) }
    let others = summary.groups.reduce(0) { $0 + $1.others.count }
    if invocation.printsJSON {
      try invocation.output.line(
        [
          "summary": [
            "groups": .integer(Int64(summary.groups.count)), "duplicates": .integer(Int64(others)),
            "compared": .integer(Int64(summary.compared)), "plain": .integer(Int64(summary.plain)),
            "crowded": .integer(Int64(summary.crowded)), "failed": .integer(Int64(summary.failed)),
            "passedOver": .integer(Int64(summary.passedOver)),
            "wasInterrupted": .bool(summary.wasInterrupted),
          ]
        ])
    } else {
      var text = "\(TextLayout.counted(summary.compared, "photo")) compared: "
      text += "\(TextLayout.counted(summary.groups.count, "group")), \(TextLayout.counted(others, "duplicate"))"
      if summary.plain > 0 { text += "; \(TextLayout.grouped(summary.plain)) too plain to compare" }
      if summary.failed > 0 { text += "; \(TextLayout.grouped(summary.failed)) missing or not decodable" }
      try invocation.output.line(text + ".")
      if summary.crowded > 0 {
        let photos = TextLayout.counted(summary.crowded, "photo")
        let limit = TextLayout.grouped(DuplicateSearch.neighbourLimit)
        try invocation.output.line(
          "\(photos) with very many similar ones: each was compared with the best \(limit).")
      }
      if let first = summary.groups.first {
        let words = ([first.keeper] + first.others.map(\.id)).map(\.uuidString).joined(separator: " ")
        try invocation.output.line("To merge the first: photoledger duplicates merge \(words)")
        try invocation.output.line("If they are different pictures: photoledger duplicates reject \(words)")
      }
    }
  }

  private func printText(_ group: DuplicateGroup) throws {
    let table = AssetTable(terminal: invocation.output.terminal, margin: 5)
    for (id, note) in [(group.keeper, "keep")] + group.others.map({ ($0.id, "  \($0.distance)") }) {
      // An asset that was purged meanwhile is no longer a duplicate.
      guard let asset = try library.asset(id.uuidString) else { continue }
      let row = table.row(asset, try library.resources(of: asset))
      try invocation.output.line("\(TextLayout.fitted(note, 5))\(row)")
    }
    try invocation.output.line()
  }

  private func printJSON(_ group: DuplicateGroup) throws {
    func text(_ id: LocalIdentifier) -> JSON { .text(id.spelled(as: .asset)) }
    try invocation.output.line(
      [
        "keeper": text(group.keeper),
        "others": .list(
          group.others.map { ["localIdentifier": text($0.id), "distance": .integer(Int64($0.distance))] }),
      ])
  }
}
