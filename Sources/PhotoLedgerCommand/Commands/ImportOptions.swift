import Foundation
import LibraryJSON
import MediaImport
import PhotoLedger

// The options that all imports share.

extension [Option] {
  /// The options of every import but those of opening.
  static let importing: [Option] = [
    Option("dry-run", "record nothing, and print what would come in"),
    Option("cause", "NAME", "stands in every commit of the import; 'import' and the name of the run if left out"),
    Option("include", "PATTERN", isRepeatable: true, "only files whose name fits"),
    Option("exclude", "PATTERN", isRepeatable: true, "no files or folders whose name fits"),
    Option("all-names", "leave nothing out that other programs keep beside photos"),
    Option("from", "DATE", "only what was taken at an instant or later; a day begins in UTC"),
    Option("until", "DATE", "only what was taken at an instant or before; a day ends in UTC"),
    Option("keyword", "WORD", isRepeatable: true, "a keyword for every new asset"),
    Option("time-zone", "ZONE", "the zone of wall times without an offset, such as Europe/Berlin"),
    Option("jobs", "N", "how many files are read at the same time; two for each processor if left out"),
  ]
}

extension Invocation {
  /// What the shared options ask for.
  func importOptions() throws -> LibraryImport.Options {
    var options = LibraryImport.Options()
    options.isRehearsal = text("dry-run") != nil
    options.includedNames = texts("include")
    if text("all-names") != nil { options.excludedNames = [] }
    options.excludedNames += texts("exclude")
    options.keywords = Set(texts("keyword"))
    if let jobs = try count("jobs") {
      guard (1...256).contains(jobs) else { throw UsageError("--jobs needs a number from 1 to 256; \(jobs) is none.") }
      options.threadCount = jobs
    }
    if let zone = text("time-zone") {
      guard let found = TimeZone(identifier: zone) else {
        throw UsageError("--time-zone needs the name of a zone, such as Europe/Berlin; '\(zone.prefix(80))' is none.")
      }
      options.timeZone = found
    }
    let (from, until) = (try day("from", endingWith: "T00:00:00Z"), try day("until", endingWith: "T23:59:59.999999Z"))
    if from != nil || until != nil {
      let (first, last) = (from ?? .distantPast, until ?? .distantFuture)
      guard first <= last else { throw UsageError("--from is after --until; nothing was taken in between.") }
      options.dates = first...last
    }
    if let cause = text("cause"), !(1...1024).contains(cause.utf8.count) {
      throw UsageError("--cause needs 1 to 1024 bytes; this one has \(cause.utf8.count).")
    }
    return options
  }

  /// The instant that an option names, or an end of the day that it names.
  private func day(_ name: String, endingWith time: String) throws -> Date? {
    guard let text = text(name) else { return nil }
    guard let written = WrittenDate(text) ?? WrittenDate(text + time) else {
      throw UsageError("--\(name) needs a day or an instant, 2024-05-31 or 2024-05-31T18:30:00Z; '\(text)' is neither.")
    }
    return written.date
  }

  /// What becomes of photos of the partner of an account.
  func partnerShared() throws -> LibraryImport.PartnerShared {
    guard let text = text("partner-shared") else { return .taken }
    if text == "take" { return .taken }
    if text == "leave" { return .leftOut }
    guard text.hasPrefix("keyword:"), text.utf8.count > 8 else {
      throw UsageError("--partner-shared is take, leave or keyword:WORD; '\(text.prefix(80))' is none.")
    }
    return .keyword(String(text.dropFirst(8)))
  }
}
