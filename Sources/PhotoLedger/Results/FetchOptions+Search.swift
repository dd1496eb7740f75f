// The text search in the options of a fetch.

extension FetchOptions {
  /// Restricts the fetch to objects with words of all these prefixes.
  /// - Parameter text: the text as typed by the user, in any script.
  public init(search text: String) {
    self.init()
    search = text
  }

  /// The prefixes to search for; nil if there is no search.
  /// - Throws: ``LibraryError`` `.unsupportedPredicate` for a text that is too long.
  func searchText() throws(LibraryError) -> SearchText? {
    guard let search else { return nil }
    guard search.utf8.count <= Self.searchLimit else {
      throw LibraryError(
        .unsupportedPredicate,
        "A search may have at most \(Self.searchLimit) bytes, not \(search.utf8.count); search for fewer words.")
    }
    guard let text = SearchText(search) else { return nil }
    guard text.prefixes.count <= SearchText.prefixLimit else {
      throw LibraryError(
        .unsupportedPredicate,
        "A search may have at most \(SearchText.prefixLimit) words, not \(text.prefixes.count); remove some.")
    }
    return text
  }

  private static let searchLimit = 1024
}
