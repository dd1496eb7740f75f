public import Foundation

// The bytes of resources, as PHAssetResourceManager gives them (photokit a.5).
//
//     data(of:in:)      write(_:in:to:)      state(of:in:hashing:)      requestData(for:in:…)
//           └──────────────────┴───────┬──────────────┴──────────────────────────┘
//                                openForReading                        the one way from an asset to its bytes
//
// A resource is asked for together with its asset. In PhotoKit a resource knows its asset (`assetLocalIdentifier`);
// here `AssetResource` is also what the log holds and what content is compared by, and two assets may have equal ones.
// So the asset stands beside it, as it does in `resources(of:)`. That is more than a way of naming: a resource is a
// value that anyone can make, with any path in it, and `openForReading` opens only what the library recorded for the
// asset.

extension PhotoLibrary {
  /// The bytes of a resource, chunk by chunk (PHAssetResourceManager.requestData(for:options:dataReceivedHandler:
  /// completionHandler:)).
  ///
  /// Nothing is opened before the first chunk is asked for, so every error is thrown there or later.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the commit for which the resource was asked.
  ///   - options: who is told of the progress.
  /// - Returns: the chunks; the end is told only when the SHA-256 of all is the recorded one.
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
  /// system can; they are hashed, made durable and renamed. So the file is whole or is not there, also after an error,
  /// a cancelled task or a crash; after a crash a file `.photoledger-…` may lie in the folder.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the commit for which the resource was asked.
  ///   - file: a file URL; its folder must be there.
  ///   - replacing: whether a regular file of that name is replaced, in one step; otherwise it is an error.
  ///   - options: who is told of the progress; it reaches 1 when the file is in its place.
  /// - Throws: ``LibraryError``: `.alreadyExists`; `.missingResource`, `.invalidResource`, `.resourceChanged` of the
  ///   resource; `.userCancelled`; `.identifierNotFound` if the asset has no such resource; `.malformedRequest` for a
  ///   URL that is no file's; `.notEnoughSpace`, `.storage` of the target.
  /// - Complexity: O(bytes); O(1) bytes written where the file system shares blocks.
  nonisolated(nonsending) public func write(
    _ resource: AssetResource, in asset: Asset, to file: URL, replacing: Bool = false,
    options: ResourceRequestOptions = ResourceRequestOptions()
  ) async throws {
    let request = ResourceRequest(resource, in: asset, options)
    try await request.carryingOut { [self] in
      var source = try openForReading(request)
      try source.export(to: file, replacing: replacing)
    }
  }

  /// Looks whether the bytes of a resource are there.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the commit for which the resource was asked.
  ///   - hashing: whether all bytes are read and hashed; otherwise the size of the file decides.
  /// - Throws: ``LibraryError``: `.identifierNotFound` if the asset has no such resource, `.userCancelled`, `.storage`
  ///   if nothing can be opened. That a file is missing or altered is an answer, not an error.
  /// - Complexity: O(log n); O(bytes) with `hashing`.
  nonisolated(nonsending) public func state(
    of resource: AssetResource, in asset: Asset, hashing: Bool = false
  ) async throws -> ResourceState {
    let request = ResourceRequest(resource, in: asset)
    return try await request.carryingOut { [self] in
      try ResourceState(hashing: hashing) { () throws(LibraryError) in
        do { return try openForReading(request) } catch { throw LibraryError(error) }
      }
    }
  }

  /// Gives the bytes of a resource to a handler, chunk by chunk (PHAssetResourceManager.requestData(for:options:
  /// dataReceivedHandler:completionHandler:)).
  ///
  /// The handlers are called on one serial queue of the request's own, progress among them; the next chunk is read
  /// when the handler has returned. The library is held to the end of the request.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the commit for which the resource was asked.
  ///   - options: who is told of the progress.
  ///   - dataReceivedHandler: is given each chunk of at most 1 MiB, in their order.
  ///   - completionHandler: called once, last: with nil if all bytes were given and their hash is the recorded one;
  ///     otherwise with what ``data(of:in:options:)`` throws, `.userCancelled` (3072) after ``cancelDataRequest(_:)``.
  /// - Returns: what names the request for ``cancelDataRequest(_:)``.
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

  /// Whether an asset has a resource, and the client may read its bytes now: what was withdrawn from it is not read,
  /// also from results that are held and from a moment at which it was seen.
  func checkMayRead(_ request: ResourceRequest) throws {
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

  /// The file that holds the bytes of a resource. It may be missing: a reference can point to what is gone.
  /// - Parameters:
  ///   - resource: one of ``resources(of:)``.
  ///   - asset: the asset that it belongs to, as of the commit for which the resource was asked.
  /// - Throws: ``LibraryError`` `.identifierNotFound` if the asset has no such resource, or if the client may not see
  ///   it (any more); what the store throws.
  /// - Complexity: O(log n).
  public func url(of resource: AssetResource, in asset: Asset) throws -> URL {
    try checkMayRead(ResourceRequest(resource, in: asset))
    return url(of: resource)
  }

  package func url(of resource: AssetResource) -> URL { store.resources.url(of: resource) }
}
