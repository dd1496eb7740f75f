import JSONReading
import PhotoLedger

extension Operation {
  private static let clientOperationNames = Set(clientOperations.map(\.name))

  /// Whether the operation of a name is about clients.
  static func isAboutClients(_ name: String) -> Bool { clientOperationNames.contains(name) }

  /// What is known of clients, and what they may see.
  static let clientOperations: [Operation] = [
    Operation(name: "client.register") { fields, context in
      var registration = ClientRegistration()
      registration.readWriteUsageDescription = try fields.optional("readWriteUsageDescription", "text", \.textValue)
      registration.addOnlyUsageDescription = try fields.optional("addOnlyUsageDescription", "text", \.textValue)
      registration.preventsAutomaticLimitedAccessAlert = try fields.optional(
        "preventsAutomaticLimitedAccessAlert", "true or false", \.boolValue)
      context.block.register(client: try fields.clientName(), registration)
      return nil
    },
    Operation(name: "client.authorize") { fields, context in
      let status: AuthorizationStatus = try fields.choice("status") ?? .authorized
      let level: AccessLevel = try fields.choice("level") ?? .readWrite
      context.block.setAuthorizationStatus(status, of: try fields.clientName(), for: level)
      return nil
    },
    Operation(name: "client.grant") { fields, context in
      context.block.grant(try fields.identifiers("assets", context), to: try fields.clientName())
      return nil
    },
    Operation(name: "client.withdraw") { fields, context in
      context.block.withdraw(try fields.identifiers("assets", context), from: try fields.clientName())
      return nil
    },
    Operation(name: "client.follow") { fields, context in
      let album: String? = try fields.required("album", "an album's identifier, or null") { json in
        json == .null ? .some(nil) : json.textValue.map { .some($0) }
      }
      context.block.follow(try album.map { try context.identifier($0, fields) }, as: try fields.clientName())
      return nil
    },
  ]
}

extension OperationFields {
  fileprivate mutating func clientName() throws -> String { try required("client", "a client's name", \.textValue) }
}
