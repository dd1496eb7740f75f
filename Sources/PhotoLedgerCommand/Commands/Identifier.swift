import JSONReading
import LibraryJSON
import PhotoLedger

// Identifiers that mean something in another library (CI-01): one JSON object a line for each identifier that is asked
// about, with the answer or an error.

extension Command {
  private static let syncedOnly = Option(
    "synced-only", "do not match assets by equal content")

  static let identifierCloud = Command(
    words: ["identifier", "cloud"], summary: "map identifiers of this library to cloud identifiers",
    operands: [Operand("ID", .several, "identifiers of assets, albums and folders")], options: .looking,
    notes: "Prints one JSON line for each, with cloudIdentifier or error. The exit status is 1 if any has an error.",
    example: "identifier cloud 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
  ) { invocation in
    try invocation.withLibrary { library in
      let mappings = try library.cloudIdentifierMappings(forLocalIdentifiers: invocation.operands)
      return try invocation.print(invocation.operands, "localIdentifier", "cloudIdentifier") { identifier in
        mappings[identifier]?.map(\.stringValue)
      }
    }
  }

  static let identifierLocal = Command(
    words: ["identifier", "local"], summary: "map cloud identifiers to identifiers of this library",
    operands: [Operand("CLOUDID", .several, "printed by `identifier cloud`, in this library or another")],
    options: .looking + [syncedOnly],
    notes: """
      Prints one JSON line for each, with localIdentifier or error; error 3202 has localIdentifiers, all matches. An
      asset without the recorded identifier is found by equal content, unless --synced-only is given. The exit
      status is 1 if any has an error.
      """,
    example: "identifier local $(cat identifiers.txt)"
  ) { invocation in
    // One that cannot be read is a line with an error, as one that is unknown.
    let texts = invocation.operands.map { CloudIdentifier(archivalStringValue: $0)?.stringValue ?? $0 }
    return try invocation.withLibrary { library in
      let identifiers = texts.compactMap { CloudIdentifier(archivalStringValue: $0) }
      let mappings = try library.localIdentifierMappings(for: identifiers, syncedOnly: invocation.has(syncedOnly))
      return try invocation.print(texts, "cloudIdentifier", "localIdentifier") { text in
        guard let identifier = CloudIdentifier(archivalStringValue: text) else {
          return .failure(
            LibraryError(
              .identifierNotFound,
              "'\(text.prefix(120))' is not a cloud identifier; `identifier cloud` prints them."))
        }
        return mappings[identifier]
      }
    }
  }
}

extension Invocation {
  /// Prints each mapping; fails if one of them did.
  fileprivate func print(
    _ identifiers: [String], _ key: String, _ value: String,
    _ mapping: (String) -> Result<String, LibraryError>?
  ) throws -> ExitStatus {
    let found = identifiers.map { identifier in
      guard let mapping = mapping(identifier) else { preconditionFailure("A requested identifier has no mapping.") }
      return (JSON.Member(key, .text(identifier)), mapping)
    }
    let isComplete = found.allSatisfy { if case .success = $1 { true } else { false } }
    return try output.finish(with: isComplete ? .done : .failed) {
      for (asked, mapping) in found {
        switch mapping {
        case .success(let found): try output.line(JSON.object([asked, .init(value, .text(found))]))
        case .failure(let error):
          let fits = JSON.Member("localIdentifiers", .list(error.localIdentifiers.map { .text($0) }))
          let members = (JSON(failure: error).objectValue ?? []) + (error.localIdentifiers.isEmpty ? [] : [fits])
          try output.line(JSON.object([asked, .init("error", .object(members))]))
        }
      }
    }
  }
}
