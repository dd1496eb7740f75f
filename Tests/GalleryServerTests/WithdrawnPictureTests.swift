#if Gallery
  import Foundation
  @testable import GalleryServer
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite(
    "Pictures of withdrawn assets",
    .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
  struct WithdrawnPictureTests {
    @Test("a window of before a withdrawal says nothing of pictures that are made after it")
    func windows() async throws {
      try await TestGallery.serving { gallery in
        let file = try #require(SamplePhotos.folder).appending(path: "orientation/Landscape_6.jpg")
        let asset = try await gallery.makeAsset(file)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        try await gallery.library.performChanges { $0.grant([asset.id], to: "app") }
        let key = try gallery.key(of: "app").secret
        let fetch = try gallery.fetch(key: key)
        #expect(fetch.count == 1)
        try await gallery.library.performChanges { $0.withdraw([asset.id], from: "app") }
        let window = "/v1/fetches/\(fetch.name)/items?token=\(fetch.token)&form=columns"
        let before = try gallery.ask("GET", window, key: key)
        #expect(before.status == 200 && before.body.contains("missing"), "\(before)")
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: asset)).status == 200)
        #expect(try gallery.columns()["rendition"] as? [String] == ["ready"])
        let after = try gallery.ask("GET", window, key: key)
        #expect(after.body == before.body && after.fields["etag"] == before.fields["etag"], "\(after)")
        // A client that sees it again sees its picture.
        try await gallery.library.performChanges { $0.grant([asset.id], to: "app") }
        #expect(try gallery.columns(key: key)["rendition"] as? [String] == ["ready"])
        #expect(try gallery.ask("GET", window, key: key).body.contains("ready"))
      }
    }
  }
#endif
