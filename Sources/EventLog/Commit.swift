/// The client, time and cause of a commit.
public struct CommitInformation: Sendable, Hashable {
  /// When, microseconds since 1970 UTC.
  public var time: Int64
  /// On whose behalf, at most 256 bytes of UTF-8, none of them zero.
  public var client: String
  /// Why: an import, a scan, an undo, a request. At most 1024 bytes.
  public var cause: String
  /// Which process wrote it, at most 256 bytes. An observer uses it to know its own changes.
  public var process: String
  /// The idempotency key: a second commit with it is rejected. 1 to 1024 bytes.
  public var key: String?
  /// What led to it, for example the commit that is undone. At most 256 bytes.
  public var causation: String?
  /// What it belongs to, for example one import of many commits. At most 256 bytes.
  public var correlation: String?

  /// Information for a commit made at `time`.
  public init(
    time: Int64, client: String, cause: String, process: String, key: String? = nil, causation: String? = nil,
    correlation: String? = nil
  ) {
    self.time = time
    self.client = client
    self.cause = cause
    self.process = process
    self.key = key
    self.causation = causation
    self.correlation = correlation
  }
}

/// A commit as the log holds it: one or more events that became true together.
public struct Commit: Sendable, Hashable {
  /// Its number, from 1, without gaps.
  public let number: UInt64
  /// The sequence of its first event.
  public let firstSequence: UInt64
  /// How many events it has, at least 1.
  public let eventCount: UInt64
  /// The chain up to and including its last event.
  public let chain: SHA256Digest
  /// The client, time and cause.
  public let information: CommitInformation

  /// The sequence of its last event.
  public var lastSequence: UInt64 { firstSequence + eventCount - 1 }
  /// The sequences of its events.
  public var sequences: ClosedRange<UInt64> { firstSequence...lastSequence }
}

extension CommitInformation {
  private static let itemCount = 6

  func write(to writer: inout CBORWriter) {
    writer.array(Self.itemCount)
    writer.text(client)
    writer.text(cause)
    writer.text(process)
    writer.text(key)
    writer.text(causation)
    writer.text(correlation)
  }

  init(from reader: inout CBORReader, time: Int64) throws(CBORError) {
    try reader.array(count: Self.itemCount)
    self.time = time
    client = try reader.text()
    cause = try reader.text()
    process = try reader.text()
    key = try reader.optionalText()
    causation = try reader.optionalText()
    correlation = try reader.optionalText()
  }

  func check() throws(EventLogError) {
    guard !client.utf8.contains(0) else {
      throw EventLogError(.invalidField, "the client of a commit holds a zero byte, which ends it in the table of keys")
    }
    let fields: [(name: String, value: String?, bounds: ClosedRange<Int>)] = [
      ("client", client, 0...256), ("cause", cause, 0...1024), ("process", process, 0...256), ("key", key, 1...1024),
      ("causation", causation, 0...256), ("correlation", correlation, 0...256),
    ]
    for (name, value, bounds) in fields {
      guard let count = value?.utf8.count, !bounds.contains(count) else { continue }
      let code: EventLogError.Code = count > bounds.upperBound ? .tooLarge : .invalidField
      throw EventLogError(
        code,
        "the \(name) of a commit has \(count) bytes, and may have \(bounds.lowerBound) to \(bounds.upperBound)")
    }
  }
}

extension Commit {
  /// Checks that its events follow those of the commit before it, where that is the one read before.
  func check(follows previous: Commit?) throws(EventLogError) {
    guard let previous, previous.number == number - 1, previous.lastSequence != firstSequence - 1 else { return }
    throw EventLogError(
      .corrupted, commit: number,
      "its row begins with event \(firstSequence), and that of the commit before ends with \(previous.lastSequence)")
  }
}

/// The rows of the table `commits`: key the number, value [first sequence, count, time, chain, information].
extension Commit {
  var row: [UInt8] {
    var writer = CBORWriter(capacity: 192)
    writer.array(5)
    writer.unsigned(firstSequence)
    writer.unsigned(eventCount)
    writer.integer(information.time)
    writer.digest(chain)
    information.write(to: &writer)
    return writer.finish()
  }

  init(number: UInt64, row: RawSpan) throws(EventLogError) {
    do throws(CBORError) {
      var reader = CBORReader(row)
      try reader.array(count: 5)
      self.number = number
      // A commit has an event at least, so its events begin no earlier than its number says. The row is not believed
      // further than numbers can be worked with; that it follows from the events is the business of `verify`.
      guard number > 0, number <= EventLog.largestSequence else { throw CBORError(.unexpected, at: 0) }
      firstSequence = try reader.unsigned(in: number...EventLog.largestSequence)
      eventCount = try reader.unsigned(in: 1...(EventLog.largestSequence - firstSequence + 1))
      let time = try reader.integer()
      chain = try reader.digest()
      information = try CommitInformation(from: &reader, time: time)
      try reader.end()
    } catch {
      throw EventLogError(error, commit: number, of: "the row of the commit")
    }
  }
}
