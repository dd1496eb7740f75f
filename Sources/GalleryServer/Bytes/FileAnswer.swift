#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger

  /// A file whose bytes never change under its URL, answered whole, in part, or not again.
  struct FileAnswer {
    /// The folder of the library where the path begins; nil: it is absolute.
    var folder: LibraryFolder?
    /// The file.
    let path: String
    /// How many bytes it has to have.
    let size: UInt64
    let look: FileLook
    /// Whether it is a referenced file, which may be a symbolic link as for an import; the library has no links.
    var isReferenced = false
    /// Where the file is kept open; nil: it is opened for each request.
    var files: OpenFiles?

    /// Opens the file for a request, and answers with it.
    /// - Throws: ``Problem`` if the file is missing or has another size.
    func response(_ request: HTTPRequest) throws -> HTTPResponse {
      // Nearly every picture of a grid is asked for whole, by a client that has nothing of it.
      let isWhole = request.knownFields.wantsWhole
      if isWhole, let made = files?.made(path, look, size: size) { return HTTPResponse(made) }
      let tag = "\"\(look.tag)\""
      let fields =
        Headers.common + [
          ("ETag", tag), ("Cache-Control", "private, max-age=31536000, immutable"), ("Accept-Ranges", "bytes"),
          ("Vary", "Authorization, Cookie"), ("Content-Type", look.contentType),
          ("Content-Disposition", look.disposition),
        ]
      if request.matches(tag) { return HTTPResponse(304, fields) }
      let file = try opened()
      if isWhole, let files, size <= HTTPResponse.copiedSize {
        let made: HTTPMadeResponse
        do throws(HTTPServerError) { made = try HTTPMadeResponse(200, fields, copyOf: file, 0..<size) } catch {
          throw Problem(500, "storage", "The file of this resource cannot be read; its owner has to restore it.")
        }
        files.keep(made, look, of: file, at: path)
        return HTTPResponse(made)
      }
      return request.answer(with: file, size: size, tag: tag, fields)
    }

    /// The file, checked to be the one that is meant by its size.
    func opened() throws(Problem) -> HTTPFile {
      if let files { return try files.file(path, in: folder, size: size) }
      return try Self.open(path, in: folder, isReferenced: isReferenced, size: size).file
    }

    /// The flags to open a file with: a symbolic link is followed only where it is a referenced file.
    static func flags(isReferenced: Bool) -> Int32 {
      O_RDONLY | O_CLOEXEC | O_NONBLOCK | (isReferenced ? 0 : O_NOFOLLOW)
    }

    /// Opens a file that has to have a size.
    /// - Throws: ``Problem`` 404 if it is missing, 500 if it has another size, 503 if no file can be opened now.
    static func open(
      _ path: String, in folder: LibraryFolder?, isReferenced: Bool = false, size: UInt64
    ) throws(Problem) -> (file: HTTPFile, status: stat) {
      let flags = flags(isReferenced: isReferenced)
      let descriptor = folder?.open(path, flags) ?? Foundation.open(path, flags)
      guard descriptor >= 0 else { throw Problem.unopened(errno) }
      let file = HTTPFile(owning: descriptor)
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, UInt64(status.st_size) == size else {
        throw Problem(
          500, "invalid-resource", "The file of this resource has another size; its owner has to restore it.")
      }
      return (file, status)
    }

  }

  /// What a client receives with a file beside its bytes.
  struct FileLook: Equatable, Sendable {
    /// The strong tag, without its quotation marks.
    let tag: String
    let contentType: String
    /// The name under which it is saved.
    let name: String
    /// Whether a browser shows it, as opposed to saving it.
    let isShown: Bool

    /// As RFC 6266 has it.
    var disposition: String { Self.disposition(name, isShown: isShown) }

    /// The name under which bytes are saved (RFC 6266, RFC 8187): no line break and no quotation mark survives.
    static func disposition(_ name: String, isShown: Bool) -> String {
      let kind = isShown ? "inline" : "attachment"
      // Most names of cameras need no escape.
      if name.utf8.allSatisfy(isUnreserved) { return "\(kind); filename=\"\(name)\"; filename*=UTF-8''\(name)" }
      let plain = String(
        name.unicodeScalars.map { $0.isASCII && isUnreserved(UInt8($0.value)) ? Character($0) : "_" })
      return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(name.percentEscaped(unless: isUnreserved))"
    }

    /// Whether a byte stands for itself everywhere (RFC 3986, 2.3).
    private static func isUnreserved(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        true
      default: false
      }
    }
  }

  extension HTTPRequest {
    /// The answer from a file of which the client does not hold all: the whole, or the part that is asked for.
    /// - Parameters:
    ///   - tag: the tag of the content, with its quotation marks.
    ///   - fields: the fields of an answer that has a content, the tag included.
    func answer(
      with file: HTTPFile, size: UInt64, tag: String, _ fields: [(name: String, value: String)]
    ) -> HTTPResponse {
      // A part of another content is of no use to the client: it is sent the whole (RFC 9110, 13.1.5).
      // For any method but GET a range means nothing (14.2).
      let condition = self.fields["if-range"]
      let isPart = method == "GET" && (condition == nil || condition == tag)
      switch HTTPRange(isPart ? self.fields["range"] : nil, count: size) {
      case .whole: return HTTPResponse(200, fields, .file(file, 0..<size))
      case .part(let part):
        let place = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
        return HTTPResponse(206, fields + [("Content-Range", place)], .file(file, part))
      case .unsatisfiable:
        return HTTPResponse(
          416, Headers.common + [("Content-Range", "bytes */\(size)"), ("Cache-Control", "no-store")])
      }
    }

    /// Whether the client holds what has the tag, given with its quotation marks.
    func matches(_ tag: String) -> Bool {
      fields.all("if-none-match").contains { $0 == "*" || $0.contains(tag) }
    }
  }
#endif
