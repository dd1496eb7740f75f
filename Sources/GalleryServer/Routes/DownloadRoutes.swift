#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import MediaImport
  import PhotoLedger
  import Synchronization

  // Many files as one archive.
  //
  //     POST /v1/downloads {"assets": […]} ─▶ 201, a URL ─▶ GET ─▶ a ZIP, written while it is sent
  //
  // Two steps, since a browser saves what a link leads to and not what a script was answered. What was chosen is held
  // for an hour, for the client that chose it.
  //
  // An archive has the originals of every asset that was chosen, or it is not a valid archive. What the client may see
  // is asked of all assets before the first byte, and again of each when its turn comes, as is whether its key is good:
  // an asset that is out of sight before is answered with 404, and one that leaves meanwhile ends the connection
  // without the archive's directory. The files are looked at once, when they are chosen: the answer names assets whose
  // files are missing then. One that goes missing later ends the connection, and the log names its asset.
  //
  // Looking up many assets takes long, so each of the two steps takes a place before it, and so does HEAD.
  //
  // Rejected: an archive without what is out of sight: its reader takes it for whole.

  /// Downloads over HTTP.
  enum DownloadRoutes {
    static let all: [Route] = [
      .gathering(
        "POST", "/v1/downloads", limit: 8 << 20, checking: { call in try Fetches.checkMayRead(try call.library()) }
      ) { call, body in
        try call.checkQuery([])
        let place = try call.contentPlace()
        defer { place.leave() }
        let json = try JSONReader.read(body, valueLimit: JSON.valueLimit)
        guard let list = json["assets"]?.listValue, (1...Downloads.assetLimit).contains(list.count) else {
          throw Problem.malformed("The body needs 'assets', a list of 1 to \(Downloads.assetLimit) identifiers.")
        }
        let library = try call.library()
        // An asset that is named twice is in the archive once.
        var known: Set<LocalIdentifier> = []
        let names = try list.compactMap { item -> String? in
          guard let name = item.textValue, name.utf8.count <= 200 else {
            throw Problem.malformed("'assets' holds \(item.kind); pass local identifiers.")
          }
          if let asset = LocalIdentifier(name), !known.insert(asset).inserted { return nil }
          return name
        }
        try checkCanBeSent(names, in: library)
        let name = call.server.downloads.add(names, for: library.client)
        return .json(
          ["download": .text(name), "url": .text("/v1/downloads/\(name)"), "count": .integer(Int64(names.count))],
          status: 201, [("Location", "/v1/downloads/\(name)"), ("Cache-Control", "no-store")])
      }.needing(.originals),
      Route("GET", "/v1/downloads/{download}") { server, call in
        try call.checkQuery([])
        let library = try call.library()
        try Fetches.checkMayRead(library)
        guard let assets = server.downloads.assets(call.parameters[0], for: library.client) else {
          throw Problem.notFound
        }
        let fields = [
          ("Content-Type", "application/zip"), ("Cache-Control", "no-store"),
          ("Content-Disposition", "attachment; filename=\"photos.zip\""),
        ]
        return .respond { request in
          do {
            let place = try call.contentPlace()
            try await offload { try checkAreSeen(assets, in: library) }
            let stream = place.stream()
            if request.method != "HEAD" {
              Task.detached {
                await send(assets, of: library, to: stream, for: request.sender) {
                  // The key may have been withdrawn meanwhile.
                  try call.checkIsStillGood()
                }
              }
            }
            return HTTPResponse(200, Headers.common + fields, .stream(stream))
          } catch { return Problem(error).response }
        }
      }.needing(.originals),
    ]

    /// Checks that the client sees all assets of a download.
    /// - Throws: ``Problem`` 404 if it does not.
    private static func checkAreSeen(_ assets: [String], in library: PhotoLibrary) throws {
      try Fetches.checkMayRead(library)
      for names in batches(of: assets) where try library.assets(named: names).contains(where: { $0 == nil }) {
        throw Problem.notFound
      }
    }

    /// How many assets are looked up in one transaction: while it lasts, no page that is freed is used again.
    private static let batchCount = 1_000

    private static func batches(of assets: [String]) -> [ArraySlice<String>] {
      stride(from: 0, to: assets.count, by: batchCount).map { assets[$0..<min($0 + batchCount, assets.count)] }
    }

    /// How many assets without their files a refusal names.
    private static let namedLimit = 100

    /// Checks that the client sees all assets of a download, and that the files of their originals are there.
    /// - Throws: ``Problem`` 404 if not, which names assets whose files are missing.
    private static func checkCanBeSent(_ assets: [String], in library: PhotoLibrary) throws {
      try Fetches.checkMayRead(library)
      var missing: [String] = []
      for names in batches(of: assets) {
        let seen = try library.assets(named: names).compactMap(\.self)
        guard seen.count == names.count else { throw Problem.notFound }
        guard missing.count < namedLimit else { continue }
        for (name, resources) in zip(names, try library.resources(of: seen)) where missing.count < namedLimit {
          let originals = resources.filter(\.isOriginal)
          if !originals.allSatisfy({ hasFile($0, in: library) }) { missing.append(name) }
        }
      }
      guard missing.isEmpty else {
        var problem = Problem(
          404, "missing-resource",
          "Files of some assets are missing or have another size; 'assets' names up to \(namedLimit) of them.")
        problem.members = [JSON.Member("assets", .list(missing.map { .text($0) }))]
        throw problem
      }
    }

    /// Whether the file of a resource is there and has its size; it is not opened.
    private static func hasFile(_ resource: AssetResource, in library: PhotoLibrary) -> Bool {
      let path = library.url(of: resource).path
      var status = stat()
      // As for opening it, a link counts only where the file is a referenced one.
      let code = resource.storage == .library ? lstat(path, &status) : stat(path, &status)
      return code == 0 && status.st_mode & S_IFMT == S_IFREG && UInt64(status.st_size) == resource.dataSize
    }

    private static let chunkSize = 1 << 18

    /// Writes the archive; an end without the directory tells a client that it is not whole.
    /// - Parameter mayStill: throws if the client is not to have more of it.
    private static func send(
      _ assets: [String], of library: PhotoLibrary, to stream: HTTPStream, for sender: HTTPSender,
      _ mayStill: @Sendable () throws -> Void
    ) async {
      var (zip, names) = (ZipWriter(), ZipNames())
      var current: String?
      do {
        for identifier in assets {
          current = identifier
          try mayStill()
          for (resource, asset) in try await offload({ try originals(of: identifier, in: library) }) {
            let (descriptor, file) = try await offload { try open(resource, asset, library) }
            let head = zip.begin(
              names.name(for: resource.originalFilename), size: resource.dataSize, date: asset.creationDate)
            try await stream.send { head }
            let checksum = try await send(descriptor, count: resource.dataSize, to: stream)
            withExtendedLifetime(file) {}
            let tail = zip.end(checksum: checksum)
            try await stream.send { tail }
          }
        }
        current = nil
        // Permission may have ended during the last file: the archive is then left incomplete.
        try mayStill()
        try await offload { try checkAreSeen(assets, in: library) }
        let end = zip.finish()
        try await stream.send { end }
        stream.end()
      } catch {
        if !(error is HTTPStreamClosed) {
          let problem = Problem(error)
          sender.note = (current.map { "The asset '\($0)': " } ?? "") + (problem.note ?? problem.detail)
        }
        stream.abort()
      }
    }

    /// The originals of an asset: both files of a Live Photo or of a RAW pair.
    /// - Throws: ``Problem`` 404 if the client does not see it any more.
    private static func originals(of identifier: String, in library: PhotoLibrary) throws -> [(AssetResource, Asset)] {
      try Fetches.checkMayRead(library)
      guard let asset = try library.asset(identifier) else { throw Problem.notFound }
      return try library.resources(of: asset).filter(\.isOriginal).map { ($0, asset) }
    }

    private static func open(
      _ resource: AssetResource, _ asset: Asset, _ library: PhotoLibrary
    ) throws -> (Int32, HTTPFile) {
      let url = try library.url(of: resource, in: asset)
      let descriptor = Foundation.open(url.path, FileAnswer.flags(isReferenced: resource.storage != .library))
      guard descriptor >= 0 else { throw Problem.unopened(errno) }
      let file = HTTPFile(owning: descriptor)
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        UInt64(status.st_size) == resource.dataSize
      else { throw Problem(500, "invalid-resource", "The file of this resource has another size.") }
      return (descriptor, file)
    }

    private static func send(_ descriptor: Int32, count: UInt64, to stream: HTTPStream) async throws -> UInt32 {
      var (checksum, offset) = (CRC32(), UInt64(0))
      while offset < count {
        let (start, size) = (offset, Int(min(UInt64(chunkSize), count - offset)))
        let chunk = try await offload { () -> [UInt8] in
          var buffer = [UInt8](repeating: 0, count: size)
          let read = pread(descriptor, &buffer, size, Int(start))
          guard read > 0 else { throw Problem(500, "invalid-resource", "The file became shorter.") }
          return Array(buffer.prefix(read))
        }
        chunk.withUnsafeBytes { checksum.update($0) }
        offset += UInt64(chunk.count)
        try await stream.send { chunk }
      }
      return checksum.value
    }
  }
#endif
