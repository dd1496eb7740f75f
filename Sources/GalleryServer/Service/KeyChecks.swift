#if Gallery
  import HTTPServing
  import PhotoLedger

  extension Call {
    /// Checks that the key may administer the library, where a route that needs less than the owner's scope can lead to
    /// that: changes of clients, what undoes such changes, and picks.
    ///
    /// A client other than the owner cannot have the scope; what it may do to itself, the library decides.
    /// - Parameter what: what needs the scope, at the beginning of a sentence.
    /// - Throws: ``Problem`` 403 for a key of the owner without that scope.
    func checkMayAdminister(_ what: String) throws(Problem) {
      guard let key, key.client == PhotoLibrary.owner, !key.scopes.contains(.owner) else { return }
      throw .scopeMissing(.owner, for: what)
    }

    /// Checks that the key may give another client stored bytes: that it reads them itself, and for one of the owner
    /// that it administers the library.
    /// - Parameter what: what needs the scopes, at the beginning of a sentence.
    /// - Throws: ``Problem`` 403 for a key without one of them.
    func checkMayGiveOriginals(_ what: String) throws(Problem) {
      try checkMayAdminister(what)
      guard let key, !key.scopes.contains(.originals) else { return }
      throw .scopeMissing(.originals, for: what)
    }
  }

  extension Call {
    /// Checks that the key is not that of a share link's visitor, where a route begins something that a client has or
    /// waits for: all visitors of a link are one client, so each would see what another one began, and when.
    /// - Parameter what: what visitors cannot do, at the beginning of a sentence.
    /// - Throws: ``Problem`` 403 for the key of a visitor.
    func checkIsNoVisitor(_ what: String) throws(Problem) {
      guard key?.share != nil else { return }
      throw Problem(
        403, "access-denied", "\(what) is not possible for visitors of a share link; use the key of another client.")
    }
  }

  extension Call {
    /// Whether the key is good for changing the library, where a route that needs less can lead to that: an upload that
    /// completes an asset.
    var mayChange: Bool { key?.scopes.contains(.change) ?? false }

    /// Checks that the key may read, where a route that changes something answers with what was there.
    /// - Parameter what: what needs the scope, at the beginning of a sentence.
    /// - Throws: ``Problem`` 403 for a key without the scope.
    func checkMayRead(_ what: String) throws(Problem) {
      guard let key, !key.scopes.contains(.read) else { return }
      throw .scopeMissing(.read, for: what)
    }

    /// What the library says of a change that does not fit its content, which it names: members, titles and counts.
    private static let codesOfContent: Set<LibraryError.Code> = [
      .conflict, .changeNotSupported, .requestNotSupportedForAsset, .limitExceeded, .alreadyExists,
      .multipleIdentifiersFound,
    ]

    /// Why a change was rejected. A key that may not read gets the status and the type alone: a change that cannot be
    /// made costs nothing, and its reasons, one after the other, are the content.
    func problem(ofChange error: any Error) -> Problem {
      let problem = Problem(error)
      guard let key, !key.scopes.contains(.read), let error = error as? LibraryError,
        Self.codesOfContent.contains(error.code)
      else { return problem }
      return Problem(
        problem.status, problem.type,
        "The library's current content does not allow this change; use a key with the scope 'read' to get the reason."
      )
    }
  }

  extension Route {
    /// The scope that a route needs unless it says so: reading for what reads, changing for everything else, so that a
    /// route that is added is closed rather than open to a key that only reads.
    static func usualScope(_ method: String, _ need: Need) -> Scope {
      need == .owner ? .owner : method == "GET" ? .read : .change
    }

    /// The same route with another scope.
    func needing(_ scope: Scope) -> Route {
      var route = self
      route.scope = scope
      return route
    }
  }
#endif
