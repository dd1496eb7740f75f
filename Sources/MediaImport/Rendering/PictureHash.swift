internal import Foundation

// What a picture looks like, in 32 bytes and three means, so that a re-encoded or smaller copy has nearly the same.
//
//     picture ── vipsthumbnail ──▶ 32x32, sRGB ──▶ lightness ──▶ DCT-II ──▶ signs of 256 waves      means of Y, Cb, Cr
//                                                                 64 coarse: an index finds them     a colour cast
//                                                                 192 finer: they confirm            is another picture
//
// A wave counts by its sign: lighter in its crests or in its troughs. Compression, another size and another contrast
// change amplitudes and few signs. The waves are taken by u + v, then by u, without the mean, the coarsest first.
//
// The coarse ones alone confuse pages of text and other pictures with one layout, so the finer ones have to agree, too.
// In a plain picture, a blank page or a dark frame, the signs are noise: it has no hash, and is like no other.
//
// Rejected: a difference hash of 9x8 pixels (each bit hangs on two neighbours, and flips where both are nearly equal);
// comparing the pixels of all pairs (1,000 bytes for each picture, and no index finds candidates).

/// A picture, as far as it can be compared.
package struct PictureHash: Sendable, Hashable {
  /// The sides of the picture that it is made of.
  static let side = 32
  /// Changes with everything that changes the hash of a picture.
  static let recipe = "h1"

  /// The signs of the 64 coarsest waves.
  let coarse: UInt64
  /// The signs of the 192 next ones.
  let fine: (UInt64, UInt64, UInt64)
  /// The means of Y, Cb and Cr.
  let means: (UInt8, UInt8, UInt8)

  /// A hash that was made before.
  init(coarse: UInt64, fine: (UInt64, UInt64, UInt64), means: (UInt8, UInt8, UInt8)) {
    (self.coarse, self.fine, self.means) = (coarse, fine, means)
  }

  /// Frequencies along each side.
  private static let frequencies = 16
  private static let waves: [(u: Int, v: Int)] = (1...30).flatMap { sum in
    (0..<frequencies).compactMap { u in (0..<frequencies).contains(sum - u) ? (u, sum - u) : nil }
  }
  private static let cosines: [[Double]] = (0..<frequencies).map { frequency in
    (0..<side).map { cos(Double.pi * Double(frequency) * (Double($0) + 0.5) / Double(side)) }
  }

  /// The least deviation of lightness from its mean, of 255, and the least number of coarse waves with an amplitude of
  /// half a step, with which a picture is not plain.
  private static let (leastContrast, leastWaves) = (5.0, 24)

  /// The hash of 32x32 pixels, three bytes each; nil for a plain picture.
  init?(pixels: [UInt8]) {
    precondition(pixels.count == Self.side * Self.side * 3, "A picture is compared by 32x32 pixels.")
    let count = Self.side * Self.side
    var (light, blue, red) = ([Double](repeating: 0, count: count), 0.0, 0.0)
    for index in 0..<count {
      let (r, g, b) = (Double(pixels[index * 3]), Double(pixels[index * 3 + 1]), Double(pixels[index * 3 + 2]))
      light[index] = 0.299 * r + 0.587 * g + 0.114 * b
      blue += 128 - 0.168736 * r - 0.331264 * g + 0.5 * b
      red += 128 + 0.5 * r - 0.418688 * g - 0.081312 * b
    }
    let mean = light.reduce(0, +) / Double(count)
    let deviation = (light.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(count)).squareRoot()
    let amplitudes = Self.amplitudes(light)
    guard deviation >= Self.leastContrast, amplitudes.prefix(64).count(where: { abs($0) >= 0.5 }) >= Self.leastWaves
    else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (index, amplitude) in amplitudes.prefix(256).enumerated() where amplitude > 0 {
      words[index / 64] |= 1 << UInt64(index % 64)
    }
    (coarse, fine) = (words[0], (words[1], words[2], words[3]))
    func byte(_ value: Double) -> UInt8 { UInt8(min(255, max(0, value.rounded()))) }
    means = (byte(mean), byte(blue / Double(count)), byte(red / Double(count)))
  }

  /// How strongly each wave is in a picture; first along the rows, then along the columns.
  private static func amplitudes(_ light: [Double]) -> [Double] {
    var rows = [Double](repeating: 0, count: frequencies * side)
    for y in 0..<side {
      for u in 0..<frequencies {
        var sum = 0.0
        for x in 0..<side { sum += light[y * side + x] * cosines[u][x] }
        rows[u * side + y] = sum
      }
    }
    return waves.map { wave in
      var sum = 0.0
      for y in 0..<side { sum += rows[wave.u * side + y] * cosines[wave.v][y] }
      return sum * 4 / Double(side * side)
    }
  }

  /// How many of the coarse waves differ.
  func distance(to other: PictureHash) -> Int { (coarse ^ other.coarse).nonzeroBitCount }

  /// How many of the finer waves may differ at a distance of the coarse ones.
  static func fineLimit(at distance: Int) -> Int { 24 + 4 * distance }
  /// How much a mean may differ.
  private static let meanLimit = 12

  /// Whether two pictures are alike at a distance of the coarse waves.
  func isAlike(_ other: PictureHash, within distance: Int) -> Bool {
    guard self.distance(to: other) <= distance else { return false }
    let finer = [fine.0 ^ other.fine.0, fine.1 ^ other.fine.1, fine.2 ^ other.fine.2]
    guard finer.reduce(0, { $0 + $1.nonzeroBitCount }) <= Self.fineLimit(at: distance) else { return false }
    let colors = [(means.0, other.means.0), (means.1, other.means.1), (means.2, other.means.2)]
    return colors.allSatisfy { abs(Int($0.0) - Int($0.1)) <= Self.meanLimit }
  }

  package static func == (left: PictureHash, right: PictureHash) -> Bool {
    left.coarse == right.coarse && left.fine == right.fine && left.means == right.means
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(coarse) }
}
