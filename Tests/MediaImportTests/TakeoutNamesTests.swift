import TestSupport
import Testing

@testable import MediaImport

@Suite("names in a Takeout")
struct TakeoutNamesTests {
  /// The JSON of each item, by names; titles where they are given.
  static func matches(_ items: [String], _ sidecars: [(String, String?)]) -> [String: String] {
    let names = TakeoutNames(
      items: items.enumerated().map { TakeoutNames.Item(index: $0.offset, name: $0.element) },
      sidecars: sidecars.enumerated().map {
        TakeoutNames.Sidecar(index: $0.offset, stem: String($0.element.0.dropLast(5)), title: $0.element.1)
      })
    return Dictionary(
      uniqueKeysWithValues: names.matches().map { (items[$0.key], sidecars[$0.value.sidecar].0) })
  }

  @Test(
    "an item has the JSON that Google named by it",
    arguments: [
      ("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json"),
      ("IMG_1.jpg", "IMG_1.jpg.supplemental-me.json"),
      ("IMG_1.jpg", "IMG_1.jpg.s.json"),
      ("IMG_1.jpg", "IMG_1.jpg..json"),
      ("IMG_1.jpg", "IMG_1.jpg.json"),
      ("IMG_1(2).jpg", "IMG_1.jpg.supplemental-metadata(2).json"),
      ("IMG_1(2).jpg", "IMG_1.jpg.suppl(2).json"),
      ("IMG_1(2).jpg", "IMG_1.jpg(2).json"),
      ("IMG_1(2).jpg", "IMG_1(2).jpg.json"),
      ("PXL_20231006_063909898.LS.mp4", "PXL_20231006_063909898.LS.mp4.json"),
      ("PXL_20230922_144936660.PORTRAIT-01.COVER.jpg", "PXL_20230922_144936660.PORTRAIT-01.COVER.jpg.s.json"),
      ("original_1d4caa6f-16c6-4c3d-901b-9387de10e528_.jpg", "original_1d4caa6f-16c6-4c3d-901b-9387de10e528_.json"),
      ("Urlaub in Knaufspesch in der Schneifel (38).JPG", "Urlaub in Knaufspesch in der Schneifel (38).JP.json"),
      ("été.jpg", "e\u{301}te\u{301}.jpg.supplemental-metadata.json"),
      ("P7040106.jpg", "P7040106.JPG.json"),
      ("P7040106.JPG", "P7040106.jpg.supplemental-me.json"),
      ("P7040106.Jpg", "P7040106.JPG.json"),
      ("IMG_4081(1).jpg", "IMG_4081.JPG(1).json"),
      ("Urlaub in Knaufspesch in der Schneifel (38).jpg", "Urlaub in Knaufspesch in der Schneifel (38).JP.json"),
    ])
  func one(item: String, sidecar: String) {
    #expect(Self.matches([item], [(sidecar, nil)]) == [item: sidecar])
  }

  @Test(
    "an item does not have the JSON of another",
    arguments: [
      ("IMG_1.jpg", "IMG_11.jpg.json"), ("IMG_11.jpg", "IMG_1.jpg.json"), ("IMG_1(1).jpg", "IMG_1.jpg(2).json"),
      ("IMG_1(1).jpg", "IMG_1.jpg.supplemental-metadata.json"), ("IMG_1.jpg", "IMG_1.jpg(1).json"),
      ("IMG_1.png", "IMG_1.jpg.json"), ("IMG_1.jpg", "metadata.json"), ("IMG_1.jpg", "IMG.json"),
      ("a short name.jpg", "a short.json"),
    ])
  func other(item: String, sidecar: String) {
    #expect(Self.matches([item], [(sidecar, "something else.jpg")]).isEmpty)
  }

  @Test("of names that differ in the case of the extension, each item has the JSON of its own")
  func cases() {
    let items = ["IMG_1.JPG", "IMG_1.jpg", "IMG_1-edited.jpg"]
    let both: [(String, String?)] = [("IMG_1.jpg.json", "IMG_1.jpg"), ("IMG_1.JPG.json", "IMG_1.JPG")]
    let found = Self.matches(items, both)
    #expect(found["IMG_1.JPG"] == "IMG_1.JPG.json" && found["IMG_1.jpg"] == "IMG_1.jpg.json")
    for (item, json) in [("IMG_1.JPG", both[1]), ("IMG_1.jpg", both[0])] {
      #expect(Self.matches(Array(items.prefix(2)), [json]) == [item: json.0])
    }
    #expect(Self.matches([items[2]], [both[1]]) == [items[2]: "IMG_1.JPG.json"], "The original may be in no part.")
  }

  @Test("an edited copy has the JSON of its original, in every language", arguments: TakeoutNames.editedSuffixes)
  func edited(suffix: String) {
    let sidecars: [(String, String?)] = [
      ("IMG_1.jpg.supplemental-metadata.json", "IMG_1.jpg"), ("IMG_1.jpg.supplemental-metadata(1).json", "IMG_1.jpg"),
    ]
    let items = ["IMG_1.jpg", "IMG_1(1).jpg", "IMG_1\(suffix).jpg", "IMG_1\(suffix)(1).jpg"]
    let found = Self.matches(items, sidecars)
    #expect(found["IMG_1.jpg"] == sidecars[0].0 && found["IMG_1(1).jpg"] == sidecars[1].0)
    #expect(found["IMG_1\(suffix).jpg"] == sidecars[0].0 && found["IMG_1\(suffix)(1).jpg"] == sidecars[1].0)
    #expect(Self.matches([items[2]], [sidecars[0]]) == [items[2]: sidecars[0].0], "The original may be in no part.")
  }

