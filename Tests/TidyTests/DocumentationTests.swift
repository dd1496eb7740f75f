import Foundation
import LibraryMaintenance
import PhotoLedger
import Photos
import TestSupport
import Testing

// The documentation cannot say what does not compile: its Swift blocks are those of DocumentationExamples.swift.

@Suite("Documentation")
struct DocumentationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let catalog = "Sources/PhotoLedger/PhotoLedger.docc"

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  static let articles: [String] =
    ["README.md"]
    + ((try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: catalog).path)) ?? [])
    .filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" }

  // MARK: Text

  @Test("the Swift of an article is compiled code", arguments: articles)
  func swiftBlocks(_ path: String) throws {
    let examples = try Self.examples()
    for block in Self.blocks("swift", in: try Self.text(path)) where !Self.isManifest(block) {
      let lines = block.drop { $0.hasPrefix("import ") || $0.isEmpty }
      #expect(
        examples.values.contains(Array(lines)),
        "\(path) has Swift that is not compiled:\n\(block.joined(separator: "\n"))")
      for line in block where line.hasPrefix("import ") {
        #expect(["import Foundation", "import PhotoLedger"].contains(line))
      }
    }
  }

  @Test("every example stands in an article")
  func everyExampleIsUsed() throws {
    let used = Set(
      try Self.articles.flatMap { path in
        Self.blocks("swift", in: try Self.text(path)).map { Array($0.drop { $0.hasPrefix("import ") || $0.isEmpty }) }
      })
    let idle = try Self.examples().filter { !used.contains($0.value) }.map(\.key)
    #expect(idle.isEmpty)
  }

  /// A module with many rooms has a table with a row for each, in the order of `RoomOrder.all`; another one has a row.
  @Test("Architecture lists the rooms of each module in their order")
  func rooms() throws {
    let rows = try Self.text("\(Self.catalog)/Architecture.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
    var rest = rows.compactMap { row in row.firstMatch(of: #/^\| `(\w+)/` \|/#).map { String($0.output.1) } }
    for (module, order) in RoomOrder.all {
      let rooms = order.filter { $0 != "." }
      if let row = rows.first(where: { $0.hasPrefix("| `\(module)` |") && $0.contains("/`") }) {
        #expect(row.matches(of: #/`(\w+)/`/#).map { String($0.output.1) } == rooms, "\(module)")
      } else {
        #expect(rest.prefix(rooms.count) == rooms[...], "\(module)")
        rest.removeFirst(min(rooms.count, rest.count))
      }
    }
    #expect(rest.isEmpty)
  }

  @Test("the README's example is its first Swift block and has at most 15 lines")
  func readmeExample() throws {
    let block = try #require(Self.blocks("swift", in: try Self.text("README.md")).first)
    #expect((12...15).contains(block.count))
    #expect(block.starts(with: ["import Foundation", "import PhotoLedger", ""]))
    #expect(Array(block.dropFirst(3)) == (try Self.examples())["readme"])
  }

  /// Whether a block is the manifest of another package, which cannot be compiled here.
  private static func isManifest(_ block: [String]) -> Bool {
    block.first?.hasPrefix("// swift-tools-version") == true
  }

  @Test("the README's manifest depends on a product of this package, and each product is named with its modules")
  func readmeManifest() throws {
    let (readme, package) = (try Self.text("README.md"), try Self.text("Package.swift"))
    let manifest = try #require(Self.blocks("swift", in: readme).first(where: Self.isManifest))
    #expect(package.hasPrefix(manifest[0] + "\n"), "The manifest needs the same version of the tools.")
    var modules: [String: [String]] = [:]
    for product in package.matches(of: #/\.library\(name: "(\w+)", targets: \[([^\]]+)\]\)/#) {
      modules[String(product.output.1)] = product.output.2.matches(of: #/\w+/#).map { String($0.output) }
    }
    let used = manifest.joined().matches(of: #/\.product\(name: "(\w+)", package: "PhotoLedger"\)/#)
      .map { String($0.output.1) }
    #expect(!used.isEmpty && Set(used).isSubset(of: modules.keys))
    let rows = readme.split(separator: "\n").filter { $0.hasPrefix("| `") }
    for (product, targets) in modules {
      let row = rows.first { $0.hasPrefix("| `\(product)`") }
      #expect(targets.allSatisfy { row?.contains("`\($0)`") == true }, "\(product): \(targets)")
    }
    let lmdb = package.firstMatch(of: #/"lmdb", providers: \[\.apt\(\["([^"]+)"\]\)\]/#)
    let library = try #require(lmdb).output.1
    #expect(readme.contains("`\(library)`"))
  }

  @Test("the predicates of an article are read, or rejected where it says so", arguments: articles)
  func predicates(_ path: String) throws {
    for line in Self.blocks("predicate", in: try Self.text(path)).joined() where !line.isEmpty {
      let isOfCollections = line.contains("localizedTitle") || line.contains("estimatedAssetCount")
      let entity: Entity = isOfCollections ? .collection : .asset
      let arguments: [PredicateArgument] = try line.matches(of: #/%[@dKf]/#).map { specifier in
        switch specifier.output {
        case "%d": 8
        case "%K": "duration"
        case "%f": 2.5
        default: line.contains("IN %@") ? [.integer(1), .integer(2)] : try PredicateArgument(Date.distantPast)
        }
      }
      #expect(throws: Never.self, "\(path): \(line)") {
        let condition = try Condition(format: line, arguments: arguments, for: entity)
        #expect(try Condition(format: condition.description, for: entity) == condition)
      }
    }
    for line in Self.blocks("refused", in: try Self.text(path)).joined() where !line.isEmpty {
      #expect(throws: FetchError.self, "\(path): \(line)") { _ = try Condition(format: line, for: .asset) }
    }
  }

  @Test("a link to a file of the project leads to one", arguments: articles)
  func links(_ path: String) throws {
    let folder = root(of: path)
    for match in try Self.text(path).matches(of: #/\]\(([^)#:]+)\)/#) {
      // The documentation's compiler finds a picture by its name alone.
      let isPicture = path.hasPrefix(Self.catalog) && match.output.1.hasSuffix(".png")
      let target = folder.appending(path: (isPicture ? "Resources/" : "") + match.output.1).standardizedFileURL
      #expect(FileManager.default.fileExists(atPath: target.path), "\(path) links to \(match.output.1)")
    }
    for match in try Self.text(path).matches(of: #/<doc:(\w+)>/#) {
      let target = "\(Self.catalog)/\(match.output.1).md"
      #expect(
        FileManager.default.fileExists(atPath: Self.root.appending(path: target).path),
        "\(path) links to \(match.output.1)")
    }
  }

  @Test("a test that an article names exists", arguments: articles)
  func namedTests(_ path: String) throws {
    try #require(Self.tests.count > 1000, "Only \(Self.tests.count) tests were found: the reader is blind.")
    let lines = LinedBytes(try Self.text(path)).lines.filter { $0.holds("Tests.") }
    let pattern = #/`(\w+Tests\.\w+)`/#
    for match in lines.flatMap({ $0.matches(of: pattern) }) {
      #expect(Self.tests.contains(match.output.1), "\(path) names \(match.output.1), which is no test.")
    }
  }

  /// The suites and functions of all tests whose suites are named `…Tests`, as `Suite.function`.
  private static let tests: Set<Substring> = {
    var found: Set<Substring> = []
    let (suite, function) = (#/\b(?:struct|class|enum|actor|extension) (\w+Tests)\b/#, #/\bfunc (\w+)/#)
    for source in PackageFiles.swift where source.path.hasPrefix("Tests/") {
      var (name, isTest) = ("", false)
      let lines = source.codeLines(holding: "Tests", "@Test", "func ")
      for code in lines.map({ source.code[$0] }) {
        if code.holds("Tests"), let match = code.firstMatch(of: suite) { name = String(match.output.1) }
        if code.holds("@Test") { isTest = true }
        guard isTest, code.holds("func "), let match = code.firstMatch(of: function) else { continue }
        found.insert("\(name).\(match.output.1)")
        isTest = false
      }
    }
    return found
  }()

  private func root(of path: String) -> URL { Self.root.appending(path: path).deletingLastPathComponent() }

  /// The examples of DocumentationExamples.swift by name, without their indentation.
  private static func examples() throws -> [String: [String]] { try readExamples.get() }

  private static let readExamples = Result { () throws -> [String: [String]] in
    var examples: [String: [String]] = [:]
    var name: String?
    for line in LinedBytes(try text("Tests/TidyTests/DocumentationExamples.swift")).lines {
      let bare = line.trimmingCharacters(in: .whitespaces)
      if bare.hasPrefix("// example: ") {
        name = String(bare.dropFirst("// example: ".count))
        examples[name ?? ""] = []
      } else if bare == "// end" {
        name = nil
      } else if let name {
        examples[name]?.append(line)
      }
    }
    return examples.mapValues { lines in
      let margin = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
      return lines.map { String($0.dropFirst(margin)) }
    }
  }

  /// The code blocks of a language in an article, line by line.
  private static func blocks(_ language: String, in article: String) -> [[String]] {
    var blocks: [[String]] = []
    var isInside = false
    for line in article.split(separator: "\n", omittingEmptySubsequences: false) {
      if isInside, line == "```" {
        isInside = false
      } else if isInside {
        blocks[blocks.count - 1].append(String(line))
      } else if line == "```\(language)" {
        isInside = true
        blocks.append([])
      }
    }
    return blocks
  }

  // MARK: Running

  @Test("the README's example delivers every change to its grid, in order", .timeLimit(.minutes(60)))
  func runsReadme() async throws {
    try await withLibrary(count: 5) { library, folder in
      let recent = try library.fetchAssets(sortedBy: [SortDescriptor(\.creationDate, order: .reverse)])
      let (updates, told) = AsyncStream.makeStream(of: [IndexSet?].self)
      let example = Task {
        try await Examples.readme(at: folder) { told.yield([$0, $1, $2, IndexSet($3.map(\.to))]) }
      }
      var seen = updates.makeAsyncIterator()
      #expect(await seen.next() == [[], [], [0], []])
      try await library.performChanges { $0.deleteAssets([recent[1].id]) }
      #expect(await seen.next() == [[1], [], [], []])
      example.cancel()
      try await example.value
      #expect(try library.fetchCollections().map(\.localizedTitle) == ["Sea"])
    }
  }

  @Test("the cookbook's examples do what they say", .timeLimit(.minutes(60)))
  func runsCookbook() async throws {
    try await withLibrary(count: 5) { library, folder in
      let photos = try library.fetchAssets().map(\.id)
      let start = try library.currentToken
      #expect(try Examples.open(folder).client == "com.example.gallery")
      #expect(try Examples.errors(folder.appending(path: "absent")).contains("does not exist"))
      #expect(try Examples.fetch(in: library) == [0, 0])
      #expect(try await Examples.albums(in: library, [photos[0], photos[1], photos[2]]) == [photos[2], photos[1]])
      #expect(try await Examples.trash(in: library, photos[0]) == 1)
      #expect(try await Examples.undo(in: library, [photos[0], photos[1]]) == 2)
      #expect(try await Examples.retry(in: library, photos[1]) == [false, true, true])
      #expect(try await Examples.pinned(in: library, photos[2]) == [false, true, false])
      #expect(try Examples.history(in: library, since: start).contains { $0.contains("Restored from the trash") })
      let file = folder.appending(path: "IMG_4711.JPG")
      try Data("the bytes of a photo".utf8).write(to: file)
      let made = try #require(try await Examples.create(in: library, file: file).first)
      let photo = try #require(try library.asset(made))
      let resource = try #require(try library.resources(of: photo).first)
      #expect(try Data(contentsOf: library.url(of: resource)) == Data("the bytes of a photo".utf8))
      let picked = try await Examples.pick(in: library, for: library.as("com.example.app")) { $0.id == photo.id }
      #expect(picked == [Data("the bytes of a photo".utf8)])
      try await Examples.originals(of: photo, in: library, to: folder)
      let copy = folder.appending(path: "\(photo.id.uuidString) photo IMG_4711.JPG")
      #expect(try Data(contentsOf: copy) == Data("the bytes of a photo".utf8))
      let digest = "the bytes of a photo".utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
      #expect(try await Examples.chunks(of: resource, photo, in: library) == digest)
      try await Examples.originals(of: try #require(try library.asset(photos[0].uuidString)), in: library, to: folder)
      #expect(try Examples.verify(library).isSound)
      #expect(try Examples.checkpoint(library, in: folder.appending(path: "a.note")).checkpointCount == 1)
      #expect(try Examples.prove(library) == 7)
      var updated: Set<String> = []
      let caughtUp = try Examples.catchUp(library, start.description) { _, changed, _ in
        updated.formUnion(changed)
      }
      #expect(updated.isSuperset(of: [photos[0], photos[1], photos[2]].map { "\($0.uuidString)/L0/001" }))
      #expect(caughtUp == (try library.currentToken))
      #expect(try await Examples.permit(in: library, [photos[1]]) == [photos[1]])
      var seers: [String] = []
      let seen = try #require(try library.asset(photos[1].uuidString))
      try Examples.audit(seen, in: library, at: try library.currentToken) { seers.append($0) }
      #expect(seers == ["com.example.gallery, by limited"])
      let conditions = try Examples.condition()
      #expect(conditions[0] == conditions[1], "\(conditions)")
    }
  }

  @Test("the examples about the shared library and its results do")
  func runsBootstrap() async {
    // A process of its own: the shared library is the process's.
    await #expect(processExitsWith: .success) {
      let temporary = try TemporaryLibrary()
      try Examples.bootstrap(temporary.url)
      #expect(PHPhotoLibrary.shared().core.client == "com.example.backup")
      try temporary.library.performChangesAndWait { $0.createAlbum(title: "Sea") }
      PHPhotoLibrary.bootstrap(temporary.library)
      #expect(Examples.asAnotherClient() == 0, "Nobody has decided about that client.")
      #expect(Examples.converted() == [1, 1])
    }
  }

  @Test("the examples that follow a library receive its commits", .timeLimit(.minutes(60)))
  func runsFollowers() async throws {
    try await withLibrary(count: 3) { library, folder in
      let all = try library.fetchAssets()
      let (counts, told) = AsyncStream.makeStream(of: Int.self)
      let badge = Examples.Badge(try library.fetchAssets(where: #Predicate { $0.isFavorite })) { told.yield($0) }
      try library.register(badge)
      try library.performChangesAndWait { change in
        for name in ["com.example.other", "com.example.third"] {
          change.setAuthorizationStatus(.authorized, of: name)
        }
      }
      try await library.as("com.example.other").performChanges { $0.setFavorite(true, for: [all[0].id]) }
      var badges = counts.makeAsyncIterator()
      #expect(await badges.next() == 1)
      library.unregisterChangeObserver(badge)
      try await Examples.follow(library, all) { change in
        #expect(change.changedIndexes == [0])
        return false
      }
      let timeline = try Examples.timeline(library)
      #expect(Set(timeline.counts.map { "\($0.key) \($0.value)" }) == ["undated 3"])
      var dated = AssetChanges()
      dated.localCreationDate = .set(Date(timeIntervalSince1970: 0))
      try await library.performChanges { [dated] in $0.edit([all[1].id], dated) }
      try await Examples.follow(library, timeline: timeline.result, timeline.counts) { counts in
        #expect(Set(counts.map { "\($0.key) \($0.value)" }) == ["undated 2", "1970-01 1"])
        return false
      }
      let watching = Task {
        try await Examples.watch(folder) { commit in
          #expect(commit.client == "com.example.third")
          return false
        }
      }
      // The watcher fetches when it likes, so commits come until it has seen one.
      try await Self.poke(library, all[2].id, until: watching)
    }
  }

  /// Commits until a task that waits for one has ended.
  private static func poke(
    _ library: PhotoLibrary, _ photo: LocalIdentifier, until task: Task<Void, any Error>
  ) async throws {
    let poking = Task {
      var isFavorite = true
      while !Task.isCancelled {
        try await library.as("com.example.third").performChanges { $0.setFavorite(isFavorite, for: [photo]) }
        isFavorite.toggle()
      }
    }
    try await task.value
    poking.cancel()
    try await poking.value
  }

  private func withLibrary(count: Int, _ body: (PhotoLibrary, URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pl-docs-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = try PhotoLibrary.create(at: folder, environment: .seeded(7))
    defer { library.close() }
    try await library.performChanges { change in
      for index in 0..<count {
        var creation = AssetCreation(mediaType: .image, resources: [.stored(.invented(index))])
        creation.creationDate = Date(timeIntervalSince1970: Double(index) * 1000)
        change.createAsset(creation)
      }
    }
    try await body(library, folder)
  }
}
