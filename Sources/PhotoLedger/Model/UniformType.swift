// Apple's names for kinds of data.
//
// Types that Apple's frameworks declare have their declared identifier. A file name extension that they do not declare
// has the dynamic identifier that those frameworks make for it, so that it is the same string on both sides: `dyn.a`
// and then, in base 32 over `abcdefghkmnpqrstuvwxyz0123456789` without padding, the text `?0=CONFORMS:1=EXTENSION`,
// where CONFORMS is one digit for a well-known type: 6 for public.data.
//
// One table, by extension. An importer that knows the type of the content looks up the extension that belongs to the
// content; a file of which only the name is known is looked up by the extension of its name. Without either, the type
// of the resource determines the family (AS-12).

/// A kind of data, by its uniform type identifier.
package struct UniformType: Hashable, Sendable {
  package let identifier: String

  /// Creates a type from any identifier.
  package init(identifier: String) { self.identifier = identifier }

  /// The type that goes with a file name extension.
  /// - Parameter filenameExtension: without its dot, in any case.
  package init(filenameExtension: String) {
    let ending = filenameExtension.lowercased()
    identifier = Self.declared[ending] ?? UniformType(undeclared: ending).identifier
  }

  /// The type of a file by its name; nil for a name without an extension.
  package init?(filename: String) {
    let ending = FilePath(filename).pathExtension
    guard !ending.isEmpty else { return nil }
    self.init(filenameExtension: ending)
  }

  /// The family of a resource type (AS-12).
  package init(_ type: ResourceType) {
    switch type {
    case .photo, .alternatePhoto, .fullSizePhoto, .adjustmentBasePhoto, .photoProxy: identifier = "public.image"
    case .video, .pairedVideo, .fullSizeVideo, .fullSizePairedVideo, .adjustmentBaseVideo, .adjustmentBasePairedVideo:
      identifier = "public.movie"
    case .audio: identifier = "public.audio"
    case .adjustmentData: identifier = "com.apple.property-list"
    default: identifier = "public.data"
    }
  }

  /// The file name ending that goes with a type, with its dot: the usual one of several; empty for an unknown type.
  package static func filenameExtension(of type: String) -> String {
    let endings = declared.filter { $0.value == type }.keys
    let usual = ["jpg", "tif", "mov", "heif"].first { endings.contains($0) }
    return (usual ?? endings.min { ($0.count, $0) < ($1.count, $1) }).map { ".\($0)" } ?? ""
  }

  /// The dynamic type of an extension that no declared type has.
  package init(undeclared filenameExtension: String) {
    let alphabet = Array("abcdefghkmnpqrstuvwxyz0123456789".utf8)
    var text: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for byte in "?0=6:1=\(filenameExtension)".utf8 {
      bits = (bits << 8 | UInt32(byte)) & 0xFFFF
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        text.append(alphabet[Int(bits >> bitCount & 31)])
      }
    }
    if bitCount > 0 { text.append(alphabet[Int(bits << (5 - bitCount) & 31)]) }
    identifier = "dyn.a" + String(decoding: text, as: UTF8.self)
  }

  /// The medium that data of the type is; nil for a type that is not known, or is not a medium's.
  package var medium: MediaType? { Self.media[identifier] }

  private static let media: [String: MediaType] = {
    var media: [String: MediaType] = ["public.image": .image, "public.movie": .video, "public.audio": .audio]
    for (types, medium) in [(images, MediaType.image), (movies, .video), (sounds, .audio)] {
      for identifier in types.values { media[identifier] = medium }
    }
    return media
  }()

  private static let declared: [String: String] = [images, movies, sounds, ["plist": "com.apple.property-list"]]
    .reduce(into: [:]) { all, types in all.merge(types) { first, _ in first } }

  private static let images: [String: String] = [
    "jpg": "public.jpeg", "jpeg": "public.jpeg", "jpe": "public.jpeg", "png": "public.png", "apng": "public.png",
    "gif": "com.compuserve.gif", "tif": "public.tiff", "tiff": "public.tiff", "btf": "public.tiff",
    "bmp": "com.microsoft.bmp", "ico": "com.microsoft.ico", "heic": "public.heic", "heics": "public.heics",
    "heif": "public.heif", "hif": "public.heif", "heifs": "public.heifs", "avif": "public.avif",
    "webp": "org.webmproject.webp", "jp2": "public.jpeg-2000", "jxl": "public.jpeg-xl",
    "psd": "com.adobe.photoshop-image", "mpo": "public.mpo-image", "exr": "com.ilm.openexr-image",
    "tga": "com.truevision.tga-image",

    "dng": "com.adobe.raw-image", "cr2": "com.canon.cr2-raw-image", "cr3": "com.canon.cr3-raw-image",
    "crw": "com.canon.crw-raw-image", "nef": "com.nikon.raw-image", "nrw": "com.nikon.nrw-raw-image",
    "arw": "com.sony.arw-raw-image", "sr2": "com.sony.sr2-raw-image", "srf": "com.sony.raw-image",
    "raf": "com.fuji.raw-image", "rw2": "com.panasonic.rw2-raw-image", "raw": "com.panasonic.raw-image",
    "rwl": "com.leica.rwl-raw-image", "pef": "com.pentax.raw-image", "orf": "com.olympus.or-raw-image",
    "srw": "com.samsung.raw-image", "3fr": "com.hasselblad.3fr-raw-image", "fff": "com.hasselblad.fff-raw-image",
    "iiq": "com.phaseone.raw-image", "mos": "com.leafamerica.raw-image", "erf": "com.epson.raw-image",
    "dcr": "com.kodak.raw-image", "mrw": "com.konicaminolta.raw-image",
  ]

  private static let movies: [String: String] = [
    "mov": "com.apple.quicktime-movie", "qt": "com.apple.quicktime-movie", "mp4": "public.mpeg-4",
    "m4v": "com.apple.m4v-video", "3gp": "public.3gpp", "3g2": "public.3gpp2", "avi": "public.avi",
    "mpg": "public.mpeg", "mpeg": "public.mpeg", "mts": "public.avchd-mpeg-2-transport-stream",
    "m2ts": "public.avchd-mpeg-2-transport-stream", "m2t": "public.mpeg-2-transport-stream",
    "wmv": "com.microsoft.windows-media-wmv", "asf": "com.microsoft.advanced-systems-format", "dv": "public.dv-movie",
  ]

  private static let sounds: [String: String] = [
    "mp3": "public.mp3", "m4a": "com.apple.m4a-audio", "wav": "com.microsoft.waveform-audio",
    "aif": "public.aiff-audio", "aiff": "public.aiff-audio", "caf": "com.apple.coreaudio-format",
  ]
}
