/// A value that was replaced by another.
package struct Replacement<Value: Equatable & Sendable>: Equatable, Sendable {
  package var old: Value
  package var new: Value
  package init(old: Value, new: Value) {
    self.old = old
    self.new = new
  }
  var inverse: Replacement { Replacement(old: new, new: old) }
  var isNothing: Bool { old == new }

  /// Takes a later change in; where it found another value, that one counts as the old value.
  /// - Parameter isSame: whether it found the same value.
  mutating func add(_ later: Replacement, isSame: (Value, Value) -> Bool = { $0 == $1 }) {
    if !isSame(new, later.old) { old = later.old }
    new = later.new
  }
}

extension Optional {
  /// Takes a change of a property in, the first one or a later one; nothing if there is none.
  /// - Parameter isSame: whether a later one found the value that the one before it left.
  mutating func note<Value>(
    _ change: Replacement<Value>?, isSame: (Value, Value) -> Bool = { $0 == $1 }
  ) where Wrapped == Replacement<Value> {
    guard let change else { return }
    if self == nil { self = change } else { self?.add(change, isSame: isSame) }
  }
}
