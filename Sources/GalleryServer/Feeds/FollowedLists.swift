#if Gallery
  import PhotoLedger
  import Synchronization

  // The memory of the lists that feeds and waiting polls follow.
  //
  //   follower ─▶ orders that it keeps ─▶ origin ─▶ counted once for the key, once for its client, once in all
  //
  // A list has a key for each asset, and a follower keeps the one that its client holds and that of the live query.
  // Lists that were stepped from one another share their memory (`OrderOrigin`): equal fetches that are followed at the
  // same time, whatever their limits and whichever clients with full access they are of, and the states of a list. Such
  // lists count once. Equal keys that were fetched apart, as at an earlier state, are memory of their own and count.
  // An origin counts with the size that it had when it was first counted. It ends once one key in 256 was changed, so
  // the error is small, and a list that goes on within its origin changes no counts.
  //
  // A list that is too large is not followed: the feed sends a `problem`, a request is answered with 429. A client that
  // comes back holds earlier states, each of which may be another tree: the orders of the live queries of all its lists
  // must fit into the limit, and these with what it holds into twice the limit. So there are two counts (`Tally`), one
  // of live queries alone: a list is not refused for the earlier states of those that come back with it.
  //
  // What is followed may grow beyond that by commits. A feed that does nothing grows as well, as its live query does,
  // so the lists are counted anew every few seconds, when what has expired ends (`recount()`): not by a wake-up, for
  // which requests wait. A key or client whose live queries take twice its limit then loses its feeds, and so does one
  // whose lists take four times the limit in all; their clients come back after the time that the streams name, and are
  // admitted by the limit. A poll ends by itself. Growth beyond the limit of all ends nothing: its reason is not one
  // client's.
  //
  // Four times: a client that comes back is admitted with twice the limit, and each change on its way to the present
  // leads to a further tree, which is kept beside the one before it until it is sent.
  //
  // Invariant: what is kept is counted until it is released. A message that waits for its client keeps the lists before
  // and after it, so while a change is sent, lists are only added (`add()`); when it is sent, what is kept is counted
  // anew (`settle()`). Of a live query there is one order, the present one.
  //
  // Rejected: counting fetches by name (the same list at many earlier states is many trees; one list with many limits
  // is one), and counting each state of a list (clients that lag a little would seem to have several lists).

  /// What the lists take that are followed, by key, by client and in all.
  final class FollowedLists: Sendable {
    /// In whose name a list is counted.
    fileprivate enum Holder: Hashable {
      case all
      case key(String)
      case client(ExactText)
    }

    /// An order that is kept, and how many lists of each holder keep it.
    fileprivate struct Kept {
      /// The first one that was counted of its origin.
      let order: KeptOrder
      var uses: [Holder: Int] = [:]

      /// Counts one more list of a holder.
      /// - Returns: how many bytes more the holder has.
      mutating func add(for holder: Holder) -> Int {
        uses[holder, default: 0] += 1
        return uses[holder] == 1 ? order.byteCount : 0
      }

      /// Counts one list of a holder less.
      /// - Returns: how many bytes less the holder has.
      mutating func remove(for holder: Holder) -> Int {
        guard let count = uses[holder] else { return 0 }
        uses[holder] = count > 1 ? count - 1 : nil
        return count > 1 ? 0 : order.byteCount
      }
    }

    /// What orders take, by holder.
    fileprivate struct Tally {
      /// By their origins, which they keep from being another object's identifier.
      private var kept: [ObjectIdentifier: Kept] = [:]
      private var byteCounts: [Holder: Int] = [:]

      func byteCount(of holder: Holder) -> Int { byteCounts[holder] ?? 0 }

      /// How many bytes more a holder would have with orders.
      func byteCount(adding orders: [KeptOrder], for holder: Holder) -> Int {
        var added: [ObjectIdentifier: Int] = [:]
        for order in orders {
          let origin = ObjectIdentifier(order.origin)
          if kept[origin]?.uses[holder] == nil { added[origin] = order.byteCount }
        }
        return added.values.reduce(0, +)
      }

      /// Counts one more list of holders.
      mutating func add(_ order: KeptOrder, for holders: [Holder]) {
        for holder in holders {
          let added = kept[ObjectIdentifier(order.origin), default: Kept(order: order)].add(for: holder)
          byteCounts[holder, default: 0] += added
        }
      }

      /// Counts one list of holders less.
      mutating func remove(_ origin: ObjectIdentifier, for holders: [Holder]) {
        for holder in holders {
          let freed = kept[origin]?.remove(for: holder) ?? 0
          let left = byteCount(of: holder) - freed
          byteCounts[holder] = left > 0 ? left : nil
        }
        if kept[origin]?.uses.isEmpty == true { kept[origin] = nil }
      }
    }

    /// A list that is followed.
    fileprivate struct Place {
      /// In whose name it is counted.
      let holders: [Holder]
      /// Whether its key has limits.
      let isLimited: Bool
      /// What it keeps, its live query included, as far as was read.
      var orders: FollowedOrders?
      /// How often that was said anew: what was read of it before counts no longer.
      var version = 0
      /// The origins that are counted for it.
      var origins: Set<ObjectIdentifier> = []
      /// Those of the results that it holds: they stay counted when the live query has another order.
      var pinned: Set<ObjectIdentifier> = []
      /// The one that is counted for its live query.
      var live: ObjectIdentifier?
      /// Ends what follows it.
      let end: @Sendable () -> Void
    }

    fileprivate struct State {
      var places: [Int: Place] = [:]
      var lastPlace = 0
      /// What all that is kept takes.
      var all = Tally()
      /// What the orders of live queries take.
      var live = Tally()
      /// In whose name the last list was counted: those of one key share this.
      var lastHolders: [Holder] = []
      /// What the last list was counted with, which most others keep as well.
      var lastOrigins: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())
    private let limits: GalleryLimits

    init(_ limits: GalleryLimits) { self.limits = limits }

    /// About how many bytes all lists take.
    var byteCount: Int { state.withLock { $0.all.byteCount(of: .all) } }

    /// About how many bytes those take that a key follows.
    func byteCount(ofKey name: String) -> Int { state.withLock { $0.all.byteCount(of: .key(name)) } }

    /// Whether a list of so many bytes fits that shares none of them with another.
    func hasRoom(for byteCount: Int, _ key: Keyring.Key) -> Bool {
      if key.scopes.contains(.owner) { return true }
      return state.withLock { state in
        Self.holders(of: key).allSatisfy { byteCount <= limit(of: $0) - state.all.byteCount(of: $0) }
      }
    }

    /// Counts a list from now on.
    /// - Parameters:
    ///   - changes: what leads the list on; it is begun.
    ///   - end: ends what follows the list, when its key or client has far too much.
    /// - Throws: ``Problem`` 429 if it does not fit; what making the list throws.
    /// - Complexity: O(1); O(n) for a list whose order was not made yet.
    func follow(
      _ changes: any FeedChanges, for key: Keyring.Key, end: @escaping @Sendable () -> Void = {}
    ) throws -> FollowedList {
      try changes.begin()
      let orders = changes.orders
      let live = orders?.live
      let now = orders?.all(with: live) ?? []
      let (holders, isLimited) = (Self.holders(of: key), !key.scopes.contains(.owner))
      let number = try state.withLock { (state) throws(Problem) -> Int in
        if isLimited {
          for holder in holders {
            try check(live.map { [$0] } ?? [], for: holder, in: state.live)
            try check(now, for: holder, in: state.all, atMost: 2)
          }
        }
        state.lastPlace += 1
        if state.lastHolders != holders { state.lastHolders = holders }
        let pinned = state.shared(Self.origins(of: orders?.held ?? []))
        state.places[state.lastPlace] = Place(
          holders: state.lastHolders, isLimited: isLimited, orders: orders, pinned: pinned, end: end)
        state.count(now, live, at: state.lastPlace)
        return state.lastPlace
      }
      return FollowedList(changes, number, self)
    }

    /// Counts anew what a place keeps.
    /// - Parameters:
    ///   - live: the order of the live query.
    ///   - keepsOthers: whether what was counted for it stays counted.
    fileprivate func update(
      _ number: Int, _ orders: FollowedOrders, _ live: KeptOrder?, keepingOthers keepsOthers: Bool
    ) {
      let now = orders.all(with: live)
      let origins = Self.origins(of: orders.held)
      // What it kept is freed after the lock: a long list takes a while.
      _ = state.withLock { state -> FollowedOrders? in
        guard let former = state.places[number] else { return nil }
        let pinned = keepsOthers ? former.pinned.union(origins) : state.shared(origins)
        state.places[number]?.orders = orders
        state.places[number]?.version += 1
        state.places[number]?.pinned = pinned
        state.count(now, live, at: number)
        return former.orders
      }
    }

    fileprivate func leave(_ number: Int) {
      _ = state.withLock { state -> Place? in
        state.setLive(nil, at: number)
        state.release(sparing: [], at: number)
        return state.places.removeValue(forKey: number)
      }
    }

    /// Counts all lists anew, and ends the feeds of keys and clients whose lists have grown too far.
    /// - Complexity: O(m) in the lists that are followed.
    func recount() {
      let places = state.withLock { state in
        state.places.compactMap { number, place in place.orders.map { (number, place.version, $0) } }
      }
      // Locked for each: followers that have a change wait for one place, not for all.
      for (number, version, orders) in places {
        let live = orders.live
        let now = orders.all(with: live)
        state.withLock { state in
          // A follower that went on meanwhile has counted what it keeps.
          guard state.places[number]?.version == version else { return }
          state.count(now, live, at: number)
        }
      }
      let ends = state.withLock { state in
        state.places.values.filter { place in
          place.isLimited && place.holders.contains { $0 != .all && hasFarTooMuch($0, state) }
        }.map { $0.end }
      }
      for end in ends { end() }
    }

    /// Whether a key or client loses its feeds.
    private func hasFarTooMuch(_ holder: Holder, _ state: State) -> Bool {
      let most = limit(of: holder)
      return state.live.byteCount(of: holder) / 2 > most || state.all.byteCount(of: holder) / 4 > most
    }

    private static func origins(of orders: [KeptOrder]) -> Set<ObjectIdentifier> {
      Set(orders.map { ObjectIdentifier($0.origin) })
    }

    private static func holders(of key: Keyring.Key) -> [Holder] {
      [.key(key.name), .client(key.client.exact), .all]
    }

    private func limit(of holder: Holder) -> Int {
      switch holder {
      case .all: limits.followedBytes
      case .key: limits.followedBytesOfKey
      case .client: limits.followedBytesOfClient
      }
    }

    /// - Parameter times: how many times its limit a holder may have with the orders.
    /// - Throws: ``Problem`` 429 if a holder has no room for orders; what it keeps already needs none.
    private func check(
      _ orders: [KeptOrder], for holder: Holder, in tally: Tally, atMost times: Int = 1
    ) throws(Problem) {
      let byteCount = tally.byteCount(adding: orders, for: holder)
      let most = limit(of: holder)
      // Rounded up: a byte beyond is too much.
      let sum = tally.byteCount(of: holder) + byteCount
      guard byteCount > 0, (sum + times - 1) / times > most else { return }
      let subject =
        switch holder {
        case .all: "all clients follow"
        case .key: "this key follows"
        case .client: "the keys of this client follow"
        }
      throw .tooMany(
        "With this list of \(byteCount) bytes, the lists that \(subject) take more than \(most); remove others first.",
        seconds: 5)
    }
  }

  extension FollowedLists.State {
    /// Origins in the memory in which the last list has them, if they are the same: there are ten thousand idle feeds.
    mutating func shared(_ origins: Set<ObjectIdentifier>) -> Set<ObjectIdentifier> {
      if lastOrigins != origins { lastOrigins = origins }
      return lastOrigins
    }

    /// Counts orders for a place, and beside them only what is pinned there.
    /// - Parameter live: the one among them that is the order of its live query.
    mutating func count(_ orders: [KeptOrder], _ live: KeptOrder?, at number: Int) {
      setLive(live, at: number)
      guard let holders = places[number]?.holders else { return }
      var spared = places[number]?.pinned ?? []
      for order in orders {
        let origin = ObjectIdentifier(order.origin)
        spared.insert(origin)
        guard places[number]?.origins.insert(origin).inserted == true else { continue }
        all.add(order, for: holders)
      }
      release(sparing: spared, at: number)
      // Mostly the same, and then kept once.
      if let place = places[number], place.origins == place.pinned { places[number]?.origins = place.pinned }
    }

    /// Counts the order of a place's live query in place of the former one.
    mutating func setLive(_ order: KeptOrder?, at number: Int) {
      let origin = order.map { ObjectIdentifier($0.origin) }
      guard let place = places[number], place.live != origin else { return }
      if let former = place.live { live.remove(former, for: place.holders) }
      if let order { live.add(order, for: place.holders) }
      places[number]?.live = origin
    }

    /// Counts for a place no longer what has other origins.
    mutating func release(sparing spared: Set<ObjectIdentifier>, at number: Int) {
      guard let place = places[number] else { return }
      let holders = place.holders
      let released = place.origins.subtracting(spared)
      guard !released.isEmpty else { return }
      places[number]?.origins.formIntersection(spared)
      for origin in released { all.remove(origin, for: holders) }
    }
  }

  /// A list that is followed; it is counted until it is left, at the latest when nothing holds it any more.
  final class FollowedList: Sendable {
    /// What was counted last; it keeps the origins from being other objects' identifiers.
    private struct Counted {
      let orders: FollowedOrders
      let live: KeptOrder?
      /// Whether what was counted before stayed counted.
      let keepsOthers: Bool
    }

    /// What leads the list on.
    let changes: any FeedChanges
    private let number: Int
    private let lists: FollowedLists
    private let last = Mutex<Counted?>(nil)

    fileprivate init(_ changes: any FeedChanges, _ number: Int, _ lists: FollowedLists) {
      (self.changes, self.number, self.lists) = (changes, number, lists)
    }

    deinit { leave() }

    /// Counts what following keeps now, beside what it kept.
    func add() { update(keepingOthers: true) }

    /// Counts what following keeps now, and nothing else.
    func settle() { update(keepingOthers: false) }

    private func update(keepingOthers keepsOthers: Bool) {
      guard let orders = changes.orders else { return }
      let live = orders.live
      let isCounted = last.withLock { last in
        if let former = last, keepsOthers || !former.keepsOthers,
          orders.areOfSameOrigins(as: former.orders), live?.origin === former.live?.origin
        {
          return true
        }
        last = Counted(orders: orders, live: live, keepsOthers: keepsOthers)
        return false
      }
      if !isCounted { lists.update(number, orders, live, keepingOthers: keepsOthers) }
    }

    /// Counts the list no longer.
    func leave() {
      last.withLock { $0 = nil }
      lists.leave(number)
    }
  }
#endif
