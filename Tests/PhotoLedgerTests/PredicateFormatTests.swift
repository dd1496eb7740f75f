import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite struct PredicateFormatTests {
  static let day = Date(timeIntervalSinceReferenceDate: 694_224_000)
  static let id = LocalIdentifier(high: 0x4000, low: 1 << 63)

  @Test(
    "the predicates of shipping code are read (FR-10)",
    arguments: [
      ("mediaType == %d", [1], .comparison(.mediaType, .equal, .integer(1))),
      ("mediaType = %d", [1], .comparison(.mediaType, .equal, .integer(1))),
      (
        "mediaType == %d || mediaType == %d", [1, 2], .oneOf(.mediaType, [.integer(1), .integer(2)])
      ),
      ("mediaType IN %@", [[.integer(1), .integer(2)]], .oneOf(.mediaType, [.integer(1), .integer(2)])),
      (
        "localIdentifier IN %@", [[.text(id.uuidString + "/L0/001"), .text("gone")]],
        .comparison(.localIdentifier, .equal, .identifier(id))
      ),
      ("SELF IN %@", [[.identifier(id)]], .comparison(.localIdentifier, .equal, .identifier(id))),
      ("creationDate > %@", [.value(.date(day))], .comparison(.creationDate, .greater, .date(day))),
      (
        "creationDate >= %@ AND creationDate < %@", [.value(.date(day)), .value(.date(day + 86400))],
        .and([
          .comparison(.creationDate, .greaterOrEqual, .date(day)),
          .comparison(.creationDate, .less, .date(day + 86400)),
        ])
      ),
      ("(mediaSubtypes & %d) != 0", [8], .bits(.mediaSubtypes, mask: 8, .notEqual, 0)),
      ("(mediaSubtype & %d) == 8", [8], .bits(.mediaSubtypes, mask: 8, .notEqual, 0)),
      ("NOT ((mediaSubtypes & %d) != 0)", [4], .bits(.mediaSubtypes, mask: 4, .equal, 0)),
      ("mediaSubtypes == %ld", [16], .comparison(.mediaSubtypes, .equal, .integer(16))),
      ("favorite == YES", [], .isTrue(.isFavorite)),
      ("isFavorite == %@", [true], .isTrue(.isFavorite)),
      ("hidden != 1", [], .comparison(.isHidden, .equal, .bool(false))),
      ("!(isHidden == YES)", [], .comparison(.isHidden, .equal, .bool(false))),
      (
        "%K == %u && %K <= %f", ["pixelWidth", 100, "duration", 2.5],
        .and([.comparison(.pixelWidth, .equal, .integer(100)), .comparison(.duration, .lessOrEqual, .double(2.5))])
      ),
      ("burstIdentifier != nil", [], .isPresent(.burstIdentifier)),
      ("burstIdentifier == %@", [nil], .isNil(.burstIdentifier)),
      ("duration BETWEEN {1, 5}", [], .between(.duration, .double(1), .double(5))),
      ("duration BETWEEN %@", [[.integer(1), .double(5)]], .between(.duration, .double(1), .double(5))),
    ] as [(String, [PredicateArgument], Condition)])
  func shipping(format: String, arguments: [PredicateArgument], expected: Condition) throws {
    #expect(try Condition(format: format, arguments: arguments, for: .asset) == expected.normalized())
  }

  @Test(
    "the whole grammar is read",
    arguments: [
      ("TRUEPREDICATE", .always),
      ("FALSEPREDICATE OR isFavorite == TRUE", .isTrue(.isFavorite)),
      ("5 < duration", .comparison(.duration, .greater, .double(5))),
      ("5 =< duration", .comparison(.duration, .greaterOrEqual, .double(5))),
      ("duration => -1.5e1", .comparison(.duration, .greaterOrEqual, .double(-15))),
      ("duration <> .5", .comparison(.duration, .notEqual, .double(0.5))),
      ("pixelWidth > 0xFF", .comparison(.pixelWidth, .greater, .integer(255))),
      ("pixelWidth > 10 * (2 + 3) - 2 ** 3", .comparison(.pixelWidth, .greater, .integer(42))),
      ("pixelWidth > ~0 & 7", .comparison(.pixelWidth, .greater, .integer(7))),
      ("mediaSubtypes & 8 != 0", .bits(.mediaSubtypes, mask: 8, .notEqual, 0)),
      ("0 != (8 & mediaSubtypes)", .bits(.mediaSubtypes, mask: 8, .notEqual, 0)),
      (
        "(mediaSubtypes & 3) IN {1, 2}",
        .or([.bits(.mediaSubtypes, mask: 3, .equal, 1), .bits(.mediaSubtypes, mask: 3, .equal, 2)])
      ),
      ("pixelWidth > pixelHeight", .pair(.pixelWidth, .greater, .pixelHeight)),
      ("not isFavorite==yes and isHidden==no", .and([.not(.isTrue(.isFavorite)), .not(.isTrue(.isHidden))])),
      (
        "isFavorite == YES OR isHidden == YES AND duration > 1",
        .or([
          .isTrue(.isFavorite), .and([.isTrue(.isHidden), .comparison(.duration, .greater, .double(1))]),
        ])
      ),
      (
        "creationDate < CAST(694224000, \"NSDate\")",
        .comparison(.creationDate, .less, .date(day))
      ),
      ("creationDate < '2023-01-01T02:00:00+02:00'", .comparison(.creationDate, .less, .date(day))),
      ("creationDate >= '2023-01-01'", .comparison(.creationDate, .greaterOrEqual, .date(day))),
      ("localCreationDate == '2023-01-01T00:00:00'", .comparison(.localCreationDate, .equal, .date(day))),
      (
        "burstIdentifier BEGINSWITH[cd] 'a'",
        .text(.burstIdentifier, .beginsWith, "a", [.caseInsensitive, .diacriticInsensitive])
      ),
      ("burstIdentifier endswith \"\\\"\\u0041\\\\\"", .text(.burstIdentifier, .endsWith, "\"A\\", [])),
      ("burstIdentifier LIKE[n] '*a?'", .text(.burstIdentifier, .like, "*a?", [])),
      ("burstIdentifier MATCHES[c] '^a+$'", .text(.burstIdentifier, .matches, "^a+$", .caseInsensitive)),
      ("burstIdentifier ==[c] 'x'", .text(.burstIdentifier, .equals, "x", .caseInsensitive)),
      ("burstIdentifier !=[c] 'x'", .not(.text(.burstIdentifier, .equals, "x", .caseInsensitive))),
      ("burstIdentifier IN[c] {'x'}", .text(.burstIdentifier, .equals, "x", .caseInsensitive)),
      ("'x' IN burstIdentifier", .text(.burstIdentifier, .contains, "x", [])),
      ("{1, 2} CONTAINS mediaType", .oneOf(.mediaType, [.integer(1), .integer(2)])),
      ("mediaType IN {}", .never),
      ("#isFavorite == YES", .isTrue(.isFavorite)),
      ("1 == 1 AND 'b' IN {'a', 'b'} AND 'abc' CONTAINS 'b'", .always),
      ("1 == 2", .never),
      ("latitude == NULL", .isNil(.latitude)),
    ] as [(String, Condition)])
  func grammar(format: String, expected: Condition) throws {
    #expect(try Condition(format: format, for: .asset) == expected.normalized())
  }

  @Test(
    "collections have keys of their own",
    arguments: [
      ("title == 'Trip'", .comparison(.localizedTitle, .equal, .text("Trip"))),
      (
        "localizedTitle CONTAINS[cd] 'ete'",
        .text(.localizedTitle, .contains, "ete", [.caseInsensitive, .diacriticInsensitive])
      ),
      ("estimatedAssetCount > 0", .comparison(.estimatedAssetCount, .greater, .integer(0))),
      ("startDate == nil", .isNil(.startDate)),
    ] as [(String, Condition)])
  func collections(format: String, expected: Condition) throws {
    #expect(try Condition(format: format, for: .collection) == expected.normalized())
  }

  @Test(
    "an error is rejected with its position (FR-09)",
    arguments: [
      ("", 1, .malformedPredicate), ("isFavorite", 11, .malformedPredicate), ("isFavorite ==", 14, .malformedPredicate),
      ("isFavorite == YES AND", 22, .malformedPredicate), ("(isFavorite == YES", 19, .malformedPredicate),
      ("isFavorite == YES)", 18, .malformedPredicate), ("== 5", 1, .malformedPredicate),
      ("keyword == 'x'", 1, .unknownKey), ("isHidden == YES AND Favorite == YES", 21, .unknownKey),
      ("location.latitude > 5", 1, .unknownKey), ("localizedTitle == 'x'", 1, .unknownKey),
      ("mediaType == 'image'", 14, .wrongArgument), ("creationDate > 5", 16, .wrongArgument),
      ("creationDate > 'yesterday'", 16, .wrongArgument),
      ("duration < YES AND mediaType IN {1, 'x'}", 33, .wrongArgument),
      ("isFavorite < YES", 14, .unsupportedPredicate), ("localIdentifier > 'a'", 19, .unsupportedPredicate),
      ("mediaType CONTAINS 'x'", 1, .unsupportedPredicate), ("burstIdentifier CONTAINS 5", 26, .wrongArgument),
      ("burstIdentifier MATCHES '('", 25, .malformedPredicate), ("mediaType IN 5", 14, .wrongArgument),
      ("duration BETWEEN {1}", 18, .wrongArgument), ("duration BETWEEN[c] {1, 2}", 10, .unsupportedPredicate),
      ("duration + 1 > 5", 10, .unsupportedPredicate), ("pixelWidth > 5 / 0", 16, .malformedPredicate),
      ("pixelWidth > 9223372036854775808", 14, .malformedPredicate), ("pixelWidth > 5x", 14, .malformedPredicate),
      ("creationDate > now()", 16, .unsupportedPredicate), ("ANY mediaType == 1", 1, .unsupportedPredicate),
      ("mediaType == ALL mediaSubtypes", 14, .unsupportedPredicate),
      ("SUBQUERY(a, $x, 1) == 1", 1, .unsupportedPredicate),
      ("mediaType == $TYPE", 14, .unsupportedPredicate), ("mediaType.@count == 1", 10, .malformedPredicate),
      ("burstIdentifier ==[l] 'x'", 20, .unsupportedPredicate), ("burstIdentifier ==[q] 'x'", 20, .malformedPredicate),
      ("burstIdentifier <[c] 'x'", 17, .unsupportedPredicate), ("burstIdentifier == 'x", 20, .malformedPredicate),
      ("mediaType == %@", 14, .wrongArgument), ("mediaType == %s", 14, .malformedPredicate),
      ("mediaType == 5 %% 2", 16, .malformedPredicate), ("mediaType UTI-EQUALS 5", 11, .unsupportedPredicate),
      ("(isFavorite == YES) == YES", 1, .unsupportedPredicate), ("é == 5", 1, .malformedPredicate),
      ("burstIdentifier == 'é' AND x == 1", 28, .unknownKey), ("(mediaSubtypes & 1) == 1.5", 24, .wrongArgument),
      ("(isFavorite & 1) == 1", 1, .unsupportedPredicate), ("burstIdentifier == '\\ud800'", 20, .malformedPredicate),
    ] as [(String, Int, FetchError.Code)])
  func refused(format: String, column: Int, code: FetchError.Code) {
    let error = #expect(throws: FetchError.self) { try Condition(format: format, for: .asset) }
    #expect(error?.code == code, "\(error?.description ?? "")")
    #expect(error?.offset.map { $0 + 1 } == column, "\(error?.description ?? "")")
    #expect(error?.description.contains("at column \(column)") == true)
    #expect(error?.excerpt == format + "\n" + String(repeating: " ", count: column - 1) + "^")
  }

  @Test(
    "a missing comparison at the end is reported at the end",
    arguments: ["isFavorite", "NOT isFavorite", "isHidden == YES AND isFavorite", "isHidden == YES OR isFavorite"])
  func foundAtEnd(format: String) {
    let error = #expect(throws: FetchError.self) { try Condition(format: format, for: .asset) }
    let sentence = "write isFavorite == YES, found the end"
    #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
  }

  @Test(
    "arguments of the wrong type or number are rejected",
    arguments: [
      ("mediaType == %d", [1.5], 14), ("mediaType == %d", ["x"], 14), ("mediaType == 1", [1], 15),
      ("%K == 1", [1], 1), ("%K == 1", ["x"], 1), ("mediaType == %@", [[.integer(1)]], 11),
      ("duration == %@", [.value(.double(.nan))], 13),
    ] as [(String, [PredicateArgument], Int)])
  func refusedArguments(format: String, arguments: [PredicateArgument], column: Int) {
    let error = #expect(throws: FetchError.self) {
      try Condition(format: format, arguments: arguments, for: .asset)
    }
    #expect(error?.offset.map { $0 + 1 } == column, "\(error?.description ?? "")")
  }

  @Test("an unknown key's error lists the keys of the class")
  func listsKeys() {
    let error = #expect(throws: FetchError.self) { try Condition(format: "filename == 'x'", for: .collection) }
    #expect(
      error?.description
        == "Unknown key 'filename' for collections, at column 1; the keys are albumSubtype, canContainAssets, "
        + "canContainCollections, creationDate, endDate, estimatedAssetCount, kind, localIdentifier, localizedTitle, "
        + "modificationDate, startDate.")
  }

  @Test("arguments of any type are converted or rejected by their type")
  func anyArguments() throws {
    #expect(try PredicateArgument([1, 2]) == [.integer(1), .integer(2)])
    #expect(try PredicateArgument(Set<MediaType>([.image])) == [.integer(1)])
    #expect(try PredicateArgument(MediaSubtypes.photoLive) == 8)
    #expect(try PredicateArgument(Int?.none as Any) == nil)
    #expect(try PredicateArgument(Date?.some(Self.day) as Any) == .value(.date(Self.day)))
    #expect(try PredicateArgument(Float(0.5)) == 0.5)
    #expect(try PredicateArgument("x".dropFirst(0)) == "x")
    let row = AssetRow(number: 1, identifier: Self.id, addedDate: Self.day)
    #expect(try PredicateArgument(Asset(row: row, seenBy: .full, commit: 1)) == .value(.identifier(Self.id)))
    struct Other {}
    #expect(throws: FetchError.self) { try PredicateArgument(Other()) }
    #expect(throws: FetchError.self) { try PredicateArgument(Other?.some(Other()) as Any) }
    #expect(throws: FetchError.self) { try PredicateArgument([[1]]) }
    #expect(throws: FetchError.self) { try PredicateArgument(UInt64.max) }
  }

  @Test("the description of a condition parses to the same condition", arguments: [21, 22, 23] as [UInt64])
  func roundTrip(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    for entity in [Entity.asset, .collection] {
      for _ in 0..<(Dose.isFull ? 5_000 : 400) {
        let condition = random.condition(for: entity)
        let normal = condition.normalized()
        try #require(Condition(format: normal.description, for: entity) == normal, "seed \(seed): \(normal)")
        try #require(Condition(format: condition.description, for: entity) == normal, "seed \(seed): \(condition)")
      }
    }
  }

  @Test("nesting is bounded, and reading takes linear time")
  func bounds() throws {
    let deep = String(repeating: "(", count: 50) + "isFavorite == YES" + String(repeating: ")", count: 50)
    #expect(try Condition(format: deep, for: .asset) == .isTrue(.isFavorite))
    // So many levels would exhaust a stack at either dose.
    let count = Dose.isFull ? 100_000 : 40_000
    for opening in ["(", "NOT ", "!", "-", "~", "{"] {
      let format = String(repeating: opening, count: count)
      let error = #expect(throws: FetchError.self) { try Condition(format: format, for: .asset) }
      #expect(error?.code == .malformedPredicate || error?.code == .unsupportedPredicate)
    }
    let list = (0..<count).map { "\($0)" }.joined(separator: ", ")
    guard case .oneOf(.pixelWidth, let values) = try Condition(format: "pixelWidth IN {\(list)}", for: .asset) else {
      Issue.record("a long list is a membership")
      return
    }
    #expect(values.count == count)
  }

  @Test("no text makes the parser trap", arguments: [31, 32] as [UInt64])
  func fuzz(seed: UInt64) {
    var random = QueryRandom(seed: seed)
    let pieces = [
      "isFavorite", "creationDate", "burstIdentifier", "mediaSubtypes", "==", "!=", "<", "&", "(", ")", "{", "}", "[",
      "]",
      ",", "'", "\"", "\\", "\\u00", "1", "-", "0x", "1e", ".5", "9223372036854775807", "**", "<<", "/", "AND", "OR",
      "NOT",
      "!", "IN", "BETWEEN", "LIKE", "MATCHES", "'(a|b)*'", "[cd]", "%@", "%K", "%ld", "%", "$x", "@", "#", "NULL",
      "YES",
      "CAST(", "TRUEPREDICATE", "é", "\u{0}", "\u{301}", "2024-01-01", "~", "ANY", "SELF", "\n",
    ]
    let arguments: [PredicateArgument] = ["isFavorite", 5, 2.5, nil, [.integer(1), .text("x")]]
    var read = 0
    for _ in 0..<(Dose.isFull ? 50_000 : 8_000) {
      let parts = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        random.chance(1, of: 30)
          ? String(decoding: [UInt8(truncatingIfNeeded: random.next())], as: UTF8.self) : random.one(of: pieces)
      }
      let format = parts.joined(separator: random.chance(1, of: 2) ? " " : "")
      let given = Array(arguments.shuffled(using: &random).prefix(parts.filter { $0.hasPrefix("%") }.count))
      do throws(FetchError) {
        _ = try Condition(format: format, arguments: given, for: .asset)
        read += 1
      } catch {
        #expect(error.offset != nil && !error.description.isEmpty, "\(format)")
      }
    }
    #expect(read > (Dose.isFull ? 20 : 5), "some of the texts should be predicates")
  }

  @Test("a word with any number of hyphens is read in bounded depth", arguments: ["", "#", "$", "@"])
  func hyphens(prefix: String) {
    // So many levels would exhaust a stack at either dose, in frames of a hundred bytes.
    let format = prefix + String(repeating: "uti-", count: Dose.isFull ? 300_000 : 100_000)
    #expect(throws: FetchError.self) { try Condition(format: format, for: .asset) }
  }
}
