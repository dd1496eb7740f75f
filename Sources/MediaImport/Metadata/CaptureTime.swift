import PhotoLedger

// When a photo was taken, as far as its file says.
//
// A camera writes what its clock on the wall said: `2023:02:02 02:00:00`. Whether it also says how far that clock was
// from UTC is another matter, and guessing (from coordinates, from the computer's zone) is how libraries come to show
// holidays in the night. So the clock and the offset stay apart, and the offset is there only when the file states it.
//
// A movie is the other way round: the QuickTime header holds seconds in UTC by the book, and nothing says what the
// clock on the wall showed, unless a phone wrote `com.apple.quicktime.creationdate` with its offset beside it.
//
// Where the value is taken from, in this order; the first that is a whole, possible date wins:
//
//     1  DateTimeOriginal             own offset, or OffsetTimeOriginal;  fraction: SubSecTimeOriginal
//     2  CreationDate (QuickTime)     own offset
//     3  DateCreated, in sidecars     own offset
//     4  CreateDate, not QuickTime's  own offset, or OffsetTimeDigitized; fraction: SubSecTimeDigitized
//     5  CreateDate (QuickTime)       UTC
//
// In a sidecar DateCreated is photoshop's, the date of the picture, and CreateDate that of the digital file: of a scan,
// when it was scanned. A CreateDate without a group, as in JSON of exiftool without `-G`, may be of either clock; it
// does not count.
//
// Within one tag exiftool's preferred value comes first. ModifyDate is not a capture time (an editor sets it), and
// neither is the time of the file itself, which every copy changes; that one is a fact of its own.

/// A date and a time of day on some clock, without a zone.
struct WallClock: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// 1 to 9999.
  let year: Int
  /// 1 to 12.
  let month: Int
  /// 1 to 31.
  let day: Int
  /// 0 to 23.
  let hour: Int
  /// 0 to 59.
  let minute: Int
  /// 0 to 59.
  let second: Int
  /// The fraction of the second, in nanoseconds.
  let nanosecond: Int
  /// Days from 1970-01-01 to the date.
  private let days: Int

  /// Creates a clock reading; nil when there is no such day or time of day (years 1 to 9999, no leap seconds).
  init?(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int, nanosecond: Int = 0) {
    guard (1...9999).contains(year), let date = CivilDate(year, month, day), (0..<24).contains(hour),
      (0..<60).contains(minute), (0..<60).contains(second), (0..<1_000_000_000).contains(nanosecond)
    else { return nil }
    (self.year, self.month, self.day, days) = (year, month, day, date.numberSince1970)
    (self.hour, self.minute, self.second, self.nanosecond) = (hour, minute, second, nanosecond)
  }

  /// Seconds from 1970-01-01 00:00:00 on the same clock.
  var secondsSince1970: Int64 { Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second) }

  /// RFC 3339 without the offset; the fraction only when there is one.
  var description: String {
    let date = [year.padded(to: 4), month.padded(to: 2), day.padded(to: 2)].joined(separator: "-")
    let time = [hour, minute, second].map { $0.padded(to: 2) }.joined(separator: ":")
    let whole = "\(date)T\(time)"
    guard nanosecond > 0 else { return whole }
    var fraction = nanosecond.padded(to: 9)
    while fraction.last == "0" { fraction.removeLast() }
    return "\(whole).\(fraction)"
  }

  /// Earlier first.
  static func < (left: WallClock, right: WallClock) -> Bool {
    (left.secondsSince1970, left.nanosecond) < (right.secondsSince1970, right.nanosecond)
  }
}

/// When a photo or video was taken, and how the file says so.
struct CaptureTime: Hashable, Sendable {
  /// Which clock a reading is from.
  enum Clock: Hashable, Sendable {
    /// The camera's, showing local time.
    case local
    /// Coordinated universal time; what the local clock showed is not known.
    case utc
  }

  /// What the clock read.
  let reading: WallClock
  /// Which clock that was.
  let clock: Clock
  /// Local time minus UTC in seconds, when the file states it; nil otherwise, and for readings in UTC.
  let offsetSeconds: Int?
  /// The tag it was taken from, as `Group:Tag`.
  let source: String

  /// Creates a capture time.
  init(reading: WallClock, clock: Clock, offsetSeconds: Int?, source: String) {
    (self.reading, self.clock, self.offsetSeconds, self.source) = (reading, clock, offsetSeconds, source)
  }

  /// What the clock on the wall showed; nil when only UTC is known.
  var localReading: WallClock? { clock == .local ? reading : nil }

  /// Seconds and nanoseconds since 1970-01-01T00:00:00Z, when the instant is known: with an offset, or in UTC.
  var instant: (seconds: Int64, nanoseconds: Int)? {
    switch clock {
    case .utc: (reading.secondsSince1970, reading.nanosecond)
    case .local: offsetSeconds.map { (reading.secondsSince1970 - Int64($0), reading.nanosecond) }
    }
  }
}

extension CaptureTime {
  private static let quickTimeGroups: Set<String> = ["QuickTime", "Keys", "ItemList", "UserData"]

