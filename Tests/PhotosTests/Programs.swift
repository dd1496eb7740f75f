import PhotoKitProgramsSwift5
import PhotoKitProgramsSwift6
import PhotoLedger
import Photos
import PhotosUI
import TestSupport

// The programs exist twice, compiled in either language mode; each protocol is what the tests need of one of them.

/// The language modes that the programs are compiled in.
enum Language: String, CaseIterable, Sendable {
  case swift5, swift6

  /// Both; at the usual dose one of them, where a program has films and large pictures converted, which takes seconds.
  static func share(_ one: Language) -> [Language] { Dose.isFull ? allCases : [one] }

  var grid: any GridProgram.Type {
    self == .swift5 ? PhotoKitProgramsSwift5.PhotoGridModel.self : PhotoKitProgramsSwift6.PhotoGridModel.self
  }

  var albums: any AlbumProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.AlbumManager() : PhotoKitProgramsSwift6.AlbumManager()
  }

  var camera: any CameraProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.CameraSaver() : PhotoKitProgramsSwift6.CameraSaver()
  }

  var editor: any EditorProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.PhotoEditor() : PhotoKitProgramsSwift6.PhotoEditor()
  }

  @MainActor var limited: any LimitedProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.LimitedAccessFlow() : PhotoKitProgramsSwift6.LimitedAccessFlow()
  }

  @MainActor var livePhotos: any LivePhotoProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.LivePhotoKeeper() : PhotoKitProgramsSwift6.LivePhotoKeeper()
  }

  @MainActor var player: any PlayerProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.FilmPlayer() : PhotoKitProgramsSwift6.FilmPlayer()
  }

  var mockedAsset: PHAsset {
    self == .swift5 ? PhotoKitProgramsSwift5.MockAsset() : PhotoKitProgramsSwift6.MockAsset()
  }

  var mockedManager: PHCachingImageManager {
    self == .swift5 ? PhotoKitProgramsSwift5.MockManager() : PhotoKitProgramsSwift6.MockManager()
  }

  var tools: any ToolsProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.MediaTools() : PhotoKitProgramsSwift6.MediaTools()
  }

  var trimmer: any TrimmerProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.VideoTrimmer() : PhotoKitProgramsSwift6.VideoTrimmer()
  }

  var uploads: any UploadProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.UploadList() : PhotoKitProgramsSwift6.UploadList()
  }

  func backup(_ tokenURL: URL) -> any BackupProgram {
    self == .swift5
      ? PhotoKitProgramsSwift5.BackupClient(tokenURL: tokenURL)
      : PhotoKitProgramsSwift6.BackupClient(tokenURL: tokenURL)
  }
}

@MainActor
protocol GridProgram: AnyObject, Sendable {
  init(fetchResult: PHFetchResult<PHAsset>)
  init(limit: Int)
  var shown: [String] { get }
  var reloadCount: Int { get }
  var batchCount: Int { get }
  var complaint: String? { get }
  func stopObserving()
}

/// What a cell shows, as text.
private func line(_ identifier: String, _ isFavorite: Bool, _ isVideo: Bool) -> String {
  "\(identifier)\(isFavorite ? " ♥" : "")\(isVideo ? " ▶" : "")"
}

/// What a grid of a result has to show.
func lines(_ result: PHFetchResult<PHAsset>) -> [String] {
  (0..<result.count).map { result.object(at: $0) }.map {
    line($0.localIdentifier, $0.isFavorite, $0.mediaType == .video)
  }
}

extension PhotoKitProgramsSwift5.PhotoGridModel: GridProgram {
  var shown: [String] { cells.map { line($0.identifier, $0.isFavorite, $0.isVideo) } }
}

extension PhotoKitProgramsSwift6.PhotoGridModel: GridProgram {
  var shown: [String] { cells.map { line($0.identifier, $0.isFavorite, $0.isVideo) } }
}

