// Photos that a camera took as one series, by what its maker notes state.
//
// A counter alone proves nothing: shutter and file counters go up by one with every photo. So a counter counts only
// together with the drive mode of the same camera, which has to say "continuous". Brackets are not a series: their
// photos differ on purpose.
//
//     maker       drive mode                                   counter
//     Canon       ContinuousDrive, without a BracketMode       FileNumber
//     Fujifilm    AutoBracketing off                           SequenceNumber, 0 for a single photo
//     Kodak       BurstMode on                                 SequenceNumber, 0 for a single photo
//     Nikon       ShootingMode: continuous, no timer, bracket  ShutterCount
//     Olympus     DriveMode 1                                  the second number of DriveMode
//     Panasonic   BurstMode on, not one of its brackets        SequenceNumber, 0 for a single photo
//     Pentax      DriveMode continuous, no timer, single       ShutterCount
//     Sony        ReleaseMode continuous                       SequenceNumber, 0 for a single photo
//
// Canon writes a SequenceNumber too, which is 1 for single photos of some models and 0 in the series of others.

/// What a camera states of a photo that it took as one of a series.
struct SeriesShot: Sendable, Hashable {
  /// What a number counts.
  enum Counter: Sendable, Hashable { case series, files, shutter }

  /// Which of the maker's counters it is.
  let counter: Counter
  /// Its value.
  let number: Int
  /// The serial number of the camera; nil if it states none.
  let serialNumber: String?

  /// Nil unless the camera states a continuous drive, a counter, and a fraction of the second.
  init?(_ tags: ExifTags) {
    guard Self.statesFraction(tags) else { return nil }
    for maker in Self.makers {
      guard let drive = maker.numbers(tags, maker.drive), maker.isContinuous(drive, tags),
        let values = maker.numbers(tags, maker.counter.tag), values.indices.contains(maker.counter.position)
      else { continue }
      let value = values[maker.counter.position]
      guard (1...Self.limit).contains(value) else { return nil }
      (counter, number) = (maker.counter.kind, value)
      serialNumber = (tags.text("SerialNumber") ?? tags.text("InternalSerialNumber")).map { String($0.prefix(64)) }
      return
    }
    return nil
  }

  /// The highest number that is believed to be a counter's.
  private static let limit = 1 << 40

  /// What one maker writes.
  private struct Maker {
    let groups: Set<String>
    let drive: String
    let counter: (tag: String, position: Int, kind: Counter)
    let isContinuous: @Sendable ([Int], ExifTags) -> Bool

    /// The whole numbers of a tag of the maker; nil if there are none.
    func numbers(_ tags: ExifTags, _ tag: String) -> [Int]? {
      guard let text = tags.text(tag, in: groups) else { return nil }
      let parts = text.split(separator: " ").prefix(8).map { Int($0) }
      return parts.isEmpty || parts.contains(nil) ? nil : parts.compactMap { $0 }
    }
  }

  private static let makers: [Maker] = [
    Maker(groups: ["Canon", "Composite"], drive: "ContinuousDrive", counter: ("FileNumber", 0, .files)) { drive, tags in
      [1, 3, 4, 5, 8, 10].contains(drive[0]) && (tags.text("BracketMode", in: ["Canon"]) ?? "0") == "0"
    },
    Maker(groups: ["FujiFilm"], drive: "AutoBracketing", counter: ("SequenceNumber", 0, .series)) { drive, _ in
      drive[0] == 0
    },
    Maker(groups: ["Kodak"], drive: "BurstMode", counter: ("SequenceNumber", 0, .series)) { drive, _ in
      drive[0] == 1
    },
    // Bits: 0 continuous; 1 and 3 timers; 4, 6 and 8 brackets.
    Maker(groups: ["Nikon"], drive: "ShootingMode", counter: ("ShutterCount", 0, .shutter)) { drive, _ in
      drive[0] & 1 != 0 && drive[0] & 0b1_0101_1010 == 0
    },
    Maker(groups: ["Olympus"], drive: "DriveMode", counter: ("DriveMode", 1, .series)) { drive, _ in
      drive[0] == 1
    },
    Maker(groups: ["Panasonic"], drive: "BurstMode", counter: ("SequenceNumber", 0, .series)) { drive, _ in
      [1, 4, 17].contains(drive[0])
    },
    Maker(groups: ["Pentax"], drive: "DriveMode", counter: ("ShutterCount", 0, .shutter)) { drive, _ in
      drive.count == 4 && (1...4).contains(drive[0]) && drive[1] == 0 && drive[3] == 0
    },
    Maker(groups: ["Sony"], drive: "ReleaseMode", counter: ("SequenceNumber", 0, .series)) { drive, _ in
      drive[0] == 2
    },
  ]

  /// Whether the time of capture has a fraction, be it zero.
  private static func statesFraction(_ tags: ExifTags) -> Bool {
    if let fraction = tags.text("SubSecTimeOriginal"), fraction.first?.isNumber == true { return true }
    return tags.text("DateTimeOriginal")?.contains(".") == true
  }
}

extension MediaMetadata {
  /// The longest time between two photos of one series, in nanoseconds.
  static let seriesGap: Int64 = 1_000_000_000

  /// Whether a photo follows this one in the series of a camera.
  func isFollowed(by next: MediaMetadata) -> Bool {
    guard let shot, let following = next.shot, isSameCamera(next), shot.counter == following.counter,
      shot.serialNumber == following.serialNumber, following.number == shot.number + 1, let gap = gap(to: next)
    else { return false }
    return (0...Self.seriesGap).contains(gap)
  }

  /// Whether another photo has the place of this one in the series.
  func sharesPlace(with other: MediaMetadata) -> Bool {
    guard let shot, let second = other.shot, isSameCamera(other), shot == second, let gap = gap(to: other) else {
      return false
    }
    return abs(gap) <= Self.seriesGap
  }

  /// Whether both state the same maker and model.
  func isSameCamera(_ other: MediaMetadata) -> Bool {
    make != nil && model != nil && make == other.make && model == other.model
  }

  /// Whether both state the same time of capture, to the fraction, on the same clock.
  func isSameMoment(_ other: MediaMetadata) -> Bool { captureTime != nil && gap(to: other) == 0 }

  /// The nanoseconds from this time of capture to another; nil if they are not on the same clock.
  private func gap(to other: MediaMetadata) -> Int64? {
    guard let first = captureTime, let second = other.captureTime, first.clock == second.clock,
      first.offsetSeconds == nil || second.offsetSeconds == nil || first.offsetSeconds == second.offsetSeconds
    else { return nil }
    // Both are readings between the years 1 and 9999.
    let seconds = second.reading.secondsSince1970 - first.reading.secondsSince1970
    guard abs(seconds) <= 86_400 else { return nil }
    return seconds * 1_000_000_000 + Int64(second.reading.nanosecond - first.reading.nanosecond)
  }
}
