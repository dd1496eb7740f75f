import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("As-of states of libraries")
struct MomentTests {
  /// What a view answered when the library stood at a commit.
  private struct Record {
    let commit: UInt64
    let questions: MomentQuestions
    let views: [(client: String, token: Token, answers: [String: MomentAnswer])]
    /// A view that was asked at once, and has seen the library go on since.
    let early: PhotoLibrary?
  }

  // A seed whose usual dose has changes of permission.
  @Test(
    "a library as of a commit gives the answers that it gave at that commit, whatever the snapshots",
    .timeLimit(.minutes(60)), arguments: [Seeds.chosen?.first ?? 64])
  func asOf(seed: UInt64) async throws {
    let history = try History(seed: seed)
    var random = SeededGenerator(seed: seed &* 13)
    let rows = RowNumbers()
    var records: [Record] = []
    var names: Set<LocalIdentifier> = Set(history.cast.asked)
    var earlier: [String: Token] = [:]
    let owner = history.library
    history.afterCommit = { commit in
      guard random.chance(2, of: 5) else { return }
      names.formUnion(try owner.fetchAssets().suffix(2).map(\.id))
      let asked = random.some(8, of: names.sorted { $0.uuidString < $1.uuidString }) + history.cast.asked
      let questions = MomentQuestions(cast: history.cast, assets: asked, earlier: earlier, rows: rows)
      let views = try ([PhotoLibrary.owner] + Cast.clients).map { client in
        let view = owner.as(client)
        return (client, try view.currentToken, try questions.answers(of: view))
      }
      let early = random.chance(1, of: 10) ? try owner.at(owner.currentToken) : nil
      if let early { _ = try questions.answers(of: early) }
      records.append(Record(commit: commit, questions: questions, views: views, early: early))
      if random.chance(1, of: 6) { for (client, token, _) in views { earlier[client] = token } }
    }
    try await history.run(commits: Seeds.moments * 13 / 5)
    history.afterCommit = nil
    #expect(records.count >= Seeds.moments * 4 / 5)
    // Every fetch at every token, or at the usual dose at every fourth one; the rest of what can be asked at some.
    for (place, record) in records.enumerated() where Dose.isFull || place % 4 == 0 {
      try check(record, in: owner, "without snapshots", fetchesOnly: place % 8 != 0)
    }
    // At the usual dose each spacing meets a quarter of the records, the second one another quarter.
    for (turn, spacing) in [23, 2 * Seeds.moments].enumerated() {
      let made = try owner.makeSnapshots(spacing: spacing)
      #expect(made.spacing == spacing && made.count > 1)
      for (place, record) in records.enumerated() where Dose.isFull || place % 4 == 2 * turn + 1 {
        try check(record, in: owner, "with snapshots every \(spacing)", fetchesOnly: place % 10 > 1)
      }
    }
    // Some snapshots, and a tail without.
    let few = Dose.isFull ? 10 : 4
    try await history.run(commits: Seeds.moments * 13 / 5 + 20)
    for record in records.suffix(few) { try check(record, in: owner, "with a tail") }
    try owner.makeSnapshots()
    try owner.makeSnapshots(spacing: 23)
    for record in random.some(few, of: records) { try check(record, in: owner, "with snapshots that went on") }
    var crossings = 0
    for round in 0..<2 * Seeds.moments {
      let from = random.one(of: records)
      let place = random.int(0..<from.views.count)
      let others = records.filter { $0.views[place].answers["status"] != from.views[place].answers["status"] }
      let to = random.one(of: round.isMultiple(of: 2) && !others.isEmpty ? others : records)
      crossings += try checkDifference(from, to, of: place, owner, &random) ? 1 : 0
    }
    #expect(crossings > 1, "Hardly a difference crossed a change of permission.")
  }

