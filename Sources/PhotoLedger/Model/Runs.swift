/// The distinct elements in their order.
package func distinct<Element: Hashable>(_ elements: some Sequence<Element>) -> [Element] {
  var seen: Set<Element> = []
  return elements.filter { seen.insert($0).inserted }
}

extension Array {
  /// The first place before which all elements come before what is looked for; the end if all do.
  /// - Parameter isBefore: true for the first elements, and false for all others.
  /// - Complexity: O(log n).
  package func lowerBound(where isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The elements in runs of at most `limit`, in order.
  package func inRuns(of limit: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: limit).map { self[$0..<Swift.min($0 + limit, count)] }
  }

  /// The elements in runs of at most `limit`, in order; a run of several elements has at most the size `bound`.
  /// - Parameter size: the size of an element; that of a run is the sum.
  package func inRuns(of limit: Int, upTo bound: Int, _ size: (Element) -> Int) -> [ArraySlice<Element>] {
    guard count > 1 else { return inRuns(of: limit) }
    var runs: [ArraySlice<Element>] = []
    var (start, total) = (0, 0)
    for (index, element) in enumerated() {
      let own = size(element)
      if index - start == limit || (index > start && total + own > bound) {
        runs.append(self[start..<index])
        (start, total) = (index, 0)
      }
      total += own
    }
    runs.append(self[start...])
    return runs
  }
}
