// Films, as far as the model layer of an app uses them: how long, how large, which tracks, and their file. The values
// are read from the file by ffprobe in a child process, once, when the first is asked for (`MediaRenderer`).
//
// Apple's synchronous properties cannot fail. Without ffprobe, or for a file that is not a film, they answer as an
// empty film does there, with an invalid duration and no tracks; the asynchronous forms throw and say why, and a
// request to the image manager fails before it gives such an asset.

internal import MediaImport
import PhotoLedger
import Synchronization

/// What a track holds (stands in for AVFoundation's `AVMediaType`).
public struct AVMediaType: RawRepresentable, Sendable, Hashable {
  /// Its name.
  public let rawValue: String
  /// A kind by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Moving pictures.
  public static let video = AVMediaType(rawValue: "vide")
  /// Sound.
  public static let audio = AVMediaType(rawValue: "soun")
}

/// A film (stands in for AVFoundation's `AVAsset`, which Linux lacks).
open class AVAsset: NSObject, @unchecked Sendable {  // guarded by: `film` by its mutex; the rest is constant
  let file: URL
  private let film = Mutex<Result<FilmDescription, PHPhotosError>?>(nil)

  /// The film in a file. Apple's makes an ``AVURLAsset``; call that class's initialiser for one.
  public init(url: URL) { file = url }

  init(_ url: URL, _ film: FilmDescription) {
    file = url
    super.init()
    self.film.withLock { $0 = .success(film) }
  }

  /// What ffprobe says, asked for once.
  /// - Throws: `PHPhotosError`: `requestNotSupportedForAsset` without ffprobe, `invalidResource` for what is not a
  ///   film.
  final func description() throws -> FilmDescription {
    try film.withLock { film in
      if let film { return film }
      let found = Result { try InstalledRenderer.programs.film(at: file) }.mapError { PHPhotosError.photos($0) }
      film = found
      return found
    }.get()
  }

  private var tracksIfKnown: [AVAssetTrack] {
    // The answer of a film that cannot be read, as the essay says.
    (try? description()).map { film in film.tracks.map { AVAssetTrack($0, self) } } ?? []
  }

  /// How long it lasts; invalid if it cannot be read. The first call waits for ffprobe.
  open var duration: CMTime { (try? description().time) ?? .invalid }
  /// Its pictures and sounds; none if it cannot be read. The first call waits for ffprobe.
  open var tracks: [AVAssetTrack] { tracksIfKnown }
  /// Whether it has something to play. The first call waits for ffprobe.
  open var isPlayable: Bool { !tracksIfKnown.isEmpty }
  /// Whether a film can be made of it. The first call waits for ffprobe.
  open var isExportable: Bool { !tracksIfKnown.isEmpty }

  /// Its tracks of a kind; none if it cannot be read.
  open func tracks(withMediaType mediaType: AVMediaType) -> [AVAssetTrack] {
    tracks.filter { $0.mediaType == mediaType }
  }

  /// Its tracks of a kind.
  /// - Throws: `PHPhotosError` if it cannot be read.
  open func loadTracks(withMediaType mediaType: AVMediaType) async throws -> [AVAssetTrack] {
    try await load(.tracks).filter { $0.mediaType == mediaType }
  }

  /// Reads a property away from the threads that tasks run on.
  /// - Throws: `PHPhotosError` if the film cannot be read.
  public final func load<Value: Sendable>(_ property: AVAsyncProperty<AVAsset, Value>) async throws -> Value {
    try await offload { try property.read(self) }
  }

  /// Reads two properties.
  /// - Throws: `PHPhotosError` if the film cannot be read.
  public final func load<One: Sendable, Two: Sendable>(
    _ one: AVAsyncProperty<AVAsset, One>, _ two: AVAsyncProperty<AVAsset, Two>
  ) async throws -> (One, Two) {
    (try await load(one), try await load(two))
  }

