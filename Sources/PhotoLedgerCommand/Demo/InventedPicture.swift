import Foundation

/// Numbers that a seed decides (SplitMix64): the same seed, the same demonstration.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A small generated landscape: sky, sun, hills and a shore, as a PNG file.
struct InventedPicture {
  let width: Int
  let height: Int
  let png: Data

  /// How many colours the sky passes through.
  private static let skyColours = 24

  /// - Parameter hue: the colour of the sky in degrees; pictures of one journey share it.
  init(hue: Int, isPanorama: Bool, using numbers: inout SeededNumbers) {
    width = isPanorama ? 960 : 480
    height = isPanorama ? 240 : 360
    let (width, height) = (width, height)
    let horizon = height * Int.random(in: 50...70, using: &numbers) / 100
    let sunX = Int.random(in: width / 8...width * 7 / 8, using: &numbers)
    let sunY = Int.random(in: height / 8...horizon - height / 8, using: &numbers)
    let light = Int.random(in: 62...84, using: &numbers)
    var ridges: [[Int]] = []
    for layer in 0..<3 {
      ridges.append(Self.ridge(width: width, around: horizon + layer * height / 9, height / 10, &numbers))
    }
    var palette = (0..<Self.skyColours).map { Self.colour(hue: hue, 60, light - 12 + $0) }
    palette.append(Self.colour(hue: 45, 95, light + 10))
    palette += (0..<3).map { Self.colour(hue: (hue + 90) % 360, 35, 48 - $0 * 12) }
    var image = PalettePNG(palette: palette, width: width, height: height)
    let radius = height / 12
    for y in 0..<height {
      image.fill(0..<width, row: y, with: min(y * Self.skyColours / max(1, horizon), Self.skyColours - 1))
      let half = Int(Double(max(0, radius * radius - (y - sunY) * (y - sunY))).squareRoot())
      if half > 0 { image.fill(max(0, sunX - half)..<min(width, sunX + half), row: y, with: Self.skyColours) }
    }
    for (layer, ridge) in ridges.enumerated() {
      image.fillBelow(ridge, with: Self.skyColours + 1 + layer)
    }
    png = image.data
  }

  /// The height of a line of hills at each column.
  private static func ridge(width: Int, around level: Int, _ roughness: Int, _ numbers: inout SeededNumbers) -> [Int] {
    let points = (0...8).map { _ in level + Int.random(in: -roughness...roughness, using: &numbers) }
    return (0..<width).map { x in
      let (left, rest) = (x * 8 / width, x * 8 % width)
      return points[left] + (points[left + 1] - points[left]) * rest / width
    }
  }

  /// A colour of hue (degrees), saturation and lightness (hundredths) in red, green and blue.
  private static func colour(hue: Int, _ saturation: Int, _ lightness: Int) -> [UInt8] {
    let (saturation, lightness) = (Double(saturation) / 100, Double(min(max(lightness, 0), 100)) / 100)
    let chroma = saturation * min(lightness, 1 - lightness)
    return [0, 8, 4].map { offset in
      let k = (Double(offset) + Double(hue) / 30).truncatingRemainder(dividingBy: 12)
      return UInt8((255 * (lightness - chroma * max(-1, min(k - 3, 9 - k, 1)))).rounded())
    }
  }
}

/// A picture of at most 144 colours, and its PNG file. Runs of a colour are the only thing that its compression knows,
/// which is what drawn pictures have; Foundation has no deflate on Linux. `photoledger demo` runs in debug builds too,
/// so whole rows are filled, and loops over pixels use pointers.
private struct PalettePNG {
  private let palette: [[UInt8]]
  private let width: Int
  private let height: Int
  /// Each row's filter (0, none), then its pixels.
  private var bytes: [UInt8]

  init(palette: [[UInt8]], width: Int, height: Int) {
    precondition(palette.count <= 144, "The picture has \(palette.count) colours; 144 are possible.")
    (self.palette, self.width, self.height) = (palette, width, height)
    bytes = [UInt8](repeating: 0, count: (width + 1) * height)
  }

