import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

// Random histories of a tree of folders, against a naive model: after everything has been quiet for long, what was
// taken is what is there, and what is missing is what was taken and is nowhere. Hints are lost, delayed, and of the
// wrong folder, and some histories are of folders that the kernel says nothing about; whatever the order, a file is
// taken only in a state that it had for the quiet time.

@Suite("what a watch of folders decides")
struct FolderWatchTests {
  @Test(
    "random histories end with every file imported",
    arguments: 0..<(Dose.isFull ? 300 : 50) as Range<UInt64>)
  func histories(seed: UInt64) throws {
    var world = World(seed: seed, losesHints: true, missingFloor: 1000)
    world.isHinted = seed % 4 > 0
    for _ in 0..<world.generator.int(20..<120) {
      world.change()
      try world.pass(.milliseconds(world.generator.int(0..<1500)))
    }
    world.mount()
    try world.pass(.seconds(200), step: .milliseconds(500))
    // What could not be read and has neither changed nor seen its root come back is not tried again.
    let readable = world.files.filter { world.unread[$0.key] != $0.value }
    #expect(world.taken == readable, "seed \(seed)")
    #expect(world.watch.takenCount == readable.count, "seed \(seed)")
    // What was taken and is not there was found elsewhere or is missing, and nothing else is.
    #expect(world.missing.union(world.elsewhere) == world.everTaken.subtracting(world.files.keys), "seed \(seed)")
    #expect(world.takes.allSatisfy { $0.count <= 7 }, "seed \(seed)")
  }

  @Test("a restart imports no known file, and detects missing ones")
  func restart() throws {
    var world = World(seed: 1)
    for name in ["a/x.jpg", "a/y.jpg", "z.jpg"] { world.put(name) }
    try world.pass(.seconds(20))
    #expect(world.takeCount == 3)
    world.removeUnseen("a/y.jpg")
    world.restart()
    try world.pass(.seconds(20))
    #expect(world.takeCount == 3 && world.missing == [World.path("a/y.jpg")])
  }

  @Test("a root that is gone or empty changes nothing, and is reported once", arguments: [true, false])
  func unmounted(isGone: Bool) throws {
    var world = World(seed: 2)
    for index in 0..<40 { world.put("a/\(index).jpg") }
    try world.pass(.seconds(20))
    world.unmount(isGone: isGone)
    try world.pass(.seconds(100))
    #expect(world.said == ["away 40"] && world.missing.isEmpty && world.watch.takenCount == 40)
    world.mount()
    try world.pass(.seconds(20))
    #expect(world.said == ["away 40", "returned"] && world.missing.isEmpty && world.takeCount == 40)
  }

  @Test("files that could not be read are tried again when their root comes back, and only then")
  func unread() throws {
    var world = World(seed: 12)
    world.put("a/taken.jpg")
    try world.pass(.seconds(20))
    world.canRead = false
    for name in ["a/x.jpg", "b/c/y.jpg", "z.jpg"] { world.put(name) }
    try world.pass(.seconds(20))
    world.canRead = true
    world.hint(.lost)
    try world.pass(.seconds(20))
    #expect(Set(world.taken.keys) == [World.path("a/taken.jpg")] && world.unread.count == 3)
    world.unmount(isGone: true)
    try world.pass(.seconds(20))
    world.mount()
    try world.pass(.seconds(20))
    #expect(world.taken == world.files && world.takeCount == 4 && world.watch.takenCount == 4)
    #expect(world.missing.isEmpty)
  }

  @Test("files without readable bytes or an answer of the metadata tool count as not read")
  func unreadOutcomes() {
    let reasons = SkipReason.allCases.filter { FileOutcome.skipped($0, "").isUnread }
    #expect(Set(reasons) == [.unreadable, .toolTimeout, .toolCrashed])
    #expect(!FileOutcome.notReached.isUnread && !FileOutcome.sidecar.isUnread)
  }

  @Test(
    "more missing files at once than the limit need a confirmation",
    arguments: [(40, 10, false), (40, 11, true), (400, 20, false), (400, 21, true)])
  func manyMissing(count: Int, removed: Int, isAsked: Bool) throws {
    var world = World(seed: 3)
    for index in 0..<count { world.put("\(index).jpg") }
    try world.pass(.seconds(20))
    for index in 0..<removed { world.remove("\(index).jpg") }
    try world.pass(.seconds(60))
    #expect(world.watch.isOver == isAsked)
    #expect(world.said == (isAsked ? ["ask \(removed) of \(count)"] : []))
    #expect(world.missing.count == (isAsked ? 0 : removed))
  }

