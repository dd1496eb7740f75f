#if Gallery
  import Foundation
  @testable import HTTPServing
  import Synchronization
  import TestSupport
  import Testing

  @Suite("Heads and targets that need no decoding")
  struct PlainTargetTests {
    /// Every byte escaped.
    private static func escaped(_ text: String) -> String {
      text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("a plain target equals its escaped spelling", arguments: ["a", "L0-001_~.", "x y", "…", "A+"])
    func plain(_ word: String) throws {
      let escaped = try HTTPTarget("/" + Self.escaped(word) + "?q=" + Self.escaped(word))
      #expect(escaped.segments == [word] && escaped.query["q"] == word)
      guard !word.contains("+"), !word.contains("…") else { return }
      let plain = try HTTPTarget("/\(word)?q=\(word)")
      #expect(plain.segments == escaped.segments && plain.query["q"] == escaped.query["q"])
    }

    @Test("a plus sign is a blank in a query and itself in a path")
    func plus() throws {
      let target = try HTTPTarget("/a+b?q=a+b")
      #expect(target.segments == ["a+b"] && target.query["q"] == "a b")
    }

    @Test("an invalid name is rejected", arguments: ["%00", "%7f", "%zz", "%", "%ff", "..", ".", "\u{7F}"])
    func refused(_ word: String) {
      #expect(throws: HTTPServerError.self) { try HTTPTarget("/a/\(word)") }
    }

    @Test("escapes are decoded as Foundation decodes them", arguments: 0..<20 as Range<UInt64>)
    func escapes(_ seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let pieces = [
        "%", "%4", "%41", "%2F", "%c3", "%BC", "%e2%80%a6", "%F0%9f%93%B7", "%ed%a0%80", "ü", "a", "%G1", "%c2%85",
      ]
      for _ in 0..<200 {
        let word = (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
          .joined()
        let isControl = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .control }
        let expected = word.removingPercentEncoding.flatMap { $0.unicodeScalars.contains(where: isControl) ? nil : $0 }
        let decoded = try? HTTPTarget("/a/" + word).segments.last
        #expect(decoded == expected, "\(word)")
      }
    }

    /// Answers with what it was asked: the value of a field, and the peer.
    private struct Echo: HTTPApplication {
      func plan(_ request: HTTPRequest) -> HTTPPlan {
        let (field, query) = (request.fields["x-first"] ?? "none", request.target.query["Q"] ?? "")
        return .answer(.plain(200, "\(field) \(request.peer) \(query)"))
      }
      func finished(_ record: HTTPRecord) {}
    }

    @Test("names of fields ignore case, names of a query do not; each request has its peer")
    func names() async throws {
      let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: Echo())
      try await onBlockingThreads {
        do {
          let client = try RawClient(port: server.address.port)
          for name in ["X-First", "x-first", "X-FIRST"] {
            client.send("GET /?Q=1&q=2 HTTP/1.1\r\nHost: a\r\n\(name): Value\r\n\r\n")
            #expect(client.read(through: "1\n").hasSuffix("Value 127.0.0.1 1\n"))
          }
        } catch {
          await server.stop()
          throw error
        }
        await server.stop()
      }
    }
  }
#endif
