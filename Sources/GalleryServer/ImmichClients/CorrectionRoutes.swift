#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // What an uploader says about an asset after its file has come: what a service had written down.
  //
  //     description, rating, favourite, archived      replace what is there
  //     dateTimeOriginal                              fills a missing date, and replaces one without a wall time
  //     latitude, longitude                           fill a missing place
  //     stackParentId, removeParent                   stack the assets under one, or take them out of their stacks
  //
  // These are the rules of imports (MediaImport's MediaNote): what a service wrote down about the time is an instant,
  // and what it sends as the offset is that of the machine on which the uploader runs; the camera's wall time would be
  // lost. The zero values of the language that some uploaders are written in stand for "not known": the year 1, and
  // latitude and longitude both 0.

  /// Corrections of assets, and their deletion.
  enum CorrectionRoutes {
    static let all: [Route] = [
      ImmichClientRoutes.changing("PUT", "/api/assets/{asset}") { call, body in
        // The answer is the asset, and the body may ask for no change.
        try call.checkMayRead("A correction of one asset")
        let library = try call.changedLibrary()
        let correction = try Correction(body, besides: [])
        guard let asset = try library.asset(call.parameters[0]) else { throw Problem.notFound }
        try apply(correction, to: [asset], of: library)
        guard let now = try library.asset(call.parameters[0]) else { throw Problem.notFound }
        return (200, try ListingRoutes.describe(now, in: library, by: call))
      },
      ImmichClientRoutes.changing("PUT", "/api/assets") { call, body in
        let library = try call.changedLibrary()
        let correction = try Correction(body, besides: ["ids"])
        try apply(correction, to: try assets(body, in: library), of: library)
        return (204, .null)
      },
      ImmichClientRoutes.changing("DELETE", "/api/assets") { call, body in
        try body.checkKeys(["ids", "force"])
        _ = try body.flag("force")
        let library = try call.changedLibrary()
        let assets = try assets(body, in: library)
        if !assets.isEmpty {
          try library.performChangesAndWait(cause: ImmichClientRoutes.cause) { $0.deleteAssets(assets.map(\.id)) }
        }
        return (204, .null)
      },
    ]

    private static func assets(_ body: JSON, in library: PhotoLibrary) throws -> [Asset] {
      try body.identifiers("ids").map { identifier in
        guard let asset = try library.asset(identifier) else { throw Problem.notFound }
        return asset
      }
    }

    private static func apply(_ correction: Correction, to assets: [Asset], of library: PhotoLibrary) throws {
      let edits = assets.map { ($0.id, correction.changes(of: $0)) }.filter { !$0.1.isNothing }
      let top = try correction.stackParent.map { identifier in
        guard let asset = try library.asset(identifier) else { throw Problem.notFound }
        return asset.id
      }
      let unstacked = correction.leavesStacks ? assets.filter { $0.stack != nil }.map(\.id) : []
      if edits.isEmpty, top == nil, unstacked.isEmpty { return }
      try library.performChangesAndWait(cause: ImmichClientRoutes.cause) { change in
        for (asset, changes) in edits { change.edit([asset], changes) }
        if !unstacked.isEmpty { change.unstack(unstacked) }
        if let top { change.stack(top: top, others: assets.map(\.id)) }
      }
    }
  }

  /// What is said about an asset.
  struct Correction {
    private var caption: AssetChanges.Assignment<String>?
    private var rating: AssetRating?
    private var isFavorite: Bool?
    private var isHidden: Bool?
    private var date: WrittenDate?
    private var location: Location?
    /// The asset on top of the stack that the assets go into.
    private(set) var stackParent: String?
    private(set) var leavesStacks = false

    init(_ body: JSON, besides others: Set<String>) throws {
      try body.checkKeys(
        others.union([
          "description", "rating", "isFavorite", "isArchived", "visibility", "dateTimeOriginal", "latitude",
          "longitude", "removeParent", "stackParentId",
        ]))
      stackParent = try body.text("stackParentId", atMost: 64).flatMap { $0.isEmpty ? nil : $0 }
      leavesStacks = try body.flag("removeParent")
      if let json = body["description"], json != .null {
        guard let text = json.textValue else { throw Problem.malformed("'description' is not a text.") }
        caption = text.isEmpty ? .clear : .set(text)
      }
      if let json = body["isFavorite"], json != .null { isFavorite = try body.flag("isFavorite") }
      if let json = body["isArchived"], json != .null { isHidden = try body.flag("isArchived") }
      if let text = try body.text("visibility", atMost: 20) { isHidden = try Self.isHidden(text) }
      if let json = body["rating"], json != .null {
        guard let stars = json.wholeValue, let rating = AssetRating(rawValue: max(stars, 0)), stars >= -1 else {
          throw Problem.malformed("'rating' is \(json.description.prefix(40)); pass 0 to 5, or -1 for none.")
        }
        self.rating = rating
      }
      if let text = try body.text("dateTimeOriginal", atMost: 64), !text.isEmpty {
        date = try Self.date(text, "'dateTimeOriginal'")
      }
      location = try Self.location(body)
    }

    /// Whether a visibility is that of what ordinary fetches leave out.
    static func isHidden(_ visibility: String) throws(Problem) -> Bool {
      switch visibility {
      case "timeline": return false
      case "archive", "hidden", "locked": return true
      default:
        throw .malformed("'visibility' is '\(visibility.prefix(20))'; pass timeline, archive, hidden or locked.")
      }
    }

    /// An instant; nil for that of the year 1, which stands for an unknown one.
    static func date(_ text: String, _ name: String) throws(Problem) -> WrittenDate? {
      if text.hasPrefix("0001-01-01T") { return nil }
      guard let date = WrittenDate(text) else {
        throw .malformed("\(name) is '\(text.prefix(40))'; pass an instant such as 2024-07-01T12:00:00.000Z.")
      }
      return date
    }

    private static func location(_ body: JSON) throws(Problem) -> Location? {
      let members = ["latitude", "longitude"].map { body[$0] ?? .null }
      if members.allSatisfy({ $0 == .null }) { return nil }
      guard let latitude = members[0].numberValue, let longitude = members[1].numberValue else {
        throw .malformed("'latitude' and 'longitude' belong together, and are numbers.")
      }
      if latitude == 0, longitude == 0 { return nil }
      let location = Location(latitude: latitude, longitude: longitude)
      guard location.isValid else {
        throw .malformed("'latitude' \(latitude) or 'longitude' \(longitude) is out of range.")
      }
      return location
    }

    /// What changes in an asset.
    func changes(of asset: Asset) -> AssetChanges {
      var changes = AssetChanges()
      changes.caption = caption
      changes.rating = rating
      changes.isFavorite = isFavorite
      changes.isHidden = isHidden
      if let date, asset.localCreationDate == nil { changes.creationDate = .set(date.date) }
      if let location, asset.location == nil { changes.location = .set(location) }
      return changes
    }
  }

  extension AssetChanges {
    /// Whether none of what a correction sets is set.
    fileprivate var isNothing: Bool {
      caption == nil && rating == nil && isFavorite == nil && isHidden == nil && creationDate == nil && location == nil
        && addedKeywords.isEmpty
    }
  }
#endif
