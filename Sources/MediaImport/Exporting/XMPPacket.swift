internal import Foundation
internal import PhotoLedger

// What the library says of an asset, as XMP (ISO 16684-1).
//
//     caption     dc:description, the default language
//     keywords    dc:subject
//     stars       xmp:Rating, 1 to 5
//     favourite   xmpDM:good, "a checkbox for tracking whether a shot is a keeper" (XMP part 2)
//     date        exif:DateTimeOriginal and photoshop:DateCreated: wall time, with the offset where it is known
//     place       exif:GPSLatitude, exif:GPSLongitude, exif:GPSAltitude
//
// The text is written here and never read here. Where it has to come into a file that says other things too, exiftool
// copies the fields from it (`MetadataWriter`), so that no text from a user stands among a program's arguments.
//
// Invariant: equal fields yield equal bytes, so that the hash of a packet detects any change.
//
// Rejected: a favourite as five stars (a user who rates would find ratings that were never given), a namespace of our
// own (no other program reads it).

/// One thing that the library says of an asset.
enum MetadataField: String, Sendable, Hashable, CaseIterable {
  case caption, keywords, rating, favorite, date, place

  /// The tags that carry it, by exiftool's names.
  var tags: [String] {
    switch self {
    case .caption: ["XMP-dc:Description"]
    case .keywords: ["XMP-dc:Subject"]
    case .rating: ["XMP-xmp:Rating"]
    case .favorite: ["XMP-xmpDM:Good"]
    case .date: ["XMP-exif:DateTimeOriginal", "XMP-photoshop:DateCreated"]
    case .place:
      ["XMP-exif:GPSLatitude", "XMP-exif:GPSLongitude", "XMP-exif:GPSAltitude", "XMP-exif:GPSAltitudeRef"]
    }
  }

  /// The properties of the log whose change is an edit of it.
  var properties: Set<String> {
    switch self {
    case .caption: ["caption"]
    case .keywords: ["keywords"]
    case .rating: ["rating"]
    case .favorite: ["isFavorite"]
    case .date: ["creationDate", "localCreationDate", "timeZoneOffset"]
    case .place: ["location"]
    }
  }
}

/// The fields of an asset as an XMP packet.
struct XMPPacket: Sendable, Hashable {
  let text: String
  /// The fields that have a value.
  let filled: Set<MetadataField>

  var bytes: [UInt8] { Array(text.utf8) }
  /// What names the content.
  var digest: String { bytes.sha256.hexadecimal }

  /// - Parameter fields: which are written; a field without a value is left out.
  init(_ subject: ExportSubject, _ fields: Set<MetadataField> = Set(MetadataField.allCases)) {
    var filled: Set<MetadataField> = []
    var lines: [String] = []
    func add(_ field: MetadataField, _ content: [String]) {
      guard fields.contains(field), !content.isEmpty else { return }
      filled.insert(field)
      lines += content
    }
    add(.caption, Self.caption(subject.details.caption))
    add(.keywords, Self.keywords(subject.details.keywords))
    let rating = subject.asset.rating
    add(.rating, rating == .unset ? [] : ["<xmp:Rating>\(rating.rawValue)</xmp:Rating>"])
    add(.favorite, subject.asset.isFavorite ? ["<xmpDM:good>True</xmpDM:good>"] : [])
    let date = subject.asset.xmpDate
    add(
      .date,
      date.map {
        [
          "<exif:DateTimeOriginal>\($0)</exif:DateTimeOriginal>",
          "<photoshop:DateCreated>\($0)</photoshop:DateCreated>",
        ]
      } ?? [])
    add(.place, subject.asset.location.map(Self.place) ?? [])
    self.filled = filled
    text = Self.head + lines.map { "   \($0)\n" }.joined() + Self.tail
  }

  private static let head = """
    <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
    <x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="PhotoLedger">
     <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description rdf:about=""
        xmlns:dc="http://purl.org/dc/elements/1.1/"
        xmlns:exif="http://ns.adobe.com/exif/1.0/"
        xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
        xmlns:xmp="http://ns.adobe.com/xap/1.0/"
        xmlns:xmpDM="http://ns.adobe.com/xmp/1.0/DynamicMedia/">

    """

  private static let tail = """
      </rdf:Description>
     </rdf:RDF>
    </x:xmpmeta>
    <?xpacket end="w"?>

    """

  private static func caption(_ caption: String?) -> [String] {
    guard let caption else { return [] }
    return [
      "<dc:description><rdf:Alt><rdf:li xml:lang=\"x-default\">\(escaped(caption))</rdf:li></rdf:Alt></dc:description>"
    ]
  }

  private static func keywords(_ keywords: [String]) -> [String] {
    if keywords.isEmpty { return [] }
    return ["<dc:subject><rdf:Bag>"] + keywords.map { " <rdf:li>\(escaped($0))</rdf:li>" } + ["</rdf:Bag></dc:subject>"]
  }

  private static func place(_ location: Location) -> [String] {
    func angle(_ value: Double, _ positive: String, _ negative: String) -> String {
      // Degrees and minutes with seven decimals: a fifth of a millimetre.
      let units = (abs(value) * 60 * 1e7).rounded()
      let degrees = Int(units / (60 * 1e7))
      let rest = Int(units) - degrees * 600_000_000
      let decimals = (rest % 10_000_000).padded(to: 7)
      return "\(degrees),\(rest / 10_000_000).\(decimals)\(value < 0 ? negative : positive)"
    }
    var lines = [
      "<exif:GPSLatitude>\(angle(location.latitude, "N", "S"))</exif:GPSLatitude>",
      "<exif:GPSLongitude>\(angle(location.longitude, "E", "W"))</exif:GPSLongitude>",
    ]
    if let altitude = location.altitude, altitude.isFinite, abs(altitude) < 1e12 {
      lines.append("<exif:GPSAltitudeRef>\(altitude < 0 ? 1 : 0)</exif:GPSAltitudeRef>")
      lines.append("<exif:GPSAltitude>\(Int((abs(altitude) * 1000).rounded()))/1000</exif:GPSAltitude>")
    }
    return lines
  }

  /// Text as XML 1.0 has it; characters that it cannot say are left out.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\r": result += "&#xD;"
      case "\n": result += "&#xA;"
      case "\t": result += "&#x9;"
      case "\u{FFFE}", "\u{FFFF}": break
      default: if scalar.value >= 0x20 { result.unicodeScalars.append(scalar) }
      }
    }
    return result
  }
}

extension Asset {
  /// When it was taken, as XMP spells it; without an offset where none is known.
  var xmpDate: String? {
    guard let clock = wallClock else { return nil }
    return "\(clock.date)T\(clock.hour):\(clock.minute):\(clock.second)\(clock.fraction)\(xmpOffset)"
  }

  /// The offset that goes with ``wallClock``.
  var xmpOffset: String {
    guard let offset = timeZoneOffset else { return localCreationDate == nil ? "Z" : "" }
    let minutes = abs(offset) / 60
    return "\(offset < 0 ? "-" : "+")\((minutes / 60).padded(to: 2)):\((minutes % 60).padded(to: 2))"
  }
}

extension ClockReading {
  /// The part of a second, such as `.25`; empty for none.
  var fraction: String {
    if microsecond == 0 { return "" }
    var text = microsecond.padded(to: 6)
    while text.hasSuffix("0") { text.removeLast() }
    return ".\(text)"
  }
}
