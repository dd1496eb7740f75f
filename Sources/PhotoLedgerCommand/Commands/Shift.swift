import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

// Dates of a clock that was wrong: set for another zone, an hour off in summer, or never set at all.
//
//     options of `ls`, from, until ──▶ assets ──▶ one asset.edit with dateShift ──▶ one commit
//                                        └─ dry run: each asset with its dates before and after
//
// The shift is one request for all assets and no list of new dates: the library adds it to the dates that each asset
// has when the block is committed, so that an edit in between is neither lost nor shifted from an older date. Options
// choose all members of a burst that match, shown or not, since they are of one clock; of named assets only those move.
//
// Rejected: moving the wall time alone and keeping the instant. That is another mistake, a wrong zone under a right
// clock, and `edit --date` with an offset says it.

extension Command {
  private static let dryRun = Option.dryRun("print the dates before and after, and change nothing")

  static let shift = Command(
    words: ["shift"], summary: "shift the dates of assets by the same amount, for a clock that was wrong",
    operands: [Operand("ID", .any, "identifiers of assets, instead of options that choose them")],
    syntax: """
      --by TIME (ID… | --from DATE | --until DATE | --search TEXT | --where FORMAT | --album ID | \
      --smart-album NAME|ID | --source S[,S]… | --trash)…
      """,
    options: .opening + [
      Option("by", "TIME", "±HH:MM, ±HH:MM:SS, or seconds; positive for later"),
      Option("from", "DATE", "only assets taken at or after this wall time or day"),
      Option("until", "DATE", "only assets taken at or before this wall time or day"),
    ] + FetchArguments.choosing + [
      Option("cause", "TEXT", "the cause of the commit; default 'shift'"),
      Option("key", "KEY", "an idempotency key: the same shift is executed once"), dryRun, .json,
    ],
    notes: """
      The instant of capture and the camera's wall time move together; the offset from UTC does not change. --from
      and --until compare the wall time as `ls` prints it. Assets without a date are skipped; they are counted unless
      --from or --until is given. Options choose all members of a burst or stack, shown or not; hidden assets only
      with --hidden.

      All dates change in one commit, which `undo --commit` with the printed token undoes. A commit has at most
      64 MiB: some 500,000 assets; shift more with several ranges.
      """,
    example: "shift --by -01:00 --where 'cameraModel == \"X100V\"' --from 2024-03-31 --until 2024-04-14 --dry-run"
  ) { invocation in
    let request = try ShiftRequest(invocation)
    return try invocation.withLibrary { library in
      let chosen = try request.chosen(invocation, library)
      return try invocation.has(dryRun)
        ? request.printPlan(chosen, invocation, library) : request.perform(chosen, invocation, library)
    }
  }
}

/// What a shift asks for; read before the library is opened.
private struct ShiftRequest {
  /// The assets of a shift.
  struct Chosen {
    var assets: [Asset] = []
    var undated = 0
    /// Of another computer or a shared album.
    var foreign = 0
  }

  private let seconds: Int
  private let from: Date?
  private let until: Date?
  private let cause: String

  init(_ invocation: Invocation) throws {
    guard let text = invocation.text("by") else { throw UsageError("'shift' needs --by.") }
    guard let seconds = Self.seconds(text) else {
      throw UsageError("--by needs ±HH:MM, ±HH:MM:SS or a number of seconds other than 0; got '\(text.prefix(80))'.")
    }
    self.seconds = seconds
    cause = try invocation.cause() ?? "shift"
    from = try Self.wallTime("from", "T00:00:00", invocation)
    until = try Self.wallTime("until", "T23:59:59.999999", invocation)
    if let from, let until, from > until { throw UsageError("--from is after --until; no asset can match.") }
    let options = FetchArguments.choosing.filter { invocation.has($0) }
    if !invocation.operands.isEmpty, let option = options.first {
      throw UsageError("'shift' takes identifiers or --\(option.name), not both.")
    }
    // --hidden widens a choice and does not make one.
    let isChosen = !invocation.operands.isEmpty || options.contains { $0.name != "hidden" }
    guard isChosen || from != nil || until != nil else {
      throw UsageError("'shift' needs identifiers, --from, --until or an option that chooses assets, such as --where.")
    }
    _ = try FetchArguments.read(invocation)
  }

