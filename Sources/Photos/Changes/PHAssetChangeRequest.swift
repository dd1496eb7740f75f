// Requests about assets. A request records itself in the block at once; a creation is recorded when it is asked for, so
// that its place among the requests is right, and revised as its properties are set.

public import PhotoLedger

/// A request of a change block (Apple: `PHChangeRequest`).
open class PHChangeRequest: NSObject {}

/// Creates, changes or deletes assets (Apple: `PHAssetChangeRequest`).
open class PHAssetChangeRequest: PHChangeRequest {
  let current: CurrentBlock
  /// The asset that is to be changed; nil for one that is to be created.
  private let asset: PHAsset?
  let identifier: LocalIdentifier
  /// What has been set, for the getters.
  private var set = AssetChanges()

  /// Changes an asset (Apple: `init(for:)`).
  public init(for asset: PHAsset) {
    current = CurrentBlock.of("PHAssetChangeRequest(for:)")
    self.asset = asset
    guard let identifier = asset.identifier else {
      fatalError("PHAssetChangeRequest(for:) was given a stand-in; it takes an asset of the library.")
    }
    self.identifier = identifier
  }

  /// Creates an asset from what is known so far.
  init(_ call: String, _ creation: AssetCreation) {
    current = CurrentBlock.of(call)
    asset = nil
    var creation = creation
    creation.isDatedByAddition = true
    identifier = current.block.createAsset(creation)
  }

  // MARK: Creating and deleting

  /// Creates an asset of an image file; nil if it is not an image file (CB-09;
  /// Apple: `creationRequestForAssetFromImage(atFileURL:)`).
  @discardableResult
  open class func creationRequestForAssetFromImage(atFileURL fileURL: URL) -> Self? {
    let call = "creationRequestForAssetFromImage(atFileURL:)"
    let library = CurrentBlock.of(call).library.core
    return AssetCreation(imageAt: fileURL, examinedBy: library).map { made(call, $0) }
  }

  /// Creates an asset of a video file; nil if it is not a video file (CB-09;
  /// Apple: `creationRequestForAssetFromVideo(atFileURL:)`).
  @discardableResult
  open class func creationRequestForAssetFromVideo(atFileURL fileURL: URL) -> Self? {
    let call = "creationRequestForAssetFromVideo(atFileURL:)"
    let library = CurrentBlock.of(call).library.core
    return AssetCreation(videoAt: fileURL, examinedBy: library).map { made(call, $0) }
  }

  /// Creates an asset of an encoded image, without the date and place in it: its creation date is that of its addition,
  /// unless the request sets one (CB-11; Apple: `creationRequestForAsset(from:)`).
  @discardableResult
  open class func creationRequestForAsset(from image: UIImage) -> Self {
    var draft = ResourceDraft(type: .photo, source: .data(image.data))
    draft.isBareImage = true
    let creation = AssetCreation(mediaType: .image, resources: [draft])
    return made("creationRequestForAsset(from:)", creation)
  }

  /// Records a creation; a subclass of an app's has no place for it, and traps before anything is recorded.
  fileprivate class func made(_ call: String, _ creation: AssetCreation) -> Self {
    guard PHAssetCreationRequest.self is Self.Type,
      let request = PHAssetCreationRequest(call, creation) as? Self
    else { fatalError("\(call) was called on \(Self.self); call it on PHAssetCreationRequest.") }
    return request
  }

  /// Moves assets to the trash (AS-14, PH-04; Apple: `deleteAssets(_:)`).
  open class func deleteAssets(_ assets: any NSFastEnumeration) {
    CurrentBlock.of("PHAssetChangeRequest.deleteAssets(_:)").block.deleteAssets(assets.identifiers)
  }

  /// Stands for the asset that will be; nil for a change (Apple: `placeholderForCreatedAsset`).
  open var placeholderForCreatedAsset: PHObjectPlaceholder? {
    asset == nil ? PHObjectPlaceholder(identifier, .asset) : nil
  }

