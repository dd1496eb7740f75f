// Many edits of one asset as one.
//
// An event says what it replaced, so the edits of a stretch of the log compose without a row: of each property the
// first old value and the last new one remain. Taking the composed edit back from the row at the end gives the row at
// the beginning, by the same function that carries out every edit, and that function checks that the row holds what the
// last event says. Here it is checked that each event begins where the one before it ended.
//
//     e1  width 1→2            e2  width 2→3, date a→b            composed  width 1→3, date a→b
//
// What the ends cannot tell is whether a property was changed and changed back. So each value is remembered as it was
// before the commit as well, until the asset is known to look different.
//
// An asset that is purged may be brought back by an undo. Where it began follows from the row that the purge recorded,
// so the edits after that are not composed with those before.

/// The edits of a stretch of the log, composed by asset.
struct EditComposition {
  /// The edits of one asset.
  struct Entry {
    fileprivate struct Value {
      var field: AssetField
      /// Before the stretch, before the commit that is gathered, and now.
      var old: FieldValue
      var beforeCommit: FieldValue
      var new: FieldValue
    }

    fileprivate var values: [Value] = []
    fileprivate var commit: UInt64
    fileprivate var creation: UInt64?
    /// Whether the asset was purged in the stretch: what the edits before it come to is settled.
    fileprivate var isClosed = false
    /// Whether some commit made it look different.
    private(set) var isVisiblyChanged = false
    private(set) var isContentChanged = false

    fileprivate init(commit: UInt64, creation: UInt64?) {
      self.commit = commit
      self.creation = creation
    }

    fileprivate mutating func add(_ edit: AssetEdit, of commit: UInt64) throws(RowMismatch) {
      if commit != self.commit {
        settle()
        self.commit = commit
      }
      if edit.changesContent { (isVisiblyChanged, isContentChanged) = (true, true) }
      if isClosed {
        isVisiblyChanged = true
        return
      }
      for change in edit.changes {
        guard let index = values.firstIndex(where: { $0.field == change.field }) else {
          values.append(Value(field: change.field, old: change.old, beforeCommit: change.old, new: change.new))
          continue
        }
        guard values[index].new == change.old else { throw RowMismatch(number: edit.number, field: change.field.name) }
        values[index].new = change.new
      }
    }

    /// Says whether the commit that was gathered made the asset look different; of the commit that created it, the
    /// creation says that.
    fileprivate mutating func settle() {
      guard !isVisiblyChanged else { return }
      if commit != creation, values.contains(where: { $0.beforeCommit != $0.new }) { isVisiblyChanged = true }
      for index in values.indices { values[index].beforeCommit = values[index].new }
    }

    /// The edit that takes all of them back.
    func inverse(of number: ObjectNumber) -> AssetEdit {
      AssetEdit(number: number, changes: values.map { AssetChange(field: $0.field, old: $0.new, new: $0.old) })
    }
  }

  /// The composed edits, by asset.
  private(set) var entries: [ObjectNumber: Entry] = [:]
  /// In which commits of the stretch assets were created.
  private var creations: [ObjectNumber: UInt64] = [:]

  /// Takes the edits of an event in, in the order of the log.
  /// - Returns: what else there is to the event; nil if nothing.
  /// - Throws: `RowMismatch` if an edit does not begin where the one before it ended.
  /// - Complexity: O(k) for k edits.
  mutating func add(_ event: Event, of commit: UInt64) throws(RowMismatch) -> Event? {
    switch event {
    case .assetCreated(let existence):
      if !existence.isByUndo { creations[existence.row.number] = commit }
      return event
    case .assetPurged(let existence):
      let number = existence.row.number
      entries[number, default: Entry(commit: commit, creation: creations[number])].isClosed = true
      return event
    case .assetsEdited(var edited):
      for edit in edited.edits { try add(edit, of: commit) }
      edited.edits = []
      return edited.shifts.isEmpty ? nil : .assetsEdited(edited)
    default: return event
    }
  }

  private mutating func add(_ edit: AssetEdit, of commit: UInt64) throws(RowMismatch) {
    try entries[edit.number, default: Entry(commit: commit, creation: creations[edit.number])].add(edit, of: commit)
  }

  /// Closes the last commit.
  mutating func finish() {
    var index = entries.startIndex
    while index != entries.endIndex {
      entries.values[index].settle()
      entries.formIndex(after: &index)
    }
  }
}
