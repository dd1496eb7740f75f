import EventLog
package import Foundation

// An edit of a collection. It has each property by its type; the payload's bytes, the inverse, what the edit does to a
// row, its words, its undo and what the collection's creator sees of it follow from the entries of
// CollectionProperties.swift. Those hold closures: edits of collections are rare.

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
    cover != nil && !CollectionProperty.edited.contains { $0.log.seen != .byOthers && $0.log.isChanged(self) }
  }

  /// What the log says that was changed, in the order of the payload.
  package var logged: [(name: StaticString, values: Replacement<LogValue>)] { values { _ in true } }

  /// The same without what the creator alone sees.
  package var changes: [(name: StaticString, values: Replacement<LogValue>)] { values { $0.seen != .byCreator } }

  private func values(
    _ isWanted: (EditedProperty) -> Bool
  ) -> [(name: StaticString, values: Replacement<LogValue>)] {
    CollectionProperty.edited.compactMap { one in
      guard isWanted(one.log), let values = one.log.values(self) else { return nil }
      return (name: one.name, values: values)
    }
  }

  var inverse: CollectionEdited {
    var inverse = self
    for property in CollectionProperty.edited { property.log.revert(self, nil, &inverse) }
    return inverse
  }
}

/// How edits hold a property of collections.
struct EditedProperty: Sendable {
  /// Who sees the change of a collection whose creator is limited to its selection.
  enum Audience: Sendable {
    case byAll
    /// All but the creator, which has a property of its own for it.
    case byOthers
    /// The creator alone.
    case byCreator
  }

  /// The field of the payload; never used again for anything else.
  let number: UInt64
  /// What becomes of it when commits are undone; nil where UndoPlan+Collections.swift has a rule for it.
  let undoing: AssetProperty.Undoing?
  let seen: Audience
  let isChanged: @Sendable (CollectionEdited) -> Bool
  let write: @Sendable (CollectionEdited, inout FieldWriter) -> Void
  let read: @Sendable (inout CBORReader, inout CollectionEdited) throws -> Void
  /// False where the row does not hold the value that the edit replaced.
  let apply: @Sendable (CollectionEdited, inout CollectionRow) -> Bool
  /// Has another edit take the change back, from the value that a row has now; without a row, from the new one.
  let revert: @Sendable (CollectionEdited, CollectionRow?, inout CollectionEdited) -> Void
  /// Takes the change into an edit that composes those before it.
  let note: @Sendable (CollectionEdited, inout CollectionEdited) -> Void
  /// The change as the log has it; nil where there is none, and for what the log does not name.
  let values: @Sendable (CollectionEdited) -> Replacement<LogValue>?

  init<Value>(
    _ number: UInt64, _ change: any WritableKeyPath<CollectionEdited, Replacement<Value>?> & Sendable,
    of value: any WritableKeyPath<CollectionRow, Value> & Sendable,
    _ write: @escaping @Sendable (inout CBORWriter, Value) -> Void,
    _ read: @escaping @Sendable (inout CBORReader) throws -> Value,
    _ logged: (@Sendable (Value) -> LogValue)? = nil, undo undoing: AssetProperty.Undoing? = nil,
    seen: Audience = .byAll
  ) {
    (self.number, self.undoing, self.seen) = (number, undoing, seen)
    isChanged = { $0[keyPath: change] != nil }
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
