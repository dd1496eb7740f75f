/// A condition did not come true in time.
package struct TimeIsUp: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// Waits until a condition holds, at most for a time.
/// - Parameters:
///   - what: what is waited for, for the message.
///   - limit: how long; generous, since it is waited out only if something is broken.
///   - condition: is asked again and again.
package nonisolated(nonsending) func waitUntil(
  _ what: String, limit: Duration = .seconds(180), _ condition: () throws -> Bool
) async throws {
  let clock = ContinuousClock()
  let end = clock.now + limit
  var pause = Duration.microseconds(20)
  while try !condition() {
    guard clock.now < end else { throw TimeIsUp(description: "Waited \(limit) in vain for this: \(what).") }
    try await clock.sleep(for: pause)
    pause = min(pause * 2, .milliseconds(20))
  }
}
