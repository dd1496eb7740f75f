#if Gallery
  import CMicroHTTPD
  import Glibc
  import Synchronization

  // Parts of heads that came before.
  //
  //   the path, without a query ─┐  a quick hash             ┌─ the same bytes: what was made of them, and its note
  //                              ├──────────────▶ two slots ─┤
  //   all fields of the head ────┘                           └─ other bytes: read now, and kept in the first of them
  //
  // A browser sends the same fields with each picture of a grid, over all of its connections, and a picture is asked
  // for by many: reading a head anew makes some twenty strings, which was a third of what a small answer costs beyond
  // libmicrohttpd. What an application works out from a part alone, such as the credential in it, it keeps in the
  // part's `HTTPNote`, and finds it again with the part. What it works out from both parts, it finds again by the
  // `HTTPHeadIdentity` of the head.
  //
  // Invariant: a part is what reading the same bytes anew would give, from any client; permissions are never recorded.
  // A slot holds one part, so three that share two slots take turns, and nothing grows. Fields of GET and HEAD are
  // kept, and paths, up to `limit` bytes each. A head with a line that is continued is not: its name and value alone
  // would be those of another head (`chttp_is_folded`).
  //
  // Rejected: keeping the last head of each connection (an idle feed would hold one more), and a dictionary (a keyed
  // hash of half a kilobyte costs as much as half of the strings; here a client that makes parts collide only has
  // its own parts read anew).

  /// What an application works out from a part of a head, kept as long as the part is.
  struct HTTPNote: ~Copyable, Sendable {
    private let content = Mutex<(any AnyObject & Sendable)?>(nil)

    /// What was noted; if nothing of that type was, it is made and noted.
    borrowing func content<Content: AnyObject & Sendable>(_ make: () -> Content) -> Content {
      if let known = content.withLock({ $0 }) as? Content { return known }
      let made = make()
      content.withLock { $0 = made }
      return made
    }
  }

  /// Parts of heads, by their bytes, in slots of a fixed number.
  final class KnownParts<Part: Sendable>: Sendable {
    private struct Slot: Sendable {
      let bytes: [UInt8]
      let part: Part

      func isOf(_ other: UnsafeRawBufferPointer) -> Bool {
        bytes.withUnsafeBytes { own in
          guard own.count == other.count, let first = own.baseAddress, let second = other.baseAddress else {
            return own.count == other.count
          }
          return memcmp(first, second, own.count) == 0
        }
      }
    }

    /// Two for each remainder of the hash; the part that came last is in the first one.
    private let slots: Mutex<[Slot?]>

    init(pairs count: Int) { slots = Mutex([Slot?](repeating: nil, count: 2 * count)) }

    /// The part that has the bytes.
    /// - Parameter make: makes it of the bytes; what that throws is thrown, and nothing is kept.
    func part<Failure: Error>(
      _ bytes: UnsafeRawBufferPointer, making make: () throws(Failure) -> Part
    ) throws(Failure) -> Part {
      let hash = Self.quickHash(bytes)
      let known = slots.withLock { slots -> Part? in
        let place = Self.place(hash, slots)
        if let slot = slots[place], slot.isOf(bytes) { return slot.part }
        if let slot = slots[place + 1], slot.isOf(bytes) { return slot.part }
        return nil
      }
      if let known { return known }
      let made = try make()
      let slot = Slot(bytes: Array(bytes), part: made)
      slots.withLock { slots in
        let place = Self.place(hash, slots)
        slots.swapAt(place, place + 1)
        slots[place] = slot
      }
      return made
    }

    private static func place(_ hash: UInt64, _ slots: [Slot?]) -> Int { Int(hash % UInt64(slots.count / 2)) * 2 }

    /// A hash that costs about a nanosecond a word; two parts that are made to collide are read anew each time.
    private static func quickHash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
      var hash = UInt64(truncatingIfNeeded: bytes.count)
      func add(_ word: UInt64) { hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15 ^ hash &>> 29 }
      var place = 0
      while place + 8 <= bytes.count {
        add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        place += 8
      }
      var rest = UInt64(0)
      while place < bytes.count {
        rest = rest &<< 8 | UInt64(bytes[place])
        place += 1
      }
      add(rest)
      return hash ^ hash &>> 32
    }
  }

  /// The heads that came lately.
  final class KnownHeads: Sendable {
    /// How many bytes a part may have.
    static let limit = 2048
    private let fields = KnownParts<ReadFields>(pairs: 128)
    private let targets = KnownParts<HTTPTarget>(pairs: 512)

    /// The fields of a head.
    func fields(of connection: OpaquePointer) -> ReadFields {
      withUnsafeTemporaryAllocation(byteCount: Self.limit, alignment: 8) { room in
        var spelling = Spelling(room: room)
        _ = MHD_get_connection_values_n(connection, MHD_ValueKind.HEADER_KIND, spellField, &spelling)
        guard let bytes = spelling.bytes else { return ReadFields(connection) }
        return fields.part(bytes) { ReadFields(connection) }
      }
    }

    /// What is asked for.
    /// - Parameter path: the target without its query, ended by a zero.
    /// - Throws: ``HTTPServerError`` that names what is malformed.
    func target(
      of connection: OpaquePointer, _ path: UnsafePointer<CChar>
    ) throws(HTTPServerError) -> HTTPTarget {
      let bytes = UnsafeRawBufferPointer(start: path, count: strlen(path))
      let hasQuery = MHD_get_connection_values_n(connection, MHD_ValueKind.GET_ARGUMENT_KIND, nil, nil) > 0
      guard !hasQuery, bytes.count <= Self.limit else {
        return try HTTPTarget(path: String(decoding: bytes, as: UTF8.self), query: HTTPFields(queryOf: connection))
      }
      return try targets.part(bytes) { () throws(HTTPServerError) in
        try HTTPTarget(path: String(decoding: bytes, as: UTF8.self), query: [])
      }
    }
  }

  extension HTTPFields {
    /// Whether a head with these fields can have the identity of an earlier one: longer fields are read anew each time.
    public var isShort: Bool {
      let byteCount = pairs.reduce(0) { count, pair in
        count + 2 * MemoryLayout<UInt32>.size + pair.name.utf8.count + pair.value.utf8.count
      }
      return byteCount <= KnownHeads.limit
    }
  }

  /// All fields of a head in one row of bytes: the lengths of a name and of its value, and both.
  private struct Spelling {
    let room: UnsafeMutableRawBufferPointer
    /// How many bytes there are; nil if they have no room, or do not say all of the head.
    var count: Int? = 0

    var bytes: UnsafeRawBufferPointer? { count.map { UnsafeRawBufferPointer(rebasing: room[..<$0]) } }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
      guard let start = count, let word = UInt32(exactly: bytes.count), room.count - start - 4 >= bytes.count else {
        count = nil
        return
      }
      room.storeBytes(of: word, toByteOffset: start, as: UInt32.self)
      if bytes.count > 0 {
        UnsafeMutableRawBufferPointer(rebasing: room[(start + 4)..<(start + 4 + bytes.count)]).copyMemory(from: bytes)
      }
      count = start + 4 + bytes.count
    }
  }

  private func spellField(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
    _ value: UnsafePointer<CChar>?, _ valueCount: Int
  ) -> MHD_Result {
    guard let spelling = context?.assumingMemoryBound(to: Spelling.self) else { return MHD_Result.NO }
    guard chttp_is_folded(name, nameCount, value, valueCount) == 0 else {
      spelling.pointee.count = nil
      return MHD_Result.NO
    }
    spelling.pointee.add(UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameCount))
    spelling.pointee.add(UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount))
    return spelling.pointee.count == nil ? MHD_Result.NO : MHD_Result.YES
  }
#endif
