import Foundation
package import PhotoLedger

// What is said of an event.
//
// Each case of `Event` has one entry in one table: its sentence, its payload as fields, and the objects that the
// sentence calls by a name which the fields do not hold. Fields are written in order to a `RecordWriter`, which makes
// text or values of them. The properties that an edit of an asset or collection changed are `PropertyValues`, which a
// log entry (LogEntry.swift) and the history of an object (PropertyChange.swift) share. What only one of them has, or
// each puts differently (members, permissions, the start of the history), each makes itself.
//
// Rejected: the same values for a comparison of libraries and for an undo. Those compare states, not events: what was
// changed and changed back is not a difference, and a conflict names a value that no event holds. They share the names
// of properties, `LogValue(_:of:)` and `CollectionProperty.value(of:_:)`.

/// The names of the objects that an event names, by number.
struct EventNames {
  /// The first one that was added: most events name no other.
  private var first: (number: ObjectNumber, name: ObjectNames.Name)?
  private var others: [ObjectNumber: ObjectNames.Name] = [:]

  subscript(number: ObjectNumber) -> ObjectNames.Name? {
    if let first, first.number == number { return first.name }
    return others.isEmpty ? nil : others[number]
  }

  mutating func add(_ name: ObjectNames.Name, of number: ObjectNumber) {
    if first == nil { first = (number, name) } else { others[number] = name }
  }

  /// An object as PhotoKit spells it; empty for one without a name.
  fileprivate func spelling(_ number: ObjectNumber) -> String { self[number]?.spelling ?? "" }
}

extension RecordWriter where Self: ~Copyable {
  /// Writes an object as PhotoKit spells it; an empty text for one without a name.
  mutating func object(_ number: ObjectNumber, _ names: EventNames) {
    if let name = names[number] { name.write(to: &self) } else { text("") }
  }
}

/// A part of the words of an event.
private enum EventWords {
  /// What happened.
  case sentence
  /// The payload.
  case fields
  /// The objects that the sentence calls by a name that the fields do not hold.
  case calledByName

  /// One event; of its words those that are asked for are made.
  func entry<Writer: RecordWriter & ~Copyable>(
    _ writer: inout Writer, _ sentence: @autoclosure () -> String,
    calling calledByName: @autoclosure () -> [ObjectNumber] = [], _ fields: (inout Writer) -> Void = { _ in }
  ) -> (sentence: String, calledByName: [ObjectNumber]) {
    switch self {
    case .sentence: return (sentence(), [])
    case .calledByName: return ("", calledByName())
    case .fields:
      fields(&writer)
      return ("", [])
    }
  }
}

extension Event {
  /// What happened, as a sentence.
  func sentence(_ names: EventNames) -> String {
    var writer = LogValueWriter()
    return words(.sentence, names, &writer).sentence
  }

  /// The objects that the sentence calls by a name that the fields do not hold.
  var calledByName: [ObjectNumber] {
    var writer = LogValueWriter()
    return words(.calledByName, EventNames(), &writer).calledByName
  }

  /// Writes the fields of the payload into an object that was begun.
  func writeFields(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    _ = words(.fields, names, &writer)
  }