  // MARK: Properties

  /// Sets a property: in the creation, or as a change.
  private func change(_ changes: (inout AssetChanges) -> Void, _ revise: (inout AssetCreation) -> Void) {
    changes(&set)
    guard asset != nil else { return current.block.revise(identifier, revise) }
    var change = AssetChanges()
    changes(&change)
    current.block.edit([identifier], change)
  }

  /// When it was taken; nil for unknown.
  open var creationDate: Date? {
    get { set.creationDate.map(\.value) ?? asset?.creationDate }
    set {
      change({ $0.creationDate = AssetChanges.Assignment(newValue) }, { $0.creationDate = newValue })
    }
  }

  /// Where it was taken; nil for unknown.
  open var location: CLLocation? {
    get { set.location.map { $0.value.map { CLLocation($0, nil) } } ?? asset?.location }
    set {
      let place = newValue.map(Location.init)
      change({ $0.location = AssetChanges.Assignment(place) }, { $0.location = place })
    }
  }

  /// Whether it is a favourite.
  open var isFavorite: Bool {
    get { set.isFavorite ?? asset?.isFavorite ?? false }
    set { change({ $0.isFavorite = newValue }, { $0.isFavorite = newValue }) }
  }

  /// Whether it is hidden.
  open var isHidden: Bool {
    get { set.isHidden ?? asset?.isHidden ?? false }
    set { change({ $0.isHidden = newValue }, { $0.isHidden = newValue }) }
  }

  /// Its stars.
  open var rating: PHAsset.Rating {
    get { set.rating ?? asset?.rating ?? .unset }
    set { change({ $0.rating = newValue }, { $0.rating = newValue }) }
  }

  /// What it shows; nil or empty for nothing (AS-15).
  open var caption: String? {
    get { set.caption.map(\.value) ?? asset?.extendedMetadata.caption }
    set {
      let text = newValue == "" ? nil : newValue
      change({ $0.caption = AssetChanges.Assignment(text) }, { $0.caption = text })
    }
  }

  /// Gives a keyword; one that is there already is passed over (AS-15).
  open func addKeyword(_ keyword: String) {
    change({ $0.addedKeywords = [keyword] }, { $0.keywords.insert(keyword) })
  }

  /// Takes a keyword away; one that is not there is passed over (AS-15).
  open func removeKeyword(_ keyword: String) {
    change({ $0.removedKeywords = [keyword] }, { $0.keywords.remove(keyword) })
  }

  /// Sets whether a Live Photo's video is played; no effect for an asset that is being created.
  open func setLivePhotoVideoPlaybackEnabled(_ enabled: Bool) {
    change({ $0.isLivePhotoVideoPlaybackEnabled = enabled }, { _ in })
  }

  // MARK: Content

  /// An edit to be kept, with its rendered files; read when the block returns (AS-04; Apple: `contentEditingOutput`).
  /// The files are removed once the outcome of the block is known and the output is released.
  open var contentEditingOutput: PHContentEditingOutput? {
    didSet { current.rest.add(self) }
  }

  /// Records the output that the request has now that its block has returned.
  func recordOutput(keeping folders: CurrentBlock.Folders) {
    guard let output = contentEditingOutput else { return }
    folders.keep(output.folder)
    guard asset == nil else { return current.block.editContent(of: identifier, output.edit()) }
    var isRendered = false
    current.block.revise(identifier) { creation in
      guard creation.resources.isEmpty else { return }
      // A new asset is what was rendered: there is nothing that it was made from.
      creation.resources = output.originals()
      creation.mediaType = AssetCreation.mediaType(of: creation.resources.map(\.type))
      isRendered = true
    }
    if !isRendered { current.block.editContent(of: identifier, output.edit()) }
  }

  /// Drops every edit (AS-07; Apple: `revertAssetContentToOriginal()`).
  open func revertAssetContentToOriginal() { current.block.revertContent(of: identifier) }

