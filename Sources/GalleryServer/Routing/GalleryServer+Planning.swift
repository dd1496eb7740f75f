#if Gallery
  import Foundation
  public import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  extension GalleryServer: HTTPApplication {
    /// Finds the route and the key of a request, and has the route plan the answer.
    public func plan(_ request: HTTPRequest) -> HTTPPlan {
      do {
        if let (key, response) = files.decided(request, keyring, in: library) {
          try charge(request, to: key)
          return .answer(HTTPResponse(response))
        }
        try checkMarks(request)
        let changeCount = keyring.changeCount
        let key = try admit(request)
        let (route, parameters) = try Router.route(request, withImmichClients: access.allowsImmichClients)
        try route.check(key, request)
        let call = Call(
          request: request, parameters: parameters, key: key, server: self, keyChangeCount: changeCount)
        let plan = try route.plan(self, call)
        return route.need == .nothing ? plan : plan.whileGood(call)
      } catch {
        return .answer(response(of: Problem(error), to: request))
      }
    }

    /// The key of a request; nil without a good one. Each request is charged to its key, or to its peer;
    /// those for files of the page without a key are charged to neither.
    /// - Throws: ``Problem`` 429 for one too many, 403 for a proxy that names a user without an account, or sends
    ///   several users.
    private func admit(_ request: HTTPRequest) throws(Problem) -> Keyring.Key? {
      var key: Keyring.Key?
      var refusal: Problem?
      do throws(Problem) { key = try keyring.key(of: request) } catch { refusal = error }
      guard let key else {
        if !isOfPage(request.target) { try chargePeer(of: request) }
        if let refusal, refusal.status != 401 { throw refusal }
        return nil
      }
      try charge(request, to: key)
      return key
    }

    /// Charges a request to its key.
    /// - Throws: ``Problem`` 429 for one too many.
    private func charge(_ request: HTTPRequest, to key: Keyring.Key) throws(Problem) {
      request.sender.name = key.client
      if !key.scopes.contains(.owner) {
        request.sender.holder = "client \(key.client)"
        try throttles.keys.charge(key.name)
      }
      if let share = key.share { try throttles.shares.charge(share.name) }
    }

    /// Charges a request to its peer.
    /// - Throws: ``Problem`` 429 for one too many.
    private func chargePeer(of request: HTTPRequest) throws(Problem) {
      let peer = Throttle.name(ofPeer: keyring.peer(of: request))
      request.sender.holder = "address \(peer)"
      try throttles.peers.charge(peer)
    }

    /// Rejects a head with too many marks on a character, before anything is compared with its texts, a key included:
    /// the request is its peer's.
    private func checkMarks(_ request: HTTPRequest) throws(Problem) {
      if request.knownFields.isBounded, request.knownTarget.isBounded { return }
      try chargePeer(of: request)
      throw .malformed("A character in the request's head has more than \(String.markLimit) combining marks.")
    }

    /// Whether a request is for a file of the page, which is sent from memory at the cost of a refusal.
    ///
    /// A document names some forty of them, and without one the page does not start: a dozen guests behind one address
    /// that open a share link together would use up its limit.
    private func isOfPage(_ target: HTTPTarget) -> Bool {
      page?.isKept == true && target.segments.first == "page"
    }

    /// A problem document, in the form that the client of a path reads.
    func response(of problem: Problem, to request: HTTPRequest) -> HTTPResponse {
      let isUploader =
        access.allowsImmichClients && request.knownTarget.isBounded && ImmichClientRoutes.has(request.target)
      return isUploader ? problem.responseToUploader : problem.response
    }

    /// A problem document, as all other errors of the API are.
    public func rejection(_ request: HTTPRequest, _ status: Int, _ sentence: String) -> HTTPResponse {
      let type =
        switch status {
        case 413: "limit-exceeded"
        case 503: "library-offline"
        case 500...: "internal-error"
        default: "malformed-request"
        }
      return response(of: Problem(status, type, sentence), to: request)
    }

    /// Counts the request and writes its line of the log.
    public func finished(_ record: HTTPRecord) {
      metrics.count(record)
      log(
        GalleryLogLine(
          date: environment.now(), peer: keyring.peer(of: record.request), client: record.request.sender.name,
          method: record.request.method, path: record.request.target.path, status: record.status,
          seconds: record.seconds, note: record.note))
    }
  }

  extension HTTPPlan {
    /// The plan, whose work is done, and read for, a key that is good then.
    ///
    /// A body may come half a minute after its head, and so may the end of the chunks of an empty one. What only reads
    /// is checked once more when it is answered: it may have waited for long. What changes something is done by then,
    /// and may have withdrawn its own key. A receiver of a body checks the key itself, when the body is complete.
    func whileGood(_ call: Call) -> HTTPPlan {
      switch self {
      case .respond(let work): .respond { await Self.response(to: $0, of: call, by: work) }
      case .gather(let limit, let work): .gather(limit: limit) { await Self.response(to: $0, of: call, by: work) }
      case .answer, .receive, .receiveForm: self
      }
    }

    private static func response(
      to request: HTTPRequest, of call: Call, by work: @Sendable (HTTPRequest) async -> HTTPResponse
    ) async -> HTTPResponse {
      do throws(Problem) { try call.checkIsStillGood() } catch { return call.server.response(of: error, to: request) }
      let response = await work(request)
      guard ["GET", "HEAD"].contains(request.method) else { return response }
      do throws(Problem) { try call.checkIsStillGood() } catch {
        response.discard()
        return call.server.response(of: error, to: request)
      }
      return response
    }
  }
#endif
