public import Foundation
import Synchronization

/// The requests of one atomic change, as they are collected in `performChanges` (PHAssetChangeRequest and its kin).
///
/// Nothing happens until the block returns; then all of it does, or nothing (CB-01, CB-06). A new object's identifier
/// is known at once and may be used by later requests of the same block (CB-07). Indexes count on the state as the
/// earlier requests of the block left it, or on the result that an editor was made with (AL-05).
///
/// A block belongs to the call that made it: it is not Sendable, and requests after the call has returned trap (CB-02).
public final class ChangeBlock {
  /// The collecting that this task or thread is inside: another one inside it is rejected (CB-03).
  @TaskLocal static var collecting: Collecting?

  package private(set) var requests: [ChangeRequest] = []
  package private(set) var created: [LocalIdentifier] = []
  /// Requests about what lies beside the log, such as upload jobs; a block has these or the others.
  package private(set) var errands: [any BlockErrand] = []
  /// Whether assets in the trash do not exist for the block's requests, as in `Photos` (PH-05), unless it trashes them.
  package var hidesTrash = false
  private let makeIdentifier: () -> LocalIdentifier
  private var isOpen = true

  package init(makeIdentifier: @escaping () -> LocalIdentifier) {
    self.makeIdentifier = makeIdentifier
  }

  /// Ends the collecting; every later request traps.
  package func close() { isOpen = false }

  package func add(_ request: ChangeRequest) {
    requireOpen()
    requests.append(request)
  }

  package func add(_ errand: some BlockErrand) {
    requireOpen()
    errands.append(errand)
  }

  private func requireOpen() {
    requireCorrectUse(
      isOpen, "A change block was used after performChanges had returned; use it inside the block (CB-02).")
  }

  private func newIdentifier() -> LocalIdentifier {
    let identifier = makeIdentifier()
    created.append(identifier)
    return identifier
  }

  // MARK: Assets

  /// Creates an asset and gives its identifier at once (PHAssetCreationRequest).
  /// - Parameter creation: what is to be known of it.
  /// - Returns: the identifier that the asset will have.
  @discardableResult
  public func createAsset(_ creation: AssetCreation) -> LocalIdentifier {
    let identifier = newIdentifier()
    add(.createAsset(creation, as: identifier))
    return identifier
  }

  /// Continues the creation of an asset by an earlier request of this block.
  ///
  /// The creation stays at its place among the requests. Traps for an asset that this block does not create.
  package func revise(_ asset: LocalIdentifier, _ body: (inout AssetCreation) -> Void) {
    requireCorrectUse(
      isOpen, "A creation was changed after performChanges had returned; change it inside the block (CB-02).")
    let place = requests.lastIndex { if case .createAsset(_, asset) = $0 { true } else { false } }
    guard let place, case .createAsset(var creation, _) = requests[place] else {
      fatalError("The asset \(asset.uuidString) is not created by this block.")
    }
    body(&creation)
    requests[place] = .createAsset(creation, as: asset)
  }

  /// Sets properties of assets; each asset whose properties differ is given a new modification date (AS-01).
  /// - Parameters:
  ///   - assets: the assets.
  ///   - changes: what to set.
  public func edit(_ assets: [LocalIdentifier], _ changes: AssetChanges) { add(.editAssets(assets, changes)) }

  /// Marks assets as favourites, or not.
  public func setFavorite(_ isFavorite: Bool, for assets: [LocalIdentifier]) {
    var changes = AssetChanges()
    changes.isFavorite = isFavorite
    edit(assets, changes)
  }

  /// Hides assets, or shows them again.
  public func setHidden(_ isHidden: Bool, for assets: [LocalIdentifier]) {
    var changes = AssetChanges()
    changes.isHidden = isHidden
    edit(assets, changes)
  }

  /// Adds files to an existing asset, such as the video that makes a still a Live Photo (LP-01); an edited still
  /// becomes one when its edit is reverted.
  /// - Parameters:
  ///   - resources: the files.
  ///   - asset: the asset they belong to.
  ///   - changes: properties that the new files bring with them.
  ///   - types: types of existing resources that become others: a video becomes a paired video when its still comes.
  public func addResources(
    _ resources: [ResourceDraft], to asset: LocalIdentifier, changing changes: AssetChanges = AssetChanges(),
    retyping types: [ResourceType: ResourceType] = [:]
  ) {
    add(.addResources(resources, to: asset, changes, retyping: types))
  }

