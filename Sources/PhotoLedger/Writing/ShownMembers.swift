import CountedTree

// The members that a client sees in a container, by position, for a block that counts positions in it many times.
//
// `members` has no ranks: the member at an index is found by a walk from the nearer end. One request in a block may
// well walk; a block of ten thousand would walk an album of a hundred thousand ten thousand times, while every other
// writer waits. So the steps are counted, and when they reach the number of members, the shown ones are listed:
//
//     walked 0 ── a request ──► walked 700 ── … ──► walked ≥ members ── the next request ──► listed
//       ▲                                                                                      │
//       └────────────── an event whose effect on the list is not worked out here ◄─────────────┤
//                                                              every other event: the list is edited
//
// Listing costs as many steps as had been walked before, so a block pays at most twice for its walks, and O(log n) for
// each request after that. Lists live as long as their block.
//
// Invariant: after each event, a list holds the members of its container that the client sees, in their order.
//
// Rejected: ranks in the store. Each edit of an album would write the path of a counted tree, for requests that a
// gallery does not make: it passes the result that it shows, which has ranks. Lists that outlive their block, too: each
// would have to follow commits of other processes and blocks that failed, to save one walk.

/// The shown members of the containers in which a block has walked far enough.
struct ShownMembers {
  struct List {
    /// Sorted by their places: the words are order keys.
    var members: CountedTree<NarrowKey>
    var holdsAssets: Bool
  }

  /// How many steps the block has taken in each container that is not listed.
  private var walked: [ObjectNumber: Int] = [:]
  private var lists: [ObjectNumber: List] = [:]
  private var listedCount = 0

  /// The most members in all lists together; their keys take 64 MB.
  static let limit = 4_000_000

  /// Whether nothing is listed, so that no event matters.
  var isEmpty: Bool { lists.isEmpty }

  /// The list of a container, if there is one.
  subscript(container: ObjectNumber) -> List? { lists[container] }

  /// Whether a container is to be listed instead of walked once more.
  func isWorthListing(_ container: ObjectNumber, memberCount: Int) -> Bool {
    walked[container].map { $0 >= memberCount } ?? false
  }

  mutating func noteWalk(of container: ObjectNumber, steps: Int) { walked[container, default: 0] += steps }

  mutating func list(_ members: CountedTree<NarrowKey>, of container: ObjectNumber, holdingAssets: Bool) {
    if listedCount + members.count > Self.limit { forget() }
    walked[container] = nil
    lists[container] = List(members: members, holdsAssets: holdingAssets)
    listedCount += members.count
  }

  mutating func insert(_ child: ObjectNumber, at key: OrderKey, in container: ObjectNumber) {
    let key = NarrowKey(word: key.rawValue, number: child)
    if lists[container]?.members.insert(key).inserted == true { listedCount += 1 }
  }

  mutating func remove(_ child: ObjectNumber, at key: OrderKey, from container: ObjectNumber) {
    let key = NarrowKey(word: key.rawValue, number: child)
    if lists[container]?.members.remove(key) != nil { listedCount -= 1 }
  }

  /// Drops all lists; walks are counted anew.
  mutating func forget() {
    lists = [:]
    walked = [:]
    listedCount = 0
  }

  #if DEBUG
    /// The lists that are short enough to be compared with the store after each event.
    var shortLists: [ObjectNumber: List] { lists.filter { $0.value.members.count <= 64 } }
  #endif
}
