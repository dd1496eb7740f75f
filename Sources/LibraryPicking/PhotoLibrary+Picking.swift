import EventLog
import LMDB
public import PhotoLedger
import Synchronization

extension PhotoLibrary {
  /// Begins a picking session for this client, which needs no permission for it (PK-01).
  ///
  /// An unregistered client is registered with its first pick. A session of a library that was closed is cancelled when
  /// this returns.
  /// - Parameter configuration: the configuration.
  /// - Returns: the client's side of the session, which has to be presented, see ``present(_:)``.
  /// - Throws: ``LibraryError``: `.malformedRequest` for a negative limit, for a configuration created with another
  ///   library, and for a preselection without a library; `.limitExceeded` for a preselection above the limit; the
  ///   store's errors.
  /// - Complexity: O(m log n) for m preselected assets.
  public func beginPicking(_ configuration: PickerConfiguration = PickerConfiguration()) throws -> PickingSession {
    try checkIsNow("pick assets")
    try configuration.check(for: store.core.mark)
    if let filter = configuration.filter { try filter.condition.check(for: .asset) }
    let preselected = try store.reading { t in
      try distinct(configuration.preselectedAssetIdentifiers.compactMap { LocalIdentifier($0) })
        .compactMap { identifier -> PickedEntry? in
          guard let row = try store.core.projections.asset(withIdentifier: identifier, in: t), row.trashedDate == nil
          else { return nil }
          return PickedEntry(identifier: identifier, number: row.number)
        }
    }
    let sessions = store.picking
    let core = PickingCore(
      id: store.core.libraryEnvironment.identifier().uuidString, client: client, configuration, preselected: preselected
    ) { [weak sessions] id in sessions?.remove(id) }
    sessions.add(core)
    return PickingSession(core: core, library: self)
  }

  /// The open picking sessions, in the order in which they were begun: every client's for one with full access,
  /// this client's own otherwise.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m) for m sessions.
  public func pickingSessions() throws -> [PickingSession] {
    let access = try store.reading { t in try store.core.projections.permission(of: client, in: t).access }
    return store.picking.all.filter { access == .full || $0.client.exact == client.exact }.map { core in
      PickingSession(core: core, library: core.client.exact == client.exact ? self : self.as(core.client))
    }
  }

  /// Presents a picking session to the person at the library.
  /// - Parameter session: an open session of any client of this library.
  /// - Throws: ``LibraryError`` `.accessUserDenied` or `.accessRestricted` for a client without full access,
  ///   `.changeNotSupported` for a session of another library; what the store throws.
  public func present(_ session: PickingSession) throws -> PickingPresenter {
    try checkIsNow("present a picking session")
    try store.reading { t in try checkHasFullAccess("present a picking session", t) }
    guard session.library.store === store else {
      throw LibraryError(
        .changeNotSupported, "The picking session of '\(session.client)' belongs to another library; present it there.")
    }
    return PickingPresenter(session, in: self)
  }
}

extension Projections {
  /// The asset with an identifier, hidden and trashed ones included.
  func asset(withIdentifier identifier: LocalIdentifier, in t: borrowing some Reading) throws -> AssetRow? {
    guard let object = try object(identifier, in: t), object.isAsset else { return nil }
    return try asset(object.number, in: t)
  }
}

extension LibraryStore {
  /// Gives picked assets to a client, as one commit of the owner's.
  /// - Parameters:
  ///   - identifiers: the assets, in the order of picking.
  ///   - client: the client.
  ///   - form: in what form they are loaded; what is taken out of the bytes is part of the record.
  ///   - presenter: the client that presents the session, which the cause of the commit names unless it is the owner:
  ///     only the owner's commits change what clients have access to.
  /// - Returns: what the client may load, by the identifier; without those that no longer exist.
  /// - Complexity: O(k log n) for k assets.
  func recordPick(
    of identifiers: [LocalIdentifier], for client: String, in form: ItemForm, presentedBy presenter: String
  ) throws -> [LocalIdentifier: PickedEntry] {
    var cause = "picking session"
    if presenter != PhotoLibrary.owner { cause += " presented by \(presenter)" }
    var left = identifiers
    while true {
      left = try reading { t in
        try left.filter { try core.projections.asset(withIdentifier: $0, in: t) != nil }
      }
      if left.isEmpty { return [:] }
      // The owner needs no pick to load what it picks, and does not have one.
      guard client != PhotoLibrary.owner else {
        return try entries(left.map { ($0, ItemToken(.own($0), form)) }, form)
      }
      do {
        let pick = ChangeRequest.client(named: client, .pick(left, withholding: form.metadataOptions))
        let receipt = try perform([pick], cause: cause)
        let places = try reading { t in try itemPlaces(ofPickIn: receipt.token.position, for: client, t) }
        let spelled = ItemForm(form.representation)
        return try entries(places.map { ($0, ItemToken($1, spelled)) }, form)
      } catch let error as LibraryError where error.code == .identifierNotFound {
        // An asset was purged between the check and the commit.
        continue
      }
    }
  }

  /// What the items of a recorded pick are loaded by, in the order of picking.
  private func itemPlaces(
    ofPickIn number: UInt64, for client: String, _ t: borrowing StoreReading
  ) throws -> [(LocalIdentifier, ItemToken.Place)] {
    let commit = try core.recordedCommit(number, t)
    let token = try core.token(number, for: client, t)
    var places: [Arranged.Place] = []
    try core.log.read(after: commit.firstSequence - 1, limit: Int(commit.eventCount), in: t) { record in
      if case .arranged(let arranged) = try Event(record), arranged.verb == .picked { places += arranged.places }
      return .proceed
    }
    return try places.compactMap { place in
      // Without a row the asset was purged since; it is not reported to the client.
      guard let row = try core.projections.asset(place.child, in: t), let key = place.new else { return nil }
      return (row.identifier, .given(token, key))
    }
  }

  /// The entries of a selection, with what each can be loaded as.
  private func entries(
    _ tokens: [(LocalIdentifier, ItemToken)], _ form: ItemForm
  ) throws -> [LocalIdentifier: PickedEntry] {
    let converter = installed((any RepresentationConverter).self).current
    return try reading { t in
      var conversions = Conversions(converter)
      var entries: [LocalIdentifier: PickedEntry] = [:]
      for (identifier, token) in tokens {
        guard let row = try core.projections.asset(withIdentifier: identifier, in: t) else { continue }
        let resources = try core.projections.details(row.number, in: t)?.resources ?? []
        entries[identifier] = PickedEntry(
          identifier: identifier, number: row.number, token: token.description,
          contentTypes: Rendition.types(
            of: resources.currentVersion(of: row), as: form.representation, &conversions),
          withheld: form.metadataOptions)
      }
      return entries
    }
  }
}
