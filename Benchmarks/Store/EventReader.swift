import Foundation
import Glibc

/// Reads server-sent events out of a chunked response (RFC 9112, 7.1) as its bytes come, in whatever pieces.
///
/// Comments, which are heartbeats, are not events. Bytes are searched by the C library's calls, since what reading
/// costs is part of what is measured.
struct EventReader {
  struct Event {
    /// What stands in the field `event`.
    let name: String
    /// All lines of the event.
    let text: [UInt8]

    /// Whether the event has these bytes.
    func holds(_ bytes: [UInt8]) -> Bool { EventReader.place(of: bytes, in: text, from: 0) != nil }

    /// The object in the field `data`.
    func object() throws -> [String: Any] {
      let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
      let data = lines.filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }.joined(separator: "\n")
      guard let object = try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any] else {
        throw WrongAnswer(description: "The event '\(name)' has no object: \(data.prefix(300))")
      }
      return object
    }
  }

  /// Chunks that are not complete yet.
  private var chunks: [UInt8] = []
  /// The content of complete ones, up to the end of the last complete event taken out.
  private var content: [UInt8] = []

  /// Adds bytes of the response's body.
  /// - Returns: the events that are complete with them.
  /// - Throws: ``WrongAnswer`` if the body is not chunked, or has ended.
  mutating func events(adding piece: some Sequence<UInt8>) throws -> [Event] {
    chunks.append(contentsOf: piece)
    try takeChunks()
    var events: [Event] = []
    var start = 0
    while let end = Self.place(of: [0x0A, 0x0A], in: content, from: start) {
      let text = Array(content[start..<end])
      start = end + 2
      let lines = text.split(separator: 0x0A)
      let field = Array("event: ".utf8)
      guard let line = lines.first(where: { $0.starts(with: field) }) else { continue }
      events.append(Event(name: String(decoding: line.dropFirst(field.count), as: UTF8.self), text: text))
    }
    content.removeSubrange(..<start)
    return events
  }

  private mutating func takeChunks() throws {
    var start = 0
    while let end = Self.place(of: [0x0D, 0x0A], in: chunks, from: start) {
      let line = String(decoding: chunks[start..<end], as: UTF8.self)
      guard let count = Int(line, radix: 16), count > 0 else {
        throw WrongAnswer(description: "A feed was ended, or is not chunked: '\(line.prefix(40))'")
      }
      let data = end + 2
      guard chunks.count >= data + count + 2 else { break }
      content.append(contentsOf: chunks[data..<data + count])
      start = data + count + 2
    }
    chunks.removeSubrange(..<start)
  }

  private static func place(of bytes: [UInt8], in text: [UInt8], from start: Int) -> Int? {
    text.withUnsafeBytes { text in
      guard let base = text.baseAddress else { return nil }
      var place = start
      while place + bytes.count <= text.count {
        let count = text.count - bytes.count + 1 - place
        guard let found = memchr(base + place, Int32(bytes[0]), count) else { return nil }
        place = UnsafeRawPointer(found) - base
        if memcmp(found, bytes, bytes.count) == 0 { return place }
        place += 1
      }
      return nil
    }
  }
}
