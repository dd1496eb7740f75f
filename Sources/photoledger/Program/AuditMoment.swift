import PhotoLedger

extension Invocation {
  /// The state that an option names: by a token, by the sequence of an event, or by an instant.
  /// - Returns: nil if the option is not given.
  /// - Throws: ``LibraryError`` for a state that the library has not reached, ``UsageError`` for a text that is none of
  ///   the three.
  func moment(_ name: String, in library: PhotoLibrary) throws -> Token? {
    guard let text = text(name) else { return nil }
    if let sequence = UInt64(text) { return try library.token(ofSequence: sequence) }
    if let written = WrittenDate(text) { return try library.token(ofDate: written.date) }
    guard text.hasPrefix("t1-") || text.hasPrefix("v1-") else {
      throw UsageError(
        """
        --\(name) needs a token, the sequence of an event, or an instant such as 2024-05-31T18:30:00Z; \
        '\(text)' is none.
        """)
    }
    return try Token(text)
  }

  /// The instant that an option names; nil if it is not given.
  /// - Throws: ``UsageError`` for a text that is none.
  func instant(_ name: String) throws -> WrittenDate? {
    guard let text = text(name) else { return nil }
    guard let written = WrittenDate(text) else {
      throw UsageError("--\(name) needs an instant such as 2024-05-31T18:30:00Z; '\(text)' is none.")
    }
    return written
  }
}
