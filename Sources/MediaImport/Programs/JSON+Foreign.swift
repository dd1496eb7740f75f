import JSONReading

extension JSON {
  /// Reads what another program wrote; nil if it is not JSON.
  init?(foreign bytes: [UInt8]) {
    guard let value = try? JSONReader.read(bytes, .foreign) else { return nil }
    self = value
  }

  /// The value as texts: one for a scalar, in its spelling, one per scalar element for a list, none for an object.
  var texts: [String] {
    switch self {
    case .text(let text), .written(let text): [text]
    case .list(let elements): elements.flatMap(\.texts)
    case .object: []
    case .null, .bool, .integer, .number: [description]
    }
  }

  /// Whether a member is true; nil if there is none.
  func isTrue(_ name: String) -> Bool? { self[name].map { $0 == .written("true") || $0 == .text("true") } }
}
