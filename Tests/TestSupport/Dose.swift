import Foundation

// How long the random histories are.
//
//     PHOTOLEDGER_TEST_DOSE=8 swift test --filter HistoryTests
//                           └── every long run is eight times as long as usual
//
//     usual   1   what `swift test` does: minutes for all tests
//     full    4   what CI does: each kind of step occurs, which the tests assert
//     soak   50   what finds the rare
//
// A run that is long enough to find what is rare makes everybody wait for it at every change. So the usual dose is
// small, and one variable lengthens all of them. Rejected: a variable for each test, which is hard to remember.

/// The length of random runs, as a multiple of the usual one.
package enum Dose {
  /// PHOTOLEDGER_TEST_DOSE; 1 unless it is set.
  package static let factor: Double = {
    guard let text = ProcessInfo.processInfo.environment["PHOTOLEDGER_TEST_DOSE"], !text.isEmpty else { return 1 }
    guard let factor = Double(text), factor.isFinite, factor >= 1, factor <= 10_000 else {
      preconditionFailure("PHOTOLEDGER_TEST_DOSE is '\(text)'; it must be a number from 1 to 10000.")
    }
    return factor
  }()

  /// Whether runs are at least as long as in CI.
  package static var isFull: Bool { factor >= 4 }

  /// So many at the usual dose.
  package static func of(_ count: Int) -> Int { Int((Double(count) * factor).rounded()) }
}
