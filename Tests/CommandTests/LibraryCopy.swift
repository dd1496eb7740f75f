import TestSupport
import Testing

// A library that many tests begin with is made once, and each of them gets a copy: making one takes several runs of the
// program, or one that creates hundreds of assets. The copies have one identity, so a test whose libraries must differ
// makes them itself.

/// A library, held in memory.
struct LibraryCopy: Sendable {
  /// Its assets, in the order of their creation.
  let assets: [String]
  private let files: LibraryFiles

  /// A library with 400 images, whose lists do not fit into a narrow pipe.
  static let of400 = Result { try LibraryCopy(assetCount: 400) }
  /// A library with 900 images, whose lists the program writes in several parts.
  static let of900 = Result { try LibraryCopy(assetCount: 900) }

  private init(assetCount: Int) throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(assetCount)
    try self.init(of: sandbox, assets: assets)
  }

  init(of sandbox: Sandbox, assets: [String]) throws {
    self.assets = assets
    files = try LibraryFiles(of: sandbox.library)
  }

  func write(to library: String) throws { try files.write(to: library) }
}

/// A library with an album that holds the first asset, and with what a suite adds to it.
struct AlbumCopy: Sendable {
  let asset: String
  let album: String
  let copy: LibraryCopy

  /// - Parameter finish: gets the library and its first asset.
  init(assetCount: Int, _ finish: (Sandbox, _ asset: String) throws -> Void) throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(assetCount)
    asset = assets[0]
    album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    #expect(try sandbox.run(["album", "add", album, asset]).status == 0)
    try finish(sandbox, asset)
    copy = try LibraryCopy(of: sandbox, assets: assets)
  }
}
