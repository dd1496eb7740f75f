// Conditions on details: what a row of an asset does not hold (`PropertyKey.isDetail`).
//
//     isFavorite == YES AND (lens CONTAINS "35" OR duration > 9)
//     └── rowPart ──────┘                                        decided by the row: the scan and its closures
//     └── the whole ───────────────────────────────────────────┘ by row and details, where the row part admits
//
// A fetch reads the details of the assets that the row part admits, and a commit has them at hand as for a search. So
// fetching and following judge by one closure over `DescribedAsset`, as they do by one over rows.
//
// Invariant: what the whole admits, the row part admits. It keeps those parts of an outermost `AND` that name no
// detail, and is `always` where there are none.
//
// Rejected: the details in the row (every scan would read them); an index for each property (each is a write for every
// import; the words of all of them are in one index already, and a search there comes before the condition).

/// An asset with its details, for conditions that ask for these.
struct DescribedAsset: PropertyRow {
  let row: AssetRow
  let metadata: ExtendedMetadata

  init(_ row: AssetRow, _ details: AssetDetails) {
    self.row = row
    metadata = ExtendedMetadata(details)
  }

  static var entity: Entity { .asset }

  static func reader(of key: PropertyKey) -> PropertyReader<DescribedAsset> {
    switch AssetProperty.named(key)?.form {
    case .text(let read): return .text { read($0.metadata) }
    case .texts(let read): return .texts { read($0.metadata) }
    case .measure(let read): return .number { read($0.metadata) ?? .nan }
    default: break
    }
    switch AssetRow.reader(of: key) {
    case .bool(let read): return .bool { read($0.row) }
    case .integer(let read): return .integer { read($0.row) }
    case .number(let read): return .number { read($0.row) }
    case .text(let read): return .text { read($0.row) }
    case .texts(let read): return .texts { read($0.row) }
    case .identifier(let read, let kind): return .identifier({ read($0.row) }, { kind($0.row) })
    }
  }
}

extension Condition {
  /// Whether some part asks for a detail.
  package var asksForDetails: Bool {
    switch self {
    case .always, .never: false
    case .comparison(let key, _, _), .oneOf(let key, _), .bits(let key, _, _, _), .text(let key, _, _, _): key.isDetail
    case .pair(let one, _, let two): one.isDetail || two.isDetail
    case .and(let parts), .or(let parts): parts.contains(where: \.asksForDetails)
    case .not(let part): part.asksForDetails
    }
  }

  /// Whether some part asks for a property.
  package func asks(for key: PropertyKey) -> Bool {
    switch self {
    case .always, .never: false
    case .comparison(let own, _, _), .oneOf(let own, _), .bits(let own, _, _, _), .text(let own, _, _, _): own == key
    case .pair(let one, _, let two): one == key || two == key
    case .and(let parts), .or(let parts): parts.contains { $0.asks(for: key) }
    case .not(let part): part.asks(for: key)
    }
  }

  /// What of the condition a row decides; it admits every asset that the condition admits.
  var rowPart: Condition {
    guard asksForDetails else { return self }
    guard case .and(let parts) = self else { return .always }
    return .and(parts.map(\.rowPart))
  }
}
