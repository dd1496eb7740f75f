public import LMDB

/// A failure of the event log: what, at which event or commit, and what the caller should do.
public struct EventLogError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong. Extensible: a later version may add codes, so a `switch` needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in the declarations below.
    public let description: String

    init(_ name: String) { description = name }

    /// The head is not the expected one: another writer appended. `sequence` is the head found.
    public static let conflict = Code("conflict")
    /// The idempotency key belongs to an earlier commit, `commit`.
    public static let keyUsed = Code("keyUsed")
    /// A payload, field, or commit exceeds its limit.
    public static let tooLarge = Code("tooLarge")
    /// A field may not be what it is: an empty event type, a commit without events.
    public static let invalidField = Code("invalidField")
    /// A record is not what this module writes; `sequence` or `commit` says which.
    public static let corrupted = Code("corrupted")
    /// The log was written by a later version of this module.
    public static let newerThanProgram = Code("newerThanProgram")
    /// The store failed; `storage` says how.
    public static let storage = Code("storage")
    /// A signal between processes failed.
    public static let signal = Code("signal")
  }

  /// What went wrong.
  public let code: Code
  /// The event concerned, counted from 1.
  public let sequence: UInt64?
  /// The commit concerned, counted from 1.
  public let commit: UInt64?
  /// A sentence about this case, without its full stop.
  public let detail: String
  /// The failure of the store beneath.
  public let storage: LMDBError?

  init(_ code: Code, sequence: UInt64? = nil, commit: UInt64? = nil, _ detail: String) {
    self.code = code
    self.sequence = sequence
    self.commit = commit
    self.detail = detail
    storage = nil
  }

  /// The failure `error` of the store beneath.
  public init(_ error: LMDBError) {
    code = .storage
    sequence = nil
    commit = nil
    detail = "the store failed"
    storage = error
  }

  init(_ error: CBORError, sequence: UInt64? = nil, commit: UInt64? = nil, of record: String) {
    self.init(.corrupted, sequence: sequence, commit: commit, "\(record) cannot be read. \(error)")
  }

  /// What the caller should do.
  public var advice: LMDBError.Advice {
    switch code {
    case .conflict: .retry
    case .storage: storage?.advice ?? .stop
    case .keyUsed, .tooLarge, .invalidField: .correct
    default: .stop
    }
  }

  /// A full sentence naming the event or commit; it says whether the log failed or the request is at fault.
  public var description: String {
    if let storage { return storage.description }
    var text = advice == .correct ? "The request is invalid: " : "The event log failed: "
    if let sequence { text += "at event \(sequence), " }
    if let commit { text += "at commit \(commit), " }
    return text + detail + (detail.hasSuffix(".") ? "" : ".")
  }
}

/// Runs `body` and turns a failure of the store into one of the log.
@inline(__always)
func storing<R: ~Copyable>(_ body: () throws(LMDBError) -> R) throws(EventLogError) -> R {
  do { return try body() } catch { throw EventLogError(error) }
}
