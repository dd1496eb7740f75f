#if Gallery
  import Foundation
  import GalleryServer
  import HTTPServing
  import TestSupport
  import Testing

  /// The server under requests that a program invents from its description.
  ///
  /// `GALLERY_SCHEMATHESIS=50 swift test --traits Gallery --filter SchemathesisTests` tries that many examples of each
  /// operation; schemathesis is a program of PyPI (`pip install schemathesis`).
  @Suite("Requests generated from the description")
  struct SchemathesisTests {
    private static let examples = ProcessInfo.processInfo.environment["GALLERY_SCHEMATHESIS"].flatMap { Int($0) }

    @Test("none crashes the server, and none is answered otherwise than described", .enabled(if: examples != nil))
    func invented() async throws {
      try await TestGallery.serving { gallery in
        _ = try await gallery.makeAssets(20)
        let examples = try #require(Self.examples)
        let words = [
          "schemathesis", "run", "http://\(gallery.address)/v1/openapi.json",
          "-H", "Authorization: Bearer \(gallery.owner)", "--max-examples", "\(examples)",
          "--phases", "examples,coverage,fuzzing", "--generation-deterministic", "--request-timeout", "90",
          // Streams, whose events it takes for text; uploads, whose 104 it takes for the answer, and whose pieces have
          // a media type that it cannot make; what waits for a rendition; and the session, whose end is that of the
          // key.
          "--exclude-operation-id", "appendUpload",
          "--exclude-path-regex", "(feed|stream|changes|events|uploads|/session)$|/renditions/",
          "--checks",
          "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ]
        let process = try ChildRun(
          URL(filePath: "/usr/bin/env"), words, directory: FileManager.default.temporaryDirectory, errors: .output)
        let said = String(decoding: try process.output.readToEnd() ?? Data(), as: UTF8.self)
        #expect(process.end() == .status(0), "\(said.suffix(20_000))")
      }
    }
  }
#endif
