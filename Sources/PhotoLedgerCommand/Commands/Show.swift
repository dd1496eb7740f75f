import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let show = Command(
    words: ["show"], summary: "show all properties of one asset, album or folder",
    operands: [Operand("ID", "the identifier; the part before the slash suffices")], options: .looking + [.json],
    notes: "With --json an asset also has `albums`: the identifiers of the albums that contain it.",
    example: "show 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
  ) { invocation in
    let identifier = invocation.operands[0]
    return try invocation.withLibrary { library in
      if let asset = try library.asset(identifier) {
        try describe(asset, library, invocation)
      } else if let collection = try library.collection(identifier) {
        try describe(collection, invocation)
      } else {
        throw LibraryError(
          .identifierNotFound, "The library has no asset, album or folder '\(identifier)'; `ls` and `albums` list them."
        )
      }
      return .done
    }
  }
}

private func describe(_ asset: Asset, _ library: PhotoLibrary, _ invocation: Invocation) throws {
  if invocation.printsJSON { return try invocation.output.line(try library.shownJSON(of: asset)) }
  let resources = try library.resources(of: asset)
  let containing = try library.fetchCollections(containing: asset)
  let albums = try containing.objects(at: 0..<containing.count)
  var facts = Facts(terminal: invocation.output.terminal)
  facts.add("identifier", asset.localIdentifier)
  facts.add("kind", ([("\(asset.mediaType)")] + asset.mediaSubtypes.names).joined(separator: ", "))
  facts.add("size", AssetTable.size(of: asset))
  facts.add("taken", asset.creationDate.map { DateText.instant($0, offset: asset.timeZoneOffset) })
  facts.add("camera's clock", asset.localCreationDate.map { DateText.wallTime($0) })
  facts.add("added", DateText.instant(asset.addedDate))
  facts.add("modified", asset.modificationDate.map { DateText.instant($0) })
  facts.add("in the trash", asset.trashedDate.map { "since " + DateText.instant($0) })
  facts.add(
    "location", asset.location.map { "\($0.latitude), \($0.longitude)\($0.altitude.map { ", \($0) m" } ?? "")" })
  let marks =
    (asset.isFavorite ? ["favourite"] : []) + (asset.isHidden ? ["hidden"] : []) + (asset.isRaw ? ["RAW"] : [])
    + (asset.isSelfPortrait ? ["self-portrait"] : [])
  facts.add("marks", marks.joined(separator: ", "))
  add(try library.extendedMetadata(of: asset), asset, to: &facts)
  for album in albums { facts.add("in album", "\(album.localizedTitle ?? "")  \(album.id.uuidString)") }
  for resource in resources {
    facts.add(
      resource.type.name,
      "\(resource.originalFilename), \(TextLayout.bytes(resource.dataSize)), \(resource.uniformTypeIdentifier)")
    facts.add("", "sha256 \(resource.sha256Hex)")
    facts.add("", library.url(of: resource).path)
  }
  try invocation.output.write(facts.text)
}

/// Adds the words about an asset, and what was made of it.
private func add(_ metadata: ExtendedMetadata, _ asset: Asset, to facts: inout Facts) {
  facts.add("rating", asset.rating == .unset ? nil : String(repeating: "★", count: asset.rating.rawValue))
  facts.add("caption", metadata.caption)
  facts.add("keywords", metadata.keywords.joined(separator: ", "))
  if let said = metadata.fileMetadata { add(said, to: &facts) }
  if asset.sourceType != .userLibrary { facts.add("source", asset.sourceType.names.joined(separator: ", ")) }
  if let burst = asset.burstIdentifier {
    let part = (asset.representsBurst ? ["representative"] : []) + asset.burstSelectionTypes.names
    facts.add("burst", ([burst] + part).joined(separator: ", "))
  }
  if let stack = asset.stack {
    facts.add("stack", asset.isBeneathStack ? "beneath \(stack.spelled(as: .asset))" : "on top")
  }
  if asset.hasAdjustments {
    let format = [metadata.adjustmentFormatIdentifier, metadata.adjustmentFormatVersion].compactMap(\.self)
    let date = asset.adjustmentTimestamp.map { DateText.instant($0) }
    facts.add(
      "edited",
      ([date, "\(asset.adjustmentsState)"].compactMap(\.self) + [format.joined(separator: " ")])
        .joined(separator: ", "))
  }
  if asset.playbackVariation != .none { facts.add("played as", "\(asset.playbackVariation)") }
  if !asset.isLivePhotoVideoPlaybackEnabled { facts.add("played as", "a still") }
  if asset.originalResourceChoice != .compressed { facts.add("shows", "the \(asset.originalResourceChoice) original") }
  facts.add("comes from", metadata.origin?.stringValue)
}

/// Adds what the files say, where an edit of the asset does not say it already.
private func add(_ said: AssetMetadata, to facts: inout Facts) {
  facts.add("title", said.title)
  facts.add("people", said.people.joined(separator: ", "))
  facts.add("keyword paths", said.hierarchicalKeywords.joined(separator: ", "))
  facts.add("by", said.creators.joined(separator: ", "))
  facts.add("copyright", said.copyright)
  facts.add("camera", [said.cameraMake, said.cameraModel].compactMap(\.self).joined(separator: " "))
  facts.add("lens", said.lens)
  let exposure = [
    said.focalLength.map { "\(short($0)) mm" }, said.aperture.map { "f/\(short($0))" },
    said.exposureTime.map { $0 < 0.3 ? "1/\(short((1 / $0).rounded())) s" : "\(short($0)) s" },
    said.iso.map { "ISO \($0)" }, said.flashFired.map { $0 ? "flash" : "no flash" },
  ]
  facts.add("exposure", exposure.compactMap(\.self).joined(separator: ", "))
  facts.add("software", said.software)
  let sources = said.sources.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
  facts.add("read from", sources.joined(separator: ", "))
}

/// A number without a fraction that says nothing.
private func short(_ number: Double) -> String {
  number == number.rounded() && number.magnitude < 1e15 ? "\(Int(number))" : "\(number)"
}

private func describe(_ collection: PhotoCollection, _ invocation: Invocation) throws {
  guard !invocation.printsJSON else { return try invocation.output.line(JSON(collection)) }
  var facts = Facts(terminal: invocation.output.terminal)
  facts.add("identifier", collection.localIdentifier)
  facts.add("kind", "\(collection.kind)")
  facts.add("subtype", collection.albumSubtype?.name)
  facts.add("title", collection.localizedTitle)
  facts.add("shows", collection.smartAlbumPredicate)
  if collection.kind == .album { facts.add("assets", "\(collection.estimatedAssetCount)") }
  facts.add("created", DateText.instant(collection.creationDate))
  facts.add("modified", DateText.instant(collection.modificationDate))
  try invocation.output.write(facts.text)
}
