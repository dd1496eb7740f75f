// Many edits of one asset as one.
//
// An event records what it replaced, so the edits of a log range compose without a row: of each property the first old
// value and the last new one remain. Reverting the composed edit from the row at the end yields the row at the
// beginning, by the same function that applies every edit, and that function checks that the row holds the values of
// the last event. Here it is checked that each event starts with the values at which the previous one ended.
//
//     e1  width 1→2            e2  width 2→3, date a→b            composed  width 1→3, date a→b
//
// The ends do not show whether a property was changed and changed back. So the value before each commit is recorded as
// well, until the asset is known to have changed.
//
// This stays apart from the walk back (Rewind.swift): it reads forward, holds no row, and takes the edits out of the
// events before these are walked. An asset that was edited a thousand times is loaded once and reverted once.
//
// An asset that is purged may be brought back by an undo. Where it began follows from the row that the purge recorded,
// so the edits after that are not composed with those before.

/// The edits of a log range, composed by asset.
struct EditComposition {
  /// The edits of one asset.
  struct Entry {
    fileprivate struct Value {
      var field: AssetField
      /// Before the range, before the current commit, and after the last event read.
      var old: FieldValue
      var beforeCommit: FieldValue
      var new: FieldValue
    }

    fileprivate var values: [Value] = []
    fileprivate var commit: UInt64
    fileprivate var creation: UInt64?
    /// Whether the asset was purged in the range, which completes its composition.
    fileprivate var isClosed = false
    /// Whether some commit made it look different.
    private(set) var isVisiblyChanged = false
    /// The same for a client that is limited to its selection, which sees no stacks.
    private(set) var isChangedForLimited = false
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
      if edit.changesVisibleDetails { (isVisiblyChanged, isChangedForLimited) = (true, true) }
      if edit.changesContent { isContentChanged = true }
      if isClosed {
        (isVisiblyChanged, isChangedForLimited) = (true, isChangedForLimited || !edit.isOfStackAlone)
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
      guard !isChangedForLimited else { return }
      if commit != creation {
        for value in values where value.beforeCommit != value.new {
          isVisiblyChanged = true
          if value.field != .stack { isChangedForLimited = true }
        }
      }
      for index in values.indices { values[index].beforeCommit = values[index].new }
    }

    /// The edit that takes all of them back.
    func inverse(of number: ObjectNumber) -> AssetEdit {
      AssetEdit(number: number, changes: values.map { AssetChange(field: $0.field, old: $0.new, new: $0.old) })
    }
  }

  /// The composed edits, by asset.
  private(set) var entries: [ObjectNumber: Entry] = [:]
  /// The commits of the range in which assets were created.
  private var creations: [ObjectNumber: UInt64] = [:]

  /// Adds the edits of an event, in log order.
  /// - Returns: the rest of the event; nil if there is none.
  /// - Throws: `RowMismatch` if an edit does not start with the values at which the previous one ended.
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
    case .libraryCreated, .collectionCreated, .collectionErased, .collectionEdited, .arranged, .clientRegistered,
      .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened, .assetErased, .libraryForked,
      .nothingChanged:
      return event
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
