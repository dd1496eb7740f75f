import Foundation
import LMDB

// Edits of content, and taking them back (ContentEditing.swift has the picture).

extension Decider {
  mutating func editContent(
    of identifier: LocalIdentifier, _ request: ContentEditRequest, _ t: inout WriteTransaction
  ) throws {
    let row = try editableAsset(identifier, t)
    let old = try details(of: row, t)
    let added = try request.drafts.map { try stored($0) }.named(for: identifier, beside: old.resources)
    try check(request.edit, added, of: row, old)

    var new = old
    if new.unedited == nil { new.unedited = AssetDetails.Unedited(row) }
    let replaced = old.resources.filter { ResourceType.rendered.contains($0.type) }
    new.resources.removeAll { ResourceType.rendered.contains($0.type) || $0.type == .adjustmentData }
    if request.edit.base == .rendered {
      new.resources.removeAll { ResourceType.editingBases.contains($0.type) }
      new.resources += replaced.compactMap { resource in
        resource.type.asEditingBase.map { type in
          var base = resource
          base.type = type
          return base
        }
      }
    }
    new.resources += added
    let data = request.edit.adjustmentData
    new.adjustment = AssetDetails.Adjustment(
      formatIdentifier: data.formatIdentifier, formatVersion: data.formatVersion)

    var edit = AssetEdit(number: row.number, changes: [])
    edit.details = Replacement(old: old, new: new)
    let state: AdjustmentsState = request.edit.isAutomatic ? .cameraAutoAdjusted : .userAdjusted
    want(.adjustmentsState, .integer(Int64(state.rawValue)), of: row, in: &edit)
    want(.adjustmentTimestamp, .date(date), of: row, in: &edit)
    let sides = (request.edit.pixelWidth ?? Int(row.pixelWidth), request.edit.pixelHeight ?? Int(row.pixelHeight))
    wantShape(sides.0, sides.1, request.edit.duration ?? row.duration, of: row, in: &edit)
    wantLive(new.resources, of: row, in: &edit)
    noteModification(of: row, in: &edit)
    try record([(row, edit)], .edited, &t)
  }

  mutating func revertContent(
    of identifier: LocalIdentifier, to choice: OriginalResourceChoice?, _ t: inout WriteTransaction
  ) throws {
    let row = try editableAsset(identifier, t)
    let old = try details(of: row, t)
    if let choice, !old.resources.isRawPair {
      throw LibraryError(
        .requestNotSupportedForAsset,
        "Reverting to the \(choice) original needs a RAW and JPEG pair; this asset has one original.")
    }
    var new = old
    new.resources.removeAll {
      ResourceType.rendered.contains($0.type) || ResourceType.editingBases.contains($0.type)
        || $0.type == .adjustmentData
    }
    for original in new.resources.filter(\.isOriginal)
    where try resources.state(of: original, hashing: false) == .missing {
      throw LibraryError(
        .missingResource, "The original \(original.originalFilename) is missing, so its edit cannot be reverted.")
    }
    new.adjustment = nil
    new.unedited = nil
    var edit = AssetEdit(number: row.number, changes: [])
    if new != old { edit.details = Replacement(old: old, new: new) }
    want(.adjustmentsState, .integer(Int64(AdjustmentsState.none.rawValue)), of: row, in: &edit)
    want(.adjustmentTimestamp, .null, of: row, in: &edit)
    if let choice { want(.originalResourceChoice, .integer(Int64(choice.rawValue)), of: row, in: &edit) }
    if let shape = old.unedited ?? (choice == nil ? nil : AssetDetails.Unedited(row)) {
      let size = choice.flatMap { old.resources.size(of: $0, changing: row) } ?? (shape.pixelWidth, shape.pixelHeight)
      wantShape(Int(size.width), Int(size.height), shape.duration, of: row, in: &edit)
    }
    if new.resources != old.resources { wantLive(new.resources, of: row, in: &edit) }
    guard !edit.changes.isEmpty || edit.details != nil else { return }
    noteModification(of: row, in: &edit)
    try record([(row, edit)], .edited, &t)
  }

  private func want(_ field: AssetField, _ value: FieldValue, of row: AssetRow, in edit: inout AssetEdit) {
    guard row[field] != value else { return }
    edit.changes.append(AssetChange(field: field, old: row[field], new: value))
  }

  func wantShape(
    _ width: Int, _ height: Int, _ duration: Double, of row: AssetRow, in edit: inout AssetEdit
  ) {
    want(.pixelWidth, .integer(Int64(width)), of: row, in: &edit)
    want(.pixelHeight, .integer(Int64(height)), of: row, in: &edit)
    want(.duration, .double(duration + 0), of: row, in: &edit)
  }

