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
      context.block.addResources(try fields.resources(), to: asset, changing: try fields.assetChanges())
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
private let styleForm = "unsupported, image, imageAnimated, livePhoto, video or videoLooping"

extension OperationFields {
  fileprivate mutating func assetCreation() throws -> AssetCreation {
    let mediaType = try required("mediaType", "image, video or audio") { json in
      MediaType.allCases.first { .text("\($0)") == json && $0 != .unknown }
    }
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
    return changes
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

  fileprivate mutating func resources() throws -> [ResourceDraft] {
    let values = try required("resources", "a list of objects") { json -> [[JSON.Member]]? in
      let objects = json.listValue?.map(\.objectValue)
      return objects?.contains { $0 == nil } ?? true ? nil : objects?.compactMap { $0 }
    }
    return try values.enumerated().map { index, members in
      var fields = OperationFields(members, place: "\(place), resources[\(index)]")
      let draft = try fields.resource()
      try fields.finish()
      return draft
    }
  }

  private mutating func resource() throws -> ResourceDraft {
    let type = try required("type", "the name of a resource type such as photo, video or pairedVideo") { json in
      json.textValue.flatMap { ResourceType(name: $0) }
    }
    let path = try optional("path", "the path of a file") { $0.textValue.flatMap { $0.isEmpty ? nil : $0 } }
    let data = try optional("data", "bytes in base64") { $0.textValue.flatMap { Data(base64Encoded: $0) } }
    let name = try optional("originalFilename", "text", \.textValue)
    let kind = try optional("uniformTypeIdentifier", "text", \.textValue)
    let source: ResourceDraft.Source
    switch (path, data) {
    case (let path?, nil): source = .file(URL(filePath: path, directoryHint: .notDirectory), shouldMove: false)
    case (nil, let data?): source = .data(data)
    default: throw malformed("a resource has either 'path' or 'data'.")
    }
    return ResourceDraft(type: type, source: source, originalFilename: name, uniformTypeIdentifier: kind)
  }
}

extension AssetChanges.Assignment {
  /// The value that is set; nil if the property is emptied.
  fileprivate var setting: Value? { if case .set(let value) = self { value } else { nil } }
}
