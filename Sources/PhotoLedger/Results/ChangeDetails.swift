public import Foundation

/// The exact difference of two results of one fetch (PHFetchResultChangeDetails, rules CD-01 to CD-23).
///
/// Every index says which list it counts in: *before* is ``fetchResultBeforeChanges``, *after* is
/// ``fetchResultAfterChanges``, and *B* is before without the removed objects and with the inserted ones (CD-10). Apply
/// removals, insertions, changes, moves in this order (CD-09); moves are a batch, not a script (CD-11).
public struct ChangeDetails<Element: Hashable & Sendable>: Sendable {
  /// The result that was held (CD-02).
  public let fetchResultBeforeChanges: FetchResult<Element>
  /// The result of the same fetch in the new state (CD-03).
  public let fetchResultAfterChanges: FetchResult<Element>
  /// The commits that lead from one to the other, oldest first; several if the observer was slow.
  public let commits: [CommitSummary]
  /// The positions, shared by all recipients.
  let positions: SharedChanges?
  package var changes: IndexChanges? { positions?.indexes }

  init(
    before: FetchResult<Element>, after: FetchResult<Element>, commits: [CommitSummary], changes: IndexChanges
  ) {
    self.init(before: before, after: after, commits: commits, changes: SharedChanges(changes))
  }

  /// - Parameter changes: nil if the positions are not known.
  init(
    before: FetchResult<Element>, after: FetchResult<Element>, commits: [CommitSummary], changes: SharedChanges?
  ) {
    fetchResultBeforeChanges = before
    fetchResultAfterChanges = after
    self.commits = commits
    positions = before.state.wantsIncrementalChanges ? changes : nil
  }

  /// Compares any two results (PHFetchResultChangeDetails.init(from:to:changedObjects:), CD-20).
  ///
  /// For results that no commit connects, such as those of two different fetches. The index sets are known whatever the
  /// fetches wanted: they are what is asked for here. It walks both results; changes of one result come from
  /// `PhotoLibrary.changes(to:)` and cost what changed.
  /// - Parameters:
  ///   - before: the old result.
  ///   - after: the new result, of the same library.
  ///   - changedObjects: objects that look different; a comparison of identities cannot find them.
  /// - Complexity: O(n log n) in the sizes of both results.
  public init(from before: FetchResult<Element>, to after: FetchResult<Element>, changedObjects: [Element] = [])
  where Element: Identifiable, Element.ID == LocalIdentifier {
    let (old, new) = before.reading { (try before.core, try after.core) }
    requireCorrectUse(old.library == new.library, "Results of two libraries have no objects in common.")
    let changed = Set(changedObjects.map(\.id))
    let numbers = new.numbers
    let changedNumbers = changed.isEmpty ? [] : Set(zip(numbers, after).filter { changed.contains($0.1.id) }.map(\.0))
    fetchResultBeforeChanges = before
    fetchResultAfterChanges = after
    commits = []
    positions = SharedChanges(.between(before: old.numbers, after: numbers, changed: changedNumbers))
  }

  /// Whether the index sets are known; if not, only ``fetchResultAfterChanges`` may be used (CD-14).
  public var hasIncrementalChanges: Bool { changes != nil }
  /// Positions in *before* of the removed objects (CD-04).
  public var removedIndexes: IndexSet? { changes.map { $0.removed.indexSet } }
  /// Positions in *after* of the objects that came (CD-05, CD-06).
  public var insertedIndexes: IndexSet? { changes.map { $0.inserted.indexSet } }
  /// Positions in *after* of the objects that look different (CD-07).
  public var changedIndexes: IndexSet? { changes.map { $0.changed.indexSet } }
  /// Positions in *before* of the objects that look different: what UIKit's reloads want.
  public var changedIndexesBefore: IndexSet? { changes.map { $0.changedBefore.indexSet } }
  /// Whether B differs from *after* (CD-13).
  public var hasMoves: Bool { changes?.hasMoves ?? false }
  /// Moves from B to *after*, a batch, ascending by target (CD-10 to CD-12).
  public var moves: [Move] { changes?.moves ?? [] }
  /// Moves from *before* to *after*, safe beside deletions in *before* and insertions in *after*.
  public var moved: [Relocation] { changes?.moved ?? [] }

  /// The removed objects, as of *before*, in the order of ``removedIndexes`` (CD-08).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(k log n) for k objects, and one read for each later event that touched one of them.
  public func removedObjects() throws -> [Element] {
    try fetchResultBeforeChanges.objects(at: changes?.removed ?? [])
  }

  /// The objects that came, in the order of ``insertedIndexes`` (CD-08).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(k log n) for k objects, and one read for each later event that touched one of them.
  public func insertedObjects() throws -> [Element] {
    try fetchResultAfterChanges.objects(at: changes?.inserted ?? [])
  }

  /// The objects that look different, as they are now, in the order of ``changedIndexes`` (CD-08).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(k log n) for k objects, and one read for each later event that touched one of them.
  public func changedObjects() throws -> [Element] {
    try fetchResultAfterChanges.objects(at: changes?.changed ?? [])
  }

  /// Calls a body with each move (PHFetchResultChangeDetails.enumerateMoves): from a position in B to one in *after*.
  public func enumerateMoves(_ body: (_ from: Int, _ to: Int) -> Void) {
    for move in moves { body(move.from, move.to) }
  }
}

/// The positions of a change, shared by all recipients.
final class SharedChanges: Sendable {
  let indexes: IndexChanges
  init(_ indexes: IndexChanges) { self.indexes = indexes }
}

/// One object before and after a change (PHObjectChangeDetails, CD-21).
public struct ObjectChangeDetails<Object: Sendable>: Sendable {
  /// The object before the change.
  public let objectBeforeChanges: Object
  /// The object after the change; nil if it was deleted.
  public let objectAfterChanges: Object?
  /// Whether bytes were changed, not metadata alone.
  public let assetContentChanged: Bool
  /// Whether the object was deleted. An asset in the trash was not, unless the trash is not shown (PH-05).
  public var objectWasDeleted: Bool { objectAfterChanges == nil }
}
