#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  extension Call {
    /// Rejects a body that another site's form could have sent.
    func checkJSON() throws(Problem) {
      guard request.contentType == "application/json" else {
        throw Problem(415, "malformed-request", "The body must be JSON; send it with Content-Type: application/json.")
      }
    }
  }

  extension JSON {
    /// Checks that an object has no other keys.
    func checkKeys(_ keys: Set<String>) throws(Problem) {
      guard let members = objectValue else { throw .malformed("The body must be an object, not \(kind).") }
      for member in members where !keys.contains(member.key) {
        throw .malformed(
          "The body has no '\(member.key.prefix(40))' here; it has \(keys.sorted().joined(separator: ", ")).")
      }
    }

    private func value<Value>(
      _ key: String, _ what: String, _ read: (JSON) -> Value?
    ) throws(Problem) -> Value? {
      guard let found = self[key], found != .null else { return nil }
      guard let value = read(found) else { throw .malformed("'\(key)' is not \(what).") }
      return value
    }

    /// Text without control characters.
    func text(_ key: String, atMost limit: Int) throws(Problem) -> String? {
      try value(key, "text of 1 to \(limit) bytes without control characters") { json in
        guard let text = json.textValue, (1...limit).contains(text.utf8.count) || text.isEmpty,
          !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return text
      }
    }

    func texts(_ key: String) throws(Problem) -> [String]? { try value(key, "a list of texts", \.textsValue) }

    func flag(_ key: String) throws(Problem) -> Bool { try value(key, "true or false", \.boolValue) ?? false }

    func whole(_ key: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
      try value(key, "a whole number from \(range.lowerBound) to \(range.upperBound)") { json in
        json.wholeValue.flatMap { range.contains($0) ? $0 : nil }
      }
    }

    /// The name of a client of the library, which must be there.
    func clientName(_ key: String) throws(Problem) -> String {
      guard let name = self[key]?.textValue, (1...256).contains(name.utf8.count),
        !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
      else { throw .malformed("The body needs '\(key)', a name of 1 to 256 bytes without control characters.") }
      return name
    }

    /// The most values of a large body: four times as many as a download names assets.
    static let valueLimit = 400_000

    /// The most assets of a body, and the largest body that names so many by their longest spelling.
    static let assetLimit = 10_000
    static let assetsByteLimit = 1 << 20

    /// Assets of the library; none if the key is not there.
    func assets(_ key: String, in library: PhotoLibrary) throws -> [LocalIdentifier] {
      let texts = try self.texts(key) ?? []
      guard texts.count <= Self.assetLimit else {
        throw Problem.malformed("'\(key)' has more than 10,000 assets; pass fewer.")
      }
      return try texts.map { text in
        guard let asset = try library.asset(text) else {
          throw Problem(404, "not-found", "There is no asset '\(text.prefix(80))'.")
        }
        return asset.id
      }
    }

    /// The level of access that a body names.
    func level() throws(Problem) -> AccessLevel {
      guard let level = AccessLevel.allCases.first(where: { "\($0)" == self["level"]?.textValue }) else {
        throw .malformed("The body needs 'level': readWrite or addOnly.")
      }
      return level
    }
  }
#endif
