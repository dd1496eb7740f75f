import Foundation
import LMDB
import Testing

@testable import EventLog

// The bytes of a small log, with every step of their hashes, as a text that an auditor can follow with other tools.
//
// A difference means that the format has changed, and every log in the world with it. If that is meant, raise
// `EventRecord.formatVersion` and write the text anew: UPDATE_GOLDEN=1 swift test --filter GoldenTests

@Suite("Golden bytes")
struct GoldenTests {
  private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Golden")

  @Test("the bytes of a log's records have not changed since the format was fixed")
  func records() throws {
    try withLog { log in
      try Self.fill(log)
      let text = try Self.text(of: log)
      let file = Self.directory.appending(path: "log-format-1.txt")
      if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
        try text.write(to: file, atomically: true, encoding: .utf8)
      }
      let golden = try String(contentsOf: file, encoding: .utf8)
      let lines = zip(text.split(separator: "\n"), golden.split(separator: "\n"))
      if let (found, expected) = lines.first(where: { $0 != $1 }) {
        Issue.record("found    \(found)\nexpected \(expected)")
      }
      #expect(text == golden)
    }
  }

  /// Two commits with all fields, erased payload, and characters beyond ASCII.
  private static func fill(_ log: EventLog) throws {
    try log.append(
      CommitInformation(
        time: 1_700_000_000_123_456, client: "com.example.gallery", cause: "import", process: "photoledger 4711",
        key: "import-2023-11-14", causation: nil, correlation: "import 1"),
      [
        EventDraft(
          type: "asset.created", version: 1, payload: [0xA1, 0x61, 0x61, 0x01],
          salt: Salt(0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F)),
        EventDraft(type: "asset.tëst", version: 300, payload: [], salt: Salt(1, 2)),
      ])
    try log.append(
      CommitInformation(time: -1, client: "", cause: "undo", process: "p", causation: "commit 1"),
      [EventDraft(type: "erased.later", version: 0, payload: Array("secret".utf8), salt: Salt(3, 4))])
    let record = try log.environment.read { t in try t.bytes(for: 3, in: log.events) ?? [] }
    guard case .array(var items) = try CBOR(decoding: record.span.bytes) else { throw CBORError(.unexpected, at: 0) }
    (items[2], items[3]) = (.null, .null)
    try log.environment.write { t in try t.put(3, CBOR.array(items).encoded, in: log.events) }
    try #require(try log.verification().defect == nil)
  }

  private static func text(of log: EventLog) throws -> String {
    var text = """
      How to check an event log of format 1 without this program.

      Each value of the table "events" is a CBOR array (RFC 8949) [header, commitment, salt, payload, leaf, chain]; its
      key is the sequence, 8 bytes in the order of the machine. Below, numbers are hexadecimal bytes. For each event:
          commitment = SHA-256(salt || payload)                   where they were not erased
          leaf       = SHA-256(00 || header || commitment)
          chain      = SHA-256(02 || chain of the event before || leaf)       before the first event: 32 zero bytes
      for example with:  printf %s HEX | xxd -r -p | sha256sum
      and compare with the record.
          header     = [sequence, commit, index in the commit, is last, microseconds since 1970, type, version, origin]
          origin     = [client, cause, process, key, causation, correlation] in the first event of a commit, else null


      """
    var chain = SHA256Digest.zero
    try log.environment.read { t in
      try log.read(after: 0, in: t) { event in
        let record = try t.bytes(for: event.sequence, in: log.events) ?? []
        text += describe(event, after: chain, record)
        chain = event.chain
        return .proceed
      }
      for (name, table) in [("commits", log.commits), ("keys", log.keys), ("log.meta", log.meta)] {
        text += "table \(name)\n"
        try t.forEach(in: table) { key, value in
          let decoded = (try? CBOR(decoding: value))?.description ?? "not CBOR"
          text += "  \(hexadecimal(key.array))  ->  \(hexadecimal(value.array))\n      \(decoded)\n"
          return .proceed
        }
      }
    }
    return text
  }

  private static func describe(
    _ event: borrowing StoredEvent, after chain: SHA256Digest, _ record: [UInt8]
  ) -> String {
    let header = event.header.array
    let payload = event.payloadBytes
    var salt: [UInt8]?
    if let stored = event.salt { salt = stored.array }
    var text = """
      event \(event.sequence)
        record      \(hexadecimal(record))
        header      \(hexadecimal(header))
                    \((try? CBOR(decoding: header.span.bytes))?.description ?? "not CBOR")

      """
    if let salt, let payload {
      text += """
          salt        \(hexadecimal(salt))
          payload     \(hexadecimal(payload))
          commitment  \(SHA256.digest(of: salt + payload))  of  \(hexadecimal(salt + payload))

        """
    } else {
      text += "  salt and payload were erased\n  commitment  \(event.commitment)\n"
    }
    let leafInput = [0] + header + event.commitment.bytes
    let chainInput = [2] + chain.bytes + event.leaf.bytes
    return text + """
        leaf        \(SHA256.digest(of: leafInput))  of  \(hexadecimal(leafInput))
        chain       \(SHA256.digest(of: chainInput))  of  \(hexadecimal(chainInput))

      """ + "\n"
  }
}
