package import Foundation

/// Files of a few hundred bytes that carry the metadata a test needs and no picture.
package enum TinyMedia {
  /// What a tiny JPEG says about itself.
  package struct Photo: Sendable {
    package var width: Int
    package var height: Int
    package var orientation: Int
    package var make: String
    package var model: String
    /// As EXIF spells it.
    package var dateTimeOriginal: String?
    package var offset: String?
    package var subSeconds: String?
    package var contentIdentifier: String?
    /// Makes otherwise equal files differ.
    package var comment: String
    /// Whole degrees of latitude and longitude, as XMP states them.
    package var place: [Double] = []
    /// The altitude of the place as XMP has it, whatever it is.
    package var altitude: String?
    /// Whether XMP states a projection, as panoramas do.
    package var isPanorama = false
    /// What a camera of Sony says of its drive: the release mode, 2 for continuous, and the number of the photo.
    package var release: [UInt16] = []
    /// The serial number of the camera.
    package var serialNumber: String?
    /// The burst, as XMP states it.
    package var burst: String?

    package init(
      width: Int = 8, height: Int = 6, orientation: Int = 1, make: String = "Apple", model: String = "Test Camera",
      dateTimeOriginal: String? = "2021:02:03 04:05:06", offset: String? = nil, subSeconds: String? = nil,
      contentIdentifier: String? = nil, comment: String = ""
    ) {
      (self.width, self.height, self.orientation) = (width, height, orientation)
      (self.make, self.model) = (make, model)
      (self.dateTimeOriginal, self.offset, self.subSeconds) = (dateTimeOriginal, offset, subSeconds)
      (self.contentIdentifier, self.comment) = (contentIdentifier, comment)
    }
  }

  /// A JPEG with an EXIF block and a frame header, without image data.
  package static func jpeg(_ photo: Photo = Photo()) -> Data {
    var data = Data([0xFF, 0xD8])
    let exif = Data("Exif\0\0".utf8) + tiff(photo)
    data += Data([0xFF, 0xE1]) + big(UInt16(exif.count + 2)) + exif
    let packet = xmp(photo)
    if !packet.isEmpty { data += Data([0xFF, 0xE1]) + big(UInt16(packet.count + 2)) + packet }
    let comment = Data(photo.comment.utf8)
    if !comment.isEmpty { data += Data([0xFF, 0xFE]) + big(UInt16(comment.count + 2)) + comment }
    data +=
      Data([0xFF, 0xC0, 0, 11, 8]) + big(UInt16(photo.height)) + big(UInt16(photo.width)) + Data([1, 1, 0x11, 0])
    return data + Data([0xFF, 0xD9])
  }

  /// A JPEG with a scan of a few bytes, to its end or cut off in it.
  package static func scanned(_ comment: String, isWhole: Bool) -> Data {
    jpeg(Photo(comment: comment)).dropLast(2) + Data([0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0x3F, 0])
      + Data(repeating: 0x55, count: 64) + Data(isWhole ? [0xFF, 0xD9] : [])
  }

  /// An XMP packet with the place and the form of the picture; empty when there are none.
  private static func xmp(_ photo: Photo) -> Data {
    var attributes: [String] = []
    if photo.place.count == 2 {
      let (latitude, longitude) = (photo.place[0], photo.place[1])
      attributes.append(#"exif:GPSLatitude="\#(Int(abs(latitude))),0.0\#(latitude < 0 ? "S" : "N")""#)
      attributes.append(#"exif:GPSLongitude="\#(Int(abs(longitude))),0.0\#(longitude < 0 ? "W" : "E")""#)
    }
    if let altitude = photo.altitude { attributes.append(#"exif:GPSAltitude="\#(altitude)""#) }
    if photo.isPanorama { attributes.append(#"GPano:ProjectionType="equirectangular""#) }
    if let burst = photo.burst { attributes.append(#"GCamera:BurstID="\#(burst)""#) }
    if attributes.isEmpty { return Data() }
    let packet = """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
      <rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" \
      xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" \
      xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" \(attributes.joined(separator: " "))/>\
      </rdf:RDF></x:xmpmeta>
      """
    return Data("http://ns.adobe.com/xap/1.0/\0".utf8) + Data(packet.utf8)
  }

  /// A TIFF block with the same EXIF, which with a Nikon's make and the extension `.nef` passes for a RAW file.
  package static func tiff(_ photo: Photo, isWithSize: Bool = false) -> Data {
    var exif: [Field] = []
    if let text = photo.dateTimeOriginal { exif.append(.text(0x9003, text)) }
    if let text = photo.offset { exif.append(.text(0x9011, text)) }
    if let text = photo.subSeconds { exif.append(.text(0x9291, text)) }
    if let text = photo.serialNumber { exif.append(.text(0xA431, text)) }
    if photo.release.count == 2 {
      let note = directory([.short(0xB049, photo.release[0]), .short(0xB04A, photo.release[1])], at: 0)
      exif.append(.bytes(0x927C, Data("SONY DSC \0\0\0".utf8) + note))
    }
    if let identifier = photo.contentIdentifier {
      // Offsets in Apple's maker note count from its own start; its directory begins after 14 bytes.
      let note = Data("Apple iOS\0".utf8) + Data([0, 1]) + Data("MM".utf8)
      exif.append(.bytes(0x927C, note + directory([.text(0x0011, identifier)], at: 14)))
    }
    var root: [Field] = [
      .text(0x010F, photo.make), .text(0x0110, photo.model), .short(0x0112, UInt16(photo.orientation)),
    ]
    if isWithSize { root += [.short(0x0100, UInt16(photo.width)), .short(0x0101, UInt16(photo.height))] }
    root.sort { $0.tag < $1.tag }
    exif.sort { $0.tag < $1.tag }
    let exifStart = 8 + directory(root + [.long(0x8769, 0)], at: 8).count
    return Data("MM\0*".utf8) + big(UInt32(8)) + directory(root + [.long(0x8769, UInt32(exifStart))], at: 8)
      + directory(exif, at: exifStart)
  }

  /// A HEIC file with the same EXIF, and a size, without a picture.
  package static func heic(_ photo: Photo = Photo()) -> Data {
    let exif = big(UInt32(6)) + Data("Exif\0\0".utf8) + tiff(photo) + Data(photo.comment.utf8)
    let picture = Data([0, 0, 0, 0])
    func meta(at start: UInt32) -> Data {
      let handler = atom("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
      let items = [(1, "hvc1"), (2, "Exif")].map { number, kind in
        atom("infe", Data([2, 0, 0, 0]) + big(UInt16(number)) + Data(count: 2) + Data(kind.utf8) + Data([0]))
      }
      let places = [(1, start, picture.count), (2, start + UInt32(picture.count), exif.count)].map { item in
        big(UInt16(item.0)) + Data(count: 2) + big(UInt16(1)) + big(item.1) + big(UInt32(item.2))
      }
      let size = atom("ispe", Data(count: 4) + big(UInt32(photo.width)) + big(UInt32(photo.height)))
      let properties =
        atom("ipco", size) + atom("ipma", Data(count: 4) + big(UInt32(1)) + big(UInt16(1)) + Data([1, 1]))
      return atom(
        "meta",
        Data(count: 4) + handler + atom("pitm", Data(count: 4) + big(UInt16(1)))
          + atom("iinf", Data(count: 4) + big(UInt16(2)) + items[0] + items[1])
          + atom("iloc", Data(count: 4) + Data([0x44, 0]) + big(UInt16(2)) + places[0] + places[1])
          + atom("iprp", properties))
    }
    let brand = atom("ftyp", Data("heic".utf8) + Data(count: 4) + Data("mif1heic".utf8))
    let start = UInt32(brand.count + meta(at: 0).count + 8)
    return brand + meta(at: start) + atom("mdat", picture + exif)
  }

  /// A QuickTime movie of 2.5 seconds with Apple's metadata keys, without tracks.
  package static func movie(
    contentIdentifier: String? = nil, creationDate: String? = nil, created: UInt32 = 0
  ) -> Data {
    var header = big(UInt32(0)) + big(created) + big(created) + big(UInt32(600)) + big(UInt32(1500))
    header += big(UInt32(0x10000)) + big(UInt16(0x100)) + Data(count: 10)
    for value in [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000] as [UInt32] { header += big(value) }
    header += Data(count: 24) + big(UInt32(1))
    var keys: [(String, String)] = []
    if let contentIdentifier { keys.append(("com.apple.quicktime.content.identifier", contentIdentifier)) }
    if let creationDate { keys.append(("com.apple.quicktime.creationdate", creationDate)) }
    let movie = atom("mvhd", header) + (keys.isEmpty ? Data() : metadata(keys))
    return atom("ftyp", Data("qt  ".utf8) + big(UInt32(0)) + Data("qt  ".utf8)) + atom("moov", movie)
      + atom("mdat", Data())
  }

  private static func metadata(_ pairs: [(String, String)]) -> Data {
    let handler = atom("hdlr", Data(count: 8) + Data("mdta".utf8) + Data(count: 12) + Data([0]))
    var names = big(UInt32(0)) + big(UInt32(pairs.count))
    var items = Data()
    for (index, (name, value)) in pairs.enumerated() {
      names += atom("mdta", Data(name.utf8))
      let item = atom("data", big(UInt32(1)) + big(UInt32(0)) + Data(value.utf8))
      items += big(UInt32(item.count + 8)) + big(UInt32(index + 1)) + item
    }
    return atom("meta", handler + atom("keys", names) + atom("ilst", items))
  }

  private static func atom(_ kind: String, _ content: Data) -> Data {
    big(UInt32(content.count + 8)) + Data(kind.utf8) + content
  }

  /// One field of a TIFF directory.
  private struct Field {
    let tag: UInt16
    let type: UInt16
    let count: UInt32
    let value: Data

    static func text(_ tag: UInt16, _ text: String) -> Field {
      let value = Data(text.utf8) + Data([0])
      return Field(tag: tag, type: 2, count: UInt32(value.count), value: value)
    }

    static func bytes(_ tag: UInt16, _ bytes: Data) -> Field {
      Field(tag: tag, type: 7, count: UInt32(bytes.count), value: bytes)
    }

    static func short(_ tag: UInt16, _ number: UInt16) -> Field {
      Field(tag: tag, type: 3, count: 1, value: big(number))
    }

    static func long(_ tag: UInt16, _ number: UInt32) -> Field {
      Field(tag: tag, type: 4, count: 1, value: big(number))
    }
  }

  /// A TIFF directory that begins at `start`; values that do not fit into four bytes follow it.
  private static func directory(_ fields: [Field], at start: Int) -> Data {
    var entries = big(UInt16(fields.count))
    var values = Data()
    let valuesStart = start + 2 + fields.count * 12 + 4
    for field in fields {
      entries += big(field.tag) + big(field.type) + big(field.count)
      if field.value.count <= 4 {
        entries += field.value + Data(count: 4 - field.value.count)
      } else {
        entries += big(UInt32(valuesStart + values.count))
        values += field.value + Data(count: field.value.count % 2)
      }
    }
    return entries + big(UInt32(0)) + values
  }

  private static func big(_ value: some FixedWidthInteger) -> Data {
    withUnsafeBytes(of: value.bigEndian) { Data($0) }
  }
}
