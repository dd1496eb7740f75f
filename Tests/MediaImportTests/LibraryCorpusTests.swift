import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

// The whole way: real files, through the importer, the log and the projections, to what a client reads. What the
// manifest says is compared with assets and resources, not with what exiftool said on the way.

@Suite("the corpus in a library", .enabled(if: Corpus.isPresent))
struct LibraryCorpusTests {
  @Test(
    "every photo and video matches its manifest; groups are found; a repeat adds nothing",
    .timeLimit(.minutes(60)), arguments: Dose.isFull ? [false, true] : [false])
  func corpus(leavesFilesInPlace: Bool) async throws {
    let folder = try #require(Corpus.folder)
    let manifest = try Corpus.manifest()
    let rig = try ImportedLibrary()
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = leavesFilesInPlace
    let (summary, outcomes) = try await rig.run([FilePath(folder.path)], options)
    var differences: [String] = []
    for entry in manifest {
      let outcome = try #require(outcomes[entry.path], "\(entry.path) has an outcome")
      // Adjustment data that are kept are not media.
      if case .resource(_, .adjustmentData) = outcome { continue }
      guard entry.isMedia else {
        differences += CorpusImportTests.asset(outcome) == nil ? [] : ["\(entry.path): was taken and is no media"]
        continue
      }
      differences += try Self.differences(entry, in: rig.library).map { "\(entry.path): \($0)" }
    }
    differences.removeAll { Self.explained.contains($0) }
    #expect(differences.isEmpty, "\(differences.count) differences:\n\(differences.joined(separator: "\n"))")
    try Self.checkGroups(outcomes, rig)
    let lines = try ImportedLibrary.lines(summary)
    #expect(lines.count == summary.filesFound + 2 && summary.notReached == 0)
    #expect(lines.allSatisfy { $0["outcome"] as? String != "skipped" || $0["message"] != nil })
    let found = try rig.verify()
    #expect(found.isSound && found.missingResources.isEmpty, "\(String(describing: found.defect))")
    #expect(try rig.storedFiles().isEmpty == leavesFilesInPlace)
    let token = try rig.library.currentToken
    let again = try await rig.run([FilePath(folder.path)], options)
    #expect(try rig.library.currentToken == token && again.summary.commits == 0)
  }

  /// Where the library is right by the manifest's own rules; see ManifestAgreementTests.
  static let explained: Set = [
    "heic/bird_burst.heic: time is 2018-03-09T14:16:50 UTC, not 2018-03-09T14:16:50",
    "video/uuid540.mp4: time is 2020-01-05T15:04:00+00:00, not absent",
  ]

  static func differences(_ entry: ManifestEntry, in library: PhotoLibrary) throws -> [String] {
    guard let digest = entry.sha256.bytesOfHexadecimal else { return ["the manifest's hash is no hash"] }
    let holders = try library.assets(withContent: digest)
    guard let asset = holders.first, holders.count == 1 else { return ["\(holders.count) assets hold it"] }
    let resources = try library.resources(of: asset)
    guard let resource = resources.first(where: { $0.sha256 == digest }) else { return ["no resource holds it"] }
    var found: [String] = []
    func check<Value: Equatable>(_ name: String, _ ours: Value, _ theirs: Value) {
      if ours != theirs { found.append("\(name) is \(ours), not \(theirs)") }
    }
    check("size in bytes", Int64(resource.dataSize), entry.bytes)
    check("displayed width", resource.pixelWidth, entry.displayWidth ?? 0)
    check("displayed height", resource.pixelHeight, entry.displayHeight ?? 0)
    check("content identifier", resource.contentIdentifier, entry.contentIdentifier)
    // The movie of a Live Photo and the RAW beside a JPEG are resources: what they say is not the asset's.
    guard resource.type == .photo || resource.type == .video else { return found }
    check("type", asset.mediaType, entry.isVideo ? .video : .image)
    // An edited one shows its rendition.
    if !asset.hasAdjustments {
      check("width", asset.pixelWidth, entry.displayWidth ?? 0)
      check("height", asset.pixelHeight, entry.displayHeight ?? 0)
    }
    check("duration", rounded(asset.duration), rounded(entry.isVideo ? entry.duration ?? 0 : 0))
    check("latitude", rounded(asset.location?.latitude), rounded(entry.gpsLatitude))
    check("longitude", rounded(asset.location?.longitude), rounded(entry.gpsLongitude))
    if entry.gpsLatitude != nil { check("altitude", rounded(asset.location?.altitude), rounded(entry.gpsAltitude)) }
    check("burst", asset.burstIdentifier, entry.burstId)
    check("time", time(of: asset), ManifestAgreementTests.expectedTime(entry) ?? "absent")
    return found
  }

