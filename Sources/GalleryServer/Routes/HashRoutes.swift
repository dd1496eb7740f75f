#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// Which files the library has, asked by their hashes before they are sent.
  ///
  /// SHA-256 and SHA-1 are both looked up in an index, so a question costs its own length. A client hears of the assets
  /// that it sees; for all others the answer is that of a library without them. What was recorded before SHA-1 was kept
  /// is found by its SHA-256 only.
  enum HashRoutes {
    static let limit = 1000

    static let all: [Route] = [
      .gathering("POST", "/v1/uploads:check", .key, limit: 1 << 17) { call, body in
        try call.checkQuery([])
        let json = try JSONReader.read(body)
        guard let members = json.objectValue, members.allSatisfy({ ["sha256", "sha1"].contains($0.key) }) else {
          throw Problem.malformed("The body is an object with 'sha256' and 'sha1', lists of hashes.")
        }
        let (sha256, sha1) = (try hashes(json["sha256"], "sha256", 32), try hashes(json["sha1"], "sha1", 20))
        guard sha256.count + sha1.count <= limit else {
          throw Problem(
            400, "limit-exceeded", "The body has more than \(limit) hashes; pass at most \(limit) at once.")
        }
        let library = try call.library()
        var found: [JSON] = []
        if try library.authorizationStatus(for: .readWrite).isGranted {
          found += try describe("sha256", sha256) { try library.assets(withContent: $0) }
          found += try describe("sha1", sha1) { try library.assets(withSHA1: $0) }
        }
        return .json(["found": .list(found)], [("Cache-Control", "no-store")])
      }
    ]

    /// The hashes that the library has, each with the asset that an upload of the file would be answered with: one
    /// outside the trash, if there is one. A hash that is named again is not looked up again.
    static func describe(
      _ kind: String, _ hashes: [[UInt8]], _ find: ([UInt8]) throws -> [Asset]
    ) throws -> [JSON] {
      var described: [[UInt8]: JSON?] = [:]
      return try hashes.compactMap { hash in
        if let known = described[hash] { return known }
        let assets = try find(hash)
        let json = (assets.first { !$0.isTrashed } ?? assets.first).map { asset in
          JSON.object([
            .init(kind, .text(hash.hexadecimal)), .init("asset", .text(asset.localIdentifier)),
            .init("isTrashed", .bool(asset.isTrashed)),
          ])
        }
        described.updateValue(json, forKey: hash)
        return json
      }
    }

    private static func hashes(_ json: JSON?, _ name: String, _ count: Int) throws(Problem) -> [[UInt8]] {
      guard let json else { return [] }
      guard let texts = json.textsValue else { throw .malformed("'\(name)' is not a list of strings.") }
      guard texts.count <= limit else {
        throw Problem(
          400, "limit-exceeded", "The body has \(texts.count) hashes; pass at most \(limit) at once.")
      }
      var hashes: [[UInt8]] = []
      for text in texts {
        guard let hash = [UInt8](hexadecimal: text, count: count) else {
          throw .malformed("'\(text.prefix(80))' is not a hash of \(count * 2) hexadecimal digits.")
        }
        hashes.append(hash)
      }
      return hashes
    }
  }
#endif
