import Foundation

// An event for readers of the log: client, time, cause, objects, and a sentence; and the whole payload as a value that
// converts to JSON. Objects are named by their identifiers, which come from the events that created them.

/// One event of the log.
public struct LogEntry: Sendable {
  /// The place of the event in the log, from 1.
  public let sequence: UInt64
  /// The state that holds the event's commit.
  public let token: Token
  /// The commit it belongs to: who, when and why.
  public let commit: CommitSummary
  /// The type of the event, such as `assets.trashed`.
  public let type: String
  /// The objects that it concerns, spelled as PhotoKit spells identifiers; the one acted on first.
  public let objects: [String]
  /// What happened, as a sentence.
  public let sentence: String
  /// Whether the event's payload, or a part of it, was erased.
  public let isErased: Bool
  /// The event; nil if there is nothing to be said of it.
  private let event: Event?
  private let names: [ObjectNumber: ObjectNames.Name]

  init(
    sequence: UInt64, token: Token, commit: CommitSummary, type: String, objects: [String], sentence: String,
    isErased: Bool, event: Event? = nil, names: [ObjectNumber: ObjectNames.Name] = [:]
  ) {
    (self.sequence, self.token, self.commit, self.type) = (sequence, token, commit, type)
    (self.objects, self.sentence, self.isErased) = (objects, sentence, isErased)
    (self.event, self.names) = (event, names)
  }

  /// The names of objects in the sentence, for programs that write it in another language: a field for each identifier,
  /// with the file name or title. Objects that the sentence only counts, and those without a name, are omitted.
  public var titles: [LogValue.Field] {
    (event?.calledByName ?? []).compactMap { number in
      guard let name = names[number], let title = name.title else { return nil }
      return LogValue.Field(name.spelling, .text(title))
    }
  }

  /// The whole event; computed on demand.
  /// - Complexity: O(k) in the objects of the event.
  public var details: LogValue { event?.details(names) ?? .null }
}

extension Event {
  /// What happened, as a sentence.
  func sentence(_ names: [ObjectNumber: ObjectNames.Name]) -> String {
    let name = { (number: ObjectNumber) in names[number]?.spelling ?? "" }
    return switch self {
    case .libraryCreated: "The library was created."
    case .assetCreated(let existence):
      existence.isByUndo ? "\(existence.title) was restored by an undo." : "\(existence.title) was added."
    case .assetPurged(let existence):
      existence.isByUndo
        ? "\(existence.title) was removed by an undo; its files are kept."
        : "\(existence.title) was removed permanently."
    case .assetsEdited(let edited): edited.sentence(names)
    case .collectionCreated(let existence): "The \(existence.row.word) '\(existence.row.title ?? "")' was created."
    case .collectionErased(let existence): "The \(existence.row.word) '\(existence.row.title ?? "")' was removed."
    case .collectionEdited(let edited): edited.sentence(names)
    case .arranged(let arranged): arranged.sentence(names)
    case .nothingChanged: "A block changed nothing."
    case .assetErased(let erased): "The data of \(counted(erased.numbers.count, "asset")) in the log were erased."
    case .libraryForked(let fork): "The library was forked from the one at '\(fork.origin)'."
    case .clientRegistered(let row), .clientErased(let row): "The client '\(row.name)' was registered."
    case .clientEdited(let edited): edited.sentence(names)
    case .pickRecorded(let row), .pickErased(let row):
      "'\(name(row.client))' received picked assets"
        + (row.withheld.isEmpty ? "." : ", without \(row.withheld.words).")
    case .historyShortened(let kept): "The available history starts with commit \(kept.new)."
    }
  }

  /// The payload as a value.
  func details(_ names: [ObjectNumber: ObjectNames.Name]) -> LogValue {
    let name = { (number: ObjectNumber) in names[number]?.spelling ?? "" }
    let fields: [LogValue.Field] =
      switch self {
      case .libraryCreated(let identifier, let date):
        [.init("identifier", .text(identifier.uuidString)), .init("date", .date(date))]
      case .assetCreated(let existence), .assetPurged(let existence): existence.fields(name)
      case .assetsEdited(let edited): edited.fields(name)
      case .collectionCreated(let existence), .collectionErased(let existence): existence.row.fields(name)
      case .collectionEdited(let edited): edited.fields(name)
      case .arranged(let arranged): arranged.fields(name)
      case .nothingChanged: []
      case .assetErased(let erased):
        [
          .init("assets", .list(erased.numbers.map { .text(name($0)) })),
          .init("events", .list(erased.redactions.map { .integer(Int64(clamping: $0.sequence)) })),
        ]
      case .libraryForked(let fork):
        [
          .init("identifier", .text(fork.identifier.uuidString)), .init("date", .date(fork.date)),
          .init("origin", .text(fork.origin)),
        ]
      case .clientRegistered(let row), .clientErased(let row):
        [.init("client", .text(row.name)), .init("date", .date(row.registeredDate))]
      case .clientEdited(let edited): edited.fields(names)
      case .pickRecorded(let row), .pickErased(let row):
        [.init("client", .text(name(row.client)))]
          + (row.withheld.isEmpty ? [] : [.init("withheld", .list(row.withheld.names.map { .text($0) }))])
      case .historyShortened(let kept):
        [.init("firstCommit", .change(.integer(Int64(clamping: kept.old)), .integer(Int64(clamping: kept.new))))]
      }
    return .object(fields)
  }
}

