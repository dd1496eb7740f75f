import Foundation
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport

// Everything that a view of a library can be asked, and what it answered.
//
// The property is that a library looked at as of a commit answers as the library did that had just made the commit. So
// the same questions are asked twice, then and later, and the answers compared. Objects are compared by all bytes of
// their rows; equal rows are kept once, and an answer names them by number.

/// What was answered to one question.
enum MomentAnswer: Equatable {
  /// Objects in their order, each with the number of its row.
  case objects([LocalIdentifier], rows: [Int])
  case text(String)
  case refused(Int)
}

/// Numbers rows, equal ones alike.
final class RowNumbers {
  private var assets: [LocalIdentifier: [AssetRow]] = [:]
  private var collections: [LocalIdentifier: [CollectionRow]] = [:]

  func number(of row: AssetRow) -> Int { Self.number(of: row, in: &assets[row.identifier, default: []]) }

  func number(of row: CollectionRow) -> Int { Self.number(of: row, in: &collections[row.identifier, default: []]) }

  private static func number<Row: Equatable>(of row: Row, in rows: inout [Row]) -> Int {
    if let known = rows.firstIndex(of: row) { return known }
    rows.append(row)
    return rows.count - 1
  }
}

/// Asks a view of a library.
struct MomentQuestions {
  let cast: Cast
  /// Assets that are asked for one by one, purged ones among them.
  let assets: [LocalIdentifier]
  /// An earlier state, by client, that the history is read from.
  let earlier: [String: Token]
  let rows: RowNumbers

  /// What a view's client is shown of everything.
  func everything(of view: PhotoLibrary) throws -> MomentAnswer { try answer(view.fetchAssets(), view) }

  /// Every fetch that a view's client can make, and every other question, with the answer.
  func answers(of view: PhotoLibrary, fetchesOnly: Bool = false) throws -> [String: MomentAnswer] {
    var answers: [String: MomentAnswer] = [:]
    func ask(_ question: String, _ answer: () throws -> MomentAnswer) throws {
      do {
        answers[question] = try answer()
      } catch let error as LibraryError {
        guard error.code != .corrupted, error.code != .internalError else { throw error }
        answers[question] = .refused(error.code.rawValue)
      } catch let error as Divergence {
        answers[question] = .text("\(error)")
      }
    }
    let isOwner = view.client == PhotoLibrary.owner
    for query in try isOwner ? HistoryQueries.ofTheOwner(cast) : HistoryQueries.all(of: view.client, cast) {
      try ask(query.description) {
        switch query.entity {
        case .asset: try answer(Asset.fetcher(query, in: view)(view), view, isListed: Self.isListed(query))
        case .collection: try answer(PhotoCollection.fetcher(query, in: view)(view))
        }
      }
    }
    try ask("status") { try status(view) }
    if fetchesOnly { return answers }
    try ask("sections") { try sections(view) }
    try ask("key assets and counts") { try keyAssets(view) }
    try ask("smart albums") { try answer(view.fetchCollections(with: .smartAlbum)) }
    try ask("assets by identifier") { try found(view) }
    try ask("files and words") { try details(view) }
    try ask("identifiers across libraries") { try cloud(view) }
    try ask("history") { try history(view) }
    try ask("statistics") { try statistics(view) }
    if isOwner { try ask("clients") { try clients(view) } }
    return answers
  }

  /// Whether the list of a result is compared with that of its objects: at the usual dose where the result is
  /// everything, and where it is a window, since the same few assets are in all others.
  private static func isListed(_ query: ModelQuery) -> Bool {
    Dose.isFull || query.options.fetchLimit > 0 || query.description.contains("everything")
  }

  private func answer(
    _ result: FetchResult<Asset>, _ view: PhotoLibrary, isListed: Bool = true
  ) throws -> MomentAnswer {
    let objects = try result.objects(at: 0..<result.count)
    if isListed {
      let (listed, one) = (try view.listed(0..<result.count, of: result), try view.listed(objects))
      try demand(listed == one, "The list of a result is \(listed), and that of its objects \(one)")
    }
    return .objects(objects.map(\.id), rows: objects.map { rows.number(of: $0.row) })
  }

  private func answer(_ result: FetchResult<PhotoCollection>) throws -> MomentAnswer {
    let objects = try result.objects(at: 0..<result.count)
    return .objects(objects.map(\.id), rows: objects.map { rows.number(of: $0.row) })
  }

  private func status(_ view: PhotoLibrary) throws -> MomentAnswer {
    .text(try AccessLevel.allCases.map { "\(try view.authorizationStatus(for: $0))" }.joined(separator: " "))
  }

