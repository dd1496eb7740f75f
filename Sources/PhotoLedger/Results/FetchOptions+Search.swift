// What the text of a search in the options of a fetch asks for.

extension FetchOptions {
  /// Asks for the objects that have all of some words, or words that begin so.
  /// - Parameter text: as somebody types it, in any script.
  public init(search text: String) {
    self.init()
    search = text
  }

  /// The prefixes that are looked for; nil if nothing is asked.
  /// - Throws: ``LibraryError`` `.unsupportedPredicate` for a text that is too long to be a search.
  func searchText() throws(LibraryError) -> SearchText? {
    guard let search else { return nil }
    guard search.utf8.count <= Self.searchLimit else {
      throw LibraryError(
        .unsupportedPredicate,
        "A search may have \(Self.searchLimit) bytes, not \(search.utf8.count); search for fewer words.")
    }
    guard let text = SearchText(search) else { return nil }
    guard text.prefixes.count <= SearchText.prefixLimit else {
      throw LibraryError(
        .unsupportedPredicate,
        "A search may have \(SearchText.prefixLimit) words, not \(text.prefixes.count); remove some.")
    }
    return text
  }

  private static let searchLimit = 1024
}
