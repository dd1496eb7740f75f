package import EventLog
import Foundation

// A creation whose files are read where they lie in the log.
//
// Nine of ten lines of an exported log are creations of assets. Made by way of an `Event`, each takes a string or an
// array for every text and hash of its files, which are then copied once more into the line; that was more than half of
// what such a line took. Here the row is decoded, and of the files the places are noted:
//
//     payload   { 1: row ──▶ AssetRow      2: { 1: [ { 1: role, 2: name ──▶ place, 5: hash ──▶ place … } … ] } }
//
// Invariant: what is read here, `Event(type:version:sequence:payload:)` reads as well, and as the same, since both use
// the same readers of a row and of a file. Whatever has other parts or is invalid is left to it.

/// A creation that says no more than the row and the files, with places in the bytes of its payload.
package struct LentCreation: ~Copyable {
  /// What was known of the asset.
  package private(set) var row = AssetRow(
    number: 0, identifier: LocalIdentifier(high: 0, low: 0), addedDate: .distantPast)
  /// Its files; at least one.
  package private(set) var files: [RecordedFile] = []

  /// One that has read nothing.
  package init() {}

  /// Reads a record, in place of what was read before.
  /// - Returns: whether the record is such a creation; if not, what was read is of no use.
  package mutating func read(_ record: borrowing StoredEvent) -> Bool {
    guard record.isCreation, let payload = record.payload else { return false }
    return read(payload, of: record.sequence, version: record.version)
  }

  /// Reads a payload, in place of what was read before.
  /// - Parameters:
  ///   - payload: the payload of a creation.
  ///   - sequence: its place in the log.
  ///   - version: the version of the payload's format.
  /// - Returns: whether it says no more than the row and the files.
  mutating func read(_ payload: RawSpan, of sequence: UInt64, version: UInt32) -> Bool {
    files.removeAll(keepingCapacity: true)
    do {
      return try read(payload, of: sequence) && self.version == version
    } catch {
      // It has another form or is damaged: the strict reader says which.
      return false
    }
  }

  private mutating func read(_ payload: RawSpan, of sequence: UInt64) throws -> Bool {
    var reader = CBORReader(payload)
    guard try reader.map() == 2, try reader.unsigned() == 1 else { return false }
    row = try AssetRow(number: sequence, reading: &reader)
    guard try reader.unsigned() == 2, try reader.map() == 1, try reader.unsigned() == 1 else { return false }
    for _ in 0..<(try reader.array()) { files.append(try RecordedFile(reading: &reader)) }
    return reader.isAtEnd && !files.isEmpty && !row.isErased
  }

  /// The version of the payload.
  private var version: UInt32 {
    if row.stack != nil { return Event.stackedVersion }
    return files.contains { $0.sha1 != nil } ? Event.fingerprintedVersion : Event.version
  }
}

extension StoredEvent {
  /// Whether the event created an asset, by its type alone.
  var isCreation: Bool {
    let type: StaticString = "asset.created"
    return typeBytes.withUnsafeBytes {
      $0.elementsEqual(UnsafeRawBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount))
    }
  }
}
