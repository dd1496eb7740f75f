import PhotoLedger

// The model of text search: every word of every text, one by one. The tests' texts are ASCII.

extension ModelLibrary {
  /// Whether each word of a search begins a word of an asset: of its original files' names, its keywords, its caption.
  func has(_ id: LocalIdentifier, wordsLike search: String) -> Bool {
    let names = originalNames(id)
    let texts = names + (words[id]?.keywords ?? []) + [words[id]?.caption ?? ""]
    return Self.has(texts.joined(separator: " "), wordsLike: search)
  }

  /// Whether an asset meets a condition that may ask for its details.
  ///
  /// The model knows of captions, keywords and names, by `==`, `CONTAINS[c]` and being missing.
  func has(_ id: LocalIdentifier, described condition: Condition, _ query: ModelQuery) -> Bool {
    func values(_ key: PropertyKey) -> [String]? {
      switch key {
      case .caption: [words[id]?.caption].compactMap(\.self)
      case .keywords: Array(words[id]?.keywords ?? [])
      case .originalFilename: Array(originalNames(id).prefix(1))
      default: nil
      }
    }
    switch condition {
    case .and(let parts): return parts.allSatisfy { has(id, described: $0, query) }
    case .or(let parts): return parts.contains { has(id, described: $0, query) }
    case .not(let part): return !has(id, described: part, query)
    case .comparison(let key, .equal, .null) where values(key) != nil: return values(key) == []
    case .comparison(let key, .notEqual, .null) where values(key) != nil: return values(key) != []
    case .comparison(let key, .equal, .text(let text)) where values(key) != nil: return values(key)!.contains(text)
    case .comparison(let key, .notEqual, .text(let text)) where values(key) != nil: return !values(key)!.contains(text)
    case .text(let key, .contains, let text, .caseInsensitive) where values(key) != nil:
      return values(key)!.contains { $0.lowercased().contains(text.lowercased()) }
    default: return assets[id]?.seen(by: eyes(of: query.client)).satisfies(condition) ?? false
    }
  }

  private func originalNames(_ id: LocalIdentifier) -> [String] {
    let made: [ResourceType] = [.photo, .video, .audio, .alternatePhoto, .pairedVideo]
    return (resources[id] ?? []).filter { made.contains($0.type) }.map(\.originalFilename)
  }

  /// Whether each word of a search begins a word of a text.
  static func has(_ text: String, wordsLike search: String) -> Bool {
    let words = cut(text)
    let wanted = cut(search)
    return !wanted.isEmpty && wanted.allSatisfy { prefix in words.contains { $0.hasPrefix(prefix) } }
  }

  private static func cut(_ text: String) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
