import Foundation
package import PhotoLedger

/// A callback observer that hands each change on as it comes.
package final class PromptObserver: PhotoLibraryChangeObserver {
  package let changes: AsyncStream<LibraryChange>
  private let continuation: AsyncStream<LibraryChange>.Continuation

  package init() { (changes, continuation) = AsyncStream.makeStream() }

  package func photoLibraryDidChange(_ change: LibraryChange) { continuation.yield(change) }

  package func finish() { continuation.finish() }
}

/// A library for one rule: short ways to make things, and an observer that receives every commit.
package final class SmallLibrary {
  package let temporary: TemporaryLibrary
  private let observer = PromptObserver()
  private var told: AsyncStream<LibraryChange>.Iterator
  private var made = 0

  package init(_ environment: LibraryEnvironment = .seeded(1)) throws {
    temporary = try TemporaryLibrary(environment)
    told = observer.changes.makeAsyncIterator()
    try temporary.library.register(observer)
  }

  package var library: PhotoLibrary { temporary.library }

  /// Executes a block and gives what the observer received of it.
  @discardableResult
  package func change(_ block: (ChangeBlock) throws -> Void) async throws -> LibraryChange {
    let before = try library.currentToken
    let receipt = try await library.performChanges(block)
    if receipt.token == before { throw Divergence("The block changed nothing, so the observer receives nothing.") }
    while let change = await told.next() {
      if change.token == receipt.token { return change }
    }
    throw Divergence("The observer received nothing more.")
  }

  /// The code with which a block fails, after checking that it left nothing.
  package func refusal(of block: (ChangeBlock) throws -> Void) async throws -> LibraryError.Code? {
    let before = try library.currentToken
    do {
      try await library.performChanges(block)
      return nil
    } catch let error as LibraryError {
      try demand(try library.currentToken == before, "A block that failed left a commit (CB-06).")
      return error.code
    }
  }

  /// Makes images, each a day younger than the last.
  package func assets(_ count: Int) async throws -> [LocalIdentifier] {
    let first = made
    made += count
    var ids: [LocalIdentifier] = []
    try await change { block in
      ids = (first..<made).map { seed in
        block.createAsset(.invented(seed, date: Date(timeIntervalSince1970: Double(seed) * 86_400)))
      }
    }
    return ids
  }

  /// Makes an album with members.
  package func album(_ title: String = "Album", _ members: [LocalIdentifier] = []) async throws -> PhotoCollection {
    try await collection { block in
      let id = block.createAlbum(title: title)
      block.album(id).add(members)
      return id
    }
  }

  /// Makes a folder with children.
  package func folder(_ title: String = "Folder", _ children: [LocalIdentifier] = []) async throws -> PhotoCollection {
    try await collection { block in
      let id = block.createFolder(title: title)
      block.folder(id).add(children)
      return id
    }
  }

  private func collection(_ make: (ChangeBlock) -> LocalIdentifier) async throws -> PhotoCollection {
    var id: LocalIdentifier?
    try await change { id = make($0) }
    return try now(id)
  }

  /// A collection as it is now.
  package func now(_ id: LocalIdentifier?) throws -> PhotoCollection {
    guard let id, let found = try library.collection(id.uuidString) else { throw Divergence("The collection is gone.") }
    return found
  }

  /// An asset as it is now.
  package func asset(_ id: LocalIdentifier) throws -> Asset {
    guard let found = try library.asset(id.uuidString) else { throw Divergence("The asset is gone.") }
    return found
  }

  /// What an album shows.
  package func members(_ album: PhotoCollection) throws -> [LocalIdentifier] {
    try library.fetchAssets(FetchOptions(), in: album).map(\.id)
  }

  /// What a folder shows; nil is the top level.
  package func children(_ folder: PhotoCollection?) throws -> [LocalIdentifier] {
    try library.fetchCollections(in: folder).map(\.id)
  }
}
