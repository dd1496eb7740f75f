package import PhotoLedger
import Foundation

/// Where a model fetch looks for objects.
package enum ModelScope: Hashable, Sendable {
  case library
  case members(of: LocalIdentifier?)
  case identifiers(Set<LocalIdentifier>)
  case containing(LocalIdentifier)
  /// A smart album that somebody made.
  case smart(LocalIdentifier)
  /// One of the library's own smart albums.
  case builtIn(AlbumSubtype)
  /// A collection in memory, in its order.
  case listed([LocalIdentifier])
}

/// A fetch, for the model and for the library.
package struct ModelQuery: Sendable, CustomStringConvertible {
  package let description: String
  package let entity: Entity
  package let scope: ModelScope
  package let options: FetchOptions
  /// The client that asks.
  package let client: String

  package init(
    _ name: String, _ entity: Entity, _ scope: ModelScope, _ options: FetchOptions,
    as client: String = PhotoLibrary.owner
  ) {
    description = client == PhotoLibrary.owner ? name : "\(client): \(name)"
    self.client = client
    self.entity = entity
    self.scope = scope
    self.options = options
  }
}

extension ModelLibrary {
  /// What a fetch would find after the last object that its limit shows.
  package func beyond(_ query: ModelQuery) -> [LocalIdentifier] {
    guard query.options.fetchLimit > 0 else { return [] }
    var options = query.options
    options.fetchOffset += options.fetchLimit
    options.fetchLimit = 0
    return fetch(ModelQuery(query.description, query.entity, query.scope, options, as: query.client))
  }

  /// The identifiers that a fetch finds, in order.
  package func fetch(_ query: ModelQuery) -> [LocalIdentifier] {
    let (options, sort) = (query.options, sort(of: query))
    if sort.isEmpty, options.fetchOffset == 0, options.fetchLimit == 0 {
      return candidates(query).filter { admits($0, query) }
    }
    var found: [(id: LocalIdentifier, sort: [ModelValue], tie: Int)] = []
    for (place, id) in candidates(query).enumerated() where admits(id, query) {
      guard !sort.isEmpty else {
        found.append((id, [], place))
        continue
      }
      let object = object(id, query)
      found.append((id, sort.map { object.value(of: $0.key) }, order[id]!))
    }
    if !sort.isEmpty {
      found.sort { one, other in
        for (index, term) in sort.enumerated() where one.sort[index] != other.sort[index] {
          return one.sort[index].precedes(other.sort[index]) == term.ascending
        }
        return one.tie < other.tie
      }
    }
    let rest = found.dropFirst(options.fetchOffset)
    return (options.fetchLimit == 0 ? rest : rest.prefix(options.fetchLimit)).map(\.id)
  }

  private func sort(of query: ModelQuery) -> [SortTerm] {
    if !query.options.sort.isEmpty { return query.options.sort }
    switch query.scope {
    case .smart(let album): return smart[album]?.sort ?? []
    case .builtIn(.smartAlbumRecentlyAdded):
      return [try? SortTerm(.addedDate, ascending: false, for: .asset)].compactMap(\.self)
    default: return []
    }
  }

  /// The objects in the scope that are for the client's eyes, in the scope's natural order.
  private func candidates(_ query: ModelQuery) -> [LocalIdentifier] {
    let eyes = eyes(of: query.client)
    let found: [LocalIdentifier]
    switch query.scope {
    case .library: found = query.entity == .asset ? assetsInOrder : collectionsInOrder
    case .smart(let album): found = sees(album, eyes) ? assetsInOrder : []
    case .builtIn: found = assetsInOrder
    case .members(let container): found = container.map { sees($0, eyes) } ?? true ? content(of: container) : []
    case .listed(let ids): found = ids.filter { query.entity == .asset ? assets[$0] != nil : collections[$0] != nil }
    case .identifiers(let ids):
      found = ids.filter { query.entity == .asset ? assets[$0] != nil : collections[$0] != nil }
        .sorted { order[$0]! < order[$1]! }
    case .containing(let id):
      found = sees(id, eyes) ? containers(of: id).compactMap { $0 }.sorted { order[$0]! < order[$1]! } : []
    }
    return found.filter { sees($0, eyes) }
  }

