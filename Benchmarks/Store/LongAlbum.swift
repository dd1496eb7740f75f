import EventLog
import Foundation
import PhotoLedger

/// S15: a long album whose order people make.
enum LongAlbum {
  private static let steps = ["insert at the front", "move the last to the front", "remove 1000 in the middle"]
  static let names = steps.flatMap { ["S15 album, \($0), details", "S15 album, \($0), bytes logged"] }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names), Stage.memoryFileSystem != nil else { return }
    try stage.withCopy { library in
      let members = Array(stage.shown.prefix(100_000))
      var album: LocalIdentifier?
      try library.performChangesAndWait { change in album = change.createAlbum(title: "Everything") }
      guard let album else { return }
      for start in stride(from: 1, to: members.count, by: 1000) {
        let chunk = Array(members[start..<min(start + 1000, members.count)])
        try library.performChangesAndWait { $0.album(album).add(chunk) }
      }
      guard let collection = try library.collection(album.uuidString) else {
        throw WrongAnswer(description: "The library does not know the album that it has made.")
      }
      let arrivals = Arrivals()
      let held = try library.fetchAssets(FetchOptions(), in: collection)
      guard held.count == members.count - 1 else {
        throw WrongAnswer(description: "An album of \(members.count - 1) assets shows \(held.count).")
      }
      let observer = HeldResult(held, telling: arrivals)
      try library.register(observer)
      defer { library.unregisterChangeObserver(observer) }
      try edit(library, album, members, observer, arrivals, stage.size, into: &report)
    }
  }

  private static func edit(
    _ library: PhotoLibrary, _ album: LocalIdentifier, _ members: [LocalIdentifier], _ observer: HeldResult,
    _ arrivals: Arrivals, _ size: Int, into report: inout Report
  ) throws {
    let reader = try StoreReader(library)
    let first = members[0]
    var count = members.count - 1
    let many = max(1, min(1000, count / 50))
    var (times, bytes): ([[Double]], [Int]) = ([[], [], []], [0, 0, 0])
    for repetition in 0..<min(11, report.repetitions) + 1 {
      for step in 0..<3 {
        let before = try reader.head().sequence
        arrivals.expect(1)
        try library.performChangesAndWait { change in
          let editor = change.album(album)
          switch step {
          case 0: editor.insert([first], at: 0)
          case 1: editor.move(at: [count - 1], to: 0)
          default: editor.remove(at: IndexSet(count / 2..<count / 2 + many))
          }
        }
        _ = try arrivals.wait()
        let (details, duration) = observer.last
        try check(details, step, &count, removed: many)
        if repetition > 0 { times[step].append(duration.nanoseconds) }
        let after = try reader.head().sequence
        bytes[step] = try (before + 1...after).reduce(0) { try $0 + reader.bytes($1, in: reader.events).count }
      }
      // As it was before, but for what was removed.
      arrivals.expect(1)
      try library.performChangesAndWait { $0.album(album).remove([first]) }
      _ = try arrivals.wait()
      count -= 1
    }
    let goals: [(Goal, Goal)] = [
      (.microseconds(20), .bytes(1 << 10)), (.microseconds(20), .bytes(1 << 10)),
      (.microseconds(2000), .bytes(64 << 10)),
    ]
    for step in 0..<3 {
      report.add(names[2 * step], size: size, caches: .warm, Sample(times[step]), goal: goals[step].0)
      report.add(names[2 * step + 1], size: size, bytes: bytes[step], goal: goals[step].1)
    }
  }

  private static func check(
    _ details: ChangeDetails<Asset>?, _ step: Int, _ count: inout Int, removed: Int
  ) throws {
    let isRight: Bool
    switch step {
    case 0:
      isRight = details?.insertedIndexes == [0] && details?.removedIndexes?.isEmpty == true
      count += 1
    case 1: isRight = details?.moves.count == 1 && details?.moves.first?.to == 0
    default:
      isRight = details?.removedIndexes == IndexSet(count / 2..<count / 2 + removed)
      count -= removed
    }
    guard isRight, details?.fetchResultAfterChanges.count == count else {
      throw WrongAnswer(description: "The details of album step \(step) are not what was done.")
    }
  }
}
