import Foundation
import PhotoLedger
import Photos
import TestSupport
import Testing

/// The public properties of a class of `Photos`, those of `NSObject` left out, by the list that `PublicSymbolsTests`
/// compares with the compiler's.
private func properties(of type: String) throws -> [String] {
  let list = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "TidyTests/PublicSymbols/Photos.txt")
  return try String(contentsOf: list, encoding: .utf8).split(separator: "\n").compactMap { line in
    let columns = line.split(separator: "\t", maxSplits: 1)
    let path = columns[0].split(separator: ".")
    let words = columns[1].split(separator: " ")
    let isProperty = words.first { !["open", "final", "override"].contains($0) }.map { ["var", "let"].contains($0) }
    guard path.count == 2, path[0] == type, isProperty == true, path[1] != "hash" else { return nil }
    return String(path[1])
  }
}

@Suite("Key-value coding")
struct KeyValuesTests {
  @Test("every public property of an asset is the value of its name")
  func everyPropertyOfAsset() async throws {
    // A key without a value ends the process.
    await #expect(processExitsWith: .success) {
      let names = try properties(of: "PHAsset")
      try #require(names.count > 25 && Set(names).isSuperset(of: ["rating", "localIdentifier", "asset"]))
      for name in names { _ = PHAsset().value(forKey: name) }
    }
  }

  @Test("every public property of a resource is the value of its name")
  func everyPropertyOfResource() async throws {
    await #expect(processExitsWith: .success) {
      let names = try properties(of: "PHAssetResource")
      try #require(names.count > 6 && Set(names).isSuperset(of: ["contentType", "dataSize", "type"]))
      for name in names { _ = PHAssetResource().value(forKey: name) }
    }
  }

  @Test("every public property of an album and of a folder is the value of its name")
  func everyPropertyOfCollection() async throws {
    await #expect(processExitsWith: .success) {
      let common = try properties(of: "PHCollection")
      try #require(Set(common).isSuperset(of: ["collection", "localizedTitle"]))
      let album = try properties(of: "PHAssetCollection")
      try #require(Set(album).isSuperset(of: ["assetCollectionSubtype", "estimatedAssetCount"]))
      let folder = try properties(of: "PHCollectionList")
      try #require(folder.contains("collectionListSubtype"))
      for name in common + album { _ = PHAssetCollection().value(forKey: name) }
      for name in common + folder { _ = PHCollectionList().value(forKey: name) }
    }
  }

  @Test("what only predicates and orders spell so is not a key of a value")
  func spellingsOfQueries() async {
    await #expect(processExitsWith: .failure) { _ = PHAsset().value(forKey: "SELF") }
    await #expect(processExitsWith: .failure) { _ = PHAssetCollection().value(forKey: "albumSubtype") }
  }

  @Test("a collection has its title by Apple's keys, and its kind as a number")
  func collections() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let sea = try await album("Sea")
      #expect(sea.value(forKey: "title") as? String == "Sea" && sea.value(forKey: "localizedTitle") as? String == "Sea")
      #expect(sea.value(forKey: "assetCollectionType") as? Int == PHAssetCollectionType.album.rawValue)
      #expect(sea.value(forKey: "canContainAssets") as? Bool == true)
      #expect(sea.value(forKey: "startDate") as? Date == nil)
    }
  }

  @Test("the value of an enumeration is its number, and that of an object the object")
  func values() async throws {
    let gallery = try Gallery()
    let identifier = try await gallery.make(1) { creation in
      creation.burstIdentifier = "burst"
      creation.representsBurst = true
      creation.burstSelectionTypes = .userPick
      creation.rating = .four
      creation.playbackVariation = .mirror
      creation.originalResourceChoice = .raw
      creation.caption = "Sea"
      creation.resources.append(
        ResourceDraft(
          type: .alternatePhoto, source: .data(Data("raw".utf8)), uniformTypeIdentifier: "com.adobe.raw-image"))
    }
    let recipe = AdjustmentData(formatIdentifier: "com.example.editor", formatVersion: "1", data: Data("crop".utf8))
    let edit = ContentEdit(
      adjustmentData: recipe,
      rendered: [ResourceDraft(type: .fullSizePhoto, source: .data(Data("cropped".utf8)))])
    let edited = try #require(LocalIdentifier(identifier))
    try await gallery.library.performChanges { $0.editContent(of: edited, edit) }
    try await gallery.shared {
      let photo = try asset(identifier)
      let numbers = [
        "adjustmentsState": 2, "burstSelectionTypes": 2, "originalResourceChoice": 1, "playbackVariation": 2,
        "rating": 4,
      ]
      for (key, number) in numbers {
        #expect(photo.value(forKey: key) as? NSNumber == NSNumber(value: number), "\(key)")
      }
      #expect(photo.adjustmentsState == .userAdjusted && photo.rating == .four && photo.playbackVariation == .mirror)
      #expect(photo.adjustmentTimestamp != nil)
      #expect(photo.value(forKey: "adjustmentTimestamp") as? Date == photo.adjustmentTimestamp)
      #expect(photo.value(forKey: "adjustmentFormatIdentifier") as? String == "com.example.editor")
      #expect(photo.value(forKey: "contentType") as? UTType == UTType("com.adobe.raw-image"))
      #expect((photo.value(forKey: "extendedMetadata") as? PHAssetExtendedMetadata)?.caption == "Sea")
      #expect(photo.value(forKey: "asset") as? Asset == photo.asset && photo.asset != nil)
      let original = try #require(PHAssetResource.assetResources(for: photo).first { $0.type == .photo })
      #expect(original.value(forKey: "contentType") as? UTType == .jpeg)
    }
  }
}
