#if Gallery
  import Foundation
  @testable import HTTPServing
  import Synchronization
  import TestSupport
  import Testing

  @Suite("Repeated heads")
  struct KnownHeadTests {
    private func text(_ bytes: [UInt8], in parts: KnownParts<String>, _ made: inout Int) -> String {
      bytes.withUnsafeBytes { bytes in
        parts.part(bytes) {
          made += 1
          return String(decoding: bytes, as: UTF8.self)
        }
      }
    }

    @Test("a repeated part is not parsed again, unless others took its slots", arguments: [1, 2, 64, 512])
    func slots(_ count: Int) {
      let parts = KnownParts<String>(pairs: count)
      var made = 0
      for _ in 0..<3 { #expect(text(Array("/v1/assets".utf8), in: parts, &made) == "/v1/assets") }
      #expect(made == 1)
      for number in 0..<(count * 8) { _ = text(Array("/\(number)".utf8), in: parts, &made) }
      let before = made
      #expect(text(Array("/v1/assets".utf8), in: parts, &made) == "/v1/assets")
      // With two slots it is certain that other parts took them.
      if count == 1 { #expect(made == before + 1) }
    }

    @Test("a part is parsed from its own bytes, whatever came before", arguments: 0..<20 as Range<UInt64>)
    func parts(_ seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let parts = KnownParts<String>(pairs: 4)
      var made = 0
      for _ in 0..<2000 {
        // Few letters and lengths, so that many are equal and many differ in one byte, or in their lengths only.
        let bytes = (0..<Int.random(in: 0...17, using: &random)).map { _ in
          UInt8.random(in: 0x61...0x62, using: &random)
        }
        #expect(text(bytes, in: parts, &made) == String(decoding: bytes, as: UTF8.self))
      }
      #expect(made < 2000)
    }

    @Test("a failed parse is tried again")
    func failing() throws {
      let parts = KnownParts<Int>(pairs: 2)
      let bytes = Array("a".utf8)
      for _ in 0..<2 {
        #expect(throws: HTTPServerError.self) {
          try bytes.withUnsafeBytes { bytes in
            try parts.part(bytes) { () throws(HTTPServerError) -> Int in throw HTTPServerError(description: "No.") }
          }
        }
      }
      let number = bytes.withUnsafeBytes { parts.part($0) { 3 } }
      #expect(number == 3)
    }

    /// Notes something with a head, and answers with the head and whether that was noted before.
    private final class Echo: HTTPApplication {
      private final class Noted: Sendable {}

      func plan(_ request: HTTPRequest) -> HTTPPlan {
        let lines = request.fields.pairs.map { "\($0.name)=\($0.value)" } + [request.target.path]
        let query = request.target.query.pairs.map { "\($0.name)=\($0.value)" }
        var notes = [true, true]
        _ = request.fields.noted {
          notes[0] = false
          return Noted()
        }
        _ = request.target.noted {
          notes[1] = false
          return Noted()
        }
        let text = (lines + query).joined(separator: "\n") + "\n\(notes[0]) \(notes[1])\n"
        return .answer(HTTPResponse(200, [("X-End", "1")], .bytes(Array(text.utf8))))
      }

      func finished(_ record: HTTPRecord) {}
    }

    private func serving(_ body: (RawClient) throws -> Void) async throws {
      let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: Echo())
      try await onBlockingThreads {
        do { try body(try RawClient(port: server.address.port)) } catch {
          await server.stop()
          throw error
        }
        await server.stop()
      }
    }

    /// The content of the answer to a request.
    private func answer(_ client: RawClient, _ target: String, _ fields: [(String, String)]) -> String {
      let head = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
      client.send("GET \(target) HTTP/1.1\r\n\(head)\r\n")
      let answer = client.read(through: "e\n")
      return answer.range(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? answer
    }

    @Test("every request is answered by its own head, and repeated heads and paths bring their notes")
    func heads() async throws {
      try await serving { client in
        var random = SeededGenerator(seed: 7)
        var kept = 0
        for _ in 0..<600 {
          var fields = [("host", "a")]
          for name in ["x-a", "x-b", "x-ab"] where Bool.random(using: &random) {
            fields.append((name, ["", "1", "11"].randomElement(using: &random) ?? ""))
          }
          let path = ["/a", "/ab", "/a/b", "/%61", "//a"].randomElement(using: &random) ?? "/"
          let query = ["", "?q=1", "?q=2&q=1", "?"].randomElement(using: &random) ?? ""
          let words = query.dropFirst().split(separator: "&").map(String.init)
          let expected = (fields.map { "\($0.0)=\($0.1)" } + [path] + words).joined(separator: "\n") + "\n"
          let answer = answer(client, path + query, fields)
          #expect(answer.hasPrefix(expected) && answer.count <= expected.count + "false false\n".count, "\(answer)")
          if answer.hasSuffix("true true\n") { kept += 1 }
          // A target with a query is not kept.
          if query.count > 1 { #expect(answer.hasSuffix("false\n")) }
        }
        #expect(kept > 100)
      }
    }

    @Test("a head with continued lines is rejected, though an earlier head has the names that it is read with")
    func continued() async throws {
      try await serving { client in
        for _ in 0..<2 { #expect(answer(client, "/a", [("host", "a"), ("x-ab", "1")]).hasPrefix("host=a\nx-ab=1\n")) }
        client.send("GET /a HTTP/1.1\r\nhost: a\r\nx-: 1\r\n ab\r\n\r\n")
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 400"))
      }
    }

    @Test("fields are kept if they say that they are short")
    func shortFields() async throws {
      try await serving { client in
        // Each name and each value has four bytes more; with "host", "a" and "x-long" that makes 27.
        for (count, isShort) in [(KnownHeads.limit - 27, true), (KnownHeads.limit - 26, false)] {
          let fields = [("host", "a"), ("x-long", String(repeating: "v", count: count))]
          #expect(HTTPFields(fields).isShort == isShort)
          _ = answer(client, "/a", fields)
          #expect(answer(client, "/a", fields).hasSuffix(isShort ? "true true\n" : "false true\n"))
        }
      }
    }

    @Test("a long head is read like any other, and not kept")
    func longHeads() async throws {
      try await serving { client in
        let long = String(repeating: "v", count: KnownHeads.limit)
        for _ in 0..<2 {
          #expect(
            answer(client, "/a", [("host", "a"), ("x-long", long)]).hasPrefix("host=a\nx-long=\(long)\n/a\nfalse"))
          #expect(answer(client, "/" + long, [("host", "a")]).contains("/\(long)\n"))
        }
        #expect(answer(client, "/" + long, [("host", "a")]).hasSuffix("true false\n"))
      }
    }
  }
#endif
