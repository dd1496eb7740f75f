public import Foundation
import EventLog
import Glibc
public import PhotoLedger
import Synchronization

/// Makes other representations of photos and videos, for picked items (PK-07); installed by the library's owner.
///
/// The library parses no images and no videos. An implementation uses programs that do, and is called on threads of the
/// library, several at once.
public protocol RepresentationConverter: Sendable {
  /// Whether a video is widely playable without conversion: H.264 in a QuickTime or MPEG-4 file.
  /// - Parameters:
  ///   - file: a copy of the video.
  ///   - type: its uniform type identifier.
  /// - Throws: an error if it cannot be determined.
  func isCompatible(_ file: URL, type: String) throws -> Bool

  /// Whether files of a type can be converted to another one on this machine; without an implementation, all can.
  ///
  /// Decides what the representation ``AssetRepresentation/automatic`` is: a file that cannot be converted is loaded as
  /// it is stored. Equal types ask whether the encoding of such a video can be determined, and changed where it has to
  /// be. For ``AssetRepresentation/compatible`` it is not asked: ``convert(_:)`` fails and says what is missing.
  /// - Parameters:
  ///   - sourceType: the uniform type identifier of the stored file.
  ///   - targetType: the uniform type identifier of what is to be made.
  func canConvert(_ sourceType: String, to targetType: String) -> Bool

  /// Writes another representation of a file, completely or not at all.
  /// - Parameter conversion: the conversion.
  /// - Throws: an error that names a missing program.
  func convert(_ conversion: RepresentationConversion) throws
}

extension RepresentationConverter {
  /// Yes: a program that is missing is found out when it is needed.
  public func canConvert(_ sourceType: String, to targetType: String) -> Bool { true }
}

/// What a ``RepresentationConverter`` is to make.
public struct RepresentationConversion: Sendable {
  /// A copy of the stored file, proved by its hash; it may be read only.
  public let source: URL
  /// The uniform type identifier of the source.
  public let sourceType: String
  /// The path of the result, which does not exist yet.
  public let target: URL
  /// The uniform type identifier of the result.
  public let targetType: String
  /// Whether the picture has to be re-encoded in a widely readable format; otherwise only metadata is removed.
  public var isEncoding = true
  /// What the result must not hold.
  public var metadataOptions: PickerMetadataOptions = []
  /// Whether the conversion was cancelled; then the converter stops with any error.
  public var isCancelled: @Sendable () -> Bool = { false }

  /// A conversion that re-encodes a file, as requested by the library; also for tests of a converter.
  /// - Parameters:
  ///   - source: the file to read.
  ///   - sourceType: its uniform type identifier.
  ///   - target: the file to write.
  ///   - targetType: its uniform type identifier.
  public init(source: URL, sourceType: String, target: URL, targetType: String) {
    (self.source, self.sourceType, self.target, self.targetType) = (source, sourceType, target, targetType)
  }
}

extension PhotoLibrary {
  /// Installs what converts picked items and takes metadata out of them; nil: nothing, and what needs it fails (PK-07).
  ///
  /// The module `Photos` installs MediaImport's `ExternalConverter` where nothing was chosen here before; passing nil
  /// is a choice.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner.
  public func setRepresentationConverter(_ converter: (any RepresentationConverter)?) throws {
    try checkIsOwner("install a representation converter")
    store.installed((any RepresentationConverter).self).install(converter)
  }

  /// Installs a converter if nothing was chosen before.
  package func setDefaultRepresentationConverter(_ converter: any RepresentationConverter) {
    store.installed((any RepresentationConverter).self).installDefault(converter)
  }
}

/// The work of one conversion: the copy that the converter reads, and the file that it writes; both go with this value.
struct ConversionWork: ~Copyable {
  private let source: IncomingFile
  private let target: String
  private let rendition: Rendition
  private let options: PickerMetadataOptions
  private let request: ResourceRequest

  /// Copies the stored bytes, proved by their hash.
  /// - Throws: what ``OpenResource`` throws.
  init(
    _ rendition: Rendition, removing options: PickerMetadataOptions, _ request: ResourceRequest,
    in resources: ResourceStore
  ) throws(LibraryError) {
    // The progress is that of the bytes that are handed out, and these are not.
    var stored = try resources.openFile(
      ResourceRequest(request.resource, in: request.asset, ResourceRequestOptions(), request.cancellation))
    let ending = UniformType.filenameExtension(of: request.resource.uniformTypeIdentifier)
    let source = try resources.incomingFile(ending: ending)
    try stored.copy(into: source)
    self.source = source
    (self.rendition, self.options, self.request) = (rendition, options, request)
    target = resources.incomingName(ending: UniformType.filenameExtension(of: rendition.type))
  }

  deinit { unlink(target) }

  /// Whether the bytes have to be re-encoded.
  func mustEncode(with converter: any RepresentationConverter) throws(LibraryError) -> Bool {
    switch rendition.encoding {
    case .stored: false
    case .converted: true
    case .ifIncompatible, .ifPossible:
      try asking { try !converter.isCompatible(source.url, type: request.resource.uniformTypeIdentifier) }
    }
  }

  /// Converts, and opens the result; it needs no name any more then.
  consuming func open(
    _ converter: any RepresentationConverter, isEncoding: Bool, in resources: ResourceStore
  ) throws(LibraryError) -> OpenResource {
    let cancellation = request.cancellation
    var conversion = RepresentationConversion(
      source: source.url, sourceType: request.resource.uniformTypeIdentifier,
      target: URL(filePath: target, directoryHint: .notDirectory), targetType: rendition.type)
    (conversion.isEncoding, conversion.metadataOptions) = (isEncoding, options)
    conversion.isCancelled = { cancellation.isRequested }
    try asking { try converter.convert(conversion) }
    let made = try asking { try FileContent(of: FilePath(target)) }
    var resource = request.resource
    resource.uniformTypeIdentifier = rendition.type
    resource.dataSize = UInt64(made.byteCount)
    (resource.sha256, resource.sha1) = (made.sha256, made.sha1)
    resource.storage = .referenced(path: target)
    return try resources.openFile(ResourceRequest(resource, in: request.asset, request.options, cancellation))
  }

  /// Runs the converter's code, whose errors are its own.
  private func asking<Value>(_ body: () throws -> Value) throws(LibraryError) -> Value {
    do {
      return try body()
    } catch {
      try request.checkNotCancelled()
      throw LibraryError(
        .conversionFailed,
        "The \(request.name) cannot be converted to \(rendition.type): \(LibraryError.words(of: error))")
    }
  }
}

extension LibraryError {
  /// The message of an error of foreign code.
  fileprivate static func words(of error: any Error) -> String {
    switch error {
    case let error as LibraryError: error.description
    case let error as CocoaError: error.localizedDescription
    default: "\(error)"
    }
  }

  static func withoutConverter(_ rendition: Rendition, _ name: String) -> LibraryError {
    let what =
      switch rendition.encoding {
      case .stored: "Removing metadata from the \(name)"
      case .ifIncompatible, .ifPossible:
        "Checking whether the \(name) is widely playable, as \(rendition.type) is to be,"
      case .converted: "Converting the \(name) to \(rendition.type)"
      }
    return LibraryError(
      .converterMissing,
      """
      \(what) needs a converter, and none is installed: the library's owner installs a RepresentationConverter with \
      setRepresentationConverter. The module Photos, `pick load` and `serve` use one that runs exiftool, vips and \
      ffmpeg.
      """)
  }
}
