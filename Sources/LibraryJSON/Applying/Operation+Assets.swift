import Foundation
import JSONReading
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
    Operation(name: "asset.merge") { fields, context in
      let keeper = try fields.identifier("asset", context)
      context.block.merge(try fields.identifiers("others", context), into: keeper)
      return nil
    },
    Operation(name: "asset.stack") { fields, context in
      let top = try fields.identifier("top", context)
      context.block.stack(top: top, others: try fields.identifiers("assets", context))
      return nil
    },
    Operation(name: "asset.unstack") { fields, context in
      context.block.unstack(try fields.identifiers("assets", context))
      return nil
    },
    Operation(name: "asset.purge") { fields, context in
      context.block.purgeAssets(try fields.identifiers("assets", context))
      return nil
    },
  ]
}

private let instantForm = "a date such as \"2024-05-31T18:30:00+02:00\""

extension OperationFields {
  fileprivate mutating func assetCreation() throws -> AssetCreation {
    let values = try values(\.isAtCreation)
    guard let mediaType: MediaType = values[.mediaType] else {
      throw malformed("'mediaType' is missing; it must be \(Self.wanted(AssetField.mediaType.form)).")
    }
    var creation = AssetCreation(mediaType: mediaType, resources: try resources())
    creation.values = values
    creation.burstIdentifier = try assignment("burstIdentifier", "text", \.textValue)?.setting
    creation.sourceType = try bits("sourceType") ?? .userLibrary
    creation.caption = try assignment("caption", "text", \.textValue)?.setting
    creation.keywords = try keywords("keywords")
    creation.origin = try assignment("origin", "an identifier across libraries") { json in
      json.textValue.flatMap { CloudIdentifier(archivalStringValue: $0) }
    }?.setting
    return creation
  }

  fileprivate mutating func assetChanges() throws -> AssetChanges {
    var changes = AssetChanges()
    changes.values = try values(\.isByEdit)
    changes.dateShift = try optional("dateShift", "a whole number of seconds", \.wholeValue)
    changes.caption = try assignment("caption", "text", \.textValue)
    changes.addedKeywords = try keywords("addedKeywords")
    changes.removedKeywords = try words("removedKeywords")
    return changes
  }

  /// The properties that a kind of request sets, as their declarations say.
  private mutating func values(_ isWanted: (AssetProperty.Setting) -> Bool) throws -> AssetValues {
    var values = AssetValues()
    for property in AssetProperty.settable where isWanted(property.setting) {
      guard let field = property.field else {
        preconditionFailure("A request sets the property \(property.name), which no field of the log holds.")
      }
      // An instant with an offset says all three facts about when; what of them is given by itself comes later.
      if case .date(_, .zoned) = property.form,
        case .set(let date) = try assignment(
          property.name, instantForm, { $0.textValue.flatMap { WrittenDate($0) } })
      {
        values[stored: field] = .date(date.date)
        if let wallTime = date.wallTime { values[.localCreationDate] = wallTime }
        if let offset = date.offset { values[.timeZoneOffset] = offset }
      } else if let value = try value(of: property) {
        values[stored: field] = value
      }
    }
    return values
  }

  /// The value that a field gives a property; nil if the field is not given.
  private mutating func value(of property: AssetProperty) throws -> FieldValue? {
    func emptied<Value: FieldValueConvertible & Sendable>(_ given: AssetChanges.Assignment<Value>?) -> FieldValue? {
      given.map { $0.value?.fieldValue ?? .null }
    }
    let (name, wanted) = (property.name, Self.wanted(property.form))
    switch property.form {
    case .flag, .clearFlag: return try optional(name, wanted, \.boolValue).map(FieldValue.bool)
    case .choice(_, let names):
      let number = try optional(name, wanted) { json in
        names.isNumberInJSON
          ? json.wholeValue.flatMap(names.number(given:)) : json.textValue.flatMap(names.number(named:))
      }
      return number.map(FieldValue.integer)
    case .bits(_, let names):
      return try optional(name, wanted) { $0.textsValue.flatMap(names.bits) }.map { .integer(Int64($0)) }
    case .size: return try optional(name, wanted, \.positionValue)?.fieldValue
    case .seconds: return try optional(name, wanted, \.numberValue)?.fieldValue
    case .zoneOffset: return emptied(try assignment(name, wanted, \.wholeValue))
    case .date(_, .wallTime): return emptied(try assignment(name, wanted) { $0.textValue.flatMap(DateText.wallTime) })
    case .date: return emptied(try assignment(name, wanted) { $0.textValue.flatMap { WrittenDate($0)?.date } })
    case .location: return emptied(try assignment(name, wanted, \.locationValue))
    case .identifier, .flags, .isChosen, .isPresent, .coordinate, .burst, .stack, .isBeneathStack, .text, .texts,
      .measure, .record:
      preconditionFailure("A request cannot set the property \(name) of an asset.")
    }
  }

  /// What a field must be that gives a property with a form.
  private static func wanted(_ form: AssetProperty.Form) -> String {
    switch form {
    case .flag, .clearFlag, .isChosen, .isPresent, .isBeneathStack: "true or false"
    case .choice(_, let names): names.wanted
    case .bits(_, let names): names.wanted
    case .size, .flags: "a whole number, 0 or more"
    case .seconds, .coordinate: "a number of seconds"
    case .zoneOffset: "a whole number of seconds"
    case .date(_, .wallTime): "a date without a zone such as \"2024-05-31T18:30:00\""
    case .date: instantForm
    case .location: "an object with latitude, longitude and, if known, altitude"
    case .identifier, .burst, .stack, .text: "text"
    case .measure: "a number"
    case .record: "an object"
    case .texts: "a list of words"
    }
  }

  private mutating func words(_ name: String) throws -> Set<String> {
    Set(try optional(name, "a list of words", \.textsValue) ?? [])
  }

  /// Words to give to an asset. A blank one would be passed over, or stored as a keyword that cannot be seen.
  private mutating func keywords(_ name: String) throws -> Set<String> {
    Set(try optional(name, "a list of words, none of them blank", \.wordsValue) ?? [])
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
    let sha256 = try optional("sha256", form) { $0.textValue.flatMap { [UInt8](hexadecimal: $0, count: 32) } }
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
}

extension AssetChanges.Assignment {
  /// The value that is set; nil if the property is emptied.
  fileprivate var setting: Value? { if case .set(let value) = self { value } else { nil } }
}
