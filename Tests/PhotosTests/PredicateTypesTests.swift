import PhotoLedger
import Photos
import TestSupport
import Testing

@Suite("Predicates through NSPredicate")
struct PredicateTypesTests {
  /// Six assets: 0 favourite; 1 a screenshot; 2 a video of 8 s; 3 a video of 90 s; 4 HDR and panorama; 5 without date.
  private nonisolated(nonsending) func fill(_ gallery: Gallery) async throws -> [String] {
    [
      try await gallery.make(0) { $0.isFavorite = true },
      try await gallery.make(1) { $0.mediaSubtypes = .photoScreenshot },
      try await gallery.make(2, .video) { $0.duration = 8 },
      try await gallery.make(3, .video) { $0.duration = 90 },
      try await gallery.make(4) {
        $0.mediaSubtypes = [.photoHDR, .photoPanorama]
        ($0.pixelWidth, $0.pixelHeight) = (8000, 2000)
      },
      try await gallery.make(5) { $0.creationDate = nil },
    ]
  }

  private static func day(_ number: Double) -> NSDate { NSDate(timeIntervalSince1970: number * 86_400) }

  /// A predicate and the assets that satisfy it; the identifiers of all are given for those that name some.
  typealias Case = (make: @Sendable ([String]) -> NSPredicate, expected: [Int])

  static let comparisons: [Case] = [
    ({ _ in NSPredicate(format: "mediaType == %d", PHAssetMediaType.video.rawValue) }, [2, 3]),
    ({ _ in NSPredicate(format: "mediaType != %i", 2) }, [0, 1, 4, 5]),
    ({ _ in NSPredicate(format: "%K == %@", "mediaType", NSNumber(value: 2)) }, [2, 3]),
    ({ _ in NSPredicate(format: "mediaType == %@", NSNumber(value: Int8(2))) }, [2, 3]),
    ({ _ in NSPredicate(format: "isFavorite == YES") }, [0]),
    ({ _ in NSPredicate(format: "favorite == %@", NSNumber(value: true)) }, [0]),
    ({ _ in NSPredicate(format: "isFavorite == %@", true as NSNumber) }, [0]),
    ({ _ in NSPredicate(format: "creationDate > %@", day(2)) }, [3, 4]),
    ({ _ in NSPredicate(format: "creationDate >= %@ AND creationDate < %@", day(1), day(3)) }, [1, 2]),
    ({ _ in NSPredicate(format: "creationDate > %@", Date(timeIntervalSince1970: 3 * 86_400)) }, [4]),
    ({ _ in NSPredicate(format: "creationDate == nil") }, [5]),
    ({ _ in NSPredicate(format: "duration BETWEEN {5, 10}") }, [2]),
    ({ _ in NSPredicate(format: "duration BETWEEN %@", [50, 100]) }, [3]),
    ({ _ in NSPredicate(format: "duration > %f", 7.5) }, [2, 3]),
    ({ _ in NSPredicate(format: "pixelWidth > pixelHeight AND pixelWidth >= %d", 8000) }, [4]),
  ]

  static let sets: [Case] = [
    ({ _ in NSPredicate(format: "mediaType IN %@", [1, 3]) }, [0, 1, 4, 5]),
    (
      { _ in
        NSPredicate(format: "mediaType IN %@", [PHAssetMediaType.image.rawValue, PHAssetMediaType.video.rawValue])
      }, [0, 1, 2, 3, 4, 5]
    ),
    ({ _ in NSPredicate(format: "mediaType IN {2}") }, [2, 3]),
    ({ NSPredicate(format: "localIdentifier IN %@", [$0[1], $0[4], "unknown"]) }, [1, 4]),
    ({ NSPredicate(format: "localIdentifier == %@", $0[3]) }, [3]),
    (
      { _ in
        NSPredicate(format: "(mediaSubtypes & %d) != 0", PHAssetMediaSubtype.photoScreenshot.rawValue)
      }, [1]
    ),
    ({ _ in NSPredicate(format: "(mediaSubtype & 3) == 3") }, [4]),
    ({ _ in NSPredicate(format: "NOT ((mediaSubtypes & %d) != 0)", 4 as UInt) }, [0, 2, 3, 4, 5]),
    ({ _ in NSPredicate(format: "mediaType == %d || isFavorite == YES", 2) }, [0, 2, 3]),
    ({ _ in NSPredicate(format: "mediaType == %d", argumentArray: [2]) }, [2, 3]),
    ({ _ in NSPredicate(format: "TRUEPREDICATE") }, [0, 1, 2, 3, 4, 5]),
    ({ _ in NSPredicate(value: true) }, [0, 1, 2, 3, 4, 5]),
    ({ _ in NSPredicate(value: false) }, []),
  ]

