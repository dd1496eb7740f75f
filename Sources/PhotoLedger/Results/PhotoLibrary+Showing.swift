import EventLog
import Foundation
import LMDB

// What a server shows of assets, each answer from one read transaction.
//
// The public calls read one thing each: an asset, its resources, the words about it, the albums that hold it. Each
// begins a transaction, reads the client's permission and finds the state of the value's commit. A server that answers
// thousands of requests a second needs all of it together, of now, and of many assets at once.
//
// Invariant: these return what the public calls would return one after the other, with no commit between them.

/// An asset of now with what is shown beside it.
package struct ShownAsset: Sendable {
  package let asset: Asset
  package let resources: [AssetResource]
  package let metadata: ExtendedMetadata
  /// The albums that hold the asset and that the client sees, in the order in which they were made.
  package let albums: [LocalIdentifier]
}

extension PhotoLibrary {
  /// The number of the last event; two readings that give the same one see the same library.
  package var lastSequence: UInt64 {
    get throws { try store.reading { t in try store.core.log.head(t).sequence } }
  }

  /// The number of the last transaction that was committed, by whichever process; asking is cheap.
  package var lastTransaction: UInt64 {
    get throws {
      do { return try store.core.environment.lastTransactionID() } catch { throw LibraryError(error) }
    }
  }

  /// The number of the transaction that a reading which begins now sees, at the least.
  package var currentTransaction: UInt64 {
    get throws { try store.reading { $0.transactionID } }
  }

  /// The number of the last event of a state; 0 for the state before the first. For a client with full access.
  /// - Throws: ``LibraryError`` `.accessDenied`; `.invalidToken` for a token of another library or client, or of a
  ///   state that the library does not have.
  /// - Complexity: O(log n).
  package func lastSequence(at token: Token) throws -> UInt64 {
    try store.reading { t in
      try checkHasFullAccess("read the log", t)
      return try store.sequence(ofCommit: try store.commit(of: token, for: client, at: moment, t), t)
    }
  }

  /// The current asset of an identifier, with the details shown beside it; nil if the client cannot see it. Shows no
  /// permission prompt.
  /// - Complexity: O(log n), and O(m) for m albums that contain it.
  package func shown(_ identifier: String) throws -> ShownAsset? {
    precondition(moment == nil, "The details of an asset are read from the current state.")
    guard let identifier = LocalIdentifier(identifier) else { return nil }
    return try store.reading { t in
      let core = store.core
      let access = try permission(t).access
      guard let object = try core.projections.object(identifier, in: t), object.isAsset,
        try core.projections.shows(object.number, to: access, in: t),
        let row = try core.projections.asset(object.number, in: t)
      else { return nil }
      let details = try core.projections.details(object.number, in: t) ?? AssetDetails()
      return ShownAsset(
        asset: Asset(row: row, seenBy: access, commit: try core.log.head(t).commit), resources: details.resources,
        metadata: ExtendedMetadata(details), albums: try albums(holding: object.number, access, t))
    }
  }

  /// The current assets of identifiers, in their order, hidden and trashed ones included; nil for each that the client
  /// cannot see. Shows no permission prompt.
  /// - Complexity: O(m log n) for m identifiers.
  package func assets(named identifiers: some Sequence<String>) throws -> [Asset?] {
    precondition(moment == nil, "The details of an asset are read from the current state.")
    return try store.reading { t in
      let core = store.core
      let (access, commit) = (try permission(t).access, try core.log.head(t).commit)
      return try identifiers.map { text -> Asset? in
        guard let identifier = LocalIdentifier(text), let object = try core.projections.object(identifier, in: t),
          object.isAsset, try core.projections.shows(object.number, to: access, in: t),
          let row = try core.projections.asset(object.number, in: t)
        else { return nil }
        return Asset(row: row, seenBy: access, commit: commit)
      }
    }
  }

  /// The file of a content that a visible asset has now; nil if there is none. Shows no permission prompt.
  /// - Complexity: O(log n).
  package func shownFile(
    withSHA256 digits: String, of identifier: String
  ) throws -> AssetResource? {
    precondition(moment == nil, "The details of an asset are read from the current state.")
    guard let identifier = LocalIdentifier(identifier) else { return nil }
    return try store.reading { t in
      let projections = store.core.projections
      guard let object = try projections.object(identifier, in: t), object.isAsset,
        try projections.shows(object.number, to: try permission(t).access, in: t)
      else { return nil }
      return try projections.resources(object.number, in: t).first { $0.hasSHA256(digits) }
    }
  }

