import Foundation
import PhotoLedger

extension Operation {
  static let assetOperations: [Operation] = [
    Operation(name: "asset.create") { fields, context in
      context.block.createAsset(try fields.assetCreation())
    },
    Operation(name: "asset.edit") { fields, context in
      context.block.edit(try fields.identifiers("assets", context), try fields.assetChanges())
      return nil
    },
    Operation(name: "asset.addResources") { fields, context in
      let asset = try fields.identifier("asset", context)
      context.block.addResources(
        try fields.resources(), to: asset, changing: try fields.assetChanges(), retyping: try fields.retyping())
      return nil
    },
    Operation(name: "asset.trash") { fields, context in
      context.block.deleteAssets(try fields.identifiers("assets", context))
      return nil
    },
    Operation(name: "asset.restore") { fields, context in
      context.block.restoreAssets(try fields.identifiers("assets", context))
      return nil
    },
    Operation(name: "asset.purge") { fields, context in
      context.block.purgeAssets(try fields.identifiers("assets", context))
      return nil
    },
  ]
}

private let instantForm = "a date such as \"2024-05-31T18:30:00+02:00\""
private let wallTimeForm = "a date without a zone such as \"2024-05-31T18:30:00\""
private let placeForm = "an object with latitude, longitude and, if known, altitude"
private let subtypesForm = "a list of names such as [\"photoPanorama\"]"
private let mediaTypeForm = "image, video or audio"
private let styleForm = "unsupported, image, imageAnimated, livePhoto, video or videoLooping"

extension OperationFields {
  fileprivate mutating func assetCreation() throws -> AssetCreation {
    let mediaType = try required("mediaType", mediaTypeForm, \.mediaTypeValue)
    var creation = AssetCreation(mediaType: mediaType, resources: try resources())
    creation.mediaSubtypes = try optional("mediaSubtypes", subtypesForm, \.subtypesValue) ?? []
    creation.playbackStyle = try playbackStyle()
    creation.pixelWidth = try optional("pixelWidth", "a whole number, 0 or more", \.positionValue) ?? 0
    creation.pixelHeight = try optional("pixelHeight", "a whole number, 0 or more", \.positionValue) ?? 0
    creation.duration = try optional("duration", "a number of seconds", \.numberValue) ?? 0
    let dates = try self.dates()
    creation.creationDate = dates.instant?.setting
    creation.localCreationDate = dates.wallTime?.setting
    creation.timeZoneOffset = dates.offset?.setting
    creation.location = try assignment("location", placeForm, \.locationValue)?.setting
    creation.isFavorite = try optional("isFavorite", "true or false", \.boolValue) ?? false
    creation.isHidden = try optional("isHidden", "true or false", \.boolValue) ?? false
    creation.burstIdentifier = try assignment("burstIdentifier", "text", \.textValue)?.setting
    creation.representsBurst = try optional("representsBurst", "true or false", \.boolValue) ?? false
    creation.burstSelectionTypes = try bits("burstSelectionTypes") ?? []
    creation.sourceType = try bits("sourceType") ?? .userLibrary
    creation.rating = try rating() ?? .unset
    creation.playbackVariation = try choice("playbackVariation") ?? .none
    creation.originalResourceChoice = try choice("originalResourceChoice") ?? .compressed
    creation.isSelfPortrait = try optional("isSelfPortrait", "true or false", \.boolValue) ?? false
    creation.caption = try assignment("caption", "text", \.textValue)?.setting
    creation.keywords = try words("keywords")
    creation.origin = try assignment("origin", "an identifier across libraries") { json in
      json.textValue.flatMap { CloudIdentifier(archivalStringValue: $0) }
    }?.setting
    return creation
  }

