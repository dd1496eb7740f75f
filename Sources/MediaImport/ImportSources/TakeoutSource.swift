internal import JSONReading
internal import PhotoLedger

// A Google Takeout as a source of media.
//
//     all parts ──▶ folders by name ──▶ JSON read ──▶ items and JSON matched (TakeoutNames) ──▶ notes, albums
//
// Parts are seen together: the folder of an album is cut wherever a part was full, so folders of one name are one
// folder, whichever part they come from. Takeouts of two exports, which are distinguished by their archives' names, are
// not mixed. Where nothing distinguishes them, an item has the JSON of the folder that it lies in.
//
// A folder whose JSON has a title and no `photoTakenTime` is an album. Folders of years have such a JSON in older
// exports; they are known by their names, and are not albums. An album without a title has its folder's name.
//
// The order of the import is that of folder and name, and does not depend on where the parts were cut. The order in an
// album is that of the time taken, since Google writes no other.

/// Reads the files of a Takeout.
struct TakeoutSource {
  let options: LibraryImport.Options
  /// The files of all parts.
  let files: [ScannedFile]
  /// What the JSON files say, by their position among the files.
  let records: [Int: TakeoutRecord]

  /// A folder of the export, put together from its parts.
  private struct Folder {
    var items: [Int] = []
    var sidecars: [Int] = []
  }

