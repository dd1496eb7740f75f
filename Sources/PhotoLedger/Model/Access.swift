// What a client is shown of the library: the one place that decides it.
//
// A client with limited access must not learn of an object outside its part of the library, whether by a fetch, a
// count, a change, an identifier, the cover of an album or a stack. The same decision is needed at every state: now, as
// of a moment, before and after a commit, and inside the writer's transaction. Made in each of these places anew, it
// would differ in one of them some day, and that one would leak. So all of them ask the access of the client:
//
//     permission of the client            access             assets                    collections       stacks
//     the owner; readWrite authorized     full               all                       all               as they are
//     readWrite limited                   limited(client)    members of its selection  its own and the   none
//                                                                                      built-in ones
//     limited, following an album         limited(client)    the same; the writer keeps the selection equal to the
//                                                            album (Decider+Following.swift)
//     addOnly authorized                  none               nothing; it may only add (`Permission.mayAdd`)
//     denied, restricted, undecided       none               nothing
//
//     decision                                         made by                   from
//     is this asset shown?                             showsAsset(_:)            its place in the client's selection
//         now, and in a transaction of the writer        Projections.shows         ⎫
//         as of an event                                 LibraryStore.shows        ⎬ supply the look-up
//         before and after a delta                       Delta.shows               ⎭
//     is this collection shown?                        shows(_:)                 its row
//     what of a row is shown?                          seen(by:)                 the row
//     are stacks shown, in rows, conditions, orders?   showsStacks               the access alone
//     whose members and revisions are read?            selection                 the access alone
//     what does a client see while it is limited?      limitedAccess             the row of the client
//                                                      creatorsAccess            the row of its collection
//     by what do its own additions count?              accessToAdditions         its permission
//     may it be offered more assets?                   mayBeOfferedMore          the row of the client
//
// The cases are private, so that no other file can match them. Other files ask one of these, or compare with `full` and
// `none`.
//
// A limited fetch does not test every asset of the library: it reads the members of the selection
// (LibraryStore+Fetching.swift), or intersects a stored order with them (SelectedOrders.swift). Which clients a commit
// concerns is the inverse question (ClientRevisions.swift). What a client picked is given to it beside its access, by
// token (module LibraryPicking).
//
// Invariant: an object is in a result, a change or an answer for a client only if its access shows the object, and its
// row leaves the store only as the access sees it: an `Asset` or a `PhotoCollection` is not made without an access.
//
// A selection is a container, as an album is: the client's number is the container's, a member's key is the asset's
// number. So everything that follows memberships (deltas, composition, as-of views) follows selections too, and a
// limited fetch is a fetch whose scope is intersected with one more container. Rejected: a list of grants beside the
// memberships, which would need a second description of how memberships are added, removed and reverted. Rejected: a
// filter that removes from finished results what a client may not see. Counts, positions and index changes come from
// the tree of a result, so they would still be those of the whole library.

/// What of the library a query or a request may touch.
package struct Access: Hashable, Sendable {
  private enum Extent: Hashable, Sendable {
    case full
    /// The assets that the client has selected, and the collections that it made.
    case limited(ObjectNumber)
    case none
  }

  private let extent: Extent

  /// Everything.
  package static var full: Access { Access(.full) }
  /// Nothing.
  package static var none: Access { Access(.none) }

  private init(_ extent: Extent) { self.extent = extent }

  /// The access of a client by its status for reading and writing.
  package init(_ status: AuthorizationStatus, of client: ObjectNumber) {
    extent =
      switch status {
      case .authorized: .full
      case .limited: .limited(client)
      case .notDetermined, .restricted, .denied: .none
      }
  }

  /// The client whose selection decides; nil where none does.
  package var selection: ObjectNumber? { if case .limited(let client) = extent { client } else { nil } }

  /// Whether an asset is shown, hidden and trashed ones included.
  /// - Parameter place: the place of the asset in the selection of a client at the state in question; called only if it
  ///   decides.
  @inline(__always)
  func showsAsset(_ place: (_ client: ObjectNumber) throws -> OrderKey?) rethrows -> Bool {
    switch extent {
    case .full: true
    case .limited(let client): try place(client) != nil
    case .none: false
    }
  }

  /// Whether a collection is shown, a deleted one included.
  package func shows(_ row: CollectionRow) -> Bool {
    switch extent {
    case .full: true
    case .limited(let client): row.creator == client || row.isBuiltIn
    case .none: false
    }
  }

  /// Whether stacks are shown: the top of one may be an asset that a limited client cannot see.
  var showsStacks: Bool { extent == .full }
}

extension Permission {
  /// The access by which a client's own additions count: a client that is shown nothing has them in its selection.
  var accessToAdditions: Access {
    guard access == .none, let client else { return access }
    return Access(.limited, of: client)
  }
}

extension ClientRow {
  /// What the client is shown.
  package var access: Access { Access(readWrite.status, of: number) }

  /// What it is shown while its access is limited, whatever its status is.
  package var limitedAccess: Access { Access(.limited, of: number) }

  /// Whether it may be offered more assets: its access is limited to a selection that is made by hand.
  var mayBeOfferedMore: Bool { access.selection != nil && followedAlbum == nil }
}

extension AssetRow {
  /// The row as an access shows it.
  func seen(by access: Access) -> AssetRow { access.showsStacks ? self : unstacked }

  /// Whether ordinary fetches by a client with that access show the asset in its albums, regardless of the selection.
  func isVisible(to access: Access) -> Bool { access.showsStacks ? isVisible : isVisibleInSelections }
}

extension CollectionRow {
  /// What the client that made the collection is shown while its access is limited.
  var creatorsAccess: Access { Access(.limited, of: creator) }

  /// The row as an access shows it: a limited client gets the counts, the date and the cover by its own selection.
  func seen(by access: Access) -> CollectionRow {
    guard access.selection != nil, !isBuiltIn else { return self }
    var row = self
    row.assetCount = creatorCount
    row.memberCount = creatorCount
    row.modificationDate = creatorDate
    row.cover = creatorCover
    return row
  }
}
