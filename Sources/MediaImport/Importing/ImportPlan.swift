internal import PhotoLedger

// What belongs together.
//
// Pure decisions over files whose bytes and metadata are known; no file is touched here. The state that goes from
// batch to batch is small: movies that wait for their still.
//
// A unit is files that may belong together: those of one folder whose names differ only in the extension, unless the
// source knows better, as the parts of a Takeout do.
//
// RAW + compressed (AS-16). Two files of one unit, exactly one of them RAW and exactly one not, both images, with the
// same capture time and the same camera: one asset, the compressed file primary. Anything less certain stays two
// assets: joining wrongly hides a picture, and not joining shows it twice.
//
// Live Photos (LP-01). A still and a movie with the same content identifier, whatever their names; equal names with
// other identifiers are not a pair. When there are more of either (edited copies keep the identifier), the nearest
// pairs are taken first: same folder and name, then same folder, then the first of each. A still is never kept waiting.
// A movie is, until the end of the import: its still may be in any later folder, and an asset of its own would
// have to be merged again. What a movie then still lacks is looked for in the library, and last it stands for itself.
//
// Edits by other programs (AS-04). An original, adjustment data and a rendition of one unit: one asset, if there is one
// original and one rendition, of one medium, with the same capture time and the same camera, and both or neither have a
// movie. If that is not certain, the rendition is an asset of its own; the adjustment data are kept with an original
// that is the only one of its name, which shows no edit then.

/// A file whose bytes are in place and whose metadata are read.
struct PreparedFile: Sendable {
  /// Its index in the walk.
  let index: Int
  let path: FilePath
  let stored: StoredContent
  let metadata: MediaMetadata
  /// What the file was called where it comes from; nil: as it is called here.
  var name: String?
  /// What files that may belong together have in common; nil: the path without its extension.
  var unit: [UInt8]?
  /// What is said about it beside its bytes.
  var note: MediaNote?
  /// Whether its name is that of an edited photo or video, and adjustment data of the original are there.
  var isRendition = false
  /// What is wanted of everything that is imported.
  var wishes = StatementWishes()

  var unitBytes: ArraySlice<UInt8> { unit.map { $0[...] } ?? path.stemBytes }

  func resource(_ type: ResourceType) -> ImportedResource {
    ImportedResource(type: type, stored: stored, originalFilename: name ?? path.name, source: path, metadata: metadata)
  }

  var ownType: ResourceType { metadata.mediaType == .image ? .photo : .video }

  var renderedType: ResourceType { metadata.mediaType == .image ? .fullSizePhoto : .fullSizeVideo }

  /// What is said beside the file, without what it says itself and what is wanted of new assets.
  var statedBeside: StatedFacts {
    guard let note, !note.layers.isEmpty else { return StatedFacts() }
    var wishes = wishes
    wishes.keywords = []
    return StatedFacts(note.layers, beside: metadata.wordless, wishes)
  }
}

/// The changes of one batch, with the files that each consists of.
struct PlannedChange: Sendable {
  let change: ImportChange
  /// The indexes of the files, in the order of the change's resources.
  let files: [Int]
}

/// Decides which files become which assets.
struct ImportPlanner: Sendable {
  /// By their content identifier.
  private var waitingMovies: [ExactText: WaitingMovies] = [:]

  /// The content identifiers to look up in the library before `plan` or `planWaiting` is called for these files.
  func contentIdentifiers(_ files: [PreparedFile]) -> [String] {
    distinct(files.compactMap { $0.metadata.contentIdentifier?.exact }).map(\.text).sorted()
  }

