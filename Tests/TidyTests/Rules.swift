import Foundation
import Testing

// The rules of style, each a pure function from one file to what breaks it. TidyTests runs them over the package, and
// over invented files that break them, so that a rule that has gone blind is seen.

/// One rule.
struct Rule: Sendable, CustomTestStringConvertible {
  let name: String
  /// Which files it is about, by path.
  let appliesTo: @Sendable (String) -> Bool
  let check: @Sendable (SwiftSource) -> [Finding]

  var testDescription: String { name }

  init(
    _ name: String, appliesTo: @escaping @Sendable (String) -> Bool = { _ in true },
    check: @escaping @Sendable (SwiftSource) -> [Finding]
  ) {
    self.name = name
    self.appliesTo = appliesTo
    self.check = check
  }

  func findings(in sources: [SwiftSource]) -> [Finding] {
    sources.filter { appliesTo($0.path) }.flatMap(check)
  }
}

extension Rule {
  static let all: [Rule] = [
    lineLength, noReminders, noForcedTry, guardedState, noFoundationBelow, arrows, arrowsOfTests, logKnowsNoPhoto,
    onlyOneTouchesLMDB, limitedNamed, locksOfFiles, locksOfTests,
    documented, fieldsOfComments, passedIn, fileLength, knownRoom, prose, sentencesOfTraps,
    problemsInOnePlace, eventsNamed, typesNamed, parametersNamed, privateUsed,
  ]

  private static func inSources(_ path: String) -> Bool { path.hasPrefix("Sources/") || path.hasPrefix("Migrations/") }

  static let lineLength = Rule("a line has at most 120 characters") { source in
    source.text.indices.filter { source.text[$0].utf8.count > 120 && source.text[$0].count > 120 }.map { index in
      Finding(source, index, "the line has \(source.text[index].count) characters")
    }
  }

  /// The words are put together here so that this file does not hold them.
  static let noReminders = Rule("nothing is left for later") { source in
    let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X:"]
    return words.flatMap { word in source.textLines(holding: word).map { Finding(source, $0, "holds \(word)") } }
  }

  /// Else the page shows the parameters as a part of the sentence before them.
  static let fieldsOfComments = Rule("a field of a documentation comment begins its line") { source in
    let fields = [" - Parameter", " - Returns:", " - Throws:", " - Complexity:"]
    return source.textBytes.lines(holding: fields + [" -\n"]).filter { index in
      let line = source.text[index].bare
      return line.hasPrefix("/// ")
        && (line.hasSuffix(" -") || fields.contains { line.dropFirst(4).drop { $0 == " " }.dropFirst().holds($0) })
    }.map { Finding(source, $0, "a field begins within the line, or its dash ends the line before") }
  }

  static let noForcedTry = Rule("no error is forced away") { source in
    source.codeLines(holding: "try!").map { Finding(source, $0, "holds a forced try") }
  }

  static let guardedState = Rule("what the compiler does not guard says what does") { source in
    source.codeLines(holding: "@unchecked Sendable", "nonisolated(unsafe)").compactMap { index in
      let words = (source.comment(above: index) + [source.text[index]] + source.comment(below: index))
        .joined(separator: " ")
      guard !words.contains("SAFETY"), !words.lowercased().contains("guarded by") else { return nil }
      return Finding(source, index, "says neither 'guarded by' nor 'SAFETY'")
    }
  }

  static let noFoundationBelow = Rule(
    "the store is free of Foundation",
    appliesTo: { path in ["LMDB", "CountedTree", "EventLog"].contains { path.hasPrefix("Sources/\($0)/") } },
    check: { source in
      source.imports.filter { $0.module == "Foundation" }.map { Finding(source, $0.line, "imports Foundation") }
    })

