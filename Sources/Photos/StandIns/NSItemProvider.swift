internal import LibraryPicking
internal import PhotoLedger
import Synchronization

/// How a file of an item is to be opened (stands in for Foundation's `NSItemProviderFileOptions`).
public struct NSItemProviderFileOptions: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: Int
  /// A set of bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Where it is, and not as a copy.
  public static let openInPlace = NSItemProviderFileOptions(rawValue: 1)
}

/// Brings the data of a picked item (stands in for Foundation's `NSItemProvider`, which Linux lacks).
///
/// It comes from a picker only: nothing can be registered with it. Handlers are called on an arbitrary thread, once.
public final class NSItemProvider: NSObject, Sendable {
  package let source: PickedSource
  private let name = Mutex<String?>(nil)

  package init(_ source: PickedSource) { self.source = source }

  /// The kinds of data, the preferred one first (PK-07).
  public var registeredTypeIdentifiers: [String] { source.item.supportedContentTypes }

  /// The kinds of data, the preferred one first (PK-07).
  public var registeredContentTypes: [UTType] { source.types }

  /// Those of the kinds of data that are of a kind.
  public func registeredContentTypes(conformingTo contentType: UTType) -> [UTType] {
    source.types.filter { $0.conforms(to: contentType) }
  }

  /// Whether there is data of a kind, such as `public.image`.
  public func hasItemConformingToTypeIdentifier(_ typeIdentifier: String) -> Bool {
    UTType(typeIdentifier).flatMap { source.type(conformingTo: $0) } != nil
  }

  /// Whether there is data of a kind, such as `public.image`.
  /// - Parameters:
  ///   - typeIdentifier: a kind of data.
  ///   - fileOptions: how the file is to be opened; none can be opened in place, since each is a copy.
  public func hasRepresentationConforming(
    toTypeIdentifier typeIdentifier: String, fileOptions: NSItemProviderFileOptions = []
  ) -> Bool {
    !fileOptions.contains(.openInPlace) && hasItemConformingToTypeIdentifier(typeIdentifier)
  }

  /// How a loaded file is to be called, without its ending. Nil until the app says so: a pick gives no name of a file,
  /// only its bytes (PK-01).
  public var suggestedName: String? {
    get { name.withLock(\.self) }
    set { name.withLock { $0 = newValue } }
  }

  /// Loads the bytes.
  /// - Parameters:
  ///   - typeIdentifier: a kind of data, or one that it is of, such as `public.image`.
  ///   - completionHandler: is given the bytes, or a `PHPhotosError`.
  /// - Returns: how much is loaded; cancelling it ends the loading with `PHPhotosError.userCancelled`.
  @discardableResult
  public func loadDataRepresentation(
    forTypeIdentifier typeIdentifier: String, completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) -> Progress {
    loadDataRepresentation(for: UTType(importedAs: typeIdentifier), completionHandler: completionHandler)
  }

  /// Loads the bytes of a kind of data.
  @discardableResult
  public func loadDataRepresentation(
    for contentType: UTType, completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) -> Progress {
    .loading { [source] progress in
      do {
        completionHandler(try await source.data(as: contentType, progress), nil)
      } catch {
        completionHandler(nil, error)
      }
    }
  }

  /// Copies the bytes to a file, which is removed when the handler returns: move or read it there.
  /// - Parameters:
  ///   - typeIdentifier: a kind of data, or one that it is of, such as `public.movie`.
  ///   - completionHandler: is given the file, or a `PHPhotosError`.
  /// - Returns: how much is loaded; cancelling it ends the loading with `PHPhotosError.userCancelled`.
  @discardableResult
  public func loadFileRepresentation(
    forTypeIdentifier typeIdentifier: String, completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
  ) -> Progress {
    loadFileRepresentation(for: UTType(importedAs: typeIdentifier)) { url, _, error in completionHandler(url, error) }
  }

  /// The same for a kind of data.
  /// - Parameters:
  ///   - contentType: a kind of data, or one that it is of.
  ///   - openInPlace: makes no difference: the file is a copy. Kept for source compatibility.
  ///   - completionHandler: is given the file, false since it is not an original, or a `PHPhotosError`.
  @discardableResult
  public func loadFileRepresentation(
    for contentType: UTType, openInPlace: Bool = false,
    completionHandler: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
  ) -> Progress {
    let name = suggestedName
    return .loading { [source] progress in
      do {
        try await source.withFile(as: contentType, named: name, progress) { completionHandler($0, false, nil) }
      } catch {
        completionHandler(nil, false, error)
      }
    }
  }

