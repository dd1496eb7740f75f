#if Gallery
  import Foundation
  import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  /// The server under requests that a program invents from its description.
  ///
  /// `GALLERY_SCHEMATHESIS=50 swift test --traits Gallery --filter SchemathesisTests` tries that many examples of each
  /// operation; schemathesis is a program of PyPI (`pip install schemathesis`).
  @Suite("Requests generated from the description")
  struct SchemathesisTests {
    private static let examples = ProcessInfo.processInfo.environment["GALLERY_SCHEMATHESIS"].flatMap { Int($0) }

    /// Whose key the requests have, and which description they follow.
    enum Pass: CaseIterable {
      case owner
      /// A client that sees some of the assets.
      case limited
      /// The owner, with a program made for Immich.
      case uploader

      var document: String { self == .uploader ? "/api/openapi.json" : "/v1/openapi.json" }
    }

    /// What it cannot follow, by the names of the operations:
    ///
    /// - `createUpload` and `putUpload`: where a request has Upload-Complete or Upload-Incomplete, the 104 comes before
    ///   the answer, and Python's http.client takes every status but 100 for the answer. A 201 that names an unfinished
    ///   upload is empty, which it reports, since the same status has a body where the upload is finished.
    /// - `feed` and the events: the stream does not end, and its events are taken for one text.
    /// - `signOut`: it withdraws the key of all further requests.
    ///
    /// `appendUpload` has no 104. Its identifiers are invented, so what is tried are the readers of its fields and the
    /// answers to parts of uploads that do not exist; bodies are a few hundred bytes.
    private static let excluded = "^(feed|.*Events|createUpload|putUpload|signOut)$"

    @Test(
      "none crashes the server, and none is answered otherwise than described", .enabled(if: examples != nil),
      arguments: Pass.allCases)
    func invented(_ pass: Pass) async throws {
      var access = GalleryAccess.withImmichClients
      // The clock of these servers stands still, so a key gets nothing back of what it has used up.
      access.limits.keyBurst = 1_000_000_000
      try await TestGallery.serving(access: access) { gallery in
        let assets = try await gallery.makeAssets(20)
        var key = gallery.owner
        if pass == .limited {
          try await gallery.library.performChanges { change in
            change.setAuthorizationStatus(.limited, of: "app")
            change.grant(Array(assets[..<10]), to: "app")
          }
          key = try gallery.key(of: "app").secret
        }
        let examples = try #require(Self.examples)
        let words = [
          "schemathesis", "run", "http://\(gallery.address)\(pass.document)",
          "-H", "Authorization: Bearer \(key)", "--max-examples", "\(examples)",
          "--phases", "examples,coverage,fuzzing", "--generation-deterministic", "--request-timeout", "90",
          "--exclude-operation-id-regex", Self.excluded,
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
