import EventLog
public import Foundation
import PhotoLedger

// A checkpoint: the state of the log at one time, small enough to be stored out of reach of writers of the library.
//
//     photoledger/910A2DEC-8902-4CC1-BEEB-8DA1658EEC67      origin: which log
//     77                                                    size: how many events
//     nts77WSFa1zR9t1oNfFEJV7Hr3QJxsFSRgN+UwbfdYc=          root of the Merkle tree over them (RFC 9162), base64
//     commit 24                                             the head: the last commit …
//     chain 8eeb059912988a8961ee5f1b0b67adcf27356ccd…       … and the chain up to its last event
//     time 2025-06-15T15:07:23Z                             when the checkpoint was made
//                                                           an empty line ends the text; signatures may follow
//
// This is the text form of C2SP's tlog-checkpoint inside a signed note (c2sp.org/tlog-checkpoint, signed-note): three
// lines that every tool for transparency logs reads, and three of our own. It is written unsigned: a signature needs a
// key that the library's host does not hold, and no cryptography is written here that a well-kept tool does better. A
// signature line that such a tool adds is carried along, and not checked.
//
// Rejected: accepting unknown lines. A checkpoint is evidence, and a program that skips a line cannot say what was
// compared.

/// The state of a library's log at one time: its size, Merkle root, head and the time.
///
/// Stored elsewhere, it reveals any later change of the events that it covers, which the library by itself cannot: an
/// attacker who can write its file can recompute every hash in it.
public struct Checkpoint: Sendable, Hashable, CustomStringConvertible {
  /// Which log it is of: `photoledger/` and the identifier of the library.
  public let origin: String
  /// How many events the log had.
  public let size: UInt64
  /// The root of the Merkle tree over their leaf hashes (RFC 9162), in hexadecimal digits.
  public let root: String
  /// The number of the last commit.
  public let commit: UInt64
  /// The chain up to the last event, in hexadecimal digits.
  public let chain: String
  /// When it was made, to the second.
  public let time: Date
  /// The signature lines of the note, as they stand; the library makes none and checks none.
  public let signatures: [String]

  init(origin: String, _ state: LogVerification.State, time: Date) {
    self.origin = origin
    size = state.head.sequence
    root = state.root.description
    commit = state.head.commit
    chain = state.head.chain.description
    self.time = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
    signatures = []
  }

  /// Parses a note in the form of ``description``.
  /// - Throws: ``LibraryError`` `.invalidProof` if it is invalid, naming the line.
  public init(_ note: String) throws {
    // As bytes throughout: combining marks make a comparison of text quadratic.
    let lines = note.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    let hasOtherLineEnds = note.utf8.contains(UInt8(ascii: "\r"))
    guard !hasOtherLineEnds, lines.count >= 8, lines[6].isEmpty, lines[lines.count - 1].isEmpty else {
      throw Self.malformed("it does not have six lines and an empty one")
    }
    var reader = NoteReader(lines: lines)
    origin = try reader.line("origin") { Self.isOrigin($0) ? $0 : nil }
    size = try reader.line("size") { Self.number($0) }
    root = try reader.line("root") { Self.digest(base64: $0) }
    commit = try reader.line("commit", prefix: "commit ") { Self.number($0) }
    chain = try reader.line("chain", prefix: "chain ") { SHA256Digest(hexadecimal: $0)?.description == $0 ? $0 : nil }
    time = try reader.line("time", prefix: "time ") { Self.instant($0) }
    signatures = Array(lines[7..<lines.count - 1])
    guard signatures.allSatisfy({ $0.utf8.starts(with: "— ".utf8) }) else {
      throw Self.malformed("the text after the empty line is not a signature")
    }
  }

  /// The note: its text, an empty line, and the signature lines.
  public var description: String {
    let text = [
      origin, String(size), Data(SHA256Digest(hexadecimal: root)?.bytes ?? []).base64EncodedString(),
      "commit \(commit)", "chain \(chain)", "time \(Self.spelling(of: time))", "",
    ]
    return (text + signatures).map { $0 + "\n" }.joined()
  }

  /// Writes the note to a file, which appears under its name when it is whole and durable. A file that is there is not
  /// replaced: it is evidence.
  /// - Throws: ``LibraryError``: `.alreadyExists`, `.notEnoughSpace`, `.storage`.
  public func write(to file: URL) throws {
    do {
      try writeWhole(to: file)
    } catch let error as LibraryError where error.code == .alreadyExists {
      throw LibraryError(
        .alreadyExists,
        "\(file.path) already exists, and a checkpoint never replaces a file; choose another path.")
    }
  }

  private func writeWhole(to file: URL) throws {
    let target = try UnfinishedFile(at: file, isReplacing: false)
    try target.write(Array(description.utf8))
    try target.finish()
  }

  /// The time as the note spells it: RFC 3339 in UTC, to the second.
  public var spelledTime: String { Self.spelling(of: time) }

  static let originPrefix = "photoledger/"

  private static func spelling(of time: Date) -> String { time.formatted(.iso8601) }

  private static func isOrigin(_ text: String) -> Bool {
    text.utf8.starts(with: originPrefix.utf8) && text.utf8.allSatisfy { $0 < 0x80 }
  }

  private static func instant(_ text: String) -> Date? {
    guard let date = try? Date(text, strategy: .iso8601), spelling(of: date).utf8.elementsEqual(text.utf8) else {
      return nil
    }
    return date
  }

  private static func number(_ text: String) -> UInt64? {
    guard let number = UInt64(text), number > 0, String(number) == text else { return nil }
    return number
  }

  private static func digest(base64 text: String) -> String? {
    guard let data = Data(base64Encoded: text), data.count == SHA256Digest.byteCount,
      data.base64EncodedString() == text
    else { return nil }
    return SHA256Digest([UInt8](data).span.bytes).description
  }

  fileprivate static func malformed(_ what: String) -> LibraryError {
    LibraryError(
      .invalidProof, "This is not a checkpoint: \(what); pass a file written by `checkpoint`, unaltered.")
  }
}

/// Takes the lines of a note one after another.
private struct NoteReader {
  let lines: [String]
  private var next = 0

  init(lines: [String]) { self.lines = lines }

  mutating func line<Value>(_ name: String, prefix: String = "", _ read: (String) -> Value?) throws -> Value {
    let line = lines[next]
    next += 1
    guard line.utf8.starts(with: prefix.utf8),
      let value = read(String(Substring(line.utf8.dropFirst(prefix.utf8.count))))
    else {
      let excerpt = String(line.unicodeScalars.prefix(80))
      throw Checkpoint.malformed("its line \(next), '\(excerpt)', is not a \(name)")
    }
    return value
  }
}