  /// Moves assets to the trash; their places in albums are kept (AS-14, PHAssetChangeRequest.deleteAssets).
  public func deleteAssets(_ assets: [LocalIdentifier]) { add(.trashAssets(assets)) }

  /// Brings assets back from the trash, to every place they had.
  public func restoreAssets(_ assets: [LocalIdentifier]) { add(.restoreAssets(assets)) }

  /// Removes trashed assets permanently, with their memberships and their files.
  public func purgeAssets(_ assets: [LocalIdentifier]) { add(.purgeAssets(assets)) }

  /// Merges duplicates into one asset; no counterpart in PhotoKit.
  ///
  /// The keeper is put before the first of the others in each album that has some of them and not the keeper, becomes
  /// the cover where one of them was, is a favourite if any is, and gets the keywords of all. Its caption, rating, date
  /// and location stay, or come from the others where it lacks them. The others go to the trash, with their places and
  /// files. Needs full access.
  /// - Parameters:
  ///   - assets: the others; of the same media type, and none of them in the trash.
  ///   - keeper: the asset that stays.
  public func merge(_ assets: [LocalIdentifier], into keeper: LocalIdentifier) {
    add(.mergeAssets(assets, into: keeper))
  }

  /// Stacks assets, so that ordinary fetches show the one on top in place of all; no counterpart in PhotoKit.
  ///
  /// A top that has a stack already keeps it, and the others join; any other top begins a new one. What was in another
  /// stack leaves that; where it was the top, the oldest of the rest takes over, and a stack of one asset dissolves.
  /// With no others, an asset beneath the top of its stack becomes the top. Modification dates stay. Needs full access.
  /// - Parameters:
  ///   - top: the asset on top.
  ///   - others: at most 999 assets with those that are in the stack already; like the top, none of them may be synced
  ///     or shared, in the trash, or behind the representative of a burst.
  public func stack(top: LocalIdentifier, others: [LocalIdentifier]) { add(.stackAssets(others, under: top)) }

  /// Takes assets out of their stacks; no counterpart in PhotoKit.
  ///
  /// The top of a stack takes the whole stack apart, and so does the last but one of its members. An asset in no stack
  /// is passed over. Needs full access.
  public func unstack(_ assets: [LocalIdentifier]) { add(.unstackAssets(assets)) }

  /// Makes a member of a burst its representative (BU-01).
  public func setRepresentative(ofBurst asset: LocalIdentifier) { add(.setRepresentative(asset)) }

  // MARK: Clients

  /// Registers a client, or updates its registration; a client may do so for itself, the owner for all.
  /// - Parameters:
  ///   - name: the client's name, 1 to 256 bytes, none of them zero.
  ///   - registration: its usage descriptions and prompt preferences.
  public func register(client name: String, _ registration: ClientRegistration = ClientRegistration()) {
    add(.client(named: name, .register(registration)))
  }

  /// Decides what a client may do at a level (AU-09); only the owner may.
  public func setAuthorizationStatus(
    _ status: AuthorizationStatus, of client: String, for level: AccessLevel = .readWrite
  ) {
    add(.client(named: client, .setStatus(status, level)))
  }

  /// Adds assets to what a limited client sees (AU-04); only the owner may.
  public func grant(_ assets: [LocalIdentifier], to client: String) { add(.client(named: client, .grant(assets))) }

  /// Takes assets from what a limited client sees (AU-04); their places in its albums are kept. Only the owner may.
  public func withdraw(_ assets: [LocalIdentifier], from client: String) {
    add(.client(named: client, .withdraw(assets)))
  }

  /// Makes the selection of a client follow the members of an album from now on; only the owner may.
  ///
  /// Assets that join or leave the album join or leave the selection in the same commit, and assets that the client
  /// adds join the album. Grants and withdrawals are not possible meanwhile. While the album is deleted, the selection
  /// is empty. See <doc:Permissions>.
  /// - Parameters:
  ///   - album: an album that is not smart; nil: the selection is kept and edited manually from then on.
  ///   - client: the client's name.
  public func follow(_ album: LocalIdentifier?, as client: String) {
    add(.client(named: client, .follow(album)))
  }

