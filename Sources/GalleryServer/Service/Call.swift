#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger

  /// A request on its way through a route.
  struct Call: Sendable {
    let request: HTTPRequest
    /// The segments of the path for which the route has placeholders, in their order.
    let parameters: [String]
    let key: Keyring.Key?
    let server: GalleryServer
    /// How many changes of keys there had been before the key was looked for, see ``Keyring/shown(_:by:since:)``.
    let keyChangeCount: UInt64

    /// The key, for requests with the same head.
    var shown: Keyring.Shown? { key.flatMap { server.keyring.shown($0, by: request, since: keyChangeCount) } }

    /// The library as the client of the request's key sees it.
    /// - Throws: ``Problem`` 401 without a key; what ``GalleryServer/usableLibrary()`` throws.
    func library() throws(Problem) -> PhotoLibrary {
      guard let key else { throw .signInRequired }
      return try server.usableLibrary().as(key.client)
    }

    /// The library as a fetch looks at it: as the client of the key, or for the owner as the client that it names.
    func library(of fetch: FetchRequest) throws(Problem) -> PhotoLibrary {
      guard let key else { throw .signInRequired }
      return try fetch.view(of: try server.usableLibrary(), for: key)
    }

    /// A value of the query that may stand there once.
    func query(_ name: String) throws(Problem) -> String? {
      let values = request.target.query.all(name)
      guard values.count < 2 else { throw .malformed("The query has '\(name)' \(values.count) times; pass it once.") }
      return values.first
    }

    /// A whole number of the query, 0 or more.
    func count(_ name: String) throws(Problem) -> Int? {
      guard let text = try query(name) else { return nil }
      guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
        throw .malformed("'\(name)' is '\(text.prefix(40))'; pass a whole number, 0 or more.")
      }
      return number
    }

    /// Checks that the query has no other names.
    func checkQuery(_ names: [String]) throws(Problem) {
      for (name, _) in request.target.query.pairs where !names.contains(name) {
        throw .malformed(
          "The query has no parameter '\(name.prefix(40))' here; it has \(names.sorted().joined(separator: ", ")).")
      }
    }
  }

  extension Call {
    /// How many archives and lists of lines a key may have open, and how many all keys of a share link: each holds some
    /// half a megabyte while its client does not read.
    static let (contentsOfKey, contentsOfShare) = (32, 256)

    /// How many requests of a key, and of all keys of a share link, may wait for renditions at once; each holds a
    /// connection. A browser asks for a hundred pictures at once where a proxy speaks HTTP/2 with it.
    static let (waitsOfKey, waitsOfShare) = (128, 1024)

    /// Takes a place for a stream of contents, such as an archive.
    /// - Throws: ``Problem`` 429 if the key has too many, or the keys of its share link together.
    func contentPlace() throws(Problem) -> KeyPlace { try KeyPlace(server.contents, key) }
  }
#endif
