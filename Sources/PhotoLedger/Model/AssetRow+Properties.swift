import EventLog
import Foundation

// The properties of a row by their declarations: as values of the log, and in the map that a creation logs.

extension AssetRow {
  /// The value of a field, as an event holds it.
  package subscript(field: AssetField) -> FieldValue {
    switch field.form {
    case .flag(let flag): return .bool(flags.contains(flag))
    case .clearFlag(let flag): return .bool(!flags.contains(flag))
    case .choice(let place, _): return .integer(Int64(byte(place)))
    case .bits(let place, let names): return .integer(Int64(bits(at: place, names)))
    case .size(let place): return .integer(Int64(word(place)))
    case .seconds(let place): return .double(seconds(place))
    case .zoneOffset: return timeZoneOffset.map { .integer(Int64($0)) } ?? .null
    case .date(let place, _):
      let seconds = seconds(place)
      return seconds.isNaN ? .null : .double(seconds)
    case .location: return location.map { .place($0) } ?? .null
    case .stack: return stack.map { .identifier($0) } ?? .null
    case .identifier, .flags, .isChosen, .isPresent, .coordinate, .burst, .isBeneathStack, .text, .texts, .measure,
      .record:
      preconditionFailure("An edit cannot hold the property \(field.name) of an asset.")
    }
  }

  /// Sets a field to a value that an event holds; false if the value is of the wrong kind or out of range.
  package mutating func set(_ field: AssetField, _ value: FieldValue) -> Bool {
    switch (field.form, value) {
    case (.flag(let flag), .bool(let on)): set(flag, on)
    case (.clearFlag(let flag), .bool(let on)): set(flag, !on)
    case (.choice(let place, let names), .integer(let number)):
      guard names.hold(number) else { return false }
      store(UInt8(number), place)
    case (.bits(let place, let names), .integer(let number)):
      guard let bits = UInt32(exactly: number), names.isWide || bits <= UInt8.max else { return false }
      store(bits, at: place, isWide: names.isWide)
    case (.size(let place), .integer(let number)):
      guard let pixels = UInt32(exactly: number) else { return false }
      store(pixels, place)
    case (.zoneOffset, .integer(let number)):
      guard let seconds = Int32(exactly: number), seconds != Layout.noOffset else { return false }
      timeZoneOffset = seconds
    case (.zoneOffset, .null): timeZoneOffset = nil
    case (.seconds(let place), .double(let seconds)), (.date(let place, _), .double(let seconds)):
      guard seconds.isFinite else { return false }
      store(seconds, place)
    case (.date(let place, _), .null): store(Double.nan, place)
    case (.location, .place(let place)): location = place
    case (.location, .null): location = nil
    case (.stack, .identifier(let top)):
      guard top.canNameStack else { return false }
      stack = top
    case (.stack, .null): stack = nil
    default: return false
    }
    return true
  }

  /// Sets what a request gives, which the types of its properties have checked.
  mutating func set(_ values: AssetValues) {
    for (field, value) in values.entries {
      precondition(set(field, value), "A request gives \(value) for the property \(field.name) of an asset.")
    }
  }

  private mutating func set(_ flag: Flags, _ on: Bool) {
    if on { flags.insert(flag) } else { flags.remove(flag) }
  }

  /// A set of bits at a place.
  package func bits(at place: Int, _ names: BitNames) -> UInt32 { bits(at: place, isWide: names.isWide) }

  private func bits(at place: Int, isWide: Bool) -> UInt32 { isWide ? word(place) : UInt32(byte(place)) }

  private mutating func store(_ bits: UInt32, at place: Int, isWide: Bool) {
    if isWide { store(bits, place) } else { store(UInt8(truncatingIfNeeded: bits), place) }
  }
}

// MARK: - In the map that a creation logs

extension AssetRow {
  /// Writes a property, unless it is absent or has its default.
  func write(_ property: AssetProperty.InRow, to fields: inout FieldWriter) {
    let key = property.key
    switch property.coding {
    case .flags: if flags != [] { fields.unsigned(key, UInt64(flags.rawValue)) }
    case .choice(let place, _):
      let number = byte(place)
      if property.isRequired || number != 0 { fields.unsigned(key, UInt64(number)) }
    case .bits(let place, let isWide, let standard):
      let bits = bits(at: place, isWide: isWide)
      if bits != standard { fields.unsigned(key, UInt64(bits)) }
    case .size(let place):
      let pixels = word(place)
      if pixels != 0 { fields.unsigned(key, UInt64(pixels)) }
    case .seconds(let place):
      let seconds = seconds(place)
      if seconds != 0 { fields.double(key, seconds) }
    case .zoneOffset: if let timeZoneOffset { fields.integer(key, Int64(timeZoneOffset)) }
    case .date(let place):
      let seconds = seconds(place)
      if !seconds.isNaN { fields.double(key, seconds) }
    case .location: if let location { fields.value(key) { location.write(to: &$0) } }
    case .burst: if let burstIdentifier { fields.text(key, burstIdentifier) }
    case .stack: if let stack { fields.identifier(key, stack) }
    }
  }

  /// Reads a property.
  mutating func read(_ property: AssetProperty.InRow, _ reader: inout CBORReader) throws {
    switch property.coding {
    case .flags: flags = Flags(rawValue: try reader.number(UInt32.self))
    case .choice(let place, let known):
      let number = try reader.number(Int64.self)
      guard known.hold(number) else { throw EventCodingError(sentence: "an unknown \(property.noun).") }
      store(UInt8(number), place)
    case .bits(let place, let isWide, _):
      let bits = try isWide ? reader.number(UInt32.self) : UInt32(reader.number(UInt8.self))
      store(bits, at: place, isWide: isWide)
    case .size(let place): store(try reader.number(UInt32.self), place)
    case .seconds(let place):
      let seconds = try reader.double()
      guard seconds.isFinite else { throw EventCodingError(sentence: "a time is not a number.") }
      store(seconds, place)
    case .zoneOffset: timeZoneOffset = try reader.number(Int32.self)
    case .date(let place): store(try reader.date().timeIntervalSinceReferenceDate, place)
    case .location: location = try Location(reading: &reader)
    case .burst: burstIdentifier = try reader.text()
    case .stack:
      let top = try reader.identifier()
      guard top.canNameStack else { throw EventCodingError(sentence: "a stack without an identifier.") }
      stack = top
    }
  }
}
