import Foundation

// What is said of an event.
//
// Each case of `Event` has one entry in one table: its sentence, its payload as fields, and the objects that the
// sentence calls by a name which the fields do not hold. The properties that an edit of an asset or collection changed
// are `PropertyValues`, which a log entry (LogEntry.swift) and the history of an object (PropertyChange.swift) share.
// What only one of them has, or each puts differently (members, permissions, the start of the history), each makes
// itself.
//
// Rejected: the same values for a comparison of libraries and for an undo. Those compare states, not events: what was
// changed and changed back is no difference, and a conflict names a value that no event holds. They share the names of
// properties and `LogValue(_:of:)`.

/// The names of objects by their numbers.
private typealias NamesByNumber = [ObjectNumber: ObjectNames.Name]

/// The words of one event; each part is computed when it is called.
struct EventWords {
  /// What happened, as a sentence.
  let sentence: ([ObjectNumber: ObjectNames.Name]) -> String
  /// The payload.
  let fields: ([ObjectNumber: ObjectNames.Name]) -> [LogValue.Field]
  /// The objects that the sentence calls by a name that the fields do not hold.
  let calledByName: () -> [ObjectNumber]

  fileprivate init(
    _ sentence: @autoclosure @escaping () -> String, _ fields: @autoclosure @escaping () -> [LogValue.Field] = []
  ) {
    self.init({ _ in sentence() }, { _ in fields() })
  }

  fileprivate init(
    _ sentence: @escaping (NamesByNumber) -> String, _ fields: @escaping (NamesByNumber) -> [LogValue.Field],
    calling calledByName: @autoclosure @escaping () -> [ObjectNumber] = []
  ) {
    (self.sentence, self.fields, self.calledByName) = (sentence, fields, calledByName)
  }
}

extension Event {
  /// What is said of the event.
  var words: EventWords {
    switch self {
    case .libraryCreated(let identifier, let date):
      EventWords(
        "The library was created.", [.init("identifier", .text(identifier.uuidString)), .init("date", .date(date))])
    case .assetCreated(let existence):
      EventWords(
        { _ in existence.isByUndo ? "\(existence.title) was restored by an undo." : "\(existence.title) was added." },
        existence.fields)
    case .assetPurged(let existence):
      EventWords(
        { _ in
          existence.isByUndo
            ? "\(existence.title) was removed by an undo; its files are kept."
            : "\(existence.title) was removed permanently."
        }, existence.fields)
    case .assetsEdited(let edited):
      EventWords(edited.sentence, edited.fields, calling: fewEnough(edited.edits.map(\.number)))
    case .collectionCreated(let existence):
      EventWords({ _ in "The \(existence.row.word) '\(existence.row.title ?? "")' was created." }, existence.row.fields)
    case .collectionErased(let existence):
      EventWords({ _ in "The \(existence.row.word) '\(existence.row.title ?? "")' was removed." }, existence.row.fields)
    case .collectionEdited(let edited): EventWords(edited.sentence, edited.fields, calling: [edited.number])
    case .arranged(let arranged):
      EventWords(
        arranged.sentence, arranged.fields, calling: [arranged.container] + fewEnough(arranged.places.map(\.child)))
    case .nothingChanged: EventWords("A block changed nothing.")
    case .assetErased(let erased):
      EventWords(
        { _ in "The data of \(counted(erased.numbers.count, "asset")) in the log were erased." }, erased.fields)
    case .libraryForked(let fork):
      EventWords(
        "The library was forked from the one at '\(fork.origin)'.",
        [
          .init("identifier", .text(fork.identifier.uuidString)), .init("date", .date(fork.date)),
          .init("origin", .text(fork.origin)),
        ])
    case .clientRegistered(let row), .clientErased(let row):
      EventWords(
        "The client '\(row.name)' was registered.",
        [.init("client", .text(row.name)), .init("date", .date(row.registeredDate))])
    case .clientEdited(let edited): EventWords(edited.sentence, edited.fields)
    case .pickRecorded(let row), .pickErased(let row): EventWords(row.sentence, row.fields)
    case .historyShortened(let kept):
      EventWords(
        "The available history starts with commit \(kept.new).",
        [.init("firstCommit", .change(.integer(Int64(clamping: kept.old)), .integer(Int64(clamping: kept.new))))])
    }
  }
}

/// A property before and after an event.
struct PropertyValues {
  var name: String
  var old = LogValue.null
  var new = LogValue.null

  init(_ name: String, _ old: LogValue = .null, _ new: LogValue = .null) {
    (self.name, self.old, self.new) = (name, old, new)
  }

  /// Both as a field of a log entry.
  var field: LogValue.Field { LogValue.Field(name, .change(old, new)) }
}

extension Dictionary<ObjectNumber, ObjectNames.Name> {
  /// An object as PhotoKit spells it; empty for one without a name.
  fileprivate func spelling(_ number: ObjectNumber) -> String { self[number]?.spelling ?? "" }
}

private func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }

/// Objects if a sentence calls each by its name; none if it gives their number.
private func fewEnough(_ numbers: [ObjectNumber]) -> [ObjectNumber] { numbers.count <= 3 ? numbers : [] }

