#if Gallery
  public import Foundation

  /// Where the server takes the time and randomness from.
  public struct GalleryEnvironment: Sendable {
    /// The clock.
    public var now: @Sendable () -> Date
    /// Random bytes that cannot be guessed, as many as are asked for.
    public var randomBytes: @Sendable (Int) -> [UInt8]

    /// Waits for a number of seconds, or until the task is cancelled.
    public var sleep: @Sendable (Double) async throws -> Void

    /// An environment of given sources.
    public init(
      now: @escaping @Sendable () -> Date, randomBytes: @escaping @Sendable (Int) -> [UInt8],
      sleep: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
      (self.now, self.randomBytes, self.sleep) = (now, randomBytes, sleep)
    }

    /// The system's clock and its source of unpredictable bytes.
    public static let system = GalleryEnvironment(
      now: { Date() },
      randomBytes: { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      })
  }
#endif
