/// Which files together make an asset (AS-11, LP-02).
enum ResourceCombination {
  /// Whether some media type takes these files together.
  static func isSupported(_ types: [ResourceType]) -> Bool {
    [MediaType.image, .video, .audio].contains { type in (try? check(types, of: type)) != nil }
  }

  /// - Throws: ``LibraryError`` `.missingResource` without any file, `.invalidResource` for files that do not fit.
  static func check(_ types: [ResourceType], of mediaType: MediaType) throws {
    guard !types.isEmpty else {
      throw LibraryError(
        .missingResource, "An asset needs at least one resource; add its file to the creation request.")
    }
    let primary: ResourceType? =
      switch mediaType {
      case .image: .photo
      case .video: .video
      case .audio: .audio
      case .unknown: nil
      }
    guard let primary else {
      throw LibraryError(.invalidResource, "An asset must be an image, a video or a sound recording.")
    }
    guard types.contains(primary) else {
      throw LibraryError(
        .invalidResource,
        "An asset of the type \(mediaType) needs a resource of the type \(primary.name); it has \(list(types)).")
    }
    // One file alone is the primary one.
    if types.count == 1 { return }
    for type in singular where types.count(where: { $0 == type }) > 1 {
      throw LibraryError(.invalidResource, "An asset can have only one resource of the type \(type.name).")
    }
    let foreign = Self.foreign[mediaType] ?? []
    let strangers = types.filter { foreign.contains($0) }
    guard strangers.isEmpty else {
      throw LibraryError(
        .invalidResource, "An asset of the type \(mediaType) cannot have a resource of the type \(list(strangers)).")
    }
  }

  private static let singular: [ResourceType] = [
    .photo, .video, .audio, .pairedVideo, .fullSizePhoto, .fullSizeVideo, .fullSizePairedVideo, .adjustmentData,
  ]

  private static let foreign: [MediaType: [ResourceType]] = [
    .image: [.video, .audio, .fullSizeVideo, .adjustmentBaseVideo],
    .video: [
      .photo, .audio, .alternatePhoto, .fullSizePhoto, .pairedVideo, .fullSizePairedVideo, .adjustmentBasePhoto,
      .adjustmentBasePairedVideo,
    ],
    .audio: [
      .photo, .video, .alternatePhoto, .fullSizePhoto, .fullSizeVideo, .pairedVideo, .fullSizePairedVideo,
      .adjustmentBasePhoto, .adjustmentBaseVideo, .adjustmentBasePairedVideo,
    ],
  ]

  private static func list(_ types: [ResourceType]) -> String { types.map(\.name).joined(separator: ", ") }
}
