import Foundation

// Completing requests with what the bytes of their files are (MediaProbe.swift).

/// A draft whose bytes are in place, with what they are.
struct StagedDraft: Sendable {
  let resource: AssetResource
  /// nil for bytes that were not examined.
  var facts: MediumFacts?

  var draft: ResourceDraft { .stored(resource) }
}

extension [StagedDraft] {
  /// The facts of the one original that an asset shows (AS-16).
  fileprivate func facts(of choice: OriginalResourceChoice) -> MediumFacts? {
    guard contains(where: { $0.facts != nil }), let original = map(\.resource).original(choice) else { return nil }
    return first { $0.resource == original }?.facts
  }
}

extension AssetCreation {
  /// Takes the bytes of staged files, and what they say where the request leaves it open.
  mutating func take(_ staged: [StagedDraft]) {
    let isBare = resources.contains(where: \.isBareImage)
    resources = staged.map(\.draft)
    guard var facts = staged.facts(of: originalResourceChoice) else {
      // Bytes that were not examined may state a date, which `metadata read` finds later.
      isDatedByAddition = isDatedByAddition && isBare
      return
    }
    // A bare image is its pixels (CB-11).
    if isBare {
      (facts.creationDate, facts.localCreationDate) = (nil, nil)
      (facts.timeZoneOffset, facts.location) = (nil, nil)
    }
    complete(with: facts)
  }

  /// Sets what is not set yet from what the bytes say.
  package mutating func complete(with facts: MediumFacts) {
    if mediaSubtypes.isEmpty { mediaSubtypes = facts.mediaSubtypes }
    if pixelWidth == 0, pixelHeight == 0 { (pixelWidth, pixelHeight) = (facts.pixelWidth, facts.pixelHeight) }
    if duration == 0, mediaType != .image { duration = facts.duration }
    // The three are one statement: half of it with half of another would be a third.
    if creationDate == nil, localCreationDate == nil, timeZoneOffset == nil {
      creationDate = facts.creationDate
      localCreationDate = facts.localCreationDate
      timeZoneOffset = facts.timeZoneOffset
    }
    if fileMetadata == nil { fileMetadata = facts.metadata?.bounded() }
    if location == nil, facts.location?.isValid == true { location = facts.location }
  }
}

extension ContentEditRequest {
  /// Takes the bytes of staged files, and the shape of the render where the edit leaves it open (AS-02).
  mutating func take(_ staged: [StagedDraft]) {
    drafts = staged.map(\.draft)
    let render = staged.first { [.fullSizePhoto, .fullSizeVideo].contains($0.resource.type) }
    guard let facts = render?.facts else { return }
    if edit.pixelWidth == nil, edit.pixelHeight == nil, facts.pixelWidth > 0, facts.pixelHeight > 0 {
      (edit.pixelWidth, edit.pixelHeight) = (facts.pixelWidth, facts.pixelHeight)
    }
    if edit.duration == nil, facts.mediaType == .video { edit.duration = facts.duration }
  }
}

extension AssetChanges {
  /// Takes the shape of a file that an existing asset is from now on shown by, as when a still joins a video.
  mutating func take(_ staged: [StagedDraft]) {
    let primary = staged.first { [.photo, .video, .audio].contains($0.resource.type) }
    guard let facts = primary?.facts, facts.pixelWidth > 0, pixelWidth == nil, pixelHeight == nil else { return }
    (pixelWidth, pixelHeight) = (facts.pixelWidth, facts.pixelHeight)
  }
}