  /// Checks what leads from a fetch at one state to the same fetch at another.
  /// - Parameter place: the place of the client among the views.
  /// - Returns: whether the client's status differs.
  private func checkDifference(
    _ from: Record, _ to: Record, of place: Int, _ owner: PhotoLibrary, _ random: inout SeededGenerator
  ) throws -> Bool {
    let (client, token, before) = from.views[place]
    let after = to.views[place].answers
    let queries =
      try client == PhotoLibrary.owner
      ? HistoryQueries.ofTheOwner(from.questions.cast) : HistoryQueries.all(of: client, from.questions.cast)
    // A fetch of what was added recently keeps the days of the state that it was made in, and a list in memory holds
    // what its maker saw there.
    let bound = ["Recently Added", "a list in memory"]
    let query = random.one(of: queries.filter { query in !bound.contains { query.description.contains($0) } })
    guard case .objects(let was, let wasRows)? = before[query.description],
      case .objects(let now, let nowRows)? = after[query.description]
    else { return false }
    let view = try owner.at(from.views[0].token).as(client)
    #expect(try view.currentToken == token)
    func check<Element: CheckedObject>(_ type: Element.Type) throws {
      let held = try Element.fetcher(query, in: view)(view)
      let details = try owner.changeDetails(from: held, to: to.views[0].token)
      let what = "'\(query)' from commit \(from.commit) to \(to.commit)"
      #expect(details.fetchResultBeforeChanges.map(\.id) == was, "\(what) begins otherwise.")
      #expect(details.fetchResultAfterChanges.map(\.id) == now, "\(what) ends otherwise.")
      #expect(details.applied(to: was, from: now) == now, "\(what) does not lead there.")
      let rows = Dictionary(uniqueKeysWithValues: zip(was, wasRows))
      let different = now.indices.filter { rows[now[$0]] != nil && rows[now[$0]] != nowRows[$0] }
      let told = details.changedIndexes ?? []
      #expect(
        different.allSatisfy { told.contains($0) } || Element.self == PhotoCollection.self, "\(what) hides changes.")
    }
    switch query.entity {
    case .asset: try check(Asset.self)
    case .collection: try check(PhotoCollection.self)
    }
    return before["status"] != after["status"]
  }

  private func check(
    _ record: Record, in owner: PhotoLibrary, _ how: String, fetchesOnly: Bool = false
  ) throws {
    let moment = try owner.at(record.views[0].token)
    // Where only fetches are asked, every second client is at the usual dose: another half at each commit.
    for (place, (client, token, answers)) in record.views.enumerated()
    where Dose.isFull || !fetchesOnly || (place + Int(record.commit)) % 2 == 0 {
      #expect(try moment.as(client).currentToken == token)
      try check(token, answers, owner.as(client), record, how)
      try compare(answers, moment.as(client), record, "\(client) \(how)", fetchesOnly)
      guard let early = record.early else { continue }
      try compare(answers, early.as(client), record, "\(client) \(how), asked early", true)
    }
  }

  /// A client that may still read, and whose token is still valid, sees by its own token what it saw.
  private func check(
    _ token: Token, _ answers: [String: MomentAnswer], _ client: PhotoLibrary, _ record: Record, _ how: String
  ) throws {
    guard client.client != PhotoLibrary.owner else { return }
    do {
      let view = try client.at(token)
      let name = "\(client.client): everything"
      #expect(try record.questions.everything(of: view) == answers[name], "\(token) of '\(client.client)' \(how)")
    } catch let error as LibraryError {
      let codes: [LibraryError.Code] = [.accessUserDenied, .accessRestricted, .invalidToken]
      #expect(codes.contains(error.code), "\(error)")
    }
  }

  private func compare(
    _ answers: [String: MomentAnswer], _ view: PhotoLibrary, _ record: Record, _ who: String, _ fetchesOnly: Bool
  ) throws {
    let now = try record.questions.answers(of: view, fetchesOnly: fetchesOnly)
    #expect(now.count == answers.count || fetchesOnly && now.count > 2)
    for (question, later) in now where answers[question] != later {
      let answer = answers[question].map { "\($0)" } ?? "nothing"
      Issue.record("At commit \(record.commit), '\(question)' of \(who): \(answer) then, \(later) now.")
    }
  }
}

extension ChangeDetails {
  /// A list brought forward, the way that PhotoKit documents.
  fileprivate func applied(to before: [LocalIdentifier], from after: [LocalIdentifier]) -> [LocalIdentifier] {
    var list = before
    for index in (removedIndexes ?? []).reversed() { list.remove(at: index) }
    for index in insertedIndexes ?? [] { list.insert(after[index], at: index) }
    let moving = moves.map { ($0.to, list[$0.from]) }
    for from in moves.map(\.from).sorted(by: >) { list.remove(at: from) }
    for (to, id) in moving.sorted(by: { $0.0 < $1.0 }) { list.insert(id, at: to) }
    return list
  }
}