/// A few objects by what they are called, many by their number.
private func listed(_ numbers: [ObjectNumber], _ noun: String, _ names: NamesByNumber) -> String {
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
    case (.identifier(let identifier), _): self = .asset(identifier)
    }
  }

  fileprivate init(_ location: Location) {
    self = .object(
      [.init("latitude", .double(location.latitude)), .init("longitude", .double(location.longitude))]
        + (location.altitude.map { [.init("altitude", .double($0))] } ?? []))
  }

  static func optional(_ date: Date?) -> LogValue { date.map(LogValue.date) ?? .null }

  fileprivate static func optional(_ text: String?) -> LogValue { text.map(LogValue.text) ?? .null }

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

  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    [.init("asset", .text(names.spelling(row.number)))] + (row.isErased ? [.init("isErased", .bool(true))] : [])
      + values
      + (places.isEmpty ? [] : [.init("containers", .list(places.map { .text(names.spelling($0.container)) }))])
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

extension AssetErased {
  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    [
      .init("assets", .list(numbers.map { .text(names.spelling($0)) })),
      .init("events", .list(redactions.map { .integer(Int64(clamping: $0.sequence)) })),
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
  fileprivate func sentence(_ names: NamesByNumber) -> String {
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

  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    let assets = edits.map { edit in
      LogValue.object([.init("asset", .text(names.spelling(edit.number)))] + edit.values.map(\.field))
    }
    let counts = shifts.map { shift in
      LogValue.object([.init("album", .text(names.spelling(shift.album))), .init("by", .integer(Int64(shift.by)))])
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
  fileprivate func sentence(_ names: NamesByNumber) -> String {
    let name = names.spelling(number)
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

  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    var fields: [LogValue.Field] = [.init("client", .text(names.spelling(number)))]
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
      let name = { (album: ObjectNumber?) in album.map { .text(names.spelling($0)) } ?? LogValue.null }
      fields.append(.init("followedAlbum", .change(name(followedAlbum.old), name(followedAlbum.new))))
    }
    return fields
  }
}

extension PickRow {
  fileprivate func sentence(_ names: NamesByNumber) -> String {
    "'\(names.spelling(client))' received picked assets"
      + (withheld.isEmpty ? "." : ", without \(withheld.words).")
  }

  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    [.init("client", .text(names.spelling(client)))]
      + (withheld.isEmpty ? [] : [.init("withheld", .list(withheld.names.map { .text($0) }))])
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

  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    [
      .init("collection", .text(names.spelling(number))), .init("kind", .text(word)),
      .init("localizedTitle", title.map(LogValue.text) ?? .null), .init("parent", .text(names.spelling(parent))),
      .init("creationDate", .date(creationDate)),
    ] + (query.map { [.init("predicate", .text($0.format))] } ?? [])
  }
}

extension CollectionEdited {
  fileprivate func sentence(_ names: NamesByNumber) -> String {
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

  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    let own: [LogValue.Field] = [.init("collection", .text(names.spelling(number)))] + values.map(\.field)
    guard let cover = creatorCover else { return own }
    return own + [.init("creatorCover", .change(.asset(cover.old), .asset(cover.new)))]
  }
}

extension AssetEdit {
  var values: [PropertyValues] {
    let fields = changes.map { change in
      PropertyValues(
        change.field.name, LogValue(change.old, of: change.field), LogValue(change.new, of: change.field))
    }
    guard let details else { return fields }
    let words = zip(details.old.fields, details.new.fields).filter { $0 != $1 }
    return fields + words.map { PropertyValues($1.name, $0.value, $1.value) }
  }
}

extension CollectionEdited {
  var values: [PropertyValues] {
    var values: [PropertyValues] = []
    if let title { values.append(PropertyValues("localizedTitle", .optional(title.old), .optional(title.new))) }
    if let date = modificationDate {
      values.append(PropertyValues("modificationDate", .date(date.old), .date(date.new)))
    }
    if let date = deletedDate { values.append(PropertyValues("deletedDate", .optional(date.old), .optional(date.new))) }
    if let cover { values.append(PropertyValues("cover", .asset(cover.old), .asset(cover.new))) }
    return values
  }
}

extension Arranged {
  fileprivate func sentence(_ names: NamesByNumber) -> String {
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

  fileprivate func fields(_ names: NamesByNumber) -> [LogValue.Field] {
    func key(_ key: OrderKey?) -> LogValue { key.map { .text(String($0.rawValue, radix: 16)) } ?? .null }
    let members = places.map { place in
      LogValue.object([
        .init("member", .text(names.spelling(place.child))), .init("orderKey", .change(key(place.old), key(place.new))),
      ])
    }
    var fields: [LogValue.Field] = [
      .init("container", .text(names.spelling(container))), .init("members", .list(members)),
      .init("assetCountBy", .integer(Int64(countShift))),
    ]
    if let date = modificationDate {
      fields.append(.init("modificationDate", .change(.date(date.old), .date(date.new))))
    }
    return fields
  }
}