  // MARK: Collections

  /// Creates an album at the end of the top level (PHAssetCollectionChangeRequest).
  /// - Parameter title: its title; titles need not be unique (AL-08).
  /// - Returns: the identifier that the album will have.
  @discardableResult
  public func createAlbum(title: String) -> LocalIdentifier {
    let identifier = newIdentifier()
    add(.createCollection(.album, title: title, nil, as: identifier))
    return identifier
  }

  /// Creates a folder at the end of the top level (PHCollectionListChangeRequest).
  /// - Parameter title: its title.
  /// - Returns: the identifier that the folder will have.
  @discardableResult
  public func createFolder(title: String) -> LocalIdentifier {
    let identifier = newIdentifier()
    add(.createCollection(.folder, title: title, nil, as: identifier))
    return identifier
  }

  /// Creates a smart album at the end of the top level: whatever satisfies a condition, in an order (AL-07).
  ///
  /// The condition cannot be changed later.
  /// - Parameters:
  ///   - title: its title.
  ///   - condition: the condition for its assets.
  ///   - sort: the sort terms; none: the order of addition.
  ///   - includesHidden: whether hidden assets are shown in it.
  /// - Returns: the identifier that the smart album will have.
  @discardableResult
  public func createSmartAlbum(
    title: String, where condition: Condition, sortedBy sort: [SortTerm] = [],
    includingHidden includesHidden: Bool = false
  ) -> LocalIdentifier {
    let identifier = newIdentifier()
    var query = SmartAlbumQuery(.smartAlbumGeneric, where: condition, sortedBy: sort.map(\.description))
    query.includesHidden = includesHidden
    add(.createCollection(.smartAlbum, title: title, query, as: identifier))
    return identifier
  }

  /// Renames an album or folder.
  /// - Parameters:
  ///   - title: its new title.
  ///   - collection: the album or folder; nil is the top level, which cannot be renamed and fails the block (FR-13).
  public func setTitle(_ title: String, of collection: LocalIdentifier?) { add(.setTitle(title, of: collection)) }

  /// Chooses the asset that stands for an album; the block fails unless an ordinary fetch in the album shows the asset.
  ///
  /// PhotoKit reads this choice (`PHAsset.fetchKeyAssets(in:options:)`) and has no request to make it. The modification
  /// date of the album stays.
  /// - Parameters:
  ///   - asset: a visible member of the album; nil takes the choice back.
  ///   - album: an album; smart albums and folders have no cover of their own and fail the block.
  public func setCover(_ asset: LocalIdentifier?, of album: LocalIdentifier) { add(.setCover(asset, of: album)) }

  /// Deletes albums, and folders with everything in them; assets stay (AL-02, FO-03).
  public func deleteCollections(_ collections: [LocalIdentifier]) { add(.deleteCollections(collections)) }

  /// An editor for the assets of an album, whose indexes count on the state so far.
  public func album(_ album: LocalIdentifier) -> ContentEditor { ContentEditor(block: self, container: album) }

  /// An editor for the assets of an album, whose indexes count on a result that the caller holds (AL-05).
  /// - Parameters:
  ///   - album: the album.
  ///   - assets: a result of fetching the album's assets; the requests fail the block if it cannot be read, with
  ///     `.tokenExpired` if only its beginning was read before an asset was erased.
  public func album(_ album: LocalIdentifier, assets: FetchResult<Asset>) -> ContentEditor {
    ContentEditor(block: self, container: album, basis: assets.basis)
  }

  /// An editor for the albums and folders of a folder; nil edits the top level (FO-04).
  public func folder(_ folder: LocalIdentifier?) -> ContentEditor { ContentEditor(block: self, container: folder) }

  /// An editor for the children of a folder, whose indexes count on a result that the caller holds (AL-05); its
  /// requests fail the block if that cannot be read.
  public func folder(_ folder: LocalIdentifier?, collections: FetchResult<PhotoCollection>) -> ContentEditor {
    ContentEditor(block: self, container: folder, basis: collections.basis)
  }
}

extension FetchResult {
  /// The result for the writer, which throws what it cannot be read for.
  fileprivate var basis: Result<ResultCore, LibraryError> { Result { try core }.mapError { LibraryError($0) } }
}

