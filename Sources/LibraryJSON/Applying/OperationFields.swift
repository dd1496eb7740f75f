import JSONReading
import PhotoLedger

/// The fields of one JSON object, read one by one; each wrong one is an error that names it.
///
/// Invariant: every field that was not asked for is an error too (`finish`), so a misspelt field is never passed over.
struct OperationFields {
  /// What the fields belong to, for sentences: `changes[2] (album.insert)`, or the command `album insert`.
  let place: String
  /// Where the bytes of resources may come from.
  let sources: ByteSources
  private let members: [String: JSON]
  private(set) var asked: [String] = []

  init(_ object: [JSON.Member], place: String, sources: ByteSources = .local) {
    members = Dictionary(object.map { ($0.key, $0.value) }) { first, _ in first }
    (self.place, self.sources) = (place, sources)
  }

  /// A request that does not follow the schema.
  func malformed(_ what: String) -> LibraryError { LibraryError(.malformedRequest, "\(place): \(what)") }

  private func wrong(_ name: String, _ wanted: String, _ found: JSON) -> LibraryError {
    let shown = found.description
    let excerpt = shown.count <= 60 ? shown : String(shown.prefix(60)) + "…"
    return malformed("'\(name)' must be \(wanted), not \(excerpt).")
  }

  /// The value of a field, whatever it is; nil if it is not given.
  mutating func take(_ name: String) -> JSON? {
    if !asked.contains(name) { asked.append(name) }
    return members[name]
  }

  /// Whether a field is given; this is not asking for it.
  func has(_ name: String) -> Bool { members[name] != nil }

  /// Reads a field with a function that gives nil for what it cannot take.
  mutating func optional<Value>(_ name: String, _ wanted: String, _ read: (JSON) -> Value?) throws -> Value? {
    guard let json = take(name) else { return nil }
    guard let value = read(json) else { throw wrong(name, wanted, json) }
    return value
  }

  mutating func required<Value>(_ name: String, _ wanted: String, _ read: (JSON) -> Value?) throws -> Value {
    guard let value = try optional(name, wanted, read) else {
      throw malformed("'\(name)' is missing; it must be \(wanted).")
    }
    return value
  }

  /// Reads a field that null empties.
  mutating func assignment<Value: Sendable>(
    _ name: String, _ wanted: String, _ read: (JSON) -> Value?
  ) throws -> AssetChanges.Assignment<Value>? {
    try optional(name, wanted + ", or null") { json in
      json == .null ? .clear : read(json).map { .set($0) }
    }
  }

  /// Reads a field that names a case of an enumeration.
  mutating func choice<Value: CaseIterable>(_ name: String) throws -> Value? {
    let names = Value.allCases.map { "\($0)" }
    return try optional(name, names.joined(separator: ", ")) { json in
      Value.allCases.first { .text("\($0)") == json }
    }
  }

  /// Checks that every field was asked for.
  func finish() throws {
    let known = Set(asked)
    guard let stranger = members.keys.filter({ !known.contains($0) }).min() else { return }
    throw malformed(
      "'\(stranger)' is not a field of it; the fields are \(asked.joined(separator: ", ")).")
  }
}

/// What a value must be, and how it is read.
extension JSON {
  var locationValue: Location? {
    guard let members = objectValue, Set(members.map(\.key)).isSubset(of: ["latitude", "longitude", "altitude"]),
      let latitude = self["latitude"]?.numberValue, let longitude = self["longitude"]?.numberValue
    else { return nil }
    guard let altitude = self["altitude"], altitude != .null else {
      return Location(latitude: latitude, longitude: longitude)
    }
    return altitude.numberValue.map { Location(latitude: latitude, longitude: longitude, altitude: $0) }
  }
}
