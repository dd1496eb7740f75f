internal import PhotoLedger

// Whose the files of earlier exports are, and in which order files of other assets may have their paths.
//
//     the asset of the journal's line is in the library      its file
//     it is gone, and an asset that is exported has the      that one's: the photo was imported again, or, where the
//     same bytes                                             folder has files of that asset already, the two were
//                                                            duplicates, and it gets plain copies only
//     it is gone                                             the file of no asset; it keeps its path, unless unwanted
//                                                            files are to be removed
//
// Invariant: a file is replaced by one of another asset only when each wanted file of its owner is in its place, one
// with its bytes among them, since it may be the last good copy. Where two assets change places, neither can be first;
// the files of both are made before one of them gets its name.

/// Whose the files of earlier exports are.
final class ExportOwners {
  private let library: PhotoLibrary
  private var asked: Set<String> = []
  private var known: [String: Bool] = [:]
  /// The exported assets by the hashes of files that gone assets had.
  private var heirs: [String: String] = [:]
  /// Those of which the folder had nothing, also by the gone assets whose photos they are.
  private var newcomers: [String: String] = [:]
  /// The hashes that are exported of owners of files that others are to replace.
  private var wanted: [String: Set<String>] = [:]
  /// The paths that earlier exports keep for assets that are in the library and not asked for now.
  private(set) var others: Set<String> = []
  /// The lines of assets that are gone.
  private var gone: [JournalLine] = []

  init(_ library: PhotoLibrary) { self.library = library }

  /// Finds the owners of what a journal names.
  func find(_ lines: [String: [JournalLine]], _ subjects: [ExportSubject]) throws {
    asked = Set(subjects.map(\.asset.id.uuidString))
    var recorded: Set<String> = []
    for (path, lines) in lines {
      guard let line = lines.last else { continue }
      if asked.contains(line.asset) {
        recorded.insert(line.asset)
      } else if try isThere(line.asset) {
        others.insert(path)
      } else {
        gone.append(line)
      }
    }
    let sought = Set(gone.compactMap(\.sourceHash))
    if sought.isEmpty { return }
    for subject in subjects {
      let asset = subject.asset.id.uuidString
      for resource in subject.details.resources {
        let hash = resource.sha256Hex
        guard sought.contains(hash) else { continue }
        if heirs[hash] == nil { heirs[hash] = asset }
        if newcomers[hash] == nil, !recorded.contains(asset) { newcomers[hash] = asset }
      }
    }
    gone.sort { $0.path < $1.path }
    for line in gone where newcomers[line.asset] == nil {
      if let hash = line.sourceHash { newcomers[line.asset] = newcomers[hash] }
    }
  }

  /// The paths of files that no asset owns.
  func pathsWithoutOwner() throws -> Set<String> {
    Set(try gone.filter { try owner(of: $0) == nil }.map(\.path))
  }

  /// The lines of gone assets whose photos were imported again, as those of the new assets: once a new asset has one
  /// line, the rest is no longer found by the bytes.
  func inherited() -> [JournalLine] {
    gone.compactMap { line in
      guard let heir = newcomers[line.sourceHash ?? line.asset] else { return nil }
      var line = line
      line.asset = heir
      return line
    }
  }

  /// Whether an asset is in the library, and not in its trash.
  func isThere(_ asset: String) throws -> Bool {
    if let isThere = known[asset] { return isThere }
    let isThere = try library.asset(asset).map { !$0.isTrashed && !$0.isErased } ?? false
    known[asset] = isThere
    return isThere
  }

  /// The asset whose file a line is about by now; nil if it is gone.
  func owner(of line: JournalLine) throws -> String? {
    if asked.contains(line.asset) { return line.asset }
    return try isThere(line.asset) ? line.asset : heir(of: line)
  }

  private func heir(of line: JournalLine) -> String? {
    guard let hash = line.sourceHash else { return newcomers[line.asset] }
    return newcomers[hash] ?? (line.content == hash ? heirs[hash] : nil)
  }