/// Whether a block's requests are still being collected.
///
/// A task that is begun inside a block inherits this, and may go on when the block has returned.
final class Collecting: Sendable {
  private let hasEnded = Atomic(false)

  var isGoingOn: Bool { !hasEnded.load(ordering: .relaxed) }

  func end() { hasEnded.store(true, ordering: .relaxed) }
}

/// Edits the ordered content of one album or folder inside a change block.
public struct ContentEditor {
  private let block: ChangeBlock
  private var container: ChangeRequest.Container

  init(block: ChangeBlock, container: LocalIdentifier?, basis: Result<ResultCore, LibraryError>? = nil) {
    self.block = block
    self.container = ChangeRequest.Container(identifier: container, basis: basis)
  }

  /// An editor whose requests fail the block with `.conflict` unless the indexes name what the caller expects.
  package func expecting(_ expectation: ContentExpectation) -> ContentEditor {
    var editor = self
    editor.container.expectation = expectation
    return editor
  }

  /// Puts members at the end; those that are in it already stay where they are (AL-06).
  ///
  /// Folders are at most 64 levels deep, of those that the client sees: a block that would make more, and deeper ones
  /// than before, fails with `.limitExceeded`.
  public func add(_ members: [LocalIdentifier]) { block.add(.insert(members, container, at: nil)) }

  /// Puts members before the one that has an index.
  /// - Parameters:
  ///   - members: assets for an album, albums and folders for a folder; one that is in it already stays (AL-06).
  ///   - index: a position in the shown content, 0 to its count.
  public func insert(_ members: [LocalIdentifier], at index: Int) { block.add(.insert(members, container, at: index)) }

  /// Takes members out; the objects stay in the library (AL-01), a collection goes to the end of the top level (FO-01).
  public func remove(_ members: [LocalIdentifier]) { block.add(.remove(members, container)) }

  /// Takes out the members at positions of the shown content.
  public func remove(at indexes: IndexSet) { remove(at: Array(indexes)) }

  /// As ``remove(at:)``, with numbers that come from outside: an index set has no place for the largest.
  package func remove(at indexes: [Int]) { block.add(.removeAt(indexes, container)) }

  /// Puts new members in the places of others; one that is in it already is moved, never doubled (AL-04).
  /// - Parameters:
  ///   - indexes: positions of the shown content.
  ///   - members: as many members, for the positions in ascending order.
  public func replace(at indexes: IndexSet, with members: [LocalIdentifier]) {
    replace(at: Array(indexes), with: members)
  }

  /// As ``replace(at:with:)``, with numbers that come from outside, in any order: each member is for the position at
  /// its place in the list.
  package func replace(at indexes: [Int], with members: [LocalIdentifier]) {
    block.add(.replaceAt(indexes, container, with: members))
  }

  /// Takes out the members at positions of the shown content, then puts them in again (AL-03).
  /// - Parameters:
  ///   - indexes: positions of the shown content.
  ///   - destination: a position in the content without the members that are moved.
  public func move(at indexes: IndexSet, to destination: Int) {
    move(at: Array(indexes), to: destination)
  }

  /// As ``move(at:to:)``, with numbers that come from outside.
  package func move(at indexes: [Int], to destination: Int) {
    block.add(.moveAt(indexes, container, to: destination))
  }
}

/// A request of a change block about something that lies beside the log.
package protocol BlockErrand: Sendable {
  /// Executes the errands of one block, which are all of one kind: all of them or none.
  static func execute(_ errands: [Self], for library: PhotoLibrary) throws
}

extension BlockErrand {
  fileprivate static func execute(_ errands: [any BlockErrand], for library: PhotoLibrary) throws {
    let own = errands.compactMap { $0 as? Self }
    guard own.count == errands.count else {
      throw LibraryError(
        .changeNotSupported, "A change block has requests of two kinds that cannot be mixed; use two blocks.")
    }
    try execute(own, for: library)
  }
}

extension ChangeBlock {
  /// Executes the errands of the block, all or none.
  func executeErrands(for library: PhotoLibrary) throws {
    guard let first = errands.first else { return }
    try type(of: first).execute(errands, for: library)
  }
}
