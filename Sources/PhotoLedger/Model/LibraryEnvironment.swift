import CSystem
package import EventLog
public import Foundation
import Glibc
import Synchronization

/// The environment of a library: clock, randomness, and the name of the process.
///
/// Nothing in the domain asks the system for any of these, so a seed reproduces a history byte for byte.
public struct LibraryEnvironment: Sendable {
  /// The clock; times are rounded to the microsecond when recorded.
  public var now: @Sendable () -> Date
  /// Gives random bits, for identifiers and for the salts of the log; called from several threads.
  public var random: @Sendable () -> UInt64
  /// Names this process in the log, such as `photoledger 4711`.
  public var process: String

  /// Takes a clock, a source of random bits and a name.
  public init(
    process: String, now: @escaping @Sendable () -> Date, random: @escaping @Sendable () -> UInt64
  ) {
    self.now = now
    self.random = random
    self.process = process
  }

  /// The system's clock and random numbers.
  public static var system: LibraryEnvironment {
    let pool = RandomPool()
    // `ProcessInfo` has both, but takes longer to make than the environment. Its name of the process is the last
    // component of the first argument too, unless the program sets another one or that argument ends with a slash.
    let name = String(cString: psys_program_name())
    return LibraryEnvironment(process: "\(name) \(getpid())", now: { Date() }, random: { pool.next() })
  }

  /// A clock that advances by a fixed step at each reading, and random numbers from a seed.
  /// - Parameters:
  ///   - seed: the same seed yields the same history.
  ///   - start: the first reading of the clock.
  ///   - step: the seconds between two readings.
  public static func seeded(
    _ seed: UInt64, start: Date = Date(timeIntervalSince1970: 1_750_000_000), step: TimeInterval = 1
  ) -> LibraryEnvironment {
    let state = SeededState(seed)
    return LibraryEnvironment(
      process: "seed \(seed)", now: { start.addingTimeInterval(Double(state.tick()) * step) },
      random: { state.next() })
  }

  /// The time, rounded down to the microsecond, as the log and the rows hold it.
  package func date() -> Date {
    Date(microseconds: now().microseconds)
  }

  package func identifier() -> LocalIdentifier {
    var generator = Generator(draw: random)
    return LocalIdentifier(using: &generator)
  }

  package func salt() -> Salt { Salt(random(), random()) }

  private struct Generator: RandomNumberGenerator {
    let draw: @Sendable () -> UInt64
    mutating func next() -> UInt64 { draw() }
  }
}

extension Date {
  /// Microseconds since 1970, rounded down; what the log holds.
  package var microseconds: Int64 {
    let value = (timeIntervalSince1970 * 1_000_000).rounded(.down)
    return value.isFinite ? Int64(max(-9e18, min(9e18, value))) : 0
  }

  package init(microseconds: Int64) {
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}

/// Random bits from the system, many at a time: a system call for each identifier would cost more than the identifier.
private final class RandomPool: Sendable {
  private let words = Mutex<[UInt64]>([])

  func next() -> UInt64 {
    words.withLock { words in
      if words.isEmpty {
        var generator = SystemRandomNumberGenerator()
        words = (0..<256).map { _ in generator.next() }
      }
      return words.removeLast()
    }
  }
}

/// SplitMix64, and a counter for the clock.
private final class SeededState: Sendable {
  private let state: Mutex<(word: UInt64, ticks: Int)>

  init(_ seed: UInt64) { state = Mutex((seed, 0)) }

  func tick() -> Int {
    state.withLock { state in
      state.ticks += 1
      return state.ticks - 1
    }
  }

  func next() -> UInt64 {
    state.withLock { state in
      state.word &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state.word
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
