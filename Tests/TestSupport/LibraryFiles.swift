import Foundation

/// The files of a library that is closed, held in memory, to make copies of it.
package struct LibraryFiles: Sendable {
  private struct Item: Sendable {
    let path: String
    /// Nil for a folder.
    let content: Data?
    let permissions: Int?
  }

  private let items: [Item]

  /// - Parameter library: the path of the library's folder.
  package init(of library: String) throws {
    items = try FileManager.default.subpathsOfDirectory(atPath: library).sorted().compactMap { path in
      let place = "\(library)/\(path)"
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

  /// Writes the files to a new folder.
  package func write(to library: String) throws {
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