  @Test("a file is not imported while it is written, nor its unit")
  func beingWritten() throws {
    var world = World(seed: 4)
    world.put("IMG_1.JPG")
    world.put("IMG_1.MOV")
    world.put("IMG_2.JPG")
    for _ in 0..<10 {
      world.hint(.writing(World.path("IMG_1.MOV")))
      try world.pass(.seconds(2))
      #expect(Set(world.taken.keys) == [World.path("IMG_2.JPG")])
    }
    world.hint(.closed(World.path("IMG_1.MOV")))
    try world.pass(.seconds(3))
    #expect(world.taken.count == 3)
  }

  @Test("a writer that never closes is awaited for a limited time")
  func patience() throws {
    var world = World(seed: 5)
    world.put("a.jpg")
    world.hint(.writing(World.path("a.jpg")))
    try world.pass(.seconds(20))
    #expect(world.taken.isEmpty)
    try world.pass(.seconds(15))
    #expect(world.taken.count == 1)
  }

  @Test("a file is passed to the library within two seconds of its last change")
  func soon() throws {
    var world = World(seed: 6)
    try world.pass(.seconds(3))
    world.put("new/deep/a.jpg")
    try world.pass(.seconds(2), step: .milliseconds(50))
    #expect(world.taken.count == 1)
  }

