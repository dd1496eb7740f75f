#if Gallery
  import MediaImport

  /// What there is of a content, in 128 bytes.
  struct RenditionRecord: Sendable, Equatable {
    /// Whether the pictures are there.
    enum State: UInt8, Sendable {
      /// Not made yet, or evicted.
      case none = 0
      /// There.
      case ready = 1
      /// They cannot be made by these programs.
      case failed = 2
    }

    /// How a film is played.
    enum Play: UInt8, Sendable {
      /// Not looked at yet, or evicted.
      case unknown = 0
      /// As it is.
      case original = 1
      /// By the file that was made.
      case made = 2
      /// It cannot be made playable by these programs.
      case failed = 3
    }

    var state = State.none
    var play = Play.unknown
    /// Empty where there is none.
    var placeholder: [UInt8] = []
    /// When it was last read, seconds since 1970; written now and then.
    var lastUse: UInt32 = 0
    var smallSize: UInt32 = 0
    var largeSize: UInt32 = 0
    var playSize: UInt64 = 0
    /// The programs that failed, as a mark.
    var programs: UInt64 = 0
    /// How often these were ended before they made the pictures.
    var pictureAttempts: UInt8 = 0
    /// How often these were ended before they made the film.
    var playAttempts: UInt8 = 0

    static let size = 128

    init() {}

    init?(_ bytes: [UInt8], of hash: [UInt8]) {
      guard bytes.count == Self.size, bytes[..<32].elementsEqual(hash), Self.sum(bytes) == Self.number(bytes, 124, 4),
        let state = State(rawValue: bytes[32]), let play = Play(rawValue: bytes[74]), bytes[33] <= 40
      else { return nil }
      (self.state, self.play) = (state, play)
      placeholder = Array(bytes[34..<34 + Int(bytes[33])])
      lastUse = UInt32(Self.number(bytes, 76, 4))
      smallSize = UInt32(Self.number(bytes, 80, 4))
      largeSize = UInt32(Self.number(bytes, 84, 4))
      playSize = Self.number(bytes, 88, 8)
      programs = Self.number(bytes, 96, 8)
      (pictureAttempts, playAttempts) = (bytes[104], bytes[105])
    }

    func bytes(of hash: [UInt8]) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: Self.size)
      bytes.replaceSubrange(0..<32, with: hash)
      (bytes[32], bytes[33], bytes[74]) = (state.rawValue, UInt8(placeholder.count), play.rawValue)
      bytes.replaceSubrange(34..<34 + placeholder.count, with: placeholder)
      Self.put(UInt64(lastUse), 4, into: &bytes, at: 76)
      Self.put(UInt64(smallSize), 4, into: &bytes, at: 80)
      Self.put(UInt64(largeSize), 4, into: &bytes, at: 84)
      Self.put(playSize, 8, into: &bytes, at: 88)
      Self.put(programs, 8, into: &bytes, at: 96)
      (bytes[104], bytes[105]) = (pictureAttempts, playAttempts)
      Self.put(Self.sum(bytes), 4, into: &bytes, at: 124)
      return bytes
    }

    /// The bytes of its files.
    var total: UInt64 { UInt64(smallSize) + UInt64(largeSize) + playSize }

    private static func sum(_ bytes: [UInt8]) -> UInt64 { UInt64(CRC32.of(Array(bytes[..<124]))) }

    static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt64 {
      bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func put(_ number: UInt64, _ count: Int, into bytes: inout [UInt8], at start: Int) {
      for index in 0..<count { bytes[start + index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))) }
    }
  }
#endif
