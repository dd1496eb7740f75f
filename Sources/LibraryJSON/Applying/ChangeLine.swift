package import JSONReading
package import PhotoLedger

/// One line of `apply`: a change block, with its key and cause.
package struct ChangeLine: Sendable {
  package var changes: [JSON]
  package var key: String?
  package var cause: String?
  /// The command that made the block from its own operands; nil for one that its author wrote.
  private let command: String?

  /// - Parameter command: the words of a command that the block is made by; sentences then speak of it, and not of
  ///   operations and their places.
  package init(_ changes: [JSON], cause: String? = nil, command: String? = nil) {
    (self.changes, self.cause, self.command) = (changes, cause, command)
  }

  /// Reads a line.
  /// - Parameter valueLimit: the most values of the line.
  /// - Throws: ``JSONError`` for what is not JSON, ``LibraryError`` `.malformedRequest` for what is not a change block.
  package init(_ bytes: [UInt8], valueLimit: Int = .max) throws {
    guard let members = try JSONReader.read(bytes, valueLimit: valueLimit).objectValue else {
      throw LibraryError(.malformedRequest, "A line is an object such as {\"changes\":[…]}.")
    }
    var fields = OperationFields(members, place: "The line")
    changes = try fields.required("changes", "a list of operations", \.listValue)
    key = try fields.optional("key", "text", \.textValue)
    // An empty cause stands for none, by which no commit can be found.
    cause = try fields.optional("cause", "text that is not empty") { $0.textValue.flatMap { $0.isEmpty ? nil : $0 } }
    command = nil
    try fields.finish()
  }

  /// The names of the operations about clients: their registration, and what they may see and do.
  package var clientOperations: [String] {
    changes.compactMap { $0["op"]?.textValue }.filter(Operation.isAboutClients)
  }

  /// Queues the block; the answer comes when it is durable, from a thread of the library.
  package func queue(
    on library: PhotoLibrary, _ answer: @escaping @Sendable (Result<CommitReceipt, any Error>) -> Void
  ) {
    library.performChanges(
      cause: cause, key: key, { try ask(of: $0, for: library) }, completionHandler: answer)
  }

  /// Executes the block for a client on another machine; returns when it is durable.
  /// - Parameter sources: where its resources may come from.
  @concurrent package func perform(on library: PhotoLibrary, from sources: ByteSources) async throws -> CommitReceipt {
    try await library.performChanges(cause: cause, key: key) { try ask(of: $0, for: library, from: sources) }
  }

  /// Executes the block and waits until it is durable.
  package func perform(on library: PhotoLibrary) throws -> CommitReceipt {
    try library.performChangesAndWait(cause: cause, key: key) { try ask(of: $0, for: library) }
  }

  private func ask(of block: ChangeBlock, for library: PhotoLibrary, from sources: ByteSources = .local) throws {
    try Operation.ask(changes, of: block, for: library, from: sources, command: command)
  }
}

extension CommitReceipt {
  /// The receipt as the fields of an answer.
  package var members: [JSON.Member] {
    let members: [JSON.Member] = [
      .init("commit", .integer(Int64(clamping: token.position))), .init("token", .text(token.description)),
      .init("created", .list(created.map { .text($0) })),
    ]
    return isRepetition ? members + [.init("isRepetition", true)] : members
  }
}
