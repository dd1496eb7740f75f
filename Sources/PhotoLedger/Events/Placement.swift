// What an event does to the places of objects in containers, for every reader that follows one object or one container
// forward or back. Rejected: each reader's own switch over events, of which none could be seen to be complete.
//
// A reader looks at the cases itself where a place alone does not decide:
//
//     by the verb                   ClientRevisions, Decider+Covers, Decider+Members, ChangeTally, EventWords,
//                                   DeltaReader (`meetObjects`), PhotoLibrary+Picking
//     with the counts and dates     PropertyChange
//     an event's places together    Decider+Following, which grants and withdraws all of them in one event
//     by whether the asset remains  UndoComposition: a selection that follows an album counts members that came and
//                                   went by any commit, and assets that were made or purged by the chosen ones only

/// A child that an event puts into a container (`old` nil), takes out of it (`new` nil) or gives another place in it.
package struct Placement: Equatable, Sendable {
  package var child: ObjectNumber
  package var container: ObjectNumber
  package var old: OrderKey?
  package var new: OrderKey?
}

extension Event {
  /// Gives every place that the event gives, takes or changes, in the order in which it does.
  package func forEachPlacement(_ body: (Placement) throws -> Void) rethrows {
    switch self {
    case .arranged(let arranged):
      for place in arranged.places {
        try body(Placement(child: place.child, container: arranged.container, old: place.old, new: place.new))
      }
    case .assetCreated(let existence):
      for place in existence.places {
        try body(Placement(child: existence.row.number, container: place.container, old: nil, new: place.key))
      }
    case .assetPurged(let existence):
      for place in existence.places {
        try body(Placement(child: existence.row.number, container: place.container, old: place.key, new: nil))
      }
    case .collectionCreated(let existence):
      let number = existence.row.number
      try body(Placement(child: number, container: existence.row.parent, old: nil, new: existence.key))
    case .collectionErased(let existence):
      let number = existence.row.number
      try body(Placement(child: number, container: existence.row.parent, old: existence.key, new: nil))
    case .libraryCreated, .libraryForked, .assetsEdited, .assetErased, .collectionEdited, .clientRegistered,
      .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened, .nothingChanged:
      break
    }
  }

  /// Whether the event creates or purges an asset that is in no container. It changes no row of a collection or a
  /// client, gives no place, and no limited client sees it: one that adds an asset sees it by the event that puts the
  /// asset into its selection or its album.
  var isOfUnplacedAsset: Bool {
    switch self {
    case .assetCreated(let existence), .assetPurged(let existence): existence.places.isEmpty
    case .libraryCreated, .libraryForked, .assetsEdited, .assetErased, .collectionCreated, .collectionErased,
      .collectionEdited, .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased,
      .historyShortened, .nothingChanged:
      false
    }
  }

  /// The asset or collection that does not exist after the event, and so is in no container.
  package var ended: ObjectNumber? {
    switch self {
    case .assetPurged(let existence): existence.row.number
    case .collectionErased(let existence): existence.row.number
    case .libraryCreated, .libraryForked, .assetCreated, .assetsEdited, .assetErased, .collectionCreated,
      .collectionEdited, .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased,
      .historyShortened, .nothingChanged:
      nil
    }
  }
}
