import Foundation
import PhotoLedger
import TestSupport

/// What is there when a history begins: a few assets, the albums that its queries are about, and the clients.
struct Furnishing {
  private let library: PhotoLibrary
  private let date: Date
  private var random: SeededGenerator

  init(_ library: PhotoLibrary, _ date: Date, _ seed: UInt64) {
    (self.library, self.date, random) = (library, date, SeededGenerator(seed: seed))
  }

  mutating func furnish(_ model: inout ModelLibrary) throws -> Cast {
    let assets = try change(&model, PhotoLibrary.owner) { block, draft, random, date in
      try (0..<25).map { index in
        let creation = AssetCreation.random(index, &random)
        let id = block.createAsset(creation)
        try draft.create(creation, as: id, at: date)
        return id
      }
    }
    var cast = try ownersAlbums(&model, assets)
    try admitClients(&model, assets)
    for client in [Cast.full] + Cast.limited { cast.own[client] = try ownAlbums(&model, client) }
    // The owner puts what they see, and what they do not, into what the clients made.
    try change(&model, PhotoLibrary.owner) { block, draft, random, date in
      for own in Cast.clients.compactMap({ cast.own[$0] }) {
        for album in [own.album, own.crowded] {
          let members = random.some(10, of: assets)
          block.album(album).add(members)
          try draft.insert(members, into: album, at: nil, nil, at: date)
        }
        block.folder(own.folder).add([own.crowded])
        try draft.insert([own.crowded], into: own.folder, at: nil, nil, at: date)
      }
    }
    return cast
  }

  @discardableResult
  private mutating func change<R>(
    _ model: inout ModelLibrary, _ client: String,
    _ body: (ChangeBlock, inout ModelLibrary, inout SeededGenerator, Date) throws -> R
  ) throws -> R {
    var draft = model
    draft.begin(as: client)
    var made: R?
    var random = random
    try library.as(client).performChangesAndWait { block in made = try body(block, &draft, &random, date) }
    self.random = random
    model = draft
    guard let made else { throw Divergence("A block was not executed.") }
    return made
  }

  private mutating func ownersAlbums(_ model: inout ModelLibrary, _ assets: [LocalIdentifier]) throws -> Cast {
    try change(&model, PhotoLibrary.owner) { block, draft, random, date in
      let albums = try ["Mixed", "Crowded", "Mortal"].map { title in
        let id = block.createAlbum(title: title)
        try draft.create(.album, title, as: id, at: date)
        return id
      }
      for (index, album) in albums.enumerated() {
        let members = random.some(8 + index, of: assets)
        block.album(album).add(members)
        try draft.insert(members, into: album, at: nil, nil, at: date)
      }
      let folder = block.createFolder(title: "Folder")
      try draft.create(.folder, "Folder", as: folder, at: date)
      block.folder(folder).add([albums[1]])
      try draft.insert([albums[1]], into: folder, at: nil, nil, at: date)
      let smart = try Self.smartAlbum(block, &draft, date)
      return Cast(
        mixed: albums[0], crowded: albums[1], mortal: albums[2], folder: folder, asked: Array(assets.prefix(6)),
        albums: albums, smart: smart)
    }
  }

  private static func smartAlbum(
    _ block: ChangeBlock, _ draft: inout ModelLibrary, _ date: Date
  ) throws -> LocalIdentifier {
    let query = ModelSmartAlbum.invented
    let smart = block.createSmartAlbum(
      title: "Best", where: query.condition, sortedBy: query.sort, includingHidden: query.includesHidden)
    try draft.create(.smartAlbum, "Best", as: smart, at: date, query)
    return smart
  }

  private mutating func admitClients(_ model: inout ModelLibrary, _ assets: [LocalIdentifier]) throws {
    try change(&model, PhotoLibrary.owner) { block, draft, random, _ in
      for client in Cast.clients {
        var registration = ClientRegistration()
        registration.preventsAutomaticLimitedAccessAlert = true
        block.register(client: client, registration)
        let level = client == Cast.adder ? AccessLevel.addOnly : .readWrite
        let status: AuthorizationStatus = Cast.limited.contains(client) ? .limited : .authorized
        block.setAuthorizationStatus(status, of: client, for: level)
        try draft.setStatus(status, of: client, for: level)
        let selection = assets.prefix(3) + random.some(7, of: Array(assets.dropFirst(3)))
        block.grant(Array(selection), to: client)
        try draft.grant(Array(selection), to: client)
      }
    }
  }

  private mutating func ownAlbums(_ model: inout ModelLibrary, _ client: String) throws -> Cast.Own {
    try change(&model, client) { block, draft, _, date in
      let albums = try ["Own", "Own crowded"].map { title in
        let id = block.createAlbum(title: title)
        try draft.create(.album, title, as: id, at: date)
        return id
      }
      let folder = block.createFolder(title: "Own folder")
      try draft.create(.folder, "Own folder", as: folder, at: date)
      return Cast.Own(
        album: albums[0], crowded: albums[1], folder: folder, smart: try Self.smartAlbum(block, &draft, date))
    }
  }
}
