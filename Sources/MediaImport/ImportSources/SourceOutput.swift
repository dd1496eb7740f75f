internal import PhotoLedger

/// What a source has settled so far: each file once, in the order of the import.
struct SourceOutput {
  private let files: [ScannedFile]
  private var taken: [(unit: [UInt8], file: Int, note: MediaNote, edit: AppleEdits.Part?)] = []
  private var settled: [(file: Int, outcome: FileOutcome)] = []
  private var albums: [SourceAlbum] = []
  private var place: [UInt8] = []
  private var members: [[Int]] = []
  private var copies: [Int: EditedCopy] = [:]
  var rules = RuleLog()

  init(files: [ScannedFile]) { self.files = files }

  /// Begins a folder, whose units are not those of another.
  mutating func open(_ place: [UInt8]) { self.place = place }

  mutating func addAlbum(_ title: String) -> Int {
    albums.append(SourceAlbum(title: title))
    members.append([])
    return albums.count - 1
  }

  /// Marks a file for import, and adds it to an album.
  /// - Parameter edit: what the file is to an edit of its unit.
  mutating func take(
    _ file: Int, _ note: MediaNote, unit: String, in album: Int? = nil, edit: AppleEdits.Part? = nil
  ) {
    taken.append((place + [FilePath.slash] + Array(unit.utf8).composedName, file, note, edit))
    if let album { members[album].append(file) }
  }

  /// Puts files into an album, in their order.
  mutating func fill(_ album: Int, _ files: [Int]) { members[album] += files }

  /// Marks a file as the edited copy of others.
  /// - Parameter isStated: whether the source says so, and metadata only must not say otherwise.
  mutating func mark(_ file: Int, asCopyOf files: [Int], isStated: Bool) {
    copies[file] = EditedCopy(originals: files, isStated: isStated)
  }

  /// Settles what becomes of a file.
  mutating func settle(_ file: Int, _ outcome: FileOutcome) { settled.append((file, outcome)) }

  /// Orders what an album has by what stands for each file.
  mutating func sort(_ album: Int, by key: (Int) -> (Int64, String)) {
    members[album] = members[album].map { (key($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The catalog: what is taken by units, then what is settled, then what nothing was said about.
  var catalog: MediaCatalog {
    var catalog = MediaCatalog(files: [])
    catalog.rules = rules
    var isDone = Set<Int>()
    let ordered = taken.sorted { left, right in
      if left.unit != right.unit { return left.unit.lexicographicallyPrecedes(right.unit) }
      let (first, second) = (files[left.file], files[right.file])
      return first.path.nameBytes != second.path.nameBytes
        ? first.path.nameBytes.lexicographicallyPrecedes(second.path.nameBytes) : first.path < second.path
    }
    var positions: [Int: Int] = [:]
    for (unit, file, note, edit) in ordered {
      var entry = files[file]
      (entry.unit, entry.note, entry.edit) = (unit, note, edit)
      positions[file] = catalog.files.count
      catalog.files.append(entry)
      isDone.insert(file)
    }
    for (file, outcome) in settled.sorted(by: { files[$0.file].path < files[$1.file].path }) {
      guard isDone.insert(file).inserted else { preconditionFailure("\(files[file].path) is settled twice.") }
      var entry = files[file]
      entry.role = .settled(outcome)
      catalog.files.append(entry)
    }
    for (file, entry) in files.enumerated() where !isDone.contains(file) { catalog.files.append(entry) }
    catalog.albums = zip(albums, members).map { album, members in
      SourceAlbum(title: album.title, files: members.compactMap { positions[$0] })
    }
    for (file, copy) in copies {
      guard let file = positions[file] else { continue }
      catalog.edited[file] = EditedCopy(
        originals: copy.originals.compactMap { positions[$0] }, isStated: copy.isStated)
    }
    return catalog
  }
}
