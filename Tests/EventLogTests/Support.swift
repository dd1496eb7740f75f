import Foundation
import LMDB
import Testing

@testable import EventLog

/// Whether runs are as long as in CI; `Dose.isFull` of the other tests' support, which needs the modules above the log.
let isFullDose: Bool = {
  let dose = ProcessInfo.processInfo.environment["PHOTOLEDGER_TEST_DOSE"].flatMap { Double($0) }
  return (dose ?? 1) >= 4
}()

/// Runs `body` with the path of an empty directory that is removed afterwards.
func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
  var template = Array("/tmp/eventlog-test-XXXXXX".utf8CString)
  let path = try #require(mkdtemp(&template).map { String(cString: $0) })
  defer { try? FileManager.default.removeItem(atPath: path) }
  try await body(path)
}

/// Runs `body` with a log in an empty store that is removed afterwards.
func withLog(limits: EventLog.Limits = .init(), _ body: (EventLog) throws -> Void) throws {
  var template = Array("/tmp/eventlog-test-XXXXXX".utf8CString)
  let path = try #require(mkdtemp(&template).map { String(cString: $0) })
  defer { try? FileManager.default.removeItem(atPath: path) }
  try body(try EventLog(in: openStore(path), limits: limits))
}

/// A store whose commits are not forced to disk: these tests are not about power failures.
func openStore(_ path: String) throws -> Environment {
  var options = Environment.Options()
  options.durability = .unsafeNoSync
  return try Environment.open(path: path, options: options)
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

  /// The lowest byte of each of so many numbers.
  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for _ in 0..<count { bytes.append(UInt8(truncatingIfNeeded: next())) }
    return bytes
  }
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func bytes(hexadecimal text: String) -> [UInt8] {
  let digits = Array(text.filter { !$0.isWhitespace })
  return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

extension RawSpan {
  var array: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

/// The error that `body` throws; nil when it throws none.
func failure(_ body: () throws -> Void) throws -> EventLogError? {
  do {
    try body()
    return nil
  } catch let error as EventLogError {
    return error
  }
}

extension EventLog {
  /// What both ways of verifying find, which must be the same.
  func verification(statesAt sizes: Set<UInt64> = []) throws -> LogVerification {
    try environment.read { t in
      let found = try verify(statesAt: sizes, in: t)
      let spread = try verifyOnSeveralCores(statesAt: sizes, in: t)
      #expect(spread == found)
      return found
    }
  }

  func currentHead() throws -> Head { try environment.read { t in try head(t) } }

  @discardableResult
  func append(
    _ information: CommitInformation, _ events: [EventDraft], expectedHead: UInt64? = nil
  ) throws -> Commit {
    try environment.write { t in try append(information, events, expectedHead: expectedHead, in: &t) }
  }
}

/// Commits as a small program might make them: one to four events each, some with keys.
func fill(_ log: EventLog, commits: Int, seed: UInt64) throws {
  var random = SeededGenerator(seed: seed)
  for n in 1...commits {
    let information = CommitInformation(
      time: 1_700_000_000_000_000 + Int64(n), client: "client \(n % 3)", cause: "test", process: "p",
      key: n % 2 == 0 ? "key \(n)" : nil, causation: n % 3 == 0 ? "c" : nil)
    let events = (0..<Int.random(in: 1...4, using: &random)).map { index in
      EventDraft(
        type: "kind.\(index)", version: UInt32(index), payload: random.bytes(Int.random(in: 0...40, using: &random)),
        salt: Salt(random.next(), random.next()))
    }
    try log.append(information, events)
  }
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

/// What several threads found, in the order they found it. An NSLock, because the thread sanitizer does not know
/// `Synchronization.Mutex`.
///
/// Guarded by `lock`: `elements`.
final class Collected<Element: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var elements: [Element] = []

  var all: [Element] { lock.withLock { elements } }

  func append(_ element: Element) { lock.withLock { elements.append(element) } }
}

extension EventRecord {
  /// The bytes of a record by itself, and the chain up to it.
  static func encode(
    _ event: EventDraft, at place: EventPlace, of information: CommitInformation, after previous: SHA256Digest
  ) -> (bytes: [UInt8], chain: SHA256Digest) {
    var record = CBORWriter()
    let chain = encode(event, at: place, of: information, after: previous, into: &record)
    return (record.finish(), chain)
  }
}
