import LibraryJSON
import PhotoLedger

// The table of `ls`, for people:
//
//     ♥   2024-05-31 18:30   4032×3024  IMG_0001.HEIC  1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F
//     └── marks: ♥ favourite, ◌ hidden, ◉ Live Photo
//
// The time is that of the camera's clock; one that is known as an instant alone is in UTC, with a Z.
//
// It is printed as it is read, however long it is, so the widths are fixed. The identifier stands last and is never
// cut, because every other command wants it; on a narrow screen it has a line of its own. The file name takes what is
// left.

/// Prints assets as rows.
struct AssetTable {
  let terminal: Terminal
  /// The columns that the caller prints before each row.
  var margin = 0

  /// A time to the minute, and the letter of UTC.
  private static let timeWidth = 17
  /// What stands before the name.
  private static let leadWidth = 3 + 1 + timeWidth + 2 + 9 + 2
  private static let identifierWidth = 2 + 36
  /// With fewer columns there is no room for names beside identifiers.
  private static let wideWidth = 100

  private var columns: Int { (terminal.width ?? 110) - margin }

  private var isNarrow: Bool { columns < Self.wideWidth }

  private var nameWidth: Int { max(8, columns - Self.leadWidth - (isNarrow ? 0 : Self.identifierWidth)) }

  var heading: String {
    let names = isNarrow ? "name" : TextLayout.fitted("name", nameWidth) + "  identifier"
    return terminal.styled("    taken              size       " + names, .heading)
  }

  func row(_ asset: Asset, _ resources: [AssetResource]) -> String {
    var bytes = JSONBytes()
    write(asset, resources, to: &bytes)
    return bytes.text()
  }

  /// Writes a row, without its line end; on a narrow screen it has two lines.
  func write(_ asset: Asset, _ resources: [AssetResource], to bytes: inout JSONBytes) {
    write(.changed, to: &bytes) { bytes in
      bytes.raw(asset.isFavorite ? "♥" : " ")
      bytes.raw(asset.isHidden ? "◌" : " ")
      bytes.raw(asset.mediaSubtypes.contains(.photoLive) ? "◉" : " ")
    }
    bytes.raw(" ")
    if let taken = asset.localCreationDate ?? asset.creationDate {
      let zone = asset.localCreationDate == nil ? "Z" : " "
      let start = bytes.count
      bytes.minute(taken)
      bytes.raw(zone)
      if bytes.count - start != Self.timeWidth {
        // A year of more or fewer than four digits.
        bytes.removeAll(from: start)
        TextLayout.write(DateText.minute(taken) + zone, fittedTo: Self.timeWidth, to: &bytes)
      }
    } else {
      TextLayout.write("no date", fittedTo: Self.timeWidth, to: &bytes)
    }
    bytes.raw("  ")
    TextLayout.write(Self.size(of: asset), fittedTo: 9, to: &bytes)
    bytes.raw("  ")
    TextLayout.write(resources.first?.originalFilename ?? "", fittedTo: nameWidth, to: &bytes)
    if isNarrow {
      bytes.endLine()
      bytes.blanks(margin + 4)
    } else {
      bytes.raw("  ")
    }
    write(.faint, to: &bytes) { $0.identifierText(asset.id) }
  }

  private func write(_ style: Style, to bytes: inout JSONBytes, _ body: (inout JSONBytes) -> Void) {
    if terminal.usesColor { bytes.raw("\u{1B}[\(style.rawValue)m") }
    body(&bytes)
    if terminal.usesColor { bytes.raw("\u{1B}[0m" as StaticString) }
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
