import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("importing folders with sidecars")
struct SidecarImportTests {
  private static func xmp(_ caption: String, rating: Int, subject: String, person: String = "Ana") -> Data {
    Data(
      """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
       xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:digiKam="http://www.digikam.org/ns/1.0/"
       xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
       xmp:Rating="\(rating)" exif:DateTimeOriginal="2019-05-06T07:08:09+02:00">
      <dc:description><rdf:Alt><rdf:li xml:lang="x-default">\(caption)</rdf:li></rdf:Alt></dc:description>
      <dc:subject><rdf:Bag><rdf:li>\(subject)</rdf:li></rdf:Bag></dc:subject>
      <digiKam:TagsList><rdf:Seq><rdf:li>Places/Italy/Rome</rdf:li></rdf:Seq></digiKam:TagsList>
      <Iptc4xmpExt:PersonInImage><rdf:Bag><rdf:li>\(person)</rdf:li></rdf:Bag></Iptc4xmpExt:PersonInImage>
      </rdf:Description></rdf:RDF></x:xmpmeta>
      """.utf8)
  }

  private static func asset(_ name: String, _ rig: ImportedLibrary) throws -> (Asset, ExtendedMetadata) {
    let asset = try #require(
      try rig.everything().first { try rig.library.resources(of: $0).contains { $0.originalFilename == name } })
    return (asset, try rig.library.extendedMetadata(of: asset))
  }

  private static var options: LibraryImport.Options {
    var options = LibraryImport.Options()
    options.readsSidecars = true
    return options
  }

  @Test("words beside the movie of a Live Photo that arrives after its still are recorded where the still has none")
  func lateMovie() async throws {
    for isDescribed in [false, true] {
      let folder = try TemporaryFolder()
      let rig = try ImportedLibrary()
      try folder.write("a.jpg", ImportTests.still("late"))
      if isDescribed { try folder.write("a.jpg.xmp", Self.xmp("of the still", rating: 1, subject: "sun")) }
      _ = try await rig.run([folder.asRoot], Self.options)
      try folder.write("a.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
      try folder.write("a.mov.xmp", Self.xmp("of the movie", rating: 4, subject: "sea"))
      var options = Self.options
      options.keywords = ["new"]
      let (summary, _) = try await rig.run([folder.asRoot], options)
      #expect(summary.resourcesAdded == 1 && summary.assetsAdded == 0)
      let (live, words) = try Self.asset("a.jpg", rig)
      #expect(live.mediaSubtypes.contains(.photoLive))
      #expect(words.caption == (isDescribed ? "of the still" : "of the movie"))
      #expect(Set(words.keywords) == (isDescribed ? ["Rome", "sea", "sun"] : ["Rome", "sea"]), "\(words.keywords)")
      #expect(live.rating == (isDescribed ? .one : .four))
      #expect(LibraryCorpusTests.time(of: live) == (isDescribed ? "2019-05-06T07:08:09+02:00" : "2021-02-03T04:05:06"))
    }
  }

  @Test("XMP is read in both namings, and what people edited in it replaces the file's own date")
  func xmp() async throws {
    let folder = try TemporaryFolder()
    for name in ["whole.jpg", "stem.jpg", "none.jpg"] {
      try folder.write(name, ImportTests.still(name, identifier: nil))
    }
    try folder.write("whole.jpg.xmp", Self.xmp("whole", rating: 4, subject: "sea"))
    try folder.write("whole.xmp", Self.xmp("never", rating: 1, subject: "never"))
    try folder.write("stem.xmp", Self.xmp("stem", rating: 2, subject: "sun"))
    var options = Self.options
    options.takesPeopleAsKeywords = true
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot], options)
    let (whole, words) = try Self.asset("whole.jpg", rig)
    #expect(words.caption == "whole" && words.keywords == ["Ana", "Rome", "sea"] && whole.rating == .four)
    #expect(LibraryCorpusTests.time(of: whole) == "2019-05-06T07:08:09+02:00")
    let (stem, others) = try Self.asset("stem.jpg", rig)
    #expect(others.caption == "stem" && others.keywords == ["Ana", "Rome", "sun"] && stem.rating == .two)
    let (none, nothing) = try Self.asset("none.jpg", rig)
    #expect(nothing.caption == nil && nothing.keywords == [] && none.rating == .unset)
    #expect(LibraryCorpusTests.time(of: none) == "2021-02-03T04:05:06")
    #expect(summary.described == 2 && outcomes["whole.xmp"] == .sidecar)
    let lines = try ImportedLibrary.lines(summary)
    let line = try #require(lines.first { ($0["path"] as? String)?.hasSuffix("/whole.jpg") == true })
    #expect((line["from"] as? [String: String])?["creationDate"] == "xmp")
  }

  @Test("a sidecar that repeats the file's wall time without its offset does not replace it, and another time does")
  func repeatedTime() async throws {
    let folder = try TemporaryFolder()
    for (name, reading) in [("same", "2026-05-15T13:19:37"), ("other", "2026-05-15T14:19:37")] {
      let photo = TinyMedia.Photo(
        dateTimeOriginal: "2026:05:15 13:19:37", offset: "+08:00", subSeconds: "25", comment: name)
      try folder.write("\(name).jpg", TinyMedia.jpeg(photo))
      let xmp = String(decoding: Self.xmp(name, rating: 1, subject: "x"), as: UTF8.self)
      let dated = xmp.replacingOccurrences(of: "2019-05-06T07:08:09+02:00", with: reading)
      try folder.write("\(name).jpg.xmp", Data(dated.utf8))
    }
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    let (same, words) = try Self.asset("same.jpg", rig)
    #expect(LibraryCorpusTests.time(of: same) == "2026-05-15T13:19:37.25+08:00" && words.caption == "same")
    let (other, _) = try Self.asset("other.jpg", rig)
    #expect(LibraryCorpusTests.time(of: other) == "2026-05-15T14:19:37")
    let lines = try ImportedLibrary.lines(summary)
    let line = try #require(lines.first { ($0["path"] as? String)?.hasSuffix("/same.jpg") == true })
    #expect((line["from"] as? [String: String])?["creationDate"] == "embedded")
  }

  @Test("the date of a picture counts before that of its scan")
  func scannedPicture() throws {
    let json = #"""
      [{"SourceFile": "a", "XMP-xmp:CreateDate": "2019:03:02 14:05:11+01:00",
        "XMP-photoshop:DateCreated": "1974:07:20 12:00:00"}]
      """#
    let tags = try #require(ExifTags(json: Array(json.utf8)))
    let time = try #require(MetadataLayer(tags, .xmp).captureTime)
    #expect(time.reading.description == "1974-07-20T12:00:00" && time.offsetSeconds == nil)
  }

  @Test("of hierarchical keywords the last component is used, and a keyword of Lightroom may have a slash")
  func slashes() throws {
    let json = #"""
      [{"SourceFile": "a", "XMP-lr:HierarchicalSubject": ["Style|B/W", "Places|Rome"], "XMP-dc:Subject": ["B/W"],
        "XMP-digiKam:TagsList": ["Activities/Sailing"]}]
      """#
    let tags = try #require(ExifTags(json: Array(json.utf8)))
    #expect(MetadataLayer(tags, .xmp).keywords == ["B/W", "Rome", "Sailing"])
  }

  @Test("a time that a person set in PhotoPrism keeps its wall time, with an offset where the zone is known")
  func manualTimes() {
    func time(_ lines: String...) -> String? {
      let text = (["TakenSrc: manual", "TakenAt: 2020-03-04T17:30:00Z"] + lines).joined(separator: "\n")
      let layer = SidecarSource.statement(Array(text.utf8), ending: "yml")?.layer
      return layer?.captureTime.map { time in
        "\(time.reading) \(time.clock) \(time.offsetSeconds.map { "\($0)" } ?? "none")"
      }
    }
    let local = "TakenAtLocal: 2020-03-04T18:30:00Z"
    #expect(time(local, "TimeZone: Europe/Berlin") == "2020-03-04T18:30:00 local 3600")
    #expect(time("TimeZone: Europe/Berlin") == "2020-03-04T18:30:00 local 3600")
    #expect(time("TakenAtLocal: 2020-03-04T17:30:00Z", "TimeZone: Local") == "2020-03-04T17:30:00 local none")
    #expect(time() == "2020-03-04T17:30:00 local none")
    #expect(time("TimeZone: Nowhere/Such") == "2020-03-04T17:30:00 utc none")
    #expect(time("TakenAtLocal: 2020-03-06T17:30:00Z", "TimeZone: Europe/Berlin") == "2020-03-06T17:30:00 local none")
  }

  @Test("a sidecar that vanishes before it is read is skipped", arguments: [MediaExport.folders, .takeout])
  func vanishing(export: MediaExport) async throws {
    let folder = try TemporaryFolder()
    let photo = try folder.write("T/a.jpg", ImportTests.still("a", identifier: nil))
    let names = export == .folders ? ["a.jpg.xmp", "a.jpg.json", "a.yml"] : ["a.jpg.json"]
    let found = [photo] + names.map { FilePath("\(folder.path)/T/\($0)") }
    let files = found.map { path in
      ScannedFile(
        path: path, relativeCount: path.nameBytes.count + 2, role: path == photo ? .candidate : .sidecar, byteCount: 1)
    }
    let reading = SourceReading(
      export: export, options: Self.options, tool: try SharedTool.exiftool(), copies: nil, stop: StopFlag())
    let catalog = try await reading.catalog(of: files)
    #expect(catalog.files.count == files.count)
    for file in catalog.files where file.path != photo {
      guard case .settled(.skipped(.vanished, let message)) = file.role else {
        Issue.record("\(file.path) is \(file.role).")
        continue
      }
      #expect(message.contains(file.path.name))
    }
  }

  @Test("a sidecar without permission is unreadable, as a photo would be", .enabled(if: geteuid() != 0))
  func unreadable() async throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "b.jpg"] { try folder.write(name, ImportTests.still(name, identifier: nil)) }
    let xmp = try folder.write("a.jpg.xmp", Self.xmp("unseen", rating: 1, subject: "x"))
    let json = try folder.write("b.jpg.json", Data(#"[{"SourceFile": "b.jpg", "XMP:Rating": 3}]"#.utf8))
    for path in [xmp, json] { #expect(chmod(path.description, 0) == 0) }
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    #expect(summary.assetsAdded == 2 && summary.skipped == ["unreadable": 2] && summary.lostCount == 2)
  }

  @Test("JSON of osxphotos and exiftool is read, other JSON is skipped, and XMP takes precedence")
  func json() async throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "b.jpg"] { try folder.write(name, ImportTests.still(name, identifier: nil)) }
    let object = """
      [{"SourceFile": "a.jpg", "EXIF:ImageDescription": "from JSON", "XMP:Description": "from JSON",
        "XMP:Subject": ["tag"], "IPTC:Keywords": ["tag", "other"], "XMP:PersonInImage": ["Bo"], "XMP:Rating": 3,
        "EXIF:GPSLatitude": 12.5, "EXIF:GPSLongitude": -3.25}]
      """
    try folder.write("a.jpg.json", Data(object.utf8))
    try folder.write("a.jpg.xmp", Self.xmp("from XMP", rating: 5, subject: "x"))
    try folder.write("b.jpg.json", Data("{\"anything\": 1}".utf8))
    let rig = try ImportedLibrary()
    let (_, outcomes) = try await rig.run([folder.asRoot], Self.options)
    let (asset, words) = try Self.asset("a.jpg", rig)
    #expect(words.caption == "from XMP" && words.keywords == ["Rome", "other", "tag", "x"] && asset.rating == .five)
    #expect(asset.location?.latitude == 12.5 && asset.location?.longitude == -3.25)
    #expect(outcomes["b.jpg.json"] == .sidecar)
  }

  @Test("JSON of exiftool without groups is read, and one that says nothing describes nothing")
  func bareJSON() async throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "b.jpg"] { try folder.write(name, ImportTests.still(name, identifier: nil)) }
    let object = #"""
      [{"SourceFile": "a.jpg", "Description": "x", "Subject": ["k"], "CreateDate": "2001:02:03 04:05:06",
        "GPSLatitude": -33.5, "GPSLongitude": -151.25, "GPSLatitudeRef": "S", "GPSLongitudeRef": "W"}]
      """#
    try folder.write("a.jpg.json", Data(object.utf8))
    try folder.write("b.jpg.json", Data(#"[{"SourceFile": "b.jpg"}]"#.utf8))
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot], Self.options)
    let (asset, words) = try Self.asset("a.jpg", rig)
    #expect(words.caption == "x" && words.keywords == ["k"])
    #expect(asset.location?.latitude == -33.5 && asset.location?.longitude == -151.25)
    #expect(LibraryCorpusTests.time(of: asset) == "2021-02-03T04:05:06", "A bare CreateDate is of either clock.")
    #expect(summary.described == 1 && outcomes["b.jpg.json"] == .sidecar)
  }

  @Test("a place of zero and zero in an XMP yields to the one in the JSON")
  func noPlace() async throws {
    let folder = try TemporaryFolder()
    var photo = TinyMedia.Photo(comment: "no place")
    photo.place = [0, 0]
    try folder.write("a.jpg", TinyMedia.jpeg(photo))
    let xmp = String(decoding: Self.xmp("here", rating: 1, subject: "x"), as: UTF8.self)
    let place = #"exif:GPSLatitude="0,0.0N" exif:GPSLongitude="0,0.0E" xmp:Rating"#
    try folder.write("a.jpg.xmp", Data(xmp.replacingOccurrences(of: "xmp:Rating", with: place).utf8))
    try folder.write(
      "a.jpg.json", Data(#"[{"SourceFile": "a.jpg", "EXIF:GPSLatitude": 12.5, "EXIF:GPSLongitude": -3.25}]"#.utf8))
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot], Self.options)
    let (asset, words) = try Self.asset("a.jpg", rig)
    #expect(words.caption == "here")
    #expect(asset.location?.latitude == 12.5 && asset.location?.longitude == -3.25)
  }

  @Test("a sidecar beside a file of its name describes no file of the same name elsewhere", arguments: [false, true])
  func sameNames(isStem: Bool) async throws {
    let folder = try TemporaryFolder()
    let photos = ["card1/100CANON", "card2/100CANON", "card1/originals", "card2/originals"]
    for place in photos { try folder.write("\(place)/IMG_1.JPG", ImportTests.still(place, identifier: nil)) }
    for place in photos where place.hasPrefix("card1/") {
      try folder.write(
        "\(place)/\(isStem ? "IMG_1" : "IMG_1.JPG").xmp", Self.xmp("of \(place)", rating: 1, subject: "x"))
    }
    let rig = try ImportedLibrary()
    let roots = ["card1", "card2"].map { FilePath("\(folder.path)/\($0)") }
    let (summary, _) = try await rig.run(roots, Self.options)
    #expect(summary.assetsAdded == 4 && summary.described == 2)
    for place in photos {
      let digest = Array(ImportTests.still(place, identifier: nil)).sha256
      let asset = try #require(try rig.library.assets(withContent: digest).first)
      let caption = try rig.library.extendedMetadata(of: asset).caption
      #expect(caption == (place.hasPrefix("card1/") ? "of \(place)" : nil), "\(place)")
    }
  }

  @Test("a tree of sidecars without photos beside them describes the photos at the same paths of another tree")
  func mirrored() async throws {
    let folder = try TemporaryFolder()
    try folder.write("photos/2020/a.jpg", ImportTests.still("a", identifier: nil))
    try folder.write("mirror/2020/a.jpg.xmp", Self.xmp("mirrored", rating: 1, subject: "x"))
    let rig = try ImportedLibrary()
    _ = try await rig.run(["photos", "mirror"].map { FilePath("\(folder.path)/\($0)") }, Self.options)
    #expect(try Self.asset("a.jpg", rig).1.caption == "mirrored")
  }

  @Test("keys and values of a YAML keep at most 128 marks of a character")
  func manyMarks() {
    let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
    let kept = "q" + String(repeating: "\u{301}\u{323}", count: 64)
    let yaml = YAMLText(Array("q\(marks): 1\nCaption: q\(marks)\n".utf8))
    #expect(yaml[kept] == "1")
    #expect(yaml["Caption"]?.unicodeScalars.count == 129)
  }

  @Test("a wrapped value of a YAML is read to its end, plain and in quotes")
  func wrapped() {
    let yaml = YAMLText(
      Array(
        #"""
        Caption: We walked along the shore
          until the rain came

          and took the bus: home
        Title: "Ana: we walked \U0001F30A and
          said: \"no\"\
          , \  twice\x21"
        Notes: 'It''s
          wrapped: here'
        Details:
          Keywords: a, b,
            y, z
          # no keyword
          Artist: c
        Open: "never
          ends
        UID: pq1
        Photos:
        - UID: pq2
            and more
        - UID: pq3

        """#.utf8))
    #expect(yaml["Caption"] == "We walked along the shore until the rain came\nand took the bus: home")
    #expect(yaml["Title"] == "Ana: we walked 🌊 and said: \"no\",   twice!")
    #expect(yaml["Notes"] == "It's wrapped: here")
    #expect(yaml["Details.Keywords"] == "a, b, y, z" && yaml["Details.Artist"] == "c")
    #expect(yaml["Open"] == nil && yaml["UID"] == "pq1", "Quotes that do not end are no value.")
    #expect(yaml.all("Photos[].UID") == ["pq2 and more", "pq3"])
    #expect(["and took the bus", "said", "wrapped"].allSatisfy { yaml[$0] == nil })
  }

  @Test("a caption of a YAML is stored with at most 128 marks")
  func boundedMarks() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", ImportTests.still("marks", identifier: nil))
    let marks = String(repeating: "\u{301}\u{323}", count: 100)
    try folder.write("a.yml", Data("TakenAt: 2020-03-04T05:06:07Z\nCaption: q\(marks)\n".utf8))
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot], Self.options)
    let (_, words) = try Self.asset("a.jpg", rig)
    #expect(words.caption?.unicodeScalars.count == 129)
  }

  @Test("a YAML without a photo of its name is a sidecar that describes nothing")
  func orphan() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", ImportTests.still("a", identifier: nil))
    try folder.write("lost.yml", Data("TakenAt: 2020-03-04T05:06:07Z\nUID: pq1\nTitle: Lost\n".utf8))
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot], Self.options)
    #expect(outcomes["lost.yml"] == .sidecar && summary.described == 0 && summary.skipped.isEmpty)
    #expect(summary.rules.contains { $0.rule == "a sidecar describes no file that is there" && $0.count == 1 })
  }

  @Test("PhotoPrism's YAML is read from its own tree, with albums; its guesses are not used")
  func yaml() async throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] { try folder.write("originals/2020/\(name).jpg", ImportTests.still(name, identifier: nil)) }
    try folder.write(
      "sidecar/2020/a.yml",
      Data(
        """
        TakenAt: 2020-03-04T05:06:07Z
        TakenSrc: manual
        UID: pq1
        Title: The sea
        Description: |-
          It's the sea
          and the sun
        Favorite: true
        Private: true
        Lat: 12.5
        Lng: 3.25
        PlaceSrc: manual
        Details:
          Keywords: sea, sun
          Notes: 'x: y'
        """.utf8))
    try folder.write(
      "sidecar/2020/b.yml",
      Data("TakenAt: 2020-03-04T05:06:07Z\nUID: pq2\nLat: 12.5\nLng: 3.25\nPlaceSrc: estimate\n".utf8))
    try folder.write(
      "albums/album/x.yml",
      Data("UID: aq1\nType: album\nTitle: 'It''s an album'\nPhotos:\n- UID: pq2\n- UID: pq1\n- UID: gone\n".utf8))
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot], Self.options)
    let (a, words) = try Self.asset("a.jpg", rig)
    #expect(words.caption == "It's the sea\nand the sun" && words.keywords == ["sea", "sun"])
    #expect(a.isFavorite && a.isHidden && a.location?.latitude == 12.5)
    #expect(LibraryCorpusTests.time(of: a) == "2020-03-04T05:06:07", "Without a zone it is the wall time.")
    let (b, _) = try Self.asset("b.jpg", rig)
    #expect(b.location == nil && LibraryCorpusTests.time(of: b) == "2021-02-03T04:05:06")
    let album = try #require(try rig.library.fetchCollections(with: .album).first)
    #expect(album.localizedTitle == "It's an album")
    #expect(try rig.members(of: album) == [b.id, a.id])
    #expect(outcomes["albums/album/x.yml"] == .describesAlbum("It's an album") && summary.described == 3)
  }

  @Test("an album has each file once, though it names it twice or by two identifiers")
  func repeatedMembers() {
    let album = "UID: aq1\nType: album\nTitle: Twice\nPhotos:\n- UID: pq1\n- UID: pq2\n- UID: pq1\n"
    let sidecars = [("a.yml", "UID: pq1\n"), ("b.yml", "UID: pq2\n"), ("b.yaml", "UID: pq1\n"), ("x.yml", album)]
    let names = ["a.jpg", "b.jpg"] + sidecars.map(\.0)
    let files = names.map { name in
      ScannedFile(
        path: FilePath("/r/\(name)"), relativeCount: name.utf8.count,
        role: name.hasSuffix(".jpg") ? .candidate : .sidecar, byteCount: 1)
    }
    var statements: [Int: SidecarSource.Statement] = [:]
    for (index, sidecar) in sidecars.enumerated() {
      statements[index + 2] = SidecarSource.statement(Array(sidecar.1.utf8), ending: "yml")
    }
    let source = SidecarSource(options: LibraryImport.Options(), files: files, statements: statements)
    #expect(source.catalog().albums == [SourceAlbum(title: "Twice", files: [0, 1])])
  }

  @Test(
    "sidecars of the corpus describe the files that they are known to describe",
    .enabled(if: Corpus.isPresent, "The folder of real photos is not at hand."))
  func corpus() async throws {
    let folder = try #require(Corpus.folder).appending(path: "sidecars")
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([FilePath(folder.path)], Self.options)
    let base = folder.resolvingSymlinksInPath().path
    #expect(outcomes["IMG_5910.xmp"] == .describes(FilePath("\(base)/IMG_5910.jpg")))
    // It names the program that wrote it, and nothing that the library keeps.
    #expect(outcomes["cookiezen.xmp"] == .sidecar)
    #expect(summary.described == 1)
    let (asset, words) = try Self.asset("IMG_5910.jpg", rig)
    #expect(words.caption == "Squirrel at berkely" && asset.rating == .three)
    #expect(Set(words.keywords).isSuperset(of: ["Alvin the Squirrel", "Berkley", "USA"]))
  }
}
