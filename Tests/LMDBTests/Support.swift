import Foundation
import LMDB
import Testing

/// Runs `body` with the path of an empty directory that is removed afterwards.
func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
  var template = Array("/tmp/lmdb-test-XXXXXX".utf8CString)
  let path = try #require(mkdtemp(&template).map { String(cString: $0) })
  defer { try? FileManager.default.removeItem(atPath: path) }
  try await body(path)
}

/// Runs `body` with the path of an empty directory that is removed afterwards.
func withTemporaryDirectory(_ body: (String) throws -> Void) throws {
  var template = Array("/tmp/lmdb-test-XXXXXX".utf8CString)
  let path = try #require(mkdtemp(&template).map { String(cString: $0) })
  defer { try? FileManager.default.removeItem(atPath: path) }
  try body(path)
}

/// A folder that is deleted when its owner goes.
final class TemporaryFolder {
  let url: URL

  init() throws {
    var template = Array("/tmp/lmdb-test-XXXXXX".utf8CString)
    url = URL(filePath: try #require(mkdtemp(&template).map { String(cString: $0) }))
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A place in the folder where nothing is yet.
  func place(_ name: String) -> URL { url.appending(path: name) }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension Environment.Options {
  static func with(_ change: (inout Self) -> Void) -> Self {
    var options = Self()
    change(&options)
    return options
  }

  /// For tests that are not about power failures.
  static let fast = with { $0.durability = .unsafeNoSync }
}

/// Waits for `condition`, looking every millisecond, at most `seconds`.
func eventually(seconds: Double = 180, _ condition: () throws -> Bool) async throws -> Bool {
  let deadline = ContinuousClock.now + .seconds(seconds)
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(1))
  }
  return try condition()
}

/// The code of the LMDBError that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) throws -> LMDBError.Code? {
  do {
    try body()
    return nil
  } catch let error as LMDBError {
    return error.code
  }
}

extension TransactionReading where Self: ~Copyable {
  /// Every entry, in order.
  func dump(_ database: Database) throws -> [[UInt8]: [UInt8]] {
    var all: [[UInt8]: [UInt8]] = [:]
    try forEach(in: database) { key, value in
      all[key.array] = value.array
      return .proceed
    }
    return all
  }
}

extension RawSpan {
  var array: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension FixedWidthInteger {
  /// The bytes of the number, highest first.
  var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { [UInt8]($0) } }
}

/// How a process ends whose precondition does not hold.
#if arch(x86_64)
  let trap = ExitTest.Condition.signal(SIGILL)
#else
  let trap = ExitTest.Condition.signal(SIGTRAP)
#endif

/// Rows that each fill a page, so that a store of few pages is full soon.
func bigRow(_ n: Int) -> (key: [UInt8], value: [UInt8]) {
  (n.bigEndianBytes, [UInt8](repeating: UInt8(truncatingIfNeeded: n), count: 3000))
}

/// The descriptors of this process for the data file of the store in a folder.
func dataDescriptors(of path: String) -> [Int32] {
  let place = "/" + URL(filePath: path).lastPathComponent + "/data.mdb"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return names.compactMap { Int32($0) }.filter { descriptor in
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    return link?.hasSuffix(place) == true
  }
}

/// What /proc calls the calling thread.
func nameOfThisThread() -> String? {
  try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
}

/// Whether a thread of this name waits for something.
func isAsleep(_ name: String) -> Bool {
  (try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8))?.contains(") S ") == true
}

/// Makes descriptors that are opened from now on large numbers, as in a process that inherited many.
func crowdDescriptors() {
  for _ in 0..<80 { _ = open("/dev/null", O_RDONLY) }
}
