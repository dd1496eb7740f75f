import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Creations that are read in place")
struct LentCreationTests {
  /// A creation of any kind; most say no more than the row and the files.
  private static func existence(_ number: Int, _ random: inout SeededGenerator) -> AssetExistence {
    let invented = AssetCreation.random(number, &random)
    var row = AssetRow(
      number: UInt64(number + 1), identifier: LocalIdentifier(using: &random),
      addedDate: Date(timeIntervalSinceReferenceDate: Double(number)))
    row.creationDate = invented.creationDate
    row.location = invented.location
    row.pixelWidth = random.one(of: [0, 23, 24, 4032])
    if random.chance(1, of: 4) { row.burstIdentifier = "burst" }
    if random.chance(1, of: 6) { row.stack = LocalIdentifier(using: &random) }
    if random.chance(1, of: 8) { row.flags.insert(.erased) }
    var details = AssetDetails()
    for file in 0..<random.one(of: [0, 1, 1, 2, 3]) {
      var resource = AssetResource.invented(number * 4 + file, random.one(of: [.photo, .pairedVideo]))
      resource.originalFilename = random.one(of: ["", "IMG_1.HEIC", "é\u{85}\"n", String(repeating: "n", count: 300)])
      (resource.pixelWidth, resource.pixelHeight) = (random.one(of: [0, 5]), random.one(of: [0, 300]))
      if random.chance(1, of: 2) { resource.storage = .library }
      if random.chance(1, of: 2) { resource.sha1 = Array(repeating: 7, count: 20) }
      if random.chance(1, of: 2) { resource.contentIdentifier = "LIVE" }
      details.resources.append(resource)
    }
    if random.chance(1, of: 6) { details.caption = "sea" }
    let places = random.chance(1, of: 6) ? [ContainerPlace(container: 1, key: OrderKey(rawValue: OrderKey.middle))] : []
    return AssetExistence(row: row, details: details, places: places)
  }

  /// What is read where it lies; nil if that is left to the strict reader.
  private static func lent(_ payload: [UInt8], of sequence: UInt64, _ version: UInt32) -> AssetExistence? {
    var creation = LentCreation()
    guard creation.read(payload.span.bytes, of: sequence, version: version) else { return nil }
    var details = AssetDetails()
    for file in creation.files {
      func text(_ place: Range<Int>) -> String { String(decoding: payload[place], as: UTF8.self) }
      details.resources.append(
        AssetResource(
          type: file.type, originalFilename: text(file.originalFilename),
          uniformTypeIdentifier: text(file.uniformTypeIdentifier), dataSize: file.dataSize,
          sha256: Array(payload[file.sha256]), storage: file.path.map { .referenced(path: text($0)) } ?? .library,
          contentIdentifier: file.contentIdentifier.map(text), sha1: file.sha1.map { Array(payload[$0]) }))
    }
    return AssetExistence(row: creation.row, details: details, places: [])
  }

  /// What the strict reader reads, without what a line of the log does not show of files.
  private static func strict(_ payload: [UInt8], of sequence: UInt64, _ version: UInt32) throws -> AssetExistence? {
    let event = try Event(
      type: "asset.created", version: version, sequence: sequence, payload: payload.span.bytes)
    guard case .assetCreated(var existence) = event else { return nil }
    for index in existence.details.resources.indices {
      (existence.details.resources[index].pixelWidth, existence.details.resources[index].pixelHeight) = (0, 0)
    }
    return existence
  }

  @Test("they are what the strict reader reads, damaged ones too", arguments: 0..<(Dose.isFull ? 5 : 2))
  func equality(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var (lentCount, damagedCount) = (0, 0)
    for number in 0..<300 {
      let existence = Self.existence(number, &random)
      let event = Event.assetCreated(existence)
      let (version, sequence) = (event.version, existence.row.number)
      var payload = event.payload()
      let says = existence.details.caption == nil && existence.places.isEmpty && !existence.row.isErased
      let isUsual = says && !existence.details.resources.isEmpty
      let read = Self.lent(payload, of: sequence, version)
      #expect((read != nil) == isUsual)
      if let read {
        lentCount += 1
        let strict = try Self.strict(payload, of: sequence, version)
        #expect(read == strict)
        #expect(Self.lent(payload, of: sequence + 1, version) == nil, "the number is another's")
        #expect(Self.lent(payload, of: sequence, version % 4 + 1) == nil, "the version is another's")
      }
      for _ in 0..<30 {
        let sound = payload
        if random.chance(2, of: 3) {
          payload[random.int(0..<payload.count)] = UInt8(truncatingIfNeeded: random.next())
        } else {
          payload.removeLast(random.int(1..<payload.count + 1))
        }
        if let read = Self.lent(payload, of: sequence, version) {
          damagedCount += 1
          let strict = try Self.strict(payload, of: sequence, version)
          #expect(read == strict)
        }
        payload = sound
      }
    }
    #expect(lentCount > 100 && damagedCount > 100)
  }
}
