import Foundation
import LibraryJSON
import MediaImport
import PhotoLedger

// The options that all imports share.

extension [Option] {
  /// The options of every import but those of opening.
  /// - Parameter cause: the word that begins the cause of commits, if none is given, in quotes.
  static func importing(asCause cause: String = "'import'") -> [Option] {
    [
      .dryRun("record nothing, and print what would be imported"),
      Option("into-fork", "DIR", "import into a new fork of the library; the library stays as it is"),
      Option("cause", "NAME", "the cause of every commit; default \(cause) and the run's name"),
      Option("include", "PATTERN", isRepeatable: true, "only files whose name matches"),
      Option("exclude", "PATTERN", isRepeatable: true, "no files or folders whose name matches"),
      Option("all-names", "include files that other programs keep beside photos"),
      Option("from", "DATE", "only photos taken at or after this; a day begins in UTC"),
      Option("until", "DATE", "only photos taken at or before this; a day ends in UTC"),
      Option("keyword", "WORD", isRepeatable: true, "a keyword for every new asset"),
      Option("time-zone", "ZONE", "the zone of wall times without an offset, such as Europe/Berlin"),
      Option("no-stacks", "make no stacks of photos that certainly belong together"),
      Option("jobs", "N", "files read at the same time; default two for each processor"),
    ]
  }
}

extension Invocation {
  /// What the shared options ask for.
  func importOptions() throws -> LibraryImport.Options {
    var options = LibraryImport.Options()
    options.isDryRun = has(.dryRun(""))
    if options.isDryRun, text("into-fork") != nil {
      throw UsageError("--dry-run records nothing, and --into-fork records in a fork; use one of them.")
    }
    options.includedNames = texts("include")
    if text("all-names") != nil { options.excludedNames = [] }
    options.excludedNames += texts("exclude")
    options.keywords = Set(try texts("keyword").map { try keyword($0, "--keyword") })
    options.formsStacks = text("no-stacks") == nil
    if let jobs = try count("jobs") {
      guard (1...256).contains(jobs) else { throw UsageError("--jobs needs a number from 1 to 256; got \(jobs).") }
      options.threadCount = jobs
    }
    if let zone = text("time-zone") {
      guard let found = TimeZone(identifier: zone) else {
        throw UsageError("--time-zone needs the name of a zone, such as Europe/Berlin; got '\(zone.prefix(80))'.")
      }
      options.timeZone = found
    }
    let (from, until) = (try instant("from", inDay: 0), try instant("until", inDay: 86_400 - 0.000_001))
    if from != nil || until != nil {
      let (first, last) = (from ?? .distantPast, until ?? .distantFuture)
      guard first <= last else { throw UsageError("--from is after --until; no photo can match.") }
      options.dates = first...last
    }
    _ = try cause()
    return options
  }

  /// What becomes of photos of the partner of an account.
  func partnerShared() throws -> LibraryImport.PartnerShared {
    guard let text = text("partner-shared") else { return .taken }
    if text == "take" { return .taken }
    if text == "leave" { return .leftOut }
    guard text.hasPrefix("keyword:"), text.utf8.count > 8 else {
      throw UsageError("--partner-shared needs take, leave or keyword:WORD; got '\(text.prefix(80))'.")
    }
    return .keyword(try keyword(String(text.dropFirst(8)), "--partner-shared keyword:WORD"))
  }
}
