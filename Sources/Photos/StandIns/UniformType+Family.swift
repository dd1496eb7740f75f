// The supertypes of a uniform type, and its Internet media type: one table for the types whose supertypes or media
// types are not those of their medium. Every image conforms to `public.image`, every video to `public.movie`, every
// sound to `public.audio`; these conform to content and data, and everything to item, as in Apple's declarations.

import Foundation
import PhotoLedger

extension UniformType {
  /// The supertypes of a type besides its medium, and its Internet media type.
  private struct Declaration {
    var parents: [String] = []
    var mediaType: String?

    init(_ mediaType: String?, _ parents: String...) { (self.mediaType, self.parents) = (mediaType, parents) }
  }

  private static let declarations: [String: Declaration] = [
    "public.jpeg": Declaration("image/jpeg"), "public.png": Declaration("image/png"),
    "com.compuserve.gif": Declaration("image/gif"), "public.tiff": Declaration("image/tiff"),
    "com.microsoft.bmp": Declaration("image/bmp"), "com.microsoft.ico": Declaration("image/vnd.microsoft.icon"),
    "public.heic": Declaration("image/heic", "public.heif-standard"),
    "public.heics": Declaration("image/heic-sequence", "public.heif-standard"),
    "public.heif": Declaration("image/heif", "public.heif-standard"),
    "public.heifs": Declaration("image/heif-sequence", "public.heif-standard"),
    "public.avif": Declaration("image/avif", "public.heif-standard"),
    "public.heif-standard": Declaration(nil, "public.image"),
    "org.webmproject.webp": Declaration("image/webp"), "public.jpeg-2000": Declaration("image/jp2"),
    "public.jpeg-xl": Declaration("image/jxl"), "com.adobe.photoshop-image": Declaration("image/vnd.adobe.photoshop"),
    "com.ilm.openexr-image": Declaration("image/x-exr"), "com.truevision.tga-image": Declaration("image/x-tga"),
    "com.adobe.raw-image": Declaration("image/x-adobe-dng"),
    "com.canon.cr2-raw-image": Declaration("image/x-canon-cr2"),
    "com.canon.cr3-raw-image": Declaration("image/x-canon-cr3"),
    "com.nikon.raw-image": Declaration("image/x-nikon-nef"),
    "com.sony.arw-raw-image": Declaration("image/x-sony-arw"), "com.fuji.raw-image": Declaration("image/x-fuji-raf"),
    "com.panasonic.rw2-raw-image": Declaration("image/x-panasonic-rw2"),
    "public.camera-raw-image": Declaration(nil, "public.image"),
    "com.apple.quicktime-movie": Declaration("video/quicktime"),
    "public.mpeg-4": Declaration("video/mp4"),
    "com.apple.m4v-video": Declaration("video/x-m4v"),
    "public.3gpp": Declaration("video/3gpp"), "public.3gpp2": Declaration("video/3gpp2"),
    "public.avi": Declaration("video/avi"), "public.mpeg": Declaration("video/mpeg"),
    "public.mpeg-2-transport-stream": Declaration("video/mp2t"),
    "public.avchd-mpeg-2-transport-stream": Declaration("video/mp2t"),
    "com.microsoft.windows-media-wmv": Declaration("video/x-ms-wmv"),
    "com.microsoft.advanced-systems-format": Declaration("video/x-ms-asf"),
    "public.dv-movie": Declaration("video/x-dv"),
    "public.mp3": Declaration("audio/mpeg"), "com.apple.m4a-audio": Declaration("audio/mp4", "public.mpeg-4-audio"),
    "public.mpeg-4-audio": Declaration("audio/mp4", "public.audio"),
    "com.microsoft.waveform-audio": Declaration("audio/vnd.wave"), "public.aiff-audio": Declaration("audio/aiff"),
    "com.apple.coreaudio-format": Declaration("audio/x-caf"),
    "public.image": Declaration(nil, "public.data", "public.content"),
    "public.movie": Declaration(nil, "public.audiovisual-content"), "public.video": Declaration(nil, "public.movie"),
    "public.audio": Declaration(nil, "public.audiovisual-content"),
    "public.audiovisual-content": Declaration(nil, "public.data", "public.content"),
    "com.apple.live-photo": Declaration(nil, "public.image"),
    "com.apple.property-list": Declaration("application/x-plist", "public.data"),
    "public.text": Declaration(nil, "public.data", "public.content"),
    "public.plain-text": Declaration("text/plain", "public.text"),
    "public.json": Declaration("application/json", "public.text"),
    "public.url": Declaration(nil, "public.data"), "public.file-url": Declaration(nil, "public.url"),
    "public.folder": Declaration(nil, "public.directory"), "public.directory": Declaration(nil, "public.item"),
    "public.data": Declaration("application/octet-stream", "public.item"), "public.content": Declaration(nil),
    "public.item": Declaration(nil),
  ]

  /// The types that data of this type is of as well, one step up.
  private var parents: [String] {
    let stated = Self.declarations[identifier]?.parents ?? []
    if !stated.isEmpty { return stated }
    if identifier == "public.item" || identifier == "public.content" { return [] }
    return switch medium {
    case .image: identifier.hasSuffix("raw-image") ? ["public.camera-raw-image"] : ["public.image"]
    case .video: ["public.movie"]
    case .audio: ["public.audio"]
    default: ["public.data"]
    }
  }

  /// All types that data of this type is of as well, without the type itself.
  var supertypes: Set<String> {
    var all: Set<String> = []
    var next = parents
    while let type = next.popLast() {
      if type != identifier, all.insert(type).inserted { next += UniformType(identifier: type).parents }
    }
    return all
  }

  /// The usual Internet media type; nil if none is known.
  var mediaTypeName: String? { Self.declarations[identifier]?.mediaType }

  /// The type of an Internet media type; nil if none is known.
  init?(mediaTypeName: String) {
    let name = mediaTypeName.lowercased().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    let found = Self.declarations.filter { $0.value.mediaType == name }.keys.min { ($0.count, $0) < ($1.count, $1) }
    guard let found else { return nil }
    self.init(identifier: found)
  }
}
