import EventLog
import LMDB

/// The hashes that events of a log need, and nothing else: as many, of messages of the same lengths.
struct SameHashes {
  /// What the commitment and the leaf of each event are made of, in bytes.
  private let messages: [(commitment: Int, leaf: Int)]
  private let bytes: [UInt8]

  /// What the chain is made of: two digests and a prefix.
  private static let chainLength = 65

  var eventCount: Int { messages.count }

  /// Reads the lengths of the events after one.
  init<T: TransactionReading & ~Copyable>(of log: EventLog, after sequence: UInt64, _ t: borrowing T) throws {
    var messages: [(commitment: Int, leaf: Int)] = []
    try log.read(after: sequence, limit: .max, in: t) { event in
      messages.append((Salt.byteCount + (event.payload?.byteCount ?? 0), 33 + event.header.byteCount))
      return .proceed
    }
    self.messages = messages
    bytes = [UInt8](repeating: 1, count: messages.map { max($0.commitment, $0.leaf) }.reduce(Self.chainLength, max))
  }

  /// Makes them.
  func make() {
    let bytes = bytes.span.bytes
    for message in messages {
      for length in [message.commitment, message.leaf, Self.chainLength] {
        _ = SHA256.digest(of: bytes.extracting(0..<length))
      }
    }
  }
}
