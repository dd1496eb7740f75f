import Foundation
import LMDB

// The representative of a burst (BU-01): exactly one of its members, as long as there is one.
//
// The first member added represents it; one that the camera marked, or that the user chooses, takes over; when the
// representative is purged, the oldest of the others takes over. The trash changes nothing: a restored asset is what it
// was. A client that cannot see any member of a burst adds the first one, as far as it can tell, so its asset
// represents the burst.
//
// A choice reads members until it meets the representative, and a burst has a bounded number of them. The bound counts
// the members that the client sees: others would be revealed by it. A client that may only add sees none, and the
// members in its selection count, where its additions are. The bound holds for new assets; what an undo brings back and
// what earlier versions added may exceed it.

extension Decider {
  /// The most assets of a burst.
  static let burstLimit = 1000

  /// Adds a new asset to a burst; decides whether it represents it.
  /// - Throws: ``LibraryError`` `.limitExceeded` if the burst has its most members.
  mutating func join(_ burst: String?, _ row: inout AssetRow, _ t: inout WriteTransaction) throws {
    row.burstIdentifier = burst
    guard let burst else { return }
    let members = try projections.assets(ofBurst: burst, in: t)
    let isBlind = permission.access == .none
    let counted = permission.accessToAdditions
    let known = try members.filter { try projections.shows($0, to: counted, in: t) }
    guard known.count < Self.burstLimit else {
      throw LibraryError(
        .limitExceeded, "A burst has at most 1,000 assets, and this one has \(known.count); use another identifier.")
    }
    if isBlind || known.isEmpty { row.flags.insert(.representsBurst) }
    // One addition after another may take over: the newest member represents the burst then.
    guard row.flags.contains(.representsBurst), let former = try representative(among: members.reversed(), t)
    else { return }
    try setRepresentative(nil, among: [former], &t)
  }

  /// Makes a member the representative of its burst.
  mutating func setRepresentative(_ identifier: LocalIdentifier, _ t: inout WriteTransaction) throws {
    let row = try editableAsset(identifier, t)
    guard let burst = row.burstIdentifier else {
      throw LibraryError(
        .requestNotSupportedForAsset, "The asset \(identifier.spelled(as: .asset)) is not a member of a burst.")
    }
    guard !row.flags.contains(.representsBurst) else { return }
    let former = try representative(among: projections.assets(ofBurst: burst, in: t), t)
    try setRepresentative(row.number, among: [row.number, former].compactMap { $0 }.sorted(), &t)
  }

  /// Settles the bursts whose representatives are about to be purged, each once.
  /// - Parameter rows: all assets that are about to be purged.
  mutating func leaveBursts(_ rows: [AssetRow], _ t: inout WriteTransaction) throws {
    let leaving = Set(rows.map(\.number))
    let representatives = rows.filter { $0.flags.contains(.representsBurst) }
    for burst in distinct(representatives.compactMap(\.burstIdentifier?.exact)) {
      guard let oldest = try projections.assets(ofBurst: burst.text, in: t).first(where: { !leaving.contains($0) })
      else { continue }
      try setRepresentative(oldest, among: [oldest], &t)
    }
  }

  /// The member that represents a burst.
  private func representative(
    among members: [ObjectNumber], _ t: borrowing WriteTransaction
  ) throws -> ObjectNumber? {
    try members.first { number in
      guard let row = try projections.asset(number, in: t) else {
        throw projections.corruption("asset \(number) of a burst")
      }
      return row.flags.contains(.representsBurst)
    }
  }

  /// Has one asset represent its burst, or none, and the others not.
  /// - Parameter members: those that may have to change, in the order of their numbers.
  mutating func setRepresentative(
    _ chosen: ObjectNumber?, among members: [ObjectNumber], _ t: inout WriteTransaction
  ) throws {
    var edits: [(row: AssetRow, edit: AssetEdit)] = []
    for number in members {
      guard let row = try projections.asset(number, in: t) else {
        throw projections.corruption("asset \(number) of a burst")
      }
      let represents = FieldValue.bool(number == chosen)
      guard row[.representsBurst] != represents else { continue }
      let change = AssetChange(field: .representsBurst, old: row[.representsBurst], new: represents)
      var edit = AssetEdit(number: number, changes: [change])
      noteModification(of: row, in: &edit)
      edits.append((row, edit))
    }
    try record(edits, .edited, &t)
  }
}
