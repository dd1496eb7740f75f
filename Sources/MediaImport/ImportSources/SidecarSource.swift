internal import Foundation
internal import PhotoLedger

// Folders with sidecars, as osxphotos, Immich, PhotoPrism, digiKam, darktable and Lightroom leave them.
//
//     IMG_1.jpg.xmp    IMG_1.jpg.json    IMG_1.jpg.yml      the whole name: this file's
//     IMG_1.xmp        IMG_1.json        IMG_1.yml          the name without extension: of every file of that name
//                                                           without one by its whole name
//
// Of one file the XMP counts before the JSON, and that before the YAML, value by value.
//
// PhotoPrism keeps its YAML in a tree of its own, `sidecar/2020/01/IMG_1.yml` for `originals/2020/01/IMG_1.jpg`, and
// its albums in `albums/album/*.yml` with the identifiers that the YAML of photos states. What stands before and in
// the last folder called originals or sidecar does not count when names are compared.
//
// Only a sidecar without a file of its name in its own folder is looked for by that: two cards have photos of the same
// names, and one that lies beside its photo describes none of the other card.
//
// XMP is read by exiftool. JSON is what exiftool and osxphotos write, an array with one object of tags; any other JSON
// describes nothing and stays a sidecar that was not read.

/// Reads folders with sidecars.
struct SidecarSource {
  /// What a sidecar says.
  struct Statement: Sendable {
    var layer: MetadataLayer
    /// The name that the file had.
    var name: String?
    /// PhotoPrism's identifier of the photo.
    var identifier: String?
    /// The title and the identifiers of an album, if it is one.
    var album: (title: String, members: [String])?

    /// Whether nothing in it is read.
    var isEmpty: Bool { layer.isEmpty && name == nil && identifier == nil && album == nil }
  }

  static let endings: Set<String> = ["xmp", "json", "yml", "yaml"]

  let options: LibraryImport.Options
  let files: [ScannedFile]
  /// By the position of the sidecar.
  let statements: [Int: Statement]

  func catalog() -> MediaCatalog {
    let files = withRoles
    var catalog = FolderSource(options: options).catalog(of: files)
    let placed = besideFiles(files)
    var byName: [[UInt8]: [Int]] = [:]
    for (index, statement) in statements.sorted(by: { $0.key < $1.key }) where statement.album == nil {
      let path = files[index].relativePath
      byName[Self.key(path, FilePath(bytes: path.stemBytes).nameBytes), default: []].append(index)
    }
    var described: [Int: Int] = [:]
    var identified: [String: [Int]] = [:]
    for (index, file) in files.enumerated() where file.role == .candidate {
      let own = sidecars(byName, file.relativePath.nameBytes, of: file, placed)
      let stem = FilePath(bytes: file.relativePath.stemBytes).nameBytes
      let shared = own.isEmpty ? sidecars(byName, stem, of: file, placed) : []
      // Of one kind, the one beside the file counts before those elsewhere.
      let found = (own + shared).sorted {
        (rank($0), placed.contains($0) ? 0 : 1, $0) < (rank($1), placed.contains($1) ? 0 : 1, $1)
      }
      if found.isEmpty { continue }
      var note = MediaNote()
      for sidecar in found {
        guard let statement = statements[sidecar], !statement.isEmpty else { continue }
        if !statement.layer.isEmpty { note.layers.append(statement.layer) }
        if let identifier = statement.identifier { identified[identifier, default: []].append(index) }
        if described[sidecar] == nil { described[sidecar] = index }
        catalog.rules.note(
          own.isEmpty ? "a sidecar describes the files of its name" : "a sidecar has the whole name of its file",
          "\(file.path) ← \(files[sidecar].path.name)")
      }
      catalog.files[index].note = note
    }
    for (sidecar, item) in described { catalog.files[sidecar].role = .settled(.describes(files[item].path)) }
    for (sidecar, statement) in statements where statement.album == nil && described[sidecar] == nil {
      let rule = statement.isEmpty ? "a sidecar has nothing that is read" : "a sidecar describes no file that is there"
      catalog.rules.note(rule, files[sidecar].path.description)
    }
    addAlbums(identified, &catalog)
    return catalog
  }

  /// The sidecars of a name that may be a file's.
  /// - Parameter placed: those that lie beside a file of their name, and are of no file of another folder.
  private func sidecars(
    _ byName: [[UInt8]: [Int]], _ name: ArraySlice<UInt8>, of file: ScannedFile, _ placed: Set<Int>
  ) -> [Int] {
    (byName[Self.key(file.relativePath, name)] ?? []).filter { sidecar in
      !placed.contains(sidecar) || files[sidecar].path.folderBytes == file.path.folderBytes
    }
  }

  /// The files, of which those with the ending of a sidecar are not photos or videos.
  private var withRoles: [ScannedFile] {
    var files = files
    for index in files.indices where files[index].role == .candidate {
      if Self.endings.contains(files[index].path.pathExtension) { files[index].role = .sidecar }
    }
    return files
  }

  /// The sidecars in whose own folder a file has their name, with or without its ending.
  private func besideFiles(_ files: [ScannedFile]) -> Set<Int> {
    var byPlace: [[UInt8]: [Int]] = [:]
    for (index, statement) in statements where statement.album == nil {
      byPlace[Array(files[index].path.stemBytes), default: []].append(index)
    }
    if byPlace.isEmpty { return [] }
    var found: Set<Int> = []
    for file in files where file.role == .candidate {
      found.formUnion(byPlace[file.path.bytes] ?? [])
      found.formUnion(byPlace[Array(file.path.stemBytes)] ?? [])
    }
    return found
  }

