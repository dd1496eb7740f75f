package import Foundation
package import PhotoLedger

/// A probe that reads what a test wrote: `jpeg 30 20`, `raw 60 40`, `mov 64 48 2.5`; everything else is not media.
package final class WrittenProbe: MediaProbe {
  /// The ending of the name of each file that was examined.
  package let examined = Gathered<String>()
  /// Runs before each answer.
  private let before: @Sendable (String) throws -> Void

  package init(before: @escaping @Sendable (String) throws -> Void = { _ in }) { self.before = before }

  package static let date = Date(timeIntervalSince1970: 1_000_000)

  package func examine(_ file: URL) throws -> MediaFinding {
    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    examined.append(file.pathExtension)
    try before(text)
    let words = text.split(separator: " ").map(String.init)
    let kinds = ["jpeg": "public.jpeg", "raw": "com.adobe.raw-image", "mov": "com.apple.quicktime-movie"]
    guard let word = words.first, let type = kinds[word] else { return .noMedium("text/plain") }
    var facts = MediumFacts(mediaType: word == "mov" ? .video : .image, uniformTypeIdentifier: type)
    (facts.pixelWidth, facts.pixelHeight) = (Int(words[1]) ?? 0, Int(words[2]) ?? 0)
    facts.duration = words.count > 3 ? Double(words[3]) ?? 0 : 0
    (facts.creationDate, facts.timeZoneOffset) = (Self.date, 3600)
    facts.localCreationDate = Self.date + 3600
    facts.location = Location(latitude: 47, longitude: 8)
    facts.mediaSubtypes = word == "mov" ? .videoHighFrameRate : .photoPanorama
    facts.contentIdentifier = word
    return .medium(facts)
  }
}
