import Foundation
import LMDB

// The representative of a burst (BU-01): exactly one of its members, as long as there is one.
//
// The first member added represents it; one that the camera marked, or that the user chooses, takes over; when the
// representative is purged, the oldest of the others takes over. The trash changes nothing: a restored asset is what it
// was. A client that cannot see any member of a burst adds the first one, as far as it can tell, so its asset
// represents the burst.

extension Decider {
  /// Adds a new asset to a burst; decides whether it represents it.
  mutating func join(_ burst: String?, _ row: inout AssetRow, _ t: inout WriteTransaction) throws {
    row.burstIdentifier = burst
    guard let burst else { return }
    let members = try projections.assets(ofBurst: burst, in: t)
    let isFirst = try !members.contains { try projections.shows($0, to: permission.access, in: t) }
    if isFirst { row.flags.insert(.representsBurst) }
    if row.flags.contains(.representsBurst) { try setRepresentative(nil, among: members, &t) }
  }

  /// Makes a member the representative of its burst.
  mutating func setRepresentative(_ identifier: LocalIdentifier, _ t: inout WriteTransaction) throws {
    let row = try editableAsset(identifier, t)
    guard let burst = row.burstIdentifier else {
      throw LibraryError(
        .requestNotSupportedForAsset, "The asset \(identifier.spelled(as: .asset)) is not a member of a burst.")
    }
    guard !row.flags.contains(.representsBurst) else { return }
    try setRepresentative(row.number, among: try projections.assets(ofBurst: burst, in: t), &t)
  }

  /// Settles the bursts whose representatives are about to be purged, each once.
  /// - Parameter rows: all assets that are about to be purged.
  mutating func leaveBursts(_ rows: [AssetRow], _ t: inout WriteTransaction) throws {
    let leaving = Set(rows.map(\.number))
    let representatives = rows.filter { $0.flags.contains(.representsBurst) }
    for burst in distinct(representatives.compactMap(\.burstIdentifier)) {
      let others = try projections.assets(ofBurst: burst, in: t).filter { !leaving.contains($0) }
      try setRepresentative(others.first, among: others, &t)
    }
  }

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
