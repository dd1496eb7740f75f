import Foundation

/// The files of the package, read once.
enum PackageFiles {
  /// The directory that holds Package.swift.
  static let root: URL = {
    var folder = URL(filePath: #filePath)
    repeat {
      folder.deleteLastPathComponent()
    } while !FileManager.default.fileExists(
      atPath: folder.appending(path: "Package.swift").path) && folder.path != "/"
    return folder
  }()

  /// The paths below the root of all files that belong to the package, hidden folders and build products left out.
  static let paths: [String] = {
    let files = FileManager.default
    guard let walk = files.enumerator(atPath: root.path) else { return [] }
    var found: [String] = []
    for case let path as String in walk {
      let name = (path as NSString).lastPathComponent
      var isFolder: ObjCBool = false
      guard files.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder) else { continue }
      if isFolder.boolValue {
        if [".build", ".git", ".swiftpm"].contains(name) { walk.skipDescendants() }
      } else if name != ".git", name != "Package.resolved" {
        found.append(path)
      }
    }
    return found.sorted()
  }()

  /// Every Swift file.
  static let swift: [SwiftSource] = paths.filter { $0.hasSuffix(".swift") }.compactMap { path in
    contents(path).map { SwiftSource(path: path, contents: $0) }
  }

  /// The Swift files of the product: Sources and Migrations.
  static let product: [SwiftSource] = swift.filter { $0.path.hasPrefix("Sources/") || $0.path.hasPrefix("Migrations/") }

  /// The text of a file; nil if it is not UTF-8.
  static func contents(_ path: String) -> String? {
    guard let data = FileManager.default.contents(atPath: root.appending(path: path).path) else { return nil }
    return String(data: data, encoding: .utf8)
  }
}