  /// Plans one batch; movies whose still has not come are kept back.
  /// - Parameters:
  ///   - files: New contents, each once, in the order of the walk.
  ///   - halves: What the library has for their content identifiers.
  ///   - adjustments: The adjustment data that there are for units.
  mutating func plan(
    _ files: [PreparedFile], halves: [ExactText: [LivePhotoHalf]], adjustments: [PreparedAdjustment] = []
  ) -> [PlannedChange] {
    var halves = OpenHalves(halves)
    let units = Self.units(files)
    for unit in units {
      if let identifier = unit.waitsFor {
        waitingMovies[identifier, default: WaitingMovies()].append(unit.primary)
      }
    }
    var movies = movies(for: units)
    // A movie that still waits is another original of its name.
    let chosen = Set(movies.values.map(\.index))
    let unclear = Set(
      units.filter { $0.waitsFor != nil && !chosen.contains($0.primary.index) }.map(\.primary.unitBytes))
    let clear = adjustments.filter { !unclear.contains($0.unitBytes) }
    let whole = units.filter { $0.waitsFor == nil }.map { unit in
      unit.hasMovie ? unit : unit.with(movies.removeValue(forKey: unit.primary.index))
    }
    return Self.adjusted(whole, by: clear, halves).map { unit in
      if let identifier = unit.lacksMovieOf, unit.adjustment == nil, let video = halves.take(.video, of: identifier) {
        return unit.planned { .pairedStill($0, video: video) }
      }
      return unit.planned { .asset($0) }
    }
  }

  /// Plans up to `limit` of the movies kept back, now that no more stills will come.
  /// - Parameter halves: What the library has for their content identifiers.
  mutating func planWaiting(_ movies: [PreparedFile], halves: [ExactText: [LivePhotoHalf]]) -> [PlannedChange] {
    var halves = OpenHalves(halves)
    return movies.map { movie in
      guard let identifier = movie.metadata.contentIdentifier?.exact, let still = halves.take(.image, of: identifier)
      else { return Unit(primary: movie).planned { .asset($0) } }
      var asset = Unit(primary: movie).asset
      asset.primary.type = .pairedVideo
      return PlannedChange(
        change: .pairedVideo(asset, adding: movie.statedBeside, asset: still), files: [movie.index])
    }
  }

  /// Takes the movies kept back out, in the order of the walk.
  mutating func takeWaiting() -> [PreparedFile] {
    defer { waitingMovies = [:] }
    return waitingMovies.values.flatMap(\.waiting).sorted { $0.index < $1.index }
  }

  /// Chooses movies for the stills of a batch and takes them out of the waiting ones.
  /// - Returns: The movie of each still, by the still's file index.
  private mutating func movies(for units: [Unit]) -> [Int: PreparedFile] {
    var chosen: [Int: PreparedFile] = [:]
    let stills = Dictionary(grouping: units.filter { $0.primary.metadata.mediaType == .image && !$0.hasMovie }) {
      $0.primary.metadata.contentIdentifier?.exact
    }
    for case (let identifier?, let stills) in stills {
      guard var movies = waitingMovies.removeValue(forKey: identifier) else { continue }
      var open = stills.map(\.primary)
      for nearness in WaitingMovies.Nearness.allCases {
        open = open.filter { still in
          guard let movie = movies.take(nearness, to: still.path) else { return true }
          chosen[still.index] = movie
          return false
        }
      }
      if movies.count > 0 { waitingMovies[identifier] = movies }
    }
    return chosen
  }
}

/// The movies of one content identifier that wait for their stills, in the order in which they came.
///
/// Copies keep the identifier, so there may be any number of movies of one. They are found by their places, and
/// taking all of them takes O(n).
private struct WaitingMovies {
  /// How near a movie is to a still, the nearest first.
  enum Nearness: CaseIterable { case sameName, sameFolder, any }

  /// Positions of movies, of which the first that waits is asked for again and again.
  private struct Line {
    var positions: [Int] = []
    private var next = 0

    mutating func first(in movies: [PreparedFile?]) -> Int? {
      while next < positions.count, movies[positions[next]] == nil { next += 1 }
      return next < positions.count ? positions[next] : nil
    }
  }

  /// Nil stands for one that was taken.
  private var movies: [PreparedFile?] = []
  private var byName: [ArraySlice<UInt8>: Line] = [:]
  private var byFolder: [ArraySlice<UInt8>: Line] = [:]
  private var all = Line()
  /// How many movies are in the lines; the others came since a still was paired.
  private var lineCount = 0
  /// How many wait.
  private(set) var count = 0

  /// Those that wait.
  var waiting: [PreparedFile] { movies.compactMap(\.self) }

