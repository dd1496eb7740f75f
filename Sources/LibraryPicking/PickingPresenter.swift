import Foundation
public import PhotoLedger
import Synchronization

/// The presenter's side of a picking session.
///
/// It requires full access, since it shows the candidates; picks are recorded for the session's client on the owner's
/// behalf, with a cause that names the presenting client unless it is the owner. Several presenters may present one
/// session: they share its selection.
public struct PickingPresenter: Sendable {
  /// The session that is presented.
  public let session: PickingSession
  private let library: PhotoLibrary

  init(_ session: PickingSession, in library: PhotoLibrary) { (self.session, self.library) = (session, library) }

  private var core: PickingCore { session.core }

  /// What is selected, and how much may be.
  public var presentation: PickingPresentation { PickingPresentation(core.state.withLock { $0 }) }

  /// The selection now and after each change, by any side; the newest only. Ends with the session.
  public func presentations() -> AsyncStream<PickingPresentation> { core.presentations() }

  /// Fetches the candidates: assets that match the session's filter, without hidden and trashed ones.
  /// - Parameter options: the filter and the order.
  /// - Throws: ``LibraryError`` `.changeNotSupported` for options that ask for hidden assets or the trash; as
  ///   ``PhotoLibrary/fetchAssets(_:in:)``.
  /// - Complexity: as ``PhotoLibrary/fetchAssets(_:in:)``.
  public func candidates(_ options: FetchOptions = FetchOptions()) throws -> FetchResult<Asset> {
    guard !options.includeHiddenAssets, !options.showsTrash else {
      throw LibraryError(
        .changeNotSupported, "Hidden assets and the trash are not offered for picking; remove them from the options.")
    }
    try checkMayPresent()
    var options = options
    if let filter = core.configuration.filter { options.condition = .and([filter.condition, options.condition]) }
    return try library.fetchAssets(options)
  }

  /// Selects an asset, as a tap does; no effect if it is already selected.
  ///
  /// A continuous session records the pick and notifies the client (PK-05).
  /// - Parameter identifier: a candidate, in any form.
  /// - Throws: ``LibraryError``: `.limitExceeded` (3307); `.identifierNotFound` for an unknown, hidden or trashed
  ///   asset; `.changeNotSupported` for one that the filter excludes, and after the session has ended;
  ///   `.accessUserDenied` if this client no longer has full access; the store's errors.
  /// - Complexity: O(log n + k) for k selected assets, and a commit for a continuous session.
  nonisolated(nonsending) public func select(_ identifier: String) async throws {
    try await work { core, library in
      try core.tap(in: library) { state in try state.select(try library.candidate(identifier, of: core)) }
    }
  }

  /// Takes an asset out of the selection, as a tap does; one that is not selected is left alone.
  /// - Parameter identifier: an asset, in any spelling.
  /// - Throws: ``LibraryError``: `.changeNotSupported` when the session is over, `.accessUserDenied` when this client
  ///   no longer has full access; what the store throws.
  /// - Complexity: O(k) for k selected assets.
  nonisolated(nonsending) public func deselect(_ identifier: String) async throws {
    try await work { core, library in
      try core.tap(in: library) { state in LocalIdentifier(identifier).map { state.deselect($0) } ?? false }
    }
  }

  /// Removes metadata from the bytes of all later picks of this session, whatever the client requests: the user decides
  /// whether the location is included.
  ///
  /// It is part of the recorded pick and applies to each later loading. Earlier picks of a continuous session are not
  /// affected. Without a converter that can remove it, the item cannot be loaded.
  /// - Parameter options: the metadata to remove; empty to reset the choice.
  /// - Throws: ``LibraryError``: `.changeNotSupported` after the session has ended, `.accessUserDenied` if this client
  ///   no longer has full access; the store's errors.
  nonisolated(nonsending) public func withhold(_ options: PickerMetadataOptions) async throws {
    try await work { core, library in
      try core.tap(in: library, isChoice: false) { state in state.withhold(options) }
    }
  }

  /// Ends the session with the current selection: records the pick and notifies the client.
  ///
  /// Assets that were purged since they were selected are left out.
  /// - Throws: ``LibraryError``: `.limitExceeded` (3307) if the client lowered its limit below what is selected,
  ///   `.changeNotSupported` when the session is over, `.accessUserDenied` when this client no longer has full access;
  ///   what the store throws. The session stays open then.
  /// - Complexity: O(k log n) for k selected assets.
  nonisolated(nonsending) public func finish() async throws {
    try await work { core, library in try core.finish(in: library) }
  }

  /// Ends the session without a choice; the client's last result is its preselection (PK-04). A session that is over is
  /// left alone.
  public func cancel() { core.cancel() }

  private func checkMayPresent() throws {
    try library.store.reading { t in try library.checkHasFullAccess("present a picking session", t) }
  }

  /// Committing blocks, so it happens away from the threads that tasks run on.
  nonisolated(nonsending) private func work(
    _ body: @escaping @Sendable (PickingCore, PhotoLibrary) throws -> Void
  ) async throws {
    let (core, library) = (core, library)
    try await offload {
      try checkMayPresent()
      try body(core, library)
    }
  }
}

extension PhotoLibrary {
  /// An asset that can be picked in a session, ready to be selected.
  fileprivate func candidate(_ identifier: String, of core: PickingCore) throws -> PickedEntry {
    guard let asset = try asset(identifier), !asset.isHidden, !asset.isTrashed else {
      throw LibraryError(
        .identifierNotFound, "The asset '\(identifier)' is not offered for picking; choose one of the candidates.")
    }
    if let filter = core.configuration.filter, !filter.condition.evaluator(for: AssetRow.self)(asset.row) {
      throw LibraryError(
        .changeNotSupported,
        "The asset '\(identifier)' does not match the session's filter \(filter); choose a candidate."
      )
    }
    return PickedEntry(identifier: asset.id, number: asset.row.number)
  }
}
