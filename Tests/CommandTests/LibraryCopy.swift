import Foundation

// A library that many tests begin with is made once, and each of them gets a copy: making one takes several runs of the
// program, or one that creates hundreds of assets. The copies have one identity, so a test whose libraries must differ
// makes them itself.

/// The files of a library, held in memory.
struct LibraryCopy: Sendable {
  private struct Item: Sendable {
    let path: String
    /// Nil for a folder.
    let content: Data?
    let permissions: Int?
  }

  /// Its assets, in the order of their creation.
  let assets: [String]
  private let items: [Item]

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
    items = try FileManager.default.subpathsOfDirectory(atPath: sandbox.library).sorted().compactMap { path in
      let place = "\(sandbox.library)/\(path)"
      let attributes = try FileManager.default.attributesOfItem(atPath: place)
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      // The pipe and the locks of the store are made again when it is opened.
      guard isFolder || attributes[.type] as? FileAttributeType == .typeRegular, !path.hasSuffix("lock.mdb") else {
        return nil
      }
      return Item(
        path: path, content: isFolder ? nil : try Data(contentsOf: URL(filePath: place)),
        permissions: attributes[.posixPermissions] as? Int)
    }
  }

  func write(to library: String) throws {
    let manager = FileManager.default
    try manager.createDirectory(atPath: library, withIntermediateDirectories: false)
    for item in items {
      let place = "\(library)/\(item.path)"
      if let content = item.content {
        try content.write(to: URL(filePath: place))
      } else {
        try manager.createDirectory(atPath: place, withIntermediateDirectories: false)
      }
      if let permissions = item.permissions {
        try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: place)
      }
    }
  }
}
