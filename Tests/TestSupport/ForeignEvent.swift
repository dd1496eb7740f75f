import EventLog
import LMDB

extension Environment {
  /// Appends a commit with one event to the log of a library, as another program could that knows other events.
  /// - Returns: the event's place in the log.
  @discardableResult
  package func appendForeignEvent(_ type: String, version: UInt32 = 1, payload: [UInt8] = [0xA0]) throws -> UInt64 {
    let log = try EventLog(in: self)
    return try write { t in
      let information = CommitInformation(time: 1_760_000_000_000_000, client: "owner", cause: "x", process: "other")
      var appender = try log.begin(information, in: &t)
      let sequence = try appender.append(type: type, version: version, payload: payload, salt: Salt(1, 2), in: &t)
      _ = try appender.finish(in: &t)
      return sequence
    }
  }
}
