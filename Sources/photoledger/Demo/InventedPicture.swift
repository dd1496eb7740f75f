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

/// A small landscape that nobody photographed: sky, sun, hills and a shore, as an SVG file that any browser opens.
struct InventedPicture {
  let width: Int
  let height: Int
  let svg: String

  /// - Parameters:
  ///   - caption: written into a corner.
  ///   - hue: the colour of the sky in degrees; pictures of one journey share it.
  init(caption: String, hue: Int, isPanorama: Bool, using numbers: inout SeededNumbers) {
    width = isPanorama ? 1600 : 640
    height = isPanorama ? 400 : 480
    let horizon = height * Int.random(in: 50...70, using: &numbers) / 100
    let sunX = Int.random(in: width / 8...width * 7 / 8, using: &numbers)
    let sunY = Int.random(in: height / 8...horizon - height / 8, using: &numbers)
    let light = Int.random(in: 62...84, using: &numbers)
    var shapes = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)">
      <rect width="100%" height="100%" fill="hsl(\(hue),60%,\(light)%)"/>
      <circle cx="\(sunX)" cy="\(sunY)" r="\(height / 12)" fill="hsl(45,95%,\(light + 10)%)"/>

      """
    for layer in 0..<3 {
      let points = Self.ridge(width: width, around: horizon + layer * height / 9, height / 10, &numbers)
      let fill = "hsl(\((hue + 90) % 360),35%,\(48 - layer * 12)%)"
      shapes += """
        <polygon points="0,\(height) \(points) \(width),\(height)" fill="\(fill)"/>

        """
    }
    svg =
      shapes + """
        <text x="\(width - 12)" y="\(height - 12)" text-anchor="end" font-family="sans-serif" font-size="18" \
        fill="white">\(caption)</text>
        </svg>

        """
  }

  /// The points of a line of hills.
  private static func ridge(
    width: Int, around level: Int, _ roughness: Int, _ numbers: inout SeededNumbers
  ) -> String {
    (0...8).map { "\(width * $0 / 8),\(level + Int.random(in: -roughness...roughness, using: &numbers))" }
      .joined(separator: " ")
  }
}
