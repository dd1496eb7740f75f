public import Foundation

// The bytes of resources, as PHAssetResourceManager gives them (photokit a.5).
//
//     data(of:in:)      write(_:in:to:)      state(of:in:hashing:)      requestData(for:in:…)
//           └──────────────────┴───────┬──────────────┴──────────────────────────┘
//                                openForReading                        the one way from an asset to its bytes
//
// A resource is requested together with its asset. In PhotoKit a resource knows its asset (`assetLocalIdentifier`);
// here `AssetResource` is also the value in the log and the one by which content is compared, and two assets may have
// equal ones. So the asset is a separate argument, as in `resources(of:)`. It is also a check: a resource is a value
// that any code can create, with any path in it, and `openForReading` opens only what the library recorded for the
// asset.

extension PhotoLibrary {
  /// The bytes of a resource, chunk by chunk (PHAssetResourceManager.requestData(for:options:dataReceivedHandler:
  /// completionHandler:)).
  ///
  /// Nothing is opened before the first chunk is requested, so every error is thrown there or later.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the same commit.
  ///   - options: the progress handler.
  /// - Returns: the chunks; the sequence ends only if the SHA-256 of all bytes is the recorded one.
  /// - Complexity: O(1); each chunk is O(its bytes).
  public func data(
    of resource: AssetResource, in asset: Asset, options: ResourceRequestOptions = ResourceRequestOptions()
  ) -> ResourceData {
    ResourceData { [self] cancellation in
      try openForReading(ResourceRequest(resource, in: asset, options, cancellation))
    }
  }

  /// Copies a resource to a file (PHAssetResourceManager.writeData(for:toFile:options:completionHandler:)).
  ///
  /// The bytes go to a temporary name in the same folder, or share the blocks of the library's file where the file
  /// system can; they are hashed, made durable and renamed. So the file is complete or does not exist, also after an
  /// error, a cancelled task or a crash; after a crash a file `.photoledger-…` may remain in the folder.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the same commit.
  ///   - file: a file URL; its folder must exist.
  ///   - replacing: whether an existing regular file is replaced, in one step; otherwise it is an error.
  ///   - options: the progress handler; it reaches 1 when the file is complete.
  /// - Throws: ``LibraryError``: `.alreadyExists`; `.missingResource`, `.invalidResource`, `.resourceChanged` of the
  ///   resource; `.userCancelled`; `.identifierNotFound` if the asset has no such resource; `.malformedRequest` for a
  ///   URL that is not a file URL; `.notEnoughSpace`, `.storage` of the target.
  /// - Complexity: O(bytes); O(1) bytes written where the file system shares blocks.
  nonisolated(nonsending) public func write(
    _ resource: AssetResource, in asset: Asset, to file: URL, replacing: Bool = false,
    options: ResourceRequestOptions = ResourceRequestOptions()
  ) async throws {
    let request = ResourceRequest(resource, in: asset, options)
    try await request.runBlocking { [self] in
      var source = try openForReading(request)
      try source.export(to: file, replacing: replacing)
    }
  }

  /// Checks whether the bytes of a resource are present.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the same commit.
  ///   - hashing: whether all bytes are read and hashed; otherwise only the size of the file is compared.
  /// - Throws: ``LibraryError``: `.identifierNotFound` if the asset has no such resource, `.userCancelled`, `.storage`
  ///   if nothing can be opened. A missing or altered file is a result, not an error.
  /// - Complexity: O(log n); O(bytes) with `hashing`.
  nonisolated(nonsending) public func state(
    of resource: AssetResource, in asset: Asset, hashing: Bool = false
  ) async throws -> ResourceState {
    let request = ResourceRequest(resource, in: asset)
    return try await request.runBlocking { [self] in
      try ResourceState(hashing: hashing) { () throws(LibraryError) in
        do { return try openForReading(request) } catch { throw LibraryError(error) }
      }
    }
  }