  /// Finds what is exported of the owners of files that others are to replace.
  func findWanted(_ files: [PlannedFile], _ takeovers: [ExportTakeover]) {
    let owners = Set(takeovers.compactMap(\.owner))
    if owners.isEmpty { return }
    for file in files {
      guard let hash = file.resource?.sha256Hex, owners.contains(file.asset.id.uuidString) else { continue }
      wanted[file.asset.id.uuidString, default: []].insert(hash)
    }
  }

  /// Why a file has to stay where another asset is to have its path, as the end of a sentence about its asset.
  /// - Parameter incomplete: the assets of which some wanted file is not in its place.
  func reasonToKeep(_ takeover: ExportTakeover, _ incomplete: Set<String>, removesUnwanted: Bool) -> String? {
    guard let owner = takeover.owner else { return removesUnwanted ? nil : "which is not exported now" }
    guard asked.contains(owner) else { return "which is not exported now" }
    if incomplete.contains(owner) { return "of which a file could not be exported" }
    // The packets of one asset are alike; but one beside the picture of another would describe that.
    if takeover.former.kind == "sidecar", !removesUnwanted, incomplete.contains(takeover.file.asset.id.uuidString) {
      return "whose picture beside it stays"
    }
    guard !removesUnwanted, let hash = takeover.former.sourceHash else { return nil }
    return wanted[owner]?.contains(hash) == true ? nil : "of which no file with these bytes is exported now"
  }
}

extension JournalLine {
  /// The hash of the library's file that it was made of; nil for a sidecar.
  fileprivate var sourceHash: String? { kind == "sidecar" ? nil : String(content.prefix(64)) }
}

/// A file that is to have the path of a file of another asset.
struct ExportTakeover {
  let file: PlannedFile
  /// What the journal says of the file that is there.
  let former: JournalLine
  /// The asset whose file it is by now; nil if that is gone.
  let owner: String?

  /// Puts files in an order in which those of an owner come before those that take their paths.
  /// - Returns: the files of each asset, those of assets that wait for one another together.
  /// - Complexity: O(n) for n files.
  static func inOrder(_ takeovers: [ExportTakeover]) -> [[PlannedFile]] {
    var numbers: [String: Int] = [:]
    var files: [[PlannedFile]] = []
    for takeover in takeovers {
      let asset = takeover.file.asset.id.uuidString
      if let number = numbers[asset] {
        files[number].append(takeover.file)
      } else {
        numbers[asset] = files.count
        files.append([takeover.file])
      }
    }
    var owners = [[Int]](repeating: [], count: files.count)
    var followers = owners
    for takeover in takeovers {
      guard let owner = takeover.owner.flatMap({ numbers[$0] }), let asset = numbers[takeover.file.asset.id.uuidString]
      else { continue }
      owners[asset].append(owner)
      followers[owner].append(asset)
    }
    // The strongly connected parts, by two searches (Kosaraju): what the first leaves last waits for nothing outside of
    // its part.
    var (isSeen, isTaken) = ([Bool](repeating: false, count: files.count), [Bool](repeating: false, count: files.count))
    var left: [Int] = []
    for asset in files.indices { left += search(from: asset, along: followers, &isSeen) }
    var parts: [[PlannedFile]] = []
    for asset in left.reversed() {
      let part = search(from: asset, along: owners, &isTaken)
      if !part.isEmpty { parts.append(part.flatMap { files[$0] }) }
    }
    return parts
  }

  /// What is reached from a start and was not seen before, in the order in which a search in depth leaves it.
  private static func search(from start: Int, along edges: [[Int]], _ isSeen: inout [Bool]) -> [Int] {
    if isSeen[start] { return [] }
    isSeen[start] = true
    var left: [Int] = []
    var open = [(place: start, next: 0)]
    while let (place, next) = open.last {
      guard next < edges[place].count else {
        left.append(place)
        open.removeLast()
        continue
      }
      open[open.count - 1].next += 1
      let other = edges[place][next]
      if !isSeen[other] {
        isSeen[other] = true
        open.append((place: other, next: 0))
      }
    }
    return left
  }
}