  /// What is said of the event.
  private func words<Writer: RecordWriter & ~Copyable>(
    _ part: EventWords, _ names: EventNames, _ writer: inout Writer
  ) -> (sentence: String, calledByName: [ObjectNumber]) {
    switch self {
    case .libraryCreated(let identifier, let date):
      return part.entry(&writer, "The library was created.") {
        $0.field("identifier", identifier.uuidString)
        $0.field("date", date)
      }
    case .assetCreated(let existence):
      return part.entry(
        &writer,
        existence.title + (existence.isByUndo ? " was restored by an undo." : "\(AssetExistence.wasAdded)")
      ) { existence.write(to: &$0, names) }
    case .assetPurged(let existence):
      return part.entry(
        &writer,
        existence.isByUndo
          ? "\(existence.title) was removed by an undo; its files are kept."
          : "\(existence.title) was removed permanently."
      ) { existence.write(to: &$0, names) }
    case .assetsEdited(let edited):
      return part.entry(&writer, edited.sentence(names), calling: fewEnough(edited.edits.map(\.number))) {
        edited.write(to: &$0, names)
      }
    case .collectionCreated(let existence):
      return part.entry(&writer, "The \(existence.row.word) '\(existence.row.title ?? "")' was created.") {
        existence.row.write(to: &$0, names)
      }
    case .collectionErased(let existence):
      return part.entry(&writer, "The \(existence.row.word) '\(existence.row.title ?? "")' was removed.") {
        existence.row.write(to: &$0, names)
      }
    case .collectionEdited(let edited):
      return part.entry(&writer, edited.sentence(names), calling: [edited.number]) { edited.write(to: &$0, names) }
    case .arranged(let arranged):
      return part.entry(
        &writer, arranged.sentence(names), calling: [arranged.container] + fewEnough(arranged.places.map(\.child))
      ) { arranged.write(to: &$0, names) }
    case .nothingChanged: return part.entry(&writer, "A block changed nothing.")
    case .assetErased(let erased):
      return part.entry(&writer, "The data of \(counted(erased.numbers.count, "asset")) in the log were erased.") {
        erased.write(to: &$0, names)
      }
    case .libraryForked(let fork):
      return part.entry(&writer, "The library was forked from the one at '\(fork.origin)'.") {
        $0.field("identifier", fork.identifier.uuidString)
        $0.field("date", fork.date)
        $0.field("origin", fork.origin)
      }
    case .clientRegistered(let row), .clientErased(let row):
      return part.entry(&writer, "The client '\(row.name)' was registered.") {
        $0.field("client", row.name)
        $0.field("date", row.registeredDate)
      }
    case .clientEdited(let edited):
      return part.entry(
        &writer, edited.sentence(names), calling: [edited.followedAlbum?.new].compactMap(\.self)
      ) { edited.write(to: &$0, names) }
    case .pickRecorded(let row), .pickErased(let row):
      return part.entry(&writer, row.sentence(names)) { row.write(to: &$0, names) }
    case .historyShortened(let kept):
      return part.entry(&writer, "The available history starts with commit \(kept.new).") {
        $0.change("firstCommit", kept) { $0.integer(Int64(clamping: $1)) }
      }
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

  /// Reads what ``RecordWriter/change(_:_:_:)`` writes of each property.
  fileprivate static func written(by body: (inout LogValueWriter) -> Void) -> [PropertyValues] {
    LogValue.fields(writtenBy: body).compactMap { field in
      guard case .object(let values) = field.value, values.count == 2 else { return nil }
      return PropertyValues(field.name, values[0].value, values[1].value)
    }
  }
}

extension RecordWriter where Self: ~Copyable {
  /// Writes a property before and after an event.
  fileprivate mutating func change<Value>(
    _ name: StaticString, _ values: Replacement<Value>, _ write: (inout Self, Value) -> Void
  ) {
    key(name)
    self.write(values, write)
  }

  /// The same of a name that is not in the source.
  @_disfavoredOverload
  fileprivate mutating func change<Value>(
    _ name: String, _ values: Replacement<Value>, _ write: (inout Self, Value) -> Void
  ) {
    key(name)
    self.write(values, write)
  }

  private mutating func write<Value>(_ values: Replacement<Value>, _ write: (inout Self, Value) -> Void) {
    beginObject()
    key("old")
    write(&self, values.old)
    key("new")
    write(&self, values.new)
    endObject()
  }
}

extension AccessLevel {
  fileprivate var key: StaticString {
    switch self {
    case .addOnly: "addOnly"
    case .readWrite: "readWrite"
    }
  }

  fileprivate var usageDescriptionKey: StaticString {
    switch self {
    case .addOnly: "addOnlyUsageDescription"
    case .readWrite: "readWriteUsageDescription"
    }
  }
}

private func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }

/// Objects if a sentence calls each by its name; none if it gives their number.
private func fewEnough(_ numbers: [ObjectNumber]) -> [ObjectNumber] { numbers.count <= 3 ? numbers : [] }

/// A few objects by what they are called, many by their number.
private func listed(_ numbers: [ObjectNumber], _ noun: String, _ names: EventNames) -> String {
  guard numbers.isEmpty || !fewEnough(numbers).isEmpty else { return counted(numbers.count, noun) }
  let labels = numbers.map { names[$0]?.label ?? "an \(noun)" }
  guard labels.count > 1, let last = labels.last else { return labels.first ?? counted(0, noun) }
  return labels.dropLast().joined(separator: ", ") + " and " + last
}

extension AssetExistence {
  /// What a sentence says of an added asset, after its name.
  static let wasAdded: StaticString = " was added."

  fileprivate var title: String {
    details.resources.first.map { "'\($0.originalFilename)'" } ?? (row.isErased ? "An erased asset" : "An asset")
  }

  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    write(to: &writer, names) { row.writeFields(to: &$0) }
  }

