import EventLog
public import Foundation

// The front door.
//
// A library object is a client's view of an opened directory: the client, and the engine. `as(_:)` returns the same
// engine for another client. Everything below reads like PhotoKit with the Swift of today: blocks take a `ChangeBlock`,
// fetches take `#Predicate` and `SortDescriptor`, and changes are asynchronous sequences.

/// A photo library kept as a history (PHPhotoLibrary).
public final class PhotoLibrary: Sendable {
  package let store: LibraryStore
  /// The client that this view belongs to; it is recorded with every commit.
  public let client: String
  /// The moment of an as-of view; nil for the current library.
  package let moment: Moment?
  /// The blocks that were sent through this value, in their order.
  let blocks = CallerQueue()

  /// The client's name of the library's owner.
  public static let owner = Client.ownerName

  package init(store: LibraryStore, client: String, moment: Moment? = nil) {
    self.store = store
    self.client = client
    self.moment = moment
  }

  /// The same library as another client sees it, or, under the same name, with an order of blocks of its own.
  /// - Parameter client: a name such as `com.example.gallery`, 1 to 256 bytes, none of them zero.
  public func `as`(_ client: String) -> PhotoLibrary {
    requireCorrectUse(Self.isClientName(client), "A client's name must have 1 to 256 bytes, none of them zero.")
    return PhotoLibrary(store: store, client: client, moment: moment)
  }

  /// Whether a text can name a client.
  package static func isClientName(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && !text.utf8.contains(0)
  }

  /// Whether another view, of whichever client or moment, is of the same opened library.
  package func isOfSameLibrary(as other: PhotoLibrary) -> Bool {
    store.core.environment === other.store.core.environment
  }

  /// The commit that an as-of view shows; nil for the current library.
  package var momentCommit: UInt64? { moment?.commit }

  /// The directory of the library: where it is now, if it was moved while the library is open.
  public var url: URL { store.url }

  /// Executes queued blocks and ends all observation; later changes throw `.closed`, results remain readable.
  public func close() { store.close() }
}
