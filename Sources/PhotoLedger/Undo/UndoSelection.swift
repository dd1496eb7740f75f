public import Foundation

/// The commits to undo, and the objects to which the undo is limited.
///
/// Every property that is set narrows the choice; if none is set, it is everything since the library was created.
public struct UndoSelection: Sendable, Hashable {
  /// The one commit that led to a state: the token of its receipt, or of its events in the log.
  public var commit: Token?
  /// Only commits after this state.
  public var after: Token?
  /// Only commits up to this state, its own included.
  public var through: Token?
  /// Only commits of a cause, spelled exactly so; a commit without one has no cause, and not the empty one.
  public var cause: String?
  /// Only commits of a client.
  public var client: String?
  /// Only commits with an event of one of these kinds: a full type such as `assets.trashed`, its object (`assets`) or
  /// its action (`trashed`); empty: any. All of such a commit is chosen.
  public var kinds: Set<String> = []
  /// Only commits that were made at this instant or later.
  public var since: Date?
  /// Only commits that were made before this instant.
  public var until: Date?
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
/// stand between the first and the last of a run. Commits from before a fork bear the mark of the library in which they
/// were made: where the mark changes, a token up to the position comes again. What finds no room in 256 bytes is
/// counted: `undo:t1-0123456789abcdef-2s,2u..3c,+9`.
public struct UndoneCommits: Sendable, Hashable, CustomStringConvertible {
  /// Runs of neighbouring commits of one library, ascending.
  public let ranges: [ClosedRange<Token>]
  /// How many further commits, later than those, found no room.
  public let furtherCount: Int

  private static let prefix = "undo:"
  private static let byteLimit = 256

  /// - Parameter commits: ascending.
  init(_ commits: [Token]) {
    var runs: [ClosedRange<Token>] = []
    for commit in commits {
      if let run = runs.last, run.upperBound.library == commit.library, run.upperBound.position + 1 == commit.position {
        runs[runs.count - 1] = run.lowerBound...commit
      } else {
        runs.append(commit...commit)
      }
    }
    // Room for the count of what finds none.
    var room = Self.byteLimit - Self.prefix.utf8.count - 22
    let fitting = Self.spelled(runs).prefix { part in
      room -= part.utf8.count + 1
      return room >= 0
    }
    ranges = Array(runs.prefix(fitting.count))
    furtherCount = runs.dropFirst(fitting.count).reduce(0) { count, run in
      count + Int(run.upperBound.position - run.lowerBound.position) + 1
    }
  }

  /// Reads the text of a commit's causation; nil if it names no undo.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    var stem: Substring = ""
    var ranges: [ClosedRange<Token>] = []
    var further = 0
    for part in text.dropFirst(Self.prefix.count).split(separator: ",", omittingEmptySubsequences: false) {
      if part.hasPrefix("+") {
        guard let count = Int(part.dropFirst()) else { return nil }
        further = count
        continue
      }
      var run = part
      if let hyphen = part.lastIndex(of: "-") {
        stem = part[...hyphen]
        run = part[part.index(after: hyphen)...]
      }
      let ends = run.split(separator: "..", omittingEmptySubsequences: false)
      guard (1...2).contains(ends.count), let first = try? Token(stem + ends[0]),
        let last = try? Token(stem + ends[ends.count - 1]), first <= last
      else { return nil }
      ranges.append(first...last)
    }
    guard !ranges.isEmpty else { return nil }
    (self.ranges, furtherCount) = (ranges, further)
  }

  /// The runs, each with its library's mark if it is not that of the run before.
  private static func spelled(_ runs: [ClosedRange<Token>]) -> [String] {
    var library: UInt64?
    return runs.map { run in
      defer { library = run.lowerBound.library }
      let (first, last) = (run.lowerBound, run.upperBound)
      let stem = first.library == library ? "" : Token(library: first.library, commit: 0).description.dropLast()
      let end = first == last ? "" : ".." + String(last.position, radix: 36)
      return stem + String(first.position, radix: 36) + end
    }
  }

  /// The text, as the log holds it.
  public var description: String {
    let parts = Self.spelled(ranges) + (furtherCount > 0 ? ["+\(furtherCount)"] : [])
    return Self.prefix + parts.joined(separator: ",")
  }
}

extension CommitSummary {
  /// The commits that this one undoes; nil if it is not an undo, or not visible to the reader.
  public var undone: UndoneCommits? { causation.flatMap { UndoneCommits($0) } }
}