  /// - Parameter writeRow: writes the fields of the row.
  func write<Writer: RecordWriter & ~Copyable>(
    to writer: inout Writer, _ names: EventNames, _ writeRow: (inout Writer) -> Void
  ) {
    writer.field("asset") { $0.object(row.number, names) }
    if row.isErased { writer.field("isErased") { $0.bool(true) } }
    writeRow(&writer)
    details.write(to: &writer, leavingOutUnsaid: true)
    guard !places.isEmpty else { return }
    writer.field("containers") { $0.list(places) { $0.object($1.container, names) } }
  }

  /// Every property that has a value.
  var values: [LogValue.Field] {
    LogValue.fields {
      row.writeFields(to: &$0)
      details.write(to: &$0, leavingOutUnsaid: true)
    }
  }
}

extension AssetRow {
  /// Writes every field that has a value; of an erased asset those that the erasure keeps, since the others of the row
  /// are not what it had.
  fileprivate func writeFields(to writer: inout some RecordWriter & ~Copyable) {
    for field in AssetField.allCases where !isErased || field.isKeptByErasure {
      write(field, field.key, field.form, to: &writer)
    }
    writer.field("addedDate", addedDate)
  }

  /// Writes a field, unless it has no value.
  func write<Writer: RecordWriter & ~Copyable>(
    _ field: AssetField, _ key: StaticString, _ form: AssetProperty.Form, to writer: inout Writer
  ) {
    // What most rows have, and most lack, is written without a value between.
    switch form {
    case .flag(let flag): if flags.contains(flag) { writer.field(key) { $0.bool(true) } }
    case .clearFlag(let flag): if !flags.contains(flag) { writer.field(key) { $0.bool(true) } }
    case .size(let place): writer.field(key) { $0.integer(Int64(word(place))) }
    case .seconds(let place): writer.field(key) { $0.double(seconds(place)) }
    case .date(let place, .wallTime): if let date = date(place) { writer.field(key) { $0.write(wallTime: date) } }
    case .date(let place, _): if let date = date(place) { writer.field(key, date) }
    default:
      let value = self[field]
      if case .null = value { return }
      writer.key(key)
      writer.write(value, of: field)
    }
  }
}

extension AssetDetails {
  /// The same names in the same order for every asset.
  package var fields: [LogValue.Field] { LogValue.fields { write(to: &$0, leavingOutUnsaid: false) } }

  /// - Parameter isShort: whether what has no value is left out.
  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, leavingOutUnsaid isShort: Bool) {
    if !isShort || !resources.isEmpty {
      writer.field("resources") { $0.list(resources) { $1.write(to: &$0) } }
    }
    if !isShort || caption != nil { writer.field("caption", caption) }
    if !isShort || !keywords.isEmpty { writer.field("keywords") { $0.list(keywords) { $0.text($1) } } }
    if !isShort || adjustment != nil {
      writer.field("adjustmentFormatIdentifier", adjustment?.formatIdentifier)
      writer.field("adjustmentFormatVersion", adjustment?.formatVersion)
    }
    if !isShort || origin != nil { writer.field("origin", origin) }
    if let metadata {
      writer.field("fileMetadata") { $0.write(metadata) }
    } else if !isShort {
      writer.field("fileMetadata") { $0.null() }
    }
  }
}

extension AssetErased {
  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    writer.field("assets") { $0.list(numbers) { $0.object($1, names) } }
    writer.field("events") { $0.list(redactions) { $0.integer(Int64(clamping: $1.sequence)) } }
  }
}

/// What a file is described by, as values of their own or as places in the bytes of a record.
private protocol DescribedFile {
  associatedtype Text
  associatedtype Digest
  var type: ResourceType { get }
  var originalFilename: Text { get }
  var uniformTypeIdentifier: Text { get }
  var dataSize: UInt64 { get }
  var sha256: Digest { get }
  var sha1: Digest? { get }
  /// Where it lies, unless in the library.
  var path: Text? { get }
  var contentIdentifier: Text? { get }
}

