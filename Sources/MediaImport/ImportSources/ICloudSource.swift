internal import PhotoLedger

// An export of iCloud Photos (privacy.apple.com) as a source of media.
//
//     iCloud Photos Part 1 of 3/Photos/IMG_1.HEIC
//                               Photos/Photo Details.csv     imgName, favorite, hidden, deleted, originalCreationDate
//                               Photos/Photo Details-1.csv   more of it
//     iCloud Photos/Albums/Sea.csv                           Images: a name a line
//
// A list describes the photos of its own folder, since each part counts its names anew. Lists of albums name photos of
// any part: a name that only one photo has is that photo, and a name that several have matches none of them, because a
// wrong photo in an album is worse than a missing one; both are reported as conflicts. A video beside a still of the
// same name is its paired video, unless its metadata say otherwise. Originals, renditions and adjustment data belong
// together as in folders (AppleEdits).
//
// What a list is, its first row says, not its name. Dates are in English in every language of the account:
// `Friday June 23,2023 9:36 PM GMT`, in exports of before 2021 also with seconds and in the form `2019-05-01 12:00:00`.

/// Reads the files of an export of iCloud Photos.
struct ICloudSource {
  /// The files of all parts.
  let files: [ScannedFile]
  /// The rows of lists, by the position of the file.
  let lists: [Int: [[String]]]

  /// What a list says about one photo.
  private struct Row {
    var layer: MetadataLayer
    var list: Int
  }

  func catalog() -> MediaCatalog {
    var output = SourceOutput(files: files)
    var details: [[UInt8]: [String: Row]] = [:]
    var albums: [(list: Int, names: [String])] = []
    for (index, rows) in lists.sorted(by: { files[$0.key].path < files[$1.key].path }) {
      guard let head = rows.first?.map({ $0.trimmingBlanks.lowercased() }) else {
        output.settle(index, .skipped(.empty, "\(files[index].path) is an empty list."))
        continue
      }
      if head.contains("imgname") {
        let folder = key(of: files[index])
        // Of columns with one name the first counts.
        let columns = Dictionary(zip(head, head.indices), uniquingKeysWith: { first, _ in first })
        for row in rows.dropFirst() {
          guard let (name, layer) = Self.layer(columns, row) else { continue }
          details[folder, default: [:]][name] = Row(layer: layer, list: index)
        }
      } else if head == ["images"] {
        albums.append((index, rows.dropFirst().compactMap(\.first)))
      } else {
        output.settle(
          index, .skipped(.notMedia, "\(files[index].path) is a list of neither photos nor the photos of an album."))
      }
    }
    take(details, &output)
    fill(albums, &output)
    return output.catalog
  }

  /// The folder of a file, without the part: an archive's name is the part's own, and so is the folder of a part.
  private func key(of file: ScannedFile) -> [UInt8] {
    Array(file.part.utf8) + [0] + Array(file.relativePath.folderBytes)
  }

  private func take(_ details: [[UInt8]: [String: Row]], _ output: inout SourceOutput) {
    var described: [Int: Int] = [:]
    let candidates = files.indices.filter { files[$0].role == .candidate && lists[$0] == nil }
    let edits = AppleEdits.parts(of: files, in: key)
    let stills = Set(candidates.filter { TakeoutNames.isStill(files[$0].path.name) }.map { unit(of: files[$0]) })
    for index in candidates {
      let file = files[index]
      var note = MediaNote()
      let name = file.path.name
      let isMovie = !TakeoutNames.stillNames(of: name).isEmpty
      note.isMovingPart = isMovie && stills.contains(unit(of: file))
      if note.isMovingPart {
        output.rules.note("a movie beside a still of its name is its moving part", file.path.description)
      }
      if let row = details[key(of: file)]?[name] {
        note.layers = [row.layer]
        if described[row.list] == nil { described[row.list] = index }
      } else if !note.isMovingPart {
        output.rules.note("no list describes an item", file.path.description)
      }
      take(index, note, edits[index], &output)
    }
    for (index, edit) in edits.sorted(by: { $0.key < $1.key }) where edit.part == .adjustmentData {
      take(index, MediaNote(), edit, &output)
    }
    let names = Set(candidates.map { key(of: files[$0]) + [0] + Array(files[$0].path.nameBytes) })
    for (folder, rows) in details {
      for name in rows.keys.sorted() where !names.contains(folder + [0] + Array(name.utf8)) {
        output.rules.note("a list describes an item that is in none of the parts", name)
      }
    }
    for list in Set(details.values.flatMap { $0.values.map(\.list) }) {
      if let item = described[list] {
        output.settle(list, .describes(files[item].path))
      } else {
        output.settle(
          list,
          .skipped(.orphan, "\(files[list].path) describes photos that are in none of the given parts."))
      }
    }
  }

