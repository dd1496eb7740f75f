/// The distinct elements in their order.
func distinct<Element: Hashable>(_ elements: some Sequence<Element>) -> [Element] {
  var seen: Set<Element> = []
  return elements.filter { seen.insert($0).inserted }
}

extension Array {
  /// The elements in runs of at most `limit`, in order.
  func inRuns(of limit: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: limit).map { self[$0..<Swift.min($0 + limit, count)] }
  }
}
