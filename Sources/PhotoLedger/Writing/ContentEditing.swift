public import Foundation

// Editing the content of an asset without losing what it was (AS-04 … AS-10).
//
//     original ─────────── the first edit's input
//        │                         │  recipe and render
//        │                         ▼
//        │             fullSizePhoto + adjustmentData     a program that knows the recipe begins from the original,
//        │                         │                      one that does not from the render, which then becomes
//        │                         ▼                      adjustmentBasePhoto
//        └── revert ◀── fullSizePhoto + adjustmentData
//
// The originals, and input and output of the last edit are kept; all share one set of adjustment data (AS-05). Files
// that an edit or a revert replaces stay on the disk as long as the asset, for as-of views and undo; a purge removes
// them.

/// The recipe of an edit (PHAdjustmentData).
public struct AdjustmentData: Sendable, Hashable {
  /// Which program's recipe it is, such as `com.example.editor`.
  public var formatIdentifier: String
  /// The version of the recipe's format.
  public var formatVersion: String
  /// The recipe: at least one byte.
  public var data: Data

  /// Takes the parts of a recipe.
  public init(formatIdentifier: String, formatVersion: String, data: Data) {
    self.formatIdentifier = formatIdentifier
    self.formatVersion = formatVersion
    self.data = data
  }
}

/// What an edit began from (AS-09).
public enum EditingBase: String, Sendable, Hashable, CaseIterable, Codable {
  /// The unedited files: for an editor that can apply the stored adjustment data.
  case unedited
  /// The output of the last edit.
  case rendered
}

/// The input for editing an asset (PHContentEditingInput).
public struct EditingInput: Sendable {
  /// The asset, as of the moment of asking.
  public let asset: Asset
  /// The stored recipe, if the program said that it can apply it; nil otherwise.
  public let adjustmentData: AdjustmentData?
  /// What ``resources`` are.
  public let base: EditingBase
  /// The files to begin from: a photo or video, and the video of a Live Photo.
  public let resources: [AssetResource]
}

/// An edit of an asset's content (PHContentEditingOutput).
public struct ContentEdit: Sendable {
  /// The recipe (AS-04).
  public var adjustmentData: AdjustmentData
  /// The rendered files, with the orientation baked in (AS-10): ``ResourceType/fullSizePhoto`` for an image, with
  /// ``ResourceType/fullSizePairedVideo`` for a Live Photo, ``ResourceType/fullSizeVideo`` for a video.
  ///
  /// A Live Photo of which the still alone is rendered is a still until the edit is reverted (LP-01).
  public var rendered: [ResourceDraft]
  /// What the edit began from: that of the input.
  public var base: EditingBase
  /// The width in pixels of the render as displayed; nil: as before (AS-02).
  public var pixelWidth: Int?
  /// The height in pixels of the render as displayed; nil: as before (AS-02).
  public var pixelHeight: Int?
  /// The length of the render in seconds; nil: as before.
  public var duration: TimeInterval?
  /// Whether the camera did it by itself (AS-08).
  public var isAutomatic = false

  /// Describes an edit.
  /// - Parameters:
  ///   - adjustmentData: the recipe.
  ///   - rendered: the rendered files.
  ///   - base: what the edit began from.
  public init(adjustmentData: AdjustmentData, rendered: [ResourceDraft], base: EditingBase = .unedited) {
    self.adjustmentData = adjustmentData
    self.rendered = rendered
    self.base = base
  }
}

/// An edit as a request carries it: the recipe's bytes are one more file.
package struct ContentEditRequest: Sendable {
  package var edit: ContentEdit
  /// The rendered files and the recipe.
  package var drafts: [ResourceDraft]

  init(_ edit: ContentEdit) {
    let recipe = ResourceDraft(
      type: .adjustmentData, source: .data(edit.adjustmentData.data), originalFilename: "Adjustments.data",
      uniformTypeIdentifier: "public.data")
    self.init(edit, recipe)
  }

  init(_ edit: ContentEdit, _ recipe: ResourceDraft) {
    self.edit = edit
    drafts = edit.rendered + [recipe]
  }
}

extension ChangeBlock {
  /// Edits the content of an asset (PHAssetChangeRequest.contentEditingOutput, AS-04).
  public func editContent(of asset: LocalIdentifier, _ edit: ContentEdit) {
    add(.editContent(asset, ContentEditRequest(edit)))
  }

  /// Edits the content of an asset by a recipe that is a file already.
  /// - Parameters:
  ///   - edit: the edit; of its recipe the format and version count, not the data.
  ///   - recipe: the file, of the type ``ResourceType/adjustmentData``.
  package func editContent(of asset: LocalIdentifier, _ edit: ContentEdit, recipe: ResourceDraft) {
    precondition(recipe.type == .adjustmentData, "A recipe is adjustment data.")
    add(.editContent(asset, ContentEditRequest(edit, recipe)))
  }

