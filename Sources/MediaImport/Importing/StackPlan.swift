internal import PhotoLedger

// Which of the imported assets are stacks.
//
//     one shot in two codings     IMG_1.HEIC over IMG_1.JPG
//     an edited copy              IMG_1-edited.jpg over IMG_1.jpg
//     a series of a camera        DSC_1.JPG over DSC_2.JPG, DSC_3.JPG, …
//
// A stack hides all but its top, so a false one hides a photo. Whatever is missing or can be read in two ways makes no
// stack, and an asset is put into one stack at most, by the first of these rules.
//
// A stack is part of the commit that records one of its members: the copy, both codings, or the photo that follows
// another in its series. So an import that is killed leaves no stack that it should have made with what it recorded,
// but for a member that comes with a later commit; and where nothing is recorded, nothing is stacked. A repeated
// import therefore cannot make a stack again that a person took apart.
//
// An asset that the library had before is a member only if the log has nothing about it but the commit that created it:
// then an interrupted import left it, or a watch took it before the other had come, and no person has done anything
// with it.
//
// No album may lose a photo: what lies beneath a top is not shown in albums, so the top has to be in each album of the
// source that the others are in.
//
// Everything here is a decision about values; metadata of known files are read where `questions` asks for them.

/// A stack that an import makes, or adds to.
struct ImportedStack: Sendable, Hashable {
  /// One of its assets.
  enum Member: Sendable, Hashable {
    /// The asset of a change of the same batch, by its position.
    case change(Int)
    /// An asset that is in the library.
    case asset(LocalIdentifier)
  }

  let rule: StackRule
  let top: Member
  let others: [Member]
  /// The files of the top and of the first other, as an example of the rule.
  var files: [Int] = []
  /// Whether the top has a stack, to which the others are added.
  var isGrowing = false

  var members: [Member] { [top] + others }

  /// Whether an asset is among its members that was in the library before.
  var hasKnownMember: Bool { members.contains { if case .asset = $0 { true } else { false } } }
}

/// Why assets are a stack.
enum StackRule: String, Sendable, CaseIterable {
  case codings = "two codings of one shot are a stack"
  case editedCopy = "an edited copy and its original are a stack"
  case series = "photos that the camera took as one series are a stack"
}

extension EditedCopy {
  /// The end of the name that osxphotos gives to edited copies.
  private static let ending = Array("_edited".utf8)

  /// The name without extension of the original of an edited copy; nil for other names.
  static func original(ofCopy stem: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    stem.count > ending.count && stem.suffix(ending.count) == ending[...] ? stem.dropLast(ending.count) : nil
  }

  /// The edited copies among files of plain folders, as osxphotos names them; those whose original has a name that more
  /// files have than one shot leaves are left out.
  /// - Complexity: O(n) for n files.
  static func named(in files: [ScannedFile]) -> [Int: EditedCopy] {
    var copies: [[UInt8]: [Int]] = [:]
    for (index, file) in files.enumerated() where file.role == .candidate {
      if let original = original(ofCopy: file.path.stemBytes) { copies[Array(original), default: []].append(index) }
    }
    if copies.isEmpty { return [:] }
    var originals: [[UInt8]: [Int]] = [:]
    for (index, file) in files.enumerated() where file.role == .candidate {
      let stem = Array(file.path.stemBytes)
      if copies[stem] != nil { originals[stem, default: []].append(index) }
    }
    var named: [Int: EditedCopy] = [:]
    for (stem, originals) in originals where originals.count <= StackPlanner.unitLimit {
      for copy in copies[stem] ?? [] { named[copy] = EditedCopy(originals: originals, isStated: false) }
    }
    return named
  }
}

/// An asset of the library that nothing happened to since the commit that created it.
struct UntouchedAsset: Sendable, Hashable {
  /// Whether it is hidden.
  var isHidden: Bool
  /// The top of its stack; nil if it is in none.
  var stack: LocalIdentifier?
  /// What it has beside its photo or video.
  var others: [ResourceType] = []
}

/// Decides which of the assets of an import are stacked.
struct StackPlanner: Sendable {
  /// The most assets of a stack.
  static let memberLimit = 1000

