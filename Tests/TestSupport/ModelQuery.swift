package import PhotoLedger
import Foundation

/// Where a model fetch looks for objects.
package enum ModelScope: Hashable, Sendable {
  case library
  case members(of: LocalIdentifier?)
  case identifiers(Set<LocalIdentifier>)
  case containing(LocalIdentifier)
}

/// A fetch, for the model and for the library.
package struct ModelQuery: Sendable, CustomStringConvertible {
  package let description: String
  package let entity: Entity
  package let scope: ModelScope
  package let options: FetchOptions

  package init(_ name: String, _ entity: Entity, _ scope: ModelScope, _ options: FetchOptions) {
    description = name
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
    return fetch(ModelQuery(query.description, query.entity, query.scope, options))
  }

  /// The identifiers that a fetch finds, in order.
  package func fetch(_ query: ModelQuery) -> [LocalIdentifier] {
    let options = query.options
    var found: [(id: LocalIdentifier, sort: [ModelValue], tie: Int)] = []
    for (place, id) in candidates(query).enumerated() where admits(id, query) {
      let object = object(id)
      let tie = query.options.sort.isEmpty ? place : order[id]!
      found.append((id, options.sort.map { object.value(of: $0.key) }, tie))
    }
    if !options.sort.isEmpty {
      found.sort { one, other in
        for (index, term) in options.sort.enumerated() where one.sort[index] != other.sort[index] {
          return one.sort[index].precedes(other.sort[index]) == term.ascending
        }
        return one.tie < other.tie
      }
    }
    let rest = found.dropFirst(options.fetchOffset)
    return (options.fetchLimit == 0 ? rest : rest.prefix(options.fetchLimit)).map(\.id)
  }

  /// The objects in the scope, in its natural order.
  private func candidates(_ query: ModelQuery) -> [LocalIdentifier] {
    let found: [LocalIdentifier]
    switch query.scope {
    case .library: return query.entity == .asset ? assetsInOrder : collectionsInOrder
    case .members(let container): return content(of: container)
    case .identifiers(let ids):
      found = ids.filter { query.entity == .asset ? assets[$0] != nil : collections[$0] != nil }
    case .containing(let id): found = containers(of: id).compactMap { $0 }
    }
    return found.sorted { order[$0]! < order[$1]! }
  }

  private func admits(_ id: LocalIdentifier, _ query: ModelQuery) -> Bool {
    let options = query.options
    if let asset = assets[id] {
      guard (asset.trashedDate != nil) == options.showsTrash else { return false }
      guard options.showsTrash || options.includeHiddenAssets || !asset.isHidden else { return false }
    } else {
      guard deleted.contains(id) == options.showsTrash else { return false }
    }
    return object(id).satisfies(options.condition)
  }

  private func object(_ id: LocalIdentifier) -> any ModelProperties {
    assets[id] as (any ModelProperties)? ?? collections[id]!
  }

  /// The objects that a fetch sorts by other values than an earlier model did; for a manual order, those whose place
  /// the requests of the commits in between named.
  package func touched(_ query: ModelQuery, since earlier: ModelLibrary, placed: Set<LocalIdentifier>) -> Set<
    LocalIdentifier
  > {
    if case .members = query.scope, query.options.sort.isEmpty { return placed }
    let common =
      query.entity == .asset
      ? assets.keys.filter { earlier.assets[$0] != nil } : collections.keys.filter { earlier.collections[$0] != nil }
    return Set(
      common.filter { id in
        query.options.sort.contains { earlier.object(id).value(of: $0.key) != object(id).value(of: $0.key) }
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
