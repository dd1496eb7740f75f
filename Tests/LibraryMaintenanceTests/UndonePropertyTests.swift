import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// Undoing properties that follow from files, where the files were changed since: what the files do not permit is kept.

@Suite("Undo of properties that depend on files")
struct UndonePropertyTests {
  private let made: TemporaryLibrary
  private var library: PhotoLibrary { made.library }

  init() throws { made = try TemporaryLibrary() }

  /// A camera's raw picture beside a photo.
  private static func raw(_ seed: Int) -> ResourceDraft {
    var resource = AssetResource.invented(seed, .alternatePhoto)
    resource.uniformTypeIdentifier = "com.nikon.raw-image"
    (resource.pixelWidth, resource.pixelHeight) = (128, 96)
    return .stored(resource)
  }

  private func photo() throws -> LocalIdentifier {
    var resource = AssetResource.invented(1)
    (resource.pixelWidth, resource.pixelHeight) = (64, 48)
    var creation = AssetCreation(mediaType: .image, resources: [.stored(resource)])
    (creation.pixelWidth, creation.pixelHeight) = (64, 48)
    return try made.create(creation)
  }

  private func video() throws -> LocalIdentifier {
    var creation = AssetCreation.invented(2, .video)
    creation.duration = 5
    return try made.create(creation)
  }

  private func asset(_ id: LocalIdentifier) throws -> Asset { try #require(try library.asset(id.uuidString)) }

  @discardableResult
  private func edit(_ id: LocalIdentifier, _ change: (inout AssetChanges) -> Void) throws -> Token {
    var changes = AssetChanges()
    change(&changes)
    return try library.performChangesAndWait { $0.edit([id], changes) }.token
  }

  /// Makes a photo of a video, with the video as that of a Live Photo.
  private func addStill(_ seed: Int, to id: LocalIdentifier) throws {
    var changes = AssetChanges()
    changes.mediaType = .image
    try library.performChangesAndWait {
      $0.addResources(
        [.stored(.invented(seed, .photo))], to: id, changing: changes, retyping: [.video: .pairedVideo])
    }
  }

  @Test("the choice of a RAW file that the asset no longer has is not restored, not even by force (AS-16)")
  func choice() throws {
    let id = try photo()
    let added = try library.performChangesAndWait { $0.addResources([Self.raw(3)], to: id) }.token
    try edit(id) { $0.originalResourceChoice = .raw }
    #expect(try asset(id).pixelWidth == 128)
    let chosen = try edit(id) { $0.originalResourceChoice = .compressed }
    try library.undoAndWait(.commit(added))
    #expect(try library.resources(of: try asset(id)).map(\.type) == [.photo])
    let head = try library.currentToken
    let error = #expect(throws: LibraryError.self) { try library.undoAndWait(.commit(chosen)) }
    #expect(error?.code == .conflict && error?.description.contains("without a pair of originals") == true)
    let report = try library.undoAndWait(.commit(chosen), onConflict: .force)
    #expect(report.changes.isEmpty && report.token == nil)
    #expect(Set(report.conflicts.map(\.change.property)) == ["originalResourceChoice", "pixelWidth", "pixelHeight"])
    #expect(report.conflicts.allSatisfy { $0.reason == .forbidden && $0.outcome == .skipped })
    let kept = try asset(id)
    #expect(kept.originalResourceChoice == .compressed && kept.pixelWidth == 64)
    #expect(try library.currentToken == head)
  }

  @Test("the duration of a video that has become a photo is not restored; all else is, and edits succeed (AS-03)")
  func duration() throws {
    let id = try video()
    let cleared = try edit(id) { changes in
      changes.duration = 0
      changes.isFavorite = true
    }
    try addStill(3, to: id)
    let report = try library.undoAndWait(.commit(cleared), onConflict: .skip)
    #expect(report.changes.map(\.property) == ["isFavorite"])
    #expect(report.conflicts.map(\.change.property) == ["duration"])
    #expect(report.conflicts.map(\.reason) == [.forbidden])
    let kept = try asset(id)
    #expect(kept.mediaType == .image && kept.duration == 0 && !kept.isFavorite)
    try edit(id) { $0.isHidden = true }
    #expect(try library.verify(scratch: made.folder.url).isSound)
  }

  @Test("a value that was changed since and that a rule keeps is skipped, and not forced as well")
  func forcedAndKept() throws {
    let id = try video()
    try edit(id) { $0.duration = 4 }
    let shortened = try edit(id) { $0.duration = 3 }
    try edit(id) { $0.duration = 0 }
    try addStill(3, to: id)
    let report = try library.undoAndWait(.commit(shortened), onConflict: .force)
    #expect(report.changes.isEmpty && report.token == nil)
    #expect(report.conflicts.map(\.reason) == [.forbidden] && report.conflicts.map(\.outcome) == [.skipped])
    #expect(try asset(id).duration == 0)
  }

  @Test(
    "whichever commits are undone, no photo has a duration and RAW is chosen only of a pair (AS-03, AS-16)",
    arguments: 1...(Dose.isFull ? 20 : 8) as ClosedRange<UInt64>)
  func anyCommits(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (still, film) = (try photo(), try video())
    var tokens = [try library.currentToken]
    for round in 10..<34 {
      do {
        switch random.int(0..<7) {
        case 0: try library.performChangesAndWait { $0.addResources([Self.raw(round)], to: still) }
        case 1: try edit(still) { $0.originalResourceChoice = .raw }
        case 2: try edit(still) { $0.originalResourceChoice = .compressed }
        case 3: try edit(film) { $0.duration = random.one(of: [0, 5]) }
        case 4: try addStill(round, to: film)
        default:
          guard tokens.count > 1 else { continue }
          let undone = tokens[random.int(1..<tokens.count)]
          try library.undoAndWait(.commit(undone), onConflict: random.one(of: [.skip, .force]))
        }
      } catch is LibraryError {
        // The rules refuse some of the edits, which then leave nothing.
      }
      let head = try library.currentToken
      if tokens.last != head { tokens.append(head) }
      for id in [still, film] {
        let now = try asset(id)
        #expect(now.mediaType != .image || now.duration == 0, "seed \(seed), round \(round)")
        let hasRaw = try library.resources(of: now).contains(where: \.isRaw)
        #expect(now.originalResourceChoice == .compressed || hasRaw, "seed \(seed), round \(round)")
      }
    }
    #expect(try library.verify(scratch: made.folder.url).isSound)
  }
}