private func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }

extension Event {
  /// The objects that the sentence calls by a name that the details do not hold.
  fileprivate var calledByName: [ObjectNumber] {
    switch self {
    case .assetsEdited(let edited): fewEnough(edited.edits.map(\.number))
    case .collectionEdited(let edited): [edited.number]
    case .arranged(let arranged): [arranged.container] + fewEnough(arranged.places.map(\.child))
    default: []
    }
  }
}

/// Objects if a sentence calls each by its name; none if it gives their number.
private func fewEnough(_ numbers: [ObjectNumber]) -> [ObjectNumber] { numbers.count <= 3 ? numbers : [] }

/// A few objects by what they are called, many by their number.
private func listed(_ numbers: [ObjectNumber], _ noun: String, _ names: [ObjectNumber: ObjectNames.Name]) -> String {
  guard numbers.isEmpty || !fewEnough(numbers).isEmpty else { return counted(numbers.count, noun) }
  let labels = numbers.map { names[$0]?.label ?? "an \(noun)" }
  guard labels.count > 1, let last = labels.last else { return labels.first ?? counted(0, noun) }
  return labels.dropLast().joined(separator: ", ") + " and " + last
}

extension LogValue {
  /// A property's value; enumerations and sets by the names that PhotoKit gives them.
  package init(_ value: FieldValue, of field: AssetField) {
    switch (value, field.form) {
    case (.null, _): self = .null
    case (.bool(let value), _): self = .bool(value)
    case (.integer(let value), .choice(_, let names)):
      self = names.name(of: value).map(LogValue.text) ?? .integer(value)
    case (.integer(let value), .bits(_, let names)) where !names.isNumberInLog:
      self = .list(names.names(UInt32(truncatingIfNeeded: value)).map(LogValue.text))
    case (.integer(let value), _): self = .integer(value)
    case (.double(let value), .date): self = .date(Date(timeIntervalSinceReferenceDate: value))
    case (.double(let value), _): self = .double(value)
    case (.place(let location), _): self = LogValue(location)
    }
  }

  fileprivate init(_ location: Location) {
    self = .object(
      [.init("latitude", .double(location.latitude)), .init("longitude", .double(location.longitude))]
        + (location.altitude.map { [.init("altitude", .double($0))] } ?? []))
  }

  static func optional(_ date: Date?) -> LogValue { date.map(LogValue.date) ?? .null }

  static func asset(_ identifier: LocalIdentifier?) -> LogValue {
    identifier.map { .text($0.spelled(as: .asset)) } ?? .null
  }

  fileprivate static func change(_ old: LogValue, _ new: LogValue) -> LogValue {
    .object([.init("old", old), .init("new", new)])
  }
}

extension AssetExistence {
  fileprivate var title: String {
    details.resources.first.map { "'\($0.originalFilename)'" } ?? (row.isErased ? "An erased asset" : "An asset")
  }

  fileprivate func fields(_ name: (ObjectNumber) -> String) -> [LogValue.Field] {
    [.init("asset", .text(name(row.number)))] + (row.isErased ? [.init("isErased", .bool(true))] : []) + values
      + (places.isEmpty ? [] : [.init("containers", .list(places.map { .text(name($0.container)) }))])
  }

  /// Every property that has a value.
  var values: [LogValue.Field] {
    let fields = AssetField.allCases.filter { row[$0] != .null && row[$0] != .bool(false) }
    return fields.map { .init($0.name, LogValue(row[$0], of: $0)) } + [.init("addedDate", .date(row.addedDate))]
      + details.fields.filter { $0.value != .null && $0.value != .list([]) }
  }
}