  mutating func append(_ movie: PreparedFile) {
    movies.append(movie)
    count += 1
  }

  /// Takes the first movie that is this near to a still.
  mutating func take(_ nearness: Nearness, to still: FilePath) -> PreparedFile? {
    lineUp()
    let found =
      switch nearness {
      case .sameName: byName[still.stemBytes]?.first(in: movies)
      case .sameFolder: byFolder[still.folderBytes]?.first(in: movies)
      case .any: all.first(in: movies)
      }
    guard let position = found, let movie = movies[position] else { return nil }
    movies[position] = nil
    count -= 1
    return movie
  }

  private mutating func lineUp() {
    for position in lineCount..<movies.count {
      guard let path = movies[position]?.path else { continue }
      byName[path.stemBytes, default: Line()].positions.append(position)
      byFolder[path.folderBytes, default: Line()].positions.append(position)
      all.positions.append(position)
    }
    lineCount = movies.count
  }
}

/// Halves of Live Photos in the library, each of which is completed by one file.
private struct OpenHalves {
  private var halves: [ExactText: [MediaType: ArraySlice<LocalIdentifier>]]

  init(_ halves: [ExactText: [LivePhotoHalf]]) {
    self.halves = halves.mapValues { halves in
      Dictionary(grouping: halves, by: \.mediaType).mapValues { $0.map(\.asset)[...] }
    }
  }

  func contains(_ mediaType: MediaType, of identifier: ExactText) -> Bool {
    halves[identifier]?[mediaType]?.isEmpty == false
  }

  /// Takes the first that is left.
  mutating func take(_ mediaType: MediaType, of identifier: ExactText) -> LocalIdentifier? {
    halves[identifier]?[mediaType]?.popFirst()
  }
}

/// One asset in the making.
private struct Unit {
  let primary: PreparedFile
  var others: [(file: PreparedFile, type: ResourceType)] = []
  /// The adjustment data of an edit.
  var adjustment: PreparedAdjustment?
  /// What the edit rendered.
  var rendered: [(file: PreparedFile, type: ResourceType)] = []

  /// The content identifier of the still that a movie waits for; nil for everything else.
  var waitsFor: ExactText? {
    primary.metadata.mediaType == .video ? primary.metadata.contentIdentifier?.exact : nil
  }

  /// The content identifier of a still that has no movie.
  var lacksMovieOf: ExactText? {
    hasMovie || primary.metadata.mediaType != .image ? nil : primary.metadata.contentIdentifier?.exact
  }

  var hasMovie: Bool { others.contains { $0.type == .pairedVideo } }

  /// What is said about any of the files, the primary's first.
  private var layers: [MetadataLayer] {
    (others + rendered).reduce(into: primary.note ?? MediaNote()) { note, other in
      if let more = other.file.note { note.join(more) }
    }.layers
  }

  func with(_ movie: PreparedFile?) -> Unit {
    guard let movie else { return self }
    var unit = self
    unit.others.append((movie, .pairedVideo))
    return unit
  }

  /// The same as the result of an edit of another unit.
  var asRendition: [(file: PreparedFile, type: ResourceType)] {
    [(primary, primary.renderedType)] + others.map { ($0.file, .fullSizePairedVideo) }
  }

  /// The asset that the files make.
  var asset: ImportedAsset {
    ImportedAsset(
      primary: primary.resource(primary.ownType), others: others.map { $0.file.resource($0.type) },
      adjustment: adjustment.map { data in
        ImportedAdjustment(
          rendered: rendered.map { $0.file.resource($0.type) }, data: data.resource, format: data.format)
      },
      facts: StatedFacts(layers, beside: primary.metadata, primary.wishes))
  }

  func planned(_ change: (ImportedAsset) -> ImportChange) -> PlannedChange {
    PlannedChange(
      change: change(asset),
      files: [primary.index] + (others + rendered).map(\.file.index) + (adjustment.map { [$0.index] } ?? []))
  }
}

