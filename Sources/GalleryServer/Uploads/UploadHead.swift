#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import PhotoLedger

  // What the fields of a request say about an upload.
  //
  //   draft-ietf-httpbis-resumable-upload      its form up to interop version 3
  //   Upload-Complete: ?0                      Upload-Incomplete: ?1        more will come
  //   Upload-Complete: ?1                      Upload-Incomplete: ?0        the body is the last
  //
  // Either is read, both may be sent if they agree, and every answer has both. A request with neither is a plain one:
  // its body is the whole file. Everything here comes from outside: numbers have at most 15 digits (RFC 9651, 3.3.1), a
  // name is one component of a path without control characters, a digest has its exact length. What joins or parts
  // letters in a name belongs to it, as in Persian words and in emoji of families.

  /// The fields of a request that are about an upload.
  struct UploadHead: Sendable, Equatable {
    /// Whether the body ends the upload; nil for a plain request.
    var isLast: Bool?
    /// Where the body begins, in bytes.
    var offset: UInt64?
    /// The size of the whole file in bytes.
    var length: UInt64?
    /// The version of the draft that the client names.
    var version: Int?
    /// What the file is called, without folders.
    var name: String?
    /// The SHA-256 that the whole file has to have (RFC 9530).
    var sha256: [UInt8]?
    /// The SHA-1 that the whole file has to have.
    var sha1: [UInt8]?

    init() {}

    init(_ request: HTTPRequest) throws(Problem) {
      let complete = try Self.flag("Upload-Complete", request)
      let incomplete = try Self.flag("Upload-Incomplete", request)
      if let complete, let incomplete, complete == incomplete {
        throw .malformed("Upload-Complete and Upload-Incomplete contradict each other; send one of them.")
      }
      isLast = complete ?? incomplete.map { !$0 }
      offset = try Self.number("Upload-Offset", request)
      length = try Self.number("Upload-Length", request)
      version = try Self.number("Upload-Draft-Interop-Version", request).map { Int(clamping: $0) }
      sha256 = try Self.digest(request)
      let spelled =
        try request.fields["content-disposition"].flatMap { (field) throws(Problem) in try Self.filename(in: field) }
      name = try (spelled ?? request.target.query["name"]).flatMap { (text) throws(Problem) in try Self.name(text) }
    }

    /// A field that may stand there once.
    private static func value(_ name: String, _ request: HTTPRequest) throws(Problem) -> String? {
      let values = request.fields.all(name.lowercased())
      guard values.count < 2 else { throw .malformed("\(name) occurs \(values.count) times; send it once.") }
      return values.first?.trimmingCharacters(in: .whitespaces)
    }

    private static func flag(_ name: String, _ request: HTTPRequest) throws(Problem) -> Bool? {
      switch try value(name, request) {
      case nil: return nil
      case "?1": return true
      case "?0": return false
      case let text?: throw .malformed("\(name) is '\(text.prefix(40))'; send ?1 or ?0.")
      }
    }

    private static func number(_ name: String, _ request: HTTPRequest) throws(Problem) -> UInt64? {
      guard let text = try value(name, request) else { return nil }
      guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw .malformed("\(name) is '\(text.prefix(40))'; send a whole number of at most 15 digits.")
      }
      return UInt64(text)
    }

    /// The SHA-256 of `Repr-Digest`; nil without the field. Other algorithms are passed over beside it, as the standard
    /// asks.
    /// - Throws: ``Problem`` 400 for other algorithms alone: their client relies on a check that is not made.
    private static func digest(_ request: HTTPRequest) throws(Problem) -> [UInt8]? {
      var found: [UInt8]?
      var isStated = false
      for member in request.fields.all("repr-digest").flatMap({ $0.split(separator: ",") }) {
        let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          .map { $0.trimmingCharacters(in: .whitespaces) }
        isStated = isStated || !parts[0].isEmpty
        guard parts.count == 2, parts[0].lowercased() == "sha-256" else { continue }
        guard parts[1].count > 2, parts[1].hasPrefix(":"), parts[1].hasSuffix(":"),
          let data = Data(base64Encoded: String(parts[1].dropFirst().dropLast())), data.count == 32
        else {
          throw .malformed("Repr-Digest has a sha-256 that is not 32 bytes in base64 between colons.")
        }
        found = Array(data)
      }
      guard found != nil || !isStated else {
        var problem = Problem.malformed("Repr-Digest has no sha-256, the only digest that is checked; send that one.")
        problem.fields = [("Want-Repr-Digest", "sha-256=10")]
        throw problem
      }
      return found
    }

    // MARK: Names

    /// The file name of `Content-Disposition` (RFC 6266): the extended form if it is there.
    static func filename(in field: String) throws(Problem) -> String? {
      guard field.utf8.count <= 2048 else { throw .malformed("Content-Disposition has more than 2,048 bytes.") }
      var plain: String?
      for (name, value) in parameters(of: field) {
        if name == "filename" { plain = plain ?? value }
        guard name == "filename*" else { continue }
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8", let text = parts[2].removingPercentEncoding else {
          throw .malformed("Content-Disposition has a filename* that is not percent-encoded UTF-8.")
        }
        return text
      }
      return plain
    }

    /// The parameters behind the first semicolon; a quoted value may hold semicolons and escaped characters.
    private static func parameters(of field: String) -> [(name: String, value: String)] {
      var parameters: [(String, String)] = []
      var (name, value) = ("", "")
      // What stands before the first semicolon is the type.
      var (isType, isValue, isQuoted, isEscaped) = (true, false, false, false)
      func add() {
        let key = name.trimmingCharacters(in: .whitespaces).lowercased()
        if isValue, !isType, !key.isEmpty { parameters.append((key, value)) }
        isType = false
      }
      for character in field {
        if isEscaped {
          value.append(character)
          isEscaped = false
        } else if isQuoted, character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          isQuoted.toggle()
        } else if character == ";", !isQuoted {
          add()
          (name, value, isValue) = ("", "", false)
        } else if character == "=", !isValue {
          isValue = true
        } else if isValue {
          if isQuoted || character != " " { value.append(character) }
        } else {
          name.append(character)
        }
      }
      add()
      return parameters
    }

    /// A name as the library keeps it: the last component of what was sent.
    static func name(_ text: String) throws(Problem) -> String? {
      let last = text.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
      let name = last.trimmingCharacters(in: .whitespaces)
      guard name.utf8.count <= 255 else {
        throw .malformed("The file name has \(name.utf8.count) bytes; a name has at most 255.")
      }
      guard !name.unicodeScalars.contains(where: isRefused) else {
        throw .malformed(
          "The file name contains a control character, a line separator or a bidirectional control; rename the file.")
      }
      return name.isEmpty || name == "." || name == ".." ? nil : name
    }

    /// Control characters, line separators, and the embeddings, overrides and isolates of the bidirectional algorithm
    /// (UAX #9, section 2), which let a name look as if it had another ending.
    private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.value {
      case 0x202A...0x202E, 0x2066...0x2069: true
      default: [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
      }
    }
  }

  /// The bounds of uploads.
  struct UploadQuota: Sendable {
    /// The largest file in bytes.
    var fileSize: UInt64 = 100 << 30
    /// How many unfinished uploads a client may have.
    var count = 100
    /// How many of those a visitor of a share link may have: all visitors of a link are one client.
    var countOfVisitor = 20
    /// How many bytes the unfinished uploads of a client may have.
    var bytes: UInt64 = 200 << 30
    /// Of how many finished uploads of a client the answers are kept.
    var finished = 1_000
    /// How many bodies are received at once, for all clients.
    var active = 64
    /// How many of one client: as many as an uploader of Immich's sends at most.
    var activeOfClient = 20
    /// After how many seconds without a request an upload, or the record of a finished one, is dropped.
    var seconds = 7 * 86_400.0
    /// How much room the disk keeps, in bytes.
    var reserve: UInt64 = 64 << 20
    /// After how many bytes of one body what came is made durable.
    var markEvery: UInt64 = 32 << 20

    /// Rejects a file that is too large.
    func check(size: UInt64) throws(Problem) {
      guard size > fileSize else { return }
      throw excess("The file has \(size) bytes; at most \(fileSize) are accepted.")
    }

    /// The problem of a file that is too large.
    func excess(_ sentence: String) -> Problem {
      var problem = Problem(413, "limit-exceeded", sentence)
      problem.fields = [("Upload-Limit", field)]
      return problem
    }

    /// `Upload-Limit` as the draft has it. Requests of 50 MB pass the proxies that bound bodies.
    var field: String { "max-size=\(fileSize), max-append-size=50000000, max-age=\(Int(seconds))" }
    /// `Upload-Limit` as PhotoKit's background uploads read it: a bare number.
    var bareField: String { "\(fileSize)" }
  }
#endif
