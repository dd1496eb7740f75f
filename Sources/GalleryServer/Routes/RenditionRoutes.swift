#if Gallery
  import Foundation
  import HTTPServing
  import LibraryJSON
  import MediaImport
  import PhotoLedger

  /// Pictures of assets in two sizes, and films as browsers play them.
  ///
  /// The URL holds the content's hash and the recipe's revision, so what it names never changes; an edit gives another
  /// hash. A picture that is not there yet is made while the request waits, before all idle work.
  enum RenditionRoutes {
    /// How long a request waits at most, seconds.
    static let waitLimit = 60

    static let all: [Route] = [
      Route("GET", "/v1/assets/{asset}/renditions/{sha256}/{recipe}/{kind}") { server, call in
        try call.checkQuery(["wait"])
        let seconds = try call.count("wait") ?? 30
        guard seconds <= waitLimit else {
          throw Problem.malformed("'wait' is \(seconds); pass at most \(waitLimit) seconds.")
        }
        if let response = try server.files.answer(call, deciding: { try held(call) }) { return .answer(response) }
        return .respond { _ in
          do { return try await response(call, .seconds(seconds)) } catch {
            return Problem(error).response
          }
        }
      }
    ]

    /// The answer, if what is asked for has been made: two rows of the store, a record and a descriptor are read. Nil
    /// if it is to be made.
    private static func held(_ call: Call) throws -> HTTPResponse? {
      let (asset, resource, kind) = try wish(call)
      guard let record = call.server.renditions.made(resource.sha256, isPlay: kind == .play) else { return nil }
      return try answer(call, asset, resource, kind, record)
    }

    /// What is asked for, if the client may see it.
    private static func wish(_ call: Call) throws -> (Asset, AssetResource, RenditionCache.Kind) {
      let library = try call.library()
      try Fetches.checkMayRead(library)
      guard let asset = try library.asset(call.parameters[0]), call.parameters[2] == RenditionRecipe.revision,
        let kind = RenditionCache.Kind(rawValue: call.parameters[3]),
        let resource = kind == .play
          ? try Renditions.played(asset, in: library) : try Renditions.shown(asset, in: library),
        resource.sha256Hex == call.parameters[1]
      else { throw Problem.notFound }
      return (asset, resource, kind)
    }

    private static func response(_ call: Call, _ limit: Duration) async throws -> HTTPResponse {
      let (renditions, client) = (call.server.renditions, try call.library().client.exact)
      let place = limit > .zero ? try KeyPlace(call.server.renditionWaits, call.key) : nil
      defer { place?.leave() }
      // Twice: files that were removed from the cache by other hands are made again.
      for _ in 0..<2 {
        let (asset, resource, kind) = try await offload { try wish(call) }
        let outcome = try await renditions.wait(
          for: resource, of: asset, isPlay: kind == .play, by: client, atMost: limit)
        // What the client may see can have changed while it waited.
        _ = try await offload { try wish(call) }
        switch outcome {
        case .failed(let reason): throw Problem(422, "not-renderable", reason)
        case .pending:
          let isThere = try await offload { Renditions.isThere(try call.library().url(of: resource, in: asset)) }
          guard isThere else {
            throw Problem(404, "missing-resource", "The file of this resource is missing; its owner has to restore it.")
          }
          throw Problem(
            503, "not-ready", "The rendition is being made; request it again, or when an event of the feed names it.")
        case .there(let record):
          if let response = try await offload({ try answer(call, asset, resource, kind, record) }) { return response }
        }
      }
      throw Problem(503, "not-ready", "The files of this rendition were removed meanwhile; request it again.")
    }

    /// The answer of what was made; nil if its file is not there any more.
    ///
    /// An original that a film is played from is not one of the files that `OpenFiles` sends again, so each
    /// request's scope is checked.
    private static func answer(
      _ call: Call, _ asset: Asset, _ resource: AssetResource, _ kind: RenditionCache.Kind, _ record: RenditionRecord
    ) throws -> HTTPResponse? {
      let tag = "\(resource.sha256Hex)-\(RenditionRecipe.revision)-\(kind.rawValue)"
      let name = (resource.originalFilename as NSString).deletingPathExtension
      if kind == .play, record.play == .original {
        guard call.key?.scopes.contains(.originals) == true else {
          throw Problem(
            403, "scope-missing", "This video plays from its original, which needs a key with the scope 'originals'.")
        }
        return try FileAnswer(
          path: try call.library().url(of: resource, in: asset).path, size: resource.dataSize,
          look: FileLook(tag: tag, contentType: "video/mp4", name: name + ".mp4", isShown: true),
          isReferenced: resource.storage != .library
        ).response(call.request)
      }
      let size: UInt64 =
        switch kind {
        case .small: UInt64(record.smallSize)
        case .large: UInt64(record.largeSize)
        case .play: record.playSize
        }
      guard let file = try call.server.renditions.file(resource.sha256, kind, size: size) else { return nil }
      let (type, ending) = kind == .play ? ("video/mp4", ".mp4") : ("image/jpeg", ".jpg")
      return try FileAnswer(
        path: file.path, size: size, look: FileLook(tag: tag, contentType: type, name: name + ending, isShown: true),
        files: call.server.files
      ).response(call.request)
    }
  }

  extension Call {
    /// What columns say about renditions, as the request's key sees the library.
    func renditionColumns() throws -> RenditionColumns {
      RenditionColumns(library: try library(), renditions: server.renditions)
    }
  }
#endif
