internal import PhotoLedger

// What a watch of folders does next.
//
// The kernel only hints that something happened in a folder; hints are lost, come late, or name a folder that has moved
// on. So no hint is believed: it makes the folder due, and only a listing of the folder counts.
//
//     hint, start, lost hints ──▶ a folder is due ──▶ list it ──▶ compared with what is known of it
//                                                                  │
//       subfolders that are new  ◀── list them ────────────────────┤
//       files that are new or differ: seen a second time, a quiet  │
//         time later, with the same size and times, and not being  │
//         written ──▶ take them                                    │
//       known files that are not there: after a grace ──▶ resolve: are they elsewhere? ──▶ missing
//
// The same path serves the start (every folder is due once, and files that are known with their size and times cause
// nothing), hints of the kernel, lost hints, and scans where the kernel gives no hints.
//
// Nothing here reads a file, a clock or the library: events with their time go in, actions come out, one after the
// other, and their results come back as events. So random histories can be tested against a naive model.
//
// Invariants.
//   A file is taken only with a size and times that two listings agree on, at least the quiet time apart.
//   A file is missing only if a listing of its folder lacked it, the grace has passed, and its root is there:
//   listed just now, and not empty. A root that is gone, or empty where it had files, is away: everything below stays
//   as it is. When it comes back, files below it that could not be read are due again: it may have been leaving then.
//   Files that have been listed once may be the missing ones under other names, so they are taken before that, unless
//   they go on changing.
//   More missing files than the limit, at once, are not reported as missing but asked about, and the watch is over.
//
// What belongs together (a Live Photo's still and movie, RAW and JPEG, a photo and its sidecar) has the same name up to
// the ending, or is a sidecar with the whole name of its file, and is taken together: no file is taken while one of its
// unit is not settled. Files of a series, `cam.000001.jpg` and so on, are units of their own. Where numbers are endings
// (`scan.00001`), all files of a folder are one unit, which is divided: it has more files than one shot leaves.

/// Decides what a watch of folders does.
struct FolderWatch {
  /// The times and limits of a watch.
  struct Rules: Sendable {
    /// How long a file must stay the same before it is taken.
    var quiet = Duration.seconds(1)
    /// How often that time in a folder whose changes the kernel does not report: a writer there is not seen, and a
    /// network's sizes may be some seconds old.
    var unhintedFactor = 10
    /// How long hints about a folder are collected.
    var collecting = Duration.milliseconds(200)
    /// How long a file that is being written is waited for after the last sign of its writer.
    var patience = Duration.seconds(30)
    /// How long a file may be gone before it is looked for elsewhere.
    var grace = Duration.seconds(3)
    /// How often a root that is away is looked for.
    var returning = Duration.seconds(5)
    /// How many files are taken at once, and with them the others of the last one's unit.
    var batchCount = 500
    /// The most files of a root that may be missing at once.
    var missingLimit = 1000
    /// The largest part of a root's files that may be missing at once, in hundredths.
    var missingPercentage = 5
    /// So few may be missing whatever part they are.
    var missingFloor = 10
    /// Whether files that are gone matter.
    var tracksMissing = true
    /// Whether any number may be missing, and a root may be empty.
    var acceptsMissing = false
  }

  /// What happened.
  enum Event {
    /// Something may have happened in a folder.
    case changed(FilePath)
    /// A file is being written, or its writer has closed it.
    case writing(FilePath), closed(FilePath)
    /// The kernel does not report what happens in a folder.
    case unhinted(FilePath)
    /// The answer to `list`.
    case listed(FilePath, Listing)
    /// The answer to `take`: the files that have to be tried again, those that the library does not have for what they
    /// are, and those that could not be read. All others were taken.
    case taken(again: Set<FilePath>, left: Set<FilePath>, unread: Set<FilePath>)
    /// The answer to `resolve`: the files that need not be there, since their content is elsewhere, and those that are
    /// there after all.
    case resolved(elsewhere: Set<FilePath>, there: Set<FilePath>)
    /// Hints were lost.
    case lost
  }

