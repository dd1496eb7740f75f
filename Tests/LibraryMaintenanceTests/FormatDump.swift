import EventLog
import Foundation
import LMDB
import PhotoLedger

// A store as text: every database, every key and value in hexadecimal digits, and below each what it means.
//
//     [assets]
//     0000000000000002 = 9f3a…
//       asset 2 …

/// Reads a store into the lines of a dump.
enum FormatDump {
  /// Opens the LMDB environment of a store as the library does; while that is open, it is the same one.
  static func environment(_ path: String) throws -> LMDB.Environment {
    var options = LMDB.Environment.Options()
    options.maxDatabases = Projections.databasesMax
    return try LMDB.Environment.open(path: path, options: options)
  }

  /// The names of all databases, the log's first.
  static let names =
    ["store.meta", "log.meta", "events", "commits", "keys"] + Projections.names + [RedactionTable.name]

  /// The lines of one database.
  static func lines(of name: String, in environment: LMDB.Environment) throws -> [String] {
    let database = try environment.database(name, integerKeys: numbered.contains(name))
    var lines = ["[\(name)]"]
    try environment.read { t in
      try t.forEach(in: database) { key, value in
        let key = key.withUnsafeBytes { [UInt8]($0) }
        let value = value.withUnsafeBytes { [UInt8]($0) }
        lines.append(value.isEmpty ? "\(hex(key)) =" : "\(hex(key)) = \(hex(value))")
        lines += try reading(name, key, value).map { "  \($0)" }
        return .proceed
      }
    }
    return lines
  }

  /// The whole store.
  static func text(of environment: LMDB.Environment) throws -> String {
    try names.map { try lines(of: $0, in: environment).joined(separator: "\n") + "\n" }.joined(separator: "\n")
  }

  /// The databases whose keys are numbers.
  private static let numbered: Set = [
    "events", "commits", "assets", "details", "collections", "clients", "picks", RedactionTable.name,
  ]

  /// Puts the entries of a dump into a store.
  static func restore(_ dump: String, into environment: LMDB.Environment) throws {
    for section in dump.split(separator: "\n\n") {
      let lines = section.split(separator: "\n")
      let name = String(lines[0].dropFirst().dropLast())
      let database = try environment.database(name, integerKeys: numbered.contains(name))
      try environment.write { t in
        for line in lines.dropFirst() where !line.hasPrefix("  ") {
          let entry = line.split(separator: " ")
          guard entry.count >= 2, entry[1] == "=", let key = bytes(hex: entry[0]),
            let value = bytes(hex: entry.count > 2 ? entry[2] : "")
          else { throw DumpError(what: "'\(line.prefix(80))' is no entry") }
          try t.put(key, value, in: database)
        }
      }
    }
  }

  // MARK: What entries mean

  private static func reading(_ name: String, _ key: [UInt8], _ value: [UInt8]) throws -> [String] {
    switch name {
    case "store.meta": ["\(String(decoding: key, as: UTF8.self)) is \(bigEndian(value, 0))"]
    case "log.meta": ["\(String(decoding: key, as: UTF8.self)) is \(try diagnostic(value))"]
    case "events": try readingOfEvent(value)
    case "commits": ["commit \(littleEndian(key)): \(try diagnostic(value))"]
    case "keys":
      [
        key.dropFirst().split(separator: 0).map { "'\(String(decoding: $0, as: UTF8.self))'" }
          .joined(separator: "'s key ") + " is commit \(try diagnostic(value))"
      ]
    case "assets": try readingOfAsset(key, value)
    case RedactionTable.name:
      [
        "event \(littleEndian(key)): event \(bigEndian(value, 0)) brought "
          + "\(try diagnostic(Array(value.dropFirst(12)))), version \(bigEndian(value, 4) & 0xFFFF_FFFF)"
      ]
    case "details", "collections", "clients", "picks": ["object \(littleEndian(key)): \(try diagnostic(value))"]
    default: [readingOfIndex(name, key, value)]
    }
  }

