import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Objects as of an earlier commit")
struct ExactInversionTests {
  @Test("the files of an asset are in the order that they had at each commit")
  func resources() throws {
    let made = try TemporaryLibrary()
    var creation = AssetCreation.invented(1)
    creation.resources.append(.stored(.invented(2, .adjustmentData)))
    let id = try made.create(creation)
    typealias Addition = (drafts: [ResourceDraft], types: [ResourceType: ResourceType])
    let additions: [Addition] = [
      ([.stored(.invented(3, .photo))], [.photo: .alternatePhoto]),
      ([.stored(.invented(4, .pairedVideo)), .stored(.invented(5, .fullSizePhoto))], [:]),
      ([], [.adjustmentData: .photoProxy]),
    ]
    var held: [(asset: Asset, resources: [AssetResource])] = []
    func hold() throws {
      let asset = try made.library.fetchAssets().object(at: 0)
      held.append((asset, try made.library.resources(of: asset)))
    }
    try hold()
    #expect(held[0].resources.map(\.originalFilename) == ["IMG_1.jpg", "IMG_2.jpg"])
    for addition in additions {
      try made.library.performChangesAndWait {
        $0.addResources(addition.drafts, to: id, retyping: addition.types)
      }
      try hold()
      for earlier in held { #expect(try made.library.resources(of: earlier.asset) == earlier.resources) }
    }
    #expect(Set(held.map { Set($0.resources) }).count == held.count, "Every step changed something.")
  }
}