extension AssetDetails {
  /// The same names in the same order for every asset.
  package var fields: [LogValue.Field] {
    [
      .init("resources", .list(resources.map { .object($0.fields) })),
      .init("caption", caption.map(LogValue.text) ?? .null),
      .init("keywords", .list(keywords.map(LogValue.text))),
      .init("adjustmentFormatIdentifier", adjustment.map { .text($0.formatIdentifier) } ?? .null),
      .init("adjustmentFormatVersion", adjustment.map { .text($0.formatVersion) } ?? .null),
      .init("origin", origin.map(LogValue.text) ?? .null),
      .init("fileMetadata", metadata?.logValue ?? .null),
    ]
  }
}

extension AssetResource {
  fileprivate var fields: [LogValue.Field] {
    var fields: [LogValue.Field] = [
      .init("type", .text(type.name)), .init("originalFilename", .text(originalFilename)),
      .init("uniformTypeIdentifier", .text(uniformTypeIdentifier)),
      .init("dataSize", .integer(Int64(clamping: dataSize))), .init("sha256", .text(sha256Hex)),
    ]
    if let sha1Hex { fields.append(.init("sha1", .text(sha1Hex))) }
    if case .referenced(let path) = storage { fields.append(.init("path", .text(path))) }
    if let contentIdentifier { fields.append(.init("contentIdentifier", .text(contentIdentifier))) }
    return fields
  }
}

extension AssetsEdited {
  fileprivate func sentence(_ names: [ObjectNumber: ObjectNames.Name]) -> String {
    let assets = listed(edits.map(\.number), "asset", names)
    switch verb {
    case .trashed: return "Moved to the trash: \(assets)."
    case .restored: return "Restored from the trash: \(assets)."
    case .edited:
      let fields = Set(edits.flatMap { $0.changes.map(\.field) }).subtracting([.modificationDate])
      let added = edits.reduce(0) { $0 + $1.newResources.count }
      let properties = fields.sorted { $0.rawValue < $1.rawValue }.map(\.name)
      let parts = properties + (added > 0 ? [counted(added, "new resource")] : [])
      // An erasure leaves no word of what was edited.
      return parts.isEmpty ? "Edited: \(assets)." : "Edited: \(assets) (\(parts.joined(separator: ", ")))."
    }
  }

  fileprivate func fields(_ name: (ObjectNumber) -> String) -> [LogValue.Field] {
    let assets = edits.map { edit -> LogValue in
      var fields: [LogValue.Field] = [.init("asset", .text(name(edit.number)))]
      for change in edit.changes {
        let (old, new) = (LogValue(change.old, of: change.field), LogValue(change.new, of: change.field))
        fields.append(.init(change.field.name, .change(old, new)))
      }
      if let details = edit.details {
        let (old, new) = (details.old.fields, details.new.fields)
        for (old, new) in zip(old, new) where old != new {
          fields.append(.init(new.name, .change(old.value, new.value)))
        }
      }
      return .object(fields)
    }
    let counts = shifts.map { shift in
      LogValue.object([.init("album", .text(name(shift.album))), .init("by", .integer(Int64(shift.by)))])
    }
    return [.init("assets", .list(assets))] + (counts.isEmpty ? [] : [.init("assetCounts", .list(counts))])
  }
}

extension AssetEdit {
  /// The resources whose bytes the asset did not have before.
  fileprivate var newResources: [AssetResource] {
    let known = Set(details?.old.resources.map(\.sha256) ?? [])
    return (details?.new.resources ?? []).filter { !known.contains($0.sha256) }
  }
}

extension ClientEdited {
  fileprivate func sentence(_ names: [ObjectNumber: ObjectNames.Name]) -> String {
    let name = names[number]?.spelling ?? ""
    if let requested { return "'\(name)' requested access (\(requested))." }
    if let followedAlbum {
      guard let album = followedAlbum.new else { return "The selection of '\(name)' no longer follows an album." }
      return "The selection of '\(name)' follows \(names[album]?.label ?? "an album")."
    }
    let decisions = statuses.sorted { $0.key.rawValue < $1.key.rawValue }.map { level, status in
      "'\(name)' may \(level == .addOnly ? "add" : "read and change"): \(status.new), was \(status.old)."
    }
    return decisions.isEmpty ? "'\(name)' updated its registration." : decisions.joined(separator: " ")
  }

