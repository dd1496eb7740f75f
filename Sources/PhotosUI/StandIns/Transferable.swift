// How an app says what its types are made of. Only the receiving half does something: nothing in this module sends.

import PhotoLedger
public import Photos

/// A type that picked items can be loaded as (stands in for Core Transferable's `Transferable`, which Linux lacks).
public protocol Transferable: SendableMetatype {
  /// The type of its representations.
  associatedtype Representation: TransferRepresentation
  /// What it is made of, the preferred way first.
  @TransferRepresentationBuilder<Self> static var transferRepresentation: Representation { get }
}

/// One or more ways to make a value (stands in for Core Transferable's `TransferRepresentation`).
public protocol TransferRepresentation<Item>: Sendable {
  /// What is made.
  associatedtype Item: Transferable
  /// The ways, the preferred one first. Apple has no such property.
  var importers: [TransferImporter] { get }
}

/// Puts representations one after another (stands in for Core Transferable's `TransferRepresentationBuilder`).
@resultBuilder
public enum TransferRepresentationBuilder<Item: Transferable> {
  /// A representation of the type.
  public static func buildExpression<Content: TransferRepresentation<Item>>(_ content: Content) -> Content { content }

  /// The first one.
  public static func buildPartialBlock<Content: TransferRepresentation<Item>>(first content: Content) -> Content {
    content
  }

  /// The next one.
  public static func buildPartialBlock(
    accumulated: some TransferRepresentation<Item>, next: some TransferRepresentation<Item>
  ) -> some TransferRepresentation<Item> {
    RepresentationList<Item>(importers: accumulated.importers + next.importers)
  }
}

/// Several representations.
struct RepresentationList<Item: Transferable>: TransferRepresentation {
  let importers: [TransferImporter]
}

/// One way to make a value. Apple has no such type.
public struct TransferImporter: Sendable {
  /// The kind of data.
  let contentType: UTType
  fileprivate let make: @Sendable (PickedSource, Progress?) async throws -> Imported

  func value(of source: PickedSource, _ progress: Progress?) async throws -> Imported {
    try await make(source, progress)
  }
}

/// A value that was just made, on its way to the caller.
struct Imported: @unchecked Sendable {  // guarded by: only the way to the caller refers to it
  let value: Any
}

/// Makes a value of bytes (stands in for Core Transferable's `DataRepresentation`).
public struct DataRepresentation<Item: Transferable>: TransferRepresentation {
  /// How it is made; none if it is only sent.
  public let importers: [TransferImporter]

  /// Receives bytes of a kind.
  public init(importedContentType: UTType, importing: @escaping @Sendable (Data) async throws -> Item) {
    importers = [
      TransferImporter(contentType: importedContentType) { source, progress in
        let data = try await source.data(as: importedContentType, progress)
        return Imported(value: try await importing(data))
      }
    ]
  }

  /// Receives and sends bytes of a kind; `exporting` is not called here. Kept for source compatibility.
  public init(
    contentType: UTType, exporting: @escaping @Sendable (Item) async throws -> Data,
    importing: @escaping @Sendable (Data) async throws -> Item
  ) {
    self.init(importedContentType: contentType, importing: importing)
  }

  /// Sends bytes of a kind; `exporting` is not called here. Kept for source compatibility.
  public init(exportedContentType: UTType, exporting: @escaping @Sendable (Item) async throws -> Data) {
    importers = []
  }
}

/// Makes a value of a file (stands in for Core Transferable's `FileRepresentation`).
public struct FileRepresentation<Item: Transferable>: TransferRepresentation {
  /// How it is made; none if it is only sent.
  public let importers: [TransferImporter]

  /// Receives a file of a kind, which is removed when `importing` returns: move or copy it there.
  /// - Parameters:
  ///   - importedContentType: the kind of data.
  ///   - shouldAttemptToOpenInPlace: makes no difference: the file is a copy. Kept for source compatibility.
  ///   - importing: makes the value.
  public init(
    importedContentType: UTType, shouldAttemptToOpenInPlace: Bool = false,
    importing: @escaping @Sendable (ReceivedTransferredFile) async throws -> Item
  ) {
    importers = [
      TransferImporter(contentType: importedContentType) { source, progress in
        try await source.withFile(as: importedContentType, progress) { file in
          Imported(value: try await importing(ReceivedTransferredFile(file: file)))
        }
      }
    ]
  }