  /// What is in a folder.
  enum Listing {
    /// Folders come with the number that the file system gives them: another one under a known name is a new folder.
    /// It is empty if nothing at all is in it, not even what is left out.
    case entries(files: [[UInt8]: FileState], folders: [[UInt8]: UInt64], isEmpty: Bool)
    case gone
    /// It is there and cannot be read.
    case unreadable
  }

  /// What is to be done.
  enum Action: Equatable {
    case list(FilePath)
    /// A folder is no longer followed.
    case forget(FilePath)
    case take([FilePath])
    /// Look for the content of files elsewhere.
    case resolve([FilePath])
    case missing([FilePath])
    /// Too many are missing; the watch is over.
    case ask(root: FilePath, missing: Int, of: Int)
    case away(root: FilePath, files: Int)
    case returned(root: FilePath)
  }

  private struct File {
    var state: FileState
    /// Since when it has this state; nil: it was dealt with.
    var since: Duration?
    /// Whether the library has it, or what was there before, so that it matters if it is gone.
    var isTaken = false
    var isReady = false
    /// Whether it could not be read, so that it is tried again when its root comes back.
    var isUnread = false
  }

  private struct Folder {
    var root: FilePath
    var files: [[UInt8]: File] = [:]
    /// The subfolders with their numbers; nil: known from earlier, and not listed yet.
    var subfolders: [[UInt8]: UInt64?] = [:]
    /// Whether the kernel reports what happens in it.
    var isHinted = true
  }

  private struct Root {
    var isAway = false
    /// When it was last seen with something in it.
    var seen: Duration?
    var takenCount = 0
  }

  private struct Gone {
    var root: FilePath
    var file: File
    var at: Duration
    /// When its root's files were first due to be judged, with no folder to be listed before that.
    var due: Duration?
    /// When it was last looked for elsewhere, in vain.
    var resolved: Duration?
    /// Whether it was there when it was looked for; its folder was listed again then.
    var wasThere = false
  }

  let rules: Rules
  private var roots: [FilePath: Root] = [:]
  private var folders: [FilePath: Folder] = [:]
  private var writing: [FilePath: Duration] = [:]
  private var gone: [FilePath: Gone] = [:]
  /// Folders to list, by what they wait for.
  private var atOnce = DueLine(), collected = DueLine(), rechecked = DueLine(), returning = DueLine()
  /// What is to be taken, by units.
  private var ready: [[FilePath]] = []
  private var readyCount = 0
  private var actions = Line<Action>()
  /// What the last `take` and `resolve` were about.
  private var taking: [FilePath] = [], resolving: [FilePath] = []
  private(set) var isOver = false

  /// - Parameters:
  ///   - roots: absolute paths of folders, none inside another.
  ///   - known: files that were dealt with earlier, with what they were then.
  ///   - rules: the times and limits.
  init(roots: [FilePath], known: [(path: FilePath, state: FileState, isTaken: Bool)], rules: Rules) {
    self.rules = rules
    for root in roots {
      self.roots[root] = Root()
      folders[root] = Folder(root: root)
      atOnce.add(root, at: .zero)
    }
    for (path, state, isTaken) in known { remember(path, File(state: state, isTaken: isTaken)) }
  }

  private mutating func remember(_ path: FilePath, _ file: File) {
    let folder = FilePath(bytes: path.folderBytes)
    guard let root = anchor(folder) else { return }
    folders[folder]?.files[Array(path.nameBytes)] = file
    if file.isTaken { roots[root]?.takenCount += 1 }
  }

  /// Makes a folder known with those above it, up to its root.
  private mutating func anchor(_ folder: FilePath) -> FilePath? {
    if let known = folders[folder] { return known.root }
    guard folder.bytes.count > 1 else { return nil }
    let above = FilePath(bytes: folder.folderBytes.isEmpty ? [FilePath.slash] : folder.folderBytes)
    guard let root = anchor(above) else { return nil }
    folders[folder] = Folder(root: root)
    folders[above]?.subfolders[Array(folder.nameBytes)] = .some(nil)
    return root
  }

  // MARK: Counts

