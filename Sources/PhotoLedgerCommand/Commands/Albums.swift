import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let albums = Command(
    words: ["albums"], summary: "list albums and folders in their order, folders with their contents",
    options: .looking + [smart, .json],
    notes: """
      With --json each object also has `parent`: the identifier of its folder, or null at the top. User-defined
      smart albums are listed among the others; --smart adds the built-in ones at the end.
      """,
    example: "albums --smart"
  ) { invocation in
    try invocation.withLibrary { library in
      let tree = AlbumTree(invocation: invocation, library: library)
      try tree.print(in: nil, below: [])
      if invocation.has(smart) { try tree.printOwnSmartAlbums() }
      return .done
    }
  }

  private static let smart = Option("smart", "also list the built-in smart albums")
}

/// Prints albums and folders, each folder before what it holds.
private struct AlbumTree {
  let invocation: Invocation
  let library: PhotoLibrary

  /// - Parameter folders: the identifiers of the folder and of those above it.
  func print(in folder: PhotoCollection?, below folders: Set<String>) throws {
    try library.fetchCollections(in: folder).forEachPiece { collections in
      for collection in collections {
        try invocation.output.line(
          invocation.printsJSON ? json(collection, in: folder) : row(collection, folders.count))
        guard collection.kind == .folder else { continue }
        let (isNew, identifier) = (!folders.contains(collection.localIdentifier), collection.localIdentifier)
        guard isNew else {
          throw LibraryError(
            .corrupted, "The store has the folder \(identifier) inside itself; run `verify`, then `rebuild`.")
        }
        try print(in: collection, below: folders.union([identifier]))
      }
    }
  }

  /// Prints the smart albums that every library has, which hang in no folder.
  func printOwnSmartAlbums() throws {
    try library.fetchCollections(with: .smartAlbum).forEachPiece { collections in
      for collection in collections where collection.albumSubtype != .smartAlbumGeneric {
        try invocation.output.line(invocation.printsJSON ? json(collection, in: nil) : row(collection, 0))
      }
    }
  }

  private func json(_ collection: PhotoCollection, in folder: PhotoCollection?) -> String {
    guard case .object(let members) = JSON(collection) else { return "null" }
    return JSON.object(members + [JSON.Member("parent", JSON(folder?.localIdentifier))]).description
  }

  private func row(_ collection: PhotoCollection, _ depth: Int) -> String {
    let terminal = invocation.output.terminal
    let title = String(repeating: "  ", count: depth) + (collection.localizedTitle ?? "")
    let isFolder = collection.kind == .folder
    let count =
      switch collection.kind {
      case .folder: "folder"
      case .smartAlbum: "smart album"
      case .album: TextLayout.counted(collection.estimatedAssetCount, "asset")
      }
    let titleWidth = max(12, (terminal.width ?? 100) - 36 - 16)
    let shown = TextLayout.fitted(isFolder ? title + "/" : title, titleWidth)
    return (isFolder ? terminal.styled(shown, .heading) : shown) + "  " + TextLayout.fitted(count, 12) + "  "
      + terminal.styled(collection.id.uuidString, .faint)
  }
}
