internal import PhotoLedger

// Whose the files of earlier exports are, and in which order files of other assets may have their paths.
//
//     the asset of the journal's line is in the library      its file
//     it is gone, and an asset that is exported has the      that one's: the photo was imported again
//     same bytes
//     it is gone                                             the file of no asset; it keeps its path, unless unwanted
//                                                            files are to be removed
//
// Invariant: a file is replaced by one of another asset only when each wanted file of its owner is in its place, since
// it may be the last good copy. Where two assets change places, neither can be first; the files of both are made before
// one of them gets its name.

/// Whose the files of earlier exports are.
final class ExportOwners {
  private let library: PhotoLibrary
  private var asked: Set<String> = []
  private var known: [String: Bool] = [:]
  /// The exported assets by the hashes of their files, and by the gone assets whose photos they are.
  private var heirs: [String: String] = [:]
  /// The paths that earlier exports keep for assets that are in the library and not asked for now.
  private(set) var others: Set<String> = []
  /// The lines of assets that are gone.
  private var gone: [JournalLine] = []

  init(_ library: PhotoLibrary) { self.library = library }

  /// Finds the owners of what a journal names.
  func find(_ lines: [String: [JournalLine]], _ subjects: [ExportSubject]) throws {
    asked = Set(subjects.map(\.asset.id.uuidString))
    for (path, lines) in lines {
      guard let line = lines.last, !asked.contains(line.asset) else { continue }
      if try isThere(line.asset) { others.insert(path) } else { gone.append(line) }
    }
    if gone.isEmpty { return }
    for subject in subjects {
      for resource in subject.details.resources {
        let hash = resource.sha256Hex
        if heirs[hash] == nil { heirs[hash] = subject.asset.id.uuidString }
      }
    }
    gone.sort { $0.path < $1.path }
    for line in gone where line.sourceHash != nil && heirs[line.asset] == nil { heirs[line.asset] = heir(of: line) }
  }

  /// The paths of files that no asset owns.
  func pathsWithoutOwner() throws -> Set<String> {
    Set(try gone.filter { try owner(of: $0) == nil }.map(\.path))
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

  func isAsked(_ asset: String) -> Bool { asked.contains(asset) }

  private func heir(of line: JournalLine) -> String? { heirs[line.sourceHash ?? line.asset] }
}

extension JournalLine {
  /// The hash of the library's file that it was made of; nil for a sidecar.
  fileprivate var sourceHash: String? { kind == "sidecar" ? nil : String(content.prefix(64)) }
}

/// A file that is to have the path of a file of another asset.
struct ExportTakeover {
  let file: PlannedFile
  /// The asset that the journal names.
  let former: String
  /// The asset whose file it is by now; nil if that is gone.
  let owner: String?

  /// Puts files in an order in which those of an owner come before those that take their paths.
  /// - Returns: these, and those of assets that wait for one another.
  /// - Complexity: O(n) for n files.
  static func inOrder(_ takeovers: [ExportTakeover]) -> (ordered: [PlannedFile], rings: [PlannedFile]) {
    var assets: [String] = []
    var parts: [String: [ExportTakeover]] = [:]
    for takeover in takeovers {
      let asset = takeover.file.asset.id.uuidString
      if parts[asset] == nil { assets.append(asset) }
      parts[asset, default: []].append(takeover)
    }
    var waits: [String: Int] = [:]
    var followers: [String: [String]] = [:]
    for asset in assets {
      let owners = Set((parts[asset] ?? []).compactMap(\.owner).filter { parts[$0] != nil })
      waits[asset] = owners.count
      for owner in owners { followers[owner, default: []].append(asset) }
    }
    var ready = assets.filter { waits[$0] == 0 }
    var next = 0
    while next < ready.count {
      for follower in followers[ready[next]] ?? [] {
        let count = (waits[follower] ?? 0) - 1
        waits[follower] = count
        if count == 0 { ready.append(follower) }
      }
      next += 1
    }
    func files(_ assets: [String]) -> [PlannedFile] { assets.flatMap { parts[$0] ?? [] }.map(\.file) }
    return (files(ready), files(assets.filter { waits[$0] != 0 }))
  }
}