  /// Receives and sends files of a kind; `exporting` is not called here. Kept for source compatibility.
  public init(
    contentType: UTType, shouldAttemptToOpenInPlace: Bool = false,
    exporting: @escaping @Sendable (Item) async throws -> SentTransferredFile,
    importing: @escaping @Sendable (ReceivedTransferredFile) async throws -> Item
  ) {
    self.init(importedContentType: contentType, importing: importing)
  }

  /// Sends files of a kind; `exporting` is not called here. Kept for source compatibility.
  public init(
    exportedContentType: UTType, shouldAllowToOpenInPlace: Bool = false,
    exporting: @escaping @Sendable (Item) async throws -> SentTransferredFile
  ) {
    importers = []
  }
}

/// A file that came (stands in for Core Transferable's `ReceivedTransferredFile`).
public struct ReceivedTransferredFile: Sendable {
  /// The file; it is there while the value is made.
  public let file: URL
  /// False: it is a copy.
  public let isOriginalFile = false
}

/// A file that goes (stands in for Core Transferable's `SentTransferredFile`).
public struct SentTransferredFile: Sendable {
  /// The file.
  public let file: URL
  /// Whether the receiver may have the file itself.
  public let allowAccessingOriginalFile: Bool

  /// A file that goes.
  public init(_ file: URL, allowAccessingOriginalFile: Bool = false) {
    (self.file, self.allowAccessingOriginalFile) = (file, allowAccessingOriginalFile)
  }
}

extension Data: Transferable {
  /// Bytes of any kind: the preferred representation of an item.
  public static var transferRepresentation: some TransferRepresentation {
    DataRepresentation(importedContentType: .data) { $0 }
  }
}

extension URL: Transferable {
  /// A file of any kind: the preferred representation of an item, in a folder of its own among the temporary files.
  ///
  /// Removed by the loader, its only user.
  public static var transferRepresentation: some TransferRepresentation {
    FileRepresentation(importedContentType: .data) { received in
      let folder: URL
      do { folder = try FileManager.default.makeTemporaryFolder("received") } catch { throw PHPhotosError.from(error) }
      let file = folder.appending(path: received.file.lastPathComponent, directoryHint: .notDirectory)
      try FileManager.default.moveItem(at: received.file, to: file)
      return file
    }
  }
}

extension PickedSource {
  /// The item as a type of the app's; nil if it has no data for any of the type's representations.
  func load<T: Transferable>(_ wanted: T.Type, _ progress: Progress?) async throws -> Imported? {
    for importer in T.transferRepresentation.importers where type(conformingTo: importer.contentType) != nil {
      return try await importer.value(of: self, progress)
    }
    return nil
  }
}

extension NSItemProvider {
  /// Loads the item as a type of the app's.
  /// - Parameters:
  ///   - type: how it is wanted; of its representations the first counts that the item has data for.
  ///   - completionHandler: is given the value, or an error: the type's own or a `PHPhotosError`, `invalidResource` for
  ///     an item without data for any of the representations.
  /// - Returns: how much is loaded; cancelling it ends the loading with `PHPhotosError.userCancelled`.
  @discardableResult
  public func loadTransferable<T: Transferable>(
    type: T.Type, completionHandler: @escaping @Sendable (Result<T, any Error>) -> Void
  ) -> Progress {
    .loading { [source] progress in
      do {
        guard let value = try await source.load(type, progress)?.value as? T else {
          throw PHPhotosError(
            .invalidResource, "The picked item cannot be loaded as \(type); its data has the types \(source.types).")
        }
        completionHandler(.success(value))
      } catch {
        completionHandler(.failure(error))
      }
    }
  }
}
