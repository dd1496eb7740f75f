#if Gallery
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // Change blocks over HTTP.
  //
  //   POST /v1/blocks   {"changes":[{"op":…},…],"cause":…}   Idempotency-Key: "…"
  //        │ ChangeLine: the reader of `photoledger apply`
  //        ▼
  //   library.as(client).performChanges ──▶ one commit, or a problem and nothing
  //
  // The idempotency key goes into the commit: the log keeps it with the client's name, in the transaction of the
  // change. So it needs no table of the server, it is good after a restart and `kill -9`, and it stays good as long as
  // the log: a client whose connection broke sends the block again and is given the receipt of the first time, with
  // `isRepetition`. Keys of two clients never meet. The body is not compared: a key stands for what was done under it.
  //
  // Rejected: a cache of answers by key beside the library, which is lost or expires while a phone is offline, and can
  // disagree with the log after a crash between the two.

  /// Change blocks.
  enum BlockRoutes {
    /// The largest body: bytes of photos go by upload, and a block names them by their hash.
    static let bodyLimit = 4 << 20
    /// The largest body of a client that may neither read nor add: it can ask for permission.
    static let bodyLimitWithoutPermission = 1 << 16
    static let keyLimit = 255

    static let all: [Route] = [
      Route("POST", "/v1/blocks") { server, call in
        try call.checkJSON()
        try call.checkQuery([])
        let key = try call.idempotencyKey()
        let library = try call.library()
        let isKnown = try [.readWrite, .addOnly].contains { level in
          try library.authorizationStatus(for: level).isGranted
        }
        return .gather(limit: isKnown ? bodyLimit : bodyLimitWithoutPermission) { request in
          do {
            let line = try await offload { try read(request.body, key) }
            for operation in line.clientOperations {
              try call.checkMayAdminister("'\(operation)'")
              if !isKnown { try server.throttles.descriptions.charge(library.client) }
            }
            // Not on a thread that waits: bytes of the block are stored by threads of the same pool.
            let receipt = try await line.perform(on: library, from: .stored(in: library))
            return .json(.object(receipt.members), [("Cache-Control", "no-store")])
          } catch { return call.problem(ofChange: error).response }
        }
      }
    ]

    private static func read(_ body: [UInt8], _ key: String?) throws -> ChangeLine {
      var line = try ChangeLine(body, valueLimit: JSON.valueLimit)
      if let key, let other = line.key, key != other {
        throw Problem.malformed("The field Idempotency-Key and 'key' of the body differ; pass one of them.")
      }
      line.key = key ?? line.key
      try checkKey(line.key)
      return line
    }

    /// - Throws: ``Problem`` 400 for a key that is empty or too long.
    static func checkKey(_ key: String?) throws(Problem) {
      guard let key, !(1...keyLimit).contains(key.utf8.count) else { return }
      throw .malformed("An idempotency key has 1 to \(keyLimit) bytes, not \(key.utf8.count).")
    }
  }

  extension Call {
    /// The value of `Idempotency-Key`, with or without its quotation marks; nil if the field is missing.
    func idempotencyKey() throws(Problem) -> String? {
      let values = request.fields.all("idempotency-key")
      guard values.count < 2 else {
        throw .malformed("The request has the field Idempotency-Key \(values.count) times; pass it once.")
      }
      guard var key = values.first else { return nil }
      // Bytes that are not text would all be read as the same character, and two keys as one.
      guard key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        throw .malformed("The field Idempotency-Key has characters beyond ASCII; pass letters, digits and hyphens.")
      }
      if key.count >= 2, key.hasPrefix("\""), key.hasSuffix("\"") { key = String(key.dropFirst().dropLast()) }
      try BlockRoutes.checkKey(key)
      return key
    }
  }
#endif
