import Foundation
import PhotoLedger
import Testing

private let image = MediaType.image
private let media: [MediaType] = [.image, .video]
private let live = MediaSubtypes.photoLive
private let several: MediaSubtypes = [.photoPanorama, .photoLive]
private let past = Date(timeIntervalSinceReferenceDate: -1)
private let days = past..<Date(timeIntervalSinceReferenceDate: 7e8)
private let closedDays = past...Date(timeIntervalSinceReferenceDate: 7e8)
private let spellings = QueryRandom.identifiers.prefix(2).map { $0.uuidString + "/L0/001" }
private let identities = Set(QueryRandom.identifiers.prefix(3))
private let some: Date? = past
private let since: Date? = past
private let nothing: Date? = nil
private let here: Location? = Location(latitude: 0, longitude: 1)

@Suite struct PredicateTranslationTests {
  static let ofAssets: [Predicate<Asset>] = [
    #Predicate { $0.isFavorite },
    #Predicate { !$0.isHidden && $0.isFavorite == true },
    #Predicate { $0.isFavorite == $0.isHidden },
    #Predicate { $0.mediaType == image },
    #Predicate { image != $0.mediaType },
    #Predicate { $0.mediaType.rawValue > 1 },
    #Predicate { media.contains($0.mediaType) },
    #Predicate { $0.mediaSubtypes.contains(live) },
    #Predicate { $0.mediaSubtypes.contains(several) },
    #Predicate { several.contains($0.mediaSubtypes) },
    #Predicate { $0.mediaSubtypes == live || $0.mediaSubtypes.isEmpty },
    #Predicate { $0.mediaSubtypes.rawValue == 9 },
    #Predicate { $0.pixelWidth > $0.pixelHeight },
    #Predicate { $0.pixelWidth >= 100 && $0.pixelWidth < 10 * 10 * 50 },
    #Predicate { (0...100).contains($0.pixelHeight) },
    #Predicate { (-5.0..<60.0).contains($0.duration) },
    #Predicate { $0.duration > -1.0 },
    #Predicate { $0.creationDate == nil },
    #Predicate { $0.creationDate != nil },
    #Predicate { $0.creationDate == some },
    #Predicate { $0.creationDate != some },
    #Predicate { $0.creationDate == nothing },
    #Predicate { $0.creationDate == $0.localCreationDate },
    #Predicate { ($0.creationDate ?? past) > past },
    #Predicate { ($0.creationDate ?? past) >= past },
    #Predicate { ($0.creationDate ?? past) != past },
    #Predicate { if let date = $0.creationDate { date != past } else { false } },
    #Predicate { !(($0.creationDate ?? past) < past) },
    #Predicate { if let date = $0.creationDate { date > past } else { false } },
    #Predicate { if let date = $0.creationDate { !(date > past) } else { true } },
    #Predicate { if let date = $0.creationDate { days.contains(date) } else { false } },
    #Predicate { closedDays.contains($0.modificationDate ?? past) },
    #Predicate { $0.creationDate.flatMap { $0 > past } ?? false },
    #Predicate { $0.creationDate.flatMap { $0 > past } == true },
    #Predicate { $0.creationDate.flatMap { $0 > past } != false },
    #Predicate { $0.creationDate.flatMap { _ in true } ?? false },
    #Predicate { asset in asset.creationDate.flatMap { _ in asset.isFavorite } ?? true },
    #Predicate { asset in asset.location.flatMap { _ in asset.isFavorite } ?? false },
    #Predicate { asset in if let date = since { asset.addedDate > date } else { true } },
    #Predicate { asset in if let date = nothing { asset.addedDate > date } else { true } },
    #Predicate { asset in if let date = since { asset.isFavorite && asset.addedDate > date } else { asset.isHidden } },
    #Predicate { asset in since.flatMap { _ in asset.isFavorite } ?? asset.isHidden },
    #Predicate { asset in nothing.flatMap { _ in asset.isFavorite } ?? asset.isHidden },
    #Predicate { $0.addedDate < past },
    #Predicate { $0.isTrashed && $0.trashedDate != nil },
    #Predicate { $0.location == nil },
    #Predicate { $0.location != nil },
    #Predicate { $0.location == here },
    #Predicate { $0.location?.latitude == 0.5 },
    #Predicate { $0.location?.altitude == nil },
    #Predicate { if let place = $0.location { place.latitude > 0 && place.longitude < 2 } else { false } },
    #Predicate { $0.burstIdentifier == "a" },
    #Predicate { $0.burstIdentifier != "a" },
    #Predicate { ($0.burstIdentifier ?? "").isEmpty },
    #Predicate { ($0.burstIdentifier ?? "zoo").contains("oo") },
    #Predicate { if let text = $0.burstIdentifier { text.starts(with: "e") } else { false } },
    #Predicate { $0.burstIdentifier?.localizedStandardContains("ÉTE") == true },
    #Predicate { $0.burstIdentifier == nil ? $0.isFavorite : $0.isHidden },
    #Predicate { spellings.contains($0.localIdentifier) },
    #Predicate { identities.contains($0.id) },
    #Predicate { $0.timeZoneOffset == 0 || $0.timeZoneOffset == nil },
    #Predicate { ($0.timeZoneOffset ?? 7) > 5 },
    #Predicate { _ in true },
  ]

