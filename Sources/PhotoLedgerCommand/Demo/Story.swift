import Foundation
import LibraryJSON
import PhotoLedger
import Synchronization

// The demonstration: one library, an observer of three results, and commits.
//
// Every scene is one commit. The observer is called once, and requests the details of each of its results; a result
// that the commit does not touch has no details. They are then checked as a client would use them: removals, insertions
// and moves applied to *before* must give *after*. A demonstration that shows something untrue fails.

/// The program that rearranges an album in one of the scenes.
private let slideshow = "com.example.slideshow"

/// One commit of the demonstration.
private struct Scene: Sendable {
  let title: String
  var client = PhotoLibrary.owner
  /// Asks for the changes; false if the library has too few assets for it.
  let change: @Sendable (Story.Results, ChangeBlock) throws -> Bool
}

/// Executes the scenes and shows what an observer of three results receives.
struct Story {
  struct Results {
    var newest: FetchResult<Asset>
    var favorites: FetchResult<Asset>
    var album: FetchResult<Asset>
    var albumIdentifier: LocalIdentifier
    /// What lies in the trash, as of the last commit.
    var trash: [Asset] = []
  }

  private let library: PhotoLibrary
  private let output: Output
  private let strip: TileStrip
  private let observer = StoryObserver()
  private var results: Results
  private(set) var checkedCount = 0

