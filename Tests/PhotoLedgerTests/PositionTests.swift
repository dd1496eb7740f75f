import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Positions in a block of many requests")
struct PositionTests {
  typealias Request = (ChangeBlock) -> Void

  @Test(
    "are those that as many blocks of one request each find in an album",
    arguments: 1...(Dose.isFull ? Dose.of(6) : 3))
  func albums(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (alone, together) = (try TemporaryLibrary(), try TemporaryLibrary())
    let ids = try alone.create(60)
    #expect(try together.create(60) == ids)
    let album = try alone.album(Array(ids[..<40]))
    #expect(try together.album(Array(ids[..<40])) == album)
    var requests: [Request] = []
    for _ in 0..<80 {
      let shown = try alone.members(album).map(\.id)
      let request = Self.request(on: album, showing: shown, of: ids, &random)
      try alone.library.performChangesAndWait(request)
      requests.append(request)
    }
    try together.library.performChangesAndWait { block in for request in requests { request(block) } }
    #expect(try together.members(album).map(\.id) == alone.members(album).map(\.id))
    // Those that are hidden or in the trash have the same places, too.
    for made in [alone, together] {
      try made.library.performChangesAndWait { block in
        block.restoreAssets(ids)
        block.setHidden(false, for: ids)
      }
    }
    #expect(try together.members(album).map(\.id) == alone.members(album).map(\.id))
  }

  private static func request(
    on album: LocalIdentifier, showing shown: [LocalIdentifier], of ids: [LocalIdentifier],
    _ random: inout SeededGenerator
  ) -> Request {
    let positions = random.positions(random.int(1..<4), of: shown.count)
    let some = random.some(3, of: ids)
    let place = random.int(0..<shown.count - positions.count + 1)
    switch random.int(0..<9) {
    case 0...2: return { $0.album(album).move(at: IndexSet(positions), to: place) }
    case 3: return { $0.album(album).remove(at: IndexSet(positions)) }
    case 4...5: return { $0.album(album).insert(some, at: place) }
    case 6:
      let newcomers = Array(some.prefix(positions.count))
      return { $0.album(album).replace(at: IndexSet(positions.prefix(newcomers.count)), with: newcomers) }
    case 7:
      let isHidden = random.chance(1, of: 2)
      return { $0.setHidden(isHidden, for: Array(some.prefix(2))) }
    default:
      return random.chance(1, of: 2)
        ? { $0.deleteAssets([some[0]]) } : { $0.restoreAssets(some) }
    }
  }

  @Test(
    "are those that as many blocks of one request each find in a folder",
    arguments: 1...(Dose.isFull ? Dose.of(4) : 2))
  func folders(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (alone, together) = (try TemporaryLibrary(), try TemporaryLibrary())
    var (folder, children) = (LocalIdentifier(UUID()), [LocalIdentifier]())
    for made in [alone, together] {
      try made.library.performChangesAndWait { block in
        folder = block.createFolder(title: "folder")
        children = (0..<20).map { block.createAlbum(title: "\($0)") }
        block.folder(folder).add(Array(children[..<15]))
      }
    }
    var requests: [Request] = []
    for step in 0..<40 {
      let shown = try alone.children(of: folder)
      let positions = random.positions(random.int(1..<3), of: shown.count)
      let place = random.int(0..<shown.count - positions.count + 1)
      let outside = children[15 + step % 5]
      let leaving = shown[positions[0]]
      let request: Request =
        switch random.int(0..<8) {
        case 0...3: { $0.folder(folder).move(at: IndexSet(positions), to: place) }
        case 4...5 where !shown.contains(outside): { $0.folder(folder).insert([outside], at: place) }
        case 6: { $0.folder(folder).remove(at: [positions[0]]) }
        case 7 where !children[15...].contains(leaving) && shown.count > 5: { $0.deleteCollections([leaving]) }
        default: { $0.folder(folder).move(at: [0], to: shown.count - 1) }
        }
      try alone.library.performChangesAndWait(request)
      requests.append(request)
    }
    try together.library.performChangesAndWait { block in for request in requests { request(block) } }
    #expect(try together.children(of: folder) == alone.children(of: folder))
  }
}

extension TemporaryLibrary {
  fileprivate func children(of folder: LocalIdentifier) throws -> [LocalIdentifier] {
    try library.fetchCollections(in: try collection(folder)).map(\.id)
  }
}
