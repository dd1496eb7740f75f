/// The commits to undo, and the objects to which the undo is limited.
///
/// Every property that is set narrows the choice; with none set it is everything since the library was created.
public struct UndoSelection: Sendable, Hashable {
  /// The one commit that led to a state: the token of its receipt, or of its events in the log.
  public var commit: Token?
  /// Only commits after this state.
  public var after: Token?
  /// Only commits up to this state, its own included.
  public var through: Token?
  /// Only commits of a cause, spelled exactly so.
  public var cause: String?
  /// Only commits of a client.
  public var client: String?
  /// Only what concerns one of these assets, albums or folders; empty: all of it.
  ///
  /// An asset brings its properties, its existence and its places; an album or folder its own properties and the places
  /// in it.
  public var objects: [LocalIdentifier] = []

  /// Chooses everything.
  public init() {}

  /// Chooses one commit.
  public static func commit(_ token: Token) -> UndoSelection {
    var selection = UndoSelection()
    selection.commit = token
    return selection
  }

  /// Chooses everything with one cause.
  public static func cause(_ cause: String) -> UndoSelection {
    var selection = UndoSelection()
    selection.cause = cause
    return selection
  }

  /// Chooses the commits after one state, up to another.
  public static func commits(after start: Token, through end: Token? = nil) -> UndoSelection {
    var selection = UndoSelection()
    (selection.after, selection.through) = (start, end)
    return selection
  }
}

/// What an undo does with what was changed since.
public enum UndoConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
  /// It does nothing at all if there is such a thing.
  case refuse
  /// It leaves those things as they are and takes the rest back.
  case skip
  /// Reverts them anyway: later values are overwritten.
  case force
}

/// Commits that an undo took back, as the log names them (``CommitSummary/undone``).
///
/// The text begins with `undo:`, a token up to the position, and then positions with commas between them; two dots
/// stand between the first and the last of a run. What finds no room in 256 bytes is counted:
/// `undo:t1-0123456789abcdef-2s,2u..3c,+9`.
public struct UndoneCommits: Sendable, Hashable, CustomStringConvertible {
  /// Runs of neighbouring commits, ascending.
  public let ranges: [ClosedRange<Token>]
  /// How many further commits, later than those, found no room.
  public let furtherCount: Int

  private static let prefix = "undo:"
  private static let byteLimit = 256

  init(_ commits: [UInt64], of library: UInt64) {
    var runs: [ClosedRange<UInt64>] = []
    for commit in commits {
      if let last = runs.last, last.upperBound + 1 == commit {
        runs[runs.count - 1] = last.lowerBound...commit
      } else {
        runs.append(commit...commit)
      }
    }
    let stem = Self.stem(of: library)
    // Room for the count of what finds none.
    var room = Self.byteLimit - stem.utf8.count - 22
    let fitting = runs.prefix { run in
      room -= Self.spelled(run).utf8.count + 1
      return room >= 0
    }
    ranges = fitting.map { run in
      Token(library: library, commit: run.lowerBound)...Token(library: library, commit: run.upperBound)
    }
    furtherCount = runs.dropFirst(fitting.count).reduce(0) { $0 + $1.count }
  }

  /// Reads the text of a commit's causation; nil if it names no undo.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.prefix), let hyphen = text.lastIndex(of: "-") else { return nil }
    let stem = text[text.index(text.startIndex, offsetBy: Self.prefix.count)...hyphen]
    var ranges: [ClosedRange<Token>] = []
    var further = 0
    for part in text[text.index(after: hyphen)...].split(separator: ",", omittingEmptySubsequences: false) {
      if part.hasPrefix("+") {
        guard let count = Int(part.dropFirst()) else { return nil }
        further = count
        continue
      }
      let ends = part.split(separator: "..", omittingEmptySubsequences: false)
      guard (1...2).contains(ends.count), let first = try? Token(stem + ends[0]),
        let last = try? Token(stem + ends[ends.count - 1]), first <= last
      else { return nil }
      ranges.append(first...last)
    }
    guard !ranges.isEmpty else { return nil }
    (self.ranges, furtherCount) = (ranges, further)
  }

  private static func stem(of library: UInt64) -> String {
    prefix + Token(library: library, commit: 0).description.dropLast()
  }

  private static func spelled(_ run: ClosedRange<UInt64>) -> String {
    let first = String(run.lowerBound, radix: 36)
    return run.count == 1 ? first : first + ".." + String(run.upperBound, radix: 36)
  }

  /// The text, as the log holds it.
  public var description: String {
    let runs = ranges.map { Self.spelled($0.lowerBound.position...$0.upperBound.position) }
    let parts = runs + (furtherCount > 0 ? ["+\(furtherCount)"] : [])
    return Self.stem(of: ranges.first?.lowerBound.library ?? 0) + parts.joined(separator: ",")
  }
}

extension CommitSummary {
  /// The commits that this one undoes; nil if it is not an undo, or not visible to the reader.
  public var undone: UndoneCommits? { causation.flatMap { UndoneCommits($0) } }
}
