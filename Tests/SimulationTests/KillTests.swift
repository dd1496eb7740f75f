import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// What was acknowledged is there, whole, however the writer ended.
//
// `photoledger apply` is given blocks, each with an idempotency key, and killed at a random moment. A block that was
// answered must be found under its key with the same token; one that was not may be there or not (it may have become
// durable just before the answer), but never in part: every block makes one album with exactly two photos in a folder.

@Suite("Killed writers")
struct KillTests {
  /// How many writers are killed.
  static var cycles: Int { Dose.isFull ? Dose.of(7) : 4 }

  private static let blocks = 80

  private static func block(_ cycle: Int, _ index: Int) -> String {
    let assets = (0..<2).map { half in
      let data = Data("\(cycle) \(index) \(half)".utf8).base64EncodedString()
      return #"{"op":"asset.create","as":"$\#(half)","mediaType":"image","resources":"#
        + #"[{"type":"photo","data":"\#(data)","originalFilename":"a.jpg"}]}"#
    }
    return
      #"{"key":"\#(cycle)-\#(index)","changes":[{"op":"album.create","title":"\#(cycle)-\#(index)","as":"$album"},"#
      + assets.joined(separator: ",") + #",{"op":"album.add","album":"$album","assets":["$0","$1"]}]}"#
  }

  @Test("kill -9 loses no acknowledged commit and leaves none partial", .timeLimit(.minutes(60)))
  func kills() throws {
    var random = SeededGenerator(seed: 5)
    let temporary = try TemporaryLibrary(.system)
    let library = temporary.library
    var acknowledged = 0
    var unanswered = 0
    for cycle in 0..<Self.cycles {
      let program = try ProgramRun(["apply"], library: temporary.url)
      program.send((0..<Self.blocks).map { Self.block(cycle, $0) })
      // Killed after some of the answers, or after some time that need not be enough for any.
      var answers: [[String: Any]] = []
      if random.chance(3, of: 5) {
        let patience = random.int(0..<Self.blocks)
        while answers.count < patience, let answer = try program.object() { answers.append(answer) }
      }
      Thread.sleep(forTimeInterval: Double(random.int(0..<(answers.isEmpty ? 60_000 : 3_000))) / 1e6)
      program.killNow()
      while let answer = try program.object() { answers.append(answer) }
      acknowledged += answers.count
      unanswered += try check(cycle, answers, library)
      if cycle % 7 == 6 { #expect(try library.verify().defect == nil, "after cycle \(cycle)") }
    }
    #expect(acknowledged > Self.cycles, "Too few blocks were answered before the kills.")
    let sound = try library.verify(hashingContent: true)
    #expect(sound.isSound && sound.missingResources.isEmpty)
    print("\(Self.cycles) kills: \(acknowledged) commits acknowledged, \(unanswered) more were durable unanswered.")
  }

  /// Compares what is in the library with the answers of one cycle, and says how many commits were not answered.
  private func check(_ cycle: Int, _ answers: [[String: Any]], _ library: PhotoLibrary) throws -> Int {
    let albums = try library.fetchCollections().filter { $0.localizedTitle?.hasPrefix("\(cycle)-") ?? false }
    #expect(albums.count >= answers.count, "cycle \(cycle)")
    #expect(albums.map { $0.localizedTitle ?? "" } == albums.indices.map { "\(cycle)-\($0)" }, "cycle \(cycle)")
    for album in albums {
      #expect(album.estimatedAssetCount == 2, "cycle \(cycle)")
      #expect(try library.fetchAssets(FetchOptions(), in: album).count == 2, "cycle \(cycle)")
    }
    for (index, answer) in answers.enumerated() {
      let again = try library.performChangesAndWait(key: "\(cycle)-\(index)") { $0.createAlbum(title: "never") }
      #expect(again.isRepetition, "cycle \(cycle), block \(index) was acknowledged and is lost")
      #expect(again.token.description == answer["token"] as? String, "cycle \(cycle)")
      #expect(again.created == answer["created"] as? [String], "cycle \(cycle)")
    }
    return albums.count - answers.count
  }
}