  @Test("a file of a series is imported while the series continues")
  func series() throws {
    var world = World(seed: 7)
    try world.pass(.seconds(3))
    for index in 0..<20 {
      world.put("cam.\(index).jpg")
      try world.pass(.milliseconds(500), step: .milliseconds(50))
      // Two seconds after each, of which one is the quiet time.
      if index > 4 { #expect(world.taken[World.path("cam.\(index - 5).jpg")] != nil, "file \(index)") }
    }
  }

  @Test("a file of a series waits for its own sidecar, of either naming")
  func sidecarOfSeries() throws {
    for sidecar in ["cam.1.jpg.xmp", "cam.1.xmp"] {
      var world = World(seed: 8)
      for name in ["cam.1.jpg", "cam.2.jpg", sidecar] { world.put(name) }
      for _ in 0..<5 {
        world.hint(.writing(World.path(sidecar)))
        try world.pass(.seconds(2))
        #expect(Set(world.taken.keys) == [World.path("cam.2.jpg")], "\(sidecar)")
      }
      world.hint(.closed(World.path(sidecar)))
      try world.pass(.seconds(3))
      #expect(world.taken.count == 3)
    }
  }

  @Test("the files of a unit are imported together, however small the batch", arguments: [1, 2, 3, 7])
  func unitsAtOnce(batchCount: Int) throws {
    var world = World(seed: 9, batchCount: batchCount)
    for number in 0..<10 {
      for ending in ["ARW", "ARW.xmp", "JPG"] { world.put("IMG_\(number).\(ending)") }
    }
    try world.pass(.seconds(20))
    #expect(world.takeCount == 30)
    for paths in world.takes {
      let units = Dictionary(grouping: paths) { $0.name.prefix { $0 != "." } }
      #expect(units.values.allSatisfy { $0.count == 3 }, "\(paths)")
      #expect(paths.count < batchCount + 3)
    }
  }

  @Test("a unit with a file that changes while it waits is imported completely, once it is quiet again")
  func changedWhileReady() {
    var watch = FolderWatch(roots: [World.root], known: [], rules: FolderWatch.Rules())
    func listing(_ sizeOfJPEG: Int64) -> FolderWatch.Event {
      func state(_ size: Int64) -> FileState { FileState(byteCount: size, modified: size, changed: size) }
      let entries = [Array("b.ARW".utf8): state(1), Array("b.JPG".utf8): state(sizeOfJPEG)]
      return .listed(World.root, .entries(files: entries, folders: [:], isEmpty: false))
    }
    var actions = [watch.next(at: .zero)]
    watch.receive(listing(1), at: .zero)
    // The folder is listed twice at the end of the quiet time: the first listing makes both files ready.
    watch.receive(.changed(World.root), at: .milliseconds(800))
    actions.append(watch.next(at: .seconds(1)))
    watch.receive(listing(1), at: .seconds(1))
    actions.append(watch.next(at: .seconds(1)))
    watch.receive(listing(2), at: .seconds(1))
    actions.append(watch.next(at: .seconds(1)))
    actions.append(watch.next(at: .seconds(2)))
    watch.receive(listing(2), at: .seconds(2))
    actions.append(watch.next(at: .seconds(2)))
    let list = FolderWatch.Action.list(World.root)
    #expect(actions == [list, list, list, nil, list, .take([World.path("b.ARW"), World.path("b.JPG")])])
  }

  @Test("known files missing from a listing are checked twice, and do not delay the report of a file that is gone")
  func leftOut() throws {
    var world = World(seed: 11)
    for name in ["a/x.jpg", "a/x.THM", "THMBNL/y.jpg"] { world.put(name) }
    try world.pass(.seconds(20))
    #expect(world.takeCount == 3)
    world.leftOut = [World.path("a/x.THM"), World.path("THMBNL/y.jpg")]
    world.restart()
    try world.pass(.seconds(60))
    let (lists, resolves) = (world.listCount, world.resolveCount)
    #expect(resolves == 2)
    try world.pass(.seconds(600))
    #expect(world.listCount == lists && world.resolveCount == resolves)
    #expect(world.missing.isEmpty && world.takeCount == 3)
    world.remove("a/x.jpg")
    try world.pass(.seconds(5))
    #expect(world.missing == [World.path("a/x.jpg")])
  }

  @Test(
    "files of a renamed folder are imported before the former ones are looked for, where the kernel reports nothing",
    arguments: [false, true])
  func renamedUnhinted(isRestart: Bool) throws {
    var world = World(seed: 13)
    world.isHinted = false
    for index in 0..<100 { world.put(index < 40 ? "a/\(index).jpg" : "\(index).jpg") }
    try world.pass(.seconds(30))
    #expect(world.takeCount == 100)
    world.rename("a/", "b/")
    if isRestart { world.restart() }
    try world.pass(.seconds(60))
    #expect(world.said.isEmpty && world.missing.isEmpty && !world.watch.isOver)
    #expect(world.takeCount == 140 && world.taken == world.files)
    #expect(world.resolveCount == 1 && world.elsewhere == Set((0..<40).map { World.path("a/\($0).jpg") }))
  }

  @Test(
    "files of a folder that was renamed before a start are imported before the former ones are looked for",
    arguments: [5, 300] as [Int64])
  func renamedBeforeStart(listedAfter seconds: Int64) {
    let state = FileState(byteCount: 1, modified: 1, changed: 1)
    let names = (0..<100).map { Array("\($0).jpg".utf8) }
    let (former, current) = (World.path("A"), World.path("B"))
    let known = names.map { (path: former.appending($0), state: state, isTaken: true) }
    var watch = FolderWatch(roots: [World.root], known: known, rules: FolderWatch.Rules())
    let root = FolderWatch.Listing.entries(files: [:], folders: [Array("B".utf8): 1], isEmpty: false)
    let files = Dictionary(uniqueKeysWithValues: names.map { ($0, state) })
    let below = FolderWatch.Listing.entries(files: files, folders: [:], isEmpty: false)
    var actions = [watch.next(at: .zero)]
    watch.receive(.listed(World.root, root), at: .zero)
    actions += [watch.next(at: .zero), watch.next(at: .zero)]
    // Listing it takes longer than a file may be gone.
    let listed = Duration.seconds(seconds)
    watch.receive(.listed(current, below), at: listed)
    actions += [watch.next(at: listed + .milliseconds(100)), watch.next(at: listed + .seconds(1))]
    let expected: [FolderWatch.Action?] = [.list(World.root), .forget(former), .list(current), nil, .list(current)]
    #expect(actions == expected)
    watch.receive(.listed(current, below), at: listed + .seconds(1))
    guard case .take(let paths)? = watch.next(at: listed + .seconds(1)) else {
      Issue.record("Nothing is imported.")
      return
    }
    #expect(Set(paths) == Set(names.map { current.appending($0) }))
    watch.receive(.taken(again: [], left: [], unread: []), at: listed + .seconds(1))
    let last = watch.next(at: listed + .seconds(1))
    #expect(last == .resolve(known.map { $0.path }.sorted()))
  }

  @Test("a file that never stops changing delays the report of one that is gone for a limited time")
  func goneWhileAnotherChanges() throws {
    var world = World(seed: 14)
    for name in ["a.jpg", "b.jpg"] { world.put(name) }
    try world.pass(.seconds(20))
    world.remove("a.jpg")
    for index in 0..<80 {
      world.put("changing.jpg")
      try world.pass(.milliseconds(500))
      if index < 40 { #expect(world.missing.isEmpty) }
    }
    #expect(world.missing == [World.path("a.jpg")] && world.takeCount == 2)
  }

  @Test("files of a folder whose extensions are numbers are not all imported at once")
  func manyOfOneName() throws {
    var world = World(seed: 10)
    for number in 0..<500 { world.put("scan.\(number)") }
    try world.pass(.seconds(20))
    #expect(world.takeCount == 500 && world.takes.count > 5)
  }

  @Test("a very large tree is dropped folder by folder, each before its parent", .timeLimit(.minutes(10)))
  func manyForgotten() {
    let count = Dose.isFull ? 100_000 : 50_000
    let state = FileState(byteCount: 1, modified: 1, changed: 1)
    let known = (0..<count).map { (path: World.path("a/\($0)/x.jpg"), state: state, isTaken: false) }
    var watch = FolderWatch(roots: [World.root], known: known, rules: FolderWatch.Rules())
    #expect(watch.folderCount == count + 2)
    let first = watch.next(at: .zero)
    #expect(first == .list(World.root))
    watch.receive(.listed(World.root, .entries(files: [:], folders: [:], isEmpty: false)), at: .zero)
    var forgotten: [FilePath] = []
    while case .forget(let folder)? = watch.next(at: .zero) { forgotten.append(folder) }
    #expect(Set(forgotten).count == count + 1 && forgotten.count == count + 1)
    #expect(forgotten.last == World.path("a") && watch.folderCount == 1)
  }

  @Test("units are names without their extension, and sidecars belong to the file whose name they have")
  func units() {
    let there: Set = ["IMG_1.jpg", "cam.01.jpg", "b.json", "IMG_1000.AAE", "IMG_1001.aae"]
    let cases = [
      ("IMG_1.jpg.xmp", "IMG_1"), ("IMG_1.JPG.xmp", "IMG_1.JPG"), ("IMG_1.mov", "IMG_1"), ("IMG_1", "IMG_1"),
      (".hidden.jpg", ".hidden"), ("a.b", "a"), ("cam.01.jpg", "cam.01"), ("cam.01.xmp", "cam.01"),
      ("cam.01.jpg.json", "cam.01"), ("cam.02.jpg", "cam.02"), ("cam.01.aae", "cam.01"), ("b.json.xmp", "b"),
      ("IMG_E1000.HEIC", "IMG_1000"), ("IMG_1000.AAE", "IMG_1000"), ("IMG_E1001.MOV", "IMG_1001"),
      ("IMG_E1002.HEIC", "IMG_E1002"), ("IMG_E100.HEIC", "IMG_E100"),
    ]
    for (name, unit) in cases {
      let found = FolderWatch.unit(Array(name.utf8)) { there.contains(String(decoding: $0, as: UTF8.self)) }
      #expect(found == Array(unit.utf8), "\(name)")
    }
  }
}

/// A tree in memory, a watch of it, and what came of it.
private struct World {
  static let root = FilePath("/r")
  static func path(_ name: String) -> FilePath { FilePath("/r/\(name)") }

  var generator: SeededGenerator
  var watch: FolderWatch
  /// The files that are there; their sizes serve as their contents too.
  private(set) var files: [FilePath: FileState] = [:]
  /// Since when.
  private var since: [FilePath: Duration] = [:]
  private var isMounted = true
  private var isGone = false
  private var lastState: Int64 = 0
  private var now = Duration.zero
  private var hints: [(Duration, FolderWatch.Event)] = []
  private(set) var taken: [FilePath: FileState] = [:]
  private(set) var missing: Set<FilePath> = []
  private(set) var takeCount = 0
  /// The files of each time that files were taken.
  private(set) var takes: [[FilePath]] = []
  private(set) var said: [String] = []
  /// Files that are gone and were found at other paths.
  private(set) var elsewhere: Set<FilePath> = []
  private(set) var everTaken: Set<FilePath> = []
  /// Files that are there and that no listing has.
  var leftOut: Set<FilePath> = []
  /// Files that could not be read, with what they were, since their root was last seen to come back.
  private(set) var unread: [FilePath: FileState] = [:]
  /// Whether new files can be read.
  var canRead = true
  /// Whether the kernel reports what happens in folders.
  var isHinted = true
  private(set) var listCount = 0
  private(set) var resolveCount = 0
  private let losesHints: Bool
  private let rules: FolderWatch.Rules

  init(seed: UInt64, losesHints: Bool = false, missingFloor: Int = 10, batchCount: Int = 7) {
    generator = SeededGenerator(seed: seed)
    self.losesHints = losesHints
    var rules = FolderWatch.Rules()
    (rules.batchCount, rules.missingFloor) = (batchCount, missingFloor)
    self.rules = rules
    watch = FolderWatch(roots: [Self.root], known: [], rules: rules)
  }

  mutating func restart() {
    watch = FolderWatch(
      roots: [Self.root], known: taken.map { ($0.key, $0.value, true) }, rules: rules)
    now = .zero
    since = since.mapValues { _ in .zero }
    hints = []
  }

  // MARK: The tree

  mutating func hint(_ event: FolderWatch.Event) { hints.append((now, event)) }

  private mutating func hintAbout(_ path: FilePath) {
    var folder = FilePath(bytes: path.folderBytes)
    while folder.bytes.count >= Self.root.bytes.count {
      let delay = Duration.milliseconds(generator.int(0..<300))
      if losesHints, generator.chance(1, of: 10) {
        // Lost; the kernel says so, sooner or later.
        hints.append((now + .milliseconds(generator.int(0..<3000)), .lost))
      } else {
        hints.append((now + delay, .changed(folder)))
      }
      folder = FilePath(bytes: folder.folderBytes)
    }
  }

  private mutating func newState() -> FileState {
    lastState += 1
    return FileState(byteCount: lastState, modified: lastState, changed: lastState)
  }

  /// Writes a file.
  mutating func put(_ name: String) { put(name, newState(), since: now) }

  private mutating func put(_ name: String, _ state: FileState, since time: Duration) {
    let path = Self.path(name)
    files[path] = state
    since[path] = time
    hintAbout(path)
  }

  mutating func removeUnseen(_ name: String) { files[Self.path(name)] = nil }

  mutating func remove(_ name: String) {
    files[Self.path(name)] = nil
    hintAbout(Self.path(name))
  }

  /// Moves what is in a folder into a new one.
  mutating func rename(_ from: String, _ to: String) {
    for path in files.keys.sorted() where Self.name(path).hasPrefix(from) {
      guard let state = files[path], let time = since[path] else { continue }
      remove(Self.name(path))
      put(to + Self.name(path).dropFirst(from.count), state, since: time)
    }
  }

  mutating func unmount(isGone: Bool) {
    (isMounted, self.isGone) = (false, isGone)
    for folder in [Self.root, Self.path("a"), Self.path("b")] where generator.chance(1, of: 2) || folder == Self.root {
      hints.append((now + .milliseconds(generator.int(0..<300)), .changed(folder)))
    }
  }

  /// The kernel says nothing; that there is another file system is seen a little later.
  mutating func mount() {
    isMounted = true
    hints.append((now + .milliseconds(generator.int(0..<5000)), .changed(Self.root)))
  }

  /// One random thing happens.
  mutating func change() {
    guard isMounted else { return generator.chance(1, of: 3) ? mount() : () }
    let folders = ["", "a/", "b/", "a/c/", "b/c/"]
    let name = generator.one(of: folders) + "f\(generator.int(0..<4)).jpg"
    let existing = files.keys.sorted()
    switch generator.int(0..<10) {
    case 0..<4: put(name)
    case 4: if let path = existing.randomElement(using: &generator) { put(Self.name(path)) }
    case 5..<7:
      // Moved or renamed: the same content elsewhere.
      guard let path = existing.randomElement(using: &generator), files[Self.path(name)] == nil else { return }
      guard var state = files[path] else { return }
      state.changed = newState().changed
      remove(Self.name(path))
      put(name, state, since: now)
    case 7:
      // A whole folder with what is in it.
      let (from, to) = (generator.one(of: ["a/", "b/", "a/c/"]), generator.one(of: ["b/c/", "d/", "a/e/"]))
      if to.hasPrefix(from) || files.keys.contains(where: { Self.name($0).hasPrefix(to) }) { return }
      rename(from, to)
    case 8: if let path = existing.randomElement(using: &generator) { remove(Self.name(path)) }
    default: if generator.chance(1, of: 3), !files.isEmpty { unmount(isGone: generator.chance(1, of: 2)) }
    }
  }

  private static func name(_ path: FilePath) -> String { String(path.description.dropFirst(3)) }

  private func listing(_ folder: FilePath) -> FolderWatch.Listing {
    if !isMounted {
      return isGone || folder != Self.root ? .gone : .entries(files: [:], folders: [:], isEmpty: true)
    }
    var found: [[UInt8]: FileState] = [:]
    var folders: [[UInt8]: UInt64] = [:]
    for (path, state) in files where path.isBelow(folder) && !leftOut.contains(path) {
      let rest = path.bytes.dropFirst(folder.bytes.count + 1)
      guard let slash = rest.firstIndex(of: FilePath.slash) else {
        found[Array(rest)] = state
        continue
      }
      let name = Array(rest[..<slash])
      folders[name] = name.reduce(7) { $0 &* 31 &+ UInt64($1) }
    }
    if found.isEmpty, folders.isEmpty, folder != Self.root { return .gone }
    return .entries(files: found, folders: folders, isEmpty: false)
  }

  // MARK: Time

  mutating func pass(_ duration: Duration, step: Duration = .milliseconds(100)) throws {
    let end = now + duration
    while now < end {
      now += step
      let due = hints.filter { $0.0 <= now }
      hints.removeAll { $0.0 <= now }
      for (_, event) in due { watch.receive(event, at: now) }
      var count = 0
      while let action = watch.next(at: now) {
        try execute(action)
        count += 1
        try #require(count < 10_000, "A watch that always has something to do.")
      }
      if let deadline = watch.deadline { #expect(deadline > now, "What is due is done.") }
    }
  }

  private mutating func execute(_ action: FolderWatch.Action) throws {
    switch action {
    case .list(let folder):
      listCount += 1
      if !isHinted { watch.receive(.unhinted(folder), at: now) }
      watch.receive(.listed(folder, listing(folder)), at: now)
    case .forget: break
    case .take(let paths): take(paths)
    case .resolve(let paths):
      resolveCount += 1
      let elsewhere = paths.filter { path in
        (!isMounted || files[path] == nil)
          && taken.contains {
            $0.key != path && $0.value.byteCount == taken[path]?.byteCount && files[$0.key] == $0.value
          }
      }
      for path in elsewhere {
        taken[path] = nil
        self.elsewhere.insert(path)
      }
      let there = paths.filter { isMounted && files[$0] != nil }
      watch.receive(.resolved(elsewhere: Set(elsewhere).subtracting(there), there: Set(there)), at: now)
    case .missing(let paths):
      for path in paths {
        #expect(files[path] == nil, "Only what is not there is missing.")
        #expect(taken.removeValue(forKey: path) != nil, "Only what was taken is missing.")
        missing.insert(path)
      }
    case .ask(_, let count, let all): said.append("ask \(count) of \(all)")
    case .away(_, let count): said.append("away \(count)")
    case .returned:
      said.append("returned")
      unread = [:]
    }
  }

  private mutating func take(_ paths: [FilePath]) {
    #expect(Set(paths).count == paths.count && paths.count < rules.batchCount + StackPlanner.unitLimit)
    takes.append(paths)
    var (again, failed): (Set<FilePath>, Set<FilePath>) = ([], [])
    for path in paths {
      if let state = files[path], watch.state(of: path) == state, !everTaken.contains(path), failsToRead() {
        failed.insert(path)
        unread[path] = state
        continue
      }
      guard isMounted, let state = files[path], let since = since[path] else {
        again.insert(path)
        continue
      }
      // The watch may be a listing behind, but never takes what is younger than its quiet time by its own listings.
      if watch.state(of: path) == state {
        #expect(now - since >= .seconds(1), "\(path) was taken after \(now - since)")
        taken[path] = state
        unread[path] = nil
        missing.remove(path)
        elsewhere.remove(path)
        everTaken.insert(path)
        takeCount += 1
      } else {
        again.insert(path)
      }
    }
    watch.receive(.taken(again: again, left: [], unread: failed), at: now)
  }

  /// Whether a new file cannot be read now: often while the file system is away.
  private mutating func failsToRead() -> Bool {
    if !canRead { return true }
    return losesHints ? generator.chance(1, of: isMounted ? 10 : 2) : false
  }
}
