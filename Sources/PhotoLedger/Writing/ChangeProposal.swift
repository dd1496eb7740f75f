import Synchronization

// Confirmation (CB-12): a caller may install a handler that receives a whole block before anything of it is stored, and
// can reject it. It corresponds to the dialogue that a phone shows before an app deletes photos. A rejected block fails
// with 3072 and leaves nothing: no event, no file.

/// A handler that decides whether a block of changes is executed.
public protocol ChangeConfirmation: Sendable {
  /// Whether to execute a block; called once for each block, on a thread that may wait, and for several blocks at once.
  ///
  /// A handler may wait for the main queue, also about a block that was sent from there, unless the sender blocks that
  /// queue until the commit, as with ``PhotoLibrary/performChangesAndWait(cause:key:_:)``.
  ///
  /// Must not change the library and wait for it.
  func confirm(_ proposal: ChangeProposal) -> Bool
}

/// The requests of a block, for the confirmation handler.
public struct ChangeProposal: Sendable {
  /// The client that asks.
  public let client: String
  /// Why, if it said so.
  public let cause: String?
  /// How many assets it adds.
  public private(set) var createdAssetCount = 0
  /// The titles of the albums, smart albums and folders that it makes.
  public private(set) var createdCollectionTitles: [String] = []
  /// The assets that it changes, or adds files to.
  public private(set) var editedAssets: [LocalIdentifier] = []
  /// The assets that it moves to the trash.
  public private(set) var deletedAssets: [LocalIdentifier] = []
  /// The assets that it brings back from the trash.
  public private(set) var restoredAssets: [LocalIdentifier] = []
  /// The assets that it removes permanently.
  public private(set) var purgedAssets: [LocalIdentifier] = []
  /// The assets that it erases: their files, and their data in the log.
  public private(set) var erasedAssets: [LocalIdentifier] = []
  /// The collections that it renames, deletes, or whose content it changes; nil is the top level.
  public private(set) var editedCollections: [LocalIdentifier?] = []
  /// The collections that it deletes.
  public private(set) var deletedCollections: [LocalIdentifier] = []
  /// The clients about which it decides.
  public private(set) var editedClients: [String] = []

  init(_ requests: [ChangeRequest], client: String, cause: String?) {
    self.client = client
    self.cause = cause
    for request in requests { take(request) }
  }

  package init(erasing assets: [LocalIdentifier], client: String, cause: String?) {
    self.client = client
    self.cause = cause
    erasedAssets = assets
  }

  private mutating func take(_ request: ChangeRequest) {
    switch request {
    case .createAsset: createdAssetCount += 1
    case .editAssets(let assets, _): editedAssets += assets
    case .addResources(_, let asset, _, _), .setRepresentative(let asset), .editContent(let asset, _),
      .revertContent(let asset, _), .relocate(_, let asset):
      editedAssets.append(asset)
    case .trashAssets(let assets): deletedAssets += assets
    case .restoreAssets(let assets): restoredAssets += assets
    case .purgeAssets(let assets): purgedAssets += assets
    case .mergeAssets(let assets, let keeper):
      // Which albums it changes is known at the commit.
      editedAssets.append(keeper)
      deletedAssets += assets
    // Which other members of stacks it changes is known at the commit.
    case .stackAssets(let assets, let top): editedAssets += [top] + assets
    case .unstackAssets(let assets): editedAssets += assets
    case .createCollection(_, let title, _, _): createdCollectionTitles.append(title)
    case .setTitle(_, let collection): editedCollections.append(collection)
    case .setCover(_, let album): editedCollections.append(album)
    case .deleteCollections(let collections): deletedCollections += collections
    case .insert(_, let container, _), .remove(_, let container), .removeAt(_, let container),
      .replaceAt(_, let container, _), .moveAt(_, let container, _):
      editedCollections.append(container.identifier)
    case .client(let name, _): editedClients.append(name)
    case .undo(let order): take(order)
    case .shortenHistory, .eraseAssets: break
    }
  }
}

extension ChangeProposal {
  /// An undo as what it comes to.
  private mutating func take(_ order: UndoOrder) {
    for change in order.preview?.changes ?? [] {
      guard let identifier = LocalIdentifier(change.object) else {
        editedClients.append(change.object)
        continue
      }
      switch change.kind {
      case .creation where change.isAboutAsset, .trash: deletedAssets.append(identifier)
      case .restoration where change.isAboutAsset, .purge: restoredAssets.append(identifier)
      case .property where change.isAboutAsset: editedAssets.append(identifier)
      case .creation: deletedCollections.append(identifier)
      case .property, .restoration: editedCollections.append(identifier)
      case .membership: editedCollections.append(change.container.flatMap { LocalIdentifier($0) })
      case .permission: editedClients.append(change.object)
      case .history: break
      }
    }
  }
}

extension PhotoLibrary {
  /// Installs a handler that confirms blocks of every client before they are executed; nil: none (CB-12).
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner.
  public func setChangeConfirmation(_ confirmation: (any ChangeConfirmation)?) throws {
    try checkIsOwner("install a confirmation handler")
    store.installed((any ChangeConfirmation).self).install(confirmation)
  }
}