  /// An edit of the still alone makes a Live Photo a still; an edit of both files, or reverting, makes it one again
  /// (LP-01). Where the video is not in the library, what was said about the asset stays.
  private func wantLive(_ resources: [AssetResource], of row: AssetRow, in edit: inout AssetEdit) {
    guard resources.hasPairedVideo else { return }
    let isLive = Self.isLive(resources)
    let subtypes = isLive ? row.mediaSubtypes.union(.photoLive) : row.mediaSubtypes.subtracting(.photoLive)
    want(.mediaSubtypes, .integer(Int64(subtypes.rawValue)), of: row, in: &edit)
    let (former, next): (PlaybackStyle, PlaybackStyle) = isLive ? (.image, .livePhoto) : (.livePhoto, .image)
    if row.playbackStyle == former { want(.playbackStyle, .integer(Int64(next.rawValue)), of: row, in: &edit) }
  }

  /// Adds to the changes of an asset that gets a paired video what its files make it: a Live Photo, or, where its still
  /// alone was edited before, a still (LP-01).
  func setLive(_ resources: [AssetResource], of row: AssetRow, in changes: inout AssetChanges) {
    let subtypes = changes.mediaSubtypes ?? row.mediaSubtypes
    let style = changes.playbackStyle ?? row.playbackStyle
    if Self.isLive(resources) {
      changes.mediaSubtypes = subtypes.union(.photoLive)
      if style == .image || !subtypes.contains(.photoLive) {
        changes.playbackStyle = changes.playbackStyle ?? .livePhoto
      }
    } else {
      changes.mediaSubtypes = subtypes.subtracting(.photoLive)
      if style == .livePhoto { changes.playbackStyle = .image }
    }
  }

  /// Whether the video of files that have a paired one is shown with the still.
  private static func isLive(_ resources: [AssetResource]) -> Bool {
    resources.contains { $0.type == .fullSizePairedVideo } || !resources.contains { $0.type == .fullSizePhoto }
  }

  /// Checks the types of an edit's rendered files (LP-01).
  private func checkRendered(_ types: [ResourceType], of row: AssetRow, _ details: AssetDetails) throws {
    let wanted: [Set<ResourceType>]
    switch row.mediaType {
    case .image where row.mediaSubtypes.contains(.photoLive) || details.resources.hasPairedVideo:
      wanted = [[.fullSizePhoto], [.fullSizePhoto, .fullSizePairedVideo]]
    case .image: wanted = [[.fullSizePhoto]]
    case .video: wanted = [[.fullSizeVideo]]
    case .audio, .unknown:
      throw LibraryError(.requestNotSupportedForAsset, "The content of a sound recording cannot be edited.")
    }
    guard wanted.contains(Set(types)), Set(types).count == types.count else {
      let asset = wanted.count == 1 ? "this asset" : "a Live Photo"
      let renders = wanted.map { $0.map(\.name).sorted(by: >).joined(separator: " with a ") }
      throw LibraryError(
        .invalidResource, "An edit of \(asset) needs exactly a rendered \(renders.joined(separator: ", or a ")).")
    }
  }

  /// Whether an edit has what an edit needs (AS-04, LP-01).
  private func check(
    _ edit: ContentEdit, _ added: [AssetResource], of row: AssetRow, _ details: AssetDetails
  ) throws {
    // The recipe is the last of the files (ContentEditRequest); another among the rendered ones would stay beside it.
    try checkRendered(added.dropLast().map(\.type), of: row, details)
    guard let recipe = added.last, recipe.dataSize > 0 else {
      throw LibraryError(.invalidResource, "An edit needs adjustment data of at least one byte.")
    }
    if let known = details.resources.first(where: { $0.type == .adjustmentData }), known.sha256 == recipe.sha256 {
      throw LibraryError(
        .invalidResource, "An edit needs new adjustment data; these are equal to those of the last edit.")
    }
    for text in [edit.adjustmentData.formatIdentifier, edit.adjustmentData.formatVersion] {
      guard (1...256).contains(text.utf8.count) else {
        throw LibraryError(.invalidResource, "The format and version of adjustment data must have 1 to 256 bytes each.")
      }
    }
    guard edit.base == .unedited || details.resources.contains(where: { ResourceType.rendered.contains($0.type) })
    else {
      throw LibraryError(.changeNotSupported, "The asset has no rendered file that the edit could be based on.")
    }
    var changes = AssetChanges()
    (changes.pixelWidth, changes.pixelHeight, changes.duration) = (edit.pixelWidth, edit.pixelHeight, edit.duration)
    try check(changes)
    try checkDuration(edit.duration ?? row.duration, of: row.mediaType)
  }
}
