// What a delta does to a result: which of its objects it touches, and with which keys before and after.

/// The words of the assets of a delta, cut once for all searches that step over it.
final class DeltaWords {
  /// Of how many assets they are kept: a delta may hold as many as the library.
  private static let assetLimit = 4096

  private var wordsBefore: [ObjectNumber: SearchWords] = [:]
  private var wordsAfter: [ObjectNumber: SearchWords] = [:]

  /// The words of the details of an asset before the delta.
  func before(_ number: ObjectNumber, _ details: AssetDetails) -> SearchWords {
    Self.words(of: number, details, &wordsBefore)
  }

  /// The words of the details of an asset after the delta.
  func after(_ number: ObjectNumber, _ details: AssetDetails) -> SearchWords {
    Self.words(of: number, details, &wordsAfter)
  }

  private static func words(
    of number: ObjectNumber, _ details: AssetDetails, _ kept: inout [ObjectNumber: SearchWords]
  ) -> SearchWords {
    if let words = kept[number] { return words }
    let words = SearchWords(details)
    if kept.count < assetLimit { kept[number] = words }
    return words
  }
}

extension QueryPlan {
  /// What a delta does to the result: the key of every object that it holds before or after.
  /// - Parameters:
  ///   - delta: the change.
  ///   - holders: for ``Query/Scope/containing(_:)``, the collections that the object stood in before the delta.
  ///   - words: those that other searches have cut; nil: none does.
  /// - Complexity: O(k) in the objects of the delta.
  func touches<Key: PlannedKey>(
    by delta: Delta, holders: Holders, as key: Key.Type = Key.self, _ words: DeltaWords? = nil
  ) -> [KeyTouch<Key>] {
    var touches: [KeyTouch<Key>] = []
    guard query.isOpen else { return [] }
    switch query.entity {
    case .asset:
      for (number, touch) in delta.assets {
        let place = placing(of: number, in: delta, holders)
        let (had, has) = isDescribed(number, in: delta, words)
        let before = touch.before.flatMap {
          place.was && admits($0) && had($0) ? self.key($0, place.before) as Key : nil
        }
        let after = touch.after.flatMap { place.is && admits($0) && has($0) ? self.key($0, place.after) as Key : nil }
        guard before != nil || after != nil else { continue }
        touches.append(KeyTouch(old: before, new: after, isVisiblyChanged: touch.isChanged(to: query.access)))
      }
    case .collection:
      for (number, touch) in delta.collections {
        let place = placing(of: number, in: delta, holders)
        let (old, new) = (touch.before?.seen(by: query.access), touch.after?.seen(by: query.access))
        let before = old.flatMap { place.was && admits($0) ? self.key($0, place.before) as Key : nil }
        let after = new.flatMap { place.is && admits($0) ? self.key($0, place.after) as Key : nil }
        guard before != nil || after != nil else { continue }
        touches.append(KeyTouch(old: before, new: after, isVisiblyChanged: touch.isChanged(to: query.access)))
      }
    }
    return touches
  }

  /// What a delta does to the result, from the delta and the query alone; nil where it takes the result to say that:
  /// where the object of the scope stands is part of the result, and only its tree knows an erased asset's key.
  /// - Complexity: O(k) in the objects of the delta.
  func touches(by delta: Delta, _ words: DeltaWords) -> OrderTouches? {
    if case .containing = query.scope { return nil }
    if query.isOpen, isBlind(to: delta) { return nil }
    return hasWideKeys
      ? .wide(touches(by: delta, holders: Holders(), words)) : .narrow(touches(by: delta, holders: Holders(), words))
  }

  private typealias Test = (AssetRow) -> Bool

  /// Whether an asset belongs by its details, before and after a delta.
  private func isDescribed(
    _ number: ObjectNumber, in delta: Delta, _ words: DeltaWords?
  ) -> (had: Test, has: Test) {
    guard searchesDetails else { return ({ _ in true }, { _ in true }) }
    precondition(delta.hasDetails, "A search is updated by a delta without words; this is a defect of PhotoLedger.")
    let touch = delta.details[number]
    return (
      { row in
        touch?.before.map { details in
          self.admits(details, of: row, having: words?.before(number, details))
        } ?? false
      },
      { row in
        touch?.after.map { details in
          self.admits(details, of: row, having: words?.after(number, details))
        } ?? false
      }
    )
  }

  private typealias Standing = (was: Bool, is: Bool, before: OrderKey?, after: OrderKey?)

  /// Whether an object is in the scope and visible to the client, before and after a delta, and its position.
  private func placing(of number: ObjectNumber, in delta: Delta, _ holders: Holders) -> Standing {
    var standing = scopePlacing(of: number, in: delta, holders)
    if query.entity == .asset {
      let shown = delta.shows(number, to: query.access, then: query.access)
      (standing.was, standing.is) = (standing.was && shown.before, standing.is && shown.after)
    }
    return standing
  }

  private func scopePlacing(of number: ObjectNumber, in delta: Delta, _ holders: Holders) -> Standing {
    switch query.scope {
    case .library: return (true, true, nil, nil)
    case .listed(let places):
      let place = places[number]
      return (place != nil, place != nil, place, place)
    case .objects(let numbers):
      let isAsked = numbers.contains(number)
      return (isAsked, isAsked, nil, nil)
    case .members(let container):
      let placing = delta.placing(of: number, in: container)
      return (placing.before != nil, placing.after != nil, placing.before, placing.after)
    case .containing:
      let after = self.holders(holders, after: delta)
      let was = holders.isSeen && holders.containers.contains(number)
      return (was, after.isSeen && after.containers.contains(number), nil, nil)
    }
  }

  /// Where the object of the scope stands after a delta.
  func holders(_ holders: Holders, after delta: Delta) -> Holders {
    guard case .containing(let object) = query.scope else { return holders }
    var holders = holders
    for (member, placing) in delta.places where member.child == object {
      if member.container == query.access.selection {
        holders.isSeen = query.access.showsAsset { _ in placing.after }
      }
      if placing.after == nil {
        holders.containers.remove(member.container)
      } else {
        holders.containers.insert(member.container)
      }
    }
    return holders
  }
}

/// Where the object stands whose collections a result shows, whether or not the condition admits them.
struct Holders: Sendable, Equatable {
  var containers: Set<ObjectNumber> = []
  /// Whether the client can see the object at all.
  var isSeen = true
}
