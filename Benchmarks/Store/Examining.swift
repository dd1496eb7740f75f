import Foundation
import MediaImport
import PhotoLedger

/// S26: what examining new bytes costs, beside exiftool itself asked about the same files.
///
/// Photos of a few dozen bytes go into a library in memory, fifty a block, once without a probe and once with one; the
/// difference is what the probe costs. The floor is the very process that the probe uses, asked about files with the
/// same bytes. A block that brings no bytes is measured beside, with and without a probe.
enum Examining {
  static let names = [
    "S26 floor: the same exiftool, a file", "S26 creation without a probe, no sync, a photo",
    "S26 what the probe adds, a photo", "S26 block without bytes, no probe, no sync",
    "S26 block without bytes, probe installed, no sync",
  ]

  private static let blockSize = 50

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names), let memory = Stage.memoryFileSystem else { return }
    let folder = memory.appending(path: "photoledger-probe-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let probe = ExternalProbe()
    let file = folder.appending(path: "a.jpg")
    try photo(0).write(to: file)
    if case .unavailable(let sentence) = try probe.examine(file) {
      print("S26 is left out: \(sentence)")
      return
    }
    let (bare, examined) = (try library("bare", nil, in: folder), try library("examined", probe, in: folder))
    defer { for library in [bare, examined] { library.close() } }
    try measureCreation(bare, examined, probe, file, stage.size, into: &report)
    try measureEdits(bare, examined, stage.size, into: &report)
  }

  private static func library(_ name: String, _ probe: ExternalProbe?, in folder: URL) throws -> PhotoLibrary {
    let library = try PhotoLibrary.create(at: folder.appending(path: name), environment: .seeded(Stage.seed))
    try library.setMediaProbe(probe)
    return library
  }

  private static func measureCreation(
    _ bare: PhotoLibrary, _ examined: PhotoLibrary, _ probe: ExternalProbe, _ file: URL, _ size: Int,
    into report: inout Report
  ) throws {
    let stopwatch = Stopwatch()
    var (floors, without, added) = ([Double](), [Double](), [Double]())
    for round in 0...report.repetitions {
      let floor = try stopwatch.time {
        for _ in 0..<blockSize {
          guard try probe.answer(about: file).count > 100 else {
            throw WrongAnswer(description: "exiftool says nothing about a photo.")
          }
        }
      }
      let own = try stopwatch.time { try create(round, in: bare, width: 0) }
      let all = try stopwatch.time { try create(round, in: examined, width: 640) }
      // The first round warms up.
      if round == 0 { continue }
      floors.append(floor)
      without.append(own)
      added.append(all - own)
    }
    let floor = Sample(floors)
    report.add(names[0], size: size, caches: .warm, floor, operations: blockSize)
    report.add(names[1], size: size, caches: .warm, Sample(without), operations: blockSize)
    report.add(
      names[2], size: size, caches: .warm, Sample(added), operations: blockSize,
      comparedWith: floor.quantile(0.5) / Double(blockSize), goal: .atMost(1.3))
  }

  private static func create(_ round: Int, in library: PhotoLibrary, width: Int) throws {
    let receipt = try library.performChangesAndWait { block in
      for number in 0..<blockSize {
        let draft = ResourceDraft(type: .photo, source: .data(photo(round * blockSize + number + 1)))
        block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
      }
    }
    guard let last = try receipt.created.last.flatMap({ try library.asset($0) }), last.pixelWidth == width else {
      throw WrongAnswer(description: "A new photo does not have the width \(width).")
    }
  }

  private static func measureEdits(
    _ bare: PhotoLibrary, _ examined: PhotoLibrary, _ size: Int, into report: inout Report
  ) throws {
    var isFavorite = false
    let bodies = try [bare, examined].map { library in
      guard let asset = try library.fetchAssets().first?.id else {
        throw WrongAnswer(description: "A library that was filled is empty.")
      }
      return { _ = try library.performChangesAndWait { $0.setFavorite(isFavorite, for: [asset]) } }
    }
    let stopwatch = Stopwatch()
    var times = [[Double]](repeating: [], count: bodies.count)
    // Each goes first every other time: what the threads of one library still do after a block is answered is in the
    // clock of the other, which comes at once.
    for round in 0...max(200, report.repetitions) {
      isFavorite.toggle()
      for index in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        let time = try stopwatch.time(bodies[index])
        if round > 0 { times[index].append(time) }
      }
    }
    let samples = times.map { Sample($0) }
    report.add(names[3], size: size, caches: .warm, samples[0])
    // Nothing, as far as two libraries side by side can tell.
    report.add(
      names[4], size: size, caches: .warm, samples[1], comparedWith: samples[0].quantile(0.5), goal: .atMost(1.05))
  }

  /// A JPEG of 640 × 480 pixels that consists of its headers, with a comment that makes it another one.
  private static func photo(_ number: Int) -> Data {
    let comment = Data("photo \(number)".utf8)
    return Data([0xFF, 0xD8, 0xFF, 0xFE, 0, UInt8(comment.count + 2)]) + comment
      + Data([0xFF, 0xC0, 0, 11, 8, 0x01, 0xE0, 0x02, 0x80, 1, 1, 0x11, 0, 0xFF, 0xD9])
  }
}