  /// Seconds of `±HH:MM`, `±HH:MM:SS` or `±SECONDS`, at most a century; nil for another text and for 0.
  private static func seconds(_ text: String) -> Int? {
    let isBack = text.hasPrefix("-")
    let digits = isBack || text.hasPrefix("+") ? text.dropFirst() : Substring(text)
    let parts = digits.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part -> Int? in
      let isNumber = !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
      return isNumber ? Int(part) : nil
    }
    let century = 100 * 366 * 86_400
    guard numbers.count == parts.count, numbers.count <= 3, numbers.allSatisfy({ $0 <= century }),
      numbers.dropFirst().allSatisfy({ $0 < 60 })
    else { return nil }
    let units = numbers.count == 1 ? [1] : [3600, 60, 1]
    let total = zip(numbers, units).reduce(0) { $0 + $1.0 * $1.1 }
    return (1...century).contains(total) ? (isBack ? -total : total) : nil
  }

  private static func wallTime(_ name: String, _ time: String, _ invocation: Invocation) throws -> Date? {
    guard let text = invocation.text(name) else { return nil }
    guard let date = DateText.wallTime(text) ?? DateText.wallTime(text + time) else {
      throw UsageError(
        "--\(name) needs a wall time or a day, 2024-05-31T18:30:00 or 2024-05-31; got '\(text.prefix(80))'.")
    }
    return date
  }

  func chosen(_ invocation: Invocation, _ library: PhotoLibrary) throws -> Chosen {
    var chosen = Chosen()
    func choose(_ asset: Asset) {
      guard let taken = asset.localCreationDate ?? asset.creationDate else {
        if from == nil, until == nil { chosen.undated += 1 }
        return
      }
      if let from, taken < from { return }
      if let until, taken > until { return }
      if asset.canPerform(.properties) { chosen.assets.append(asset) } else { chosen.foreign += 1 }
    }
    if invocation.operands.isEmpty {
      try FetchArguments.fetch(invocation, from: library, widened: { _ in }).forEachPiece { $0.forEach(choose) }
    } else {
      var seen: Set<LocalIdentifier> = []
      for name in invocation.operands {
        let asset = try library.asset(named: name)
        if seen.insert(asset.id).inserted { choose(asset) }
      }
    }
    return chosen
  }

  func perform(_ chosen: Chosen, _ invocation: Invocation, _ library: PhotoLibrary) throws -> ExitStatus {
    var receipt: CommitReceipt?
    if !chosen.assets.isEmpty {
      let identifiers = JSON.list(chosen.assets.map { .text($0.id.uuidString) })
      var line = ChangeLine(
        [["op": "asset.edit", "assets": identifiers, "dateShift": .integer(Int64(seconds))]],
        cause: cause, command: "shift")
      line.key = invocation.text("key")
      receipt = try line.perform(on: library)
    } else if let key = invocation.text("key") {
      // What was shifted under the key may no longer be chosen.
      receipt = try library.receipt(forKey: key)
    }
    try report(chosen, receipt, invocation)
    return .done
  }

  func printPlan(_ chosen: Chosen, _ invocation: Invocation, _ library: PhotoLibrary) throws -> ExitStatus {
    for asset in chosen.assets {
      if invocation.printsJSON {
        try invocation.output.line(json(asset))
      } else {
        let name = try library.resources(of: asset).first?.originalFilename ?? ""
        let isWallTime = asset.localCreationDate != nil
        let before = asset.localCreationDate ?? asset.creationDate ?? .distantPast
        let dates = [before, moved(before)].map { isWallTime ? DateText.wallTime($0) : DateText.instant($0) }
        let line = "\(dates.joined(separator: " → "))  \(name)  \(asset.id.uuidString)"
        try invocation.output.line(TextLayout.printable(line))
      }
    }
    try report(chosen, nil, invocation, isDry: true)
    return .done
  }

  private func moved(_ date: Date) -> Date { date.addingTimeInterval(Double(seconds)) }

  private func json(_ asset: Asset) -> JSON {
    func change(_ date: Date?, _ text: (Date) -> String) -> JSON {
      date.map { ["from": .text(text($0)), "to": .text(text(moved($0)))] } ?? .null
    }
    return [
      "localIdentifier": .text(asset.localIdentifier),
      "creationDate": change(asset.creationDate) { DateText.instant($0, offset: asset.timeZoneOffset) },
      "localCreationDate": change(asset.localCreationDate, DateText.wallTime),
    ]
  }

  private func report(
    _ chosen: Chosen, _ receipt: CommitReceipt?, _ invocation: Invocation, isDry: Bool = false
  ) throws {
    // A key stands for what was done under it, which need not be a shift, or one of these assets.
    let earlier: CommitReceipt? = receipt.flatMap { $0.isRepetition ? $0 : nil }
    if invocation.printsJSON {
      let counts: [JSON.Member] = [
        .init("assets", .integer(Int64(chosen.assets.count))), .init("seconds", .integer(Int64(seconds))),
        .init("withoutDate", .integer(Int64(chosen.undated))), .init("notEditable", .integer(Int64(chosen.foreign))),
      ]
      let members: [JSON.Member] = (earlier == nil ? counts : []) + [.init("isDryRun", .bool(isDry))]
      return try invocation.output.line(["summary": .object(members + (receipt?.members ?? []))])
    }
    if let earlier {
      return try invocation.output.line("already executed under this key: \(earlier.token); nothing was changed now")
    }
    let assets = TextLayout.counted(chosen.assets.count, "asset")
    try invocation.output.line("\(assets) \(isDry ? "would be shifted" : "shifted").")
    let left = [
      (chosen.undated, "without a date"), (chosen.foreign, "synced or shared, and so not editable here"),
    ].filter { $0.0 > 0 }
    for (count, what) in left { try invocation.output.line("  \(TextLayout.counted(count, "asset")) \(what)") }
    if let receipt { try invocation.output.line(receipt.token.description) }
  }
}