protocol BackupProgram: Actor {
  var fullScanCount: Int { get }
  var incrementalCount: Int { get }
  /// The files of each asset: type, length, checksum.
  var kept: [String: [String]] { get }
  func run() async throws
  func cloudIdentifiers() -> [String: String]
  func localIdentifiers(forCloud strings: [String]) -> [String: [String]]
}

extension PhotoKitProgramsSwift5.BackupClient: BackupProgram {
  var kept: [String: [String]] {
    files.mapValues { $0.map { "\($0.type.rawValue) \($0.byteCount) \($0.checksum)" } }
  }
}

extension PhotoKitProgramsSwift6.BackupClient: BackupProgram {
  var kept: [String: [String]] {
    files.mapValues { $0.map { "\($0.type.rawValue) \($0.byteCount) \($0.checksum)" } }
  }
}

protocol AlbumProgram {
  func album(titled title: String) -> PHAssetCollection?
  func findOrCreateAlbum(titled title: String) async throws -> PHAssetCollection
  func add(_ assets: [PHAsset], to album: PHAssetCollection) async throws
  func insert(_ asset: PHAsset, at index: Int, of album: PHAssetCollection) async throws
  func remove(_ assets: PHFetchResult<PHAsset>, from album: PHAssetCollection) async throws
  func move(from source: IndexSet, to target: Int, in album: PHAssetCollection) async throws
  func replace(at index: Int, of album: PHAssetCollection, with asset: PHAsset) async throws
  func rename(_ album: PHAssetCollection, to title: String) async throws
  func delete(_ album: PHAssetCollection) async throws
  func titles(containing asset: PHAsset) -> [String]
  func createFolder(titled title: String, albums titles: [String]) async throws -> PHCollectionList
  func bringToFront(_ child: PHCollection, in folder: PHCollectionList) async throws
  func delete(_ folder: PHCollectionList) async throws
  func outline() -> [String]
}

extension PhotoKitProgramsSwift5.AlbumManager: AlbumProgram {}
extension PhotoKitProgramsSwift6.AlbumManager: AlbumProgram {}

protocol CameraProgram {
  func requestAccess() async -> Bool
  func saved(_ photo: Data, movie: URL?, date: Date, at location: CLLocation?) async -> String
  func saveMovie(at url: URL, completion: @escaping @Sendable (Bool, (any Error)?) -> Void)
  func albumMade(titled title: String) async -> String
  func canSee(_ identifier: String) -> Bool
}

extension PhotoKitProgramsSwift5.CameraSaver: CameraProgram {
  func saved(_ photo: Data, movie: URL?, date: Date, at location: CLLocation?) async -> String {
    "\(await save(.init(photo: photo, movieURL: movie, date: date, location: location)))"
  }
  func albumMade(titled title: String) async -> String { "\(await makeAlbum(titled: title))" }
}

extension PhotoKitProgramsSwift6.CameraSaver: CameraProgram {
  func saved(_ photo: Data, movie: URL?, date: Date, at location: CLLocation?) async -> String {
    "\(await save(.init(photo: photo, movieURL: movie, date: date, location: location)))"
  }
  func albumMade(titled title: String) async -> String { "\(await makeAlbum(titled: title))" }
}

protocol EditorProgram {
  func strengthAndBase(of asset: PHAsset) async throws -> (Int?, String)
  func brighten(_ asset: PHAsset, by strength: Int) async throws
  func commitWithoutRecipe(_ asset: PHAsset) async throws
  func revert(_ asset: PHAsset) async throws
  func setFavorite(_ isFavorite: Bool, _ asset: PHAsset) async throws
  func currentData(of asset: PHAsset) async -> Data?
}

extension PhotoKitProgramsSwift5.PhotoEditor: EditorProgram {
  func strengthAndBase(of asset: PHAsset) async throws -> (Int?, String) {
    let beginning = try await beginning(of: asset)
    return (beginning.strength, String(decoding: beginning.base, as: UTF8.self))
  }
}

