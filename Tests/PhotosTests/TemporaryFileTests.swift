import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import Photos

@Suite("Temporary files")
struct TemporaryFileTests {
  @Test("a picture whose bytes programs read is in a folder of this user's alone, and is removed afterwards")
  func picture() throws {
    let lent = try InstalledRenderer().withFile(Data("picture".utf8)) { file in
      #expect(file.folderMode == 0o700)
      let bytes = try Data(contentsOf: file)
      #expect(bytes == Data("picture".utf8))
      return file
    }
    #expect(lent.folderMode == nil)
  }

  @Test("rendered files are in a folder of this user's alone, which is removed with its edit")
  func rendered() throws {
    var folder: RenderFolder? = RenderFolder()
    let place = try #require(try folder?.place(of: .jpeg))
    #expect(place.folderMode == 0o700 && place.lastPathComponent.hasPrefix("FullSizeRender."))
    #expect(folder?.file(of: .jpeg) == nil)
    try Data("rendered".utf8).write(to: place)
    #expect(folder?.file(of: .jpeg) == place && folder?.file(of: .heic) == nil)
    #expect(try folder?.place(of: .heic).deletingLastPathComponent() == place.deletingLastPathComponent())
    folder = nil
    #expect(place.folderMode == nil)
  }

  @Test("the files of a picked Live Photo are in a folder of this user's alone, which is removed with it")
  func livePhoto() throws {
    let temporary = try TemporaryFolder()
    let still = temporary.place("still.heic")
    try Data("still".utf8).write(to: still)
    var folder: KeptFolder? = try KeptFolder()
    let kept = try #require(try folder?.keep(still))
    #expect(kept.folderMode == 0o700 && kept.lastPathComponent == "still.heic")
    folder = nil
    #expect(kept.folderMode == nil)
  }
}
