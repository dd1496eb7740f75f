import EventLog

// The first form of events: how the libraries of 20 November 2026 hold the files of an asset.
//
//     first form     [file, file, …]                  a list
//     from then on   {1: [file, file, …], 2: caption, …}    a map, as there are words beside the files
//
// The version of the events was not raised when this was changed, so both are version 1 and only their shape
// distinguishes them: a list is not a map. Frozen: these lines say what was written then, whatever events become later.

enum FirstForm {
  static let reshapings: [EventUpcaster.Reshaping] = [
    EventUpcaster.Reshaping(type: "asset.created", version: 1, reshape: existence),
    EventUpcaster.Reshaping(type: "asset.purged", version: 1, reshape: existence),
    EventUpcaster.Reshaping(type: "assets.edited", version: 1, reshape: edits),
  ]

  /// A map of 1 the row, 2 the files, 3 places.
  @Sendable
  private static func existence(_ payload: CBOR) -> CBOR? {
    guard case .map(var pairs) = payload, let place = pairs.firstIndex(where: { $0.key == .unsigned(2) }),
      let details = details(pairs[place].value)
    else { return nil }
    pairs[place].value = details
    return .map(pairs)
  }

  /// A map of 1 the edits, 2 count shifts; an edit is a list of number, changes and, if they changed, the files before
  /// and after.
  @Sendable
  private static func edits(_ payload: CBOR) -> CBOR? {
    guard case .map(var pairs) = payload, let place = pairs.firstIndex(where: { $0.key == .unsigned(1) }),
      case .array(var edits) = pairs[place].value
    else { return nil }
    var isFirstForm = false
    for index in edits.indices {
      guard case .array(var parts) = edits[index], parts.count == 4 else { continue }
      guard let old = details(parts[2]), let new = details(parts[3]) else { return nil }
      (parts[2], parts[3], isFirstForm) = (old, new, true)
      edits[index] = .array(parts)
    }
    pairs[place].value = .array(edits)
    return isFirstForm ? .map(pairs) : nil
  }

  /// The files as a map, if they are a list.
  private static func details(_ value: CBOR) -> CBOR? {
    guard case .array = value else { return nil }
    return .map([CBOR.Pair(.unsigned(1), value)])
  }
}
