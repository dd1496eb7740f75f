import Foundation

// The lines of a text as bytes, in one piece. Most rules concern few lines of few files, and a search through a whole
// file costs a debug build hardly more than one through a single line:
//
//     bytes    let a = b \n try! c \n     memchr finds the rarest byte of `try!`, memcmp the rest
//     starts   0          10       18     the line of a match is found by its place
//
// So a rule asks for the lines that may break it, and reads these alone as strings.

/// The lines of a text, as bytes.
struct LinedBytes: Sendable {
  /// Each line with a line feed behind it, the last one as well.
  private let bytes: [UInt8]
  /// Where each line begins, and where one behind the last would begin.
  private let starts: [Int]

  private init(bytes: [UInt8], starts: [Int]) {
    self.bytes = bytes
    self.starts = starts
  }

  init(_ text: String) {
    var bytes = Array(text.utf8)
    bytes.append(UInt8(ascii: "\n"))
    var starts = [0]
    bytes.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return }
      var place = 0
      while place < bytes.count, let end = memchr(start + place, 0x0A, bytes.count - place) {
        place = UnsafeRawPointer(end) - UnsafeRawPointer(start) + 1
        starts.append(place)
      }
    }
    self.init(bytes: bytes, starts: starts)
  }

  init(lines: [String]) {
    var (bytes, starts): ([UInt8], [Int]) = ([], [0])
    for line in lines {
      if !line.isEmpty { bytes.append(contentsOf: line.utf8) }
      bytes.append(UInt8(ascii: "\n"))
      starts.append(bytes.count)
    }
    self.init(bytes: bytes, starts: starts)
  }

  /// The same lines without comments and without the contents of literals.
  func blanked() -> LinedBytes { LinedBytes(bytes: Blanker.blank(bytes), starts: starts) }

  var lines: [String] {
    (0..<(starts.count - 1)).map { line in withLine(line) { String(decoding: $0, as: UTF8.self) } }
  }

  /// Runs a body with the bytes of a line.
  func withLine<R>(_ line: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    bytes.withUnsafeBufferPointer { bytes in
      body(UnsafeBufferPointer(rebasing: bytes[starts[line]..<(starts[line + 1] - 1)]))
    }
  }

  /// The indices of the lines that hold a text, in order. A line feed at its end stands for the end of the line.
  func lines(holding text: String) -> [Int] {
    var found: [Int] = []
    var wanted = text
    bytes.withUnsafeBufferPointer { bytes in
      wanted.withUTF8 { wanted in
        guard let start = bytes.baseAddress, let search = ByteSearch(wanted) else { return }
        var (place, line) = (0, 0)
        while let match = search.match(in: start, from: place, to: bytes.count) {
          while starts[line + 1] <= match { line += 1 }
          found.append(line)
          place = starts[line + 1]
        }
      }
    }
    return found
  }

  /// The indices of the lines that hold one of some texts, in order.
  func lines(holding texts: [String]) -> [Int] {
    texts.count == 1 ? lines(holding: texts[0]) : Set(texts.flatMap { lines(holding: $0) }).sorted()
  }
}

/// A search for bytes that looks for the rarest of them first.
private struct ByteSearch {
  private let wanted: UnsafePointer<UInt8>
  private let count: Int
  /// The place of the rarest byte.
  private let anchor: Int

  /// Nil for no bytes. The search is valid as long as the bytes are.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let wanted = bytes.baseAddress, bytes.count > 0 else { return nil }
    var anchor = 0
    var least = Self.commonness[Int(wanted[0])]
    for place in 1..<bytes.count {
      let next = Self.commonness[Int(wanted[place])]
      if next < least { (anchor, least) = (place, next) }
    }
    (self.wanted, count, self.anchor) = (wanted, bytes.count, anchor)
  }

  /// How common each byte is in code and prose, roughly.
  private static let commonness: [UInt8] = {
    var found = [UInt8](repeating: 0, count: 256)
    for byte in "bcdfghjklmpquvwxyz(),/=\n".utf8 { found[Int(byte)] = 1 }
    for byte in " aeiorstnl.".utf8 { found[Int(byte)] = 2 }
    return found
  }()

  /// The place of the first match that begins and ends between two places; nil if there is none.
  func match(in start: UnsafePointer<UInt8>, from first: Int, to end: Int) -> Int? {
    var place = first + anchor
    let last = end - count + anchor
    while place <= last, let found = memchr(start + place, Int32(wanted[anchor]), last - place + 1) {
      let match = UnsafeRawPointer(found) - UnsafeRawPointer(start) - anchor
      if memcmp(start + match, wanted, count) == 0 { return match }
      place = match + anchor + 1
    }
    return nil
  }
}
