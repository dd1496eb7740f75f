/// A value that was replaced by another.
package struct Replacement<Value: Equatable & Sendable>: Equatable, Sendable {
  package var old: Value
  package var new: Value
  package init(old: Value, new: Value) {
    self.old = old
    self.new = new
  }
  var inverse: Replacement { Replacement(old: new, new: old) }
}