  /// Reads three properties.
  /// - Throws: `PHPhotosError` if the film cannot be read.
  public final func load<One: Sendable, Two: Sendable, Three: Sendable>(
    _ one: AVAsyncProperty<AVAsset, One>, _ two: AVAsyncProperty<AVAsset, Two>, _ three: AVAsyncProperty<AVAsset, Three>
  ) async throws -> (One, Two, Three) {
    (try await load(one), try await load(two), try await load(three))
  }
}

extension FilmDescription {
  var time: CMTime { CMTime(seconds: duration, preferredTimescale: 1_000_000) }
}

/// The film in a file (stands in for AVFoundation's `AVURLAsset`).
open class AVURLAsset: AVAsset, @unchecked Sendable {  // guarded by: as its superclass
  /// The file.
  open var url: URL { file }

  /// The film in a file.
  /// - Parameters:
  ///   - url: the file.
  ///   - options: make no difference. Kept for source compatibility.
  public init(url: URL, options: [String: Any]? = nil) { super.init(url: url) }

  override init(_ url: URL, _ film: FilmDescription) { super.init(url, film) }
}

/// One track of a film (stands in for AVFoundation's `AVAssetTrack`).
open class AVAssetTrack: NSObject, @unchecked Sendable {  // guarded by: holds constants only
  /// The film.
  public let asset: AVAsset?
  private let track: FilmDescription.Track

  init(_ track: FilmDescription.Track, _ asset: AVAsset) { (self.track, self.asset) = (track, asset) }

  /// Its number in the film, from 1.
  open var trackID: Int32 { Int32(clamping: track.index) + 1 }
  /// Pictures or sound.
  open var mediaType: AVMediaType { track.isVideo ? .video : .audio }
  /// The size of the stored pictures, before they are turned; zero for sound.
  open var naturalSize: CGSize {
    track.storedSize.map { CGSize(width: $0.width, height: $0.height) } ?? .zero
  }
  /// How the stored pictures are turned to be shown.
  open var preferredTransform: CGAffineTransform { CGAffineTransform(turnedBy: track.rotation, naturalSize) }
  /// Pictures a second; 0 for sound.
  open var nominalFrameRate: Float { Float(track.frameRate) }
  /// Bits a second; 0 if not stated.
  open var estimatedDataRate: Float { Float(track.bitRate) }
  /// From the film's beginning on, as long as the track lasts.
  open var timeRange: CMTimeRange {
    CMTimeRange(start: .zero, duration: CMTime(seconds: track.duration, preferredTimescale: 1_000_000))
  }

  /// Gives a property, which was read with the film.
  public final func load<Value: Sendable>(_ property: AVAsyncProperty<AVAssetTrack, Value>) async throws -> Value {
    try property.read(self)
  }

  /// Gives two properties, which were read with the film.
  public final func load<One: Sendable, Two: Sendable>(
    _ one: AVAsyncProperty<AVAssetTrack, One>, _ two: AVAsyncProperty<AVAssetTrack, Two>
  ) async throws -> (One, Two) {
    (try one.read(self), try two.read(self))
  }

  /// Gives three properties, which were read with the film.
  public final func load<One: Sendable, Two: Sendable, Three: Sendable>(
    _ one: AVAsyncProperty<AVAssetTrack, One>, _ two: AVAsyncProperty<AVAssetTrack, Two>,
    _ three: AVAsyncProperty<AVAssetTrack, Three>
  ) async throws -> (One, Two, Three) {
    (try one.read(self), try two.read(self), try three.read(self))
  }
}

/// Names a property that is read asynchronously (stands in for AVFoundation's `AVAsyncProperty`).
public struct AVAsyncProperty<Root, Value>: Sendable {
  let read: @Sendable (Root) throws -> Value
}

extension AVAsyncProperty where Root == AVAsset, Value == CMTime {
  /// How long the film lasts.
  public static var duration: Self { Self { try $0.description().time } }
}

extension AVAsyncProperty where Root == AVAsset, Value == [AVAssetTrack] {
  /// The pictures and sounds of the film.
  public static var tracks: Self {
    Self { asset in try asset.description().tracks.map { AVAssetTrack($0, asset) } }
  }
}

