#if Gallery
  import Foundation
  @testable import GalleryServer
  import PhotoLedger
  import TestSupport
  import Testing

  // What a server drops by its clock, without a request.

  @Suite("What expires on a server that gets no requests", .timeLimit(.minutes(5)))
  struct ExpiryTests {
    private static let days = 86_400.0

    @Test("abandoned uploads and the answers of finished ones are removed after seven days, and younger ones stay")
    func uploads() async throws {
      try await TestGallery.serving(sweepSeconds: 0.02) { gallery in
        func begin() throws -> String {
          let begun = try gallery.send("POST", "/v1/uploads", Data(), ["Upload-Complete: ?0"]).answer
          return try #require(begun.fields["location"], "\(begun)")
        }
        let (_, finished) = (try begin(), try begin())
        let end = ["Upload-Complete: ?1", "Upload-Offset: 0", UploadTests.part]
        #expect(try gallery.send("PATCH", finished, Data(), end).answer.status == 422)
        gallery.clock.advance(by: 6 * Self.days)
        let young = try begin()
        let id = String(young.dropFirst("/v1/uploads/".count))
        // The bytes and the record of both, and the answer of the finished one.
        try #require(gallery.leftovers.count == 5, "\(gallery.leftovers)")
        gallery.clock.advance(by: 2 * Self.days)
        try await waitUntil("what is too old is removed") {
          gallery.leftovers.allSatisfy { $0.hasPrefix(id) } && gallery.server.uploads.figures.count == 1
        }
        #expect(gallery.leftovers.count == 2, "\(gallery.leftovers)")
        #expect(try gallery.ask("HEAD", young).status == 204)
      }
    }

    @Test("a server that stops keeps its lock on the uploads until the removal of what has expired has ended")
    func stopping() async throws {
      try await TestGallery.serving { gallery in
        let (uploads, ends) = (gallery.server.uploads, Gathered<Bool>())
        gallery.server.expiry.queue.async {
          // Until they are closed, which they must not be; then the limit ends it.
          var left = 300
          while (try? uploads.open()) != nil, left > 0 {
            usleep(1000)
            left -= 1
          }
          ends.append(left == 0)
        }
        await gallery.server.stop()
        #expect(ends.all == [true])
        #expect(throws: Problem.self) { try uploads.open() }
      }
    }

    @Test("a server that stops leaves expired uploads to the next one instead of removing them all first")
    func leftAtStop() async throws {
      try await TestGallery.serving { gallery in
        let uploads = gallery.server.uploads
        _ = try gallery.send("POST", "/v1/uploads", Data(), ["Upload-Complete: ?0"])
        gallery.clock.advance(by: 8 * Self.days)
        let files = gallery.leftovers
        try #require(!files.isEmpty)
        uploads.endSweeping()
        uploads.sweep()
        #expect(gallery.leftovers == files)
      }
    }

    @Test("what was chosen for an archive is released after its hour, and a younger choice stays")
    func downloads() async throws {
      try await TestGallery.serving(sweepSeconds: 0.02) { gallery in
        let downloads = gallery.server.downloads
        _ = downloads.add(["old"], for: PhotoLibrary.owner)
        gallery.clock.advance(by: 1800)
        let young = downloads.add(["young"], for: PhotoLibrary.owner)
        #expect(downloads.count == 2)
        gallery.clock.advance(by: 1801)
        try await waitUntil("the older one is released") { downloads.count == 1 }
        #expect(downloads.assets(young, for: PhotoLibrary.owner) == ["young"])
      }
    }
  }
#endif
