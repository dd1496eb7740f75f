public import Foundation
import EventLog
import LMDB
public import PhotoLedger
import Synchronization

// The bytes of picked items.
//
//     load(item)   write(item, to:)   data(of: item)
//          └──────────────┼──────────────┘
//                  openForReading(item)      was it given to this client, and is it there still?
//                         │                  which file, in which form?
//                         ▼
//                    OpenResource            the stored file, or what the converter made of a proved copy
//
// A pick is a permission of its own: it is checked here, beside that of PhotoLibrary+Resources.swift, and gives access
// only to the current version of the picked asset. The asset is looked up by its order key in the recorded pick, so the
// contents of an archived item are not trusted.

extension PhotoLibrary {
  /// All bytes of a picked item (PhotosPickerItem.loadTransferable(type:), PK-07).
  /// - Parameters:
  ///   - item: an item of a session of this client, in this process or an earlier one.
  ///   - options: the content type and the representation.
  /// - Throws: ``LibraryError``: `.missingResource` if the asset was purged, or its file is missing;
  ///   `.requestNotSupportedForAsset` for an item without bytes (PK-04) and for a content type that it does not have;
  ///   `.accessUserDenied` if it belongs to another client; `.invalidToken` for an item of another library;
  ///   `.converterMissing`, `.conversionFailed`; `.invalidResource`, `.resourceChanged`, `.userCancelled`, as
  ///   ``data(of:in:options:)``.
  /// - Complexity: O(bytes), all of them in memory.
  nonisolated(nonsending) public func load(
    _ item: PickedItem, options: PickedItemOptions = PickedItemOptions()
  ) async throws -> Data {
    let cancellation = Cancellation()
    return try await cancellation.runBlocking { [self] in
      var file = try openForReading(item, options, cancellation)
      var data = Data()
      while let chunk = try file.next() { data.append(chunk) }
      return data
    }
  }

  /// The bytes of a picked item, chunk by chunk.
  ///
  /// Nothing is opened before the first chunk is requested, so every error is thrown there or later.
  /// - Parameters:
  ///   - item: an item of a session of this client.
  ///   - options: the content type and the representation.
  /// - Returns: the chunks; the sequence ends only after the bytes, or those that they were converted from, have been
  ///   verified. Errors are those of ``load(_:options:)``.
  /// - Complexity: O(1); each chunk is O(its bytes).
  public func data(of item: PickedItem, options: PickedItemOptions = PickedItemOptions()) -> ResourceData {
    ResourceData { [self] cancellation in try openForReading(item, options, cancellation) }
  }

  /// Copies a picked item to a file, completely or not at all (NSItemProvider.loadFileRepresentation).
  /// - Parameters:
  ///   - item: an item of a session of this client.
  ///   - file: a file URL; its folder must exist.
  ///   - replacing: whether an existing regular file is replaced, in one step; otherwise it is an error.
  ///   - options: the content type and the representation; the progress reaches 1 when the file is complete.
  /// - Throws: ``LibraryError``: those of ``load(_:options:)`` and of ``write(_:in:to:replacing:options:)``.
  /// - Complexity: O(bytes).
  nonisolated(nonsending) public func write(
    _ item: PickedItem, to file: URL, replacing: Bool = false, options: PickedItemOptions = PickedItemOptions()
  ) async throws { _ = try await copy(item, to: file, replacing: replacing, options: options) }

  /// Copies a picked item to a file, as ``write(_:to:replacing:options:)`` does.
  /// - Returns: the SHA-256 of the bytes that were written.
  nonisolated(nonsending) package func copy(
    _ item: PickedItem, to file: URL, replacing: Bool = false, options: PickedItemOptions = PickedItemOptions()
  ) async throws -> [UInt8] {
    let cancellation = Cancellation()
    return try await cancellation.runBlocking { [self] in
      var source = try openForReading(item, options, cancellation)
      try source.export(to: file, replacing: replacing)
      return source.sha256
    }
  }

  /// The item that a token names, with what it can be loaded as now.
  /// - Parameter token: ``PickedItem/token`` of an item of this client's.
  /// - Throws: ``LibraryError``: `.missingResource` if the asset was purged, `.accessUserDenied` if it was not given to
  ///   this client, `.invalidToken` if it is not a token of this library's; what the store throws.
  /// - Complexity: O(log n).
  public func pickedItem(_ token: String) throws -> PickedItem {
    let token = try ItemToken(token)
    let (_, resources, withheld) = try store.reading { t in try picked(token, t) }
    var conversions = Conversions(converter())
    return PickedItem(
      token: token, types: Rendition.types(of: resources, as: token.form.representation, &conversions),
      withheld: withheld)
  }

  /// The uniform type identifier of the bytes as which an item is loaded.
  /// - Throws: ``LibraryError``: those of ``load(_:options:)`` about the item and its options.
  /// - Complexity: O(log n).
  package func contentType(of item: PickedItem, options: PickedItemOptions = PickedItemOptions()) throws -> String {
    try chosen(item, options).rendition.type
  }

  private func converter() -> (any RepresentationConverter)? {
    store.installed((any RepresentationConverter).self).current
  }

  // MARK: Permission

  /// A picked asset and the files of its current version, if the pick gave it to this client.
  private func picked(
    _ token: ItemToken, _ t: borrowing StoreReading
  ) throws -> (asset: Asset, resources: [AssetResource], withheld: PickerMetadataOptions) {
    let (row, withheld): (AssetRow?, PickerMetadataOptions) =
      switch token.place {
      case .given(let commit, let key): try given(commit, key, t)
      case .own(let identifier): (try own(identifier, t), [])
      }
    guard let row else {
      throw LibraryError(
        .missingResource, "The picked asset is no longer in the library; pick it again if it is restored.")
    }
    let resources = try store.assetDetails(row.number, at: sequence, t)?.resources ?? []
    return (
      Asset(
        row: row, seenBy: try permission(t).access, commit: try moment?.commit ?? store.core.log.head(t).commit),
      resources.currentVersion(of: row), withheld
    )
  }

