internal import Foundation
internal import PhotoLedger

// From what a file says to what the library holds.
//
//   the file says                     creationDate        localCreationDate    timeZoneOffset
//   local clock and offset            the instant         the clock            the offset
//   local clock alone                 the clock as UTC    the clock            nil
//   UTC alone (a movie's header)      the instant         nil                  nil
//   nothing                           nil                 nil                  nil
//
// "The clock" is held as though it were UTC. Sizes are as displayed; values that a damaged file lacks are 0.

extension MediumFacts {
  /// What a file says, as the library holds it.
  init(_ metadata: MediaMetadata) {
    self.init(mediaType: metadata.mediaType, uniformTypeIdentifier: metadata.uniformTypeIdentifier)
    pixelWidth = metadata.displayedSize?.width ?? 0
    pixelHeight = metadata.displayedSize?.height ?? 0
    duration = metadata.duration
    creationDate = metadata.captureTime?.date
    localCreationDate = metadata.captureTime?.localReading?.date
    timeZoneOffset = metadata.captureTime?.offsetSeconds
    location = metadata.location
    mediaSubtypes = metadata.subtypes
    contentIdentifier = metadata.contentIdentifier
    self.metadata = metadata.described.isEmpty ? nil : metadata.described
  }
}

extension CaptureTime {
  /// The instant; a local clock whose offset is not known is read as UTC.
  var date: Date {
    guard let instant else { return reading.date }
    return Date(secondsSince1970: instant.seconds, nanoseconds: instant.nanoseconds)
  }
}

extension WallClock {
  /// The reading, held as though the clock showed UTC.
  var date: Date { Date(secondsSince1970: secondsSince1970, nanoseconds: nanosecond) }
}

extension Date {
  /// The closest date: whole seconds are exact, and a fraction is off by less than a microsecond.
  fileprivate init(secondsSince1970 seconds: Int64, nanoseconds: Int) {
    let seconds = Double(seconds - Int64(Self.timeIntervalBetween1970AndReferenceDate))
    self.init(timeIntervalSinceReferenceDate: seconds + Double(nanoseconds) / 1e9)
  }
}