  var folderCount: Int { folders.count }
  /// How many files were taken and are there.
  var takenCount: Int { roots.values.reduce(0) { $0 + $1.takenCount } }
  /// Whether no folder waits to be listed for the first time or again at once.
  var isListed: Bool { atOnce.isEmpty }

  /// The names of the files in a folder as it was last listed.
  func names(in folder: FilePath) -> [[UInt8]] { folders[folder].map { Array($0.files.keys) } ?? [] }

  /// Whether the root of a path is there, as far as is known.
  func isThere(rootOf path: FilePath) -> Bool {
    roots.contains { path.isBelow($0.key) && !$0.value.isAway && $0.value.seen != nil }
  }

  /// What a file was when it was last listed.
  func state(of path: FilePath) -> FileState? {
    folders[FilePath(bytes: path.folderBytes)]?.files[Array(path.nameBytes)]?.state
  }

  /// Whether the library has a file as it was last listed.
  func isTaken(_ path: FilePath) -> Bool {
    let file = folders[FilePath(bytes: path.folderBytes)]?.files[Array(path.nameBytes)]
    return file.map { $0.isTaken && $0.since == nil } ?? false
  }

  // MARK: Events

  mutating func receive(_ event: Event, at now: Duration) {
    switch event {
    case .changed(let folder):
      if folders[folder] != nil { collected.add(folder, at: now + rules.collecting) }
    case .writing(let file): writing[file] = now
    case .closed(let file): writing[file] = nil
    case .unhinted(let folder): folders[folder]?.isHinted = false
    case .listed(let folder, let listing): listed(folder, listing, now)
    case .taken(let again, let left, let unread): settle(again, left, unread, now)
    case .resolved(let elsewhere, let there):
      for path in resolving {
        if elsewhere.contains(path) {
          gone[path] = nil
        } else if there.contains(path) {
          resolveThere(path, now)
        } else {
          gone[path]?.resolved = now
        }
      }
      resolving = []
    case .lost: for folder in folders.keys.sorted() { atOnce.add(folder, at: now) }
    }
  }

  /// A file that a listing lacked is there: it is listed again. If that listing lacked it, too, listings leave it out,
  /// as with a name that was not excluded before, and it is forgotten.
  private mutating func resolveThere(_ path: FilePath, _ now: Duration) {
    if gone[path]?.wasThere == true {
      gone[path] = nil
      return
    }
    gone[path]?.at = now
    gone[path]?.wasThere = true
    relist(above: path, now)
  }

  /// Lists the nearest folder above a path that is known.
  private mutating func relist(above path: FilePath, _ now: Duration) {
    var folder = FilePath(bytes: path.folderBytes)
    while folders[folder] == nil, !folder.bytes.isEmpty { folder = FilePath(bytes: folder.folderBytes) }
    if folders[folder] != nil { atOnce.add(folder, at: now) }
  }

  private mutating func settle(
    _ again: Set<FilePath>, _ left: Set<FilePath>, _ unread: Set<FilePath>, _ now: Duration
  ) {
    for path in taking {
      let (folder, name) = (FilePath(bytes: path.folderBytes), Array(path.nameBytes))
      guard let file = folders[folder]?.files[name], let root = folders[folder]?.root else { continue }
      // It was listed again meanwhile, with another state: that one is still to be taken.
      guard file.isReady else { continue }
      if again.contains(path) {
        folders[folder]?.files[name] = File(state: file.state, since: now, isTaken: file.isTaken)
        rechecked.add(folder, at: now + rules.quiet)
      } else {
        let isUnread = unread.contains(path)
        let isTaken = !isUnread && !left.contains(path)
        folders[folder]?.files[name] = File(state: file.state, isTaken: isTaken, isUnread: isUnread)
        roots[root]?.takenCount += (isTaken ? 1 : 0) - (file.isTaken ? 1 : 0)
      }
    }
    taking = []
  }

