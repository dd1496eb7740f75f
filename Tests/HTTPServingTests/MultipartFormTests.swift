#if Gallery
  import Foundation
  @testable import HTTPServing
  import Synchronization
  import TestSupport
  import Testing

  /// A part as a model of the form has it.
  private struct ModelPart: Equatable {
    var name: String
    var filename: String?
    var content: [UInt8] = []
  }

  /// Keeps what forms say, and answers with how many parts came.
  private final class FormSample: HTTPApplication {
    let parts = Mutex<[ModelPart]>([])
    let abandoned = Mutex(0)

    func plan(_ request: HTTPRequest) -> HTTPPlan {
      .receiveForm { [self] _, form in .take(Receiver(sample: self, form: form), interim: nil) }
    }

    func finished(_ record: HTTPRecord) {}

    private struct Receiver: HTTPReceiver {
      let sample: FormSample
      let form: MultipartForm

      func take(_ bytes: [UInt8]) async -> HTTPResponse? {
        // As a slow disk would hold it back.
        for _ in 0..<20 { await Task.yield() }
        do throws(HTTPServerError) {
          for piece in try form.read(bytes) {
            sample.parts.withLock { parts in
              switch piece {
              case .part(let part): parts.append(ModelPart(name: part.name, filename: part.filename))
              case .bytes(let bytes): parts[parts.count - 1].content += bytes
              }
            }
          }
          return nil
        } catch { return .plain(400, error.description) }
      }

      func finish() async -> HTTPResponse {
        do throws(HTTPServerError) {
          try form.end()
          return .plain(200, "\(sample.parts.withLock { $0.count })")
        } catch { return .plain(400, error.description) }
      }

      func abandon() async { sample.abandoned.withLock { $0 += 1 } }
    }
  }

  private func serving(_ body: (HTTPAddress, FormSample) async throws -> Void) async throws {
    let sample = FormSample()
    var options = HTTPServerOptions()
    options.idleSeconds = 5
    let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: sample, options: options)
    try await onBlockingThreads {
      do { try await body(server.address, sample) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  private func spelled(_ parts: [ModelPart], _ boundary: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in parts {
      let file = part.filename.map { "; filename=\"\($0)\"\r\nContent-Type: application/octet-stream" } ?? ""
      bytes += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(file)\r\n\r\n".utf8)
      bytes += part.content + [0x0D, 0x0A]
    }
    return bytes + Array("--\(boundary)--\r\n".utf8)
  }

  private func head(_ type: String, _ length: Int) -> String {
    "POST /form HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: \(type)\r\nContent-Length: \(length)\r\n\r\n"
  }

  @Suite("A form with files", .timeLimit(.minutes(5)))
  struct MultipartFormTests {
    @Test(
      "whatever its contents and however it is cut, a form is split into its original parts",
      arguments: 0..<12 as Range<UInt64>)
    func split(_ seed: UInt64) async throws {
      try await serving { address, sample in
        var random = SeededGenerator(seed: seed)
        let boundary = ["bo", "----x'y", String(repeating: "a", count: 70)].randomElement(using: &random) ?? "b"
        // What looks like a boundary, and is not one.
        let pieces: [[UInt8]] = [
          [0x0D], [0x0A], [0x0D, 0x0A], [0], Array("--\(boundary.dropLast())".utf8), Array("\r\n--".utf8),
          Array("\r\n--\(boundary.dropLast())_".utf8), Array("Content-Disposition: form-data; name=\"z\"\r\n\r\n".utf8),
          (0..<Int.random(in: 1...40_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) },
        ]
        for _ in 0..<6 {
          sample.parts.withLock { $0 = [] }
          let parts = (0..<Int.random(in: 1...12, using: &random)).map { index in
            ModelPart(
              name: "part\(index)", filename: Bool.random(using: &random) ? "ä \(index).jpg" : nil,
              content: (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
                pieces.randomElement(using: &random) ?? []
              })
          }
          let body = spelled(parts, boundary)
          let client = try RawClient(port: address.port)
          client.send(
            """
            POST /form HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\
            Content-Type: multipart/form-data; boundary=\(boundary)\r\n\r\n
            """)
          var rest = body[...]
          while !rest.isEmpty {
            let limit = Bool.random(using: &random) ? 3 : 20_000
            let chunk = rest.prefix(Int.random(in: 1...limit, using: &random))
            client.send(Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [0x0D, 0x0A])
            rest = rest.dropFirst(chunk.count)
          }
          client.send("0\r\n\r\n")
          let answer = client.readToEnd()
          #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("\(parts.count)\n"), "\(answer)")
          #expect(sample.parts.withLock { $0 } == parts)
        }
      }
    }

    @Test("a form that ends at any byte before its closing boundary is rejected")
    func cut() async throws {
      try await serving { address, _ in
        let body = spelled(
          [
            ModelPart(name: "a", content: [1, 2]), ModelPart(name: "f", filename: "f", content: [13, 10, 45, 45, 97]),
          ],
          "bo")
        let whole = body.count - 4
        for count in 0...body.count {
          let client = try RawClient(port: address.port)
          client.send(Array(head("multipart/form-data; boundary=bo", count).utf8) + body.prefix(count))
          let answer = client.readToEnd()
          if count < whole { #expect(answer.hasPrefix("HTTP/1.1 400"), "\(count): \(answer)") }
          if count >= whole + 2 { #expect(answer.hasPrefix("HTTP/1.1 200"), "\(count): \(answer)") }
        }
      }
    }

    @Test(
      "an invalid form is rejected before or while it is received",
      arguments: [
        "text/plain", "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"",
        "multipart/form-data; boundary=\"\"", "multipart/form-data; boundary=b",
        "multipart/form-data; boundary=bo; charset=utf-8",
        "multipart/form-data; boundary=" + String(repeating: "b", count: 71), "multipart/mixed; boundary=bo",
        "multipart/form-data; boundary=bo\"", "multipart/form-data; boundary=bo bo",
        "multipart/form-data; boundary=bo\r\nContent-Type: multipart/form-data; boundary=ci",
      ])
    func types(_ type: String) async throws {
      try await serving { address, _ in
        let client = try RawClient(port: address.port)
        client.send(head(type, 4) + "--b-")
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 400"))
      }
    }

    @Test(
      "a form that is all framing is bounded",
      arguments: [
        String(repeating: "X-Name: \(String(repeating: "x", count: 200))\r\n", count: 2000),
        "X-Name: " + String(repeating: "x", count: 1 << 20), String(repeating: "y", count: 20_000) + ": z\r\n",
      ])
    func framing(_ fields: String) async throws {
      try await serving { address, _ in
        let body = "--bo\r\n\(fields)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--bo--\r\n"
        let client = try RawClient(port: address.port)
        client.send(head("multipart/form-data; boundary=bo", body.utf8.count) + body)
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 400"))
      }
    }

    @Test("too many parts, names that are invalid or too long to compare, and parts without a name are rejected")
    func parts() async throws {
      try await serving { address, _ in
        let many = spelled((0...MultipartForm.partLimit).map { ModelPart(name: "p\($0)", content: [1]) }, "bo")
        let nameless = Array("--bo\r\nContent-Type: text/plain\r\n\r\n1\r\n--bo--\r\n".utf8)
        let broken =
          Array("--bo\r\nContent-Disposition: form-data; name=\"".utf8) + [0xC3, 0x28]
          + Array("\"\r\n\r\n1\r\n--bo--\r\n".utf8)
        let name = "a" + String(repeating: "\u{300}\u{323}", count: 25)
        let long = spelled([ModelPart(name: name, content: [1])], "bo")
        for body in [many, nameless, broken, long] {
          let client = try RawClient(port: address.port)
          client.send(Array(head("multipart/form-data; boundary=bo", body.count).utf8) + body)
          #expect(client.readToEnd().hasPrefix("HTTP/1.1 400"))
        }
      }
    }

    @Test("a body in chunks of a few bytes suspends its connection once, however slow its receiver is")
    func smallChunks() async throws {
      try await serving { address, sample in
        let part = ModelPart(name: "f", filename: "f", content: [UInt8](repeating: 7, count: 1_500_000))
        let body = spelled([part], "bo")
        let chunk = Array("3\r\n".utf8)
        var sent = Array(
          """
          POST /form HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\
          Content-Type: multipart/form-data; boundary=bo\r\n\r\n
          """.utf8)
        for start in stride(from: 0, to: body.count, by: 3) {
          let bytes = body[start..<min(start + 3, body.count)]
          sent += (bytes.count == 3 ? chunk : Array("\(bytes.count)\r\n".utf8)) + bytes + [0x0D, 0x0A]
        }
        sent += Array("0\r\n\r\n".utf8)
        for _ in 0..<4 {
          sample.parts.withLock { $0 = [] }
          let client = try RawClient(port: address.port)
          client.send(sent)
          #expect(client.readToEnd().hasPrefix("HTTP/1.1 200"))
          #expect(sample.parts.withLock { $0 } == [part])
        }
      }
    }

    @Test("a client that disconnects in the middle of a form leaves nothing that reads its head")
    func leaves() async throws {
      try await serving { address, sample in
        let content = [UInt8](repeating: 7, count: 2_000_000)
        let body = spelled([ModelPart(name: "f", filename: "f", content: content)], "bo")
        for count in [10, 300_000, 1_500_000] {
          let client = try RawClient(port: address.port)
          client.send(Array(head("multipart/form-data; boundary=bo", body.count).utf8) + body.prefix(count))
        }
        try await waitUntil("all three were abandoned") { sample.abandoned.withLock { $0 } == 3 }
      }
    }
  }
#endif
