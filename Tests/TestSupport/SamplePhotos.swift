package import Foundation

/// The folder of real photos that some tests are judged by; nil where it is not at hand.
package enum SamplePhotos {
  package static let folder: URL? = {
    if let named = ProcessInfo.processInfo.environment["PHOTOLEDGER_TEST_PHOTOS"] { return existing(named) }
    var root = URL(filePath: #filePath)
    while root.path != "/" && !FileManager.default.fileExists(atPath: root.appending(path: "Package.swift").path) {
      root = root.deletingLastPathComponent()
    }
    return existing(root.deletingLastPathComponent().appending(path: "shared/photos").path)
  }()

  private static func existing(_ path: String) -> URL? {
    FileManager.default.fileExists(atPath: path + "/manifest.json") ? URL(filePath: path) : nil
  }

  /// Whether programs are on `PATH`.
  package static func areInstalled(_ programs: String...) -> Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return programs.allSatisfy { program in
      folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
  }

  /// Whether the folder and every program that renders are there.
  package static var canRender: Bool {
    folder != nil && areInstalled("vipsthumbnail", "vips", "ffmpeg", "ffprobe", "exiftool")
  }
}
