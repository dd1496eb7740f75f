import Foundation
import LMDB

// Stacks: assets that a person put together, with one on top that ordinary fetches show in place of all.
//
//     asset   a      b      c      d           each row names the top of its stack, the top itself
//     stack   a      a      a      –           stack(top: a, others: [b, c])
//                    b      b      –           purge of a: the oldest of the rest takes over
//                    –      –      –           unstack(b): the top takes its stack apart
//
// A stack is nothing but what its members say. So it is edited, logged, rewound, compared and undone like any other
// property, and the order of events needs no rule of its own. What lies beneath the top is left out wherever members of
// a burst are that do not represent it: of fetches, of counts and covers of albums.
//
// Only clients with full access see stacks. A limited client may not be able to see the top, and an asset that is
// hidden from it by one that it cannot see would reveal that there is such an asset. So to a limited client nothing is
// in a stack: not in values, conditions, counts or changes (`AssetRow.seen(by:)`, `Condition.withoutStacks`). For the
// same reason a stack does not change the modification date of an asset.
//
// The trash changes nothing, and neither does hiding: like a representative of a burst, a top that is not shown keeps
// the others beneath it, and a restored asset is what it was. A member of a burst may be stacked while it represents
// its burst; a later change of the representative changes no stack.
//
// Invariant: after each request, each stack has at least two members, and its top is one of them.
//
// Rejected: a container like an album (an asset is in one stack at most, and fetches would read a place for each row);
// the number of the top in the row (a row is shown and asked without a transaction that finds an identifier).

extension Decider {
  /// The most assets of a stack.
  static let stackLimit = 1000

  /// Makes a stack, or adds to that of the top.
  /// - Complexity: O(k log n) for k members of the stacks concerned.
  mutating func stack(
    _ identifiers: [LocalIdentifier], under identifier: LocalIdentifier, _ t: inout WriteTransaction
  ) throws {
    let top = try stackable(identifier, t)
    let others = try distinct(identifiers).map { try stackable($0, t) }
    try checkStack(of: others, under: top)
    var members = [top] + others
    if let old = top.stack, others.isEmpty || old == top.identifier {
      let known = Set(members.map(\.number))
      let standing = try projections.assets(ofStack: old, in: t).filter { !known.contains($0) }
      members += try standing.map { try stackedAsset($0, t) }
    }
    guard members.count <= Self.stackLimit else {
      throw LibraryError(
        .changeNotSupported,
        "A stack has at most 1,000 assets, and this one would have \(members.count); stack fewer.")
    }
    let left = distinct(members.compactMap(\.stack).filter { $0 != top.identifier })
    try setStack(top.identifier, of: members, &t)
    for stack in left { try settleStack(stack, &t) }
  }

  /// Takes assets out of their stacks; a top takes its stack apart.
  /// - Complexity: O(k log n) for k members of the stacks concerned.
  mutating func unstack(_ identifiers: [LocalIdentifier], _ t: inout WriteTransaction) throws {
    let rows = try distinct(identifiers).map { try editableAsset($0, t) }
    for row in rows {
      // An earlier one may have taken the stack apart.
      guard let stack = try stackedAsset(row.number, t).stack else { continue }
      let leaving = stack == row.identifier ? try projections.assets(ofStack: stack, in: t) : [row.number]
      try setStack(nil, of: try leaving.map { try stackedAsset($0, t) }, &t)
      try settleStack(stack, &t)
    }
  }

  /// Settles the stacks of assets that are about to be purged, each once.
  mutating func leaveStacks(_ rows: [AssetRow], _ t: inout WriteTransaction) throws {
    let leaving = Set(rows.map(\.number))
    for stack in distinct(rows.compactMap(\.stack)) { try settleStack(stack, without: leaving, &t) }
  }

  /// Dissolves a stack of one asset, and gives one without its top another: the oldest member.
  /// - Parameter leaving: the assets that are about to be purged.
  mutating func settleStack(
    _ stack: LocalIdentifier, without leaving: Set<ObjectNumber> = [], _ t: inout WriteTransaction
  ) throws {
    let members = try projections.assets(ofStack: stack, in: t).filter { !leaving.contains($0) }
      .map { try stackedAsset($0, t) }
    guard let oldest = members.first else { return }
    if members.count == 1 { return try setStack(nil, of: members, &t) }
    guard !members.contains(where: { $0.identifier == stack }) else { return }
    try setStack(oldest.identifier, of: members, &t)
  }

  private mutating func setStack(
    _ stack: LocalIdentifier?, of rows: [AssetRow], _ t: inout WriteTransaction
  ) throws {
    let new = stack.map { FieldValue.identifier($0) } ?? .null
    let edits = rows.filter { $0.stack != stack }.map { row in
      (row, AssetEdit(number: row.number, changes: [AssetChange(field: .stack, old: row[.stack], new: new)]))
    }
    try record(edits, .edited, &t)
  }

  private func checkStack(of others: [AssetRow], under top: AssetRow) throws {
    let name = top.identifier.spelled(as: .asset)
    guard top.identifier.canNameStack else {
      throw LibraryError(.changeNotSupported, "The asset \(name) cannot be the top of a stack; choose another.")
    }
    guard !others.contains(where: { $0.number == top.number }) else {
      throw LibraryError(.changeNotSupported, "The asset \(name) is the top of the stack and cannot be below it too.")
    }
    guard !others.isEmpty || top.stack != nil else {
      throw LibraryError(.changeNotSupported, "A stack needs at least one asset below its top, \(name).")
    }
  }

  /// An asset that may be put into a stack.
  private func stackable(_ identifier: LocalIdentifier, _ t: borrowing WriteTransaction) throws -> AssetRow {
    let row = try editableAsset(identifier, t)
    let name = identifier.spelled(as: .asset)
    guard row.trashedDate == nil else {
      throw LibraryError(.changeNotSupported, "The asset \(name) is in the trash; restore it before stacking it.")
    }
    guard row.burstIdentifier == nil || row.flags.contains(.representsBurst) else {
      throw LibraryError(
        .requestNotSupportedForAsset,
        "The asset \(name) does not represent its burst; stack the representative, or make it that first.")
    }
    return row
  }

  /// A member of a stack by its number.
  private func stackedAsset(_ number: ObjectNumber, _ t: borrowing WriteTransaction) throws -> AssetRow {
    guard let row = try projections.asset(number, in: t) else {
      throw projections.corruption("asset \(number) of a stack")
    }
    return row
  }
}