  /// An asset that may be a member.
  fileprivate struct Candidate {
    let file: Int
    let metadata: MediaMetadata
    let isHidden: Bool
    let albums: Set<Int>
    var member: ImportedStack.Member
    /// What it has beside its photo or video.
    let others: [ResourceType]
    /// The top of the stack that it is in.
    var top: ImportedStack.Member?

    var isEdited: Bool { others.contains(.adjustmentData) }
  }

  /// What a file says whose content an asset of the library has.
  struct KnownFile: Sendable {
    let id: LocalIdentifier
    let asset: UntouchedAsset
    let metadata: MediaMetadata
  }

  /// A file whose content the library has, the last of those with that content.
  private struct KnownOriginal {
    var file: Int
    var asset: LocalIdentifier
  }

  private let found: [ScannedFile]
  private let edited: [Int: EditedCopy]
  /// The albums of the source that a file is in, or that a file with the same content is in.
  private let albums: [Int: Set<Int>]
  /// Of each file whose content others have, the first of them, which stands for all of them as an original.
  private let firstEqual: [Int: Int]
  /// The files that may be the original of a copy; these, and what is known of them, by the first of equal files.
  private let watched: Set<Int>
  /// Those of them that are recorded, or known to the library.
  private var originals: [Int: Candidate] = [:]
  private var knownOriginals: [Int: KnownOriginal] = [:]
  /// Files near the end of the last batch that the library knew.
  private var recent: [Int: LocalIdentifier] = [:]
  /// The last photo of the last batch, if it is one of a series, and how many are in its stack.
  private var tail: (shot: Candidate, count: Int)?
  /// What the last plan leaves to be continued.
  private var planned: (candidates: [Candidate], tail: (shot: Candidate, count: Int)?) = ([], nil)

  init(of catalog: MediaCatalog) {
    found = catalog.files
    var albums: [Int: Set<Int>] = [:]
    for (album, members) in catalog.albums.enumerated() {
      for file in members.files { albums[file, default: []].insert(album) }
    }
    var edited = catalog.edited
    var byContent: [[UInt8]: [Int]] = [:]
    if !albums.isEmpty || !edited.isEmpty {
      for (index, file) in catalog.files.enumerated() where file.role == .candidate {
        if let content = file.content { byContent[content.sha256, default: []].append(index) }
      }
    }
    var firstEqual: [Int: Int] = [:]
    for equal in byContent.values where equal.count > 1 {
      let all = equal.reduce(into: Set<Int>()) { $0.formUnion(albums[$1] ?? []) }
      if !all.isEmpty { for file in equal { albums[file] = all } }
      if !edited.isEmpty { for file in equal { firstEqual[file] = equal[0] } }
    }
    for (copy, one) in edited { edited[copy]?.originals = Set(one.originals.map { firstEqual[$0] ?? $0 }).sorted() }
    (self.edited, self.albums, self.firstEqual) = (edited, albums, firstEqual)
    watched = Set(edited.values.flatMap(\.originals))
  }

  /// How far the file before another is looked for, past sidecars and the files of the same unit.
  private static let reach = 16

  /// The file before one in its folder that may be the photo before it.
  private func predecessor(of file: Int) -> Int? {
    let folder = found[file].path.folderBytes
    for index in (max(0, file - Self.reach)..<file).reversed() {
      guard found[index].path.folderBytes == folder else { return nil }
      if found[index].role == .candidate, found[index].unitBytes != found[file].unitBytes { return index }
    }
    return nil
  }

