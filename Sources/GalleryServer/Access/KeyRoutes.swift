#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import PhotoLedger

  /// Signing in, and the keys of programs.
  enum KeyRoutes {
    static let all: [Route] = [
      .reading("GET", "/sign-in", .nothing) { call in
        try call.checkQuery(["link"])
        // A program that only looks must not use the link up.
        guard call.request.method == "GET" else { return HTTPResponse(204, Headers.common) }
        guard let link = try call.query("link") else { throw Problem.malformed("The link lacks its secret.") }
        let client = try call.server.keyring.redeem(link)
        let (_, secret) = try call.server.keyring.makeKey(for: client, label: "browser")
        let isSecure = call.request.fields["x-forwarded-proto"] == "https" || call.server.servesTLS
        let cookie =
          "\(Keyring.cookie)=\(secret); Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
          + (isSecure ? "; Secure" : "")
        return HTTPResponse(
          303, Headers.common + [("Location", "/"), ("Set-Cookie", cookie), ("Cache-Control", "no-store")])
      },
      .gathering("POST", "/v1/sessions", .nothing) { call, body in
        let json = try JSONReader.read(body)
        guard let link = json["link"]?.textValue else {
          throw Problem.malformed("The body needs 'link', the secret of a one-time link.")
        }
        let client = try call.server.keyring.redeem(link)
        return try made(call, for: client, label: json["label"]?.textValue ?? "program", seconds: nil)
      },
      .reading("GET", "/v1/keys", .owner) { call in
        .json(["keys": .list(call.server.keyring.list().map(describe))], [("Cache-Control", "no-store")])
      },
      .gathering("POST", "/v1/keys", .owner) { call, body in
        let json = try JSONReader.read(body)
        guard let client = json["client"]?.textValue, (1...256).contains(client.utf8.count), !client.utf8.contains(0)
        else {
          throw Problem.malformed("The body needs 'client', a name of 1 to 256 bytes.")
        }
        let days = json["days"]?.wholeValue ?? 30
        guard (1...3650).contains(days) else { throw Problem.malformed("'days' is \(days); pass 1 to 3650.") }
        let label = json["label"]?.textValue ?? ""
        guard label.utf8.count <= 200 else { throw Problem.malformed("'label' has more than 200 bytes.") }
        return try made(call, for: client, label: label, seconds: Double(days) * 86_400)
      },
      .reading("DELETE", "/v1/keys/{key}", .owner) { call in
        guard try call.server.keyring.withdraw(call.parameters[0]) else { throw Problem.notFound }
        call.server.feeds.end(ofKey: call.parameters[0])
        return HTTPResponse(204, Headers.common)
      },
    ]

    private static func made(_ call: Call, for client: String, label: String, seconds: Double?) throws -> HTTPResponse {
      let (key, secret) = try call.server.keyring.makeKey(for: client, label: label, seconds: seconds)
      guard case .object(let members) = describe(key) else { throw Problem.notFound }
      return .json(
        .object(members + [JSON.Member("secret", .text(secret))]), status: 201, [("Cache-Control", "no-store")])
    }

    private static func describe(_ key: Keyring.Key) -> JSON {
      [
        "name": .text(key.name), "client": .text(key.client), "label": .text(key.label),
        "created": .text(DateText.instant(key.created)), "expires": .text(DateText.instant(key.expires)),
      ]
    }
  }
#endif
