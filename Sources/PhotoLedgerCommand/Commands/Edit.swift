import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let edit = editing(
    "edit", "set the date or the location of assets", [.assets],
    syntax: "ID… (--date DATE | --location LAT,LON[,ALT])…",
    options: [
      Option("date", "DATE", "the date of capture, such as 2024-05-31T18:30:00+02:00; 'none' clears it"),
      Option("location", "LAT,LON[,ALT]", "degrees and metres, such as 54.32,10.14; 'none' clears it"),
    ],
    notes: """
      A date with an offset sets the camera's wall time and its offset too, and 'none' clears them too; a date with Z
      sets the instant alone.
      """,
    example: "edit \(exampleIdentifier) --date 2024-05-31T18:30:00+02:00 --location 54.32,10.14"
  ) { try properties($0) }

  private static func properties(_ invocation: Invocation) throws -> JSON {
    var members: [JSON.Member] = [.init("op", "asset.edit"), .init("assets", invocation.list())]
    if let date = invocation.text("date") {
      guard date == "none" || WrittenDate(date) != nil else {
        throw UsageError("--date needs a date such as 2024-05-31T18:30:00+02:00, or 'none'; got '\(date)'.")
      }
      members.append(.init("creationDate", date == "none" ? .null : .text(date)))
      // Lists show the camera's wall time where there is one.
      if date == "none" { members += [.init("localCreationDate", .null), .init("timeZoneOffset", .null)] }
    }
    if let location = invocation.text("location") { members.append(.init("location", try place(location))) }
    guard members.count > 2 else { throw UsageError("'edit' needs --date or --location.") }
    return .object(members)
  }

  private static func place(_ text: String) throws -> JSON {
    if text == "none" { return .null }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0.trimmingPrefix(" "))
    }
    guard (2...3).contains(numbers.count), !numbers.contains(nil) else {
      throw UsageError(
        "--location needs LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE, or 'none'; got '\(text)'.")
    }
    let bounds = [
      ("latitude", AssetNumbers.latitudes), ("longitude", AssetNumbers.longitudes),
      ("altitude", AssetNumbers.altitudes),
    ]
    return .object(
      try zip(bounds, numbers.compactMap(\.self)).map { bound, number in
        let (name, range) = bound
        guard range.contains(number) else {
          throw UsageError(
            "--location needs a number from \(range.lowerBound) to \(range.upperBound) as \(name); got '\(text)'.")
        }
        return JSON.Member(name, .number(number))
      })
  }
}