  fileprivate mutating func assetChanges() throws -> AssetChanges {
    var changes = AssetChanges()
    changes.isFavorite = try optional("isFavorite", "true or false", \.boolValue)
    changes.isHidden = try optional("isHidden", "true or false", \.boolValue)
    (changes.creationDate, changes.localCreationDate, changes.timeZoneOffset) = try dates()
    changes.location = try assignment("location", placeForm, \.locationValue)
    changes.mediaSubtypes = try optional("mediaSubtypes", subtypesForm, \.subtypesValue)
    changes.playbackStyle = try playbackStyle()
    changes.duration = try optional("duration", "a number of seconds", \.numberValue)
    changes.pixelWidth = try optional("pixelWidth", "a whole number, 0 or more", \.positionValue)
    changes.pixelHeight = try optional("pixelHeight", "a whole number, 0 or more", \.positionValue)
    changes.mediaType = try optional("mediaType", mediaTypeForm, \.mediaTypeValue)
    changes.caption = try assignment("caption", "text", \.textValue)
    changes.addedKeywords = try words("addedKeywords")
    changes.removedKeywords = try words("removedKeywords")
    changes.rating = try rating()
    changes.playbackVariation = try choice("playbackVariation")
    changes.originalResourceChoice = try choice("originalResourceChoice")
    changes.isSelfPortrait = try optional("isSelfPortrait", "true or false", \.boolValue)
    changes.burstSelectionTypes = try bits("burstSelectionTypes")
    changes.isLivePhotoVideoPlaybackEnabled = try optional(
      "isLivePhotoVideoPlaybackEnabled", "true or false", \.boolValue)
    return changes
  }

  private mutating func rating() throws -> AssetRating? {
    try optional("rating", "a number of stars, 0 to 5") { $0.wholeValue.flatMap(AssetRating.init) }
  }

  private mutating func words(_ name: String) throws -> Set<String> {
    Set(try optional(name, "a list of words", \.textsValue) ?? [])
  }

  private mutating func bits<Bits: NamedBits>(_ name: String) throws -> Bits? where Bits.Element == Bits {
    try optional(name, "a list of names out of \(Bits.namedBits.map(\.name).joined(separator: ", "))") { json in
      json.textsValue.flatMap { Bits(names: $0) }
    }
  }

  /// Which existing files of an asset become files of another type.
  fileprivate mutating func retyping() throws -> [ResourceType: ResourceType] {
    let form = "an object such as {\"video\":\"pairedVideo\"}"
    return try optional("retyping", form) { json -> [ResourceType: ResourceType]? in
      guard let members = json.objectValue else { return nil }
      var types: [ResourceType: ResourceType] = [:]
      for member in members {
        guard let old = ResourceType(name: member.key), let new = member.value.textValue.flatMap(ResourceType.init)
        else { return nil }
        types[old] = new
      }
      return types
    } ?? [:]
  }

  private mutating func playbackStyle() throws -> PlaybackStyle? {
    try optional("playbackStyle", styleForm) { json in
      (0...5).compactMap(PlaybackStyle.init).first { .text("\($0)") == json }
    }
  }

  private typealias Dates = (
    instant: AssetChanges.Assignment<Date>?, wallTime: AssetChanges.Assignment<Date>?,
    offset: AssetChanges.Assignment<Int>?
  )

  /// The three facts about when. An instant with an offset says all three, unless the others are given too.
  private mutating func dates() throws -> Dates {
    let written = try assignment("creationDate", instantForm) { $0.textValue.flatMap { WrittenDate($0) } }
    var wallTime = try assignment("localCreationDate", wallTimeForm) { $0.textValue.flatMap(DateText.wallTime) }
    var offset = try assignment("timeZoneOffset", "a whole number of seconds", \.wholeValue)
    guard case .set(let date) = written else {
      return (written.map { _ in .clear }, wallTime, offset)
    }
    if let known = date.wallTime, wallTime == nil { wallTime = .set(known) }
    if let known = date.offset, offset == nil { offset = .set(known) }
    return (.set(date.date), wallTime, offset)
  }

