import PhotoLedger

extension Token {
  /// The number of the commit that an owner's token names; tests count commits, clients cannot.
  package var commit: UInt64 {
    precondition(view == nil, "A token of a view has no number of a commit.")
    return position
  }
}
