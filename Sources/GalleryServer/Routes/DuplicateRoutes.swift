#if Gallery
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import MediaImport
  import PhotoLedger

  /// Proposals of photos that show one picture; for the owner.
  enum DuplicateRoutes {
    /// How many groups an answer has at most, and how many photos of one beside its keeper.
    static let groupLimit = 50
    static let memberLimit = 50

    static let all: [Route] =
      Route.watched("/v1/duplicates", .owner, .owner) { $0.server.duplicates.json } + [
        .gathering("POST", "/v1/duplicates", .owner) { call, body in
          let json = try JSONReader.read(body)
          try json.checkKeys(["distance"])
          let distance = json["distance"].map { $0.positionValue ?? -1 } ?? DuplicateSearch.usualDistance
          guard DuplicateSearch.distances.contains(distance) else {
            throw Problem.malformed(
              "'distance' must be a whole number from 0 to \(DuplicateSearch.distances.upperBound).")
          }
          let server = call.server
          try server.duplicates.begin(
            within: distance, in: try server.usableLibrary(), server.environment, waking: server.watch)
          return .json(call.server.duplicates.json, status: 202, [("Cache-Control", "no-store")])
        }.needing(.owner),
        Route("DELETE", "/v1/duplicates", .owner) { server, call in
          try call.checkQuery([])
          return .respond { _ in
            await server.duplicates.cancel()
            return HTTPResponse(204, Headers.common)
          }
        }.needing(.owner),
        .reading("GET", "/v1/duplicates/groups", .owner) { call in
          try call.checkQuery(["search", "start", "limit"])
          guard let search = try call.query("search") else {
            throw Problem.malformed("'search' is missing; pass that of the state that has ended.")
          }
          let (start, limit) = (try call.count("start") ?? 0, try call.count("limit") ?? 20)
          guard (1...groupLimit).contains(limit) else {
            throw Problem.malformed("'limit' is \(limit); pass 1 to \(groupLimit).")
          }
          let (groups, total) = try call.server.duplicates.groups(of: search, from: start, count: limit)
          let library = try call.library()
          let decisions = try DuplicateDecisions(of: library)
          let next = start + groups.count
          return .json(
            [
              "groups": .list(try groups.compactMap { try json(of: $0, in: library, decisions) }),
              "total": .integer(Int64(total)), "next": next < total ? .integer(Int64(next)) : .null,
            ], [("Cache-Control", "no-store")])
        }.needing(.owner),
        .gathering("POST", "/v1/duplicates/decisions", .owner) { call, body in
          let json = try JSONReader.read(body)
          try json.checkKeys(["assets", "isRejected"])
          guard let names = json["assets"]?.textsValue, let isRejected = json["isRejected"]?.boolValue else {
            throw Problem.malformed("The body needs 'assets', a list of identifiers, and 'isRejected', true or false.")
          }
          let library = try call.library()
          let assets = try names.map { name in
            guard let asset = try library.asset(name) else {
              throw LibraryError(.identifierNotFound, "The library has no asset '\(name.prefix(60))'.")
            }
            return asset.id
          }
          let pairs = try DuplicateDecisions.decide(assets, isRejected: isRejected, in: library)
          call.server.duplicates.noteDecision(waking: call.server.watch)
          return .json(["pairs": .integer(Int64(pairs))], [("Cache-Control", "no-store")])
        }.needing(.owner),
      ]

    /// A group as it is now; nil if there is nothing to merge any more.
    /// - Complexity: O(photos of the group): those beyond ``memberLimit`` are read as well, to count them.
    static func json(
      of group: DuplicateGroup, in library: PhotoLibrary, _ decisions: DuplicateDecisions
    ) throws -> JSON? {
      func present(_ id: LocalIdentifier) throws -> Asset? {
        guard let asset = try library.asset(id.uuidString), !asset.isTrashed else { return nil }
        return asset
      }
      guard let keeper = try present(group.keeper) else { return nil }
      var taken = decisions.emptyGroup
      try decisions.take(keeper, into: &taken)
      var (others, further): ([JSON], Int) = ([], 0)
      for member in group.others {
        guard let asset = try present(member.id), try decisions.take(asset, into: &taken) else { continue }
        if others.count == memberLimit {
          further += 1
        } else {
          others.append(["asset": try library.shownJSON(of: asset), "distance": .integer(Int64(member.distance))])
        }
      }
      guard !others.isEmpty else { return nil }
      return [
        "keeper": try library.shownJSON(of: keeper), "others": .list(others), "furtherCount": .integer(Int64(further)),
      ]
    }
  }
#endif
