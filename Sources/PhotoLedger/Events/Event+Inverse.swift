// The inverse of an event, made of what it recorded.
//
//     state ── event ──▶ state after it ── inverse ──▶ state
//
// Every event says what it replaced, so its inverse needs no state. A walk back over the log applies the inverses of
// the later events, newest first; their lists are reversed, since an entry may rest on those before it. Some inverses
// are events that no decision makes, and that the log never has.

extension Event {
  /// The event that takes this one back.
  package var inverse: Event {
    switch self {
    case .libraryCreated, .nothingChanged: .nothingChanged
    case .assetCreated(let existence): .assetPurged(existence)
    case .assetPurged(let existence): .assetCreated(existence)
    case .assetsEdited(let edited): .assetsEdited(edited.inverse)
    case .collectionCreated(let existence): .collectionErased(existence)
    case .collectionErased(let existence): .collectionCreated(existence)
    case .collectionEdited(let edited): .collectionEdited(edited.inverse)
    case .arranged(let arranged): .arranged(arranged.inverse)
    case .clientRegistered(let row): .clientErased(row)
    case .clientErased(let row): .clientRegistered(row)
    case .clientEdited(let edited): .clientEdited(edited.inverse)
    case .pickRecorded(let row): .pickErased(row)
    case .pickErased(let row): .pickRecorded(row)
    case .historyShortened(let kept): .historyShortened(kept.inverse)
    // Neither changes the state, and neither can be undone.
    case .assetErased, .libraryForked: .nothingChanged
    }
  }
}

extension AssetsEdited {
  var inverse: AssetsEdited {
    AssetsEdited(
      verb: verb.inverse, edits: edits.reversed().map(\.inverse),
      shifts: shifts.map(\.inverse))
  }
}

extension CountShift {
  var inverse: CountShift { CountShift(album: album, by: -by, byCreator: -byCreator) }
}

extension AssetEdit {
  var inverse: AssetEdit {
    var edit = AssetEdit(
      number: number, changes: changes.reversed().map { AssetChange(field: $0.field, old: $0.new, new: $0.old) })
    if let details { edit.details = details.inverse }
    return edit
  }
}

extension ClientEdited {
  var inverse: ClientEdited {
    var edited = ClientEdited(number: number)
    edited.requested = requested
    edited.statuses = statuses.mapValues(\.inverse)
    edited.usageDescriptions = usageDescriptions.mapValues(\.inverse)
    edited.preventsLimitedAlert = preventsLimitedAlert?.inverse
    edited.followedAlbum = followedAlbum?.inverse
    return edited
  }
}

extension Arranged {
  var inverse: Arranged {
    Arranged(
      verb: verb.inverse, container: container,
      places: places.reversed().map { Place(child: $0.child, old: $0.new, new: $0.old) }, countShift: -countShift,
      creatorShift: -creatorShift, modificationDate: modificationDate?.inverse, creatorDate: creatorDate?.inverse,
      shifts: shifts.map(\.inverse))
  }
}
