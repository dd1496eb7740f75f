#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Aspect ratios of a fetch")
  struct ShapeRouteTests {
    @Test(
      "a shape is the width in 256ths of the height, and 0 where no size is known",
      arguments: [
        (0, 100, 0), (100, 0, 0), (100, 100, 256), (127, 100, 325), (100, 127, 202), (1, 100_000, 1),
        (100_000, 1, 65_535),
      ])
    func values(width: Int, height: Int, shape: UInt16) {
      #expect(ShapeRoutes.shape(width: width, height: height) == shape)
    }

    @Test("an answer has two bytes an asset, in the order of the fetch, as it was at the token, and never changes")
    func answers() async throws {
      try await TestGallery.serving { gallery in
        let sizes = [(100, 100), (0, 0), (127, 100), (50, 100)]
        try await gallery.library.performChanges { change in
          for (index, (width, height)) in sizes.enumerated() {
            var creation = AssetCreation(
              mediaType: .image, resources: [ResourceDraft(type: .photo, source: .data(Data("\(index)".utf8)))])
            (creation.pixelWidth, creation.pixelHeight) = (width, height)
            creation.creationDate = Date(timeIntervalSince1970: Double(index))
            change.createAsset(creation)
          }
        }
        let fetch = try gallery.fetch(["sort": ["creationDate:desc"]])
        let path = "/v1/fetches/\(fetch.name)/shapes?token=\(fetch.token)"
        let all = try gallery.ask("GET", path)
        #expect(all.status == 200 && all.fields["content-type"] == "application/octet-stream")
        // 128, 325, 0 and 256, little-endian; 0x80 alone is not text.
        #expect(Array(all.body.unicodeScalars.map(\.value).dropFirst()) == [0, 0x45, 1, 0, 0, 0, 1])
        let some = try gallery.ask("GET", "\(path)&start=1&count=2")
        #expect(Array(some.body.utf8) == [0x45, 1, 0, 0])
        #expect(try gallery.ask("GET", "\(path)&start=9").body.isEmpty)
        let tag = try #require(some.fields["etag"])
        try await gallery.library.performChanges { change in
          let draft = ResourceDraft(type: .photo, source: .data(Data("later".utf8)))
          change.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
        }
        #expect(try gallery.ask("GET", "\(path)&start=1&count=2", ["If-None-Match: \(tag)"]).status == 304)
        #expect(try gallery.ask("GET", "\(path)&start=1&count=2").body == some.body)
        let tooMany = try gallery.ask("GET", "\(path)&count=65537")
        #expect(tooMany.status == 400 && tooMany.body.contains("65536"))
        #expect(try gallery.ask("GET", "\(path)&place=1").status == 400)
      }
    }
  }
#endif