  init(library: PhotoLibrary, output: Output) throws {
    self.library = library
    self.output = output
    let all = try library.fetchAssets(sortedBy: [SortDescriptor(\.creationDate)])
    var numbers: [LocalIdentifier: Int] = [:]
    try all.forEachPiece { for asset in $0 { numbers[asset.id] = numbers.count + 1 } }
    strip = TileStrip(terminal: output.terminal, numbers: numbers)
    let newest = try library.fetchAssets(
      sortedBy: [SortDescriptor(\.creationDate, order: .reverse)], limit: min(14, strip.capacity))
    let favorites = try library.fetchAssets(
      where: #Predicate { $0.isFavorite }, sortedBy: [SortDescriptor(\.creationDate, order: .reverse)])
    let made = try Self.makeAlbum(library, newest)
    results = Results(
      newest: newest, favorites: favorites,
      album: try library.fetchAssets(FetchOptions(), in: library.album(made.uuidString)), albumIdentifier: made)
    try library.register(observer)
  }

  /// An album of every other one of the newest assets.
  private static func makeAlbum(_ library: PhotoLibrary, _ newest: FetchResult<Asset>) throws -> LocalIdentifier {
    let members = stride(from: 0, to: min(newest.count, 14), by: 2).map { newest[$0].id }
    var identifier: LocalIdentifier?
    try library.performChangesAndWait(cause: "demo: an album") { change in
      let made = change.createAlbum(title: "Best of")
      change.album(made).add(members)
      // One scene is another program's doing, and a program does nothing without permission.
      change.setAuthorizationStatus(.authorized, of: slideshow)
      identifier = made
    }
    guard let identifier else { preconditionFailure("A change block neither returned a result nor threw.") }
    return identifier
  }

  mutating func tell(isStopped: () -> Bool) throws {
    let terminal = output.terminal
    try output.line(
      "An observer holds three results: the newest \(results.newest.count) photos, the favourites,\n"
        + "and the album 'Best of'. Tiles are numbered by age, the oldest photo is 001;\n"
        + "behind each title is the time until the change was durable and delivered.\n\n\(strip.legend)\n")
    var number = 0
    for scene in Self.scenes where !isStopped() {
      var isPossible = false
      let asked = scene.client == PhotoLibrary.owner ? library : library.as(scene.client)
      let start = ContinuousClock.now
      let receipt = try asked.performChangesAndWait(cause: "demo: \(scene.title)") { [results] block in
        isPossible = try scene.change(results, block)
      }
      guard isPossible else { continue }
      let change = try observer.change(to: receipt.token)
      let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
      number += 1
      try output.line(
        terminal.styled("\(number). \(scene.title)", .heading)
          + terminal.styled("  \((milliseconds * 10).rounded() / 10) ms", .faint))
      try show("the newest", change, \.newest)
      try show("favourites", change, \.favorites)
      try show("the album", change, \.album)
      results.trash = try trash()
      try output.line()
      try output.flush()
    }
    try output.line(
      "Checked: each of the \(checkedCount) changes, applied to its before, gave its after."
    )
  }

  private func trash() throws -> [Asset] {
    var options = FetchOptions()
    options.showsTrash = true
    return try Array(library.fetchAssets(options))
  }

  private mutating func show(
    _ name: String, _ change: LibraryChange, _ path: WritableKeyPath<Results, FetchResult<Asset>>
  ) throws {
    guard let details = try change.changeDetails(for: results[keyPath: path]) else {
      return try output.line(output.terminal.styled("  \(name): untouched", .faint))
    }
    try output.line("  \(name):")
    try output.write(try strip.draw(details))
    try check(details, name)
    checkedCount += 1
    results[keyPath: path] = details.fetchResultAfterChanges
  }

  /// Applies a change as a client does (CD-09, CD-11).
  private func check(_ details: ChangeDetails<Asset>, _ name: String) throws {
    let after = details.fetchResultAfterChanges.map(\.id)
    var list = details.fetchResultBeforeChanges.map(\.id)
    for index in (details.removedIndexes ?? []).reversed() { list.remove(at: index) }
    for index in details.insertedIndexes ?? [] { list.insert(after[index], at: index) }
    let moving = details.moves.map { (target: $0.to, object: list[$0.from]) }
    for index in details.moves.map(\.from).sorted().reversed() { list.remove(at: index) }
    for move in moving.sorted(by: { $0.target < $1.target }) { list.insert(move.object, at: move.target) }
    guard list == after else {
      throw LibraryError(
        .internalError, "The change of \(name) does not lead from its before to its after; report this.")
    }
  }

  private static let scenes: [Scene] = [
    Scene(title: "Three photos become favourites") { results, block in
      let chosen = [1, 4, 5].filter { $0 < results.newest.count }
      block.setFavorite(true, for: chosen.map { results.newest[$0].id })
      return !chosen.isEmpty
    },
    Scene(title: "The newest photo was taken earlier than the camera thought") { results, block in
      let place = min(6, results.newest.count - 1)
      guard place > 0, let later = results.newest[place].creationDate else { return false }
      var changes = AssetChanges()
      changes.creationDate = .set(later.addingTimeInterval(1))
      block.edit([results.newest[0].id], changes)
      return true
    },
    Scene(title: "Two photos go to the trash") { results, block in
      let chosen = [2, 5].filter { $0 < results.newest.count }
      block.deleteAssets(chosen.map { results.newest[$0].id })
      return !chosen.isEmpty
    },
    Scene(title: "The album is rearranged: one added, two moved, one removed", client: slideshow) {
      results, block in
      guard results.album.count > 4, results.newest.count > 3 else { return false }
      let album = block.album(results.albumIdentifier, assets: results.album)
      album.move(at: [3, 4], to: 0)
      album.remove(at: [1])
      let held = Set(results.album.map(\.id))
      guard let newcomer = results.newest.first(where: { !held.contains($0.id) }) else { return true }
      block.album(results.albumIdentifier).insert([newcomer.id], at: 0)
      return true
    },
    Scene(title: "They are restored from the trash, at their old positions") { results, block in
      block.restoreAssets(results.trash.map(\.id))
      return !results.trash.isEmpty
    },
    Scene(title: "A favourite is hidden") { results, block in
      guard let chosen = results.favorites.first else { return false }
      block.setHidden(true, for: [chosen.id])
      return true
    },
  ]
}

/// Forwards the received changes to the waiting task.
private final class StoryObserver: PhotoLibraryChangeObserver {
  private let received = Mutex<[LibraryChange]>([])
  private let signal = DispatchSemaphore(value: 0)

  func photoLibraryDidChange(_ change: LibraryChange) {
    received.withLock { $0.append(change) }
    signal.signal()
  }

  /// The change that leads to a state.
  /// - Throws: ``LibraryError`` if it does not come within ten seconds.
  func change(to token: Token) throws -> LibraryChange {
    let deadline = DispatchTime.now() + .seconds(10)
    while true {
      let found = received.withLock { changes in
        changes.removeAll { $0.token < token }
        return changes.first { $0.token == token }
      }
      if let found { return found }
      guard signal.wait(timeout: deadline) == .success else {
        throw LibraryError(.internalError, "The observer did not receive \(token) within ten seconds; report this.")
      }
    }
  }
}
