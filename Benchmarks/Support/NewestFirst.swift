package import PhotoLedger

extension FetchOptions {
  /// The newest first, as a grid asks for them.
  package static func newestFirst(where condition: Condition = .always) throws -> FetchOptions {
    var options = FetchOptions()
    options.condition = condition
    options.sort = [try SortTerm("creationDate:desc", for: .asset)]
    return options
  }
}