  mutating func resources() throws -> [ResourceDraft] {
    let values = try required("resources", "a list of objects") { json -> [[JSON.Member]]? in
      let objects = json.listValue?.map(\.objectValue)
      return objects?.contains { $0 == nil } ?? true ? nil : objects?.compactMap { $0 }
    }
    return try values.enumerated().map { index, members in
      var fields = OperationFields(members, place: "\(place), resources[\(index)]", sources: sources)
      let draft = try fields.resource()
      try fields.finish()
      return draft
    }
  }

  private mutating func resource() throws -> ResourceDraft {
    let type = try required("type", "the name of a resource type such as photo, video or pairedVideo") { json in
      json.textValue.flatMap { ResourceType(name: $0) }
    }
    let source = try source("a resource")
    let name = try optional("originalFilename", "text", \.textValue)
    let kind = try optional("uniformTypeIdentifier", "text", \.textValue)
    if case .stored(var resource) = source {
      resource.type = type
      resource.originalFilename = name ?? resource.originalFilename
      resource.uniformTypeIdentifier = kind ?? resource.uniformTypeIdentifier
      return .stored(resource)
    }
    return ResourceDraft(type: type, source: source, originalFilename: name, uniformTypeIdentifier: kind)
  }

  /// Where the bytes of something come from: a file, or the line itself.
  mutating func source(_ what: String) throws -> ResourceDraft.Source {
    if case .remote(let find) = sources { return try remoteSource(what, find) }
    let path = try optional("path", "the path of a file") { $0.textValue.flatMap { $0.isEmpty ? nil : $0 } }
    let data = try optional("data", "bytes in base64") { $0.textValue.flatMap { Data(base64Encoded: $0) } }
    switch (path, data) {
    case (let path?, nil): return .file(URL(filePath: path, directoryHint: .notDirectory), shouldMove: false)
    case (nil, let data?): return .data(data)
    default: throw malformed("\(what) has either 'path' or 'data'.")
    }
  }
}

extension OperationFields {
  /// - Throws: ``LibraryError`` `.malformedRequest` for a field that would have a file of this machine read.
  func checkNoPath() throws {
    guard has("path") else { return }
    throw malformed(
      "'path' names a file of the server's machine, which a request cannot read; upload the bytes and pass their "
        + "'sha256', or pass 'data' in base64.")
  }

  /// The source of bytes for a client on another machine: what the library holds already, or the block itself.
  private mutating func remoteSource(
    _ what: String, _ find: (_ sha256: [UInt8]) throws -> AssetResource?
  ) throws -> ResourceDraft.Source {
    try checkNoPath()
    let form = "64 hexadecimal digits, the SHA-256 of stored bytes"
    let sha256 = try optional("sha256", form) { $0.textValue.flatMap(Self.digest) }
    let data = try optional("data", "bytes in base64") { $0.textValue.flatMap { Data(base64Encoded: $0) } }
    switch (sha256, data) {
    case (nil, let data?): return .data(data)
    case (let sha256?, nil):
      guard let found = try find(sha256) else {
        throw LibraryError(
          .missingResource,
          "\(place): the library has no bytes with this 'sha256' that this client may use; upload them first.")
      }
      return .stored(found)
    default: throw malformed("\(what) has either 'sha256' or 'data'.")
    }
  }

  /// The bytes of a SHA-256 in hexadecimal digits; nil for another text.
  private static func digest(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard values.count == 64 else { return nil }
    return (0..<32).map { UInt8(values[2 * $0] << 4 | values[2 * $0 + 1]) }
  }
}

extension JSON {
  fileprivate var mediaTypeValue: MediaType? {
    MediaType.allCases.first { .text("\($0)") == self && $0 != .unknown }
  }
}

extension AssetChanges.Assignment {
  /// The value that is set; nil if the property is emptied.
  fileprivate var setting: Value? { if case .set(let value) = self { value } else { nil } }
}