  /// The files of a folder that decide about new ones: the other codings, the original of an edited copy, and the file
  /// before each.
  /// - Parameter all: the names of all files of the folder.
  /// - Complexity: O(n log n) for n names.
  static func neighbours(of names: [[UInt8]], among all: [[UInt8]]) -> Set<[UInt8]> {
    let sorted = all.filter { !FolderScan.isSidecar($0[...]) }.sorted { $0.lexicographicallyPrecedes($1) }
    let new = Set(names)
    var units: [ArraySlice<UInt8>: [Int]] = [:]
    var places: [[UInt8]: Int] = [:]
    for (index, name) in sorted.enumerated() {
      units[FilePath(bytes: name).stemBytes, default: []].append(index)
      if new.contains(name) { places[name] = index }
    }
    var found: Set<[UInt8]> = []
    for name in names {
      guard let index = places[name] else { continue }
      let unit = FilePath(bytes: name).stemBytes
      for files in [units[unit], EditedCopy.original(ofCopy: unit).flatMap { units[$0] }] {
        if let files, files.count <= unitLimit { found.formUnion(files.map { sorted[$0] }) }
      }
      if let before = sorted[max(0, index - reach)..<index].last(where: { FilePath(bytes: $0).stemBytes != unit }) {
        found.insert(before)
      }
    }
    return found.subtracting(new)
  }

  /// The most files of a unit that are looked at. One shot has a few; where numbers are endings (`scan.00001`), all
  /// files of a folder are one unit.
  static let unitLimit = 64

  /// The files of one unit, with what lies between them; nil if they are too many to be those of one shot.
  private func unit(of file: Int) -> Range<Int>? {
    var (low, high) = (file, file + 1)
    while low > 0, high - low <= Self.unitLimit, !found.beginsUnit(at: low) { low -= 1 }
    while high < found.count, high - low <= Self.unitLimit, !found.beginsUnit(at: high) { high += 1 }
    return high - low <= Self.unitLimit ? low..<high : nil
  }

  /// Known files whose metadata decide, with the assets that have them.
  func questions(_ planned: [PlannedChange], _ outcomes: [Int: FileOutcome]) -> [Int: LocalIdentifier] {
    var questions: [Int: LocalIdentifier] = [:]
    let known = newlyKnown(in: outcomes)
    for one in planned {
      guard case .asset(let asset) = one.change, let file = one.files.first else { continue }
      for original in edited[file]?.originals ?? [] {
        if let known = known[original] ?? knownOriginals[original] { questions[known.file] = known.asset }
      }
      if asset.primary.metadata.shot != nil, let before = predecessor(of: file) {
        questions[before] = Self.known(outcomes[before]) ?? recent[before]
      }
      if asset.primary.metadata.mediaType == .image, let unit = unit(of: file) {
        for sibling in unit where found[sibling].role == .candidate {
          if let known = Self.known(outcomes[sibling]) ?? recent[sibling] { questions[sibling] = known }
        }
      }
    }
    return questions
  }

  private static func known(_ outcome: FileOutcome?) -> LocalIdentifier? {
    if case .duplicateOfAsset(let asset)? = outcome { asset } else { nil }
  }

  /// The files among those with an outcome that may be originals, and whose contents the library has.
  private func newlyKnown(in outcomes: [Int: FileOutcome]) -> [Int: KnownOriginal] {
    var known: [Int: KnownOriginal] = [:]
    for (file, outcome) in outcomes {
      guard let asset = Self.known(outcome), watched.contains(original(file)) else { continue }
      if known[original(file)].map({ $0.file < file }) ?? true {
        known[original(file)] = KnownOriginal(file: file, asset: asset)
      }
    }
    return known
  }

  /// What stands for a file as an original.
  private func original(_ file: Int) -> Int { firstEqual[file] ?? file }

  /// The stacks of a batch.
  /// - Parameter known: what the files say that were asked for, of assets that nothing happened to.
  mutating func plan(
    _ changes: [PlannedChange], _ outcomes: [Int: FileOutcome],
    _ known: [Int: KnownFile]
  ) -> [ImportedStack] {
    var candidates: [Candidate] = []
    for (position, one) in changes.enumerated() {
      guard case .asset(let asset) = one.change, let file = one.files.first, !asset.facts.isTrashed,
        asset.primary.metadata.burstIdentifier == nil
      else { continue }
      let albums = one.files.reduce(into: Set<Int>()) { $0.formUnion(self.albums[$1] ?? []) }
      candidates.append(
        Candidate(
          file: file, metadata: asset.primary.metadata, isHidden: asset.facts.isHidden, albums: albums,
          member: .change(position),
          others: asset.others.map(\.type) + (asset.adjustment == nil ? [] : [.adjustmentData])))
    }
    let library = known.reduce(into: [Int: Candidate]()) { library, one in
      library[one.key] = Candidate(
        file: one.key, metadata: one.value.metadata, isHidden: one.value.asset.isHidden,
        albums: albums[one.key] ?? [], member: .asset(one.value.id), others: one.value.asset.others,
        top: one.value.asset.stack.map { .asset($0) })
    }
    var stacks = codings(of: changes, candidates, library, outcomes)
    stacks += copies(of: candidates, library, outcomes, beside: stacks)
    var tops: [ImportedStack.Member: ImportedStack.Member] = [:]
    for stack in stacks { for member in stack.members { tops[member] = stack.top } }
    for index in candidates.indices { candidates[index].top = tops[candidates[index].member] }
    let (series, tail) = series(of: candidates, library)
    planned = (candidates.filter { watched.contains(original($0.file)) }, tail)
    return stacks + series
  }