  /// Drops every edit, and says which original of a RAW pair is the first (AS-07, AS-16;
  /// Apple: `revertAssetContent(to:)`).
  open func revertAssetContent(to choice: PHAsset.OriginalResourceChoice) {
    current.block.revertContent(of: identifier, to: choice)
  }
}

/// Creates an asset of several files (Apple: `PHAssetCreationRequest`).
open class PHAssetCreationRequest: PHAssetChangeRequest {
  /// Begins a creation without files (Apple: `forAsset()`).
  @discardableResult
  open class func forAsset() -> Self {
    let creation = AssetCreation(mediaType: .unknown, resources: [])
    return made("PHAssetCreationRequest.forAsset()", creation)
  }

  /// Whether files of these types can make an asset together (AS-11; Apple: `supportsAssetResourceTypes(_:)`).
  open class func supportsAssetResourceTypes(_ types: [NSNumber]) -> Bool {
    AssetCreation.supports(types.map { ResourceType(rawValue: $0.intValue) })
  }

  /// Which original of a RAW pair is the first (AS-16).
  open var originalResourceChoice: PHAsset.OriginalResourceChoice = .compressed {
    didSet { current.block.revise(identifier) { $0.originalResourceChoice = originalResourceChoice } }
  }

  /// Adds a file given by its bytes (Apple: `addResource(with:data:options:)`).
  open func addResource(with type: PHAssetResourceType, data: Data, options: PHAssetResourceCreationOptions?) {
    add(ResourceDraft(type: ResourceType(rawValue: type.rawValue), source: .data(data)), options)
  }

  /// Adds a file, which is copied, or moved if the options say so (CB-08;
  /// Apple: `addResource(with:fileURL:options:)`).
  open func addResource(with type: PHAssetResourceType, fileURL: URL, options: PHAssetResourceCreationOptions?) {
    let source = ResourceDraft.Source.file(fileURL, shouldMove: options?.shouldMoveFile ?? false)
    add(ResourceDraft(type: ResourceType(rawValue: type.rawValue), source: source), options)
  }

  private func add(_ draft: ResourceDraft, _ options: PHAssetResourceCreationOptions?) {
    var draft = draft
    draft.originalFilename = options?.originalFilename ?? draft.originalFilename
    draft.uniformTypeIdentifier = options?.uniformTypeIdentifier ?? options?.contentType?.identifier
    current.block.revise(identifier) { creation in
      creation.resources.append(draft)
      creation.mediaType = AssetCreation.mediaType(of: creation.resources.map(\.type))
    }
  }
}

/// How a file is taken in (Apple: `PHAssetResourceCreationOptions`).
open class PHAssetResourceCreationOptions: NSObject, NSCopying {
  /// Its name; if nil the file's own, or for bytes one such as `IMG_104423316607.HEIC` (AS-12).
  open var originalFilename: String?
  /// Its kind of data; inferred if nil (AS-12).
  open var uniformTypeIdentifier: String?
  /// The same as a type.
  open var contentType: UTType?
  /// Whether the file is gone after success (CB-08).
  open var shouldMoveFile = false

  /// Options that infer everything and copy.
  public override init() {}

  /// The same options in another object.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PHAssetResourceCreationOptions()
    (copy.originalFilename, copy.uniformTypeIdentifier) = (originalFilename, uniformTypeIdentifier)
    (copy.contentType, copy.shouldMoveFile) = (contentType, shouldMoveFile)
    return copy
  }
}

extension NSFastEnumeration {
  /// The identifiers of objects and placeholders; traps for anything else.
  var identifiers: [LocalIdentifier] {
    enumeratedObjects.map { object in
      guard let identifier = (object as? PHObject)?.identifier else {
        fatalError("A change request was given \(type(of: object)), not an object of the library or a placeholder.")
      }
      return identifier
    }
  }
}