  private mutating func listed(_ path: FilePath, _ listing: Listing, _ now: Duration) {
    guard let above = folders[path]?.root else { return }
    if let root = roots[path] {
      guard checkRoot(path, root, listing, now) else { return }
    } else if roots[above]?.isAway == true {
      return
    }
    // With what the return of the root made due.
    guard let folder = folders[path] else { return }
    switch listing {
    case .unreadable: returning.add(path, at: now + rules.returning)
    case .gone:
      drop(path, now)
      // It may have come back since.
      collected.add(FilePath(bytes: path.folderBytes), at: now + rules.collecting)
    case .entries(let files, let subfolders, _): compare(path, folder, files, subfolders, now)
    }
  }

  /// Whether a root is there, and so its listing counts.
  private mutating func checkRoot(_ path: FilePath, _ root: Root, _ listing: Listing, _ now: Duration) -> Bool {
    let isThere =
      switch listing {
      case .gone, .unreadable: false
      case .entries(_, _, let isEmpty): !isEmpty || rules.acceptsMissing || fileCount(below: path) == 0
      }
    guard isThere else {
      returning.add(path, at: now + rules.returning)
      if root.isAway { return false }
      // What seemed to go with it has not gone.
      for (file, was) in gone where was.root == path {
        gone[file] = nil
        remember(file, was.file)
      }
      roots[path]?.isAway = true
      actions.append(.away(root: path, files: roots[path]?.takenCount ?? 0))
      return false
    }
    roots[path]?.seen = now
    if root.isAway {
      roots[path]?.isAway = false
      actions.append(.returned(root: path))
      for (folder, known) in folders where known.root == path {
        for (name, file) in known.files where file.isUnread {
          folders[folder]?.files[name] = File(state: file.state, since: now)
        }
        if folder != path { atOnce.add(folder, at: now) }
      }
    }
    return true
  }

  private func fileCount(below root: FilePath) -> Int {
    (roots[root]?.takenCount ?? 0) + gone.values.count { $0.root == root }
  }

  /// Forgets a folder and all below it; what was known there is gone.
  private mutating func drop(_ path: FilePath, _ now: Duration) {
    guard let folder = folders[path], roots[path] == nil else { return }
    for (name, file) in folder.files { lose(path.appending(name), file, folder.root, now) }
    for name in folder.subfolders.keys { drop(path.appending(name), now) }
    folders[path] = nil
    folders[FilePath(bytes: path.folderBytes)]?.subfolders[Array(path.nameBytes)] = nil
    actions.append(.forget(path))
  }

  private mutating func lose(_ path: FilePath, _ file: File, _ root: FilePath, _ now: Duration) {
    writing[path] = nil
    guard file.isTaken else { return }
    roots[root]?.takenCount -= 1
    if rules.tracksMissing { gone[path] = Gone(root: root, file: file, at: now) }
  }

  /// - Parameter before: the folder as it was last listed.
  private mutating func compare(
    _ path: FilePath, _ before: Folder, _ files: [[UInt8]: FileState], _ subfolders: [[UInt8]: UInt64], _ now: Duration
  ) {
    for name in before.subfolders.keys where subfolders[name] == nil { drop(path.appending(name), now) }
    var areNew = false
    for (name, number) in subfolders where before.subfolders[name] != .some(number) {
      let below = path.appending(name)
      if folders[below] == nil { folders[below] = Folder(root: before.root) }
      atOnce.add(below, at: now)
      areNew = true
    }
    if areNew { folders[path]?.subfolders = subfolders.mapValues { .some($0) } }
    if files.isEmpty, before.files.isEmpty { return }
    var after: [[UInt8]: File] = [:]
    after.reserveCapacity(files.count)
    for (name, state) in files { after[name] = file(path, name, state, before, now) }
    for (name, file) in before.files where after[name] == nil { lose(path.appending(name), file, before.root, now) }
    folders[path]?.files = after
    promote(path, now)
  }

  /// What a listed file is by what was known of it.
  private mutating func file(
    _ folder: FilePath, _ name: [UInt8], _ state: FileState, _ before: Folder, _ now: Duration
  ) -> File {
    if let file = before.files[name] {
      return file.state == state ? file : File(state: state, since: now, isTaken: file.isTaken)
    }
    let path = folder.appending(name)
    guard let was = gone.removeValue(forKey: path) else { return File(state: state, since: now) }
    roots[before.root]?.takenCount += 1
    let isKnown = was.file.state == state && was.file.since == nil
    return File(state: state, since: isKnown ? nil : now, isTaken: true)
  }

