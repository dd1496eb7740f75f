#if Gallery
  import HTTPServing
  import Synchronization

  /// Places for what goes on for long and holds a connection or memory, by the key and by its share link: each opening
  /// of a link makes a key.
  final class KeyPlaces: Sendable {
    private let limits: (key: Int, share: Int)
    /// What is counted, as a refusal names it.
    private let subject: String
    /// How many are taken, by the name of the key, and by that of its share link.
    private let taken = Mutex<[String: Int]>([:])

    /// Places for a key, and for all keys of a share link in total.
    init(ofKey key: Int, ofShare share: Int, for subject: String) {
      (limits, self.subject) = ((key, share), subject)
    }

    /// The names under which a key is counted; the name of a key has no colon.
    private func names(of key: Keyring.Key?) -> [(name: String, limit: Int, holder: String)] {
      var names = [(name: key?.name ?? "", limit: limits.key, holder: "This key has")]
      if let share = key?.share {
        names.append((name: "share:\(share.name)", limit: limits.share, holder: "The visitors of this link have"))
      }
      return names
    }

    /// Takes a place.
    /// - Throws: ``Problem`` 429 if the key has too many, or the keys of its share link together.
    func enter(_ key: Keyring.Key?) throws(Problem) {
      let names = names(of: key)
      let refusal = taken.withLock { taken -> Problem? in
        for place in names where taken[place.name, default: 0] >= place.limit {
          return .tooMany("\(place.holder) \(place.limit) \(subject) open; close one.", seconds: 5)
        }
        for place in names { taken[place.name, default: 0] += 1 }
        return nil
      }
      if let refusal { throw refusal }
    }

    /// Gives a place back.
    func leave(_ key: Keyring.Key?) {
      taken.withLock { taken in
        for place in names(of: key) {
          let left = taken[place.name, default: 1] - 1
          taken[place.name] = left > 0 ? left : nil
        }
      }
    }
  }

  /// A place that was taken; it is given back once, at the latest when nothing holds it any more.
  final class KeyPlace: Sendable {
    private let places: KeyPlaces
    private let key: Keyring.Key?
    private let isTaken = Atomic(true)

    /// Takes a place.
    /// - Throws: ``Problem`` 429 as ``KeyPlaces/enter(_:)`` does.
    init(_ places: KeyPlaces, _ key: Keyring.Key?) throws(Problem) {
      try places.enter(key)
      (self.places, self.key) = (places, key)
    }

    deinit { leave() }

    /// Gives the place back.
    func leave() {
      if isTaken.exchange(false, ordering: .relaxed) { places.leave(key) }
    }

    /// A stream that has the place until it is closed.
    func stream() -> HTTPStream {
      let stream = HTTPStream()
      stream.onClose { self.leave() }
      return stream
    }
  }
#endif