  /// Takes note of what the changes of the last plan became.
  mutating func note(_ changes: [RecordedChange]) {
    func recorded(_ candidate: Candidate) -> Candidate {
      guard case .change(let position) = candidate.member else { return candidate }
      var candidate = candidate
      candidate.member = .asset(changes[position].asset)
      candidate.top = changes[position].stack.map { .asset($0) }
      return candidate
    }
    for candidate in planned.candidates { originals[original(candidate.file)] = recorded(candidate) }
    tail = planned.tail.map { (recorded($0.shot), $0.count) }
    planned = ([], nil)
  }

  /// Takes note of what the files before the next batch became.
  mutating func settle(to end: Int, _ outcomes: [Int: FileOutcome]) {
    knownOriginals.merge(newlyKnown(in: outcomes.filter { $0.key < end })) { $1 }
    recent = recent.filter { $0.key >= end - Self.reach }
    for file in max(0, end - Self.reach)..<end { recent[file] = Self.known(outcomes[file]) ?? recent[file] }
  }
}

// One shot in two codings.
extension StackPlanner {
  /// How close a coding is to what a camera records: cameras write HEIC and TIFF beside a JPEG, and programs convert a
  /// JPEG into the others. Two of these others are not an original and its copy.
  private static let codings = [
    "HEIC": 0, "HEIF": 0, "HIF": 0, "TIFF": 1, "JPEG": 2, "JXL": 3, "AVIF": 3, "WEBP": 3, "PNG": 3,
  ]

  private func codings(
    of changes: [PlannedChange], _ candidates: [Candidate], _ library: [Int: Candidate],
    _ outcomes: [Int: FileOutcome]
  ) -> [ImportedStack] {
    // Stills that complete a known movie, and renditions of their own, are further pictures of the name.
    let stills = changes.compactMap { change -> Int? in
      change.change.resources.contains { $0.type == .photo } ? change.files.first : nil
    }
    let counts = Dictionary(grouping: stills) { found[$0].unitBytes }.mapValues(\.count)
    let images = candidates.filter { $0.metadata.mediaType == .image }
    let groups = Dictionary(grouping: images) { found[$0.file].unitBytes }
    return groups.compactMap { (unit, group) -> ImportedStack? in
      guard counts[unit] == group.count, let files = self.unit(of: group[0].file) else { return nil }
      // The other coding may have come with an earlier import.
      let pair = group + (group.count == 1 ? knownStills(in: files, library) : [])
      guard pair.count == 2, !hasFurtherPicture(pair, in: files, outcomes), pair.allSatisfy({ $0.top == nil })
      else { return nil }
      let sorted = pair.sorted { Self.rank($0) < Self.rank($1) }
      return Self.isOneShot(sorted[0], sorted[1])
        ? ImportedStack(rule: .codings, top: sorted[0], others: [sorted[1]]) : nil
    }.sorted { $0.files.lexicographicallyPrecedes($1.files) }
  }

  /// The stills that the library knows among the files of a unit, one for each asset.
  private func knownStills(in unit: Range<Int>, _ library: [Int: Candidate]) -> [Candidate] {
    var seen: Set<ImportedStack.Member> = []
    return unit.compactMap { library[$0] }.filter {
      $0.metadata.mediaType == .image && seen.insert($0.member).inserted
    }
  }