extension ImportPlanner {
  /// Joins RAW files with their compressed companions; everything else is a unit of its own.
  private static func units(_ files: [PreparedFile]) -> [Unit] {
    let images = files.filter { $0.metadata.mediaType == .image && !$0.isRendition }
    let companions = Dictionary(grouping: images) { $0.unitBytes }
    var raws: [Int: PreparedFile] = [:]
    for group in companions.values where group.count == 2 {
      guard let raw = group.first(where: \.metadata.isRaw), let compressed = group.first(where: { !$0.metadata.isRaw }),
        isSamePicture(raw.metadata, compressed.metadata)
      else { continue }
      raws[compressed.index] = raw
    }
    var joined = Set(raws.values.map(\.index))
    let movies = movingParts(files, joined)
    joined.formUnion(movies.values.map(\.index))
    return files.filter { !joined.contains($0.index) }.map { file in
      var unit = Unit(primary: file)
      if let raw = raws[file.index] { unit.others.append((raw, .alternatePhoto)) }
      if let movie = movies[file.index] { unit.others.append((movie, .pairedVideo)) }
      return unit
    }
  }

  /// The longest movie that is believed to be the moving part of a still, in seconds; cameras make three.
  private static let movingPartLimit = 10.0

  /// Movies that the source names as the moving part of a still, by the still's index. Content identifiers that differ
  /// say otherwise, and so do two stills or two movies.
  private static func movingParts(_ files: [PreparedFile], _ joined: Set<Int>) -> [Int: PreparedFile] {
    let units = Dictionary(grouping: files.filter { !joined.contains($0.index) }) {
      $0.unitBytes + [$0.isRendition ? 1 : 0]
    }
    var movies: [Int: PreparedFile] = [:]
    for group in units.values {
      let stills = group.filter { $0.metadata.mediaType == .image }
      let parts = group.filter { $0.note?.isMovingPart == true && $0.metadata.mediaType == .video }
      guard let still = stills.first, let movie = parts.first, stills.count == 1, parts.count == 1,
        movie.metadata.duration <= movingPartLimit,
        still.metadata.contentIdentifier?.exact == movie.metadata.contentIdentifier?.exact
          || movie.metadata.contentIdentifier == nil
      else { continue }
      movies[still.index] = movie
    }
    return movies
  }

  /// Whether files of one name have an original that adjustment data can belong to.
  static func takesAdjustment(_ files: [PreparedFile]) -> Bool {
    files.contains { !$0.isRendition }
  }

  /// Gives originals their adjustment data and, where it is certain, their renditions.
  private static func adjusted(
    _ units: [Unit], by adjustments: [PreparedAdjustment], _ halves: OpenHalves
  ) -> [Unit] {
    if adjustments.isEmpty { return units }
    let groups = Dictionary(grouping: units.indices) { units[$0].primary.unitBytes }
    var (units, joined) = (units, Set<Int>())
    for adjustment in adjustments {
      guard let group = groups[adjustment.unitBytes] else { continue }
      let originals = group.filter { !units[$0].primary.isRendition }
      // A still whose movie the library has already becomes the still of that asset.
      guard originals.count == 1, let original = originals.first,
        units[original].lacksMovieOf.map({ halves.contains(.video, of: $0) }) != true
      else { continue }
      units[original].adjustment = adjustment
      let renditions = group.filter { units[$0].primary.isRendition }
      guard renditions.count == 1, let rendition = renditions.first,
        isRendition(units[rendition], of: units[original])
      else { continue }
      units[original].rendered = units[rendition].asRendition
      joined.insert(rendition)
    }
    return units.indices.filter { !joined.contains($0) }.map { units[$0] }
  }

  private static func isRendition(_ rendition: Unit, of original: Unit) -> Bool {
    let (edited, unedited) = (rendition.primary.metadata, original.primary.metadata)
    return edited.mediaType == unedited.mediaType && !edited.isRaw && rendition.hasMovie == original.hasMovie
      && isSamePicture(unedited, edited)
  }

  private static func isSamePicture(_ raw: MediaMetadata, _ compressed: MediaMetadata) -> Bool {
    guard let rawTime = raw.captureTime, let time = compressed.captureTime else { return false }
    return rawTime.clock == time.clock && rawTime.reading == time.reading
      && raw.model == compressed.model && raw.make == compressed.make
  }
}
