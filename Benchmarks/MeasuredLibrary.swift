import Foundation
import PhotoLedger

/// A library of invented photos to measure in, made anew and removed afterwards.
///
/// It lies in memory (`/dev/shm`) where there is such a file system: what is measured in it is reading.
enum MeasuredLibrary {
  static func make(_ size: Int, _ body: (PhotoLibrary, [LocalIdentifier]) throws -> Void) throws {
    let shared = URL(filePath: "/dev/shm")
    let parent = FileManager.default.fileExists(atPath: shared.path) ? shared : FileManager.default.temporaryDirectory
    let folder = parent.appending(path: "photoledger-benchmark-\(ProcessInfo.processInfo.processIdentifier)-\(size)")
    let library = try PhotoLibrary.create(at: folder, environment: .seeded(1))
    // What cannot be removed is reported where the next run would make the same library again.
    defer {
      library.close()
      do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) is left: \(error)") }
    }
    try body(library, try fill(library, size))
  }

  private static func fill(_ library: PhotoLibrary, _ size: Int) throws -> [LocalIdentifier] {
    var assets: [LocalIdentifier] = []
    assets.reserveCapacity(size)
    for start in stride(from: 0, to: size, by: 1000) {
      try library.performChangesAndWait(cause: "fill") { change in
        for number in start..<min(start + 1000, size) { assets.append(change.createAsset(photo(number))) }
      }
    }
    return assets
  }

  private static func photo(_ number: Int) -> AssetCreation {
    let hash = withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8](repeating: 0, count: 24) + $0 }
    let file = AssetResource(
      type: .photo, originalFilename: "IMG_\(number).HEIC", uniformTypeIdentifier: "public.heic", dataSize: 2_000_000,
      sha256: hash, storage: .referenced(path: "/photos/IMG_\(number).HEIC"))
    var creation = AssetCreation(mediaType: .image, resources: [.stored(file)])
    (creation.pixelWidth, creation.pixelHeight) = (3000 + number % 1000, 3000)
    creation.creationDate = Date(timeIntervalSinceReferenceDate: Double(number &* 7919 % 100_000_000))
    return creation
  }
}
