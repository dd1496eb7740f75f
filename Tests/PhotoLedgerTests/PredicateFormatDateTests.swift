import Foundation
import PhotoLedger
import Testing

@Suite struct PredicateFormatDateTests {
  @Test("dates since the Gregorian reform agree with Foundation's own reading", arguments: [41] as [UInt64])
  func agrees(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    for _ in 0..<5_000 {
      let seconds = Double(Int64.random(in: -12_000_000_000...200_000_000_000, using: &random))
      let date = Date(timeIntervalSince1970: seconds)
      let text = date.ISO8601Format()
      try #require(Date(rfc3339: text) == date, "seed \(seed): \(text)")
    }
  }

  @Test(
    "offsets and fractions count",
    arguments: [
      ("2001-01-01T00:00:00Z", 0), ("2001-01-01t00:00:00.5z", 0.5), ("2001-01-01 01:30:00+01:30", 0),
      ("2000-12-31T18:00:00-06:00", 0), ("2000-02-29T00:00:00Z", -26_524_800), ("2001-01-02", 86400),
      ("0001-01-01T00:00:00Z", -63_113_904_000),
    ] as [(String, Double)])
  func accepted(text: String, seconds: Double) {
    #expect(Date(rfc3339: text)?.timeIntervalSinceReferenceDate == seconds)
  }

  @Test(
    "a text that is not a date of RFC 3339 is rejected",
    arguments: [
      "", "2001", "2001-13-01", "2001-02-29", "2001-00-10", "2001-01-01T00:00:00", "2001-01-01T24:00:00Z",
      "2001-01-01T00:00Z", "2001-01-01T00:00:00.Z", "2001-01-01T00:00:00+0100", "2001-01-01T00:00:00Zx", "01-01-2001",
    ])
  func refused(text: String) {
    #expect(Date(rfc3339: text) == nil)
  }
}