  /// Makes the files of a folder ready that have been quiet, by units.
  private mutating func promote(_ path: FilePath, _ now: Duration) {
    guard let files = folders[path]?.files else { return }
    let pending = files.filter { $0.value.since != nil && !$0.value.isReady }
    if pending.isEmpty { return }
    let quiet = folders[path]?.isHinted == false ? rules.quiet * rules.unhintedFactor : rules.quiet
    var isWaiting = false
    let units = Dictionary(grouping: pending.keys) { Self.unit($0, isThere: { files[$0] != nil }) }
    for unit in units.values {
      let isQuiet = unit.allSatisfy { name in
        guard let since = files[name]?.since, now - since >= quiet else { return false }
        let written = writing[path.appending(name)]
        return written.map { now - $0 >= rules.patience } ?? true
      }
      guard isQuiet else {
        isWaiting = true
        continue
      }
      let names = unit.sorted { $0.lexicographicallyPrecedes($1) }
      for name in names { folders[path]?.files[name]?.isReady = true }
      for start in stride(from: 0, to: names.count, by: StackPlanner.unitLimit) {
        ready.append(names[start...].prefix(StackPlanner.unitLimit).map { path.appending($0) })
      }
      readyCount += names.count
    }
    if isWaiting { rechecked.add(path, at: now + quiet) }
  }

  /// What the names of files that belong together have in common: what is before the ending; for a sidecar that has
  /// the whole name of a file before its own ending, what that file has; for an edited photo or video, what its
  /// original has, if there are adjustment data of that.
  /// - Parameter isThere: whether a file of a name is in the same folder.
  static func unit(_ name: [UInt8], isThere: ([UInt8]) -> Bool) -> [UInt8] {
    let path = FilePath(bytes: name)
    let stem = Array(path.stemBytes)
    if let original = AppleEdits.original(ofRendition: name),
      [".AAE", ".aae"].contains(where: { isThere(original + $0.utf8) })
    {
      return original
    }
    let ending = path.pathExtension
    guard SidecarSource.endings.contains(ending) || FolderScan.sidecarExtensions.contains(ending), isThere(stem) else {
      return stem
    }
    return Array(FilePath(bytes: stem).stemBytes)
  }

  // MARK: Actions

  /// When there is something to do, if nothing happens until then; nil: never.
  var deadline: Duration? {
    if isOver { return nil }
    if !actions.isEmpty || !ready.isEmpty { return .zero }
    let judgement = gone.isEmpty ? nil : roots.filter { !$0.value.isAway }.compactMap { judging($0.key)?.at }.min()
    return [atOnce.next, collected.next, rechecked.next, returning.next, judgement].compactMap { $0 }.min()
  }

  /// The next thing to do; nil: nothing yet. It is to be done, and its result received, before the next one.
  mutating func next(at now: Duration) -> Action? {
    if isOver { return nil }
    if let action = actions.popFirst() { return action }
    while readyCount >= rules.batchCount { if let action = take() { return action } }
    if let folder = nextFolder(now) { return .list(folder) }
    while !ready.isEmpty { if let action = take() { return action } }
    return rules.tracksMissing ? judge(now) : nil
  }

  private mutating func nextFolder(_ now: Duration) -> FilePath? {
    while true {
      guard
        let folder = atOnce.pop(now) ?? collected.pop(now) ?? rechecked.pop(now) ?? returning.pop(now)
      else { return nil }
      if folders[folder] != nil { return folder }
    }
  }

