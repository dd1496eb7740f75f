internal import PhotoLedger

/// How sidecars are named.
package enum SidecarNaming: String, Sendable, Hashable, CaseIterable {
  /// `a.jpg.xmp`, as darktable has it.
  case full
  /// `a.xmp`, as Adobe's programs have it.
  case stem

  /// The path of the sidecar of a file.
  func path(of file: String) -> String {
    switch self {
    case .full: return file + ".xmp"
    case .stem:
      guard let ending = SafeFileName.ending(of: String(decoding: FilePath(file).nameBytes, as: UTF8.self)) else {
        return file + ".xmp"
      }
      return file.dropLast(ending.utf8.count) + ".xmp"
    }
  }
}

/// What an export takes and how.
package struct ExportOptions: Sendable {
  /// Which versions of an edited asset are exported.
  package enum Versions: String, Sendable, CaseIterable {
    /// The files as they came.
    case originals
    /// What the asset shows: the edited files if there are any, otherwise the originals.
    case current
    /// The files as they came, and the edited ones beside them.
    case both
  }

  /// Which files of a RAW and JPEG pair are exported.
  package enum RawFiles: String, Sendable, CaseIterable {
    case both, raw, compressed
  }

  /// Where each file goes.
  package var template: ExportTemplate
  package var versions = Versions.both
  package var raw = RawFiles.both
  /// Whether the films of Live Photos are exported.
  package var takesPairedVideos = true
  /// Whether files are given a second name instead of being copied, where that is possible.
  package var links = false
  /// Whether an XMP sidecar stands beside each picture and film, and how it is named.
  package var sidecars: SidecarNaming?
  /// Whether exiftool writes what the library says into the copies.
  package var embeds = false
  /// Whether files of earlier exports are removed that are wanted no more.
  package var removesUnwanted = false
  /// Whether a file of an earlier export that was changed in the folder is replaced.
  package var replacesChanged = false
  /// Whether nothing is written.
  package var isDryRun = false
  /// The number of threads that copy; nil: two a processor.
  package var threadCount: Int?
  /// What one file may cost exiftool.
  package var metadataLimits = ExifToolLimits()
  /// Where exiftool is looked for; nil: `PATH`.
  package var searchPath: String?

  /// The usual way.
  package init(template: ExportTemplate) { self.template = template }
}
