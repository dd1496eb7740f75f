#if Gallery
  import PhotoLedger

  /// What a key may be used for; what it reaches of that is the permission of its client.
  ///
  /// A scope narrows a key, and never widens a client: a key for reading of a client that may do everything reads.
  enum Scope: String, Sendable, CaseIterable, Comparable {
    /// Fetches, feeds, windows, renditions, and the state of the client itself.
    case read
    /// Stored bytes as they are.
    case originals
    /// Adding assets.
    case add
    /// Changing the library.
    case change
    /// Administration: people, keys, clients' permissions, shares, figures; of the library's owner only.
    case owner

    static func < (one: Scope, other: Scope) -> Bool {
      (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }

    /// What a key has unless it is said: everything but administration.
    static let usual: Set<Scope> = [.read, .originals, .add, .change]
    static let all = Set(allCases)
  }

  extension Problem {
    /// For a key that is not good for what is asked.
    /// - Parameter what: what needs the scope, at the beginning of a sentence.
    static func scopeMissing(_ scope: Scope, for what: String = "This") -> Problem {
      Problem(403, "scope-missing", "\(what) needs a key with the scope '\(scope.rawValue)'.")
    }
  }
#endif
