// A plan is a query made ready: its condition and its sort compiled once, so that a row is judged and given its key
// without looking at the query again. It answers the one question that everything stands on:
//
//     what is the key of this object in this result, given its row and its place?     nil: it does not belong
//
// A fetch asks it for every row in scope and builds a tree. A commit asks it twice for each touched object, with the
// row before and the row after, and has the change of the result (`touches(by:)`). So fetching and following can never
// disagree about what belongs.

/// A query, compiled.
package final class QueryPlan: Sendable {
  package let query: Query
  /// Whether what lies beneath the top of a stack is shown; a limited client sees no stacks.
  private let showsStacked: Bool
  /// Whether an asset meets the condition, as far as its row decides that.
  let assetPasses: @Sendable (AssetView) -> Bool
  /// Judges an asset by its details too, if the condition asks for them.
  private let describedPasses: (@Sendable (DescribedAsset) -> Bool)?
  private let collectionPasses: @Sendable (CollectionRow) -> Bool
  private let assetKeys: SortKeyEncoder<AssetView>
  private let collectionKeys: SortKeyEncoder<CollectionRow>

  package init(_ query: Query) {
    self.query = query
    let condition = query.access.showsStacks ? query.condition : query.condition.withoutStacks
    let isDescribed = query.entity == .asset && condition.asksForDetails
    let rowPart = isDescribed ? condition.rowPart : condition
    // A plan judges and orders rows of its own kind only; the other kind's half would double what a plan costs.
    assetPasses = (query.entity == .asset ? rowPart : .never).evaluator(for: AssetView.self)
    describedPasses = isDescribed ? condition.evaluator(for: DescribedAsset.self) : nil
    showsStacked = query.includesAllStack || !query.access.showsStacks
    collectionPasses = (query.entity == .collection ? query.condition : .never).evaluator(for: CollectionRow.self)
    // Nor do stacks order what a limited client sees.
    let assetSort = query.access.showsStacks ? query.sort : query.sort.filter { $0.key != .isBeneathStack }
    assetKeys = SortKeyEncoder(query.entity == .asset ? assetSort : [])
    collectionKeys = SortKeyEncoder(query.entity == .collection ? query.sort : [])
  }

  /// Whether the keys of the result are wide.
  var hasWideKeys: Bool {
    query.entity == .asset
      ? !assetKeys.terms.isEmpty && !assetKeys.isWord : !collectionKeys.terms.isEmpty && !collectionKeys.isWord
  }

  /// Whether an asset's row belongs to the result, regardless of its scope.
  func admits(_ row: AssetRow) -> Bool { row.withView { admits($0) } }

  /// The same of a row where it lies.
  func admits(_ row: AssetView) -> Bool { isOffered(row) && assetPasses(row) }

  /// Whether the result is of rows like this one, regardless of the condition.
  @inline(__always)
  func isOffered(_ row: AssetView) -> Bool {
    row.isTrashed == (query.trash == .only)
      && (query.includesHidden || !row.flags.contains(.hidden))
      && (query.includesAllBurst || row.standsOutOfBurst) && (showsStacked || !row.isBeneathStack)
      && (query.sources == .all || !row.sourceType.isDisjoint(with: query.sources) || row.sourceType.isEmpty)
  }

  /// Whether rows alone do not decide what belongs: the query of assets has a search, or its condition asks for
  /// details.
  var searchesDetails: Bool { asksForDetails || query.entity == .asset && query.search != nil }

  /// Whether the condition asks for details, which the rows do not hold.
  var asksForDetails: Bool { describedPasses != nil }

  /// Whether an asset that the rows admit belongs by its details.
  /// - Parameters:
  ///   - row: the row that the details go with.
  ///   - words: the words of the details, asked for by a search only; nil: they are cut.
  func admits(_ details: AssetDetails, of row: AssetRow, having words: @autoclosure () -> SearchWords? = nil) -> Bool {
    if let search = query.search, !search.finds(words() ?? SearchWords(details)) { return false }
    return meetsCondition(row, details)
  }

  /// Whether an asset that the rows admit meets the condition by its details, regardless of the search.
  func meetsCondition(_ row: AssetRow, _ details: AssetDetails) -> Bool {
    describedPasses?(DescribedAsset(row, details)) ?? true
  }

  /// Whether a collection's row belongs to the result, regardless of its scope.
  func admits(_ row: CollectionRow) -> Bool {
    row.number != rootFolder && (row.deletedDate != nil) == (query.trash == .only)
      && (query.includesBuiltIn || !row.isBuiltIn) && query.access.shows(row) && collectionPasses(row)
      && (query.search?.finds(title: row.title) ?? true)
  }
}

/// Keys that a plan can make.
package protocol PlannedKey: ResultKey {
  /// Makes the key of an object.
  /// - Parameters:
  ///   - terms: the readers of the plan's sort, for rows of the object's kind.
  ///   - place: its position in the scope, which orders an unsorted result.
  static func make<Row>(_ terms: SortKeyEncoder<Row>, _ row: Row, _ number: ObjectNumber, _ place: OrderKey?) -> Self
  /// Sorts keys ascending.
  static func sort(_ keys: inout [Self])
  /// The keys of lists, ascending.
  static func sorted(_ lists: [[Self]]) -> [Self]
}

extension NarrowKey: PlannedKey {
  package static func make<Row>(
    _ terms: SortKeyEncoder<Row>, _ row: Row, _ number: ObjectNumber, _ place: OrderKey?
  ) -> NarrowKey {
    NarrowKey(word: terms.terms.isEmpty ? place?.rawValue ?? 0 : terms.word(for: row), number: number)
  }
}

extension WideKey: PlannedKey {
  package static func make<Row>(
    _ terms: SortKeyEncoder<Row>, _ row: Row, _ number: ObjectNumber, _ place: OrderKey?
  ) -> WideKey {
    WideKey(bytes: terms.bytes(for: row), number: number)
  }
}

extension QueryPlan {
  /// The key of an object in the result, whether or not it belongs there.
  func key<Key: PlannedKey>(_ row: AssetRow, _ place: OrderKey?) -> Key {
    row.withView { key($0, place) }
  }

  func key<Key: PlannedKey>(_ row: AssetView, _ place: OrderKey?) -> Key {
    Key.make(assetKeys, row, row.number, place)
  }

  func key<Key: PlannedKey>(_ row: CollectionRow, _ place: OrderKey?) -> Key {
    Key.make(collectionKeys, row, row.number, place)
  }
}