  /// Whether this client added an asset of now, in a commit with a cause.
  /// - Complexity: O(log n).
  package func hasAdded(_ asset: LocalIdentifier, cause: String) throws -> Bool {
    try store.reading { t in
      guard let object = try store.core.projections.object(asset, in: t), object.isAsset,
        let commit = try store.core.log.commit(try store.commit(ofEvent: object.number, t), in: t)
      else { return false }
      return commit.information.client.exact == client.exact && commit.information.cause == cause
    }
  }

  private func albums(
    holding number: ObjectNumber, _ access: Access, _ t: borrowing StoreReading
  ) throws -> [LocalIdentifier] {
    let containers = try store.core.projections.places(of: number, in: t).map(\.container)
    guard !containers.isEmpty else { return [] }
    var query = Query(.collection, .containing(number), where: FetchOptions().condition, sortedBy: [])
    query.sources = .all
    let plan = QueryPlan(try store.query(query, seeing: access, t))
    return try containers.sorted().compactMap { container in
      guard let row = try store.core.projections.collection(container, in: t)?.seen(by: access), plan.admits(row)
      else { return nil }
      return row.identifier
    }
  }

  /// The files of assets, as of the commit of each; empty for one that the client may not see.
  /// - Complexity: O(m log n) for m assets of one commit, and one read for each later event that touched one.
  package func resources(of assets: [Asset]) throws -> [[AssetResource]] {
    try store.reading { t in
      var found: [[AssetResource]] = []
      found.reserveCapacity(assets.count)
      try forEach(assets, t) { asset, sequence, isFull in
        found.append(try resources(of: asset, at: sequence, isFull, t))
      }
      return found
    }
  }

  /// The SHA-256 of the file that each asset shows, as of the commit of each; nil for one that shows none, or that the
  /// client may not see.
  ///
  /// A grid asks for hundreds of them and for nothing else of the files, so at the end of the log their names and types
  /// are passed over.
  /// - Complexity: as ``resources(of:)``.
  package func shownContents(of assets: [Asset]) throws -> [[UInt8]?] {
    try store.reading { t in
      var found: [[UInt8]?] = []
      found.reserveCapacity(assets.count)
      var contents: [ResourceContent] = []
      let projections = store.core.projections
      try forEach(assets, t) { asset, sequence, isFull in
        guard isFull, sequence == LibraryStore.now else {
          return found.append(try resources(of: asset, at: sequence, isFull, t).shown(asset)?.sha256)
        }
        contents.removeAll(keepingCapacity: true)
        try projections.readContents(of: asset.row.number, into: &contents, in: t)
        found.append(contents.shown(asset)?.sha256.bytes)
      }
      return found
    }
  }

  /// Whether the client of the view sees each asset in the current state, whatever the moment of the view.
  /// - Complexity: O(m log n) for m assets; O(m) for a client with full access.
  func areVisibleNow(_ assets: [Asset]) throws -> [Bool] {
    try store.reading { t in
      let access = try store.permission(of: client, at: nil, t).access
      if access == .full { return assets.map { _ in true } }
      return try assets.map { try store.core.projections.shows($0.row.number, to: access, in: t) }
    }
  }

  /// Calls `body` for each asset with the last event of its commit, and with whether the client has full access.
  private func forEach(
    _ assets: [Asset], _ t: borrowing StoreReading, _ body: (Asset, UInt64, Bool) throws -> Void
  ) throws {
    let head = try store.core.log.head(t)
    // At the end of the log there is nothing to revert, so no history is read.
    var (commit, sequence) = (head.commit, LibraryStore.now)
    let isFull = try permission(t).access == .full
    for asset in assets {
      if asset.commit != commit {
        commit = asset.commit
        sequence = commit == head.commit ? LibraryStore.now : try store.sequence(ofCommit: commit, t)
      }
      try body(asset, sequence, isFull)
    }
  }

  private func resources(
    of asset: Asset, at sequence: UInt64, _ isFull: Bool, _ t: borrowing StoreReading
  ) throws -> [AssetResource] {
    if isFull { return try store.assetDetails(asset.row.number, at: sequence, t)?.resources ?? [] }
    let last = sequence == LibraryStore.now ? try store.core.log.head(t).sequence : sequence
    return try details(of: asset, at: last, t).resources
  }
}