  @Test("a numbered edited copy has the JSON of the original without the number, if none has the number")
  func numberedCopy() {
    let original: (String, String?) = ("IMG_1.jpg.supplemental-metadata.json", "IMG_1.jpg")
    let copy = "IMG_1-edited(1).jpg"
    #expect(Self.matches(["IMG_1.jpg", copy], [original])[copy] == original.0)
    #expect(Self.matches([copy], [original])[copy] == original.0, "The original may be in no part.")
    #expect(Self.matches(["IMG_1.jpg", "IMG_1(1).jpg", copy], [original])[copy] == nil)
    #expect(Self.matches(["IMG_1-etwas(1).jpg"], [original]).isEmpty, "The word is not known.")
  }

  @Test("a moving part has the JSON of its still, and one with its own JSON keeps it")
  func movingPart() {
    let still: (String, String?) = ("IMG_1.HEIC.supplemental-metadata.json", "IMG_1.HEIC")
    #expect(Self.matches(["IMG_1.HEIC", "IMG_1.MP4"], [still])["IMG_1.MP4"] == still.0)
    let own: (String, String?) = ("IMG_1.MP4.supplemental-metadata.json", "IMG_1.MP4")
    #expect(Self.matches(["IMG_1.HEIC", "IMG_1.MP4"], [still, own])["IMG_1.MP4"] == own.0)
    let pixel: (String, String?) = ("PXL_1.MP.jpg.supplemental-metadata.json", "PXL_1.MP.jpg")
    #expect(Self.matches(["PXL_1.MP.jpg", "PXL_1.MP"], [pixel])["PXL_1.MP"] == pixel.0)
  }

  @Test("items with one cut name have numbered JSONs, matched by title and else by order")
  func collisions() {
    let stem = "A very long title that somebody has written fo"
    #expect(stem.count == TakeoutNames.stemLimit)
    let items = ["\(stem)a.jpg", "\(stem)b.jpg", "\(stem)c.jpg"]
    let names = ["\(stem).json", "\(stem)(1).json", "\(stem)(2).json"]
    let ordered = Self.matches(items, names.map { ($0, nil) })
    #expect(ordered == Dictionary(uniqueKeysWithValues: zip(items, names)))
    let titled = Self.matches(items, [(names[0], items[2]), (names[1], items[0]), (names[2], items[1])])
    #expect(titled == [items[2]: names[0], items[0]: names[1], items[1]: names[2]])
  }

  @Test("thousands of items with one cut name each have their own JSON, by the title or else by the number")
  func manyCollisions() {
    let stem = "A very long title that somebody has written fo"
    let count = Dose.isFull ? 3000 : 2000
    let items = (0..<count).map { "\(stem)\(10_000 + $0).jpg" }
    let names = (0..<count).map { $0 == 0 ? "\(stem).json" : "\(stem)(\($0)).json" }
    let ordered = Self.matches(items, names.reversed().map { ($0, nil) })
    #expect(ordered == Dictionary(uniqueKeysWithValues: zip(items, names)))
    // 7 has no factor in common with the count, so each title comes once.
    let titles = (0..<count).map { items[$0 * 7 % count] }
    let titled = Self.matches(items, zip(names, titles).map { ($0, $1) })
    #expect(titled == Dictionary(uniqueKeysWithValues: zip(titles, names)))
    let alike = (0..<count).map { "\(stem)xx.\(10_000 + $0)" }
    let fitting = Self.matches(alike, names.map { ($0, "\(stem)xx and more.jpg") })
    #expect(fitting == Dictionary(uniqueKeysWithValues: zip(alike, names)), "Each title fits each item.")
  }

  @Test("parentheses of the photographer and numbers of Google are distinguished by the title")
  func parentheses() {
    let found = Self.matches(
      ["x(3).jpg", "x(3)(1).jpg", "x.jpg"],
      [("x(3).jpg.json", "x(3).jpg"), ("x(3).jpg(1).json", "x(3).jpg"), ("x.jpg.json", "x.jpg")])
    #expect(found == ["x(3).jpg": "x(3).jpg.json", "x(3)(1).jpg": "x(3).jpg(1).json", "x.jpg": "x.jpg.json"])
  }

  @Test(
    "folders of years are known in every language that is listed, and others are albums",
    arguments: [
      ("Photos from 2023", true), ("Fotos von 2019", true), ("2019-05-01", true), ("2019-05-01 #2", true),
      ("2023年の写真", true), ("Holiday 2023", false), ("Photos from 20234", false), ("2019", false), ("", false),
    ])
  func years(name: String, isYear: Bool) {
    #expect(TakeoutSource.isFolderOfYear(name) == isYear)
  }
}
