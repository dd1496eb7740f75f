import CountedTree
import PhotoLedger

/// What the list holds: an identity of 16 bytes, a date, a number that grows with each change of content.
struct Item: Sendable, Equatable {
  var number: UInt64
  var salt: UInt64
  var date: Int64
  var revision: Int64

  /// What stays the same while the item changes.
  struct Identity: Hashable {
    var number: UInt64
    var salt: UInt64
  }

  var identity: Identity { Identity(number: number, salt: salt) }

  /// The order of the list: date descending, ties by number.
  var key: ResultKey { ResultKey(word: ~UInt64(bitPattern: date), number: number) }
}

/// A sort key as the library's results use it.
struct ResultKey: Comparable, Sendable {
  var word: UInt64
  var number: UInt64

  static func < (left: Self, right: Self) -> Bool {
    left.word == right.word ? left.number < right.number : left.word < right.word
  }
}

/// One change of one item.
struct ItemEdit {
  var old: Item?
  var new: Item?

  /// What the edit means for a list of keys.
  var touch: KeyTouch<ResultKey> {
    KeyTouch(old: old?.key, new: new?.key, isVisiblyChanged: old != nil && new != nil)
  }
}

/// The sizes of changes measured.
enum Workload: String, CaseIterable {
  case one = "k1"
  case ten = "k10"
  case thousand = "k1000"
  case move = "move"
  case share = "k3%"
  case half = "k50%"

  /// What the change details of the workload may take, caches cold.
  var goal: Goal? {
    switch self {
    case .one: .microseconds(8)
    case .ten: .microseconds(40)
    case .thousand: .microseconds(2000)
    case .move: .microseconds(10)
    case .share, .half: nil
    }
  }

  /// Whether it is a share of the list.
  var isLarge: Bool { self == .share || self == .half }

  func editCount(of size: Int) -> Int {
    let wanted: Int
    switch self {
    case .one, .move: wanted = 1
    case .ten: wanted = 10
    case .thousand: wanted = 1000
    case .share: wanted = size * 3 / 100
    case .half: wanted = size / 2
    }
    return max(1, min(wanted, size / 2))
  }

  /// How many places of a list get or lose a key in a repetition: what is updated in place needs no path of its own.
  func copiedPlaces(of size: Int, _ repetition: Int) -> Int {
    // What moves is taken from one place and put into another.
    if self == .move { return 2 }
    let count = editCount(of: size)
    return (0..<count).count { (repetition * count + $0) % 3 != 2 }
  }
}

/// A sorted list of items that changes by edits; the truth that answers are compared with.
struct ItemList {
  private(set) var items: [Item]
  private var random: Seeded
  private var nextNumber: UInt64
  private var turn = 0

  init(size: Int, seed: UInt64) {
    var random = Seeded(seed)
    // About two items for each date, so that ties are common.
    items = (0..<UInt64(size)).map { number in
      Item(
        number: number, salt: random.next(), date: Int64.random(in: 0..<Int64(max(1, size / 2)), using: &random) * 1000,
        revision: 0)
    }
    items.sort { $0.key < $1.key }
    nextNumber = UInt64(size)
    self.random = random
  }

  /// Draws edits of different items without making them: in turn an insertion, a removal, an update in place.
  mutating func draw(_ workload: Workload) -> [ItemEdit] {
    if workload == .move, let last = items.last {
      var moved = last
      moved.date = items[0].date + 1
      moved.revision += 1
      return [ItemEdit(old: last, new: moved)]
    }
    var drawn: Set<Int> = []
    return (0..<workload.editCount(of: items.count)).map { _ in
      defer { turn += 1 }
      if turn % 3 == 0 { return ItemEdit(old: nil, new: fresh()) }
      var position = Int.random(in: items.indices, using: &random)
      while !drawn.insert(position).inserted { position = Int.random(in: items.indices, using: &random) }
      let old = items[position]
      if turn % 3 == 1 { return ItemEdit(old: old, new: nil) }
      var new = old
      new.revision += 1
      return ItemEdit(old: old, new: new)
    }
  }

  private mutating func fresh() -> Item {
    nextNumber += 1
    let date = Int64.random(in: 0..<Int64(max(1, items.count / 2)), using: &random) * 1000
    return Item(number: nextNumber, salt: random.next(), date: date, revision: 0)
  }

  /// Makes the edits in a new array: both stay.
  mutating func make(_ edits: [ItemEdit]) {
    let gone = edits.compactMap { $0.old?.key }.sorted()
    let come = edits.compactMap(\.new).sorted { $0.key < $1.key }
    var after: [Item] = []
    after.reserveCapacity(items.count + come.count)
    var (nextGone, nextCome) = (0, 0)
    for item in items {
      let key = item.key
      while nextCome < come.count, come[nextCome].key < key {
        after.append(come[nextCome])
        nextCome += 1
      }
      if nextGone < gone.count, gone[nextGone] == key {
        nextGone += 1
        // An update in place has the key of what it replaces.
        if nextCome < come.count, come[nextCome].key == key {
          after.append(come[nextCome])
          nextCome += 1
        }
      } else {
        after.append(item)
      }
    }
    after.append(contentsOf: come[nextCome...])
    items = after
  }
}

/// What a walk of both lists finds.
struct WalkedChanges: Equatable {
  var removed: [Int] = []
  var inserted: [Int] = []
  var changed: [Int] = []
  var repositioned: [Relocation] = []

  /// Walks two sorted lists side by side.
  init(before: [Item], after: [Item]) {
    var (left, right) = (0, 0)
    while left < before.count || right < after.count {
      if right == after.count || left < before.count && before[left].key < after[right].key {
        removed.append(left)
        left += 1
      } else if left == before.count || after[right].key < before[left].key {
        inserted.append(right)
        right += 1
      } else {
        if before[left].revision != after[right].revision { changed.append(right) }
        left += 1
        right += 1
      }
    }
    pairMoved(before, after)
  }

  /// Items that are both removed and inserted have a new key.
  private mutating func pairMoved(_ before: [Item], _ after: [Item]) {
    guard !removed.isEmpty, !inserted.isEmpty else { return }
    var places = [UInt64: Int](minimumCapacity: removed.count)
    for position in removed { places[before[position].number] = position }
    var arrived: [Int] = []
    var left: Set<Int> = []
    for position in inserted {
      guard let place = places[after[position].number] else {
        arrived.append(position)
        continue
      }
      repositioned.append(Relocation(before: place, after: position))
      left.insert(place)
      if before[place].revision != after[position].revision { changed.append(position) }
    }
    if left.isEmpty { return }
    inserted = arrived
    removed.removeAll { left.contains($0) }
    changed.sort()
  }
}
