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
