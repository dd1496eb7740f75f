import LibraryJSON
import PhotoLedger

// The table of `ls`, for people:
//
//     ♥   2024-05-31 18:30  4032×3024  IMG_0001.HEIC  1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F
//     └── marks: ♥ favourite, ◌ hidden, ◉ Live Photo
//
// It is printed as it is read, however long it is, so the widths are fixed. The identifier stands last and is never
// cut, because every other command wants it; the file name gives way on a narrow screen, and takes what is left on a
// wide one.

/// Prints assets as rows.
struct AssetTable {
  let terminal: Terminal

  private static let fixedWidth = 3 + 1 + 16 + 2 + 9 + 2 + 2 + 36

  private var nameWidth: Int { max(8, (terminal.width ?? 110) - Self.fixedWidth) }

  var heading: String {
    let line = "    taken             size       \(TextLayout.fitted("name", nameWidth))  identifier"
    return terminal.styled(line, .heading)
  }

  func row(_ asset: Asset, _ resources: [AssetResource]) -> String {
    let marks =
      (asset.isFavorite ? "♥" : " ") + (asset.isHidden ? "◌" : " ")
      + (asset.mediaSubtypes.contains(.photoLive) ? "◉" : " ")
    let taken = (asset.localCreationDate ?? asset.creationDate).map(DateText.minute) ?? "no date"
    let name = resources.first?.originalFilename ?? ""
    return terminal.styled(marks, .changed) + " " + TextLayout.fitted(taken, 16) + "  "
      + TextLayout.fitted(Self.size(of: asset), 9) + "  " + TextLayout.fitted(name, nameWidth) + "  "
      + terminal.styled(asset.id.uuidString, .faint)
  }

  /// What there is to see: pixels of an image, the length of a video or sound.
  static func size(of asset: Asset) -> String {
    switch asset.mediaType {
    case .video: "▶ " + TextLayout.duration(asset.duration)
    case .audio: "♪ " + TextLayout.duration(asset.duration)
    case .image, .unknown: asset.pixelWidth == 0 ? "" : "\(asset.pixelWidth)×\(asset.pixelHeight)"
    }
  }
}
