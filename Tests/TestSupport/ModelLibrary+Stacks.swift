import Foundation
package import PhotoLedger

extension ModelAsset {
  /// The asset as somebody is shown it: only full access shows stacks.
  package func seen(by eyes: ModelEyes) -> ModelAsset {
    var asset = self
    if eyes != .full { asset.stack = nil }
    return asset
  }
}

extension ModelLibrary {
  /// Stacks assets, or makes an asset of a stack its top.
  package mutating func stack(_ others: [LocalIdentifier], under top: LocalIdentifier) throws {
    try checkMayChange()
    guard eyes(of: acting) == .full else { throw refusal(acting) }
    for id in [top] + others {
      try checkEditable(id)
      guard let asset = assets[id], asset.trashedDate == nil else { throw ModelRefusal(code: .changeNotSupported) }
      guard asset.burstIdentifier == nil || asset.representsBurst else {
        throw ModelRefusal(code: .requestNotSupportedForAsset)
      }
    }
    let old = assets[top]?.stack
    guard !others.contains(top), !others.isEmpty || old != nil else { throw ModelRefusal(code: .changeNotSupported) }
    var stacked = [top] + others
    if let old, others.isEmpty || old == top { stacked += assetsInOrder.filter { assets[$0]?.stack == old } }
    for id in stacked { setStack(top, of: id) }
    settleStacks()
  }

  /// Takes assets out of their stacks; with its top goes a whole stack.
  package mutating func unstack(_ ids: [LocalIdentifier]) throws {
    try checkMayChange()
    guard eyes(of: acting) == .full else { throw refusal(acting) }
    for id in ids { try checkEditable(id) }
    for id in ids {
      for other in assetsInOrder where assets[id]?.stack == id && other != id && assets[other]?.stack == id {
        setStack(nil, of: other)
      }
      setStack(nil, of: id)
      settleStacks()
    }
  }

  /// Dissolves stacks of one, and lets the oldest be the top where there is none.
  mutating func settleStacks() {
    defer { recount() }
    let stacked = assetsInOrder.filter { assets[$0]?.stack != nil }
    for (top, members) in Dictionary(grouping: stacked, by: { assets[$0]?.stack }) {
      if members.count == 1 {
        setStack(nil, of: members[0])
      } else if let top, !members.contains(top) {
        for id in members { setStack(members[0], of: id) }
      }
    }
  }

  /// Only clients with full access are notified.
  private mutating func setStack(_ stack: LocalIdentifier?, of id: LocalIdentifier) {
    guard assets[id]?.stack != stack else { return }
    assets[id]?.stack = stack
    noted[PhotoLibrary.owner, default: []].insert(id)
    // The count of an album that shows one in place of another changes on the way.
    noted[PhotoLibrary.owner, default: []].formUnion(members.filter { $0.value.contains(id) }.map(\.key))
  }
}