  mutating func fill(_ columns: Range<Int>, row: Int, with colour: Int) {
    let start = row * (width + 1) + 1
    bytes.withUnsafeMutableBufferPointer { pixels in
      UnsafeMutableBufferPointer(rebasing: pixels[start + columns.lowerBound..<start + columns.upperBound])
        .update(repeating: UInt8(colour))
    }
  }

  /// - Parameter line: for each column the first row that is filled.
  mutating func fillBelow(_ line: [Int], with colour: Int) {
    let lowest = min(line.max() ?? height, height)
    bytes.withUnsafeMutableBufferPointer { pixels in
      for (x, top) in line.enumerated() where top < lowest {
        var y = max(0, top)
        while y < lowest {
          pixels[y * (width + 1) + 1 + x] = UInt8(colour)
          y += 1
        }
      }
    }
    for y in lowest..<height { fill(0..<width, row: y, with: colour) }
  }

  var data: Data {
    let head = Self.word(UInt32(width)) + Self.word(UInt32(height)) + [8, 3, 0, 0, 0]
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    file += Self.chunk("IHDR", head)
    file += Self.chunk("PLTE", palette.flatMap { $0 })
    file += Self.chunk("IDAT", Self.deflated(bytes))
    file += Self.chunk("IEND", [])
    return Data(file)
  }

  private static func word(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) } }

  private static let crcs: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    let table = crcs
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in body { crc = table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    return word(UInt32(content.count)) + body + word(~crc)
  }

  /// The zlib form (RFC 1950) with the fixed codes of RFC 1951: a byte, then its repetitions at distance 1.
  private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    var output = BitWriter(bytes: [0x78, 0x01])
    output.put(0b011, 3)
    bytes.withUnsafeBufferPointer { pixels in
      var index = 0
      while index < pixels.count {
        let colour = pixels[index]
        var end = index + 1
        while end < pixels.count, pixels[end] == colour { end += 1 }
        var repetitions = end - index - 1
        index = end
        output.putCode(0x30 + UInt32(colour), 8)
        while repetitions >= 3 {
          let length = repetitions >= 258 ? 258 : min(repetitions, 10)
          if length == 258 { output.putCode(0b1100_0101, 8) } else { output.putCode(UInt32(length - 2), 7) }
          output.put(0, 5)
          repetitions -= length
        }
        for _ in 0..<repetitions { output.putCode(0x30 + UInt32(colour), 8) }
      }
    }
    output.putCode(0, 7)
    return output.finished() + word(adler(bytes))
  }

  private static func adler(_ bytes: [UInt8]) -> UInt32 {
    bytes.withUnsafeBufferPointer { pixels in
      var (a, b, index) = (UInt64(1), UInt64(0), 0)
      while index < pixels.count {
        // So many bytes cannot overflow 64 bits.
        let end = min(index + 65536, pixels.count)
        while index < end {
          a += UInt64(pixels[index])
          b += a
          index += 1
        }
        (a, b) = (a % 65521, b % 65521)
      }
      return UInt32(b << 16 | a)
    }
  }
}

/// Bits in the order of RFC 1951: each byte from its lowest bit on.
private struct BitWriter {
  private var bytes: [UInt8]
  private var pending: UInt64 = 0
  private var count = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// A number, from its lowest bit on.
  mutating func put(_ value: UInt32, _ length: Int) {
    pending |= UInt64(value) << count
    count += length
    while count >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      count -= 8
    }
  }

  /// A code, from its highest bit on.
  mutating func putCode(_ code: UInt32, _ length: Int) {
    var (reversed, rest) = (UInt32(0), code)
    for _ in 0..<length {
      reversed = reversed << 1 | rest & 1
      rest >>= 1
    }
    put(reversed, length)
  }

  consuming func finished() -> [UInt8] { count > 0 ? bytes + [UInt8(truncatingIfNeeded: pending)] : bytes }
}