  private static func rank(_ candidate: Candidate) -> Int { codings[candidate.metadata.fileType] ?? .max }

  /// Whether another file of the name is a picture, or may be one.
  private func hasFurtherPicture(_ pair: [Candidate], in unit: Range<Int>, _ outcomes: [Int: FileOutcome]) -> Bool {
    let members = Set(pair.map(\.member))
    return unit.contains { file in
      if found[file].edit != nil { return true }
      if pair.contains(where: { $0.file == file }) { return false }
      // Another file of one of the two assets is not another picture.
      if let known = Self.known(outcomes[file]) ?? recent[file] { return !members.contains(.asset(known)) }
      switch outcomes[file] {
      case .duplicateOfFile: return true
      case .skipped(let reason, _): return reason.isLoss
      default: return false
      }
    }
  }

  private static func isOneShot(_ top: Candidate, _ other: Candidate) -> Bool {
    guard let size = top.metadata.displayedSize, size == other.metadata.displayedSize, rank(top) < rank(other),
      rank(top) < 3, rank(other) < .max, top.metadata.isSameMoment(other.metadata),
      top.metadata.isSameCamera(other.metadata), top.isHidden == other.isHidden,
      other.albums.isSubset(of: top.albums)
    else { return false }
    // The movie of a Live Photo belongs to the top; RAW files, edits and animations are not codings of a shot.
    return other.others.isEmpty && top.others.allSatisfy { $0 == .pairedVideo }
      && top.metadata.playbackStyle == .image && other.metadata.playbackStyle == .image
  }
}

// Edited copies.
extension StackPlanner {
  private func copies(
    of candidates: [Candidate], _ library: [Int: Candidate], _ outcomes: [Int: FileOutcome],
    beside stacks: [ImportedStack]
  ) -> [ImportedStack] {
    let byOriginal = Dictionary(candidates.map { (original($0.file), $0) }) { first, _ in first }
    let known = newlyKnown(in: outcomes)
    let stacked = Set(stacks.flatMap(\.members))
    var pairs: [(copy: Candidate, original: Candidate)] = []
    for copy in candidates {
      guard let name = edited[copy.file], !stacked.contains(copy.member) else { continue }
      var found: [ImportedStack.Member: Candidate] = [:]
      var isUnclear = false
      for file in name.originals {
        let knownFile = known[file] ?? knownOriginals[file]
        guard let original = byOriginal[file] ?? originals[file] ?? knownFile.flatMap({ library[$0.file] }) else {
          // One that the library knows, and that is not as an import left it.
          if knownFile != nil { isUnclear = true }
          continue
        }
        if original.metadata.mediaType == copy.metadata.mediaType { found[original.member] = original }
      }
      guard !isUnclear, found.count == 1, let original = found.values.first, original.top == nil,
        !stacked.contains(original.member), Self.isCopy(copy, of: original, isStated: name.isStated)
      else { continue }
      pairs.append((copy, original))
    }
    // Of two copies neither is the one to show.
    let counts = Dictionary(grouping: pairs) { $0.original.member }.mapValues(\.count)
    return pairs.filter { counts[$0.original.member] == 1 }.map { copy, original in
      ImportedStack(rule: .editedCopy, top: copy, others: [original])
    }
  }

  private static func isCopy(_ copy: Candidate, of original: Candidate, isStated: Bool) -> Bool {
    let (edited, unedited) = (copy.metadata, original.metadata)
    guard copy.isHidden == original.isHidden, original.albums.isSubset(of: copy.albums),
      unedited.burstIdentifier == nil, !copy.isEdited, !original.isEdited
    else { return false }
    if edited.isSameMoment(unedited), edited.isSameCamera(unedited) { return true }
    guard isStated else { return false }
    // Editors leave out what they do not know; what they say has to be what the original says.
    func agrees(_ one: String?, _ other: String?) -> Bool { one == nil || other == nil || one == other }
    let times = [edited.captureTime, unedited.captureTime].compactMap { $0 }
    let isSameSecond =
      times.count < 2
      || times[0].clock == times[1].clock
        && times[0].reading.secondsSince1970 == times[1].reading.secondsSince1970
    return isSameSecond && agrees(edited.make, unedited.make) && agrees(edited.model, unedited.model)
  }
}

