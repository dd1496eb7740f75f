#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// The people who sign in with a name and a password; for the owner, except that each may change their own password.
  enum PeopleRoutes {
    static let all: [Route] = [
      .reading("GET", "/v1/people", .owner) { call in
        try call.checkQuery([])
        return .json(["people": .list(call.server.people.list().map(describe))], [("Cache-Control", "no-store")])
      },
      .gathering("POST", "/v1/people", .owner) { call, body in
        let json = try JSONReader.read(body)
        try json.checkKeys(["name", "client", "password"])
        guard let name = json["name"]?.textValue else { throw Problem.malformed("The body needs 'name', as text.") }
        let password = json["password"] ?? .null
        guard password == .null || password.textValue != nil else {
          throw Problem.malformed(
            "'password' is \(password.kind); pass text, or omit it for a person signed in by a proxy.")
        }
        let client = try json.clientName("client")
        try call.server.library.checkName(ofClient: client)
        let person = try call.server.people.add(
          name, client: client, password: password.textValue, checking: { try call.checkIsStillGood() })
        return .json(describe(person), status: 201, [("Cache-Control", "no-store")])
      },
      .reading("DELETE", "/v1/people/{person}", .owner) { call in
        let name = call.parameters[0]
        guard try call.server.people.remove(name) else { throw Problem.notFound }
        // The person is gone, and so no key of theirs is good any more; taking the keys out only tidies up.
        try call.server.withdrawKeys { $0.person?.name == name }
        return HTTPResponse(204, Headers.common)
      },
      .gathering("PUT", "/v1/people/{person}/password") { call, body in
        let json = try JSONReader.read(body)
        try json.checkKeys(["password", "old"])
        guard let password = json["password"]?.textValue else {
          throw Problem.malformed("The body needs 'password', the new one.")
        }
        let name = call.parameters[0]
        let epoch = try checkMaySetPassword(call, of: name, old: json["old"]?.textValue)
        let isSet = try call.server.people.setPassword(
          password, of: name, at: epoch, checking: { try call.checkIsStillGood() })
        guard isSet else { throw Problem.notFound }
        try call.server.withdrawKeys { $0.person?.name == name }
        return HTTPResponse(204, Headers.common)
      }.needing(.read),
    ]

    /// The owner may set any password; a person their own, with the old one, since a browser may have been left open.
    /// - Returns: the epoch at which a person may set their own; nil for the owner.
    private static func checkMaySetPassword(_ call: Call, of name: String, old: String?) throws -> String? {
      let key = call.key
      if key?.client == PhotoLibrary.owner, key?.scopes.contains(.owner) == true { return nil }
      guard key?.person?.name == name else { throw Problem.notFound }
      try call.server.throttles.signInsOfNames.charge(name)
      guard let old, let person = try call.server.people.signIn(name, old) else {
        throw Problem(403, "access-denied", "Setting your own password needs 'old', the current password.")
      }
      call.server.throttles.signInsOfNames.giveBack(name)
      return person.epoch
    }

    private static func describe(_ person: People.Person) -> JSON {
      [
        "name": .text(person.name), "client": .text(person.client), "hasPassword": .bool(person.hash != nil),
        "created": .text(DateText.instant(person.created)),
      ]
    }
  }
#endif
