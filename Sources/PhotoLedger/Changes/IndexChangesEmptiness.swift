extension TouchedPositions {
  /// Whether the change concerns the list at all.
  var isEmpty: Bool {
    removed.count == 0 && inserted.count == 0 && repositioned.isEmpty && changed.count == 0
  }
}