// Series.
extension StackPlanner {
  /// Photos of a series that are together so far.
  private struct Series {
    var last: Candidate
    /// The top that has a stack already.
    var standing: ImportedStack.Member?
    /// What is to be stacked.
    var members: [Candidate]
    /// How many assets the stack has.
    var count: Int

    /// - Parameter count: how many are in the stack of the first.
    init(_ first: Candidate, count: Int = 1) {
      (last, standing, self.count) = (first, first.top, count)
      members = first.top == nil ? [first] : []
    }

    var stack: ImportedStack? {
      if let standing {
        return members.isEmpty
          ? nil : ImportedStack(rule: .series, top: standing, others: members.map(\.member), isGrowing: true)
      }
      return members.count < 2
        ? nil : ImportedStack(rule: .series, top: members[0], others: Array(members.dropFirst()))
    }

    /// The last one, with its stack, for the next batch.
    var tail: (Candidate, Int) {
      var shot = last
      shot.top = standing ?? (members.count < 2 ? nil : members[0].member)
      return (shot, count)
    }
  }

  private func series(
    of candidates: [Candidate], _ library: [Int: Candidate]
  ) -> (stacks: [ImportedStack], tail: (shot: Candidate, count: Int)?) {
    let shots = candidates.filter { $0.metadata.mediaType == .image }
    let unclear = Set(
      shots.indices.filter { index in
        [index - 1, index + 1].contains { shots.indices.contains($0) && sharesPlace(shots[$0], shots[index]) }
      })
    let isFirstUnclear = tail.map { tail in shots.first.map { sharesPlace(tail.shot, $0) } ?? false } ?? false
    var stacks: [ImportedStack] = []
    var open = tail.map { Series($0.shot, count: $0.count) }
    func close() {
      if let stack = open?.stack { stacks.append(stack) }
      open = nil
    }
    for (index, shot) in shots.enumerated() {
      guard shot.metadata.shot != nil, shot.top == nil, !unclear.contains(index), index > 0 || !isFirstUnclear
      else {
        close()
        continue
      }
      if let before = predecessor(of: shot.file).flatMap({ library[$0] }) {
        close()
        open = Series(before)
      }
      if let series = open, series.count < Self.memberLimit, isFollowed(series.last, by: shot) {
        open?.last = shot
        open?.members.append(shot)
        open?.count += 1
      } else {
        close()
        open = Series(shot)
      }
    }
    let tail = shots.isEmpty ? self.tail : open?.tail
    close()
    return (stacks, tail)
  }

  private func isFollowed(_ shot: Candidate, by next: Candidate) -> Bool {
    found[shot.file].path.folderBytes == found[next.file].path.folderBytes && shot.isHidden == next.isHidden
      && shot.albums == next.albums && shot.metadata.isFollowed(by: next.metadata)
  }

  private func sharesPlace(_ shot: Candidate, _ other: Candidate) -> Bool {
    found[shot.file].path.folderBytes == found[other.file].path.folderBytes
      && shot.metadata.sharesPlace(with: other.metadata)
  }
}

extension ImportedStack {
  fileprivate init(rule: StackRule, top: StackPlanner.Candidate, others: [StackPlanner.Candidate]) {
    self.init(
      rule: rule, top: top.member, others: others.map(\.member), files: [top.file] + others.prefix(1).map(\.file))
  }
}

extension ImportedStack.Member {
  /// The asset.
  /// - Parameter assets: those of the changes of the batch.
  func asset(among assets: [LocalIdentifier]) -> LocalIdentifier {
    switch self {
    case .change(let position): assets[position]
    case .asset(let asset): asset
    }
  }
}

extension ImportBatch {
  /// What was recorded of the changes, with the stacks that their assets were put into.
  func withStacks(_ recorded: [RecordedChange]) -> [RecordedChange] {
    let assets = recorded.map(\.asset)
    var recorded = recorded
    for stack in stacks {
      for case .change(let position) in stack.members { recorded[position].stack = stack.top.asset(among: assets) }
    }
    return recorded
  }
}
