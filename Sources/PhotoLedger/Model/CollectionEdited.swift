import EventLog
package import Foundation

// An edit of a collection. It has each property by its type; the payload's bytes, the inverse, what the edit does to a
// row, its words and its undo follow from the entries of CollectionProperties.swift. Those hold closures: edits of
// collections are rare. What the creator of a collection sees of an edit is said here by hand.

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
  package var isForCreatorAlone: Bool { creatorCover != nil && changes.isEmpty }

  /// Whether the creator, while it is limited to its selection, sees nothing of the edit.
  package var isHiddenFromCreator: Bool {
    cover != nil && title == nil && deletedDate == nil && creatorDate == nil && creatorCover == nil
  }

  /// What the log says that was changed, in the order of the payload; nothing that the creator alone sees.
  package var changes: [(name: StaticString, values: Replacement<LogValue>)] {
    CollectionProperty.edited.compactMap { one in one.log.values(self).map { (name: one.name, values: $0) } }
  }

  var inverse: CollectionEdited {
    var inverse = self
    for property in CollectionProperty.edited { property.log.revert(self, nil, &inverse) }
    return inverse
  }
}

/// How edits hold a property of collections.
struct EditedProperty: Sendable {
  /// The field of the payload; never used again for anything else.
  let number: UInt64
  /// What becomes of it when commits are undone; nil where UndoPlan+Collections.swift has a rule for it.
  let undoing: AssetProperty.Undoing?
  let write: @Sendable (CollectionEdited, inout FieldWriter) -> Void
  let read: @Sendable (inout CBORReader, inout CollectionEdited) throws -> Void
  /// False where the row does not hold the value that the edit replaced.
  let apply: @Sendable (CollectionEdited, inout CollectionRow) -> Bool
  /// Has another edit take the change back, from the value that a row has now; without a row, from the new one.
  let revert: @Sendable (CollectionEdited, CollectionRow?, inout CollectionEdited) -> Void
  /// Takes the change into an edit that composes those before it.
  let note: @Sendable (CollectionEdited, inout CollectionEdited) -> Void
  /// The change as the log has it; nil where there is none, and for what the creator alone sees.
  let values: @Sendable (CollectionEdited) -> Replacement<LogValue>?

  init<Value>(
    _ number: UInt64, _ change: any WritableKeyPath<CollectionEdited, Replacement<Value>?> & Sendable,
    of value: any WritableKeyPath<CollectionRow, Value> & Sendable,
    _ write: @escaping @Sendable (inout CBORWriter, Value) -> Void,
    _ read: @escaping @Sendable (inout CBORReader) throws -> Value,
    _ logged: (@Sendable (Value) -> LogValue)? = nil, undo undoing: AssetProperty.Undoing? = nil
  ) {
    (self.number, self.undoing) = (number, undoing)
    self.write = { edited, fields in if let pair = edited[keyPath: change] { fields.pair(number, pair, write) } }
    self.read = { reader, edited in edited[keyPath: change] = try reader.pair(read) }
    apply = { edited, row in
      guard let pair = edited[keyPath: change] else { return true }
      guard row[keyPath: value] == pair.old else { return false }
      row[keyPath: value] = pair.new
      return true
    }
    revert = { edited, row, reverted in
      guard let pair = edited[keyPath: change] else { return }
      reverted[keyPath: change] = Replacement(old: row.map { $0[keyPath: value] } ?? pair.new, new: pair.old)
    }
    note = { edited, earlier in
      // Titles that differ in normalisation alone are equal, and other titles.
      earlier[keyPath: change].note(edited[keyPath: change]) { Self.bytes($0, write) == Self.bytes($1, write) }
    }
    values = { edited in
      guard let logged, let pair = edited[keyPath: change] else { return nil }
      return Replacement(old: logged(pair.old), new: logged(pair.new))
    }
  }

  /// The bytes that are kept of a value.
  private static func bytes<Value>(_ value: Value, _ write: (inout CBORWriter, Value) -> Void) -> [UInt8] {
    var writer = CBORWriter()
    write(&writer, value)
    return writer.bytes
  }
}
