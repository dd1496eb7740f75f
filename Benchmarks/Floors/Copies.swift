import CountedTree
import Foundation

/// What memory itself takes, caches cold, for copies of the list and for copies of paths in a tree.
///
/// A comparison of two lists reads both, so a `memcpy` of one is less than it can do. A persistent tree copies the
/// path to each place that it changes; here are as many nodes of the same sizes, each a block of its own and copied to
/// a fresh one, and nothing is searched, compared, counted or linked:
///
///     1 KiB   inner nodes of 31 children    ·─────────┬─────────·
///     4 KiB   leaves of 16-byte keys        ▪ ▪ ▪ ▪ ▪ ▪ ▪ ▪ ▪ ▪
final class Copies {
  private static let (leafBytes, innerBytes, width) = (4096, 1024, 31)

  /// The blocks of each level, leaves first, up to one root.
  private var levels: [[UnsafeMutableRawPointer]] = []
  private var random = Seeded(9)

  init(count: Int) {
    var wanted = max(1, count * MemoryLayout<ResultKey>.stride / Self.leafBytes)
    while true {
      levels.append((0..<wanted).map { Self.block(levels.isEmpty ? Self.leafBytes : Self.innerBytes, filledWith: $0) })
      if wanted == 1 { return }
      wanted = (wanted + Self.width - 1) / Self.width
    }
  }

  deinit { for block in levels.joined() { block.deallocate() } }

  private static func block(_ byteCount: Int, filledWith number: Int) -> UnsafeMutableRawPointer {
    let block = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
    memset(block, Int32(number & 0x7F), byteCount)
    return block
  }

  /// Times the copying of the paths to so many places at random; what two paths share is copied once.
  func paths(_ count: Int, _ stopwatch: Stopwatch, afterFlushing flush: inout CacheFlush) throws -> Double {
    let leaves = (0..<count).map { _ in Int.random(in: levels[0].indices, using: &random) }.sorted()
    var made: [(copy: UnsafeMutableRawPointer, original: UnsafeMutableRawPointer, byteCount: Int)] = []
    made.reserveCapacity(count * levels.count)
    var last = [Int](repeating: -1, count: levels.count)
    flush.flush()
    let time = stopwatch.time {
      for leaf in leaves {
        var index = leaf
        for level in levels.indices {
          if last[level] == index { break }
          last[level] = index
          let byteCount = level == 0 ? Self.leafBytes : Self.innerBytes
          let copy = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
          memcpy(copy, levels[level][index], byteCount)
          made.append((copy, levels[level][index], byteCount))
          index /= Self.width
        }
      }
    }
    defer { for block in made { block.copy.deallocate() } }
    let areWhole = made.allSatisfy { memcmp($0.copy, $0.original, $0.byteCount) == 0 }
    guard made.count >= min(count, 1) * levels.count, areWhole else {
      throw WrongAnswer(description: "A path was not copied as it is.")
    }
    return time
  }

  /// Times a copy of a list into memory that has been written before.
  static func list(_ items: [Item], _ stopwatch: Stopwatch, afterFlushing flush: inout CacheFlush) throws -> Double {
    try items.withUnsafeBytes { items in
      let copy = block(max(1, items.count), filledWith: 1)
      defer { copy.deallocate() }
      guard let source = items.baseAddress else { return 0 }
      flush.flush()
      let time = stopwatch.time { _ = memcpy(copy, source, items.count) }
      guard memcmp(copy, source, items.count) == 0 else {
        throw WrongAnswer(description: "The list was not copied as it is.")
      }
      return time
    }
  }
}