  func catalog() -> MediaCatalog {
    var output = SourceOutput(files: files)
    for (key, folder) in folders.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      output.open(key)
      settle(folder, key, &output)
    }
    return output.catalog
  }

  /// The folders by their keys: the export, and the name of the folder.
  private var folders: [[UInt8]: Folder] {
    var folders: [[UInt8]: Folder] = [:]
    // One part may be unpacked and the others not: only the names of two exports distinguish them.
    let exports = Set(Set(files.map(\.part)).map(Self.export)).subtracting([[]])
    let isOne = exports.count < 2
    for (index, file) in files.enumerated() {
      let key = (isOne ? [] : Self.export(of: file.part)) + [0] + Self.folderName(of: file)
      if records[index] != nil {
        folders[key, default: Folder()].sidecars.append(index)
      } else {
        folders[key, default: Folder()].items.append(index)
      }
    }
    return folders
  }

  /// The name of the folder that a file lies in: of one that lies right in a folder that was named, the name of that;
  /// empty for a member right in an archive. Composed, since one part may be an archive of Google's and another one lie
  /// on a file system that decomposes names.
  private static func folderName(of file: ScannedFile) -> [UInt8] {
    let folder = file.relativePath.folderBytes
    if !folder.isEmpty { return Array(FilePath(bytes: folder).nameBytes).composedName }
    return file.copy == nil ? Array(FilePath(bytes: file.path.folderBytes).nameBytes).composedName : []
  }

  /// What the archives of one export have in common: `takeout-20240131T120000Z` of `takeout-20240131T120000Z-001.zip`.
  static func export(of part: String) -> [UInt8] {
    let name = FilePath(part).name.lowercased()
    guard let match = name.firstMatch(of: #/^takeout-\d{8}T\d{6}Z/#.ignoresCase()) else { return [] }
    return Array(match.output.utf8)
  }

  private func settle(_ folder: Folder, _ key: [UInt8], _ output: inout SourceOutput) {
    let name = String(decoding: key.drop { $0 != 0 }.dropFirst(), as: UTF8.self).boundedInMarks
    let album = settleAlbum(folder, name, &output)
    var titles: [Int: TakeoutRecord.Item] = [:]
    for index in folder.sidecars { if case .item(let item)? = records[index] { titles[index] = item } }
    // Which of two that fit equally is an item's does not depend on the order in which parts were named.
    let described = titles.sorted { (files[$0.key].path, $0.key) < (files[$1.key].path, $1.key) }
    let candidates = folder.items.filter { files[$0].role == .candidate }
    var numbers: [FilePath: Int] = [:]
    func number(ofFolderOf index: Int) -> Int {
      let (path, next) = (FilePath(bytes: files[index].path.folderBytes), numbers.count)
      let number = numbers[path] ?? next
      numbers[path] = number
      return number
    }
    let names = TakeoutNames(
      items: candidates.map {
        TakeoutNames.Item(index: $0, name: files[$0].path.name, folder: number(ofFolderOf: $0))
      },
      sidecars: described.map { index, item in
        TakeoutNames.Sidecar(
          index: index, stem: String(files[index].path.name.dropLast(5)), title: item.title,
          folder: number(ofFolderOf: index))
      })
    let matches = names.matches()
    noteEqualNames(candidates, &output)
    for index in candidates { describe(index, matches[index], titles, album, &output) }
    if options.formsStacks { markCopies(among: candidates, matches, &output) }
    var first: [Int: Int] = [:]
    for (item, match) in matches.sorted(by: { $0.key < $1.key }) where first[match.sidecar] == nil {
      first[match.sidecar] = item
    }
    for (index, item) in described {
      if let item = first[index] {
        output.settle(index, .describes(files[item].path))
      } else {
        let name = item.title ?? files[index].path.name
        output.settle(
          index,
          .skipped(.orphan, "\(files[index].path) describes '\(name)', which is in none of the given parts."))
        output.rules.note("a JSON describes an item that is in none of the parts", files[index].path.description)
      }
    }
    sort(album, titles, matches, &output)
  }

  /// Notes items that cannot be of one part of one export.
  private func noteEqualNames(_ items: [Int], _ output: inout SourceOutput) {
    var first: Set<[UInt8]> = []
    for index in items where !first.insert(Array(files[index].path.nameBytes).composedName).inserted {
      output.rules.note(AppliedRule.equalNames, files[index].path.description)
    }
  }

  /// Settles the JSON files that describe no item.
  /// - Returns: the album that the folder is; nil if it is not one.
  private func settleAlbum(_ folder: Folder, _ name: String, _ output: inout SourceOutput) -> Int? {
    var album: Int?
    for index in folder.sidecars.sorted(by: { files[$0].path < files[$1].path }) {
      switch records[index] {
      case .album(let stated)?:
        let title = Limits.text(stated, atMost: Limits.titleByteCount) ?? name
        if Self.isFolderOfYear(name) {
          output.settle(index, .describesAlbum(title))
          output.rules.note("the folder of a year, or of a day, is not an album", name)
          continue
        }
        if stated.isEmpty { output.rules.note("an album without a title has the name of its folder", name) }
        if album == nil { album = output.addAlbum(title) }
        output.settle(index, .describesAlbum(title))
      case .other?:
        output.settle(
          index,
          .skipped(.notMedia, "\(files[index].path) describes neither a photo nor an album; it is Google's own."))
      case .item?, nil: break
      }
    }
    return album
  }

  /// Makes the note of an item.
  private func describe(
    _ index: Int, _ match: TakeoutNames.Match?, _ records: [Int: TakeoutRecord.Item], _ album: Int?,
    _ output: inout SourceOutput
  ) {
    let file = files[index]
    var note = MediaNote()
    guard let match, let record = records[match.sidecar] else {
      output.rules.note(AppliedRule.withoutJSON, file.path.description)
      output.take(index, note, unit: TakeoutNames.stem(file.path.name), in: album)
      return
    }
    output.rules.note(match.rule.rawValue, "\(file.path) ← \(files[match.sidecar].path.name)")
    var layer = record.layer
    if record.isPartnerShared {
      output.rules.note("an item was shared by the partner of the account", file.path.description)
      switch options.partnerShared {
      case .taken: break
      case .keyword(let word): layer.keywords += Limits.keywords([word])
      case .leftOut:
        output.settle(index, .skipped(.excluded, "\(file.path) was shared by the partner of the account."))
        return
      }
    }
    note.layers = [layer]
    note.isMovingPart = match.rule == .movingPart
    let name = Self.name(of: file.path.name, title: record.title, match.rule)
    if name != file.path.name {
      note.name = name
      output.rules.note("the title restores the name", "\(file.path.name) → \(name)")
    }
    let stem = TakeoutNames.stem(file.path.name)
    // PXL_1.MP and PXL_1.MP.jpg are one unit, by the stem of the still.
    let still = TakeoutNames.stillNames(of: file.path.name)
    output.take(index, note, unit: match.rule == .movingPart ? still.first ?? stem : stem, in: album)
  }

  /// What an item was called: the title, with the extension of the file and what its name says of an edit.
  static func name(of name: String, title: String?, _ rule: TakeoutNames.Rule) -> String {
    guard let title, !title.isEmpty else { return name }
    let ending = name.dropFirst(TakeoutNames.stem(name).count)
    let titleEnding = title.dropFirst(TakeoutNames.stem(title).count)
    let known = FilePath(String("x" + titleEnding)).pathExtension
    let isEnding = !known.isEmpty && known.count <= 5 && known.allSatisfy { $0.isLetter || $0.isNumber }
    var stem = isEnding ? TakeoutNames.stem(title) : title
    if rule == .edited {
      let whole = TakeoutNames.splitItem(name)?.base ?? name
      if let original = TakeoutNames.originals(of: whole).first {
        stem += TakeoutNames.stem(whole).dropFirst(TakeoutNames.stem(original).count)
      }
    }
    // A title may hold anything; a name holds no slash and has a length that file systems take.
    let safe = stem.map { $0 == "/" || $0 == "\0" ? "_" : $0 }
    let restored = String(safe) + (known == FilePath(name).pathExtension ? titleEnding : ending)
    return restored.utf8.count <= 255 ? restored : name
  }

  /// Marks edited copies whose original is certain: the one item of its name, with a JSON of its own that describes the
  /// copy too, and no other copy.
  private func markCopies(
    among items: [Int], _ matches: [Int: TakeoutNames.Match], _ output: inout SourceOutput
  ) {
    var byStem: [String: [Int]] = [:]
    for index in items where matches[index]?.rule != .movingPart {
      byStem[TakeoutNames.stem(files[index].path.name), default: []].append(index)
    }
    var copies: [Int: [Int]] = [:]
    for index in items {
      let name = files[index].path.name
      guard let match = matches[index], match.rule == .edited,
        let original = TakeoutNames.originals(of: name).lazy.compactMap({ byStem[TakeoutNames.stem($0)] }).first,
        original.count == 1, original[0] != index,
        let own = matches[original[0]], own.rule != .edited, own.sidecar == match.sidecar
      else { continue }
      copies[original[0], default: []].append(index)
    }
    for (original, copies) in copies where copies.count == 1 {
      let name = files[copies[0]].path.name
      output.mark(copies[0], asCopyOf: [original], isStated: TakeoutNames.hasEditedSuffix(name))
    }
  }

  /// Puts the members of an album into the order of the time taken.
  private func sort(
    _ album: Int?, _ records: [Int: TakeoutRecord.Item], _ matches: [Int: TakeoutNames.Match],
    _ output: inout SourceOutput
  ) {
    guard let album else { return }
    output.sort(album) { index in
      let seconds = matches[index].flatMap { records[$0.sidecar]?.takenTime } ?? .max
      return (seconds, files[index].path.name)
    }
  }

  /// Whether a folder is one of those that Google makes for the photos of a year, or of a day.
  static func isFolderOfYear(_ name: String) -> Bool {
    if name.wholeMatch(of: #/(19|20)\d\d-\d\d-\d\d( ?#\d+)?/#) != nil { return true }
    if name.wholeMatch(of: #/(19|20)\d\d ?年の写真/#) != nil || name.wholeMatch(of: #/(19|20)\d\d ?년의? 사진/#) != nil {
      return true
    }
    if name.wholeMatch(of: #/(19|20)\d\d ?年(的照片|的相片|照片)/#) != nil { return true }
    guard let match = name.wholeMatch(of: #/(.+?) ?(19|20)\d\d/#) else { return false }
    return yearWords.contains(String(match.output.1).lowercased())
  }

  /// What stands before the year in the names of such folders.
  private static let yearWords: Set<String> = [
    "photos from", "fotos von", "photos de", "fotos de", "fotos del", "foto da", "foto dal", "foto del", "foto's uit",
    "foto’s uit", "fotografije iz", "zdjęcia z", "фото за", "фотографии за", "фото з", "foton från", "foton från år",
    "billeder fra", "bilder fra", "bilder från", "kuvat vuodelta", "fotky z", "fotky z roku", "fotografie z",
    "fotografii din", "fényképek", "fotoğraflar", "ảnh từ", "foto dari", "รูปภาพจาก", "φωτογραφίες από", "fotos des de",
  ]
}
