#if Gallery
  import Foundation
  import TestSupport
  import Testing

  @testable import PhotoLedgerCommand

  extension ServeCrashTests {
    @Test("SIGTERM during an upload ends the server as requested, and the upload continues from the received bytes")
    func stopped() async throws {
      let sandbox = try Sandbox()
      var served = try ServedLibrary(sandbox)
      let key = served.key
      let client = try served.begin(
        "POST", "/v1/uploads?name=a.jpg", nil, ["Upload-Complete: ?1", "Content-Length: 2000000"])
      let interim = client.read(through: "\r\n\r\n")
      let line = try #require(interim.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Location: ") })
      let place = String(line.dropFirst("Location: ".count))
      let id = place.dropFirst("/v1/uploads/".count)
      client.send([UInt8](repeating: 7, count: 600_000))
      let file = "\(sandbox.library)/server/uploads/\(id).bytes.jpg"
      try await waitUntil("some of it is written") {
        var status = stat()
        return stat(file, &status) == 0 && status.st_size >= 524_288
      }
      let end = try served.running.finish(interrupting: true)
      #expect(end.status == 0, "\(end)")
      #expect(client.readToEnd().isEmpty)
      served = try ServedLibrary(sandbox)
      served.key = key
      #expect(try served.ask("GET", place).json["offset"] as? Int == 600_000)
      #expect(try served.running.finish(interrupting: true).status == 0)
    }
  }
#endif
