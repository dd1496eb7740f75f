import Foundation
import LMDB

// Permissions, and their changes.
//
// Only the library's owner changes permissions; a client may register itself and request permission. Grants are members
// of the client's selection (Access.swift). An asset added by a client without full access joins its selection,
// so that the client can continue to work with it (AU-02).

extension Decider {
  // MARK: What a client may ask

  /// - Throws: ``LibraryError`` `.accessRestricted` or `.accessUserDenied` (AU-08, AU-11, FR-18).
  func checkPermission(for request: ChangeRequest) throws {
    if case .client(let name, let change) = request { return try checkPermission(for: change, of: name) }
    if permission.access == .full { return }
    if permission.access == .none {
      if case .createAsset = request, permission.mayAdd { return }
      throw permission.refusal(client, permission.mayAdd ? "do anything but add assets" : "change the library")
    }
    switch request {
    case .mergeAssets: throw permission.refusal(client, "merge assets")
    case .stackAssets, .unstackAssets: throw permission.refusal(client, "stack assets")
    case .purgeAssets, .eraseAssets: throw permission.refusal(client, "remove assets permanently")
    case .shortenHistory: throw permission.refusal(client, "shorten the history")
    case .undo: throw permission.refusal(client, "undo commits")
    default: return
    }
  }

  private func checkPermission(for change: ChangeRequest.ClientChange, of name: String) throws {
    if client == PhotoLibrary.owner { return }
    switch change {
    case .register where name.exact == client.exact, .request where name.exact == client.exact: return
    default:
      throw LibraryError(
        .accessUserDenied, "The client '\(client)' may not change permissions; only the library's owner may.")
    }
  }

  // MARK: Changes

  mutating func handle(
    _ change: ChangeRequest.ClientChange, of name: String, _ t: inout WriteTransaction
  ) throws {
    guard name != PhotoLibrary.owner else {
      throw LibraryError(
        .changeNotSupported, "The library's owner has access to everything; its permission cannot be changed.")
    }
    let row = try registered(name, t) ?? register(name, &t)
    switch change {
    case .register(let registration): try describe(row, registration, &t)
    case .request(let level): try noteRequest(of: row, level, &t)
    case .setStatus(let status, let level): try setStatus(status, level, of: row, &t)
    case .grant(let identifiers): try grant(identifiers, to: row, &t)
    case .withdraw(let identifiers): try withdraw(identifiers, from: row, &t)
    case .follow(let album): try follow(album, by: row, &t)
    case .pick(let identifiers, let withheld): try pick(identifiers, for: row, withholding: withheld, &t)
    }
  }

  private func registered(_ name: String, _ t: borrowing WriteTransaction) throws -> ClientRow? {
    try ClientRow.check(name: name)
    return try projections.client(named: name, in: t)
  }

  private mutating func register(_ name: String, _ t: inout WriteTransaction) throws -> ClientRow {
    try ClientRow.check(newName: name)
    let row = ClientRow(number: nextNumber, name: name, registeredDate: date)
    try record(.clientRegistered(row), &t)
    return row
  }

  private mutating func describe(
    _ row: ClientRow, _ registration: ClientRegistration, _ t: inout WriteTransaction
  ) throws {
    var edited = ClientEdited(number: row.number)
    let wanted: [(AccessLevel, String?)] = [
      (.readWrite, registration.readWriteUsageDescription), (.addOnly, registration.addOnlyUsageDescription),
    ]
    for case (let level, let words?) in wanted where row[level].usageDescription != words {
      guard (1...4096).contains(words.utf8.count) else {
        throw LibraryError(.malformedRequest, "A usage description has 1 to 4,096 bytes, not \(words.utf8.count).")
      }
      edited.usageDescriptions[level] = Replacement(old: row[level].usageDescription, new: words)
    }
    if let prevents = registration.preventsAutomaticLimitedAccessAlert, prevents != row.preventsLimitedAlert {
      edited.preventsLimitedAlert = Replacement(old: row.preventsLimitedAlert, new: prevents)
    }
    guard edited != ClientEdited(number: row.number) else { return }
    try record(.clientEdited(edited), &t)
  }

  private mutating func noteRequest(of row: ClientRow, _ level: AccessLevel, _ t: inout WriteTransaction) throws {
    guard row[level].usageDescription != nil else {
      throw LibraryError.withoutUsageDescription(row.name, level)
    }
    var edited = ClientEdited(number: row.number)
    edited.requested = level
    try record(.clientEdited(edited), &t)
  }

