import EventLog
import LMDB

// Keys of another day.
//
// A key that an event of last year names was chosen among the neighbours of last year. If members were rekeyed since
// (`OrderKey.rekey`), the number alone says nothing: the members around it have other numbers now.
//
//     then   10:a            12:b   13:c        a member stood at 11, between a and b, and was taken out
//     now    4096:a  8192:b  12288:c            its place is between 4096 and 8192
//
// A rekeying (`content.spread` in the log) moves members and keeps their order, and its event names every key before
// and after. So an unused key is moved with its neighbours: to the same relative position between their new keys as
// between the old ones. The map is monotone, so former keys keep their order among each other; where it makes several
// keys one, the former keys say which is first (`UndoPlan.Placement`).
//
// An undo may rekey members itself, to make room for one that it puts back. It maps the keys of its plan for the others
// in the same way (Decider+Undo.swift).

/// The rekeyings of containers since an event, read on demand.
///
/// What was read in one transaction is kept for a later one, which reads only the events since: the history of a
/// container is read before the writer's transaction, for which all other writers wait.
struct Rekeyings: Sendable {
  let log: EventLog
  let projections: Projections
  /// Rekeyings up to this event are not needed.
  var start: UInt64 = 0
  /// The last event of the state that is read.
  var head: UInt64
  /// How many events were read; for tests.
  private(set) var readCount = 0
  private var known: [ObjectNumber: Known] = [:]

  /// The rekeyings of a container up to an event.
  private struct Known {
    var rekeyings: [Rekeying] = []
    var last: UInt64
  }

  /// - Parameter head: the last event of the state that is read.
  init(log: EventLog, projections: Projections, head: UInt64) {
    self.log = log
    self.projections = projections
    self.head = head
  }

  /// One rekeying, of one event or of several that followed each other.
  struct Rekeying: Sendable {
    var last: UInt64
    var commit: UInt64
    /// The members with their keys, in the order of both.
    var members: [(child: ObjectNumber, old: UInt64, new: UInt64)]

    /// The new key of a member; nil if it had another key before the rekeying.
    func newKey(of child: ObjectNumber, at key: UInt64) -> UInt64? {
      let place = members.lowerBound { $0.old < key }
      guard place < members.count, members[place].old == key, members[place].child == child else { return nil }
      return members[place].new
    }

    /// The new position of an unused key after the rekeying.
    ///
    /// No difference is negative: both columns ascend, and have room before and after them, or the event is not read.
    func map(_ key: UInt64) -> UInt64 {
      // A new key lies at least this far from its neighbours, so whatever stood beside the window goes into that gap.
      let beside = OrderKey.roomAfterRekey / 2 - 1
      guard let first = members.first, let last = members.last else { return key }
      if key < first.old { return min(key, first.new - min(first.old - key, beside)) }
      if key > last.old { return max(key, last.new + min(key - last.old, beside)) }
      let place = members.lowerBound { $0.old < key }
      let upper = members[place]
      if key == upper.old { return upper.new }
      let lower = members[place - 1]
      let product = (upper.new - lower.new).multipliedFullWidth(by: key - lower.old)
      let share = lower.new + (upper.old - lower.old).dividingFullWidth(product).quotient
      // Where the gap is narrower than it was, a key beside a member stays beside it, and apart from it.
      let (least, most) = (lower.new + min(key - lower.old, beside), upper.new - min(upper.old - key, beside))
      return max(least, min(most, share))
    }
  }

  /// The current key of a member that only rekeyings have moved since an event.
  mutating func follow<T: TransactionReading & ~Copyable>(
    _ place: ContainerPlace, of child: ObjectNumber, after sequence: UInt64, in t: borrowing T
  ) throws -> ContainerPlace {
    var place = place
    for rekeying in try rekeyings(of: place.container, in: t) where rekeying.last > sequence {
      guard let moved = rekeying.newKey(of: child, at: place.key.rawValue) else { continue }
      place.key = OrderKey(rawValue: moved)
    }
    return place
  }

  /// Where a key belongs that was free, or was given up, at an event.
  mutating func map<T: TransactionReading & ~Copyable>(
    _ place: ContainerPlace, after sequence: UInt64, in t: borrowing T
  ) throws -> OrderKey {
    let rekeyings = try rekeyings(of: place.container, in: t)
    return OrderKey(rawValue: rekeyings.reduce(place.key.rawValue) { $1.last > sequence ? $1.map($0) : $0 })
  }

  /// The rekeyings of a container, oldest first.
  /// - Complexity: O(1) if they have been read; otherwise O(k log n) for k events of the container since the last
  ///   reading, or since the start. A selection, or a pick, is not rekeyed, and its events are not read.
  @discardableResult
  mutating func rekeyings<T: TransactionReading & ~Copyable>(
    of container: ObjectNumber, in t: borrowing T
  ) throws -> [Rekeying] {
    let read = known[container] ?? Known(last: start)
    guard read.last < head else { return read.rekeyings }
    var found = read.rekeyings
    var history: [UInt64] = []
    if try projections.collection(container, in: t) != nil {
      history = try projections.history(of: container, after: read.last, through: head, in: t)
    }
    readCount += history.count
    for sequence in history {
      guard let record = try log.event(at: sequence, in: t), record.type == "content.spread",
        case .arranged(let arranged) = try projections.event(record, in: t)
      else { continue }
      let members = arranged.places.compactMap { place -> (child: ObjectNumber, old: UInt64, new: UInt64)? in
        guard let old = place.old, let new = place.new else { return nil }
        return (place.child, old.rawValue, new.rawValue)
      }
      if let last = found.last, last.commit == record.commit, last.last + 1 == sequence,
        let end = last.members.last, let begin = members.first, end.old < begin.old, end.new < begin.new
      {
        found[found.count - 1].members += members
        found[found.count - 1].last = sequence
      } else {
        found.append(Rekeying(last: sequence, commit: record.commit, members: members))
      }
    }
    known[container] = Known(rekeyings: found, last: head)
    return found
  }
}