  private func sections(_ view: PhotoLibrary) throws -> MomentAnswer {
    var options = FetchOptions()
    options.sort = [try SortTerm("creationDate:desc", for: .asset)]
    let result = try view.fetchAssets(options)
    return .text(try result.sections(by: .month).map { "\($0.key): \($0.count)" }.joined(separator: ", "))
  }

  private func keyAssets(_ view: PhotoLibrary) throws -> MomentAnswer {
    var words = try MediaType.allCases.map { "\(try view.fetchAssets().countOfAssets(with: $0))" }
    for album in try view.fetchCollections(with: .album) {
      let key = try view.fetchKeyAssets(in: album)?.firstObject
      words.append("\(album.localizedTitle ?? ""): \(key?.localIdentifier ?? "none") of \(album.estimatedAssetCount)")
    }
    return .text(words.joined(separator: "\n"))
  }

  private func found(_ view: PhotoLibrary) throws -> MomentAnswer {
    let found = try assets.compactMap { try view.asset($0.uuidString) }
    return .objects(found.map(\.id), rows: found.map { rows.number(of: $0.row) })
  }

  private func details(_ view: PhotoLibrary) throws -> MomentAnswer {
    var lines: [String] = []
    for asset in try assets.compactMap({ try view.asset($0.uuidString) }) {
      let resources = try view.resources(of: asset)
      let shown = try view.shownContents(of: [asset]).first ?? nil
      guard shown == resources.shown(asset)?.sha256 else {
        throw Divergence("\(asset.localIdentifier) shows \(shown?.count ?? 0) bytes of hash, of \(resources)")
      }
      let words = try view.extendedMetadata(of: asset)
      lines.append(resources.map { "\($0.type.name) \($0.sha256Hex.prefix(8))" }.joined(separator: " "))
      lines.append("\(words.caption ?? "") \(words.keywords.sorted())")
      guard let content = resources.first?.sha256 else { continue }
      lines.append(try view.assets(withContent: content).map(\.localIdentifier).joined(separator: " "))
    }
    return .text(lines.joined(separator: "\n"))
  }

  private func cloud(_ view: PhotoLibrary) throws -> MomentAnswer {
    let names = assets.map(\.uuidString) + cast.albums.map(\.uuidString)
    let mappings = try view.cloudIdentifierMappings(forLocalIdentifiers: names)
    var lines: [String] = []
    for name in names {
      switch mappings[name] {
      case .success(let identifier):
        let back = try view.localIdentifierMappings(for: [identifier])[identifier]
        lines.append("\(name) \(identifier.stringValue) \(try back?.get() ?? "")")
      case .failure(let error): lines.append("\(name) \(error.code.rawValue)")
      case nil: lines.append("\(name) unanswered")
      }
    }
    return .text(lines.joined(separator: "\n"))
  }

  private func history(_ view: PhotoLibrary) throws -> MomentAnswer {
    guard let since = earlier[view.client] else { return .text("") }
    let lines = try view.fetchPersistentChanges(since: since).map { change in
      let details = try ObjectType.allCases.map { type -> String in
        let details = try change.changeDetails(for: type)
        return [
          details.insertedLocalIdentifiers, details.updatedLocalIdentifiers, details.deletedLocalIdentifiers,
        ].map { $0.sorted().joined(separator: " ") }.joined(separator: " | ")
      }
      return "\(change.changeToken): " + details.joined(separator: "\n  ")
    }
    return .text(lines.joined(separator: "\n"))
  }

  private func statistics(_ view: PhotoLibrary) throws -> MomentAnswer {
    let found = try view.statistics()
    let counts = MediaType.allCases.map { "\(found.assetCounts[$0] ?? 0)" }.joined(separator: " ")
    let others = [
      found.favoriteCount, found.hiddenCount, found.trashedCount, found.albumCount, found.folderCount,
      found.smartAlbumCount, found.resourceCount, Int(found.resourceBytes), Int(found.eventCount),
      Int(found.commitCount),
    ]
    return .text("\(counts) \(others) \(found.chain)")
  }

  private func clients(_ view: PhotoLibrary) throws -> MomentAnswer {
    var lines: [String] = []
    for client in try view.clients() {
      let selection = try view.selection(of: client.name).map(\.localIdentifier)
      lines.append("\(client.row) \(selection)")
    }
    for asset in assets.prefix(4) {
      do {
        lines.append("\(try view.access(toAsset: asset.uuidString).map { "\($0.client) \($0.kind)" })")
      } catch let error as LibraryError {
        lines.append("\(error.code.rawValue)")
      }
    }
    return .text(lines.joined(separator: "\n"))
  }
}