  private func own(_ identifier: LocalIdentifier, _ t: borrowing StoreReading) throws -> AssetRow? {
    guard client == Self.owner else { throw notGiven }
    guard let object = try store.object(identifier, at: moment, t), object.isAsset else { return nil }
    return try store.assetRow(object.number, at: sequence, t)
  }

  /// The asset at a place of a pick of this client's, nil if it was purged, and what the pick leaves out of its bytes.
  private func given(
    _ token: Token, _ key: OrderKey, _ t: borrowing StoreReading
  ) throws -> (AssetRow?, PickerMetadataOptions) {
    let projections = store.core.projections
    guard token.library == store.core.mark else {
      throw LibraryError(.invalidToken, "The picked item belongs to another library; load it there.")
    }
    let number: UInt64
    do {
      let permission = try projections.permission(of: client, in: t)
      number = try store.commit(of: token, for: client, permission, t)
    } catch let error as LibraryError where error.code == .invalidToken {
      throw notGiven
    }
    guard let commit = try store.core.log.commit(number, in: t), commit.lastSequence <= sequence else {
      throw notGiven
    }
    var picks: [ObjectNumber] = []
    try store.core.log.read(after: commit.firstSequence - 1, limit: Int(commit.eventCount), in: t) { record in
      if record.type == "pick.recorded" { picks.append(record.sequence) }
      return .proceed
    }
    guard let pick = picks.first, let row = try projections.pick(pick, in: t),
      try projections.client(row.client, in: t)?.name.exact == client.exact
    else { throw notGiven }
    var found: ObjectNumber?
    try projections.forEachMember(of: pick, from: key, in: t) { place, number in
      if place == key { found = number }
      return false
    }
    // A purge took the asset out of the pick; at a moment before it, it was there.
    if found == nil, moment != nil {
      found = try store.members(of: pick, at: sequence, t).first { $0.key == key }?.number
    }
    return (try found.flatMap { try store.assetRow($0, at: sequence, t) }, row.withheld)
  }

  private var notGiven: LibraryError {
    LibraryError(
      .accessUserDenied, "The picked item belongs to another client than '\(client)'; pick the asset for this client.")
  }

  // MARK: Opening

  /// The picked asset of an item, if the pick gave it to this client, and the file and form that are wanted of it.
  private func chosen(
    _ item: PickedItem, _ options: PickedItemOptions
  ) throws -> (asset: Asset, rendition: Rendition, withheld: PickerMetadataOptions) {
    guard let text = item.token else {
      throw LibraryError(
        .requestNotSupportedForAsset,
        "A preselected item has no bytes; use those of the earlier result.")
    }
    let token = try ItemToken(text)
    let (asset, resources, withheld) = try store.reading { t in try picked(token, t) }
    return (asset, try rendition(of: resources, item, options), withheld)
  }

  /// Opens the bytes of an item in the wanted form; every reading of a picked item begins here.
  private func openForReading(
    _ item: PickedItem, _ options: PickedItemOptions, _ cancellation: Cancellation
  ) throws -> OpenResource {
    let (asset, rendition, withheld) = try chosen(item, options)
    let request = ResourceRequest(
      rendition.resource, in: asset, ResourceRequestOptions(progressHandler: options.progressHandler), cancellation)
    // The item comes from the client; the user's restrictions are in the log.
    let removed = item.metadataOptions.union(options.metadataOptions).union(withheld)
    do throws(LibraryError) {
      return try open(rendition, removing: removed, request)
    } catch {
      guard error.code == .conversionFailed, let stored = rendition.fallback else { throw error }
      return try open(stored, removing: removed, request)
    }
  }

  /// Opens the bytes of a file in a form, without the metadata that is not handed out.
  private func open(
    _ rendition: Rendition, removing removed: PickerMetadataOptions, _ request: ResourceRequest
  ) throws(LibraryError) -> OpenResource {
    if rendition.encoding == .stored, removed.isEmpty { return try store.resources.openFile(request) }
    guard let converter = converter() else {
      // Checked first, so that a missing file is not reported as a missing program.
      _ = try store.resources.openFile(request)
      throw LibraryError.withoutConverter(rendition, request.name)
    }
    let work = try ConversionWork(rendition, removing: removed, request, in: store.resources)
    let isEncoding = try work.mustEncode(with: converter)
    guard isEncoding || !removed.isEmpty else { return try store.resources.openFile(request) }
    return try work.open(converter, isEncoding: isEncoding, in: store.resources)
  }

  /// The rendition that is wanted.
  private func rendition(
    of resources: [AssetResource], _ item: PickedItem, _ options: PickedItemOptions
  ) throws -> Rendition {
    let representation = options.representation ?? item.preferredRepresentation
    var conversions = Conversions(converter())
    let had = Rendition.all(of: resources, as: representation, &conversions)
    guard let type = options.contentType else {
      if let first = had.first { return first }
      throw LibraryError(.requestNotSupportedForAsset, "The picked asset has no photo, video or sound to load.")
    }
    // A type that needs a converter is reported as such, not as unknown.
    let compatible = Rendition.all(of: resources, as: .compatible, &conversions)
    let all = had + (representation == .automatic ? compatible : [])
    guard let found = all.first(where: { $0.type == type }) else {
      let types = distinct(all.map(\.type)).joined(separator: ", ")
      throw LibraryError(
        .requestNotSupportedForAsset,
        "The picked item cannot be loaded as '\(type)' in its \(representation) representation; load it as \(types).")
    }
    return found
  }
}
