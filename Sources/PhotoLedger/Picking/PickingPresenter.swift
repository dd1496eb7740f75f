import Foundation
import Synchronization

/// The face of a picking session that whoever shows it to a person works with.
///
/// It is for clients that see everything, since it shows what there is to pick from; what is picked is given to the
/// session's client in the owner's name. Several may present one session: they share its selection.
public struct PickingPresenter: Sendable {
  /// The session that is presented.
  public let session: PickingSession
  private let library: PhotoLibrary

  init(_ session: PickingSession, in library: PhotoLibrary) { (self.session, self.library) = (session, library) }

  private var core: PickingCore { session.core }

  /// What is selected, and how much may be.
  public var presentation: PickingPresentation { PickingPresentation(core.state.withLock { $0 }) }

  /// What is selected now and after each change, whoever made it; the newest only. Ends with the session.
  public func presentations() -> AsyncStream<PickingPresentation> { core.presentations() }

  /// Fetches the assets that can be picked: what passes the session's filter, hidden and trashed ones left out.
  /// - Parameter options: which of them, and in what order.
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

  /// Selects an asset, as a tap does; one that is selected already stays as it is.
  ///
  /// A continuous session records the pick and tells the client (PK-05).
  /// - Parameter identifier: a candidate, in any spelling.
  /// - Throws: ``LibraryError``: `.limitExceeded` (3307); `.identifierNotFound` for what is no asset, or is hidden or
  ///   in the trash; `.changeNotSupported` for what the filter leaves out, and when the session is over;
  ///   `.accessUserDenied` when this client no longer sees everything; what the store throws.
  /// - Complexity: O(log n + k) for k selected assets, and a commit for a continuous session.
  nonisolated(nonsending) public func select(_ identifier: String) async throws {
    try await work { core, library in
      try core.tap(in: library.store) { state in try state.select(try library.candidate(identifier, of: core)) }
    }
  }

  /// Takes an asset out of the selection, as a tap does; one that is not selected is left alone.
  /// - Parameter identifier: an asset, in any spelling.
  /// - Throws: ``LibraryError``: `.changeNotSupported` when the session is over, `.accessUserDenied` when this client
  ///   no longer sees everything; what the store throws.
  /// - Complexity: O(k) for k selected assets.
  nonisolated(nonsending) public func deselect(_ identifier: String) async throws {
    try await work { core, library in
      try core.tap(in: library.store) { state in LocalIdentifier(identifier).map { state.deselect($0) } ?? false }
    }
  }

  /// Leaves something out of the bytes of what this session gives from now on, whatever the client asks for: the person
  /// who picks decides whether the place goes along.
  ///
  /// It stands in the recorded pick and holds for each later loading. What a continuous session gave before stays as it
  /// was given. Without a converter that can take it out the item cannot be loaded.
  /// - Parameter options: what is left out; nothing, to take the choice back.
  /// - Throws: ``LibraryError``: `.changeNotSupported` when the session is over, `.accessUserDenied` when this client
  ///   no longer sees everything; what the store throws.
  nonisolated(nonsending) public func withhold(_ options: PickerMetadataOptions) async throws {
    try await work { core, library in
      try core.tap(in: library.store, isChoice: false) { state in state.withhold(options) }
    }
  }

  /// Ends the session with what is selected: records the pick and tells the client.
  ///
  /// Assets that were purged since they were selected are left out.
  /// - Throws: ``LibraryError``: `.limitExceeded` (3307) if the client lowered its limit below what is selected,
  ///   `.changeNotSupported` when the session is over, `.accessUserDenied` when this client no longer sees everything;
  ///   what the store throws. The session stays open then.
  /// - Complexity: O(k log n) for k selected assets.
  nonisolated(nonsending) public func finish() async throws {
    try await work { core, library in try core.finish(in: library.store) }
  }

  /// Ends the session without a choice; the client's last result is its preselection (PK-04). A session that is over is
  /// left alone.
  public func cancel() { core.cancel() }

  private func checkMayPresent() throws {
    try library.store.reading { t in try library.checkSeesEverything("present a picking session", t) }
  }

  /// Committing blocks, so it happens away from the threads that tasks run on.
  nonisolated(nonsending) private func work(
    _ body: @escaping @Sendable (PickingCore, PhotoLibrary) throws -> Void
  ) async throws {
    let (core, library) = (core, library)
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            try checkMayPresent()
            try body(core, library)
          })
      }
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