extension PhotoKitProgramsSwift6.PhotoEditor: EditorProgram {
  func strengthAndBase(of asset: PHAsset) async throws -> (Int?, String) {
    let beginning = try await beginning(of: asset)
    return (beginning.strength, String(decoding: beginning.base, as: UTF8.self))
  }
}

@MainActor
protocol LimitedProgram: AnyObject, Sendable {
  var screenText: String { get }
  var identifiers: [String] { get }
  var arrivals: [String] { get }
  var legacyStatus: PHAuthorizationStatus { get }
  func start() async
  func askForMore() async -> [String]
  func makeAlbum(titled title: String) async throws -> Int
}

extension PhotoKitProgramsSwift5.LimitedAccessFlow: LimitedProgram { var screenText: String { "\(screen)" } }
extension PhotoKitProgramsSwift6.LimitedAccessFlow: LimitedProgram { var screenText: String { "\(screen)" } }

@MainActor
protocol LivePhotoProgram: AnyObject, Sendable {
  var view: PHLivePhotoView { get }
  var events: [String] { get }
  func show(_ asset: PHAsset, in size: CGSize) async throws -> CGSize
  func export(to folder: URL) async throws -> [URL]
  nonisolated func assemble(_ urls: [URL]) async throws -> PHLivePhoto
}

extension PhotoKitProgramsSwift5.LivePhotoKeeper: LivePhotoProgram {}
extension PhotoKitProgramsSwift6.LivePhotoKeeper: LivePhotoProgram {}

@MainActor
protocol PlayerProgram: AnyObject, Sendable {
  var item: AVPlayerItem? { get }
  func load(_ asset: PHAsset)
}

extension PhotoKitProgramsSwift5.FilmPlayer: PlayerProgram {}
extension PhotoKitProgramsSwift6.FilmPlayer: PlayerProgram {}

protocol ToolsProgram: Sendable {
  func assets(from start: Date, to end: Date, of kinds: [Int]) -> PHFetchResult<PHAsset>
  func middle(of range: CMTimeRange) -> CMTimeRange?
  func shape(of track: AVAssetTrack) async throws -> (CGSize, Float, CMTimeRange)
  func coordinate(_ latitude: Double, _ longitude: Double) -> CLLocationCoordinate2D
  func target(named name: String, of type: UTType, in folder: URL) -> URL
}

extension PhotoKitProgramsSwift5.MediaTools: ToolsProgram {}
extension PhotoKitProgramsSwift6.MediaTools: ToolsProgram {}

protocol TrimmerProgram: Sendable {
  func film(of asset: PHAsset) async throws -> AVURLAsset
  func measure(_ film: AVAsset) async throws -> (Double, CGSize)
  func oldMeasure(_ asset: PHAsset) async -> (Double, CGSize)?
  func trim(_ asset: PHAsset, to url: URL, preset: String) async throws
}

extension PhotoKitProgramsSwift5.VideoTrimmer: TrimmerProgram {}
extension PhotoKitProgramsSwift6.VideoTrimmer: TrimmerProgram {}

protocol UploadProgram: Sendable {
  /// Name, length, Internet media type, whether it is here, whether it is an image.
  func lines(of asset: PHAsset) -> [String]
  func bytes(of asset: PHAsset) async -> (Data?, UIImage.Orientation)
  func avatar(of asset: PHAsset, side: CGFloat) async -> (Data, CGSize)?
}

extension PhotoKitProgramsSwift5.UploadList: UploadProgram {
  func lines(of asset: PHAsset) -> [String] {
    entries(of: asset).map { "\($0.name) \($0.byteCount) \($0.mimeType) \($0.isLocal) \($0.isImage)" }
  }
}

extension PhotoKitProgramsSwift6.UploadList: UploadProgram {
  func lines(of asset: PHAsset) -> [String] {
    entries(of: asset).map { "\($0.name) \($0.byteCount) \($0.mimeType) \($0.isLocal) \($0.isImage)" }
  }
}