  /// Gives the bytes of a resource to a handler, chunk by chunk (PHAssetResourceManager.requestData(for:options:
  /// dataReceivedHandler:completionHandler:)).
  ///
  /// All handlers, including progress, are called on a serial queue of the request; the next chunk is read when the
  /// handler has returned. The library is retained until the request ends.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the same commit.
  ///   - options: the progress handler.
  ///   - dataReceivedHandler: called with each chunk of at most 1 MiB, in order.
  ///   - completionHandler: called once, last: with nil if all bytes were delivered and their hash is the recorded one;
  ///     otherwise with the errors of ``data(of:in:options:)``, `.userCancelled` (3072) after
  ///     ``cancelDataRequest(_:)``.
  /// - Returns: the identifier of the request for ``cancelDataRequest(_:)``.
  /// - Complexity: O(1) before it returns.
  @discardableResult
  public func requestData(
    for resource: AssetResource, in asset: Asset, options: ResourceRequestOptions = ResourceRequestOptions(),
    dataReceivedHandler: @escaping @Sendable (Data) -> Void,
    completionHandler: @escaping @Sendable (LibraryError?) -> Void
  ) -> ResourceDataRequestID {
    let request = ResourceRequest(resource, in: asset, options)
    let requests = store.resources.requests
    let id = requests.add(request.cancellation)
    let queue = DispatchQueue(label: "photoledger.request", target: ResourceRequest.queue)
    queue.async { [self] in
      let failure = deliver(request, dataReceivedHandler)
      requests.remove(id)
      completionHandler(failure)
    }
    return id
  }

  /// Ends a request for bytes (PHAssetResourceManager.cancelDataRequest(_:)).
  ///
  /// Beyond the chunk that a handler may just be given, none comes any more, and the completion handler is given
  /// `.userCancelled`. A request that is over is left alone.
  /// - Parameter requestID: what ``requestData(for:in:options:dataReceivedHandler:completionHandler:)`` returned, from
  ///   any client of the library.
  public func cancelDataRequest(_ requestID: ResourceDataRequestID) { store.resources.requests.cancel(requestID) }

  private func deliver(_ request: ResourceRequest, _ handler: (Data) -> Void) -> LibraryError? {
    do {
      var file = try openForReading(request)
      while let chunk = try file.next() { handler(chunk) }
      return nil
    } catch {
      return LibraryError(error)
    }
  }

  /// Opens the file of a resource; every reading of bytes begins here, so whether this client may have them is decided
  /// here and nowhere else.
  /// - Throws: ``LibraryError`` `.identifierNotFound` if the asset, as of the value's commit, has no such resource;
  ///   what ``OpenResource`` throws.
  /// - Complexity: O(log n), and one read for each later event that touched the asset.
  func openForReading(_ request: ResourceRequest) throws -> OpenResource {
    try checkMayRead(request)
    return try store.resources.openFile(request)
  }

  /// Whether an asset has a resource, and the client may read its bytes now: a withdrawn asset is not read, even
  /// through held results and views of earlier states.
  package func checkMayRead(_ request: ResourceRequest) throws {
    let isKnown = try store.reading { t in
      let access = try store.core.projections.permission(of: client, in: t).access
      guard let asset = request.asset, try store.core.projections.shows(asset.row.number, to: access, in: t) else {
        return false
      }
      return try details(of: asset, t).resources.contains(request.resource)
    }
    guard isKnown else {
      throw LibraryError(
        .identifierNotFound, "The library has no \(request.name); pass one of the asset's own resources.")
    }
  }

  /// The file of a resource. It may be missing, for example a referenced file that was deleted.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the same commit.
  /// - Throws: ``LibraryError`` `.identifierNotFound` if the asset has no such resource, or if the client has no access
  ///   to it; the store's errors.
  /// - Complexity: O(log n).
  public func url(of resource: AssetResource, in asset: Asset) throws -> URL {
    try checkMayRead(ResourceRequest(resource, in: asset))
    return url(of: resource)
  }

  package func url(of resource: AssetResource) -> URL { store.resources.url(of: resource) }
}