  /// The modules of the package that each module may import; the picture is in Architecture.md.
  static let allowedImports: [String: Set<String>] = [
    "LMDB": ["CLMDB", "CSystem"],
    "CountedTree": [],
    "EventLog": ["LMDB", "CSystem"],
    "StoreMigrations": ["EventLog", "LMDB"],
    "PhotoLedger": ["EventLog", "CountedTree", "StoreMigrations", "LMDB", "CSystem"],
    "JSONReading": ["PhotoLedger"],
    "LibraryAudit": ["PhotoLedger", "EventLog", "LMDB"],
    "LibraryPicking": ["PhotoLedger", "EventLog", "LMDB"],
    "LibraryUploads": ["PhotoLedger", "LMDB"],
    "LibraryMaintenance": [
      "PhotoLedger", "JSONReading", "LibraryAudit", "EventLog", "StoreMigrations", "LMDB", "CSystem",
    ],
    "ExtensionFoundation": [],
    "Photos": [
      "PhotoLedger", "LibraryAudit", "LibraryPicking", "LibraryUploads", "MediaImport", "ExtensionFoundation",
    ],
    "PhotosUI": ["Photos", "PhotoLedger", "LibraryPicking"],
    "AVFoundation": ["Photos"], "CoreMedia": ["Photos"], "UniformTypeIdentifiers": ["Photos"],
    "MediaImport": ["PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "CSystem"],
    "LibraryJSON": ["PhotoLedger", "JSONReading", "LibraryAudit", "LibraryMaintenance"],
    "HTTPServing": ["CSystem", "CMicroHTTPD"],
    "GalleryServer": [
      "PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "LibraryJSON",
      "MediaImport", "HTTPServing", "CSystem", "CCrypt",
    ],
    "PhotoLedgerCommand": [
      "PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "LibraryJSON",
      "MediaImport", "GalleryServer", "HTTPServing", "CSystem",
    ],
  ]

  static let arrows = Rule(
    "imports follow the arrows", appliesTo: inSources,
    check: { source in
      let module = source.module ?? "StoreMigrations"
      guard let allowed = allowedImports[module] else { return [] }
      let own = Set(allowedImports.keys)
        .union(["CLMDB", "CMicroHTTPD", "CCrypt", "CSystem", "StoreTestSupport", "TestSupport"])
      return source.imports.filter { own.contains($0.module) && !allowed.contains($0.module) }.map {
        Finding(source, $0.line, "\(module) imports \($0.module)")
      }
    })

  /// Tests of the core, and of what is below it, import what their module imports. Those of the core import
  /// `TestSupport` as well, which depends on more; those of what is below it do not, so that they are built without the
  /// core, and `StoreTestSupport` depends on nothing. Tests of any other module import nothing that stands on theirs.
  static let arrowsOfTests = Rule(
    "tests of a low module import no higher one",
    appliesTo: { moduleTested(by: $0) != nil },
    check: { source in
      guard let module = moduleTested(by: source.path) else { return [] }
      return source.imports.filter { isAbove($0.module, module) }
        .map { Finding(source, $0.line, "the tests of \(module) import \($0.module)") }
    })

  /// The module that a folder of tests is named after; nil for folders whose tests are of several on purpose.
  static func moduleTested(by path: String) -> String? {
    let parts = path.split(separator: "/")
    guard parts.count > 2, parts[0] == "Tests", parts[1].hasSuffix("Tests") else { return nil }
    let module = String(parts[1].dropLast("Tests".count))
    return allowedImports[module] == nil ? nil : module
  }

  /// Whether the tests of a module may not import another one.
  static func isAbove(_ other: String, _ module: String) -> Bool {
    if other == module { return false }
    if ["benchmarks", "BenchmarkSupport"].contains(other) { return true }
    let isBelowCore = modulesBelow["PhotoLedger"]?.contains(module) == true
    if other == "TestSupport" { return isBelowCore }
    if module == "PhotoLedger" || isBelowCore {
      let isKnown = allowedImports[other] != nil || ["CLMDB", "CMicroHTTPD", "CCrypt", "CSystem"].contains(other)
      return isKnown && allowedImports[module]?.contains(other) == false
    }
    return modulesBelow[other]?.contains(module) == true
      && !(modulesOfApple.contains(other) && modulesOfApple.contains(module))
  }

  /// What each module imports, and what that imports.
  private static let modulesBelow: [String: Set<String>] = Dictionary(
    uniqueKeysWithValues: allowedImports.keys.map { ($0, importsBelow($0)) })

  /// The modules that a module imports, and those that they import.
  private static func importsBelow(_ module: String) -> Set<String> {
    var found: Set<String> = []
    var rest = [module]
    while let next = rest.popLast() {
      for other in allowedImports[next] ?? [] where found.insert(other).inserted { rest.append(other) }
    }
    return found
  }

  /// The modules that have Apple's names; they are tested as one, by programs that import several of them.
  private static let modulesOfApple: Set<String> = [
    "Photos", "PhotosUI", "ExtensionFoundation", "AVFoundation", "CoreMedia", "UniformTypeIdentifiers",
  ]

  static let onlyOneTouchesLMDB = Rule(
    "only the module LMDB imports lmdb.h",
    // The floor that benchmarks compare with is LMDB without the module.
    appliesTo: { path in
      !["Sources/LMDB/", "Benchmarks/Floors/"].contains { path.hasPrefix($0) } && path.hasSuffix(".swift")
    },
    check: { source in
      source.imports.filter { $0.module == "CLMDB" }.map { Finding(source, $0.line, "imports CLMDB") }
    })

  /// The compiler keeps the cases of `Access` to its file; this keeps others from deciding by the status instead.
  static let limitedNamed = Rule(
    "what limited access means is asked of Access",
    appliesTo: { path in
      let naming = [
        "PhotoLedger/Model/Access.swift", "PhotoLedger/Model/Authorization.swift", "PhotoLedger/Model/Client.swift",
        "PhotoLedger/Writing/Decider+Clients.swift", "PhotoLedger/Writing/Prompting.swift",
        "LibraryAudit/AccessIntervals.swift",
      ]
      return (modulesOfTheLibrary + ["LibraryUploads"]).contains { path.hasPrefix("Sources/\($0)/") }
        && !naming.contains { path == "Sources/\($0)" }
    },
    check: { source in
      source.codeLines(holding: ".limited").filter { source.code[$0].contains(#/\.limited(?!\w)/#) }
        .map { Finding(source, $0, "names the status 'limited'") }
    })

  /// Closing alone does not release such a lock; `FileLock` says why.
  static let locksOfFiles = Rule(
    "files are locked by FileLock",
    appliesTo: { path in
      inSources(path) && !["Files/FileLock.swift", "LMDB/StoreUsage.swift"].contains { path.hasSuffix($0) }
    },
    check: { source in
      source.codeLines(holding: "flock(").map { Finding(source, $0, "calls flock") }
    })

  static let locksOfTests = Rule(
    "a test that locks a file itself releases the lock before it closes the file",
    appliesTo: { $0.hasPrefix("Tests/") },
    check: { source in
      let (locks, releases) = (source.codeLines(withWord: "LOCK_EX"), source.codeLines(withWord: "LOCK_UN"))
      return locks.count > releases.count ? locks.prefix(1).map { Finding(source, $0, "lacks LOCK_UN") } : []
    })

  static let logKnowsNoPhoto = Rule(
    "the log knows no photo",
    appliesTo: { $0.hasPrefix("Sources/EventLog/") || $0.hasPrefix("Sources/LMDB/") },
    check: { source in
      let lower = LinedBytes(lines: source.code.map { $0.lowercased() })
      return ["asset", "album", "photo"].flatMap { word in
        lower.lines(holding: word).map { Finding(source, $0, "names \(word)") }
      }
    })

  /// The core, and the modules that extend its library; one catalog documents them.
  static let modulesOfTheLibrary = ["PhotoLedger", "LibraryAudit", "LibraryPicking", "LibraryMaintenance"]

  static let passedIn = Rule(
    "the domain makes no clock, randomness or identifier of its own",
    appliesTo: { path in
      (modulesOfTheLibrary + ["JSONReading", "LibraryUploads"]).contains { path.hasPrefix("Sources/\($0)/") }
        && !path.hasSuffix("/LibraryEnvironment.swift")
    },
    check: { source in
      let makers = [
        "Date()", "Date.now", "UUID()", "SystemRandomNumberGenerator", ".random(in", "ContinuousClock", "clock_gettime",
        "ProcessInfo", "Date(timeIntervalSinceNow",
      ]
      return makers.flatMap { maker in
        source.codeLines(withWord: maker).map { Finding(source, $0, "uses \(maker)") }
      }
    })

  /// Else a stream says less of a problem than an answer.
  static let problemsInOnePlace = Rule(
    "problem documents are written in one place",
    appliesTo: { $0.hasPrefix("Sources/") && !$0.hasSuffix("/Vocabulary/Problem.swift") },
    check: { source in
      source.textLines(holding: "urn:photoledger:problem:").map { Finding(source, $0, "spells the type of a problem") }
    })

  static let fileLength = Rule("a file of more than 600 lines says why") { source in
    guard source.text.count > 600, !source.essay.lowercased().contains("long because") else { return [] }
    return [Finding(source, 0, "has \(source.text.count) lines, and its essay does not say 'long because'")]
  }

  /// The rooms of the house that stand in no order: folders that a file may lie in, beside `RoomOrder.folders`.
  static let rooms: Set<String> = [
    "CLMDB", "CMicroHTTPD", "CCrypt", "CSystem", "LMDB", "CountedTree", "JSONReading", "LibraryAudit",
    "LibraryPicking", "LibraryUploads", "LibraryMaintenance", "HTTPServing", "ExtensionFoundation",
    "Photos/Library", "Photos/Objects", "Photos/Fetching", "Photos/Changes", "Photos/Resources", "Photos/Images",
    "Photos/Uploads", "Photos/StandIns",
    "StandIns/AVFoundation", "StandIns/CoreMedia", "StandIns/UniformTypeIdentifiers",
  ]

  static let knownRoom = Rule(
    "every source file lies in a room of the house", appliesTo: { $0.hasPrefix("Sources/") },
    check: { source in
      let parts = source.path.split(separator: "/").dropFirst().dropLast()
      let room = parts.joined(separator: "/")
      guard !rooms.contains(room), !RoomOrder.folders.contains(room) else { return [] }
      return [Finding(source, 0, "lies in '\(room)', which neither 'Rule.rooms' nor 'RoomOrder.all' names")]
    })
}

extension String {
  /// Whether the text occurs, and not as the end of a longer name: `Date()` is not in `optionalDate()`.
  fileprivate func holdsWord(_ word: String) -> Bool {
    var rest = self[...]
    while let range = rest.range(of: word) {
      let before = range.lowerBound == startIndex ? nil : self[index(before: range.lowerBound)]
      if !(before.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false) || word.hasPrefix(".") { return true }
      rest = self[range.upperBound...]
    }
    return false
  }
}

extension SwiftSource {
  /// The indices of the lines whose code holds a text that is not the end of a longer name.
  fileprivate func codeLines(withWord word: String) -> [Int] {
    codeLines(holding: word).filter { code[$0].holdsWord(word) }
  }

  /// The modules that the file imports, with the index of the line.
  var imports: [(module: String, line: Int)] {
    codeLines(holding: "import").compactMap { index in
      let words = code[index].split { $0 == " " || $0 == "\t" }.map(String.init)
      guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
        words[..<place].allSatisfy({ $0.hasPrefix("@") || ["public", "package", "internal", "private"].contains($0) })
      else { return nil }
      let kinds = ["struct", "class", "enum", "protocol", "func", "var", "typealias"]
      let path = kinds.contains(words[place + 1]) && place + 2 < words.count ? words[place + 2] : words[place + 1]
      return (String(path.prefix { $0 != "." }), index)
    }
  }
}
