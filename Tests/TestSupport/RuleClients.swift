package import PhotoLedger

/// Keeps the changes that it receives, in their order.
package final class ChangeKeeper: PhotoLibraryChangeObserver {
  package let changes = Gathered<LibraryChange>()

  package init() {}

  package func photoLibraryDidChange(_ change: LibraryChange) { changes.append(change) }
}

/// A prompt that gives the answers it was made with, and keeps what it was asked.
package final class ScriptedPrompt: PermissionPrompt {
  package let asked = Gathered<String>()
  private let decision: PermissionDecision?
  private let more: [LocalIdentifier]

  package init(_ decision: PermissionDecision?, more: [LocalIdentifier] = []) {
    self.decision = decision
    self.more = more
  }

  package func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? {
    asked.append("\(client.name) \(level): \(client.usageDescription(for: level) ?? "")")
    return decision
  }

  package func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] {
    asked.append("more for \(client.name)")
    return more
  }
}

/// A confirmation handler that confirms everything, and does something the first time that it is asked.
package final class Racer: ChangeConfirmation {
  private let body: @Sendable () -> Void
  private let count = Gathered<Int>()

  package init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  package func confirm(_ proposal: ChangeProposal) -> Bool {
    count.append(1)
    if count.all.count == 1 { body() }
    return true
  }
}

extension SmallLibrary {
  /// The library as a client sees it that has a permission and, if it is limited, a selection.
  package func ruleClient(
    _ status: AuthorizationStatus, _ selection: [LocalIdentifier] = [], for level: AccessLevel = .readWrite,
    named name: String = "com.example.app"
  ) async throws -> PhotoLibrary {
    try await change { block in
      block.register(client: name, .described)
      if status != .notDetermined { block.setAuthorizationStatus(status, of: name, for: level) }
      block.grant(selection, to: name)
    }
    return library.as(name)
  }

  /// What a smart album of a subtype shows a client.
  package func smartMembers(_ subtype: AlbumSubtype, of client: PhotoLibrary? = nil) throws -> [LocalIdentifier] {
    let client = client ?? library
    guard let album = try client.fetchCollections(with: .smartAlbum, subtype: subtype).firstObject else {
      throw Divergence("There is no smart album of the subtype \(subtype.rawValue).")
    }
    return try client.fetchAssets(FetchOptions(), in: album).map(\.id)
  }
}

/// The error with which a client's block fails, after checking that it left nothing in the library; nil if it does not.
package func failure(
  of client: PhotoLibrary, _ block: (ChangeBlock) throws -> Void
) async throws -> LibraryError? {
  let owner = client.as(PhotoLibrary.owner)
  let before = try owner.currentToken
  do {
    try await client.performChanges(block)
    return nil
  } catch let error as LibraryError {
    if try owner.currentToken != before { throw Divergence("A block that failed left a commit (CB-06).") }
    return error
  }
}