  /// Takes what is ready and still what it was, by whole units.
  private mutating func take() -> Action? {
    var batch: [FilePath] = []
    var (unitCount, count) = (0, 0)
    while unitCount < ready.count, batch.count < rules.batchCount {
      let unit = ready[unitCount]
      unitCount += 1
      count += unit.count
      if unit.contains(where: { file($0).map { $0.since != nil && !$0.isReady } ?? false }) {
        // One changed since. Its folder is listed again when it may be quiet, and makes all of them ready.
        for path in unit { folders[FilePath(bytes: path.folderBytes)]?.files[Array(path.nameBytes)]?.isReady = false }
      } else {
        batch += unit
      }
    }
    ready.removeFirst(unitCount)
    readyCount -= count
    var seen: Set<FilePath> = []
    taking = batch.filter { seen.insert($0).inserted && file($0)?.isReady == true }
    return taking.isEmpty ? nil : .take(taking)
  }

  private func file(_ path: FilePath) -> File? {
    folders[FilePath(bytes: path.folderBytes)]?.files[Array(path.nameBytes)]
  }

  /// The files of a root that are gone, and when they are judged: when no more have gone for the grace, or some have
  /// waited long enough for that. From then on, what comes is awaited, in any root and as long at most.
  private func judging(_ root: FilePath) -> (at: Duration, files: [FilePath: Gone])? {
    let files = gone.filter { $0.value.root == root }
    guard let first = files.values.map(\.at).min(), let last = files.values.map(\.at).max() else { return nil }
    let at = min(last + rules.grace, first + rules.grace * 10)
    guard !rechecked.isEmpty, let due = files.values.compactMap(\.due).min() else { return (at, files) }
    return (max(at, due + rules.grace * 10), files)
  }

  /// Decides about files that are gone.
  private mutating func judge(_ now: Duration) -> Action? {
    if gone.isEmpty { return nil }
    for (path, root) in roots.sorted(by: { $0.key < $1.key }) where !root.isAway {
      guard let first = judging(path) else { continue }
      for (file, one) in first.files where first.at <= now && one.due == nil { gone[file]?.due = now }
      guard let (at, all) = judging(path) else { continue }
      guard at <= now else {
        // What was found out for a judgement that did not come about is not kept for a later one.
        for (file, one) in all where one.resolved != nil { gone[file]?.resolved = nil }
        continue
      }
      let due = all.filter { $0.value.at + rules.grace <= now }
      let open = due.filter { $0.value.resolved == nil }.keys.sorted()
      guard open.isEmpty else {
        resolving = open
        return .resolve(open)
      }
      // The root is there, after all that.
      guard let seen = root.seen, due.allSatisfy({ ($0.value.resolved ?? now) <= seen }) else { return .list(path) }
      let known = root.takenCount + all.count
      let isMany = due.count > rules.missingLimit || due.count * 100 > known * rules.missingPercentage
      if isMany, due.count > rules.missingFloor, !rules.acceptsMissing {
        isOver = true
        return .ask(root: path, missing: due.count, of: known)
      }
      for file in due.keys { gone[file] = nil }
      return .missing(due.keys.sorted())
    }
    return nil
  }
}

/// Folders that wait for the same time each, so they become due in the order in which they came.
private struct DueLine {
  private var waiting = Line<(at: Duration, folder: FilePath)>()
  private var members: Set<FilePath> = []

  var isEmpty: Bool { members.isEmpty }
  var next: Duration? { waiting.first?.at }

  /// Adds a folder; one that waits already becomes due as it would have.
  mutating func add(_ folder: FilePath, at time: Duration) {
    if members.insert(folder).inserted { waiting.append((time, folder)) }
  }

  mutating func pop(_ now: Duration) -> FilePath? {
    guard let first = waiting.first, first.at <= now else { return nil }
    _ = waiting.popFirst()
    members.remove(first.folder)
    return first.folder
  }
}

/// What waits, the first of which leaves without the others moving up each time.
private struct Line<Element> {
  private var elements: [Element] = []
  private var start = 0

  var isEmpty: Bool { start == elements.count }
  var first: Element? { isEmpty ? nil : elements[start] }

  mutating func append(_ element: Element) { elements.append(element) }

  /// - Complexity: O(1) on average.
  mutating func popFirst() -> Element? {
    guard let first else { return nil }
    start += 1
    if isEmpty || start > 1024 && start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return first
  }
}
