// A picture in at most 40 bytes, to be drawn until the picture itself is there.
//
//     byte 0         1, the form
//     bytes 1…3      the means of Y, Cb and Cr, 0 to 255 (full range, as in JPEG)
//     bytes 4…6      the scales of Y, Cb and Cr, 0 to 255
//     bytes 7…26     20 coefficients of Y:  (u, v) with 0 < u + v < 6, by u + v, then by v
//     bytes 27…31     5 coefficients of Cb: (u, v) with 0 < u + v < 3, in the same order
//     bytes 32…36     5 coefficients of Cr
//
// A coefficient c of scale s stands for a = (c - 128) / 127 * s. At the point (x, y) of the upright picture, 0 to 1
// from the upper left corner, a channel is its mean plus the sum of a * cos(pi u x) * cos(pi v y). Then
//
//     R = Y + 1.402 (Cr - 128)     G = Y - 0.344 (Cb - 128) - 0.714 (Cr - 128)     B = Y + 1.772 (Cb - 128)
//
// The ratio of the sides is the asset's own and not repeated here. A page draws 32x32 points and lets the browser
// enlarge them.
//
// Rejected: thumbhash (coefficients of 4 and 5 bits, so a reader unpacks bits, and bands show in skies); a tiny JPEG
// (its head alone is 600 bytes).

internal import Foundation

/// The compact form of a picture.
package struct Placeholder: Sendable, Hashable {
  /// The bytes, 37 of them.
  package let bytes: [UInt8]
  /// How many bytes there are.
  package static let count = 37
  /// The sides of the decode that it is made of.
  static let side = 8

  /// The pairs (u, v) of a channel in their order.
  private static func waves(below limit: Int) -> [(u: Int, v: Int)] {
    (1..<limit).flatMap { sum in (0...sum).map { (sum - $0, $0) } }
  }

  /// A placeholder that was made before.
  package init(bytes: [UInt8]) {
    precondition(bytes.count == Self.count, "A placeholder has \(Self.count) bytes.")
    self.bytes = bytes
  }

  /// Made of 8x8 pixels, three bytes each.
  init(pixels: [UInt8]) {
    precondition(pixels.count == Self.side * Self.side * 3, "A placeholder is computed from 8x8 pixels.")
    // JPEG's luma and the two differences of colour (JFIF): what each colour adds, after an offset.
    let channels: [(offset: Double, red: Double, green: Double, blue: Double, limit: Int)] = [
      (0, 0.299, 0.587, 0.114, 6), (128, -0.168736, -0.331264, 0.5, 3), (128, 0.5, -0.418688, -0.081312, 3),
    ]
    var (means, scales, coefficients) = ([UInt8](), [UInt8](), [UInt8]())
    for (offset, red, green, blue, limit) in channels {
      let channel = stride(from: 0, to: pixels.count, by: 3).map { start -> Double in
        var sum = offset
        sum += red * Double(pixels[start])
        sum += green * Double(pixels[start + 1])
        sum += blue * Double(pixels[start + 2])
        return sum
      }
      means.append(Self.byte(Self.amplitude(channel, 0, 0)))
      let amplitudes = Self.waves(below: limit).map { Self.amplitude(channel, $0.u, $0.v) }
      let scale = Self.byte((amplitudes.map(abs).max() ?? 0).rounded(.up))
      scales.append(scale)
      coefficients += amplitudes.map { scale == 0 ? 128 : Self.byte(128 + $0 / Double(scale) * 127) }
    }
    bytes = [1] + means + scales + coefficients
  }

  private static func byte(_ value: Double) -> UInt8 { UInt8(min(255, max(0, value.rounded()))) }

  /// How strongly a wave is in a channel (DCT-II).
  private static func amplitude(_ channel: [Double], _ u: Int, _ v: Int) -> Double {
    var sum = 0.0
    for y in 0..<side {
      for x in 0..<side {
        sum += channel[y * side + x] * wave(u, x) * wave(v, y)
      }
    }
    return sum * (u == 0 ? 1 : 2) * (v == 0 ? 1 : 2) / Double(side * side)
  }

  private static func wave(_ frequency: Int, _ place: Int) -> Double {
    cos(Double.pi * Double(frequency) * (Double(place) + 0.5) / Double(side))
  }

  /// The colour at a point, 0 to 1 from the upper left corner: what a page draws.
  package func color(x: Double, y: Double) -> (red: Double, green: Double, blue: Double) {
    var place = 7
    let channels = zip([6, 3, 3], 0..<3).map { limit, channel in
      var value = Double(bytes[1 + channel])
      for wave in Self.waves(below: limit) {
        let amplitude = (Double(bytes[place]) - 128) / 127 * Double(bytes[4 + channel])
        value += amplitude * cos(Double.pi * Double(wave.u) * x) * cos(Double.pi * Double(wave.v) * y)
        place += 1
      }
      return value
    }
    let (light, blue, red) = (channels[0], channels[1] - 128, channels[2] - 128)
    return (light + 1.402 * red, light - 0.344136 * blue - 0.714136 * red, light + 1.772 * blue)
  }

  /// The pixels of a binary PPM or PGM of a square (`P6`, `P5`), three bytes each; nil for anything else.
  static func pixels(ppm bytes: [UInt8], side: Int = side) -> [UInt8]? {
    let isGrey = bytes.starts(with: Array("P5".utf8))
    let body = side * side * (isGrey ? 1 : 3)
    guard bytes.count > body else { return nil }
    let head = String(decoding: bytes.prefix(bytes.count - body), as: UTF8.self)
    let words = head.split(separator: "\n").filter { !$0.hasPrefix("#") }.flatMap { $0.split { $0.isWhitespace } }
    guard head.hasSuffix("255\n"), words == [isGrey ? "P5" : "P6", "\(side)", "\(side)", "255"] else { return nil }
    let pixels = bytes.suffix(body)
    return isGrey ? pixels.flatMap { [$0, $0, $0] } : Array(pixels)
  }
}
