internal import PhotoLedger
internal import Synchronization

// What a source of media gives to an import.
//
//     folders, Takeout, iCloud …  ──▶  catalog  ──▶  ImportRun
//                                      │
//                                      ├ files in the order of the import, what belongs together side by side
//                                      ├ a note for each: name, layers of metadata, albums
//                                      ├ contents that are known since the source was read
//                                      ├ albums, in the source's order
//                                      └ the rules by which it was understood, with examples
//
// Every source ends here, so there is one import, with one way to find duplicates, to be interrupted and to be
// reported. Each file that was found is in the catalog exactly once, those that describe others or are left out with
// their outcome settled; the run counts them with the rest, and the sum must be the number of files.
//
// Same bytes, several places. A photo of Takeout lies in the folder of its year and in that of each album. What is said
// at any of these places counts for the one asset, so files of equal size are read before the import begins, and the
// notes of equal contents are joined. So an asset is complete in the commit that makes it, and an import that ends in
// between has nothing to make good.
//
// Albums are filled when all files are recorded, in the source's order, with assets that were known before as well.
// Interrupted, the next import finds what is missing. The k-th album of the source with a title is the k-th of the
// library with that title, by age, so that a repetition makes no second one.

/// An album of a source.
struct SourceAlbum: Sendable, Hashable {
  /// The title for people.
  var title: String
  /// Positions of files among those of the catalog, in the album's order.
  var files: [Int] = []
}

/// Which of the albums with a title.
struct AlbumPlace: Sendable, Hashable {
  /// Its title.
  var title: String
  /// 0 for the oldest album with that title.
  var ordinal: Int
  /// How many albums of that title the source has.
  var count: Int
}

/// A file that is an edited copy by its name.
struct EditedCopy: Sendable, Hashable {
  /// The files that have the name of its original.
  var originals: [Int]
  /// Whether the source says so, and metadata only must not say otherwise; if not, they have to say the same.
  var isStated: Bool
}

/// What a source of media gives to an import.
struct MediaCatalog: Sendable {
  var files: [ScannedFile]
  var albums: [SourceAlbum] = []
  var rules = RuleLog()
  /// The files that are edited copies by their names.
  var edited: [Int: EditedCopy] = [:]
  /// The library's own copies of members of archives; they go with the import.
  var copies: MemberCopies?

  /// Joins the notes of files with the same content, which each of them has from then on.
  mutating func joinNotes() {
    var byContent: [[UInt8]: [Int]] = [:]
    for (index, file) in files.enumerated() where file.role == .candidate {
      if let content = file.content { byContent[content.sha256, default: []].append(index) }
    }
    for equal in byContent.values where equal.count > 1 {
      var joined = MediaNote()
      for index in equal { if let note = files[index].note { joined.join(note) } }
      for index in equal {
        let isMovingPart = files[index].note?.isMovingPart ?? false
        let name = files[index].note?.name
        files[index].note = joined
        files[index].note?.isMovingPart = isMovingPart
        if let name { files[index].note?.name = name }
      }
    }
  }

  /// The positions of candidates that could have the same content as another one.
  var candidatesOfEqualSize: [Int] {
    let candidates = files.indices.filter { files[$0].role == .candidate && files[$0].byteCount > 0 }
    let bySize = Dictionary(grouping: candidates) { files[$0].byteCount }
    return bySize.values.filter { $0.count > 1 }.flatMap { $0 }.filter { files[$0].content == nil }.sorted()
  }
}

/// The rules that fired, with the first examples of each.
struct RuleLog: Sendable {
  static let exampleLimit = 20
  private var rules: [String: AppliedRule] = [:]

  /// Records that a rule was applied.
  mutating func note(_ rule: String, _ example: @autoclosure () -> String) {
    var entry = rules[rule] ?? AppliedRule(rule: rule, count: 0, examples: [])
    entry.count += 1
    if entry.examples.count < Self.exampleLimit { entry.examples.append(example()) }
    rules[rule] = entry
  }

  func sorted() -> [AppliedRule] { rules.values.sorted { $0.rule < $1.rule } }
}