  private mutating func setStatus(
    _ status: AuthorizationStatus, _ level: AccessLevel, of row: ClientRow, _ t: inout WriteTransaction
  ) throws {
    guard level == .readWrite || status != .limited else {
      throw LibraryError(
        .changeNotSupported, "The addOnly level has no limited status; use authorized, denied, restricted or undecided."
      )
    }
    guard row[level].status != status else { return }
    var edited = ClientEdited(number: row.number)
    edited.statuses[level] = Replacement(old: row[level].status, new: status)
    try record(.clientEdited(edited), &t)
  }

  // MARK: Selections

  private mutating func grant(
    _ identifiers: [LocalIdentifier], to row: ClientRow, _ t: inout WriteTransaction
  ) throws {
    try checkIsMadeByHand(row, t)
    let numbers = try distinct(identifiers).map { try asset($0, t).number }
      .filter { try projections.key(of: $0, in: row.number, t) == nil }
    try arrange(row, .granted, numbers.map { .init(child: $0, old: nil, new: OrderKey(rawValue: $0)) }, &t)
  }

  private mutating func withdraw(
    _ identifiers: [LocalIdentifier], from row: ClientRow, _ t: inout WriteTransaction
  ) throws {
    try checkIsMadeByHand(row, t)
    let numbers = try distinct(identifiers).map { try asset($0, t).number }
      .filter { try projections.key(of: $0, in: row.number, t) != nil }
    try arrange(row, .withdrawn, numbers.map { .init(child: $0, old: OrderKey(rawValue: $0), new: nil) }, &t)
  }

  /// Puts an asset that the block's client has just added into its selection (AU-02), or into the album that this is.
  mutating func joinSelection(_ number: ObjectNumber, _ t: inout WriteTransaction) throws {
    guard permission.access != .full, let client = permission.client else { return }
    guard let row = try projections.client(client, in: t) else { throw projections.corruption("client \(client)") }
    if let album = row.followedAlbum { return try append([number], to: album, &t) }
    try arrange(row, .granted, [.init(child: number, old: nil, new: OrderKey(rawValue: number))], &t)
  }

  mutating func arrange(
    _ row: ClientRow, _ verb: Arranged.Verb, _ places: [Arranged.Place], _ t: inout WriteTransaction
  ) throws {
    for run in places.inRuns(of: Event.objectLimit) {
      let shifts = try shifts(of: run.map(\.child), in: row.number, verb == .granted ? 1 : -1, t)
      try record(
        .arranged(Arranged(verb: verb, container: row.number, places: Array(run), shifts: shifts)), &t)
    }
  }

  /// What a client that made albums sees of them when assets join or leave its selection.
  private func shifts(
    of numbers: [ObjectNumber], in client: ObjectNumber, _ change: Int, _ t: borrowing WriteTransaction
  ) throws -> [CountShift] {
    var shifts: [ObjectNumber: CountShift] = [:]
    for number in numbers {
      let isVisible = try projections.asset(number, in: t)?.isVisibleInSelections ?? false
      for place in try projections.places(of: number, in: t) {
        guard let album = try projections.collection(place.container, in: t), album.creator == client else { continue }
        shifts[album.number, default: CountShift(album: album.number, by: 0)].byCreator += isVisible ? change : 0
      }
    }
    return shifts.values.sorted { $0.album < $1.album }
  }

  // MARK: Picks

  /// Records what a picking session gave a client, in the order of picking.
  private mutating func pick(
    _ identifiers: [LocalIdentifier], for row: ClientRow, withholding withheld: PickerMetadataOptions,
    _ t: inout WriteTransaction
  ) throws {
    let numbers = try distinct(identifiers).map { try asset($0, t).number }
    guard !numbers.isEmpty else { return }
    let pick = PickRow(number: nextNumber, client: row.number, date: date, withheld: withheld)
    try record(.pickRecorded(pick), &t)
    guard let keys = OrderKey.between(nil, nil, count: numbers.count) else {
      preconditionFailure("An empty container has room for every pick.")
    }
    let places = zip(numbers, keys).map { Arranged.Place(child: $0, old: nil, new: $1) }
    for run in places.inRuns(of: Event.objectLimit) {
      try record(.arranged(Arranged(verb: .picked, container: pick.number, places: Array(run))), &t)
    }
  }

  // MARK: History

  mutating func shortenHistory(to commit: UInt64, _ t: inout WriteTransaction) throws {
    let kept = try projections.firstAvailableCommit(in: t)
    guard commit > kept else { return }
    try record(.historyShortened(Replacement(old: kept, new: commit)), &t)
  }
}

extension LibraryError {
  /// Asking without saying why is an error of the client's author, as on Apple's systems (FR-18).
  static func withoutUsageDescription(_ name: String, _ level: AccessLevel) -> LibraryError {
    LibraryError(
      .missingUsageDescription,
      """
      The client '\(name)' asked for access without a usage description for \(level); register it with \
      one before it asks.
      """)
  }
}
