#if Gallery
  import CMicroHTTPD
  import Foundation
  import Synchronization

  // The head of a request as values.
  //
  // libmicrohttpd parses the head and tolerates much. A proxy in front may read the same bytes in another way, and then
  // the two disagree about where a request ends or who sent it; and names can be made that take long to compare. So a
  // head is checked once, before any part of it is used:
  //
  //     libmicrohttpd ──▶ the same bytes came before? ── yes ──▶ the former parts and notes (KnownHeads.swift)
  //                               │ no
  //                               ▼
  //     fields   names are tokens, no continued line, at most one length and one host ───┐
  //     method   ASCII                                                                   ├─ broken ──▶ `refusal`
  //     target   split, then decoded once: UTF-8, no control character, no `.` or `..` ──┘
  //                               │
  //                               ▼
  //     HTTPRequest ──▶ the application
  //
  // Invariant: a request with a `refusal` is answered with 400, and the application neither plans nor executes it. The
  // head never changes, and copies share it; only the body and what the application learns of the sender come later.
  // While a feed is open, its exchange keeps a shorter head, which is enough for the record (`recorded`).
  //
  // Rejected: correcting what is malformed, such as taking the first of two lengths. Whichever is taken, a proxy may
  // have taken the other one, and what one side reads as a body is the next request for the other.

  /// The head of a request, and its body once that was gathered.
  ///
  /// Copies share the head, which never changes.
  public struct HTTPRequest: Sendable {
    private final class Head: Sendable {
      let method: String
      let target: HTTPTarget
      let fields: HTTPFields
      let peer: String
      let sender: HTTPSender
      let refusal: String?
      let hasBody: Bool

      init(
        _ method: String, _ target: HTTPTarget, _ fields: HTTPFields, peer: String, refusal: String? = nil,
        hasBody: Bool, sender: HTTPSender = HTTPSender()
      ) {
        (self.method, self.target, self.fields, self.peer) = (method, target, fields, peer)
        (self.refusal, self.hasBody, self.sender) = (refusal, hasBody, sender)
      }
    }

    private let head: Head
    /// The method, as the client wrote it: methods are case-sensitive (RFC 9110, 9.1). Empty if it is not ASCII.
    public var method: String { head.method }
    /// What is asked for; empty where the client's target cannot be decoded.
    public var target: HTTPTarget { head.target }
    /// The fields of the head.
    public var fields: HTTPFields { head.fields }
    /// Which fields the head has, and what it asks for.
    public var identity: HTTPHeadIdentity { HTTPHeadIdentity(head.fields, head.target) }
    /// The numeric address of the peer, without its port; a proxy's where there is one. Empty if it is unknown.
    public var peer: String { head.peer }
    /// The whole body; empty until it was gathered.
    public internal(set) var body: [UInt8] = []
    /// Who sent the request, once the application knows.
    public var sender: HTTPSender { head.sender }
    /// Why the request is rejected without asking the application, if it is malformed.
    var refusal: String? { head.refusal }
    /// Whether a body follows the head.
    var hasBody: Bool { head.hasBody }

    /// A request without a connection, for tests of an application.
    public init(method: String, target: HTTPTarget, fields: HTTPFields = [], body: [UInt8] = [], peer: String = "") {
      head = Head(method, target, fields, peer: peer, hasBody: fields.announceBody)
      self.body = body
    }

    /// The head of a request that libmicrohttpd has read.
    /// - Parameter path: the target without its query, ended by a zero.
    init(_ connection: OpaquePointer, _ method: String, target path: UnsafePointer<CChar>, known: KnownHeads) {
      let peer = ConnectionWatch.connection(connection)?.peer ?? ""
      // A method is a token, as a field's name is (`ReadFields`).
      let isASCII = method.utf8.allSatisfy { $0 < 0x80 }
      let method = isASCII ? method : ""
      // The length of a body is its own, so heads of uploads seldom come again.
      let read = method == "GET" || method == "HEAD" ? known.fields(of: connection) : ReadFields(connection)
      do throws(HTTPServerError) {
        let target = try known.target(of: connection, path)
        let refusal = isASCII ? read.refusal : "The method of the request is not ASCII."
        head = Head(method, target, read.fields, peer: peer, refusal: refusal, hasBody: read.hasBody)
      } catch {
        head = Head(
          method, HTTPTarget(), read.fields, peer: peer, refusal: error.description, hasBody: read.hasBody)
      }
    }

    private init(_ head: Head) { self.head = head }

    /// The request as its record names it: without its body, and of its target the path alone.
    var recorded: HTTPRequest {
      HTTPRequest(
        Head(
          method, HTTPTarget(pathAlone: target.path), fields, peer: peer, refusal: refusal, hasBody: hasBody,
          sender: sender))
    }

    /// Rejects a head whose body could end elsewhere for a proxy in front (RFC 9112, 6.3): libmicrohttpd takes the
    /// first of two lengths, and a proxy perhaps the second. So is a length that libmicrohttpd counts to and an `Int`
    /// does not: a body would come that `hasBody` knows nothing of, without a deadline.
    fileprivate static func checkFraming(_ fields: HTTPFields) throws(HTTPServerError) {
      // Most requests have no body, and one host.
      var (bodies, hosts) = (0, 0)
      for (name, _) in fields.pairs {
        if name == "content-length" || name == "transfer-encoding" { bodies += 1 }
        if name == "host" { hosts += 1 }
      }
      if bodies == 0, hosts < 2 { return }
      let lengths = fields.all("content-length")
      let codings = fields.all("transfer-encoding")
      guard lengths.count + codings.count < 2 else {
        throw HTTPServerError(description: "The request states the length of its body more than once.")
      }
      if let length = lengths.first {
        guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
          throw HTTPServerError(description: "'Content-Length' is not a number of bytes.")
        }
        guard Int(length) != nil else {
          throw HTTPServerError(description: "'Content-Length' is larger than any body may be.")
        }
      }
      // The 32 makes capitals small. A `String` would be normalized first (see `ReadFields`).
      if let coding = codings.first, !coding.utf8.elementsEqual("chunked".utf8, by: { $0 | 32 == $1 }) {
        throw HTTPServerError(
          description: "'Transfer-Encoding' is '\(coding.prefix(40))'; only 'chunked' is supported.")
      }
      guard fields.all("host").count < 2 else {
        throw HTTPServerError(description: "The request names more than one host.")
      }
    }

    /// The announced length of the body in bytes; nil if it is not announced or not a number.
    public var contentLength: Int? { fields.contentLength }

    /// The media type of the body, lower-cased and without its parameters.
    public var contentType: String? {
      fields["content-type"].map { $0.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() }
    }
  }

  /// Which fields a head has, and what it asks for: requests of one identity have the same of both.
  ///
  /// Those that were read apart have different ones, although they may be equal. A head of GET or HEAD that comes again
  /// soon has its former identity, unless its target has a query, its path is long, or its fields are
  /// (``HTTPFields/isShort``).
  public struct HTTPHeadIdentity: Equatable, Sendable {
    private let fields: HTTPFields
    private let target: HTTPTarget

    init(_ fields: HTTPFields, _ target: HTTPTarget) { (self.fields, self.target) = (fields, target) }

    /// A number that equal ones share, to find one among others by; different ones may share it too.
    public var mark: UInt { fields.mark &* 31 &+ target.mark }

    /// Whether both have the same fields and the same target.
    public static func == (one: HTTPHeadIdentity, other: HTTPHeadIdentity) -> Bool {
      one.target.mark == other.target.mark && one.fields.mark == other.fields.mark
    }
  }

  extension HTTPFields {
    /// The announced length of a body in bytes; nil if it is not announced or not a number.
    fileprivate var contentLength: Int? { self["content-length"].flatMap { Int($0) } }

    /// Whether they say that a body follows.
    fileprivate var announceBody: Bool { (contentLength ?? 0) > 0 || self["transfer-encoding"] != nil }

    /// The values of the cookies among them, by name; the first of a name counts (RFC 6265).
    public var cookies: [String: String] {
      var cookies: [String: String] = [:]
      for pair in all("cookie").flatMap({ $0.split(separator: ";") }) {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { continue }
        let name = parts[0].trimmingCharacters(in: .whitespaces)
        if cookies[name] == nil { cookies[name] = parts[1].trimmingCharacters(in: .whitespaces) }
      }
      return cookies
    }
  }

  /// Who sent a request: a name that the application gives while it plans the answer, and finds again in the record;
  /// and what the application holds until the request is over.
  public final class HTTPSender: Sendable {
    private struct State {
      var name: String?
      var holder: String?
      var note: String?
      var hasEnded = false
      var ends: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// A sender of whom nothing is known.
    public init() {}

    /// The name; nil if none was given.
    public var name: String? {
      get { state.withLock { $0.name } }
      set { state.withLock { $0.name = newValue } }
    }

    /// Whose bodies are counted together among those that are gathered in memory; nil for a body that only counts
    /// towards the total. It is set while the request is planned.
    public var holder: String? {
      get { state.withLock { $0.holder } }
      set { state.withLock { $0.holder = newValue } }
    }

    /// What the record says of the request where no response says it, such as why a stream ended; nil if nothing.
    public var note: String? {
      get { state.withLock { $0.note } }
      set { state.withLock { $0.note = newValue } }
    }

    /// Calls a closure once, when the response was sent or the client has left; at once if that has happened.
    public func onEnd(_ body: @escaping @Sendable () -> Void) {
      let isLate = state.withLock { state in
        if !state.hasEnded { state.ends.append(body) }
        return state.hasEnded
      }
      if isLate { body() }
    }

    /// The request is over.
    func end() {
      let ends = state.withLock { state in
        state.hasEnded = true
        defer { state.ends = [] }
        return state.ends
      }
      for end in ends { end() }
    }
  }

  /// The fields of a head, and why it is rejected for them.
  ///
  /// Names are compared here, so what is not a token is rejected first: Swift compares texts by their canonical form,
  /// which for thousands of combining marks takes a tenth of a second at each comparison. And a proxy in front that
  /// passes on what is not a token, or a line that continues another, sees other names than libmicrohttpd makes of it:
  /// it would neither replace a field that it alone may set nor find the length of the body.
  struct ReadFields: Sendable {
    /// None if a name is not a token, or if a line continues another.
    let fields: HTTPFields
    let refusal: String?
    /// Whether they say that a body follows.
    let hasBody: Bool

    init(_ connection: OpaquePointer) {
      var isFolded = false
      let read = HTTPFields(headOf: connection, isFolded: &isFolded)
      guard !isFolded else {
        (fields, refusal, hasBody) = ([], "A line in the request's head continues the one before it.", false)
        return
      }
      guard read.pairs.allSatisfy({ Self.isToken($0.name) }) else {
        (fields, refusal, hasBody) = ([], "The name of a field in the request's head is not a token.", false)
        return
      }
      (fields, hasBody) = (read, read.announceBody)
      do throws(HTTPServerError) {
        try HTTPRequest.checkFraming(fields)
        refusal = nil
      } catch { refusal = error.description }
    }

    /// Whether a name is a token (RFC 9110, 5.6.2), whose letters are small already.
    private static func isToken(_ name: String) -> Bool {
      !name.isEmpty
        && name.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
          // -.!#$%&'*+^_`|~
          case 0x2D, 0x2E, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x5E...0x60, 0x7C, 0x7E: true
          default: false
          }
        }
    }
  }

  /// Names with values, in their order; names are compared without regard to ASCII case.
  public struct HTTPFields: Sendable, ExpressibleByArrayLiteral {
    fileprivate typealias Entries = [(name: String, value: String)]

    /// The pairs, and what is noted of them: copies of the fields share both.
    private final class List: Sendable {
      let entries: Entries
      let note = HTTPNote()
      init(_ entries: Entries) { self.entries = entries }
    }

    /// That of all fields without a pair.
    private static let none = List([])
    private let list: List
    private var entries: Entries { list.entries }
    /// What the application works out from the fields alone; copies of the fields share it.
    /// - Parameter make: works it out, if nothing of that type was yet.
    public func noted<Content: AnyObject & Sendable>(_ make: () -> Content) -> Content { list.note.content(make) }
    /// A number that copies of the fields share, and no others that are in memory at the same time.
    fileprivate var mark: UInt { UInt(bitPattern: ObjectIdentifier(list)) }

    fileprivate init(entries: Entries) { list = entries.isEmpty ? Self.none : List(entries) }

    /// Fields from pairs of name and value.
    public init(_ pairs: [(String, String)]) { self.init(entries: pairs.map { ($0.lowercased(), $1) }) }

    /// Fields from pairs of name and value.
    public init(arrayLiteral elements: (String, String)...) { self.init(elements) }

    /// What libmicrohttpd hands over, a pair at a time.
    private struct Handed {
      var entries: Entries = []
      var isFolded = false
    }

    /// The fields of a head, with the ASCII letters of their names in lower case.
    /// - Parameter isFolded: becomes true if a line continues another.
    fileprivate init(headOf connection: OpaquePointer, isFolded: inout Bool) {
      var handed = Handed()
      handed.entries.reserveCapacity(8)
      withUnsafeMutablePointer(to: &handed) { handed in
        _ = MHD_get_connection_values_n(
          connection, MHD_ValueKind.HEADER_KIND,
          { list, _, name, nameCount, value, valueCount in
            HTTPFields.append(list, name, nameCount, value, valueCount, isHead: true)
          }, handed)
      }
      if handed.isFolded { isFolded = true }
      self.init(entries: handed.entries)
    }

    /// The pairs of a query as they were written; the case of their names counts.
    init(queryOf connection: OpaquePointer) {
      var handed = Handed()
      withUnsafeMutablePointer(to: &handed) { handed in
        _ = MHD_get_connection_values_n(
          connection, MHD_ValueKind.GET_ARGUMENT_KIND,
          { list, _, name, nameCount, value, valueCount in
            HTTPFields.append(list, name, nameCount, value, valueCount, isHead: false)
          }, handed)
      }
      self.init(entries: handed.entries)
    }

    private static func append(
      _ list: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
      _ value: UnsafePointer<CChar>?, _ valueCount: Int, isHead: Bool
    ) -> MHD_Result {
      guard let list, let name else { return MHD_Result.NO }
      let handed = list.assumingMemoryBound(to: Handed.self)
      if isHead, chttp_is_folded(name, nameCount, value, valueCount) != 0 { handed.pointee.isFolded = true }
      let key = UnsafeRawBufferPointer(start: name, count: nameCount)
      let text = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount)
      handed.pointee.entries.append(
        (isHead ? lowercased(key) : String(decoding: key, as: UTF8.self), String(decoding: text, as: UTF8.self)))
      return MHD_Result.YES
    }

    /// The ASCII letters of a name in lower case.
    private static func lowercased(_ name: UnsafeRawBufferPointer) -> String {
      String(unsafeUninitializedCapacity: name.count) { room in
        for (index, byte) in name.enumerated() { room[index] = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        return name.count
      }
    }

    /// The first value of a name; names of queries keep their case, names of header fields are lower-cased.
    public subscript(name: String) -> String? { entries.first { $0.name == name }?.value }

    /// All values of a name, in their order.
    public func all(_ name: String) -> [String] { entries.filter { $0.name == name }.map(\.value) }

    /// All pairs, in their order.
    public var pairs: [(name: String, value: String)] { entries }
  }

  /// What a request asks for: the path in its segments and the query, percent-decoded.
  ///
  /// A target is decoded once, after it was split, so an escaped slash stays inside its segment. What decodes to
  /// something that is not UTF-8, to a control character, or to `.` or `..` is rejected: no file or identifier has such
  /// a name.
  public struct HTTPTarget: Sendable {
    /// The parts, and what is noted of them: copies of the target share both.
    private final class Parts: Sendable {
      let path: String
      let segments: [String]
      let query: HTTPFields
      let note = HTTPNote()

      init(_ path: String, _ segments: [String], _ query: HTTPFields) {
        (self.path, self.segments, self.query) = (path, segments, query)
      }
    }

    private let parts: Parts
    /// The path as the client wrote it, without the query; for logs.
    public var path: String { parts.path }
    /// The decoded segments between the slashes.
    public var segments: [String] { parts.segments }
    /// The decoded query.
    public var query: HTTPFields { parts.query }
    /// What the application works out from the target alone; copies of the target share it.
    /// - Parameter make: works it out, if nothing of that type was yet.
    public func noted<Content: AnyObject & Sendable>(_ make: () -> Content) -> Content { parts.note.content(make) }
    /// A number that copies of the target share, and no others that are in memory at the same time.
    fileprivate var mark: UInt { UInt(bitPattern: ObjectIdentifier(parts)) }

    init() { parts = Parts("", [], []) }

    /// A target for a record: it has neither segments nor a query.
    init(pathAlone path: String) { parts = Parts(path, [], []) }

    /// Decodes a path and a query that are split already.
    /// - Throws: ``HTTPServerError`` that names what is malformed.
    init(path: String, query: HTTPFields) throws(HTTPServerError) {
      guard path.utf8.first == UInt8(ascii: "/") else {
        throw HTTPServerError(description: "The target of a request must begin with a slash.")
      }
      let segments: [String]
      if let plain = Self.plainSegments(path) { segments = plain } else { segments = try Self.decodedSegments(path) }
      var pairs: [(String, String)] = []
      for (name, value) in query.pairs {
        pairs.append((try Self.decoded(Self.spaced(name)), try Self.decoded(Self.spaced(value))))
      }
      parts = Parts(path, segments, HTTPFields(verbatim: pairs))
    }

    private static func decodedSegments(_ path: String) throws(HTTPServerError) -> [String] {
      var segments: [String] = []
      for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
        let segment = try decoded(Substring(part))
        // By bytes, since a segment may have too many marks to be compared.
        guard segment.utf8.count > 2 || !segment.utf8.allSatisfy({ $0 == UInt8(ascii: ".") }) else {
          throw HTTPServerError(
            description: "The path contains the segment '\(segment)'; resolve it before sending the request.")
        }
        segments.append(segment)
      }
      return segments
    }

    /// The segments of a path in which nothing is escaped and nothing is to be rejected; nil for any other.
    private static func plainSegments(_ path: String) -> [String]? {
      path.utf8.withContiguousStorageIfAvailable { bytes -> [String]? in
        var segments: [String] = []
        segments.reserveCapacity(8)
        var start = 0
        for (index, byte) in bytes.enumerated() {
          guard isPlain(byte) else { return nil }
          guard byte == UInt8(ascii: "/") || index == bytes.count - 1 else { continue }
          let end = byte == UInt8(ascii: "/") ? index : bytes.count
          if end > start {
            let part = UnsafeBufferPointer(rebasing: bytes[start..<end])
            if part.count <= 2, part.allSatisfy({ $0 == UInt8(ascii: ".") }) { return nil }
            segments.append(String(decoding: part, as: UTF8.self))
          }
          start = index + 1
        }
        return segments
      } ?? nil
    }

    /// Whether a byte stands for itself, and is to be rejected nowhere.
    private static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "%") }

    /// Decodes a target such as `/v1/fetches?limit=3`, for tests of an application.
    /// - Throws: ``HTTPServerError`` that names what is malformed.
    public init(_ text: String) throws(HTTPServerError) {
      let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      var pairs: [(String, String)] = []
      for pair in parts.dropFirst().first?.split(separator: "&") ?? [] {
        let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        pairs.append((String(words[0]), words.count == 2 ? String(words[1]) : ""))
      }
      try self.init(path: String(parts[0]), query: HTTPFields(verbatim: pairs))
    }

    /// A plus sign stands for a blank in queries (WHATWG URL, application/x-www-form-urlencoded).
    private static func spaced(_ text: String) -> String {
      guard text.utf8.contains(UInt8(ascii: "+")) else { return text }
      return String(decoding: text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    private static func decoded(_ text: some StringProtocol) throws(HTTPServerError) -> String {
      // Most of what is asked for is plain: nothing is escaped, and nothing is to be rejected.
      if text.utf8.allSatisfy(isPlain) { return String(text) }
      guard let bytes = unescaped(text), let decoded = String(validating: bytes, as: UTF8.self) else {
        throw HTTPServerError(
          description: "The target contains a percent escape that is not UTF-8: '\(text.prefix(80))'.")
      }
      // The control characters of Unicode, its category Cc.
      guard !decoded.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) else {
        throw HTTPServerError(description: "The target contains a control character.")
      }
      return decoded
    }

    /// The bytes that a text spells with percent escapes (RFC 3986, 2.1); nil if an escape is not one.
    ///
    /// Foundation's decoding takes a tenth of the time of a small answer, since it goes through UTF-16.
    private static func unescaped(_ text: some StringProtocol) -> [UInt8]? {
      var (bytes, rest) = ([UInt8](), text.utf8[...])
      bytes.reserveCapacity(rest.count)
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
          bytes.append(byte)
          continue
        }
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
        bytes.append(high << 4 | low)
      }
      return bytes
    }

    /// The value of a hexadecimal digit; nil for another character.
    private static func digit(_ byte: UInt8) -> UInt8? {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
      case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
      default: nil
      }
    }
  }

  extension HTTPFields {
    /// Fields whose names keep their case, as those of a query do.
    init(verbatim pairs: [(String, String)]) { self.init(entries: pairs.map { ($0, $1) }) }
  }
#endif