extension AVAsyncProperty where Root == AVAsset, Value == Bool {
  /// Whether the film has something to play.
  public static var isPlayable: Self { Self { !(try $0.description().tracks.isEmpty) } }
  /// Whether a film can be made of the film.
  public static var isExportable: Self { Self { !(try $0.description().tracks.isEmpty) } }
}

extension AVAsyncProperty where Root == AVAssetTrack, Value == CGSize {
  /// The size of the stored pictures.
  public static var naturalSize: Self { Self { $0.naturalSize } }
}

extension AVAsyncProperty where Root == AVAssetTrack, Value == CGAffineTransform {
  /// How the stored pictures are turned.
  public static var preferredTransform: Self { Self { $0.preferredTransform } }
}

extension AVAsyncProperty where Root == AVAssetTrack, Value == CMTimeRange {
  /// From the film's beginning on, as long as the track lasts.
  public static var timeRange: Self { Self { $0.timeRange } }
}

extension AVAsyncProperty where Root == AVAssetTrack, Value == Float {
  /// Pictures a second.
  public static var nominalFrameRate: Self { Self { $0.nominalFrameRate } }
  /// Bits a second.
  public static var estimatedDataRate: Self { Self { $0.estimatedDataRate } }
}

/// A film that is to be played (stands in for AVFoundation's `AVPlayerItem`; nothing plays it here).
open class AVPlayerItem: NSObject, @unchecked Sendable {  // guarded by: holds constants only
  /// The film.
  public let asset: AVAsset

  /// A film that is to be played.
  public init(asset: AVAsset) { self.asset = asset }
  /// The film in a file that is to be played.
  public convenience init(url: URL) { self.init(asset: AVURLAsset(url: url)) }

  /// How long it lasts; invalid if it cannot be read. The first call waits for ffprobe.
  open var duration: CMTime { asset.duration }
}

/// How the sounds of a film are mixed (stands in for AVFoundation's `AVAudioMix`); no asset here has one.
open class AVAudioMix: NSObject, @unchecked Sendable {  // guarded by: has no state
  /// A mix without parameters.
  public override init() {}
}

/// A map of the plane onto itself (stands in for Core Graphics' `CGAffineTransform`, which Linux lacks).
///
/// A point (x, y) becomes (a·x + c·y + tx, b·x + d·y + ty).
public struct CGAffineTransform: Sendable, Hashable {
  /// The factors, and the distances by which points are moved.
  public var a, b, c, d, tx, ty: CGFloat

  /// A map by its numbers.
  public init(a: CGFloat, b: CGFloat, c: CGFloat, d: CGFloat, tx: CGFloat, ty: CGFloat) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }

  /// The map that leaves everything where it is.
  public init() { self.init(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0) }

  /// The map that leaves everything where it is.
  public static let identity = CGAffineTransform()
  /// Whether it leaves everything where it is.
  public var isIdentity: Bool { self == .identity }

  /// The turn of pictures by quarter turns with the clock, so that their corner stays at the origin.
  init(turnedBy degrees: Int, _ size: CGSize) {
    switch degrees {
    case 90: self.init(a: 0, b: 1, c: -1, d: 0, tx: size.height, ty: 0)
    case 180: self.init(a: -1, b: 0, c: 0, d: -1, tx: size.width, ty: size.height)
    case 270: self.init(a: 0, b: -1, c: 1, d: 0, tx: 0, ty: size.width)
    default: self.init()
    }
  }
}

extension CGPoint {
  /// The point that a map makes of it (stands in for Core Graphics' function).
  public func applying(_ map: CGAffineTransform) -> CGPoint {
    CGPoint(x: map.a * x + map.c * y + map.tx, y: map.b * x + map.d * y + map.ty)
  }
}

extension CGSize {
  /// The size that a map makes of it; sides may be negative (stands in for Core Graphics' function).
  public func applying(_ map: CGAffineTransform) -> CGSize {
    CGSize(width: map.a * width + map.c * height, height: map.b * width + map.d * height)
  }
}