  /// Takes a file, of an edit with the unit of its original.
  private func take(
    _ index: Int, _ note: MediaNote, _ edit: (part: AppleEdits.Part, unit: [UInt8])?, _ output: inout SourceOutput
  ) {
    let file = files[index]
    output.open(key(of: file))
    let stem = edit.map { String(decoding: $0.unit.dropFirst(key(of: file).count + 1), as: UTF8.self) }
    output.take(index, note, unit: stem ?? TakeoutNames.stem(file.path.name), edit: edit?.part)
  }

  private func unit(of file: ScannedFile) -> [UInt8] {
    key(of: file) + [0] + Array(TakeoutNames.stem(file.path.name).utf8)
  }

  /// Makes albums of lists; lists of one name, as of several parts, are one album.
  private func fill(_ lists: [(list: Int, names: [String])], _ output: inout SourceOutput) {
    var byName: [String: [Int]] = [:]
    for index in files.indices where files[index].role == .candidate && self.lists[index] == nil {
      byName[files[index].path.name, default: []].append(index)
    }
    var albums: [String: (album: Int, members: [Int])] = [:]
    var order: [String] = []
    for (list, names) in lists {
      let title = Limits.text(TakeoutNames.stem(files[list].path.name), atMost: Limits.titleByteCount) ?? "iCloud"
      if albums[title] == nil {
        albums[title] = (output.addAlbum(title), [])
        order.append(title)
      }
      for name in names where !name.isEmpty {
        let fits = byName[name] ?? []
        if fits.count == 1 {
          albums[title]?.members.append(fits[0])
        } else {
          let what = fits.isEmpty ? "an item that is in none of the parts" : "a name that several items have"
          output.rules.note("an album lists \(what)", "\(title): \(name)")
        }
      }
      output.settle(list, .describesAlbum(title))
    }
    for title in order { if let (album, members) = albums[title] { output.fill(album, members) } }
  }

  // MARK: Rows

  private static func layer(_ columns: [String: Int], _ row: [String]) -> (name: String, layer: MetadataLayer)? {
    func field(_ name: String) -> String? {
      columns[name].flatMap { row.indices.contains($0) ? row[$0].trimmingBlanks : nil }
    }
    func isYes(_ name: String) -> Bool { ["yes", "true", "1"].contains(field(name)?.lowercased()) }
    guard let name = field("imgname"), !name.isEmpty else { return nil }
    var layer = MetadataLayer(.iCloud)
    layer.captureTime = field("originalcreationdate").flatMap { time($0) }
    layer.isFavorite = isYes("favorite") ? true : nil
    layer.isHidden = isYes("hidden") ? true : nil
    layer.isTrashed = isYes("deleted")
    return (name, layer)
  }

  private static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
  ]

  /// An instant in the forms that Apple writes; nil for any other.
  static func time(_ text: String) -> CaptureTime? {
    // Between the time and AM or PM stands a narrow blank in newer exports.
    let plain = String(text.map { $0.isWhitespace ? " " : $0 }).lowercased()
    var clock: WallClock?
    // In a regular expression, a digit is one of any script; a number has ASCII digits only.
    let long =
      #/(?:[a-z]+,? )?([a-z]+) (\d{1,2}), ?(\d{4}),? (?:at )?(\d{1,2}):(\d\d)(?::(\d\d))? ?([ap])m(?: (?:gmt|utc))?/#
      .asciiOnlyDigits()
    let short = #/(\d{4})-(\d\d)-(\d\d)[ t](\d\d):(\d\d):(\d\d)(?:\.\d+)?z?(?: (?:gmt|utc))?/#.asciiOnlyDigits()
    if let match = plain.wholeMatch(of: long), let month = months.firstIndex(of: String(match.1)),
      let day = Int(match.2), let year = Int(match.3), let hour = Int(match.4), (1...12).contains(hour),
      let minute = Int(match.5)
    {
      let second = match.6.flatMap { Int($0) } ?? 0
      clock = WallClock(year, month + 1, day, hour % 12 + (match.7 == "p" ? 12 : 0), minute, second)
    } else if let match = plain.wholeMatch(of: short) {
      let numbers = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int($0) }
      guard numbers.count == 6 else { return nil }
      clock = WallClock(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
    }
    return clock.map {
      CaptureTime(reading: $0, clock: .utc, offsetSeconds: nil, source: "iCloud:originalCreationDate")
    }
  }
}

extension String {
  /// The text without blanks at its ends.
  var trimmingBlanks: String {
    let start = drop { $0.isWhitespace }
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
  }
}
