public import PhotoLedger

/// Which assets a picking session offers (PHPickerFilter, photokit a.8).
///
/// A filter is a condition and nothing else: ``condition`` is what a fetch of the same assets asks. It is spelled as
/// text too, `any(images,videos)`, for command lines and for sessions that come over a wire.
public indirect enum PickerFilter: Hashable, Sendable {
  /// Images, Live Photos among them.
  case images
  /// Videos.
  case videos
  /// Live Photos.
  case livePhotos
  /// Panoramas.
  case panoramas
  /// Pictures of screens.
  case screenshots
  /// Recordings of screens.
  case screenRecordings
  /// Videos taken at a high frame rate.
  case slomoVideos
  /// Time-lapse videos.
  case timelapseVideos
  /// Representatives of bursts, and members picked by the user.
  case bursts
  /// Videos with a depth track.
  case cinematicVideos
  /// Photos with depth.
  case depthEffectPhotos
  /// Spatial photos and videos.
  case spatialMedia
  /// What is played in one way.
  case playbackStyle(PlaybackStyle)
  /// What passes any of the filters; none passes if there are none.
  case any(of: [PickerFilter])
  /// What passes all of the filters; all pass if there are none.
  case all(of: [PickerFilter])
  /// What does not pass the filter.
  case not(PickerFilter)

  /// The filter as the condition of a fetch.
  /// - Complexity: O(n) in the filters that it is made of.
  public var condition: Condition {
    switch self {
    case .images: .media(.image)
    case .videos: .media(.video)
    case .livePhotos: Self.has(.photoLive)
    case .panoramas: Self.has(.photoPanorama)
    case .screenshots: Self.has(.photoScreenshot)
    case .screenRecordings: Self.has(.videoScreenRecording)
    case .slomoVideos: Self.has(.videoHighFrameRate)
    case .timelapseVideos: Self.has(.videoTimelapse)
    case .bursts: .isPresent(.burstIdentifier)
    case .cinematicVideos: Self.has(.videoCinematic)
    case .depthEffectPhotos: Self.has(.photoDepthEffect)
    case .spatialMedia: Self.has(.spatialMedia)
    case .playbackStyle(let style): .comparison(.playbackStyle, .equal, .integer(Int64(style.rawValue)))
    case .any(let filters): filters.isEmpty ? .never : .or(filters.map(\.condition))
    case .all(let filters): filters.isEmpty ? .always : .and(filters.map(\.condition))
    case .not(let filter): .not(filter.condition)
    }
  }

  private static func has(_ subtype: MediaSubtypes) -> Condition {
    .bits(.mediaSubtypes, mask: Int64(subtype.rawValue), .notEqual, 0)
  }
}

// MARK: - Text

extension PickerFilter: CustomStringConvertible {
  /// The filters that have no parts, by their spelling.
  private static let simple: [(name: String, filter: PickerFilter)] = [
    ("images", .images), ("videos", .videos), ("livePhotos", .livePhotos), ("panoramas", .panoramas),
    ("screenshots", .screenshots), ("screenRecordings", .screenRecordings), ("slomoVideos", .slomoVideos),
    ("timelapseVideos", .timelapseVideos), ("bursts", .bursts), ("cinematicVideos", .cinematicVideos),
    ("depthEffectPhotos", .depthEffectPhotos), ("spatialMedia", .spatialMedia),
  ]

  private static let styles: [(name: String, style: PlaybackStyle)] = [
    ("unsupported", .unsupported), ("image", .image), ("imageAnimated", .imageAnimated), ("livePhoto", .livePhoto),
    ("video", .video), ("videoLooping", .videoLooping),
  ]

  /// The spelling, which reads back as the same filter.
  public var description: String {
    switch self {
    case .playbackStyle(let style):
      "playbackStyle(\(Self.styles.first { $0.style == style }?.name ?? "\(style.rawValue)"))"
    case .any(let filters): "any(\(filters.map(\.description).joined(separator: ",")))"
    case .all(let filters): "all(\(filters.map(\.description).joined(separator: ",")))"
    case .not(let filter): "not(\(filter))"
    default: Self.simple.first { $0.filter == self }?.name ?? ""
    }
  }

  /// Reads the spelling of a filter: a name such as `livePhotos`, `playbackStyle(video)`, or `any(…)`, `all(…)`,
  /// `not(…)` of filters with commas between them. Spaces do not count.
  /// - Throws: ``LibraryError`` `.malformedRequest`, with the place of the mistake.
  /// - Complexity: O(n) in the length of the text.
  public init(_ text: some StringProtocol) throws {
    var reader = FilterReader(text: Array(text.filter { !$0.isWhitespace }))
    self = try reader.filter(depth: 0)
    try reader.end()
  }

  /// Reads filters from left to right.
  private struct FilterReader {
    let text: [Character]
    var position = 0

    /// The deepest nesting: each level of the text is a level of the stack.
    private static let depthLimit = 64

    init(text: [Character]) { self.text = text }

    mutating func filter(depth: Int) throws -> PickerFilter {
      guard depth < Self.depthLimit else { throw mistake("is nested more than \(Self.depthLimit) levels deep") }
      let start = position
      let name = word()
      guard take("(") else {
        if let found = simple.first(where: { $0.name == name }) { return found.filter }
        position = start
        let names = simple.map(\.name).joined(separator: ", ")
        throw mistake("needs one of \(names), playbackStyle(…), any(…), all(…), not(…)")
      }
      switch name {
      case "any": return .any(of: try list(depth))
      case "all": return .all(of: try list(depth))
      case "not":
        let filter = try filter(depth: depth + 1)
        try close()
        return .not(filter)
      case "playbackStyle":
        let style = try style()
        try close()
        return .playbackStyle(style)
      default:
        position = start
        throw mistake("needs any(…), all(…), not(…) or playbackStyle(…)")
      }
    }

    private mutating func list(_ depth: Int) throws -> [PickerFilter] {
      if take(")") { return [] }
      var filters = [try filter(depth: depth + 1)]
      while take(",") { filters.append(try filter(depth: depth + 1)) }
      try close()
      return filters
    }

    private mutating func style() throws -> PlaybackStyle {
      let start = position
      let name = word()
      if let found = styles.first(where: { $0.name == name }) { return found.style }
      position = start
      throw mistake("needs one of \(styles.map(\.name).joined(separator: ", "))")
    }

    private mutating func word() -> String {
      let letters = text[position...].prefix { $0.isLetter }
      position += letters.count
      return String(letters)
    }

    private mutating func take(_ character: Character) -> Bool {
      guard position < text.count, text[position] == character else { return false }
      position += 1
      return true
    }

    private mutating func close() throws {
      guard take(")") else { throw mistake("needs a closing parenthesis") }
    }

    func end() throws {
      guard position == text.count else { throw mistake("has unexpected text") }
    }

    private func mistake(_ what: String) -> LibraryError {
      let before = String(text[..<min(position, text.count)])
      let place = before.isEmpty ? "" : ", after '\(before.suffix(40))'"
      return LibraryError(.malformedRequest, "The filter '\(String(text.prefix(80)))' \(what)\(place).")
    }
  }
}
