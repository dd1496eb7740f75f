// A query defines the objects of a result and their order; a window defines the range of it that is shown.
//
// Equality of queries decides which results share one live tree, so a query is normalised when it is made: the
// condition in its normal form, each sort key once, the hidden and trash flags as they are. Windows are kept apart: two
// results that differ only in their limit share a tree.

/// Which objects a result holds, and in what order.
package struct Query: Hashable, Sendable {
  /// Where the objects are looked for.
  package enum Scope: Hashable, Sendable {
    /// The whole library.
    case library
    /// The members of an album, or the children of a folder.
    case members(of: ObjectNumber)
    /// Objects fetched by identifier.
    case objects(Set<ObjectNumber>)
    /// The objects of a transient collection, each with its place (FR-16).
    case listed([ObjectNumber: OrderKey])
    /// The collections that contain an object.
    case containing(ObjectNumber)
  }

  /// What a result does with the trash.
  package enum Trash: Hashable, Sendable {
    case without
    case only
  }

  package var entity: Entity
  package var scope: Scope
  package var condition: Condition
  package var sort: [SortTerm]
  package var includesHidden = false
  /// Whether members of a burst are shown that neither represent it nor were picked (FR-07).
  package var includesAllBurst = false
  /// Whether assets beneath the top of a stack are shown.
  package var includesAllStack = false
  /// Where assets may come from (FR-08); an asset that comes from nowhere known is always shown.
  package var sources = SourceTypes.all
  /// Whether the library's own smart albums are among the collections.
  package var includesBuiltIn = false
  package var trash = Trash.without
  /// The words that are looked for; nil: whatever the words.
  package var search: SearchText?
  /// The access of the client: clients with different access never share a result.
  package var access = Access.full
  /// Whether the client has access to the album or folder of the scope; otherwise its content is empty.
  package var isScopeShown = true

  /// Whether the result can hold anything at all.
  var isOpen: Bool { access != .none && isScopeShown }

  package init(_ entity: Entity, _ scope: Scope, where condition: Condition = .always, sortedBy sort: [SortTerm] = []) {
    self.entity = entity
    self.scope = scope
    self.condition = condition.normalized()
    // Objects that are equal by a key are so by a later term of it, whatever its direction.
    var known: Set<PropertyKey> = []
    self.sort = sort.filter { known.insert($0.key).inserted }
  }
}

/// The range of a result that is shown.
package struct Window: Hashable, Sendable {
  /// How many objects are passed over first.
  package var offset = 0
  /// The most objects that are shown; nil: all (FR-05).
  package var limit: Int?

  package init(offset: Int = 0, limit: Int? = nil) {
    self.offset = offset
    self.limit = limit
  }
}
