import PhotoLedger

// The state of a picking session, as a value: every change is decided here, and its effects (recording, notifying) are
// executed by PickingCore.
//
//     the client's side     deselect, move, update, cancel ─┐
//                                                            ├─▶ PickingState ──▶ selection, in the order of picking
//     the presenter's side  select, deselect, finish, cancel ┘
//
// Invariant: the selection holds an asset at most once. It may have more than the limit after an update by the client
// only, and such a session cannot be finished.

/// An asset that is selected in a picking session.
struct PickedEntry: Sendable, Equatable {
  let identifier: LocalIdentifier
  /// Its number, which is its place in the library's order.
  let number: ObjectNumber
  /// What the client may load it by; nil until the pick is recorded.
  var token: String?
  /// The kinds of data that it can be loaded as.
  var contentTypes: [String] = []
  /// What is left out of its bytes, as the person or the client wants.
  var withheld: PickerMetadataOptions = []
}

/// What a picking session has come to.
struct PickingState: Sendable {
  var phase = PickingSession.State.open
  private(set) var selection: [PickedEntry]
  private(set) var limit: Int
  /// What the person leaves out of the bytes of what is recorded from now on.
  private(set) var withheld: PickerMetadataOptions = []
  /// What needs no recording any more, selected or not: what was recorded, and what was selected beforehand.
  private(set) var settled: [LocalIdentifier: PickedEntry]

  /// Begins with the assets that are selected beforehand.
  init(preselected: [PickedEntry], limit: Int) {
    (selection, self.limit) = (preselected, limit)
    settled = Dictionary(uniqueKeysWithValues: preselected.map { ($0.identifier, $0) })
  }

  /// What is selected and has to be recorded before it is handed out, in the order of picking.
  var unsettled: [LocalIdentifier] { selection.map(\.identifier).filter { settled[$0] == nil } }

  /// - Throws: ``LibraryError`` `.changeNotSupported` for a session that is over.
  func checkOpen() throws {
    guard phase == .open else {
      throw LibraryError(.changeNotSupported, "The picking session was \(phase.rawValue); begin a new one.")
    }
  }

  /// Adds an asset at the end.
  /// - Returns: false if it is selected already.
  /// - Throws: ``LibraryError`` `.limitExceeded`.
  mutating func select(_ entry: PickedEntry) throws -> Bool {
    guard !contains(entry.identifier) else { return false }
    guard limit == 0 || selection.count < limit else {
      let most = limit == 1 ? "One asset" : "At most \(limit) assets"
      throw LibraryError(.limitExceeded, "\(most) may be picked; deselect one first.")
    }
    selection.append(entry)
    return true
  }

  /// Takes an asset out.
  /// - Returns: false if it is not selected.
  mutating func deselect(_ identifier: LocalIdentifier) -> Bool {
    guard let index = index(of: identifier) else { return false }
    selection.remove(at: index)
    return true
  }

  /// Leaves something out of the bytes of what is recorded from now on.
  /// - Returns: false if the same is left out already.
  mutating func withhold(_ options: PickerMetadataOptions) -> Bool {
    defer { withheld = options }
    return options != withheld
  }

  /// Puts a selected asset after another, or first; does nothing if either is not selected (PK-06).
  mutating func move(_ identifier: LocalIdentifier, after other: LocalIdentifier?) {
    guard identifier != other, let index = index(of: identifier) else { return }
    if let other, !contains(other) { return }
    let entry = selection.remove(at: index)
    let place = other.flatMap { self.index(of: $0) }.map { $0 + 1 } ?? 0
    selection.insert(entry, at: place)
  }

  mutating func update(_ update: PickerUpdate) throws {
    guard let limit = update.selectionLimit else { return }
    try PickerConfiguration.check(limit: limit)
    self.limit = limit
  }

  /// - Throws: ``LibraryError`` `.limitExceeded`.
  func checkLimit() throws {
    guard limit == 0 || selection.count <= limit else {
      throw LibraryError(
        .limitExceeded,
        "\(selection.count) assets are picked, but the client has lowered its limit to \(limit); deselect some.")
    }
  }

  /// Updates the state after recording, and drops selected assets that no longer exist.
  mutating func settle(_ recorded: [LocalIdentifier: PickedEntry]) {
    settled.merge(recorded) { _, new in new }
    selection = selection.compactMap { settled[$0.identifier] }
  }

  /// The selection in the order in which a result has it (PK-05).
  func ordered(_ selection: PickerConfiguration.Selection) -> [PickedEntry] {
    selection.isOrdered ? self.selection : self.selection.sorted { $0.number < $1.number }
  }

  func contains(_ identifier: LocalIdentifier) -> Bool { index(of: identifier) != nil }

  private func index(of identifier: LocalIdentifier) -> Int? {
    selection.firstIndex { $0.identifier == identifier }
  }
}
