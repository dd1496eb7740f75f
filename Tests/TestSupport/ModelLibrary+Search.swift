import PhotoLedger

// The model of text search: every word of every text, one by one. The tests' texts are ASCII.

extension ModelLibrary {
  /// Whether each word of a search begins a word of an asset: of its original files' names, its keywords, its caption.
  func has(_ id: LocalIdentifier, wordsLike search: String) -> Bool {
    let made: [ResourceType] = [.photo, .video, .audio, .alternatePhoto, .pairedVideo]
    let names = (resources[id] ?? []).filter { made.contains($0.type) }.map(\.originalFilename)
    let texts = names + (words[id]?.keywords ?? []) + [words[id]?.caption ?? ""]
    return Self.has(texts.joined(separator: " "), wordsLike: search)
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