  static let compounds: [Case] = [
    (
      { _ in
        NSCompoundPredicate(andPredicateWithSubpredicates: [
          NSPredicate(format: "mediaType == 1"), NSPredicate(format: "isFavorite == NO"),
        ])
      }, [1, 4, 5]
    ),
    (
      { _ in
        NSCompoundPredicate(orPredicateWithSubpredicates: [
          NSPredicate(format: "isFavorite == YES"), NSPredicate(format: "duration > 60"),
        ])
      }, [0, 3]
    ),
    ({ _ in NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "mediaType == 1")) }, [2, 3]),
    (
      { _ in
        NSCompoundPredicate(
          type: .and,
          subpredicates: [
            NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(value: false)),
            NSPredicate(format: "mediaType == 2"),
          ])
      }, [2, 3]
    ),
  ]

  @Test(
    "comparisons, sets, bit tests, compounds and constants select (FR-10)",
    arguments: ["comparisons", "sets", "compounds"])
  func selects(table: String) async throws {
    let cases = table == "comparisons" ? Self.comparisons : table == "sets" ? Self.sets : Self.compounds
    let gallery = try Gallery()
    let ids = try await fill(gallery)
    try await gallery.shared {
      for (index, (make, expected)) in cases.enumerated() {
        let found = assets { $0.predicate = make(ids) }.names
        #expect(found == expected.map { ids[$0] }, "case \(index) of \(table)")
        // The predicate says the same of one object as the fetch says of all.
        let predicate = make(ids)
        if !(predicate is NSCompoundPredicate) {
          let satisfying = try ids.filter { predicate.evaluate(with: try asset($0)) }
          #expect(satisfying == expected.map { ids[$0] }, "case \(index) of \(table)")
        }
      }
    }
  }

  @Test(
    "titles are compared with and without case and accents (FR-10)",
    arguments: [
      ("title == %@", "Été", ["Été"]), ("localizedTitle ==[cd] %@", "ete", ["Été", "ETE"]),
      ("title BEGINSWITH[c] %@", "et", ["ETE"]), ("title CONTAINS %@", "t", ["Été", "Winter"]),
      ("title LIKE %@", "W*r", ["Winter"]), ("title MATCHES %@", "W.+r", ["Winter"]),
      ("title ENDSWITH[cd] %@", "E", ["Été", "ETE"]), ("title IN %@", "", []),
    ])
  func titles(format: String, argument: String, expected: [String]) async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      for title in ["Été", "ETE", "Winter"] { _ = try await album(title) }
      let options = PHFetchOptions()
      options.predicate =
        argument.isEmpty ? NSPredicate(format: format, [String]()) : NSPredicate(format: format, argument)
      let found = PHAssetCollection.fetchAssetCollections(with: .album, subtype: .albumRegular, options: options)
      #expect(found.titles == expected)
    }
  }

  /// Stand-ins as tests of apps write them.
  private final class Film: PHAsset, @unchecked Sendable {  // guarded by: holds constants only
    private let seconds: TimeInterval
    private let name: String
    init(_ seconds: TimeInterval, _ name: String = "") {
      (self.seconds, self.name) = (seconds, name)
      super.init()
    }
    override var localIdentifier: String { name }
    override var mediaType: PHAssetMediaType { .video }
    override var duration: TimeInterval { seconds }
    override var isFavorite: Bool { seconds > 60 }
    override var hasAdjustments: Bool { true }
    override var creationDate: Date? { seconds > 60 ? nil : Date(timeIntervalSince1970: seconds) }
  }

  private final class Named: PHAssetCollection, @unchecked Sendable {  // guarded by: holds a constant only
    private let title: String
    init(_ title: String) {
      self.title = title
      super.init()
    }
    override var localizedTitle: String? { title }
    override var estimatedAssetCount: Int { title.count }
  }

  @Test("a subclass satisfies predicates, and is sorted, by what it overrides (FR-09, FR-10)")
  func standIns() {
    let identifier = UUID().uuidString
    let films = [Film(90), Film(8, identifier + "/L0/001"), Film(20)]
    for (predicate, expected) in [
      (NSPredicate(format: "isFavorite == YES"), [90]), (NSPredicate(format: "isFavorite == NO"), [8, 20]),
      (NSPredicate(format: "mediaType == %d AND duration < 30", PHAssetMediaType.video.rawValue), [8, 20]),
      (NSPredicate(format: "hasAdjustments == YES AND rating == 0 AND burstIdentifier == nil"), [90, 8, 20]),
      (NSPredicate(format: "creationDate == nil"), [90]),
    ] as [(NSPredicate, [TimeInterval])] {
      #expect(films.filter { predicate.evaluate(with: $0) }.map(\.duration) == expected)
    }
    #expect(NSPredicate(format: "localIdentifier == %@", identifier).evaluate(with: films[1]))
    #expect(
      NSPredicate(format: "SELF IN %@", [films[1]]).evaluate(with: films[1]) && films[1].localIdentifier != identifier)
    let ascending = NSSortDescriptor(key: "duration", ascending: true)
    let order = films.sorted { ascending.compare($0, to: $1) == .orderedAscending }
    #expect(order.map(\.duration) == [8, 20, 90])
    let albums = [Named("Sea"), Named("Alps")]
    #expect(albums.filter { NSPredicate(format: "title BEGINSWITH %@", "A").evaluate(with: $0) } == [albums[1]])
    #expect(albums.filter { NSPredicate(format: "estimatedAssetCount == 3").evaluate(with: $0) } == [albums[0]])
  }

  /// A moment, as tests of apps write it.
  private final class Trip: PHAssetCollection, @unchecked Sendable {  // guarded by: holds a constant only
    private let day: TimeInterval?
    init(_ day: TimeInterval?) {
      self.day = day
      super.init()
    }
    override var startDate: Date? { day.map { Date(timeIntervalSince1970: $0 * 86_400) } }
    override var endDate: Date? { day.map { Date(timeIntervalSince1970: -$0) } }
  }

  @Test("subclasses of collections are sorted by the dates that they override, those without a date first (FR-09)")
  func datedStandIns() {
    let trips: [PHCollection] = [Trip(3), Trip(nil), Trip(1), PHAssetCollection(), PHCollectionList()]
    func order(_ descriptor: NSSortDescriptor) -> [Int] {
      trips.indices.sorted { descriptor.compare(trips[$0], to: trips[$1]) == .orderedAscending }
    }
    #expect(order(NSSortDescriptor(key: "startDate", ascending: true)) == [1, 3, 4, 2, 0])
    #expect(order(NSSortDescriptor(keyPath: \PHAssetCollection.endDate, ascending: true)) == [1, 3, 4, 0, 2])
    #expect(order(NSSortDescriptor(key: "startDate", ascending: false)) == [0, 2, 1, 3, 4])
  }

  @Test("objects and copies of options go into predicates and fetches (FR-10, FR-12)")
  func objects() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<3)
    try await gallery.shared {
      let options = PHFetchOptions()
      options.predicate = NSPredicate(format: "SELF IN %@", [try asset(ids[2]), try asset(ids[0])])
      options.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
      let copy = try #require(options.copy() as? PHFetchOptions)
      options.predicate = nil
      #expect(PHAsset.fetchAssets(with: copy).names == [ids[2], ids[0]])
      #expect(copy.sortDescriptors?.first?.key == "creationDate")
    }
  }
}
