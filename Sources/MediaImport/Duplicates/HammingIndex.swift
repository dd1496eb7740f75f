// Numbers of 64 bits that differ from a given one in few bits, without comparing all.
//
//     bits     0 ……… 20 │ 21 ……… 42 │ 43 ……… 63        m bands, each about as wide as the count of numbers is long
//     tables      ▼           ▼           ▼             from the value of a band to the numbers that have it there
//
// Two numbers that differ in at most d bits differ in at most d / m bits, rounded down, in some band: m bands with one
// more each would be more than d. So a query tries, in each table, the values that are that near, and compares what it
// finds. A number that several bands find is given by the first of them only.
//
// Rejected: a BK-tree, which at these distances visits a large part of a tree of a million; one band more than the
// distance, as then bands are so narrow that each value has thousands of numbers.

/// Finds numbers by their Hamming distance.
struct HammingIndex {
  private struct Band {
    let start: UInt64
    let width: Int
    /// Where the numbers of each value begin among `items`, with the end after the last.
    var starts: [UInt32]
    var items: [UInt32]

    func value(of number: UInt64) -> Int { Int(number >> start & (1 << UInt64(width) - 1)) }
  }

  private let numbers: [UInt64]
  private let bands: [Band]

  /// - Complexity: O(n) for n numbers.
  init(_ numbers: [UInt64]) {
    precondition(numbers.count < 1 << 31, "An index holds at most 2^31 numbers.")
    self.numbers = numbers
    let width = min(21, max(8, Int.bitWidth - max(1, numbers.count).leadingZeroBitCount))
    let count = 64 / width
    var (bands, start) = ([Band](), 0)
    for band in 0..<count {
      let end = 64 * (band + 1) / count
      bands.append(Self.band(of: numbers, UInt64(start), end - start))
      start = end
    }
    self.bands = bands
  }

  private static func band(of numbers: [UInt64], _ start: UInt64, _ width: Int) -> Band {
    var band = Band(
      start: start, width: width, starts: Array(repeating: 0, count: 1 << width + 1),
      items: Array(repeating: 0, count: numbers.count))
    for number in numbers { band.starts[band.value(of: number) + 1] += 1 }
    for value in 1..<band.starts.count { band.starts[value] += band.starts[value - 1] }
    var next = band.starts
    for (index, number) in numbers.enumerated() {
      let value = band.value(of: number)
      band.items[Int(next[value])] = UInt32(index)
      next[value] += 1
    }
    return band
  }

  /// Gives the index of each number at most at a distance from another, once each, until false is returned.
  func forEach(within distance: Int, of number: UInt64, _ body: (Int) -> Bool) {
    let radius = distance / bands.count
    var goesOn = true
    for (place, band) in bands.enumerated() where goesOn {
      let own = band.value(of: number)
      Self.forEachMask(of: radius, in: band.width) { mask in
        if !goesOn { return }
        let value = own ^ mask
        for item in band.items[Int(band.starts[value])..<Int(band.starts[value + 1])] {
          let difference = numbers[Int(item)] ^ number
          guard difference.nonzeroBitCount <= distance else { continue }
          let isFirst = !bands[..<place].contains { $0.value(of: difference).nonzeroBitCount <= radius }
          if isFirst { goesOn = body(Int(item)) }
          if !goesOn { return }
        }
      }
    }
  }

  /// Gives each set of at most some bits of a width.
  private static func forEachMask(of count: Int, in width: Int, _ body: (Int) -> Void) {
    func extend(_ mask: Int, from bit: Int, _ left: Int) {
      body(mask)
      if left == 0 { return }
      for next in bit..<max(bit, width) { extend(mask | 1 << next, from: next + 1, left - 1) }
    }
    extend(0, from: 0, count)
  }
}
