package import Foundation
package import PhotoLedger

extension AssetResource {
  /// A file that does not exist; its hash is made from the number.
  package static func invented(_ seed: Int, _ type: ResourceType = .photo) -> AssetResource {
    AssetResource(
      type: type, originalFilename: "IMG_\(seed).jpg", uniformTypeIdentifier: "public.jpeg",
      dataSize: UInt64(1000 + seed), sha256: (0..<32).map { UInt8(truncatingIfNeeded: seed >> ($0 % 4 * 8) &+ $0) },
      storage: .referenced(path: "/invented/\(seed)"))
  }
}

extension AssetCreation {
  /// An image whose bytes come from memory.
  package static func photo(_ text: String) -> AssetCreation { photo(from: .data(Data(text.utf8))) }

  /// An image with one file.
  package static func photo(from source: ResourceDraft.Source) -> AssetCreation {
    AssetCreation(mediaType: .image, resources: [ResourceDraft(type: .photo, source: source)])
  }

  /// An image with a creation date and one invented file.
  package static func invented(_ seed: Int, date: Date? = nil, _ mediaType: MediaType = .image) -> AssetCreation {
    let type: ResourceType = mediaType == .video ? .video : mediaType == .audio ? .audio : .photo
    var creation = AssetCreation(mediaType: mediaType, resources: [.staged(.invented(seed, type))])
    creation.creationDate = date
    return creation
  }

  /// An asset with every property drawn, from so few values that many are equal.
  package static func random(_ seed: Int, _ random: inout SeededGenerator) -> AssetCreation {
    var creation = AssetCreation.invented(seed, .image)
    if random.chance(1, of: 3) {
      creation = .invented(seed, .video)
      creation.duration = Double(random.int(0..<30))
    }
    creation.creationDate = Date.drawn(&random)
    creation.localCreationDate = creation.creationDate
    creation.timeZoneOffset = random.chance(1, of: 2) ? 3600 * random.int(-3..<3) : nil
    creation.mediaSubtypes = random.one(of: [[], [], .photoScreenshot, .photoHDR, [.photoHDR, .photoPanorama]])
    creation.pixelWidth = random.one(of: [100, 640, 4032])
    creation.pixelHeight = random.one(of: [100, 480, 3024])
    creation.location = Location.drawn(&random)
    creation.isFavorite = random.chance(1, of: 5)
    creation.isHidden = random.chance(1, of: 8)
    creation.burstIdentifier = random.chance(1, of: 5) ? random.one(of: ["burst", "salvo"]) : nil
    if creation.burstIdentifier != nil {
      creation.representsBurst = random.chance(1, of: 4)
      creation.burstSelectionTypes = random.one(of: [[], [], .autoPick, .userPick])
    }
    creation.sourceType = random.chance(1, of: 12) ? random.one(of: [.cloudShared, .iTunesSynced]) : .userLibrary
    creation.rating = random.one(of: AssetRating.allCases)
    creation.isSelfPortrait = random.chance(1, of: 6)
    creation.caption = random.one(of: [nil, nil, "", "sunset"])
    creation.keywords = Set(random.some(2, of: ["sea", "lake", "alp"]))
    return creation
  }
}

extension Date {
  /// One of twenty dates, or none.
  package static func drawn(_ random: inout SeededGenerator) -> Date? {
    random.chance(1, of: 10) ? nil : Date(timeIntervalSince1970: 1_600_000_000 + Double(random.int(0..<20)) * 0.125)
  }
}

extension Location {
  /// One of a few places, or none.
  package static func drawn(_ random: inout SeededGenerator) -> Location? {
    random.chance(1, of: 3)
      ? nil
      : Location(latitude: Double(random.int(-3..<4)), longitude: 8.5, altitude: random.chance(1, of: 2) ? 400 : nil)
  }
}
