#if Gallery
  public import Foundation
  import HTTPServing
  import PhotoLedger

  // The files that a browser runs, as they lie in `Page/`.
  //
  //   /                          index.html, and the other documents; never kept without asking
  //   /page/latest/views/grid.js the file of now, for programs of others; kept with its tag
  //   /page/HASH/views/grid.js   the same under the hash of all files; kept for ever
  //
  // A document names its scripts and styles under `/page/latest/`, and `latest` is replaced by the hash while it is
  // served. Modules import one another by relative paths, so one hash of the whole folder names them all and nothing
  // in them is rewritten.
  //
  // Rejected: a hash for each file, which needs a rewriting of imports, thus a build step; files inside of the program,
  // which the compiler takes as lists of numbers, seconds for each hundred kilobytes.

  /// The files of the gallery's page, read once.
  public struct PageFiles: Sendable {
    struct File: Sendable {
      let bytes: [UInt8]
      let type: String
      let tag: String
    }

    /// The hash of all files, in the URLs of what never changes.
    let hash: String
    private let files: [String: File]
    /// The folder that is read again for each request; nil for files that were read once.
    private let folder: URL?

    private static let types = [
      "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
      "svg": "image/svg+xml", "png": "image/png", "webmanifest": "application/manifest+json",
    ]
    /// A page has a few hundred kilobytes; a larger folder is the wrong one.
    private static let limit = 16 << 20

    /// The files of a folder.
    /// - Parameters:
    ///   - folder: the folder `Page`.
    ///   - isLive: whether changed files are served without a restart; then nothing is kept by browsers.
    /// - Throws: ``GalleryError`` if it has no `index.html`, or cannot be read.
    public init(folder: URL, isLive: Bool = false) throws {
      var files: [String: File] = [:]
      var (parts, size) = ([String](), 0)
      // Folders are one deep, as the URLs are.
      for path in try Self.paths(in: folder) {
        guard let type = Self.types[(path as NSString).pathExtension] else { continue }
        let file = try Self.read(path, of: folder, as: type)
        size += file.bytes.count
        guard size <= Self.limit else {
          throw GalleryError("The folder \(folder.path) has more than 16 MiB; name the folder of the gallery's page.")
        }
        files[path] = file
        parts.append("\(path) \(file.tag)")
      }
      guard files["index.html"] != nil else {
        throw GalleryError("The gallery's page is not in \(folder.path): index.html is missing there.")
      }
      self.files = files
      self.folder = isLive ? folder : nil
      hash = String(Keyring.hash(parts.joined(separator: "\n")).prefix(16))
    }

    private static func read(_ path: String, of folder: URL, as type: String) throws(GalleryError) -> File {
      let bytes: [UInt8]
      do { bytes = Array(try Data(contentsOf: folder.appending(path: path))) } catch {
        let reason = LibraryError.reason(of: error)
        throw GalleryError("The page's file \(path) in \(folder.path) cannot be read: \(reason).")
      }
      return File(bytes: bytes, type: type, tag: String(Keyring.hash(bytes).prefix(32)))
    }

    private static func paths(in folder: URL) throws -> [String] {
      let manager = FileManager.default
      do {
        var paths: [String] = []
        for name in try manager.contentsOfDirectory(atPath: folder.path).sorted() where !name.hasPrefix(".") {
          var isFolder: ObjCBool = false
          let path = folder.appending(path: name).path
          guard manager.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
          guard isFolder.boolValue else {
            paths.append(name)
            continue
          }
          for inner in try manager.contentsOfDirectory(atPath: path).sorted() where !inner.hasPrefix(".") {
            paths.append("\(name)/\(inner)")
          }
        }
        return paths
      } catch {
        throw GalleryError("The gallery's page cannot be read from \(folder.path): \(LibraryError.reason(of: error)).")
      }
    }

    /// The files that belong to this program: in the resources beside it, or in `../share/photoledger/page`.
    /// - Throws: ``GalleryError`` if they are in neither place.
    public static func ofProgram() throws -> PageFiles {
      let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      let places = [
        program.appending(path: "PhotoLedger_GalleryServer.resources/Page"),
        program.deletingLastPathComponent().appending(path: "share/photoledger/page"),
      ]
      for place in places where FileManager.default.fileExists(atPath: place.appending(path: "index.html").path) {
        return try PageFiles(folder: place)
      }
      throw GalleryError(
        """
        The files of the gallery's page are not beside the program. Copy \
        PhotoLedger_GalleryServer.resources from the build to \(program.path), or its folder Page to \
        \(places[1].path).
        """)
    }

    /// A file by its path below the folder, such as `views/grid.js`, as it is now.
    ///
    /// A page names forty files, so of a folder that is read again each request reads its own file and no other.
    func file(_ path: String) throws -> File? {
      guard let folder else { return files[path] }
      let segments = path.split(separator: "/", omittingEmptySubsequences: false)
      guard segments.count <= 2, !segments.contains(where: { $0.isEmpty || $0.hasPrefix(".") }),
        let type = Self.types[(path as NSString).pathExtension],
        FileManager.default.fileExists(atPath: folder.appending(path: path).path)
      else { return nil }
      return try Self.read(path, of: folder, as: type)
    }

    /// The state of now: the same files, or those of the folder if that is read again.
    func current() throws -> PageFiles { try folder.map { try PageFiles(folder: $0, isLive: true) } ?? self }

    /// Whether browsers may keep what they got under the hash.
    var isKept: Bool { folder == nil }
  }
#endif