  /// Copies the bytes to a file, and gives its URL as an object.
  ///
  /// The file is removed when the handler returns, as that of
  /// ``loadFileRepresentation(forTypeIdentifier:completionHandler:)``.
  /// - Parameters:
  ///   - typeIdentifier: a kind of data, or one that it is of, such as `public.image`.
  ///   - options: makes no difference: a picked item has no previews. Kept for source compatibility.
  ///   - completionHandler: is given the `URL` of the file, or a `PHPhotosError`.
  public func loadItem(
    forTypeIdentifier typeIdentifier: String, options: [AnyHashable: Any]? = nil,
    completionHandler: @escaping @Sendable (Any?, (any Error)?) -> Void
  ) {
    loadFileRepresentation(forTypeIdentifier: typeIdentifier) { completionHandler($0, $1) }
  }

  /// Whether there is data that a class can be made of, such as ``UIImage``.
  public func canLoadObject(ofClass aClass: any NSItemProviderReading.Type) -> Bool {
    if let aClass = aClass as? any PickedFilesReading.Type { return aClass.canBeMade(of: source) }
    return type(for: aClass) != nil
  }

  /// Loads an object of a class.
  /// - Parameters:
  ///   - aClass: the class, such as ``UIImage``.
  ///   - completionHandler: is given the object, or an error: the class's own or a `PHPhotosError`.
  /// - Returns: how much is loaded; cancelling it ends the loading with `PHPhotosError.userCancelled`.
  @discardableResult
  public func loadObject(
    ofClass aClass: any NSItemProviderReading.Type,
    completionHandler: @escaping @Sendable ((any NSItemProviderReading)?, (any Error)?) -> Void
  ) -> Progress {
    // For data that the item does not have, the core says so.
    let missing = aClass.readableTypeIdentifiersForItemProvider.first ?? "\(aClass)"
    let type = type(for: aClass) ?? UTType(importedAs: missing)
    return .loading { [source] progress in
      do {
        if let aClass = aClass as? any PickedFilesReading.Type {
          return completionHandler(try await aClass.object(of: source, progress), nil)
        }
        let data = try await source.data(as: type, progress)
        completionHandler(try aClass.object(withItemProviderData: data, typeIdentifier: type.identifier), nil)
      } catch {
        completionHandler(nil, error)
      }
    }
  }

  private func type(for aClass: any NSItemProviderReading.Type) -> UTType? {
    aClass.readableTypeIdentifiersForItemProvider.lazy.compactMap { UTType($0) }
      .compactMap { self.source.type(conformingTo: $0) }.first
  }
}

/// A class whose objects are made of the data of an item (stands in for Foundation's `NSItemProviderReading`).
public protocol NSItemProviderReading: NSObjectProtocol, SendableMetatype {
  /// The kinds of data that an object can be made of, the preferred one first.
  static var readableTypeIdentifiersForItemProvider: [String] { get }

  /// Makes an object.
  /// - Parameters:
  ///   - data: the bytes.
  ///   - typeIdentifier: their kind, one that the item has.
  /// - Throws: what keeps it from being made.
  static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> Self
}

/// A class whose objects are made of several kinds of data of an item, which one `data` cannot hold.
protocol PickedFilesReading: NSItemProviderReading {
  /// Whether an item has what an object is made of.
  static func canBeMade(of source: PickedSource) -> Bool

  /// Makes an object.
  /// - Throws: `PHPhotosError`, among them the core's sentence for a kind that the item does not have.
  static func object(of source: PickedSource, _ progress: Progress) async throws -> Self
}

extension UIImage: NSItemProviderReading {
  /// Any image.
  public static var readableTypeIdentifiersForItemProvider: [String] { [UTType.image.identifier] }

  /// The encoded picture.
  /// - Throws: `PHPhotosError.invalidResource` if there are no bytes.
  public static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> UIImage {
    guard let image = UIImage(data: data) else {
      throw PHPhotosError(.invalidResource, "The picked item of type '\(typeIdentifier)' has no bytes for a picture.")
    }
    return image
  }
}