extension DescribedFile {
  /// - Parameters:
  ///   - text: writes a text.
  ///   - digest: writes a hash.
  @inline(__always)
  fileprivate func write<Writer: RecordWriter & ~Copyable>(
    to writer: inout Writer, _ text: (Text, inout Writer) -> Void, _ digest: (Digest, inout Writer) -> Void
  ) {
    writer.beginObject()
    writer.field("type", type.name)
    writer.field("originalFilename") { text(originalFilename, &$0) }
    writer.field("uniformTypeIdentifier") { text(uniformTypeIdentifier, &$0) }
    writer.field("dataSize") { $0.integer(Int64(clamping: dataSize)) }
    writer.field("sha256") { digest(sha256, &$0) }
    if let sha1 { writer.field("sha1") { digest(sha1, &$0) } }
    if let path { writer.field("path") { text(path, &$0) } }
    if let contentIdentifier { writer.field("contentIdentifier") { text(contentIdentifier, &$0) } }
    writer.endObject()
  }
}

extension AssetResource: DescribedFile {
  fileprivate var path: String? {
    guard case .referenced(let path) = storage else { return nil }
    return path
  }

  fileprivate func write(to writer: inout some RecordWriter & ~Copyable) {
    write(to: &writer) {
      $1.text($0)
    } _: {
      $1.hexadecimalDigits(of: $0)
    }
  }
}

extension RecordedFile: DescribedFile {
  /// - Parameter payload: the bytes that it was read from.
  fileprivate func write(to bytes: inout JSONBytes, _ payload: RawSpan) {
    write(to: &bytes) { place, bytes in
      bytes.text(utf8: payload.extracting(place))
    } _: { place, bytes in
      payload.extracting(place).withUnsafeBytes { bytes.hexadecimalText($0) }
    }
  }
}

extension LentCreation {
  /// Writes what the sentence of the event says.
  func writeSentence(to bytes: inout JSONBytes, _ payload: RawSpan) {
    bytes.quoted { bytes in
      bytes.raw("'")
      payload.extracting(files[0].originalFilename).withUnsafeBytes { bytes.escaped($0, .shown) }
      bytes.raw("'")
      bytes.raw(AssetExistence.wasAdded)
    }
  }

  /// Writes the fields of the event into an object that was begun.
  /// - Parameters:
  ///   - payload: the bytes that it was read from.
  ///   - writeRow: writes the fields of the row.
  func writeFields(to bytes: inout JSONBytes, _ payload: RawSpan, _ writeRow: (inout JSONBytes) -> Void) {
    bytes.field("asset") { $0.identifier(row.identifier, of: .asset) }
    writeRow(&bytes)
    bytes.field("resources") { bytes in
      bytes.beginList()
      for file in files { file.write(to: &bytes, payload) }
      bytes.endList()
    }
  }
}

extension AssetsEdited {
  fileprivate func sentence(_ names: EventNames) -> String {
    let assets = listed(edits.map(\.number), "asset", names)
    switch verb {
    case .trashed: return "Moved to the trash: \(assets)."
    case .restored: return "Restored from the trash: \(assets)."
    case .edited:
      let fields = Set(edits.flatMap { $0.changes.map(\.field) }).subtracting([.modificationDate])
      let added = edits.reduce(0) { $0 + $1.newResources.count }
      let properties = fields.sorted { $0.rawValue < $1.rawValue }.map(\.name)
      var details = distinct(edits.flatMap { $0.changedDetails.map(\.name) })
      if added > 0 { details.removeAll { $0 == "resources" } }
      let parts = properties + details + (added > 0 ? [counted(added, "new resource")] : [])
      // An erasure leaves no word of what was edited.
      return parts.isEmpty ? "Edited: \(assets)." : "Edited: \(assets) (\(parts.joined(separator: ", ")))."
    }
  }

  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    writer.field("assets") { writer in
      writer.list(edits) { writer, edit in
        writer.beginObject()
        writer.field("asset") { $0.object(edit.number, names) }
        edit.writeValues(to: &writer)
        writer.endObject()
      }
    }
    guard !shifts.isEmpty else { return }
    writer.field("assetCounts") { writer in
      writer.list(shifts) { writer, shift in
        writer.beginObject()
        writer.field("album") { $0.object(shift.album, names) }
        writer.field("by") { $0.integer(Int64(shift.by)) }
        writer.endObject()
      }
    }
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
  fileprivate func sentence(_ names: EventNames) -> String {
    let name = names.spelling(number)
    if let requested { return "'\(name)' requested access (\(requested))." }
    // An undo may change a permission and what the selection follows in one event.
    var parts = statuses.sorted { $0.key.rawValue < $1.key.rawValue }.map { level, status in
      "'\(name)' may \(level == .addOnly ? "add" : "read and change"): \(status.new), was \(status.old)."
    }
    if let followedAlbum {
      let album = followedAlbum.new.map { " follows \(names[$0]?.label ?? "an album")." }
      parts.append("The selection of '\(name)'\(album ?? " no longer follows an album.")")
    }
    return parts.isEmpty ? "'\(name)' updated its registration." : parts.joined(separator: " ")
  }

  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    writer.field("client") { $0.object(number, names) }
    if let requested { writer.field("requested", "\(requested)") }
    for level in AccessLevel.allCases {
      if let status = statuses[level] { writer.change(level.key, status) { $0.text("\($1)") } }
      if let words = usageDescriptions[level] { writer.change(level.usageDescriptionKey, words) { $0.text($1) } }
    }
    if let prevents = preventsLimitedAlert {
      writer.change("preventsAutomaticLimitedAccessAlert", prevents) { $0.bool($1) }
    }
    if let followedAlbum {
      writer.change("followedAlbum", followedAlbum) { writer, album in
        if let album { writer.object(album, names) } else { writer.null() }
      }
    }
  }
}

