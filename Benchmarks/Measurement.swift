/// How the memory stood when an operation began.
enum Caches: String, Codable, Sendable {
  /// The repetition before was the same operation elsewhere in the same list, and nothing came between.
  case warm
  /// A buffer larger than all caches was written in between.
  case cold
}

/// The times of one operation, repeated.
struct Sample: Sendable {
  /// Nanoseconds, ascending.
  let times: [Double]

  init(_ times: [Double]) { self.times = times.sorted() }

  func quantile(_ share: Double) -> Double { times[Int((Double(times.count - 1) * share).rounded())] }
}

/// Runs operations by the clock.
struct Stopwatch {
  private let clock = ContinuousClock()

  /// Nanoseconds one call takes.
  func time(_ body: () throws -> Void) rethrows -> Double {
    let duration = try clock.measure(body)
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
  }
}

/// Pushes everything else out of the processor's caches, code included.
///
/// Every line is read and written. Filling the buffer would not do: large fills go past the caches. Before lists that
/// are shorter than those of any real run, which only show that the benchmark works, the buffer is small.
struct CacheFlush {
  private var buffer: [UInt8]

  /// Prepares to push out the caches before operations on lists of `size` objects.
  init(before size: Int) {
    buffer = [UInt8](repeating: 1, count: size < Report.leastSize ? 1 << 16 : 96 << 20)
  }

  mutating func flush() {
    buffer.withUnsafeMutableBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        bytes[offset] &+= 1
        offset += 64
      }
    }
  }
}

/// A repeatable source of randomness (SplitMix64).
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

/// A benchmark that found a wrong answer.
struct WrongAnswer: Error, CustomStringConvertible {
  let description: String
}
