/// What a process of the program `new-process` does, under the word that it is started with.
///
/// It opens a library, counts a list and reads its first hundred objects. It prints the nanoseconds since its first
/// line, both numbers, and its peak memory, but for ``openLibrary``, whose memory has no row.
package enum CoreTask: String, Sendable {
  /// Everything, the newest first.
  case openLibrary = "open-library"
  /// Everything in the order of addition.
  case firstAdded = "first-added"
  case firstImages = "first-images"
  case newestImages = "newest-images"
  /// The assets of an album in its own order; the process is given the album's identifier.
  case firstOfAlbum = "first-of-album"
  case firstFavorites = "first-favourites"
  case newestFavorites = "newest-favourites"
  case firstTrashed = "first-trashed"
  case firstRecentlyAdded = "first-recently-added"
  /// The collections at the top level.
  case firstCollections = "first-collections"
  case firstAlbums = "first-albums"
  /// What a client sees, in the order of addition; the process is given the client's name.
  case firstOfClient = "first-of-client"
  case newestOfClient = "newest-of-client"
}