  private func admits(_ id: LocalIdentifier, _ query: ModelQuery) -> Bool {
    let options = query.options
    guard let asset = assets[id] else {
      guard options.search.map({ Self.has(collections[id]?.title ?? "", wordsLike: $0) }) ?? true else { return false }
      return deleted.contains(id) == options.showsTrash && object(id, query).satisfies(options.condition)
    }
    guard (asset.trashedDate != nil) == options.showsTrash else { return false }
    if !options.showsTrash {
      guard options.includeHiddenAssets || showsHidden(query.scope) || !asset.isHidden else { return false }
      guard options.includeAllBurstAssets || asset.standsOut else { return false }
      // Only a client with full access sees stacks.
      let isBeneath = asset.isBeneathStack && eyes(of: query.client) == .full
      guard options.includeAllStackAssets || !isBeneath else { return false }
    }
    guard options.search.map({ has(id, wordsLike: $0) }) ?? true else { return false }
    return comesFromHere(asset, query) && belongs(asset, to: query.scope)
      && has(id, described: options.condition, query)
  }

  private func showsHidden(_ scope: ModelScope) -> Bool {
    switch scope {
    case .smart(let album): smart[album]?.includesHidden ?? false
    case .builtIn(let subtype): subtype == .smartAlbumAllHidden
    default: false
    }
  }

  /// FR-08: what others put here is left out of the whole library unless it is asked for.
  private func comesFromHere(_ asset: ModelAsset, _ query: ModelQuery) -> Bool {
    if !query.options.includeAssetSourceTypes.isEmpty {
      return !asset.sourceType.isDisjoint(with: query.options.includeAssetSourceTypes)
    }
    switch query.scope {
    case .library, .smart, .builtIn: return asset.sourceType == .userLibrary
    default: return true
    }
  }

  private func belongs(_ asset: ModelAsset, to scope: ModelScope) -> Bool {
    switch scope {
    case .smart(let album): return smart[album].map { asset.satisfies($0.condition) } ?? false
    case .builtIn(.smartAlbumFavorites): return asset.isFavorite
    case .builtIn(.smartAlbumVideos): return asset.mediaType == .video
    case .builtIn(.smartAlbumAllHidden): return asset.isHidden
    case .builtIn(.smartAlbumBursts): return asset.burstIdentifier != nil && asset.representsBurst
    case .builtIn(.smartAlbumSelfPortraits): return asset.isSelfPortrait
    case .builtIn(.smartAlbumScreenshots): return asset.mediaSubtypes.contains(.photoScreenshot)
    case .builtIn(.smartAlbumPanoramas): return asset.mediaSubtypes.contains(.photoPanorama)
    case .builtIn(.smartAlbumUserLibrary), .builtIn(.smartAlbumRecentlyAdded): return true
    case .builtIn(let subtype): preconditionFailure("The model does not know the smart album \(subtype).")
    default: return true
    }
  }

  private func object(_ id: LocalIdentifier, _ query: ModelQuery) -> any ModelProperties {
    assets[id]?.seen(by: eyes(of: query.client)) as (any ModelProperties)? ?? collection(id, for: query.client)!
  }

  /// The objects that a fetch sorts by other values than an earlier model did; for a manual order, those whose place
  /// the requests of the commits in between named.
  package func touched(_ query: ModelQuery, since earlier: ModelLibrary, placed: Set<LocalIdentifier>) -> Set<
    LocalIdentifier
  > {
    if case .members = query.scope, query.options.sort.isEmpty { return placed }
    let sort = sort(of: query)
    if sort.isEmpty { return [] }
    let common =
      query.entity == .asset
      ? assets.keys.filter { earlier.assets[$0] != nil } : collections.keys.filter { earlier.collections[$0] != nil }
    return Set(
      common.filter { id in
        sort.contains { earlier.object(id, query).value(of: $0.key) != object(id, query).value(of: $0.key) }
      })
  }
}

// MARK: - Properties and conditions