  private func addAlbums(_ identified: [String: [Int]], _ catalog: inout MediaCatalog) {
    for (index, statement) in statements.sorted(by: { files[$0.key].path < files[$1.key].path }) {
      guard let album = statement.album else { continue }
      // An album has a file once, however often it names it, and by however many identifiers.
      var (named, found) = (Set<String>(), Set<Int>())
      let members = album.members.filter { named.insert($0).inserted }
      let files = members.flatMap { identified[$0] ?? [] }.filter { found.insert($0).inserted }
      catalog.albums.append(SourceAlbum(title: album.title, files: files))
      catalog.files[index].role = .settled(.describesAlbum(album.title))
    }
  }

  private func rank(_ sidecar: Int) -> Int {
    switch statements[sidecar]?.layer.source {
    case .xmp: 0
    case .json: 1
    default: 2
    }
  }

  /// What names are compared by: the folder, from the last `originals` or `sidecar` on, and the name.
  static func key(_ path: FilePath, _ name: some Collection<UInt8>) -> [UInt8] {
    var parts = path.folderBytes.split(separator: FilePath.slash)[...]
    if let place = parts.lastIndex(where: { $0.elementsEqual("originals".utf8) || $0.elementsEqual("sidecar".utf8) }) {
      parts = parts[(place + 1)...]
    }
    return parts.flatMap { Array($0) + [FilePath.slash] } + Array(name)
  }

  // MARK: Reading

  /// What a YAML or JSON file says; nil if it describes no photo.
  static func statement(_ bytes: [UInt8], ending: String) -> Statement? {
    if ending == "json" { return ExifTags(json: bytes).map { Statement(layer: MetadataLayer($0, .json)) } }
    let yaml = YAMLText(bytes)
    let members = yaml.all("Photos[].UID")
    let title = Limits.text(yaml["Title"], atMost: Limits.titleByteCount)
    if let title, yaml["Type"] == "album" || !members.isEmpty {
      return Statement(layer: MetadataLayer(.yaml), album: (title, members))
    }
    guard yaml["UID"] != nil || yaml["TakenAt"] != nil else { return nil }
    return Statement(layer: MetadataLayer(yaml), identifier: yaml["UID"])
  }
}

extension MetadataLayer {
  /// What the tags of a sidecar say.
  init(_ tags: ExifTags, _ source: Source) {
    self.init(source)
    caption = Limits.text(
      tags.text("Description") ?? tags.text("ImageDescription") ?? tags.text("Caption-Abstract"),
      atMost: Limits.captionByteCount)
    // Of a hierarchical keyword the last part is the keyword: People|Family|Ana. Only digiKam separates by slashes,
    // which a keyword of Lightroom may have: Style|B/W.
    let separators: [(tag: String, mark: Character)] = [("HierarchicalSubject", "|"), ("TagsList", "/")]
    let leaves = separators.flatMap { tag, mark in
      tags.all(tag).flatMap(\.texts).compactMap { $0.split(separator: mark).last.map(String.init) }
    }
    keywords = Limits.keywords((tags.all("Subject") + tags.all("Keywords")).flatMap(\.texts) + leaves)
    people = Limits.keywords((tags.all("PersonInImage") + tags.all("RegionName")).flatMap(\.texts))
    rating = tags.integer("Rating").flatMap { (0...5).contains($0) ? $0 : nil }
    // As `XMPPacket` writes a favourite.
    isFavorite = tags.text("Good", in: ["XMP-xmpDM"])?.lowercased() == "true" ? true : nil
    captureTime = CaptureTime(tags, isSidecar: true)
    location = Limits.location(Location(tags))
  }

  /// What PhotoPrism's YAML says. Its place may be a guess, which it marks.
  init(_ yaml: YAMLText) {
    self.init(.yaml)
    caption = Limits.text(yaml["Caption"] ?? yaml["Description"], atMost: Limits.captionByteCount)
    let words = (yaml["Details.Keywords"] ?? "").split(separator: ",")
    keywords = Limits.keywords(words.map { String($0).trimmingBlanks })
    if yaml["TakenSrc"] == "manual" { captureTime = Self.timeTaken(yaml) }
    if yaml["PlaceSrc"] != "estimate" {
      func number(_ name: String) -> Double? { yaml[name].flatMap { Double($0) } }
      location = Limits.location(number("Lat"), number("Lng"), number("Altitude"))
    }
    isFavorite = yaml["Favorite"] == "true" ? true : nil
    isHidden = yaml["Private"] == "true" ? true : nil
    isTrashed = yaml["DeletedAt"] != nil ? true : nil
  }

  /// The time that PhotoPrism states: `TakenAt` in UTC, and `TakenAtLocal` what the clock on the wall showed, both
  /// written as UTC. Without a time zone, or with `Local`, both are the wall time.
  private static func timeTaken(_ yaml: YAMLText) -> CaptureTime? {
    guard let taken = yaml["TakenAt"].flatMap({ TimeStamp($0) })?.whole else { return nil }
    let local = yaml["TakenAtLocal"].flatMap { TimeStamp($0) }?.whole
    guard let zone = yaml["TimeZone"], zone != "Local" else {
      return CaptureTime(reading: local ?? taken, clock: .local, offsetSeconds: nil, source: "yaml:TakenAt")
    }
    guard let local else {
      let time = CaptureTime(reading: taken, clock: .utc, offsetSeconds: nil, source: "yaml:TakenAt")
      return TimeZone(identifier: zone).flatMap { time.completed(with: $0) } ?? time
    }
    let offset = Int(local.secondsSince1970 - taken.secondsSince1970)
    return CaptureTime(
      reading: local, clock: .local, offsetSeconds: abs(offset) <= 18 * 3600 ? offset : nil,
      source: "yaml:TakenAtLocal")
  }
}