  /// Finds the capture time among the tags of a file, by the order at the head of this file.
  /// - Parameter isSidecar: whether they are those of a sidecar.
  init?(_ tags: ExifTags, isSidecar: Bool = false) {
    func local(_ tag: String, offset: String?, fraction: String?, where isEligible: (String) -> Bool) -> CaptureTime? {
      for value in tags.all(tag) where isEligible(value.group) {
        guard let stamp = value.texts.first.flatMap(TimeStamp.init) else { continue }
        let fraction = fraction.flatMap { tags.text($0) }
        let offset = stamp.offsetSeconds ?? offset.flatMap { tags.text($0) }.flatMap(TimeStamp.offset)
        return CaptureTime(
          reading: stamp.clock(fraction: fraction), clock: .local, offsetSeconds: offset,
          source: "\(value.group):\(tag)")
      }
      return nil
    }
    let isQuickTime = { Self.quickTimeGroups.contains($0) || $0.hasPrefix("Track") }
    let found =
      local("DateTimeOriginal", offset: "OffsetTimeOriginal", fraction: "SubSecTimeOriginal") { _ in true }
      ?? local("CreationDate", offset: nil, fraction: nil) { $0.isEmpty || isQuickTime($0) }
      ?? (isSidecar ? local("DateCreated", offset: nil, fraction: nil) { _ in true } : nil)
      ?? local("CreateDate", offset: "OffsetTimeDigitized", fraction: "SubSecTimeDigitized") {
        !$0.isEmpty && !isQuickTime($0)
      }
      ?? Self.quickTimeHeader(tags)
    guard let found else { return nil }
    self = found
  }

  /// The creation time in a QuickTime or MPEG-4 header (ISO/IEC 14496-12, 8.2.2): UTC.
  private static func quickTimeHeader(_ tags: ExifTags) -> CaptureTime? {
    for value in tags.all("CreateDate") where value.group == "QuickTime" {
      guard let stamp = value.texts.first.flatMap(TimeStamp.init) else { continue }
      return CaptureTime(
        reading: stamp.clock(fraction: nil), clock: .utc, offsetSeconds: nil, source: "QuickTime:CreateDate")
    }
    return nil
  }
}

/// A time stamp in exiftool's spelling: `2019:04:24 22:24:00.25+02:00 DST`, the parts from the fraction on optional.
struct TimeStamp: Equatable {
  let whole: WallClock
  let offsetSeconds: Int?

  /// Reads a whole date and time; nil for blanks, zeros, partial and impossible dates.
  init?(_ text: String) {
    var rest = text[...].drop { $0 == " " }
    var numbers: [Int] = []
    for (separators, width) in [("", 4), (":-", 2), (":-", 2), (" T", 2), (":", 2), (":", 2)] {
      if !separators.isEmpty {
        // XMP allows a time without seconds.
        guard let separator = rest.first, separators.contains(separator) else {
          if numbers.count == 5 { break } else { return nil }
        }
        rest = rest.dropFirst()
      }
      guard let number = Self.number(&rest, width: width) else { return nil }
      numbers.append(number)
    }
    if numbers.count == 5 { numbers.append(0) }
    let nanosecond = rest.first == "." ? Self.nanoseconds(Self.digits(&rest)) : 0
    guard
      let clock = WallClock(
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], nanosecond: nanosecond)
    else { return nil }
    whole = clock
    // H.264 movies of Sony add a word when the stated offset includes summer time.
    let zone = rest.hasSuffix(" DST") ? rest.dropLast(4) : rest
    offsetSeconds = Self.offset(String(zone))
  }

  /// The clock reading, with a fraction from elsewhere when the stamp has none of its own.
  func clock(fraction: String?) -> WallClock {
    guard whole.nanosecond == 0, let fraction else { return whole }
    let digits = fraction.prefix { $0.isASCII && $0.isNumber }
    return WallClock(
      whole.year, whole.month, whole.day, whole.hour, whole.minute, whole.second,
      nanosecond: Self.nanoseconds(digits)) ?? whole
  }

  /// Reads `Z`, `+02:00` or `-0330` as seconds; nil for anything else, and beyond 18 hours.
  static func offset(_ text: String) -> Int? {
    if text == "Z" { return 0 }
    guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
    var rest = text.dropFirst()
    guard let hours = number(&rest, width: 2) else { return nil }
    if rest.first == ":" { rest = rest.dropFirst() }
    guard let minutes = number(&rest, width: 2), rest.isEmpty, minutes < 60, hours * 60 + minutes <= 18 * 60 else {
      return nil
    }
    return (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  private static func number(_ text: inout Substring, width: Int) -> Int? {
    let digits = text.prefix(width)
    guard digits.count == width, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    text = text.dropFirst(width)
    return Int(digits)
  }

  /// Takes a point and the digits after it.
  private static func digits(_ text: inout Substring) -> Substring {
    text = text.dropFirst()
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    text = text.dropFirst(digits.count)
    return digits
  }

  private static func nanoseconds(_ digits: Substring) -> Int {
    let nine = digits.prefix(9)
    guard let value = Int(nine) else { return 0 }
    return (0..<(9 - nine.count)).reduce(value) { value, _ in value * 10 }
  }
}