  static let ofCollections: [Predicate<PhotoCollection>] = [
    #Predicate { $0.localizedTitle == "Zoo" },
    #Predicate { $0.localizedTitle?.localizedStandardContains("ete") ?? false },
    #Predicate { $0.canContainAssets && $0.estimatedAssetCount > 1 },
    #Predicate { $0.startDate == nil && $0.creationDate <= past },
    #Predicate { $0.kind.rawValue == 2 },
  ]

  @Test("a translation holds exactly where Foundation's own evaluation does", arguments: ofAssets.indices)
  func agreesOnAssets(index: Int) throws {
    let predicate = Self.ofAssets[index]
    let condition = try Condition(predicate)
    let test = condition.evaluator(for: AssetRow.self)
    var random = QueryRandom(seed: 61)
    for _ in 0..<400 {
      let row = random.asset()
      let expected = try predicate.evaluate(Asset(row: row, seenBy: .full, commit: 1))
      try #require(test(row) == expected, "\(condition) on \(row)")
    }
  }

  @Test("a translation of collections holds where Foundation's evaluation does", arguments: ofCollections.indices)
  func agreesOnCollections(index: Int) throws {
    let predicate = Self.ofCollections[index]
    let condition = try Condition(predicate)
    let test = condition.evaluator(for: CollectionRow.self)
    var random = QueryRandom(seed: 62)
    for _ in 0..<400 {
      let row = random.collection()
      let expected = try predicate.evaluate(PhotoCollection(row: row, seenBy: .full, commit: 1))
      try #require(test(row) == expected, "\(condition) on \(row)")
    }
  }

  @Test("a forced unwrap of a missing value is a missing value")
  func forcedUnwrap() throws {
    let condition = try Condition(#Predicate<Asset> { $0.creationDate! > past })
    #expect(condition == .comparison(.creationDate, .greater, .date(past)))
  }

  @Test("the same query in all three languages is the same condition")
  func oneCondition() throws {
    let translated = try Condition(#Predicate<Asset> { $0.mediaType == image && !$0.isHidden })
    let read = try Condition(format: "isHidden == NO AND mediaType = 1", for: .asset)
    let built = Condition.and([.not(.isTrue(.isHidden)), .comparison(.mediaType, .equal, .integer(1))]).normalized()
    #expect(translated == read)
    #expect(read == built)
  }

  @Test("a query that no fetch can answer is rejected by name (FR-09)")
  func refused() {
    let texts = ["a", "b"]
    func name(_ predicate: Predicate<Asset>) -> String? {
      do throws(FetchError) {
        _ = try Condition(predicate)
        return nil
      } catch {
        #expect(error.code == .unsupportedPredicate && error.description.contains(error.subject))
        return error.subject
      }
    }
    #expect(name(#Predicate { $0.pixelWidth * 2 > 100 }) == "*")
    #expect(name(#Predicate { -$0.duration > 100 }) == "-")
    #expect(name(#Predicate { $0.pixelWidth / 2 > 100 }) == "IntDivision")
    #expect(name(#Predicate { asset in texts.contains { $0 == asset.localIdentifier } }) == "SequenceContainsWhere")
    #expect(name(#Predicate { ($0.burstIdentifier ?? "").count > 1 }) == "a property of String of type Int")
    #expect(name(#Predicate { $0.localIdentifier < "5" }) == "localIdentifier")
    #expect(name(#Predicate { ($0.burstIdentifier ?? "").isEmpty == ($0.location?.latitude == nil) }) == nil)
    #expect(name(#Predicate { ($0.burstIdentifier ?? "") == $0.localIdentifier }) == "==")
  }
}
