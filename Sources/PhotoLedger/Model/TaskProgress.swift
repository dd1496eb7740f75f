/// How far a long task has come.
public struct TaskProgress: Sendable, Hashable {
  /// What is being done: `log`, `replay`, `compare`, `resources`, `rebuild`, `swap`.
  public let phase: String
  /// How much of the phase is done, in events, entries or files.
  public let done: UInt64
  /// How much there is; nil if unknown.
  public let total: UInt64?
}
