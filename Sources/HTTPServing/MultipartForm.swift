#if Gallery
  import CMicroHTTPD
  import Synchronization

  // The body of a form with files (multipart/form-data, RFC 7578), split while it comes.
  //
  //   body, piece by piece ──▶ read ──▶ MHD_PostProcessor ──▶ .part(name, file name), .bytes, .bytes, .part, …
  //   its end              ──▶ end  ──▶ was the closing boundary there?
  //
  // libmicrohttpd splits; this wrapper decides what it is given and how much it may make of it.
  //
  //   rule of MHD_PostProcessor                                    answer
  //   -----------------------------------------------------------  ------------------------------------------------
  //   takes everything after `boundary=` for the boundary, even     the field must end with a boundary of 2 to 70
  //   a NUL (CVE-2023-27371) or a lone quotation mark; rejects      characters that RFC 2046 allows
  //   one of a single character
  //   points into the head of the request, which is gone with       `Exchange.complete` calls `close`, which waits for
  //   the connection                                                a `read` that runs; a later one throws
  //   a line longer than its buffer is an error; any number of      `framingLimit` bounds all that is not content, for
  //   shorter ones is passed over                                   the whole body; `partLimit` the parts
  //   may announce an empty beginning of a part twice               equal announcements without content are one
  //   reports a body without its end only when it is destroyed      `end` destroys it, and throws
  //   leaves `\"` in a file name as it is, and ends the name there  Serving.md says so
  //
  // Invariant: the processor is called by one thread at a time, under the lock, and never after `close`.
  //
  // Rejected: an own parser (to be fuzzed for ever), and splitting on the threads of connections: a portion of a
  // quarter of a megabyte takes a tenth of a millisecond, for which all other connections of that thread would wait.

  /// Splits the body of a form into its parts.
  public final class MultipartForm: Sendable {
    /// What a part is.
    public struct Part: Sendable, Hashable {
      /// The name of the field.
      public let name: String
      /// What the client calls the file, as it was sent; nil for a plain field.
      public let filename: String?

      /// Whether two parts are announced by the same bytes: a file name may have more marks than can be compared.
      public static func == (one: Part, other: Part) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8)
          && one.filename.map { Array($0.utf8) } == other.filename.map { Array($0.utf8) }
      }
    }

    /// Something that came.
    public enum Piece: Sendable, Hashable {
      /// A part begins.
      case part(Part)
      /// Content of the part that began last.
      case bytes([UInt8])
    }

    /// What the processor hands over during one call.
    private struct Collected {
      var pieces: [Piece] = []
      /// The part that was announced, and nothing of its content yet.
      var announced: Part?
      var partCount = 0
      var contentCount = 0
      var refusal: String?
    }

    private struct State {
      /// The address of libmicrohttpd's processor; 0 once it is destroyed.
      var processor: UInt
      var receivedCount = 0
    }

    /// The longest line between parts.
    static let lineLimit = 8 << 10
    /// How much of a body may be something else than content.
    static let framingLimit = 128 << 10
    static let partLimit = 64
    /// The most bytes of a part's name: it is compared and hashed, which takes long for thousands of marks.
    static let nameLimit = 100

    /// Guarded by its lock; so is what `collected` points to.
    private let state: Mutex<State>
    /// The address of what the processor hands over to.
    private let collected: UInt

    /// - Throws: ``HTTPServerError`` for a body that is not such a form, or whose boundary cannot be used.
    init(_ connection: OpaquePointer?, _ request: HTTPRequest) throws(HTTPServerError) {
      try Self.check(request.fields.all("content-type"))
      let place = UnsafeMutablePointer<Collected>.allocate(capacity: 1)
      place.initialize(to: Collected())
      collected = UInt(bitPattern: place)
      let processor = MHD_create_post_processor(
        connection, Self.lineLimit,
        { place, _, name, filename, _, _, bytes, offset, count in
          MultipartForm.collect(place, name, filename, bytes, offset, count)
        }, place)
      state = Mutex(State(processor: UInt(bitPattern: processor)))
      guard processor != nil else {
        throw HTTPServerError(description: "The server cannot read this form now; send it again.")
      }
    }

    deinit {
      close()
      let place = UnsafeMutablePointer<Collected>(bitPattern: collected)
      place?.deinitialize(count: 1)
      place?.deallocate()
    }

    /// Rejects what is not a form with files, and boundaries that the processor would misread.
    private static func check(_ types: [String]) throws(HTTPServerError) {
      let type = types.first ?? ""
      guard types.count == 1, type.prefix(19).lowercased() == "multipart/form-data",
        let start = type.firstRange(of: "boundary=")
      else {
        throw HTTPServerError(
          description: "The body must be a form; send it with Content-Type: multipart/form-data and a boundary.")
      }
      var boundary = type[start.upperBound...].utf8[...]
      if boundary.first == UInt8(ascii: "\""), boundary.last == UInt8(ascii: "\""), boundary.count > 2 {
        boundary = boundary.dropFirst().dropLast()
      }
      guard (2...70).contains(boundary.count), boundary.allSatisfy(isBoundary) else {
        throw HTTPServerError(
          description: "The boundary of the form must end its Content-Type, and have 2 to 70 letters or digits.")
      }
    }

    private static func isBoundary(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: "'()+_,-./:=?".utf8.contains(byte)
      }
    }

    /// Splits the next bytes of the body.
    /// - Returns: what came complete, in its order; the rest follows with a later call.
    /// - Throws: ``HTTPServerError`` that says what is wrong; the form is of no more use then.
    public func read(_ bytes: [UInt8]) throws(HTTPServerError) -> [Piece] {
      try state.withLock { (state) throws(HTTPServerError) in
        guard let processor = OpaquePointer(bitPattern: state.processor),
          let place = UnsafeMutablePointer<Collected>(bitPattern: collected)
        else { throw HTTPServerError(description: "The form was ended before all of it came.") }
        state.receivedCount += bytes.count
        let result = bytes.withUnsafeBytes { bytes in
          bytes.isEmpty
            ? MHD_Result.YES
            : MHD_post_process(processor, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        if let refusal = place.pointee.refusal { throw HTTPServerError(description: refusal) }
        guard result == MHD_Result.YES else {
          throw HTTPServerError(description: "The body is not a well-formed form of several parts.")
        }
        guard state.receivedCount - place.pointee.contentCount <= Self.framingLimit + Self.lineLimit else {
          throw HTTPServerError(
            description: "The form has more than \(Self.framingLimit) bytes between its parts.")
        }
        defer { place.pointee.pieces = [] }
        return place.pointee.pieces
      }
    }

    /// Ends the form.
    /// - Throws: ``HTTPServerError`` if the closing boundary has not come.
    public func end() throws(HTTPServerError) {
      // What has not begun ends without a complaint of the processor.
      let (isWhole, partCount) = state.withLock { state in
        (Self.destroy(&state), UnsafeMutablePointer<Collected>(bitPattern: collected)?.pointee.partCount ?? 0)
      }
      guard isWhole, partCount > 0 else {
        throw HTTPServerError(description: "The form ends before its closing boundary.")
      }
    }

    /// Ends a form whose connection is about to go.
    func close() { _ = state.withLock { Self.destroy(&$0) } }

    /// - Returns: whether the form had come to its end.
    private static func destroy(_ state: inout State) -> Bool {
      guard let processor = OpaquePointer(bitPattern: state.processor) else { return false }
      state.processor = 0
      return MHD_destroy_post_processor(processor) == MHD_Result.YES
    }

    /// Takes what the processor hands over; called during `read`, under the lock.
    private static func collect(
      _ place: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?, _ filename: UnsafePointer<CChar>?,
      _ bytes: UnsafePointer<CChar>?, _ offset: UInt64, _ count: Int
    ) -> MHD_Result {
      guard let place = place?.assumingMemoryBound(to: Collected.self) else { return MHD_Result.NO }
      func refuse(_ reason: String) -> MHD_Result {
        place.pointee.refusal = place.pointee.refusal ?? reason
        return MHD_Result.NO
      }
      if offset == 0 {
        guard let name else { return refuse("A part of the form has no name.") }
        guard let text = String(validatingCString: name) else { return refuse("The name of a part is not UTF-8.") }
        guard text.utf8.count <= nameLimit else {
          return refuse("The name of a part has more than \(nameLimit) bytes.")
        }
        let file = filename.map { String(validatingCString: $0) }
        if let file, file == nil { return refuse("The file name of the part '\(text.prefix(40))' is not UTF-8.") }
        let part = Part(name: text, filename: file ?? nil)
        if place.pointee.announced != part {
          place.pointee.partCount += 1
          guard place.pointee.partCount <= partLimit else {
            return refuse("The form has more than \(partLimit) parts.")
          }
          place.pointee.pieces.append(.part(part))
          place.pointee.announced = part
        }
      }
      guard count > 0, let bytes else { return MHD_Result.YES }
      place.pointee.announced = nil
      place.pointee.contentCount += count
      let content = UnsafeRawBufferPointer(start: bytes, count: count)
      // The processor hands over what it finds between two line ends; those of one part belong together.
      if case .bytes(var last)? = place.pointee.pieces.last {
        place.pointee.pieces.removeLast()
        last.append(contentsOf: content)
        place.pointee.pieces.append(.bytes(last))
      } else {
        place.pointee.pieces.append(.bytes(Array(content)))
      }
      return MHD_Result.YES
    }
  }
#endif
