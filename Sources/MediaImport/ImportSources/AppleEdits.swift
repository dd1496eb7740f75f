internal import PhotoLedger

// Edits as Apple's devices and programs leave them in folders.
//
//     IMG_4120.HEIC      the original             ┐
//     IMG_4120.AAE       the adjustment data      ├ one asset, with the edit as its content
//     IMG_E4120.HEIC     the rendition            ┘
//     IMG_4120.MOV, IMG_E4120.MOV                   the movies of an edited Live Photo
//
// The names decide here what may belong together: a file of adjustment data and the files of its name, of one folder,
// and renditions with the same number. Whether they do is decided from their metadata (ImportPlanner). Adjustment data
// with another file of the same name in another case, or without a photo or video of its name, describe nothing.
//
// Renditions come in the walk hundreds of files after their originals, and what is planned together is side by side. So
// the files of such a unit are taken before the others of their folder. Before, too, since a copy of the original,
// `IMG_4120 copy.HEIC`, precedes it in the walk, and the first file with a content is the one that becomes an asset.
//
// The file of adjustment data is kept whole, as the file of a resource: besides the data and their format it states the
// editor, the time of the edit and what it was based on. exiftool reads it, as it reads every foreign file.

/// Finds originals, renditions and adjustment data by their names.
enum AppleEdits {
  /// What a file is to an edit, by its name.
  enum Part: Sendable, Equatable {
    /// The adjustment data of the photo or video of its name.
    case adjustmentData
    /// The edited photo or video.
    case rendition
  }

  /// The name without extension of the original of a rendition: `IMG_4120` for `IMG_E4120.HEIC`; nil for other names.
  static func original(ofRendition name: some Sequence<UInt8>) -> [UInt8]? {
    let stem = FilePath(bytes: Array(name)).stemBytes
    let digits = stem.dropFirst(5)
    guard stem.starts(with: "IMG_E".utf8), digits.count >= 4, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Array("IMG_".utf8) + digits
  }

  /// The parts of edits among files, each with the folder and the name that its unit has in common.
  /// - Parameter folder: what the files of one folder have in common.
  static func parts(
    of files: [ScannedFile], in folder: (ScannedFile) -> [UInt8]
  ) -> [Int: (part: Part, unit: [UInt8])] {
    func unit(_ file: ScannedFile, _ stem: some Sequence<UInt8>) -> [UInt8] { folder(file) + [FilePath.slash] + stem }
    func stem(_ file: ScannedFile) -> ArraySlice<UInt8> { FilePath(bytes: file.path.nameBytes).stemBytes }
    var data: [[UInt8]: [Int]] = [:]
    for (index, file) in files.enumerated() where file.role == .sidecar && file.path.pathExtension == "aae" {
      data[unit(file, stem(file)), default: []].append(index)
    }
    data = data.filter { $0.value.count == 1 }
    if data.isEmpty { return [:] }
    var parts: [Int: (part: Part, unit: [UInt8])] = [:]
    var described: Set<[UInt8]> = []
    for (index, file) in files.enumerated() where file.role == .candidate {
      if let original = original(ofRendition: file.path.nameBytes), data[unit(file, original)] != nil {
        parts[index] = (.rendition, unit(file, original))
      } else {
        described.insert(unit(file, stem(file)))
      }
    }
    parts = parts.filter { described.contains($0.value.unit) }
    for (unit, indexes) in data where described.contains(unit) {
      for index in indexes { parts[index] = (.adjustmentData, unit) }
    }
    return parts
  }

  /// Marks the parts of edits among the files of folders, and brings what may belong together side by side.
  static func arranged(_ files: consuming [ScannedFile]) -> [ScannedFile] {
    let parts = parts(of: files) { Array($0.path.folderBytes) }
    if parts.isEmpty { return files }
    let units = Set(parts.values.map(\.unit))
    var members: [[UInt8]: [(unit: [UInt8], index: Int)]] = [:]
    for (index, file) in files.enumerated() {
      let unit = parts[index]?.unit ?? Array(file.path.stemBytes)
      if units.contains(unit) { members[Array(file.path.folderBytes), default: []].append((unit, index)) }
    }
    let moved = Set(members.values.flatMap { $0.map(\.index) })
    var arranged: [ScannedFile] = []
    arranged.reserveCapacity(files.count)
    for (index, file) in files.enumerated() {
      if let first = members.removeValue(forKey: Array(file.path.folderBytes)) {
        let order = first.sorted {
          $0.unit == $1.unit ? $0.index < $1.index : $0.unit.lexicographicallyPrecedes($1.unit)
        }
        for (unit, index) in order {
          var member = files[index]
          member.edit = parts[index]?.part
          if member.edit == .rendition { member.unit = unit }
          arranged.append(member)
        }
      }
      if !moved.contains(index) { arranged.append(file) }
    }
    return arranged
  }
}

/// Adjustment data as exiftool reads them.
struct AdjustmentFormat: Sendable, Hashable {
  /// Which program's they are, such as `com.apple.photo`.
  let identifier: String
  let version: String

  /// Nil if the file is not a property list, contains no adjustment data, or names no valid format.
  init?(_ tags: ExifTags) {
    guard let type = tags.text("FileType"), ["AAE", "PLIST"].contains(type),
      let identifier = Self.text(tags, "AdjustmentFormatIdentifier"), identifier.contains(where: \.isLetter),
      let version = Self.text(tags, "AdjustmentFormatVersion"),
      // exiftool names the size of data, and prints any other type as text.
      let data = Self.text(tags, "AdjustmentData"), data.hasPrefix("(Binary data "), !data.hasPrefix("(Binary data 0 ")
    else { return nil }
    (self.identifier, self.version) = (identifier, version)
  }

  /// The one value of a tag that is there once.
  private static func text(_ tags: ExifTags, _ tag: String) -> String? {
    let values = tags.all(tag)
    guard values.count == 1, values[0].texts.count == 1, let text = tags.text(tag), (1...256).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else { return nil }
    return text
  }
}

/// Adjustment data whose bytes are in place.
struct PreparedAdjustment: Sendable {
  /// The index of the file in the walk.
  let index: Int
  let path: FilePath
  let stored: StoredContent
  let format: AdjustmentFormat
  /// What the files that it may belong to have in common.
  let unit: [UInt8]

  var unitBytes: ArraySlice<UInt8> { unit[...] }

  var resource: ImportedResource {
    ImportedResource(
      type: .adjustmentData, stored: stored, originalFilename: path.name, source: path, metadata: .adjustmentData)
  }
}

extension MediaMetadata {
  /// What is recorded of a file of adjustment data.
  fileprivate static let adjustmentData = MediaMetadata(
    mediaType: .unknown, uniformTypeIdentifier: "com.apple.photos.apple-adjustment-envelope",
    mimeType: "application/vnd.apple.photos", fileType: "AAE", isRaw: false, orientation: 1, duration: 0,
    isBurstPrimary: false, subtypes: [], playbackStyle: .unsupported, isMotionPhoto: false, keywords: [], warnings: [])
}
