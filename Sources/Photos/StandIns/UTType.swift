internal import PhotoLedger

/// A kind of data (stands in for Uniform Type Identifiers' `UTType`, which Linux lacks).
///
/// Knows the kinds of media that the library takes in, with their families; any other identifier is carried.
public struct UTType: Sendable, Hashable, CustomStringConvertible {
  /// The uniform type identifier.
  public let identifier: String

  private init(known identifier: String) { self.identifier = identifier }

  /// A type by its identifier; nil for an empty one.
  public init?(_ identifier: String) {
    if identifier.isEmpty { return nil }
    self.identifier = identifier
  }

  /// A type by its identifier, as programs export and import their own.
  public init(exportedAs identifier: String) { self.identifier = identifier }

  /// A type by its identifier, as programs export and import their own.
  public init(importedAs identifier: String) { self.identifier = identifier }

  /// The type of files with an ending; a dynamic one if the ending is not known.
  /// - Parameters:
  ///   - filenameExtension: the ending, without its dot.
  ///   - supertype: a type that it has to be of; nil otherwise.
  public init?(filenameExtension: String, conformingTo supertype: UTType = .data) {
    if filenameExtension.isEmpty { return nil }
    identifier = UniformType(filenameExtension: filenameExtension).identifier
    if supertype != .data, !conforms(to: supertype) { return nil }
  }

  /// The usual file name ending, without its dot; nil if none is known.
  public var preferredFilenameExtension: String? {
    let ending = UniformType.filenameExtension(of: identifier).dropFirst()
    return ending.isEmpty ? nil : String(ending)
  }

  /// The identifier.
  public var description: String { identifier }

  /// The type of an Internet media type; nil if none is known.
  /// - Parameters:
  ///   - mimeType: the Internet media type.
  ///   - supertype: a type that it has to be of; nil otherwise.
  public init?(mimeType: String, conformingTo supertype: UTType = .data) {
    guard let type = UniformType(mediaTypeName: mimeType) else { return nil }
    identifier = type.identifier
    if supertype != .data, !conforms(to: supertype) { return nil }
  }

  /// Nil: kinds of data have no names here.
  public var localizedDescription: String? { nil }

  /// The usual Internet media type; nil if none is known.
  public var preferredMIMEType: String? { UniformType(identifier: identifier).mediaTypeName }

  /// Whether it is made up of a file name ending that no type is declared for.
  public var isDynamic: Bool { identifier.hasPrefix("dyn.") }

  /// Whether data of this type is data of another one too.
  public func conforms(to type: UTType) -> Bool { self == type || isSubtype(of: type) }

  /// Whether data of this type is data of another type too.
  public func isSubtype(of type: UTType) -> Bool { supertypeNames.contains(type.identifier) }

  /// Whether data of another type is data of this one too.
  public func isSupertype(of type: UTType) -> Bool { type.isSubtype(of: self) }

  /// All types that data of this type is of as well.
  public var supertypes: Set<UTType> { Set(supertypeNames.map { UTType(known: $0) }) }

  private var supertypeNames: Set<String> { UniformType(identifier: identifier).supertypes }

  /// Any image.
  public static let image = UTType(known: "public.image")
  /// A JPEG image.
  public static let jpeg = UTType(known: "public.jpeg")
  /// A PNG image.
  public static let png = UTType(known: "public.png")
  /// A HEIC image.
  public static let heic = UTType(known: "public.heic")
  /// A HEIF image.
  public static let heif = UTType(known: "public.heif")
  /// A GIF image.
  public static let gif = UTType(known: "com.compuserve.gif")
  /// A TIFF image.
  public static let tiff = UTType(known: "public.tiff")
  /// A BMP image.
  public static let bmp = UTType(known: "com.microsoft.bmp")
  /// A WebP image.
  public static let webP = UTType(known: "org.webmproject.webp")
  /// Any RAW image.
  public static let rawImage = UTType(known: "public.camera-raw-image")
  /// A Live Photo.
  public static let livePhoto = UTType(known: "com.apple.live-photo")
  /// Any film, with or without sound.
  public static let movie = UTType(known: "public.movie")
  /// Any film without sound; no library data has this type.
  public static let video = UTType(known: "public.video")
  /// A QuickTime film.
  public static let quickTimeMovie = UTType(known: "com.apple.quicktime-movie")
  /// An MPEG-4 film.
  public static let mpeg4Movie = UTType(known: "public.mpeg-4")
  /// An AVI film.
  public static let avi = UTType(known: "public.avi")
  /// Any sound.
  public static let audio = UTType(known: "public.audio")
  /// An MP3 sound.
  public static let mp3 = UTType(known: "public.mp3")
  /// Films and sounds.
  public static let audiovisualContent = UTType(known: "public.audiovisual-content")
  /// Any bytes.
  public static let data = UTType(known: "public.data")
  /// Anything.
  public static let item = UTType(known: "public.item")
  /// Anything with content.
  public static let content = UTType(known: "public.content")
  /// Any text.
  public static let text = UTType(known: "public.text")
  /// Text without formatting.
  public static let plainText = UTType(known: "public.plain-text")
  /// A PDF document.
  public static let pdf = UTType(known: "com.adobe.pdf")
  /// JSON.
  public static let json = UTType(known: "public.json")
  /// An address.
  public static let url = UTType(known: "public.url")
  /// The address of a file.
  public static let fileURL = UTType(known: "public.file-url")
  /// A folder.
  public static let folder = UTType(known: "public.folder")
  /// A property list.
  public static let propertyList = UTType(known: "com.apple.property-list")
}

extension UTType: Codable {
  /// Reads an identifier.
  /// - Throws: `DecodingError` for an empty one, and for what is not text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let identifier = try container.decode(String.self)
    guard let type = UTType(identifier) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "A type identifier must not be empty.")
    }
    self = type
  }

  /// Writes the identifier.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(identifier)
  }
}

extension URL {
  /// The address with the usual ending of a kind of data; as it is if its ending is one of that kind, or if no ending
  /// of the kind is known (stands in for the member that Uniform Type Identifiers adds).
  public func appendingPathExtension(for contentType: UTType) -> URL {
    guard UTType(filenameExtension: pathExtension, conformingTo: contentType) == nil,
      let ending = contentType.preferredFilenameExtension
    else { return self }
    return appendingPathExtension(ending)
  }

  /// The address of a file in this folder, with an ending of a kind of data (stands in for the member that Uniform Type
  /// Identifiers adds).
  public func appendingPathComponent(_ partialName: String, conformingTo contentType: UTType) -> URL {
    appendingPathComponent(partialName, isDirectory: false).appendingPathExtension(for: contentType)
  }
}
