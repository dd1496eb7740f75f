import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger
import Synchronization

// The feed of a result, for programs: one line for each commit that touches it.
//
// Two coordinates only. `removed` are positions in *before*; `inserted`, `changed` and the keys of `items` are
// positions in *after*. The list of *before* becomes *after* in either of two ways:
//
//     removed, inserted, then moves      moves as PhotoKit has them (CD-10): from the list with removals and insertions
//                                        applied, all at once
//     removed and moved out, then        moved as UIKit has them: [before, after]
//     inserted and moved in
//
// Every commit is one line: the sequence is asked never to compose, however far the reader falls behind.
//
// Ending at a token. A commit that does not touch the result produces no line, so the lines alone do not show that a
// state has been passed. An observer of the whole library does: when it receives the token's commit, every live result
// has processed that commit. It then cancels the printing task; a cancelled sequence first yields its pending elements.
// A signal does not wait for that: each line is complete, and the rest can be read with `--since`.

extension Command {
  static let watch = Command(
    words: ["watch"], summary: "print every change of a result as one JSON object a line",
    options: .opening + FetchArguments.options
      + [
        Option("since", "TOKEN|SEQUENCE|DATE", "start with the result at that state, and print every change since"),
        Option("until", "TOKEN", "stop when the state of a token has been printed"), noInitial,
      ],
    notes: """
      The first line has the token, count and identifiers of the result; of a long result the first 1,000, and further
      lines have the others, with their offset. --limit watches a window. Then each commit that touches it is a line:
      before, after (tokens), count, removed, inserted, changed ([start,length]…), moves ([from,to]…, after removals
      and insertions), moved ([before,after]…), items (the inserted and changed objects by index), cause. Commits of
      other processes are included. With --since and --no-initial the command fails if any asset visible to
      the client was erased after that state, even one outside the result, since positions can no longer be computed.

      \(FetchArguments.notes)
      """,
    example: #"watch --where "isFavorite == YES" --sort creationDate:desc"#
  ) { invocation in
    _ = try FetchArguments.read(invocation)
    let until = try invocation.text("until").map { try Token($0) }
    let since = try invocation.text("since").map { try MomentChoice($0, of: "--since") }
    let interruption = Interruption()
    interruption.requestWhenClosed(STDOUT_FILENO)
    return try invocation.withLibrary { library in
      let start = try since?.view(of: library) ?? library
      let result = try FetchArguments.fetch(invocation, from: start, orAlbumsOf: library)
      // The positions are those in a list that is not printed, so it has to be the one that its state showed.
      if since != nil, invocation.has(noInitial) { try result.checkIsExact() }
      try Watch(library: library, output: invocation.output, until: until, printsInitial: !invocation.has(noInitial))
        .run(result, interruption)
      return .done
    }
  }

  private static let noInitial = Option("no-initial", "omit the identifiers from the first line")
}

/// Prints a result and its changes.
private struct Watch {
  let library: PhotoLibrary
  let output: Output
  let until: Token?
  let printsInitial: Bool

  /// How many identifiers a line has at most: a program reads its first line before it can do anything.
  private static let identifiersMax = 1000

  func run(_ result: FetchResult<Asset>, _ interruption: Interruption) throws {
    let isAtEnd = try order(of: result.token) != .orderedAscending
    try begin(result)
    if isAtEnd { return }
    let end = EndObserver(interruption) { try order(of: $0) != .orderedAscending }
    try library.register(end)
    end.note(try library.currentToken)
    try waitingUntilSignalled(interruption) {
      var previous = result.token
      for try await details in library.changes(to: result, composingBeyond: .max) {
        if interruption.isSignalled { return }
        let after = details.fetchResultAfterChanges.token
        let place = try order(of: after)
        if place == .orderedDescending { return }
        try output.line(line(details, since: previous))
        try output.flush()
        if place == .orderedSame { return }
        previous = after
      }
    }
    library.unregisterChangeObserver(end)
    try end.check()
  }

  /// How a state lies to the one that ends the feed; before it if there is none.
  private func order(of state: Token) throws -> ComparisonResult {
    guard let until else { return .orderedAscending }
    return try library.order(of: state, to: until)
  }

  /// Prints what the result is: a line, and for what that leaves out further ones.
  private func begin(_ result: FetchResult<Asset>) throws {
    var printedCount = 0
    func printLine(_ identifiers: [LocalIdentifier]?) throws {
      try output.line { bytes in
        bytes.beginObject()
        bytes.key("token")
        bytes.text(result.token.description)
        bytes.key((printedCount == 0 ? "count" : "offset") as StaticString)
        bytes.integer(Int64(printedCount == 0 ? result.count : printedCount))
        if let identifiers {
          bytes.key("identifiers")
          bytes.beginList()
          for identifier in identifiers { bytes.identifier(identifier, of: .asset) }
          bytes.endList()
        }
        bytes.endObject()
      }
      try output.flush()
    }
    guard printsInitial else { return try printLine(nil) }
    var waiting: [LocalIdentifier] = []
    try result.forEachPiece { assets in
      for asset in assets {
        waiting.append(asset.id)
        guard waiting.count == Self.identifiersMax else { continue }
        try printLine(waiting)
        printedCount += waiting.count
        waiting.removeAll(keepingCapacity: true)
      }
    }
    if printedCount == 0 || !waiting.isEmpty { try printLine(waiting) }
  }

  /// - Parameter previous: the state of the line before. The details may start at a later one, if commits in between
  ///   did not touch the result; the list is the same at both, and this is the one that the reader knows.
  private func line(_ details: ChangeDetails<Asset>, since previous: Token) throws -> JSON {
    let after = details.fetchResultAfterChanges
    let inserted = details.insertedIndexes ?? []
    let changed = details.changedIndexes ?? []
    let items = try inserted.union(changed).map { index in
      let asset = try after.object(at: index)
      return JSON.Member(String(index), try library.json(of: asset))
    }
    return [
      "before": .text(previous.description),
      "after": .text(after.token.description),
      "count": .integer(Int64(after.count)),
      "removed": JSON(ranges: details.removedIndexes ?? []),
      "inserted": JSON(ranges: inserted),
      "changed": JSON(ranges: changed),
      "moves": .list(details.moves.map { JSON([$0.from, $0.to]) }),
      "moved": .list(details.moved.map { JSON([$0.before, $0.after]) }),
      "items": .object(items),
      "cause": JSON(details.commits.last?.cause),
    ]
  }
}

/// Requests the end of a feed when the library has reached the state that ends it.
private final class EndObserver: PhotoLibraryChangeObserver {
  private let interruption: Interruption
  private let isEnd: @Sendable (Token) throws -> Bool
  private let failure = Mutex<(any Error)?>(nil)

  init(_ interruption: Interruption, at isEnd: @escaping @Sendable (Token) throws -> Bool) {
    (self.interruption, self.isEnd) = (interruption, isEnd)
  }

  func photoLibraryDidChange(_ change: LibraryChange) { note(change.token) }

  /// Takes notice of a state; an end that cannot be compared with it ends the feed, too.
  func note(_ state: Token) {
    do {
      if try isEnd(state) { interruption.request() }
    } catch {
      failure.withLock { $0 = error }
      interruption.request()
    }
  }

  /// - Throws: why a state could not be compared with the end.
  func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