/// A rule by which the files of a source were understood.
public struct AppliedRule: Sendable, Hashable, Codable {
  /// The rule, as a clause.
  public var rule: String
  /// How often it was applied.
  public var count: Int
  /// The first files that it was applied to, at most 20.
  public var examples: [String]

  /// The rule that warns of exports of two accounts that are imported together.
  package static let equalNames =
    "folders of the same name contain items of the same name, as if two exports were joined"
  /// The rule that counts items without what Google says about them: they have the date and the place of the file only.
  package static let withoutJSON = "an item has no JSON"
  /// The rules that every summary has, since what they report shows nowhere else.
  package static let warnings: Set<String> = [equalNames, withoutJSON]
}

/// An album of a source and what was done about it.
public struct ImportedAlbum: Sendable, Hashable, Codable {
  /// Its title.
  public var title: String
  /// How many assets of the library the source has in it.
  public var memberCount: Int
  /// Whether the library had no album that matches it.
  public var isNew: Bool
  /// How many members were added.
  public var added: Int
  /// How many files the source names as members, copies of one photo counted each.
  public var named: Int
}

/// What became of the files of one part of an export.
public struct PartAccount: Sendable, Hashable, Codable {
  /// The file or folder that was named.
  public var part: String
  /// How many files it has.
  public var files = 0
  /// How many became assets or resources of assets.
  public var taken = 0
  /// How many have the content of another.
  public var duplicates = 0
  /// How many describe other files or albums.
  public var describing = 0
  /// How many were left out, or not reached.
  public var leftOut = 0
}

/// The assets that the members of a source's albums became.
struct AlbumMembers {
  private let source: [SourceAlbum]
  private let isNeeded: Bool
  private var byFile: [Int: LocalIdentifier] = [:]
  private var byPath: [FilePath: LocalIdentifier] = [:]
  private var duplicates: [Int: FilePath] = [:]

  init(of catalog: MediaCatalog) { (source, isNeeded) = (catalog.albums, !catalog.albums.isEmpty) }

  mutating func settle(_ file: Int, _ path: FilePath, _ outcome: FileOutcome) {
    guard isNeeded else { return }
    switch outcome {
    case .asset(let asset), .resource(let asset, _), .duplicateOfAsset(let asset):
      (byFile[file], byPath[path]) = (asset, asset)
    case .duplicateOfFile(let other): duplicates[file] = other
    default: break
    }
  }

  /// The albums with what can be put into them; those of which no file was taken are left out.
  func albums() -> [(place: AlbumPlace, named: Int, assets: [LocalIdentifier])] {
    var ordinals: [String: Int] = [:]
    var found: [(AlbumPlace, Int, [LocalIdentifier])] = []
    for album in source {
      let assets: [LocalIdentifier] = distinct(
        album.files.compactMap { byFile[$0] ?? duplicates[$0].flatMap { byPath[$0] } })
      if assets.isEmpty { continue }
      let ordinal = ordinals[album.title, default: 0]
      ordinals[album.title] = ordinal + 1
      found.append((AlbumPlace(title: album.title, ordinal: ordinal, count: 0), album.files.count, assets))
    }
    for index in found.indices { found[index].0.count = ordinals[found[index].0.title, default: 0] }
    return found
  }
}

/// Counts the outcomes of each part as they come.
final class PartCounts: Sendable {
  private let state = Mutex<[String: PartAccount]>([:])

  func count(_ reports: [FileReport]) {
    state.withLock { accounts in
      var rest = reports[...]
      // Those of one part follow one another.
      while let part = rest.first?.part {
        var account = accounts[part] ?? PartAccount(part: part)
        while let report = rest.first, report.part == part {
          account.files += 1
          switch report.outcome {
          case .asset, .resource: account.taken += 1
          case .duplicateOfFile, .duplicateOfAsset: account.duplicates += 1
          case .sidecar, .describes, .describesAlbum: account.describing += 1
          case .skipped, .notReached: account.leftOut += 1
          }
          rest.removeFirst()
        }
        accounts[part] = account
      }
    }
  }

  var accounts: [PartAccount] { state.withLock { $0.values.sorted { $0.part < $1.part } } }
}
