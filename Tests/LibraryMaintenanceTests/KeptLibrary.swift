import EventLog
import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

/// A library whose assets have everything that an erasure must take, and a second one of everything beside it.
final class KeptLibrary {
  let small: SmallLibrary
  var library: PhotoLibrary { small.library }
  var url: URL { small.temporary.url }
  var folder: TemporaryFolder { small.temporary.folder }
  private(set) var secret: LocalIdentifier
  private(set) var other: LocalIdentifier
  private(set) var twin: LocalIdentifier
  let app: PhotoLibrary

  /// What must not be found anywhere once the secret asset was erased: words, names, and bytes of numbers.
  static let traces: [[UInt8]] =
    ["Zanzibar", "ZNZ_0001.HEIC", "ZNZ_0001.MOV", "xylophone", "burst-of-zanzibar"].map { Array($0.utf8) }
    + [latitude, laterLatitude, creation.timeIntervalSinceReferenceDate].flatMap {
      [bytes(of: $0), bytes(of: $0).reversed()]
    }
    + [photo, film].flatMap { [Array($0), Array($0).sha256, Array(Array($0).sha256.hexadecimal.utf8)] }

  static let latitude = -6.165917
  static let laterLatitude = -6.222333
  static let creation = Date(timeIntervalSince1970: 1_234_567_890.125)
  static let photo = Data("the bytes of the picture from Stone Town".utf8)
  static let film = Data("the bytes of the film from Stone Town".utf8)

  /// A double as CBOR and rows hold it.
  private static func bytes(of value: Double) -> [UInt8] {
    withUnsafeBytes(of: value.bitPattern.bigEndian) { Array($0) }
  }

  static func make() async throws -> KeptLibrary {
    let small = try SmallLibrary()
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      ids = [block.createAsset(secretCreation()), block.createAsset(plain("plain")), block.createAsset(plain("twin"))]
    }
    let kept = KeptLibrary(small, ids, small.library.as("com.example.app"))
    try await kept.live()
    return kept
  }

  private init(_ small: SmallLibrary, _ ids: [LocalIdentifier], _ app: PhotoLibrary) {
    (self.small, secret, other, twin, self.app) = (small, ids[0], ids[1], ids[2], app)
  }

  private static func secretCreation() -> AssetCreation {
    var creation = AssetCreation(
      mediaType: .image,
      resources: [
        ResourceDraft(type: .photo, source: .data(photo), originalFilename: "ZNZ_0001.HEIC"),
        ResourceDraft(type: .pairedVideo, source: .data(film), originalFilename: "ZNZ_0001.MOV"),
      ])
    creation.caption = "Sunset in Zanzibar"
    creation.keywords = ["xylophone"]
    creation.location = Location(latitude: latitude, longitude: 39.2026)
    creation.creationDate = self.creation
    creation.burstIdentifier = "burst-of-zanzibar"
    creation.isFavorite = true
    return creation
  }

  private static func plain(_ name: String) -> AssetCreation {
    var creation = AssetCreation(
      mediaType: .image,
      resources: [ResourceDraft(type: .photo, source: .data(Data(name.utf8)), originalFilename: "\(name).jpg")])
    creation.creationDate = Date(timeIntervalSince1970: 1_000_000_000)
    creation.caption = "words about \(name)"
    creation.keywords = ["shared"]
    return creation
  }

  /// Edits, albums, a limited client and the trash, each of them shared with the other assets.
  private func live() async throws {
    let all = [secret, other, twin]
    let album = try await small.album("Island", all)
    try await small.change { block in
      block.register(client: "com.example.app")
      block.setAuthorizationStatus(.limited, of: "com.example.app")
      block.grant([secret, other], to: "com.example.app")
    }
    try await small.change { block in
      var shared = AssetChanges()
      shared.rating = .four
      shared.removedKeywords = ["xylophone", "shared"]
      block.edit(all, shared)
      var own = AssetChanges()
      own.location = .set(Location(latitude: Self.laterLatitude, longitude: 39.1))
      own.caption = .set("Seen from Zanzibar")
      block.edit([secret], own)
    }
    try await small.change { $0.setHidden(true, for: [secret, twin]) }
    try await small.change { $0.setHidden(false, for: [secret]) }
    try await small.change { $0.deleteAssets([secret, other]) }
    try await small.change { $0.restoreAssets([secret, other]) }
    try await small.change { $0.album(album.id).move(at: [0], to: 1) }
  }

  /// Every file of the library, by path.
  func files() throws -> [String] {
    let manager = FileManager.default
    return try manager.subpathsOfDirectory(atPath: url.path).filter { path in
      var isFolder: ObjCBool = false
      return manager.fileExists(atPath: "\(url.path)/\(path)", isDirectory: &isFolder) && !isFolder.boolValue
        && !path.hasSuffix("/changes")
    }.sorted()
  }

  /// The traces that are found in some file of the library, the path of one included.
  func tracesFound() throws -> [String] {
    var found: [String] = []
    for path in try files() {
      let content = try Data(contentsOf: url.appending(path: path)) + Data(path.filter { $0 != "/" }.utf8)
      for trace in Self.traces where content.range(of: Data(trace)) != nil {
        found.append("\(path) holds \(String(decoding: trace, as: UTF8.self))")
      }
    }
    return found
  }

  func expectSound() throws {
    let found = try library.verify(scratch: folder.url, hashingContent: true)
    #expect(found.isSound && found.missingResources.isEmpty, "\(String(describing: found.defect))")
  }

  func dump() throws -> StoreDump { try StoreDump(Environment.store(ofLibrary: url.path)) }

  /// The end of the log.
  func head() throws -> EventLog.Head {
    let environment = try Environment.store(ofLibrary: url.path)
    let log = try EventLog(in: environment)
    return try environment.read { t in try log.head(t) }
  }

  /// Closes the library and its store, so that its files may be replaced.
  func close() throws {
    library.close()
    try Environment.store(ofLibrary: url.path).close()
  }
}

/// The log as JSON lines, as the tests pass them on.
enum LogText {
  static func lines(_ library: PhotoLibrary, after token: Token? = nil, through last: Token? = nil) throws -> [String] {
    var lines: [String] = []
    try library.exportLog(after: token, through: last) { lines.append($0) }
    return lines
  }

  static func source(_ lines: [String]) -> () throws -> [UInt8]? {
    var rest = lines[...]
    return { rest.popFirst().map { Array($0.utf8) } }
  }
}
