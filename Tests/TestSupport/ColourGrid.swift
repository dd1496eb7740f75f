package import Foundation

/// Pictures of squares in plain colours, so that a test sees which part of a picture it was given.
///
/// A row is a string of letters: r, g and b are red, green and blue, w is white.
package enum ColourGrid {
  private static let colours: [Character: [UInt8]] = [
    "r": [255, 0, 0], "g": [0, 255, 0], "b": [0, 0, 255], "w": [255, 255, 255],
  ]

  /// Makes a picture, with ffmpeg.
  /// - Parameters:
  ///   - rows: the colours of the squares, from top to bottom.
  ///   - side: the side of a square, pixels.
  ///   - file: where the picture goes; the ending decides its kind.
  package static func make(_ rows: [String], side: Int, at file: URL) throws {
    var bytes = Data("P6\n\(side * (rows.first?.count ?? 0)) \(side * rows.count)\n255\n".utf8)
    for row in rows {
      let line = row.flatMap { colour in repeatElement(colours[colour] ?? [], count: side).joined() }
      for _ in 0..<side { bytes += line }
    }
    let source = file.appendingPathExtension("ppm")
    try bytes.write(to: source)
    defer { try? FileManager.default.removeItem(at: source) }
    try run(["-i", source.path, "-q:v", "1", "-pix_fmt", file.pathExtension == "png" ? "rgb24" : "yuvj444p", file.path])
  }

  /// The colours of a picture in the middle of each square of a grid that covers it; "?" where there is another colour.
  package static func read(_ picture: Data, columns: Int, rows: Int) throws -> [String] {
    let bytes = try samples(picture, columns: columns, rows: rows)
    return (0..<rows).map { row in
      String(
        (0..<columns).map { column in
          let found = bytes[row * columns + column]
          // Programs convert colours, so only what is bright counts.
          return colours.first { colour in colour.value.map { $0 / 128 } == found.map { $0 / 128 } }?.key ?? "?"
        })
    }
  }

  /// Red, green and blue in the middle of each square of a grid that covers a picture, row by row, as they are stored:
  /// without regard to a colour profile.
  package static func samples(_ picture: Data, columns: Int, rows: Int) throws -> [[UInt8]] {
    let folder = try TemporaryFolder()
    let (file, pixels) = (folder.place("picture"), folder.place("pixels"))
    try picture.write(to: file)
    try run([
      // Colours first: many JPEGs have them at half the size, and two pixels would share one.
      "-i", file.path, "-vf", "format=gbrp,scale=\(columns):\(rows):flags=neighbor", "-f", "rawvideo",
      "-pix_fmt", "rgb24", pixels.path,
    ])
    let bytes = Array(try Data(contentsOf: pixels))
    return (0..<rows * columns).map { Array(bytes[$0 * 3..<$0 * 3 + 3]) }
  }

  private static func run(_ words: [String]) throws {
    let (text, end) = try ChildRun.of(["ffmpeg", "-nostdin", "-v", "error", "-y"] + words)
    guard end == .status(0) else { throw CocoaError(.fileReadCorruptFile, userInfo: ["ffmpeg": text]) }
  }
}