  static func rounded(_ value: Double?) -> Int? { ManifestAgreementTests.rounded(value) }

  /// The capture time as the manifest would spell it: the wall clock and its offset, or the instant and `UTC`.
  static func time(of asset: Asset) -> String {
    guard let instant = asset.creationDate else { return "absent" }
    guard let local = asset.localCreationDate else { return "\(clock(instant)) UTC" }
    if let offset = asset.timeZoneOffset {
      guard abs(local.timeIntervalSince(instant) - Double(offset)) < 1e-6 else { return "not the instant of its clock" }
      return clock(local)
        + String(format: "%@%02d:%02d", offset < 0 ? "-" : "+", abs(offset) / 3600, abs(offset) / 60 % 60)
    }
    return local == instant ? clock(local) : "an instant without an offset"
  }

  /// A date as a clock that shows UTC would, to the microsecond; trailing zeros of the fraction left out.
  static func clock(_ date: Date) -> String {
    let microseconds = Int64((date.timeIntervalSinceReferenceDate * 1e6).rounded()) + 978_307_200_000_000
    var seconds = time_t(microseconds.quotientAndRemainder(dividingBy: 1_000_000).quotient)
    var fraction = Int(microseconds % 1_000_000)
    if fraction < 0 { (seconds, fraction) = (seconds - 1, fraction + 1_000_000) }
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text = String(
      format: "%04d-%02d-%02dT%02d:%02d:%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
      parts.tm_min, parts.tm_sec)
    if fraction > 0 { text += String(format: ".%06d", fraction) }
    while fraction > 0 && text.hasSuffix("0") { text.removeLast() }
    return text
  }

  static func checkGroups(_ outcomes: [String: FileOutcome], _ rig: ImportedLibrary) throws {
    let expected = try #require(try Corpus.expectations())
    for pair in expected.livePhotos {
      let assets = try rig.library.assets(withContentIdentifier: pair.contentIdentifier)
      let live = assets.filter { $0.mediaSubtypes.contains(.photoLive) }
      #expect(live.count == (pair.complete ? 1 : 0), "\(pair.contentIdentifier)")
      for asset in live {
        #expect(asset.playbackStyle == .livePhoto && asset.mediaType == .image)
        let types = Set(try rig.library.resources(of: asset).map(\.type))
        #expect(types.isSuperset(of: [.photo, .pairedVideo]))
      }
    }
    let all = try rig.assets()
    let live = all.filter { $0.mediaSubtypes.contains(.photoLive) }
    #expect(live.count == expected.livePhotos.filter(\.complete).count)
    let media = Set(try Corpus.manifest().filter(\.isMedia).map(\.path))
    for group in expected.exactDuplicates where media.isSuperset(of: group) {
      #expect(CorpusImportTests.taken(group, outcomes).count == 1, "exactly one of \(group) is taken")
    }
    let resources = try all.flatMap { try rig.library.resources(of: $0) }
    #expect(resources.count { $0.type == .adjustmentData } == 1)
    let contents = resources.filter { $0.type != .adjustmentData }.map(\.sha256)
    #expect(Set(contents).count == contents.count, "No content is in the library twice.")
    let distinct = Set(try Corpus.manifest().filter(\.isMedia).map(\.sha256))
    #expect(contents.count == distinct.count)
  }
}

extension String {
  /// The bytes that hexadecimal digits spell.
  fileprivate var bytesOfHexadecimal: [UInt8]? {
    let digits = compactMap(\.hexDigitValue)
    guard digits.count == utf8.count, digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
