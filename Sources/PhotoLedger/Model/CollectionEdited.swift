import EventLog
package import Foundation

// An edit of a collection. It has each property by its type; the payload's bytes, the inverse and what the edit does to
// a row follow from the entries of CollectionProperties.swift. Those hold closures: edits of collections are rare. What
// the creator of a collection sees of an edit is said here by hand.

/// An edit of one collection's own properties.
package struct CollectionEdited: Equatable, Sendable {
  package var number: ObjectNumber
  package var title: Replacement<String?>?
  package var modificationDate: Replacement<Date>?
  package var deletedDate: Replacement<Date?>?
  /// The modification date as the collection's creator sees it; nil where the owner made the collection.
  package var creatorDate: Replacement<Date>?
  /// The asset that was chosen as the cover; nil within for none. By identifier, as the row has it.
  package var cover: Replacement<LocalIdentifier?>?
  /// The cover as the collection's creator sees it; nil where nothing changed that it sees.
  package var creatorCover: Replacement<LocalIdentifier?>?

  package init(number: ObjectNumber) { self.number = number }

  /// Whether the edit names a cover.
  package var namesCover: Bool { cover != nil || creatorCover != nil }

  /// Whether only the creator, while it is limited to its selection, sees the edit.
  package var isForCreatorAlone: Bool {
    creatorCover != nil && title == nil && modificationDate == nil && deletedDate == nil && cover == nil
  }

  /// Whether the creator, while it is limited to its selection, sees nothing of the edit.
  package var isHiddenFromCreator: Bool {
    cover != nil && title == nil && deletedDate == nil && creatorDate == nil && creatorCover == nil
  }

  var inverse: CollectionEdited {
    var inverse = self
    for property in CollectionProperty.edited { property.log.invert(&inverse) }
    return inverse
  }
}

/// How edits hold a property of collections.
struct EditedProperty: Sendable {
  /// The field of the payload; never used again for anything else.
  let number: UInt64
  let write: @Sendable (CollectionEdited, inout FieldWriter) -> Void
  let read: @Sendable (inout CBORReader, inout CollectionEdited) throws -> Void
  let invert: @Sendable (inout CollectionEdited) -> Void
  /// False where the row does not hold the value that the edit replaced.
  let apply: @Sendable (CollectionEdited, inout CollectionRow) -> Bool

  init<Value>(
    _ number: UInt64, _ change: any WritableKeyPath<CollectionEdited, Replacement<Value>?> & Sendable,
    of value: any WritableKeyPath<CollectionRow, Value> & Sendable,
    _ write: @escaping @Sendable (inout CBORWriter, Value) -> Void,
    _ read: @escaping @Sendable (inout CBORReader) throws -> Value
  ) {
    self.number = number
    self.write = { edited, fields in if let pair = edited[keyPath: change] { fields.pair(number, pair, write) } }
    self.read = { reader, edited in edited[keyPath: change] = try reader.pair(read) }
    invert = { $0[keyPath: change] = $0[keyPath: change]?.inverse }
    apply = { edited, row in
      guard let pair = edited[keyPath: change] else { return true }
      guard row[keyPath: value] == pair.old else { return false }
      row[keyPath: value] = pair.new
      return true
    }
  }
}
