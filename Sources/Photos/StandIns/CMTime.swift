// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

/// What a time is besides its number, as bits (stands in for Core Media's `CMTimeFlags`).
public struct CMTimeFlags: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt32
  /// A set of bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// It is a time.
  public static let valid = CMTimeFlags(rawValue: 1)
  /// It is longer than any other.
  public static let positiveInfinity = CMTimeFlags(rawValue: 4)
  /// It is not known.
  public static let indefinite = CMTimeFlags(rawValue: 16)
}

/// A number of parts of a second (stands in for Core Media's `CMTimeValue`).
public typealias CMTimeValue = Int64
/// The parts of a second that are counted (stands in for Core Media's `CMTimeScale`).
public typealias CMTimeScale = Int32

/// A time as a fraction of seconds (stands in for Core Media's `CMTime`, which Linux lacks).
public struct CMTime: Sendable, Hashable, Comparable {
  /// The numerator.
  public var value: Int64
  /// The parts of a second that are counted.
  public var timescale: Int32
  /// What it is besides.
  public var flags: CMTimeFlags

  /// A time that is not valid.
  public init() { (value, timescale, flags) = (0, 0, []) }

  /// A number of parts of a second; not valid for a scale that is not positive.
  public init(value: Int64, timescale: Int32) {
    (self.value, self.timescale, flags) = (value, timescale, timescale > 0 ? .valid : [])
  }

  /// A number of seconds, rounded to parts of a second; invalid for what is not a number or is out of range.
  public init(seconds: Double, preferredTimescale: Int32) {
    guard preferredTimescale > 0, let value = Int64(exactly: (seconds * Double(preferredTimescale)).rounded()) else {
      self = seconds == .infinity ? .positiveInfinity : .invalid
      return
    }
    self.init(value: value, timescale: preferredTimescale)
  }

  /// No seconds.
  public static let zero = CMTime(value: 0, timescale: 1)
  /// Not a time.
  public static let invalid = CMTime()
  /// A time that is not known.
  public static let indefinite = CMTime(flags: [.valid, .indefinite])
  /// Longer than any other.
  public static let positiveInfinity = CMTime(flags: [.valid, .positiveInfinity])

  private init(flags: CMTimeFlags) { (value, timescale, self.flags) = (0, 0, flags) }

  /// Whether it is a time at all.
  public var isValid: Bool { flags.contains(.valid) }
  /// Whether it is not known.
  public var isIndefinite: Bool { flags.contains(.indefinite) }
  /// Whether it has a number of seconds.
  public var isNumeric: Bool { flags == .valid && timescale > 0 }

  /// Seconds; infinity or NaN for a time that is not numeric.
  public var seconds: Double {
    if isNumeric { return Double(value) / Double(timescale) }
    return flags.contains(.positiveInfinity) ? .infinity : .nan
  }

  /// Whether one is shorter.
  public static func < (one: CMTime, other: CMTime) -> Bool {
    guard one.isNumeric, other.isNumeric else { return one.seconds < other.seconds }
    return one.scaled(by: other.timescale) < other.scaled(by: one.timescale)
  }

  /// Whether both are as long, whatever their scales.
  public static func == (one: CMTime, other: CMTime) -> Bool {
    guard one.isNumeric, other.isNumeric else { return one.flags == other.flags }
    return one.scaled(by: other.timescale) == other.scaled(by: one.timescale)
  }

  /// Feeds the length as a reduced fraction, so that equal times of different scales have one hash.
  public func hash(into hasher: inout Hasher) {
    guard isNumeric else { return hasher.combine(flags) }
    var (divisor, rest) = (Int64(timescale), value % Int64(timescale))
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    hasher.combine(value / abs(divisor))
    hasher.combine(Int64(timescale) / abs(divisor))
  }

  /// The sum, in the finer scale of both.
  public static func + (one: CMTime, other: CMTime) -> CMTime { sum(one, other, 1) }
  /// The difference, in the finer scale of both.
  public static func - (one: CMTime, other: CMTime) -> CMTime { sum(one, other, -1) }

  private func scaled(by factor: Int32) -> Int128 { Int128(value) * Int128(factor) }

  private static func sum(_ one: CMTime, _ other: CMTime, _ sign: Int128) -> CMTime {
    guard one.isNumeric, other.isNumeric else {
      return CMTime(seconds: one.seconds + Double(sign) * other.seconds, preferredTimescale: 1)
    }
    let scale = max(one.timescale, other.timescale)
    let total = one.scaled(by: other.timescale) + sign * other.scaled(by: one.timescale)
    let parts = total / Int128(min(one.timescale, other.timescale))
    return Int64(exactly: parts).map { CMTime(value: $0, timescale: scale) } ?? .positiveInfinity
  }
}

/// A time range (stands in for Core Media's `CMTimeRange`).
public struct CMTimeRange: Sendable, Hashable {
  /// When it begins.
  public var start: CMTime
  /// How long it lasts.
  public var duration: CMTime

  /// A range by its start and its duration.
  public init(start: CMTime, duration: CMTime) { (self.start, self.duration) = (start, duration) }
  /// A range by its start and its end.
  public init(start: CMTime, end: CMTime) { self.init(start: start, duration: end - start) }

  /// A range at the beginning, without a duration.
  public static let zero = CMTimeRange(start: .zero, duration: .zero)
  /// Not a range.
  public static let invalid = CMTimeRange(start: .invalid, duration: .invalid)

  /// When it ends.
  public var end: CMTime { start + duration }

  /// Whether a time is in it; its end is not.
  public func containsTime(_ time: CMTime) -> Bool { start <= time && time < end }
}

/// A number of parts of a second (stands in for Core Media's function).
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }

/// A number of seconds (stands in for Core Media's function).
public func CMTimeMakeWithSeconds(_ seconds: Double, preferredTimescale: Int32) -> CMTime {
  CMTime(seconds: seconds, preferredTimescale: preferredTimescale)
}

/// The seconds of a time (stands in for Core Media's function).
public func CMTimeGetSeconds(_ time: CMTime) -> Double { time.seconds }

/// A time range (stands in for Core Media's function).
public func CMTimeRangeMake(start: CMTime, duration: CMTime) -> CMTimeRange {
  CMTimeRange(start: start, duration: duration)
}

/// The sum of two times (stands in for Core Media's function).
public func CMTimeAdd(_ one: CMTime, _ other: CMTime) -> CMTime { one + other }

/// The difference of two times (stands in for Core Media's function).
public func CMTimeSubtract(_ one: CMTime, _ other: CMTime) -> CMTime { one - other }

/// -1 if the first time is shorter, 1 if it is longer, 0 if both are equal (stands in for Core Media's function).
public func CMTimeCompare(_ one: CMTime, _ other: CMTime) -> Int32 { one < other ? -1 : one == other ? 0 : 1 }

/// A time several times, rounded in a scale of at least 65,536 parts of a second (stands in for Core Media's function).
public func CMTimeMultiplyByFloat64(_ time: CMTime, multiplier: Double) -> CMTime {
  guard time.isNumeric else { return time }
  let factor = time.timescale < 65_536 ? 65_536 / time.timescale + 1 : 1
  return CMTime(seconds: time.seconds * multiplier, preferredTimescale: time.timescale * factor)
}