  fileprivate func fields(_ names: [ObjectNumber: ObjectNames.Name]) -> [LogValue.Field] {
    var fields: [LogValue.Field] = [.init("client", .text(names[number]?.spelling ?? ""))]
    if let requested { fields.append(.init("requested", .text("\(requested)"))) }
    for level in AccessLevel.allCases {
      if let status = statuses[level] {
        fields.append(.init("\(level)", .change(.text("\(status.old)"), .text("\(status.new)"))))
      }
      if let words = usageDescriptions[level] {
        let (old, new) = (words.old.map(LogValue.text) ?? .null, words.new.map(LogValue.text) ?? .null)
        fields.append(.init("\(level)UsageDescription", .change(old, new)))
      }
    }
    if let prevents = preventsLimitedAlert {
      fields.append(
        .init("preventsAutomaticLimitedAccessAlert", .change(.bool(prevents.old), .bool(prevents.new))))
    }
    if let followedAlbum {
      let name = { (album: ObjectNumber?) in album.map { .text(names[$0]?.spelling ?? "") } ?? LogValue.null }
      fields.append(.init("followedAlbum", .change(name(followedAlbum.old), name(followedAlbum.new))))
    }
    return fields
  }
}

extension CollectionRow {
  var word: String {
    switch kind {
    case .album: "album"
    case .smartAlbum: "smart album"
    case .folder: "folder"
    }
  }

  fileprivate func fields(_ name: (ObjectNumber) -> String) -> [LogValue.Field] {
    [
      .init("collection", .text(name(number))), .init("kind", .text(word)),
      .init("localizedTitle", title.map(LogValue.text) ?? .null), .init("parent", .text(name(parent))),
      .init("creationDate", .date(creationDate)),
    ] + (query.map { [.init("predicate", .text($0.format))] } ?? [])
  }
}

extension CollectionEdited {
  fileprivate func sentence(_ names: [ObjectNumber: ObjectNames.Name]) -> String {
    let label = names[number]?.label ?? "A collection"
    if let deletedDate { return deletedDate.new == nil ? "\(label) was restored." : "\(label) was deleted." }
    if title == nil, namesCover { return coverSentence(label) }
    return "'\(title?.old ?? "")' was renamed to '\(title?.new ?? "")'."
  }

  private func coverSentence(_ label: String) -> String {
    guard let cover else { return "The creator of \(label) no longer sees its cover." }
    guard let asset = cover.new else { return "\(label) has no chosen cover any more." }
    return "The cover of \(label) is now \(asset.spelled(as: .asset))."
  }

  fileprivate func fields(_ name: (ObjectNumber) -> String) -> [LogValue.Field] {
    var fields: [LogValue.Field] = [.init("collection", .text(name(number)))]
    if let title {
      fields.append(
        .init("localizedTitle", .change(title.old.map(LogValue.text) ?? .null, title.new.map(LogValue.text) ?? .null)))
    }
    if let modificationDate {
      fields.append(.init("modificationDate", .change(.date(modificationDate.old), .date(modificationDate.new))))
    }
    if let deletedDate {
      fields.append(.init("deletedDate", .change(.optional(deletedDate.old), .optional(deletedDate.new))))
    }
    if let cover { fields.append(.init("cover", .change(.asset(cover.old), .asset(cover.new)))) }
    if let cover = creatorCover {
      fields.append(.init("creatorCover", .change(.asset(cover.old), .asset(cover.new))))
    }
    return fields
  }
}

extension Arranged {
  fileprivate func sentence(_ names: [ObjectNumber: ObjectNames.Name]) -> String {
    let members = listed(places.map(\.child), "member", names)
    let home = names[container]?.label ?? "a collection"
    return switch verb {
    case .inserted: "Added to \(home): \(members)."
    case .removed: "Removed from \(home): \(members)."
    case .moved: "Moved within \(home): \(members)."
    case .replaced: "Replaced in \(home): \(members)."
    case .spread: "New order keys in \(home), in the same order: \(members)."
    case .granted: "Granted to \(home): \(listed(places.map(\.child), "asset", names))."
    case .withdrawn: "Withdrawn from \(home): \(listed(places.map(\.child), "asset", names))."
    case .picked: "Picked in \(home): \(listed(places.map(\.child), "asset", names))."
    }
  }

  fileprivate func fields(_ name: (ObjectNumber) -> String) -> [LogValue.Field] {
    func key(_ key: OrderKey?) -> LogValue { key.map { .text(String($0.rawValue, radix: 16)) } ?? .null }
    let members = places.map { place in
      LogValue.object([
        .init("member", .text(name(place.child))), .init("orderKey", .change(key(place.old), key(place.new))),
      ])
    }
    var fields: [LogValue.Field] = [
      .init("container", .text(name(container))), .init("members", .list(members)),
      .init("assetCountBy", .integer(Int64(countShift))),
    ]
    if let date = modificationDate {
      fields.append(.init("modificationDate", .change(.date(date.old), .date(date.new))))
    }
    return fields
  }
}