  /// Drops all edits of an asset's content (PHAssetChangeRequest.revertAssetContentToOriginal, AS-07).
  /// - Parameters:
  ///   - asset: an asset; no effect if it was never edited.
  ///   - choice: which original of a RAW and JPEG pair is shown from now on; nil: unchanged.
  public func revertContent(of asset: LocalIdentifier, to choice: OriginalResourceChoice? = nil) {
    add(.revertContent(asset, choice))
  }
}

extension PhotoLibrary {
  /// The input for editing an asset (PHAsset.requestContentEditingInput, AS-09).
  /// - Parameters:
  ///   - asset: an asset that this client can see.
  ///   - canHandle: whether the editor can apply stored adjustment data; if so it gets the unedited base with them, if
  ///     not the rendered result.
  /// - Throws: ``LibraryError`` `.identifierNotFound` for an asset that no longer exists,
  ///   `.requestNotSupportedForAsset` for one that cannot be edited (AS-13), `.missingResource` if a file is missing,
  ///   `.invalidResource` or `.resourceChanged` if the adjustment data are not those that were recorded; the store's
  ///   errors.
  /// - Complexity: O(log n), and the bytes of the adjustment data.
  public func editingInput(
    for asset: Asset, canHandleAdjustmentData canHandle: (AdjustmentData) -> Bool
  ) throws -> EditingInput {
    guard let current = try self.asset(asset.localIdentifier) else {
      throw LibraryError(
        .identifierNotFound,
        "The library has no asset with the identifier \(asset.id.uuidString); it may have been deleted.")
    }
    guard current.row.isEditable, current.mediaType == .image || current.mediaType == .video else {
      throw LibraryError(
        .requestNotSupportedForAsset, "The content of the asset \(asset.localIdentifier) cannot be edited.")
    }
    let details = try store.reading { t in try self.details(of: current, t) }
    guard let recipe = details.resources.first(where: { $0.type == .adjustmentData }), let format = details.adjustment
    else { return try input(current, nil, .unedited, details.resources) }
    var file = try openForReading(ResourceRequest(recipe, in: current))
    var bytes = Data()
    while let chunk = try file.next() { bytes.append(chunk) }
    let adjustment = AdjustmentData(
      formatIdentifier: format.formatIdentifier, formatVersion: format.formatVersion, data: bytes)
    guard canHandle(adjustment) else { return try input(current, nil, .rendered, details.resources) }
    return try input(current, adjustment, .unedited, details.resources)
  }

  private func input(
    _ asset: Asset, _ adjustment: AdjustmentData?, _ base: EditingBase, _ resources: [AssetResource]
  ) throws -> EditingInput {
    let wanted = resources.editingBase(base, choice: asset.originalResourceChoice)
    for resource in wanted where try store.resources.state(of: resource, hashing: false) == .missing {
      throw LibraryError(
        .missingResource, "The file \(resource.originalFilename) of \(asset.localIdentifier) is missing; restore it.")
    }
    return EditingInput(asset: asset, adjustmentData: adjustment, base: base, resources: wanted)
  }
}

extension [AssetResource] {
  /// The files that an edit begins from.
  func editingBase(_ base: EditingBase, choice: OriginalResourceChoice) -> [AssetResource] {
    if base == .rendered { return filter { ResourceType.rendered.contains($0.type) } }
    let kept = filter { ResourceType.editingBases.contains($0.type) }
    if !kept.isEmpty { return kept }
    return [original(choice)].compactMap(\.self) + filter { $0.type == .pairedVideo }
  }

  /// The size of the original that an asset shows from now on (AS-02); nil if it shows it already, or if the size of
  /// the file is not known.
  func size(
    of choice: OriginalResourceChoice, changing row: AssetRow
  ) -> (width: UInt32, height: UInt32)? {
    guard choice != row.originalResourceChoice, let original = original(choice),
      original.pixelWidth > 0, original.pixelHeight > 0
    else { return nil }
    return (UInt32(clamping: original.pixelWidth), UInt32(clamping: original.pixelHeight))
  }
}

extension ResourceType {
  /// What an edit renders (AS-06).
  package static let rendered: Set<ResourceType> = [.fullSizePhoto, .fullSizeVideo, .fullSizePairedVideo]
  /// What the last edit began from, if not from the originals (AS-06).
  static let editingBases: Set<ResourceType> = [.adjustmentBasePhoto, .adjustmentBaseVideo, .adjustmentBasePairedVideo]

  /// What a rendered file becomes when the next edit begins from it.
  var asEditingBase: ResourceType? {
    switch self {
    case .fullSizePhoto: .adjustmentBasePhoto
    case .fullSizeVideo: .adjustmentBaseVideo
    case .fullSizePairedVideo: .adjustmentBasePairedVideo
    default: nil
    }
  }
}
