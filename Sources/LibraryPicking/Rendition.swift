import PhotoLedger

// In which kinds of data the current version of an asset can be had, and what has to be done for each (PK-07).
//
//     current version      stored             current      compatible                automatic
//     the render if edited, public.heic       as stored    public.jpeg, converted    compatible if that can be had
//     the chosen original   public.jpeg       as stored    as stored                 as stored
//     otherwise; for a Live …quicktime-movie  as stored    as stored if it is H.264  as compatible
//     Photo its video too   public.mp3        as stored    as stored                 as stored
//
// If examining or encoding an automatic video of an unchanged type fails, its stored bytes are handed out. A failed
// conversion to another type is an error: that type was announced, and the stored type can be requested.
//
// The content type does not determine the encoding of a video, and the library parses no videos. So the installed
// converter determines whether a QuickTime or MPEG-4 file is compatible.

/// One kind of data in which an asset can be had.
struct Rendition: Hashable, Sendable {
  /// Whether the stored bytes have to be re-encoded.
  enum Encoding: Hashable, Sendable {
    case stored
    /// Unless the converter finds that they are compatible as they are.
    case ifIncompatible
    /// The same, and also as stored if the converter fails.
    case ifPossible
    case converted
  }

  let resource: AssetResource
  let type: String
  private(set) var encoding: Encoding

  /// What is handed out if the converter fails; nil: the failure is an error.
  var fallback: Rendition? { encoding == .ifPossible ? Self.stored(resource) : nil }

  /// The renditions of a current version, the preferred one first; of equal types the first counts.
  /// - Parameters:
  ///   - resources: the still or video, and the video of a Live Photo.
  ///   - representation: what is wanted.
  ///   - conversions: what can be converted; only the automatic form depends on it.
  static func all(
    of resources: [AssetResource], as representation: AssetRepresentation, _ conversions: inout Conversions
  ) -> [Rendition] {
    switch representation {
    case .current: return resources.map(stored)
    case .compatible: return resources.map(compatible)
    case .automatic:
      var best: [Rendition] = []
      for resource in resources {
        var wanted = compatible(resource)
        if wanted.encoding == .ifIncompatible { wanted.encoding = .ifPossible }
        best.append(conversions.canMake(wanted) ? wanted : stored(resource))
      }
      return best + resources.map(stored)
    }
  }

  /// The types of the renditions, each once.
  static func types(
    of resources: [AssetResource], as representation: AssetRepresentation, _ conversions: inout Conversions
  ) -> [String] {
    distinct(all(of: resources, as: representation, &conversions).map(\.type))
  }

  private static func stored(_ resource: AssetResource) -> Rendition {
    Rendition(resource: resource, type: resource.uniformTypeIdentifier, encoding: .stored)
  }

  private static func compatible(_ resource: AssetResource) -> Rendition {
    let type = resource.uniformTypeIdentifier
    switch resource.type {
    case .photo, .alternatePhoto, .fullSizePhoto:
      return compatibleImages.contains(type)
        ? stored(resource) : Rendition(resource: resource, type: "public.jpeg", encoding: .converted)
    case .video, .fullSizeVideo, .pairedVideo, .fullSizePairedVideo:
      return compatibleMovies.contains(type)
        ? Rendition(resource: resource, type: type, encoding: .ifIncompatible)
        : Rendition(resource: resource, type: "public.mpeg-4", encoding: .converted)
    default: return stored(resource)
    }
  }

  private static let compatibleImages: Set<String> = ["public.jpeg", "public.png", "com.compuserve.gif"]
  /// Files whose form nearly every program reads, if it reads what is in them.
  private static let compatibleMovies: Set<String> = ["public.mpeg-4", "com.apple.quicktime-movie"]
}

/// What an installed converter can make; it is asked once for each pair of types.
struct Conversions {
  private let converter: (any RepresentationConverter)?
  /// Its answers, by the types of source and target.
  private var answers: [[String]: Bool] = [:]

  init(_ converter: (any RepresentationConverter)?) { self.converter = converter }

  mutating func canMake(_ rendition: Rendition) -> Bool {
    if rendition.encoding == .stored { return true }
    guard let converter else { return false }
    let types = [rendition.resource.uniformTypeIdentifier, rendition.type]
    if let answer = answers[types] { return answer }
    let answer = converter.canConvert(types[0], to: types[1])
    answers[types] = answer
    return answer
  }
}

extension [AssetResource] {
  /// The files of the current version of an asset: the render of an edited one, otherwise the chosen original (AS-16),
  /// and for a Live Photo the video that is shown with it (LP-01).
  func currentVersion(of row: AssetRow) -> [AssetResource] {
    let rendered = first { ResourceType.rendered.contains($0.type) && $0.type != .fullSizePairedVideo }
    return [rendered ?? original(row.originalResourceChoice), shownPairedVideo(row)].compactMap(\.self)
  }
}