extension PickRow {
  fileprivate func sentence(_ names: EventNames) -> String {
    "'\(names.spelling(client))' received picked assets"
      + (withheld.isEmpty ? "." : ", without \(withheld.words).")
  }

  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    writer.field("client") { $0.object(client, names) }
    if !withheld.isEmpty { writer.field("withheld") { $0.list(withheld.names) { $0.text($1) } } }
  }
}

extension CollectionRow {
  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    writer.field("collection") { $0.object(number, names) }
    for property in CollectionProperty.logged {
      let value = property.value(of: self) { names.spelling($0) }
      if value != .null || property.places.isLoggedAsNull { writer.field(property.name) { $0.write(value) } }
    }
  }
}

extension CollectionEdited {
  var values: [PropertyValues] { changes.map { PropertyValues($0.name.description, $0.values.old, $0.values.new) } }

  fileprivate func sentence(_ names: EventNames) -> String {
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

  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    writer.field("collection") { $0.object(number, names) }
    for change in logged { writer.change(change.name, change.values) { $0.write($1) } }
  }
}

extension AssetEdit {
  /// What the row does not hold, where it differs.
  fileprivate var changedDetails: [PropertyValues] {
    guard let details else { return [] }
    return zip(details.old.fields, details.new.fields).compactMap { old, new in
      old == new ? nil : PropertyValues(old.name, old.value, new.value)
    }
  }

  var values: [PropertyValues] { PropertyValues.written { writeValues(to: &$0) } }

  fileprivate func writeValues(to writer: inout some RecordWriter & ~Copyable) {
    for change in changes {
      writer.change(change.field.key, Replacement(old: change.old, new: change.new)) { $0.write($1, of: change.field) }
    }
    for detail in changedDetails {
      writer.change(detail.name, Replacement(old: detail.old, new: detail.new)) { $0.write($1) }
    }
  }
}

extension Arranged {
  fileprivate func sentence(_ names: EventNames) -> String {
    let members = listed(places.map(\.child), "member", names)
    let home = names[container]?.label ?? "a collection"
    return switch verb {
    case .inserted: "Added to \(home): \(members)."
    case .removed: "Removed from \(home): \(members)."
    case .moved: "Moved within \(home): \(members)."
    case .replaced: "Replaced in \(home): \(members)."
    case .rekeyed: "New order keys in \(home), in the same order: \(members)."
    case .granted: "Granted to \(home): \(listed(places.map(\.child), "asset", names))."
    case .withdrawn: "Withdrawn from \(home): \(listed(places.map(\.child), "asset", names))."
    case .picked: "Picked in \(home): \(listed(places.map(\.child), "asset", names))."
    }
  }

  fileprivate func write(to writer: inout some RecordWriter & ~Copyable, _ names: EventNames) {
    writer.field("container") { $0.object(container, names) }
    writer.field("members") { writer in
      writer.list(places) { writer, place in
        writer.beginObject()
        writer.field("member") { $0.object(place.child, names) }
        writer.change("orderKey", Replacement(old: place.old, new: place.new)) { writer, key in
          if let key { writer.text(String(key.rawValue, radix: 16)) } else { writer.null() }
        }
        writer.endObject()
      }
    }
    writer.field("assetCountBy") { $0.integer(Int64(countShift)) }
    if let modificationDate { writer.change("modificationDate", modificationDate) { $0.date($1) } }
  }
}
