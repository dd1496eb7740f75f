import Foundation
import TestSupport
import Testing

import PhotoLedger
@testable import MediaImport

@Suite("importing the whole corpus", .enabled(if: Corpus.isPresent))
struct CorpusImportTests {
  /// The files of one group that are primary or further resources of an asset.
  static func taken(_ paths: [String], _ outcomes: [String: FileOutcome]) -> [String] {
    paths.filter { path in
      switch outcomes[path] {
      case .asset, .resource: true
      default: false
      }
    }
  }

  static func asset(_ outcome: FileOutcome?) -> LocalIdentifier? {
    switch outcome {
    case .asset(let asset), .resource(let asset, _): asset
    default: nil
    }
  }

  /// The files to import with what the manifest says of them: all that are of a group or not media, and every fifth
  /// other one, since LibraryCorpusTests imports all of them; at the full dose the folder as it is.
  private static func files(
    in scratch: MediaImportTests.TemporaryFolder, _ expected: Expectations
  ) throws -> (root: FilePath, manifest: [ManifestEntry]) {
    let folder = try #require(Corpus.folder)
    let manifest = try Corpus.manifest()
    if Dose.isFull { return (FilePath(folder.path), manifest) }
    var grouped = Set((expected.exactDuplicates + expected.rawJpegStacks).joined())
    for pair in expected.livePhotos { grouped.formUnion(pair.stills + pair.videos) }
    var chosen: [ManifestEntry] = []
    for (index, entry) in manifest.enumerated() {
      let isOfGroup = entry.contentIdentifier != nil || grouped.contains(entry.path)
      let isOther = !entry.isMedia || entry.path.hasPrefix("edits-agpl/")
      guard isOfGroup || isOther || index % 5 == 0 else { continue }
      try scratch.write(entry.path, try Data(contentsOf: folder.appending(path: entry.path)))
      chosen.append(entry)
    }
    return (scratch.asRoot, chosen)
  }

  @Test(
    "every file has an outcome in bounded time; duplicates and Live Photos are found; a repeat adds nothing",
    .timeLimit(.minutes(60)), arguments: Dose.isFull ? [7, 200] : [7])
  func everything(batch: Int) async throws {
    let expectations = try Corpus.expectations()
    let expected = try #require(expectations)
    let scratch = try MediaImportTests.TemporaryFolder()
    let (root, manifest) = try Self.files(in: scratch, expected)
    var rig = try Rig()
    rig.options.batchFileCount = batch
    let (summary, outcomes) = try await rig.run([root])
    for entry in manifest {
      let outcome = try #require(outcomes[entry.path], "\(entry.path) has an outcome")
      let isSidecar = FolderScan.sidecarExtensions.contains(FilePath(entry.path).pathExtension)
      if entry.path == "edits-agpl/IMG_4120.AAE" {
        let original = try #require(Self.asset(outcomes["edits-agpl/IMG_4120.JPG"]))
        #expect(outcome == .resource(original, .adjustmentData))
        #expect(outcomes["edits-agpl/IMG_E4120.JPG"] == .resource(original, .fullSizePhoto))
      } else if isSidecar {
        #expect(outcome == .sidecar, "\(entry.path)")
      } else if !entry.isMedia {
        guard case .skipped = outcome else { throw ImportError(.unreadable, "\(entry.path) is no media: \(outcome)") }
      }
    }
    try checkGroups(manifest, expected, outcomes)
    let stills = await rig.target.assets.values.filter(\.isLive)
    #expect(stills.count == expected.livePhotos.filter(\.complete).count && summary.livePhotos == stills.count)
    let again = try await rig.run([root])
    #expect(again.summary.commits == 0 && again.summary.assetsAdded == 0 && again.summary.resourcesAdded == 0)
    withExtendedLifetime(scratch) {}
  }

  func checkGroups(_ manifest: [ManifestEntry], _ expected: Expectations, _ outcomes: [String: FileOutcome]) throws {
    let media = Set(manifest.filter { $0.isMedia }.map(\.path))
    for group in expected.exactDuplicates where media.isSuperset(of: group) {
      #expect(Self.taken(group, outcomes).count == 1, "exactly one of \(group) is taken")
    }
    let repeated = Dictionary(grouping: manifest.filter(\.isMedia), by: \.sha256).values.reduce(0) { $0 + $1.count - 1 }
    let duplicates = outcomes.values.filter { if case .duplicateOfFile = $0 { true } else { false } }
    #expect(duplicates.count == repeated)
    for pair in expected.livePhotos where pair.complete {
      let still = try #require(Self.taken(pair.stills, outcomes).first)
      let movie = try #require(Self.taken(pair.videos, outcomes).first)
      let asset = try #require(Self.asset(outcomes[still]))
      #expect(outcomes[movie] == .resource(asset, .pairedVideo), "\(still) and \(movie)")
    }
    for pair in expected.livePhotos where !pair.complete {
      for path in Self.taken(pair.stills + pair.videos, outcomes) {
        guard case .asset? = outcomes[path] else { throw ImportError(.unreadable, "\(path) is an asset of its own.") }
      }
    }
    // Where the file called `.NEF` holds a JPEG, as all of these do, there is no RAW to stand behind the other.
    let rawPaths = Set(manifest.filter { MediaMetadata.rawTypes.contains($0.fileType ?? "") }.map(\.path))
    for stack in expected.rawJpegStacks {
      let assets = Set(stack.compactMap { Self.asset(outcomes[$0]) })
      #expect(assets.count == (rawPaths.isDisjoint(with: stack) ? 2 : 1), "\(stack)")
      #expect(Self.taken(stack, outcomes).count == stack.count)
    }
  }
}
