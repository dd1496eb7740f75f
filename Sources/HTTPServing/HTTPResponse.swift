#if Gallery
  import CMicroHTTPD
  import Foundation

  /// A response: status, fields and content.
  public struct HTTPResponse: Sendable {
    /// The content of a response.
    public enum Content: Sendable {
      /// Bytes that are in memory.
      case bytes([UInt8])
      /// Bytes in memory that are sent from where they lie.
      case lent(HTTPBytes)
      /// What was made before, status and fields included.
      case made(HTTPMadeResponse)
      /// A part of an open file, sent by the kernel; the response owns the file.
      case file(HTTPFile, Range<UInt64>)
      /// Bytes that come while the response is being sent.
      case stream(HTTPStream)
    }

    /// The status code (RFC 9110, 15).
    public var status: Int
    /// Fields in their order; a value with a line break makes the response fail.
    public var fields: [(name: String, value: String)]
    /// What follows the head.
    public var content: Content
    /// What the application's record says of the response beside its status; it is not sent.
    public var note: String?

    /// A response.
    public init(_ status: Int, _ fields: [(name: String, value: String)] = [], _ content: Content = .bytes([])) {
      (self.status, self.fields, self.content) = (status, fields, content)
    }

    /// A sentence as plain text.
    public static func plain(_ status: Int, _ sentence: String) -> HTTPResponse {
      let fields = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
      return HTTPResponse(status, fields, .bytes(Array(sentence.utf8) + [0x0A]))
    }

    /// Whether it was made before, and is sent again.
    var isMade: Bool { if case .made = content { true } else { false } }

    /// Lets go of what a response holds that is not sent.
    public func discard() {
      if case .stream(let stream) = content { stream.close() }
    }

    /// A response that was made before.
    public init(_ made: HTTPMadeResponse) { self.init(made.status, [], .made(made)) }

    /// Makes libmicrohttpd's response, which its receiver destroys unless it was made before; nil if libmicrohttpd
    /// rejects a field or has no memory.
    func make(_ server: HTTPServer, isHead: Bool) -> (raw: OpaquePointer, stream: HTTPStream?)? {
      let raw: OpaquePointer?
      var opened: HTTPStream?
      switch content {
      case .made(let made): return (made.raw, nil)
      case .bytes(let bytes): raw = bytes.withUnsafeBytes { Self.copied($0) }
      case .lent(let bytes): raw = bytes.response()
      case .file(let file, let range) where range.count <= Self.copiedSize && !isHead:
        raw = Self.copied(file, range)
      case .file(let file, let range):
        // A duplicate of its own: libmicrohttpd closes it with the response, and a file may be sent several times.
        let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { return nil }
        raw = MHD_create_response_from_fd_at_offset64(UInt64(range.count), descriptor, range.lowerBound)
        if raw == nil { close(descriptor) }
      case .stream(let stream):
        if isHead {
          stream.close()
          // The size is unknown, as it is for GET (RFC 9110, 8.6); nothing is read for HEAD.
          raw = MHD_create_response_from_callback(.max, 128, { _, _, _, _ in -1 }, nil, nil)
          if let raw { chttp_end_with_head(raw) }
        } else {
          opened = stream
          raw = stream.response()
        }
      }
      guard let raw else {
        opened?.close()
        return nil
      }
      guard addFields(to: raw) else {
        opened?.close()
        MHD_destroy_response(raw)
        return nil
      }
      // Only now: the exchange that sends the response also drops the stream from the table.
      if let opened { server.adopt(opened) }
      return (raw, opened)
    }

    fileprivate func addFields(to raw: OpaquePointer) -> Bool {
      for (name, value) in fields where MHD_add_response_header(raw, name, value) != MHD_Result.YES { return false }
      return true
    }
  }

  /// Bytes in memory that never change, for responses that are sent from where they lie.
  public final class HTTPBytes: Sendable {
    // SAFETY: nothing writes to them as long as the owner lives.
    private nonisolated(unsafe) let start: UnsafeRawPointer?
    /// How many there are.
    public let count: Int
    private let owner: any AnyObject & Sendable

    /// Bytes that belong to an object, which neither changes nor moves them.
    public init(_ bytes: UnsafeRawBufferPointer, of owner: any AnyObject & Sendable) {
      (start, count, self.owner) = (bytes.baseAddress, bytes.count, owner)
    }

    /// A copy of bytes.
    public convenience init(copying bytes: UnsafeRawBufferPointer) {
      let copy = Copy(bytes)
      self.init(UnsafeRawBufferPointer(start: copy.start, count: bytes.count), of: copy)
    }

    /// Lends the bytes.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
      try withExtendedLifetime(owner) { try body(UnsafeRawBufferPointer(start: start, count: count)) }
    }

    /// libmicrohttpd's response, which keeps the bytes until it is destroyed.
    fileprivate func response() -> OpaquePointer? {
      let context = Unmanaged.passRetained(self)
      let raw = MHD_create_response_from_buffer_with_free_callback_cls(
        count, UnsafeMutableRawPointer(mutating: start),
        { context in if let context { Unmanaged<HTTPBytes>.fromOpaque(context).release() } }, context.toOpaque())
      if raw == nil { context.release() }
      return raw
    }

    private final class Copy: Sendable {
      // SAFETY: written in `init` and never again.
      nonisolated(unsafe) let start: UnsafeMutableRawPointer

      init(_ bytes: UnsafeRawBufferPointer) {
        start = .allocate(byteCount: max(1, bytes.count), alignment: 16)
        if let from = bytes.baseAddress { start.copyMemory(from: from, byteCount: bytes.count) }
      }

      deinit { start.deallocate() }
    }
  }

  /// A response that is made once, with its fields, and sent as often as it is asked for.
  public final class HTTPMadeResponse: Sendable {
    // SAFETY: libmicrohttpd counts the uses of a response under a lock of its own, and nothing is added to it any more.
    fileprivate nonisolated(unsafe) let raw: OpaquePointer
    /// The status code.
    public let status: Int

    private init(_ raw: OpaquePointer, _ response: HTTPResponse) throws(HTTPServerError) {
      (self.raw, status) = (raw, response.status)
      guard response.addFields(to: raw) else {
        throw HTTPServerError(description: "A field of the response has characters that no field may have.")
      }
    }

    /// Makes a response from a part of a file, whose bytes are copied.
    /// - Throws: ``HTTPServerError`` if the part cannot be read whole, or if a field has a line break.
    public convenience init(
      _ status: Int, _ fields: [(name: String, value: String)], copyOf file: HTTPFile, _ range: Range<UInt64>
    ) throws(HTTPServerError) {
      guard let raw = HTTPResponse.copied(file, range) else {
        throw HTTPServerError(description: "The file of the response cannot be read.")
      }
      try self.init(raw, HTTPResponse(status, fields))
    }

    deinit { MHD_destroy_response(raw) }
  }

  extension HTTPResponse {
    /// Up to how many bytes of a file are read into memory: one call then sends them with the head, where sending from
    /// the file takes a descriptor, two calls and two packets. A picture of a grid is as small.
    public static let copiedSize = 32 << 10

    fileprivate static func copied(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
      MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), MHD_ResponseMemoryMode.RESPMEM_MUST_COPY)
    }

    /// A response from a copy of a part of a file; nil if it cannot be read whole.
    fileprivate static func copied(_ file: HTTPFile, _ range: Range<UInt64>) -> OpaquePointer? {
      let count = range.count
      guard let copy = malloc(max(1, count)) else { return nil }
      var done = 0
      while done < count {
        let got = pread(file.descriptor, copy + done, count - done, off_t(range.lowerBound) + done)
        if got < 0 && errno == EINTR { continue }
        guard got > 0 else {
          free(copy)
          return nil
        }
        done += got
      }
      let raw = MHD_create_response_from_buffer(count, copy, MHD_ResponseMemoryMode.RESPMEM_MUST_FREE)
      if raw == nil { free(copy) }
      return raw
    }
  }

  /// An open file that responses send from.
  public final class HTTPFile: Sendable {
    /// The descriptor, valid as long as this value lives; its position is not used.
    public let descriptor: Int32
    /// Takes an open descriptor over, and closes it in the end.
    public init(owning descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }
  }

  /// The part of a content that a request asks for (RFC 9110, 14.2); only single ranges are served.
  public enum HTTPRange: Equatable, Sendable {
    /// The whole content: there is no range, or one that may be ignored.
    case whole
    /// A part, in bytes from the start.
    case part(Range<UInt64>)
    /// A range that lies after the content: 416.
    case unsatisfiable

    /// Reads the field `Range`.
    ///
    /// What is malformed, has another unit or names several ranges is ignored, as the standard allows.
    /// - Parameters:
    ///   - field: the value of the field; nil if there is none.
    ///   - count: the size of the content in bytes.
    public init(_ field: String?, count: UInt64) {
      self = .whole
      guard let field, let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else { return }
      let spec = field[field.index(after: equals)...].trimmingCharacters(in: .whitespaces)
      let parts = spec.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !spec.contains(",") else { return }
      let (first, last) = (Self.number(parts[0]), Self.number(parts[1]))
      switch (parts[0].isEmpty, parts[1].isEmpty) {
      case (true, true): return
      case (true, false):
        guard let suffix = last else { return }
        self = suffix == 0 || count == 0 ? .unsatisfiable : .part(count - min(suffix, count)..<count)
      case (false, true):
        guard let first else { return }
        self = first < count ? .part(first..<count) : .unsatisfiable
      case (false, false):
        guard let first, let last, Self.isAscending(parts[0], parts[1]) else { return }
        self = first < count ? .part(first..<(min(last, count - 1) + 1)) : .unsatisfiable
      }
    }

    /// Whether two numbers ascend, however many digits they have.
    private static func isAscending(_ first: Substring, _ last: Substring) -> Bool {
      let (first, last) = (first.drop { $0 == "0" }, last.drop { $0 == "0" })
      return first.utf8.count == last.utf8.count ? first <= last : first.utf8.count < last.utf8.count
    }

    /// Digits as a number; the largest one where there are more digits than it has.
    private static func number(_ text: some StringProtocol) -> UInt64? {
      guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return UInt64(text) ?? .max
    }
  }
#endif
