#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import TestSupport
  import Testing

  // What comes from outside, read by the real readers and by naive models of the standards: regular expressions for
  // ranges and fields, another program's reader for JSON. Texts are made of pieces that the grammars know, then
  // damaged, so that most are nearly right.

  @Suite("Readers with generated input")
  struct ReaderFuzzTests {
    private static let seeds = 0..<UInt64(Dose.of(4))

    private static func text(_ pieces: [String], _ random: inout SeededGenerator) -> String {
      (0..<Int.random(in: 1...6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    // MARK: Ranges

    /// RFC 9110, 14.1.2, for one range of bytes.
    private static func range(_ field: String, count: Int) -> HTTPRange {
      guard let match = field.wholeMatch(of: #/(?i:bytes)=[ \t]*([0-9]*)-([0-9]*)[ \t]*/#) else { return .whole }
      // Numbers of the model have as many digits as they like: they are compared as texts of one length.
      func padded(_ digits: some StringProtocol) -> String {
        String(repeating: "0", count: 200 - digits.count) + digits
      }
      func whole(_ digits: some StringProtocol, atMost limit: Int) -> Int {
        padded(digits) < padded("\(limit)") ? Int(digits) ?? limit : limit
      }
      let (first, last) = (match.1, match.2)
      if first.isEmpty {
        if last.isEmpty { return .whole }
        guard padded(last) > padded("0"), count > 0 else { return .unsatisfiable }
        return .part(UInt64(count - whole(last, atMost: count))..<UInt64(count))
      }
      guard last.isEmpty || padded(first) <= padded(last) else { return .whole }
      let start = whole(first, atMost: count)
      guard start < count else { return .unsatisfiable }
      return .part(UInt64(start)..<UInt64(last.isEmpty ? count : whole(last, atMost: count - 1) + 1))
    }

    @Test("a range is parsed as the standard says, however it is written", arguments: seeds)
    func ranges(_ seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let pieces = [
        "0", "1", "9", "10", "11", "99", "4294967296", "99999999999999999999999", "-", "-", "=", ",", " ", "bytes", "a",
      ]
      var parts = 0
      for _ in 0..<3_000 {
        let field = Bool.random(using: &random) ? "bytes=" + Self.text(pieces, &random) : Self.text(pieces, &random)
        let count = [0, 1, 10, 100, 1 << 33].randomElement(using: &random) ?? 0
        let read = HTTPRange(field, count: UInt64(count))
        #expect(read == Self.range(field, count: count), "'\(field)' of \(count)")
        if case .part = read { parts += 1 }
      }
      #expect(parts > 10)
    }

    // MARK: Uploads

    private static func head(_ fields: [(String, String)]) throws -> UploadHead {
      try UploadHead(HTTPRequest(method: "POST", target: HTTPTarget("/v1/uploads"), fields: HTTPFields(fields)))
    }

    /// What the fields say, by regular expressions; nil: they are refused.
    private static func model(_ fields: [(String, String)]) -> UploadHead? {
      var head = UploadHead()
      func value(_ name: String) -> (isThere: Bool, isTwice: Bool, text: String) {
        let all = fields.filter { $0.0.lowercased() == name.lowercased() }.map(\.1)
        return (!all.isEmpty, all.count > 1, (all.first ?? "").trimmingCharacters(in: .whitespaces))
      }
      var flags: [Bool?] = []
      for name in ["Upload-Complete", "Upload-Incomplete"] {
        let field = value(name)
        guard !field.isTwice, !field.isThere || ["?0", "?1"].contains(field.text) else { return nil }
        flags.append(field.isThere ? field.text == "?1" : nil)
      }
      if let complete = flags[0], let incomplete = flags[1], complete == incomplete { return nil }
      head.isLast = flags[0] ?? flags[1].map { !$0 }
      var numbers: [UInt64?] = []
      for name in ["Upload-Offset", "Upload-Length", "Upload-Draft-Interop-Version"] {
        let field = value(name)
        guard !field.isTwice, !field.isThere || field.text.wholeMatch(of: #/[0-9]{1,15}/#) != nil else { return nil }
        numbers.append(field.isThere ? UInt64(field.text) : nil)
      }
      (head.offset, head.length, head.version) = (numbers[0], numbers[1], numbers[2].map { Int($0) })
      return head
    }

    @Test("the fields of an upload mean what the draft says, or are rejected", arguments: seeds)
    func fields(_ seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let names = [
        "Upload-Complete", "Upload-Incomplete", "Upload-Offset", "Upload-Length", "Upload-Draft-Interop-Version",
        "upload-complete", "UPLOAD-OFFSET",
      ]
      let values = [
        "?0", "?1", "?1", "?0", " ?1 ", "?2", "1", "0", "15", "999999999999999", "1000000000000000", "-1", "+1", "1 2",
        "٣", "0x10", "", "?1;a=b", "?1, ?0", "00",
      ]
      var readCount = 0
      for _ in 0..<3_000 {
        let fields = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          (names.randomElement(using: &random) ?? "", values.randomElement(using: &random) ?? "")
        }
        let expected = Self.model(fields)
        do {
          let read = try Self.head(fields)
          #expect(read == expected, "\(fields)")
          readCount += 1
        } catch let problem as Problem {
          #expect(expected == nil && problem.status == 400, "\(fields): \(problem.detail)")
        }
      }
      #expect((300..<2_700).contains(readCount))
    }

    @Test(
      "a name out of any field is one component without control characters, and digests have their length",
      arguments: seeds)
    func names(_ seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let pieces = [
        "attachment", ";", "; ", "filename=", "filename*=", "FileName = ", "UTF-8''", "utf-8'en'", "\"", "\\", "a.jpg",
        "..", "/", "\\\\", "%2F", "%00", "%C3%A4", "%FF", "%", "ä", "\u{202E}", "\u{301}", "=", "'", " ", "a\tb",
      ]
      let digests = [
        "sha-256=", ":", "sha-512=", ",", Data(count: 32).base64EncodedString(), "AAAA", "=", " ",
        "sha-256=:\(Data(count: 32).base64EncodedString()):", "SHA-256=",
      ]
      var namedCount = 0
      for _ in 0..<3_000 {
        let fields = [
          ("content-disposition", "attachment; filename" + Self.text(pieces, &random)),
          ("repr-digest", Self.text(digests, &random)),
        ]
        do {
          let head = try Self.head(Array(fields.prefix(Int.random(in: 1...2, using: &random))))
          #expect(head.sha256?.count ?? 32 == 32, "\(fields)")
          guard let name = head.name else { continue }
          namedCount += 1
          #expect(!name.contains("/") && !name.contains("\\") && name != "." && name != "..", "\(fields)")
          #expect(!name.isEmpty && name.utf8.count <= 255, "\(fields)")
          let kinds = name.unicodeScalars.map(\.properties.generalCategory)
          #expect(!kinds.contains(.control) && !name.unicodeScalars.contains("\u{202E}"), "\(fields)")
        } catch let problem as Problem {
          #expect(problem.status == 400)
        }
      }
      #expect(namedCount > 20)
    }

    // MARK: JSON

    private static func value(_ depth: Int, _ random: inout SeededGenerator) -> String {
      let leaves = [
        "0", "-1", "1.5e3", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e400", "-0", "01",
        "true", "false", "null", "\"\"", "\"a\\u00e4\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\\\"\\\\/\"", "\"é\"", "nul",
        "\"\\x\"",
      ]
      let count = Int.random(in: 0...3, using: &random)
      switch depth > 0 ? Int.random(in: 0..<3, using: &random) : 2 {
      case 0: return "[" + (0..<count).map { _ in value(depth - 1, &random) }.joined(separator: ",") + "]"
      case 1:
        let members = (0..<count).map { index in "\"k\(index % 2 + index / 3)\": " + value(depth - 1, &random) }
        return "{" + members.joined(separator: " , ") + "}"
      default: return leaves.randomElement(using: &random) ?? ""
      }
    }

    /// Whether a value is the one that Foundation read.
    private static func isSame(_ json: JSON, _ other: Any) -> Bool {
      switch json {
      case .null: return other is NSNull
      case .bool(let flag): return (other as? NSNumber).map { $0.boolValue == flag } ?? false
      case .integer(let whole): return (other as? NSNumber)?.int64Value == whole
      case .number(let number):
        // Foundation rounds numbers of many digits otherwise.
        return (other as? NSNumber).map { abs($0.doubleValue - number) <= abs(number) * 1e-12 } ?? false
      case .text(let text): return (other as? String).map { Array($0.utf8) == Array(text.utf8) } ?? false
      case .list(let items):
        guard let others = other as? [Any], others.count == items.count else { return false }
        return zip(items, others).allSatisfy { isSame($0, $1) }
      case .object(let members):
        guard let others = other as? [String: Any], others.count == members.count else { return false }
        return members.allSatisfy { member in others[member.key].map { isSame(member.value, $0) } ?? false }
      default: return false
      }
    }

    @Test("JSON is read as another reader reads it, and is unchanged when it is written again", arguments: seeds)
    func json(_ seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let damage = Array("\"\\{}[],:0eE+-. tfn\u{1}".utf8) + [0x80, 0xC3, 0xFF]
      var readCount = 0
      for _ in 0..<1_500 {
        var bytes = Array(Self.value(4, &random).utf8)
        for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          let byte = damage.randomElement(using: &random) ?? 0
          switch Int.random(in: 0..<3, using: &random) {
          case 0: bytes[place] = byte
          case 1: bytes.insert(byte, at: place)
          default: bytes.remove(at: place)
          }
        }
        let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(JSONError) {
          let json = try JSONReader.read(bytes)
          readCount += 1
          #expect(other.map { Self.isSame(json, $0) } ?? false, "\(text)")
          let again = try JSONReader.read(Array(json.description.utf8))
          #expect(again.description == json.description, "\(text)")
        } catch {
          // What only this reader refuses: a repeated key, a number out of range, and a comma at the end.
          let strict = [
            "is repeated", "out of range", "UTF-8", "surrogate", "value, found ']'", "quotation marks, found '}'",
          ]
          let isStricter = strict.contains { error.description.contains($0) }
          #expect(other == nil || isStricter, "\(text): \(error)")
        }
      }
      #expect(readCount > 200)
    }
  }
#endif
