// From what the bytes are to Apple's names for it.
//
// The type is told from the content, by exiftool's FileType, never from the file name: a JPEG called `.png` is
// `public.jpeg`. Types that Apple's frameworks declare have their declared identifier. One that they do not declare
// gets the dynamic identifier that Apple's frameworks make for its file name extension, so that it is the same string
// on both sides: `dyn.a` and then, in base 32 over `abcdefghkmnpqrstuvwxyz0123456789` without padding, the text
// `?0=CONFORMS:1=EXTENSION`, where CONFORMS is one digit for a well-known type: 6 for public.data.

/// Names of file types.
enum UniformType {
  /// The identifier for what exiftool calls `fileType`.
  /// - Parameter fallbackExtension: The extension that goes with the content, for a type that Apple does not declare.
  static func identifier(fileType: String, fallbackExtension: String) -> String {
    declared[fileType] ?? dynamic(extension: fallbackExtension.isEmpty ? fileType.lowercased() : fallbackExtension)
  }

  /// True for sensor data straight from a camera (AS-16): what exiftool gives one of the RAW types.
  static func isRaw(fileType: String) -> Bool { rawTypes.contains(fileType) }

  /// The identifier that Apple's frameworks make for an extension that no type declares.
  static func dynamic(extension name: String) -> String {
    let alphabet = Array("abcdefghkmnpqrstuvwxyz0123456789".utf8)
    var text: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for byte in "?0=6:1=\(name.lowercased())".utf8 {
      bits = (bits << 8 | UInt32(byte)) & 0xFFFF
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        text.append(alphabet[Int(bits >> bitCount & 31)])
      }
    }
    if bitCount > 0 { text.append(alphabet[Int(bits << (5 - bitCount) & 31)]) }
    return "dyn.a" + String(decoding: text, as: UTF8.self)
  }

  private static let declared: [String: String] = [
    "JPEG": "public.jpeg", "PNG": "public.png", "APNG": "public.png", "GIF": "com.compuserve.gif",
    "TIFF": "public.tiff", "BTF": "public.tiff", "BMP": "com.microsoft.bmp", "ICO": "com.microsoft.ico",
    "HEIC": "public.heic", "HEICS": "public.heics", "HEIF": "public.heif", "HEIFS": "public.heifs",
    "AVIF": "public.avif", "WEBP": "org.webmproject.webp", "Extended WEBP": "org.webmproject.webp",
    "JP2": "public.jpeg-2000", "JXL": "public.jpeg-xl", "PSD": "com.adobe.photoshop-image",
    "MPO": "public.mpo-image", "EXR": "com.ilm.openexr-image", "TGA": "com.truevision.tga-image",

    "DNG": "com.adobe.raw-image", "CR2": "com.canon.cr2-raw-image", "CR3": "com.canon.cr3-raw-image",
    "CRW": "com.canon.crw-raw-image", "NEF": "com.nikon.raw-image", "NRW": "com.nikon.nrw-raw-image",
    "ARW": "com.sony.arw-raw-image", "SR2": "com.sony.sr2-raw-image", "SRF": "com.sony.raw-image",
    "RAF": "com.fuji.raw-image", "RW2": "com.panasonic.rw2-raw-image", "RAW": "com.panasonic.raw-image",
    "RWL": "com.leica.rwl-raw-image", "PEF": "com.pentax.raw-image", "ORF": "com.olympus.or-raw-image",
    "SRW": "com.samsung.raw-image", "3FR": "com.hasselblad.3fr-raw-image", "FFF": "com.hasselblad.fff-raw-image",
    "IIQ": "com.phaseone.raw-image", "MOS": "com.leafamerica.raw-image", "ERF": "com.epson.raw-image",
    "DCR": "com.kodak.raw-image", "MRW": "com.konicaminolta.raw-image",

    "MOV": "com.apple.quicktime-movie", "MP4": "public.mpeg-4", "M4V": "com.apple.m4v-video",
    "3GP": "public.3gpp", "3G2": "public.3gpp2", "AVI": "public.avi", "MPEG": "public.mpeg",
    "M2TS": "public.avchd-mpeg-2-transport-stream", "M2T": "public.mpeg-2-transport-stream",
    "WMV": "com.microsoft.windows-media-wmv", "ASF": "com.microsoft.advanced-systems-format",
    "DV": "public.dv-movie",
  ]

  private static let rawTypes: Set<String> = [
    "DNG", "CR2", "CR3", "CRW", "NEF", "NRW", "ARW", "ARQ", "SR2", "SRF", "RAF", "RW2", "RAW", "RWL", "PEF", "ORF",
    "ORI", "SRW", "3FR", "FFF", "IIQ", "MOS", "ERF", "DCR", "KDC", "K25", "MRW", "MEF", "MDC", "GPR", "X3F", "RWZ",
    "REV", "EIP",
  ]
}
