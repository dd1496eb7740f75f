extension BinaryInteger {
  /// The decimal digits, with zeros in front up to a width; a minus sign stands before them and does not count.
  package func padded(to width: Int) -> String {
    let digits = String(magnitude)
    return (self < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