  private static func readingOfEvent(_ value: [UInt8]) throws -> [String] {
    guard case .array(let parts) = try CBOR(decoding: value.span.bytes), parts.count == 6 else {
      throw DumpError(what: "an event is no array of 6")
    }
    var lines = ["header     \(parts[0])", "commitment \(parts[1])", "salt       \(parts[2])"]
    if case .bytes(let payload) = parts[3] {
      lines += ["payload    h'\(hex(payload))'", "reads      \(try diagnostic(payload))"]
    } else {
      lines.append("payload    \(parts[3])")
    }
    return lines + ["leaf       \(parts[4])", "chain      \(parts[5])"]
  }

  private static func readingOfAsset(_ key: [UInt8], _ value: [UInt8]) throws -> [String] {
    let row = try AssetRow(number: littleEndian(key), bytes: value.span.bytes)
    // Frozen dumps are older than stacks.
    let fields = AssetField.allCases.filter { $0 != .stack || row.stack != nil }.map { "\($0) \(row[$0])" }
    return [
      "asset \(row.number) is \(row.identifier.spelled(as: .asset)), \(row.mediaType), "
        + "added \(row.addedDate.timeIntervalSinceReferenceDate)"
        + (row.burstIdentifier.map { ", burst '\($0)'" } ?? ""),
      fields.joined(separator: ", "),
    ]
  }

  private static func readingOfIndex(_ name: String, _ key: [UInt8], _ value: [UInt8]) -> String {
    switch name {
    case "identifiers":
      "\(LocalIdentifier(high: bigEndian(key, 0), low: bigEndian(key, 8)).uuidString) is "
        + "\(ObjectKind(rawValue: value[0]).map { "\($0)" } ?? "unknown") \(bigEndian(value, 1))"
    case "members": "in \(bigEndian(key, 0)) at \(hex(Array(key[8...]))): \(bigEndian(value, 0))"
    case "containers": "\(bigEndian(key, 0)) in \(bigEndian(key, 8)) at \(hex(value))"
    case "clientNames": "'\(String(decoding: key, as: UTF8.self))' is client \(bigEndian(value, 0))"
    case "sightings":
      "sighting \(bigEndian(key, 8)) of client \(bigEndian(key, 0)) is commit \(bigEndian(value, 0))"
    case "settings": "\(String(decoding: key, as: UTF8.self)) is \(bigEndian(value, 0))"
    case "departed":
      "\(LocalIdentifier(high: bigEndian(key, 0), low: bigEndian(key, 8)).uuidString) was asset \(bigEndian(key, 16))"
    case "words":
      "'\(String(decoding: key.dropLast(9), as: UTF8.self))' is a word of asset \(bigEndian(key, key.count - 8))"
    case "aside": "event \(bigEndian(key, 0)): \(String(decoding: value, as: UTF8.self))"
    case "content", "pairing", "bursts", "origins": "\(hex(Array(key[..<4])))… is in asset \(bigEndian(key, 32))"
    case "formerContent": "\(hex(Array(key[..<4])))… was in asset \(bigEndian(key, 32))"
    case "formerFiles": "asset \(bigEndian(key, 0)) had \(hex(Array(key[8..<12])))…"
    case _ where name.hasPrefix("order."): "asset \(bigEndian(key, 8)) at \(hex(Array(key[..<8])))"
    default: "object \(bigEndian(key, 0)) was touched by event \(bigEndian(key, 8))"
    }
  }

  private static func diagnostic(_ bytes: [UInt8]) throws -> String { try CBOR(decoding: bytes.span.bytes).description }

  // MARK: Numbers

  static func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

  static func bytes(hex: some StringProtocol) -> [UInt8]? {
    let digits = Array(hex.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func bigEndian(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    bytes[offset..<(offset + 8)].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func littleEndian(_ bytes: [UInt8]) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A store that is not what the dump expects.
struct DumpError: Error {
  var what: String
}
