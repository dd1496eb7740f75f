// Conditions as a client without full access sees them.
//
// The top of a stack may be an asset that a limited client cannot see, and so may be the reason why another one lies
// beneath it. To such a client no asset is in a stack: its values carry none (`AssetRow.seen(by:)`), and its conditions
// are judged as though no row had one. The parts that ask for a stack are decided before any row is read:
//
//     stack != NULL OR isFavorite == YES      ─▶   isFavorite == YES
//     isBeneathStack == isHidden              ─▶   isHidden == NO
//
// Invariant: the condition holds for a row exactly if the original holds for the row without its stack.
//
// Rejected: a copy of each row without its stack. Rows are judged where they lie, and most conditions ask for no stack.

extension Condition {
  /// The condition for a client to which no asset is in a stack.
  var withoutStacks: Condition {
    guard asks(for: .stack) || asks(for: .isBeneathStack) else { return self }
    switch self {
    case .always, .never: return self
    case .comparison(let key, let comparator, let value):
      return key.unstackedValue.map { $0.satisfies(comparator, value) ? .always : .never } ?? self
    case .oneOf(let key, let values):
      guard let own = key.unstackedValue else { return self }
      return values.contains { own.satisfies(.equal, $0) } ? .always : .never
    case .pair(let one, let comparator, let two):
      switch (one.unstackedValue, two.unstackedValue) {
      case (let one?, let two?): return one.satisfies(comparator, two) ? .always : .never
      case (let one?, nil): return .comparison(two, comparator.swapped, one)
      case (nil, let two?): return .comparison(one, comparator, two)
      case (nil, nil): return self
      }
    // Neither has bits, and no text is like what is missing.
    case .bits, .text: return .never
    case .and(let parts): return .and(parts.map(\.withoutStacks))
    case .or(let parts): return .or(parts.map(\.withoutStacks))
    case .not(let part): return .not(part.withoutStacks)
    }
  }
}

extension PropertyKey {
  /// The value for an asset in no stack; nil for a property that does not follow from stacks.
  fileprivate var unstackedValue: PropertyValue? {
    switch self {
    case .stack: .null
    case .isBeneathStack: .bool(false)
    default: nil
    }
  }
}
