#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // Uploaders that were written for Immich, immich-go before all: a second, small face of the server, under `/api`.
  //
  //   what such an uploader does                     what answers                what it is here
  //   ---------------------------------------------  --------------------------  ------------------------------------
  //   pings, asks for its user and for media types   UploaderRoutes              the client of the key
  //   lists what is there, page by page, by SHA-1    ListingRoutes               `library.as(client)`, as every route
  //   uploads a form: fields, file, sidecar          FormUpload ─▶ Uploads       the upload of /v1/uploads, one commit
  //   corrects what a service had written down       CorrectionRoutes            one change block
  //   albums; tags; stacks                           GroupingRoutes              albums; keywords; stacks
  //   pauses of jobs                                 UploaderRoutes              an empty state
  //
  // A user who leaves another program keeps the tool that uploaded the photos there: it reads Takeouts, exports of
  // iCloud and folders, and is familiar. It sends about two dozen requests, and needs a few members of each answer; so
  // this is what is here, described in our own words in `immich-clients.json`, which is served at
  // `/api/openapi.json` and held against every answer of the tests, as the description of /v1 is.
  //
  // The routes are off unless the server is started with them (`serve --immich-clients`): they add a reader of forms
  // and a second field that carries a key, which most libraries have no use for, and a protocol that others change.
  // They are not part of the API's version 1, so its description stays free of them and their changes.
  //
  // Invariant: nothing here has a way to the library of its own. A key, its scopes, its limits and the permission of
  // its client count as for /v1: `x-api-key` carries the same secret as a bearer's. What a client cannot see is not
  // listed and answers 404; one that may only add is answered as by an empty library, and each of its files becomes an
  // asset of its own.
  //
  // What has no counterpart is not imitated. A job is never paused, and the answer says so. A deletion goes to the
  // trash, whatever `force` says. Stacks need full access, as everywhere; uploaders report a refusal and go on.
  //
  // Rejected: a gateway process in front of /v1 (every upload copied twice, every permission asked twice); answering by
  // the checksum before the body came (older uploaders take the closed connection for a failure); identifiers of tags
  // in a table of the server (the identifier is the tag, spelled in base64url, and good after a restart).

  /// The routes for uploaders that speak Immich's protocol.
  enum ImmichClientRoutes {
    static let all: [Route] =
      UploaderRoutes.all + ListingRoutes.all + CorrectionRoutes.all + GroupingRoutes.all + [FormUpload.route]

    /// What stands as the cause in commits, so that an undo of uploads takes their albums and keywords along.
    static let cause = "upload"
    /// How many objects one request may name.
    static let limit = 10_000

    /// Whether a target belongs to these routes.
    static func has(_ target: HTTPTarget) -> Bool { target.segments.first == "api" }

    /// A route whose answer takes reading.
    static func reading(
      _ method: String, _ path: String, _ need: Route.Need = .key, _ answer: @escaping @Sendable (Call) throws -> JSON
    ) -> Route {
      Route(method, path, need) { _, call in
        .respond { _ in
          do { return respond(try await offload { try answer(call) }) } catch {
            return Problem(error).responseToUploader
          }
        }
      }
    }

    /// A route that takes a JSON object, and answers with the status and the document; null leaves the body out.
    static func changing(
      _ method: String, _ path: String,
      _ answer: @escaping @Sendable (Call, JSON) throws -> (status: Int, json: JSON)
    ) -> Route {
      Route(method, path) { _, call in
        guard call.request.contentType == "application/json" else {
          throw Problem(415, "malformed-request", "The body must be JSON; send it with Content-Type: application/json.")
        }
        try call.checkQuery([])
        // A client without permission sends no body of this size.
        _ = try call.listedLibrary()
        return .gather(limit: 1 << 20) { request in
          do {
            let (status, json) = try await offload {
              let body = try JSONReader.read(request.body, valueLimit: JSON.valueLimit)
              guard body.objectValue != nil else { throw Problem.malformed("The body must be a JSON object.") }
              return try answer(call, body)
            }
            return respond(json, status)
          } catch { return call.problem(ofChange: error).responseToUploader }
        }
      }
    }

    private static func respond(_ json: JSON, _ status: Int = 200) -> HTTPResponse {
      if json == .null { return HTTPResponse(status, Headers.common + [("Cache-Control", "no-store")]) }
      return .json(json, status: status, [("Cache-Control", "no-store")])
    }
  }

  extension Call {
    /// The library of a client that reads; nil for one that only adds, which sees an empty one.
    /// - Throws: ``Problem`` 403 for a client that may do neither.
    func listedLibrary() throws -> PhotoLibrary? {
      let library = try library()
      if try library.authorizationStatus(for: .readWrite).isGranted { return library }
      guard try library.authorizationStatus(for: .addOnly) == .authorized else {
        throw Problem(
          403, "access-denied", "The client '\(library.client)' may neither read nor add; the owner can grant it.")
      }
      return nil
    }

    /// The library of a client that changes what it reads.
    func changedLibrary() throws -> PhotoLibrary {
      let library = try library()
      try Fetches.checkMayRead(library)
      return library
    }

    /// Who uploads, as these clients name people: always the same for a client of the library.
    var uploaderIdentifier: String {
      var digits = Array(Keyring.hash("uploader \(key?.client ?? "")").prefix(32))
      // A UUID of version 8, made by a rule of its own (RFC 9562, 5.8).
      (digits[12], digits[16]) = ("8", "8")
      for place in [20, 16, 12, 8] { digits.insert("-", at: place) }
      return String(digits)
    }
  }

  extension JSON {
    /// The identifiers of a member, each once.
    func identifiers(_ name: String) throws(Problem) -> [String] {
      guard let texts = self[name]?.textsValue else { throw .malformed("'\(name)' is not a list of identifiers.") }
      guard texts.count <= ImmichClientRoutes.limit else {
        throw Problem(
          400, "limit-exceeded",
          "'\(name)' has \(texts.count) identifiers; pass at most \(ImmichClientRoutes.limit) at once.")
      }
      return distinct(texts)
    }
  }

  extension Problem {
    /// The problem with the members in which these uploaders look for a sentence.
    var responseToUploader: HTTPResponse {
      var response = response
      guard case .object(let members) = json else { return response }
      let more: [JSON.Member] = [
        .init("statusCode", .integer(Int64(status))), .init("error", .text(type)), .init("message", .text(detail)),
      ]
      response.content = .bytes(Array(JSON.object(members + more).description.utf8))
      return response
    }
  }
#endif