/// A property's value, without the kinds of number.
package enum ModelValue: Equatable, Sendable {
  case missing
  case number(Double)
  case text(String)

  init(_ number: Double?) { self = number.map { .number($0) } ?? .missing }
  init(_ date: Date?) { self.init(date?.timeIntervalSinceReferenceDate) }
  init(_ flag: Bool) { self = .number(flag ? 1 : 0) }

  init(_ constant: PropertyValue) {
    switch constant {
    case .null: self = .missing
    case .bool(let flag): self.init(flag)
    case .integer(let number): self = .number(Double(number))
    case .double(let number): self = .number(number)
    case .date(let date): self.init(date)
    case .text(let text): self = .text(text)
    case .identifier(let identifier): self = .text(identifier.uuidString)
    }
  }

  /// Whether this value comes before another in ascending order; missing ones come first.
  func precedes(_ other: ModelValue) -> Bool {
    switch (self, other) {
    case (.missing, _): other != .missing
    case (_, .missing): false
    case (.number(let one), .number(let two)): one < two
    // The tests' texts are ASCII: without case first, then as they are.
    case (.text(let one), .text(let two)): (one.lowercased(), one) < (two.lowercased(), two)
    case (.number, .text): true
    case (.text, .number): false
    }
  }
}

protocol ModelProperties {
  func value(of key: PropertyKey) -> ModelValue
}

extension ModelAsset: ModelProperties {
  func value(of key: PropertyKey) -> ModelValue {
    switch key {
    case .localIdentifier: .text(id.uuidString)
    case .creationDate: ModelValue(creationDate)
    case .modificationDate: ModelValue(modificationDate)
    case .addedDate: ModelValue(addedDate)
    case .trashedDate: ModelValue(trashedDate)
    case .mediaType: .number(Double(mediaType.rawValue))
    case .mediaSubtypes: .number(Double(mediaSubtypes.rawValue))
    case .duration: .number(duration)
    case .pixelWidth: .number(Double(pixelWidth))
    case .isFavorite: ModelValue(isFavorite)
    case .isHidden: ModelValue(isHidden)
    case .latitude: ModelValue(location?.latitude)
    case .burstIdentifier: burstIdentifier.map { .text($0) } ?? .missing
    case .representsBurst: ModelValue(representsBurst)
    case .burstSelectionTypes: .number(Double(burstSelection.rawValue))
    case .stack: stack.map { .text($0.uuidString) } ?? .missing
    case .isBeneathStack: ModelValue(isBeneathStack)
    case .rating: .number(Double(rating.rawValue))
    case .isSelfPortrait: ModelValue(isSelfPortrait)
    case .sourceType: .number(Double(sourceType.rawValue))
    default: preconditionFailure("The model does not know the property \(key).")
    }
  }
}

extension ModelCollection: ModelProperties {
  func value(of key: PropertyKey) -> ModelValue {
    switch key {
    case .localizedTitle: title.map { .text($0) } ?? .missing
    case .creationDate: ModelValue(creationDate)
    case .modificationDate: ModelValue(modificationDate)
    case .estimatedAssetCount: .number(Double(count))
    case .kind: .number(Double(kind.rawValue))
    default: preconditionFailure("The model does not know the property \(key).")
    }
  }
}

extension ModelProperties {
  func satisfies(_ condition: Condition) -> Bool {
    switch condition {
    case .always: return true
    case .never: return false
    case .comparison(let key, let comparator, let constant):
      return holds(value(of: key), comparator, ModelValue(constant))
    case .pair(let one, let comparator, let two): return holds(value(of: one), comparator, value(of: two))
    case .oneOf(let key, let constants): return constants.contains { value(of: key) == ModelValue($0) }
    case .bits(let key, let mask, let comparator, let number):
      guard case .number(let word) = value(of: key) else { return comparator == .notEqual }
      return holds(.number(Double(Int64(word) & mask)), comparator, .number(Double(number)))
    case .text(let key, let test, let text, let options):
      guard case .text(let whole) = value(of: key), test == .contains, options == .caseInsensitive else { return false }
      return whole.lowercased().contains(text.lowercased())
    case .and(let parts): return parts.allSatisfy { satisfies($0) }
    case .or(let parts): return parts.contains { satisfies($0) }
    case .not(let part): return !satisfies(part)
    }
  }

  private func holds(_ one: ModelValue, _ comparator: Condition.Comparator, _ two: ModelValue) -> Bool {
    if comparator == .equal { return one == two }
    if comparator == .notEqual { return one != two }
    guard case .number(let one) = one, case .number(let two) = two else { return false }
    switch comparator {
    case .less: return one < two
    case .lessOrEqual: return one <= two
    case .greater: return one > two
    case .greaterOrEqual: return one >= two
    case .equal, .notEqual: return false
    }
  }
}
