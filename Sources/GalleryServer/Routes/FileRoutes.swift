#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger

  /// The bytes of originals, sent by the kernel from the library's files.
  ///
  /// The URL holds the content's hash, so what it names never changes and may be kept for ever by the client's own
  /// cache.
  /// The hash is the strong tag, and what the event recorded: an altered file with the recorded size would be sent as
  /// it is, which is why `verify --content` exists. A file of another size is rejected.
  enum FileRoutes {
    static let all: [Route] = [
      .held("GET", "/v1/assets/{asset}/resources/{sha256}") { call in
        // Two rows of now and a descriptor; the kernel reads the bytes while they are sent.
        try call.server.files.answer(call) { try answer(call) }
      } _: { call in
        // What is to be asked is asked by this reading; what it decided is read afterwards.
        _ = try call.library().asset(call.parameters[0])
        return try answer(call)
      }.needing(.originals)
    ]

    private static func answer(_ call: Call) throws -> HTTPResponse {
      try call.checkQuery(["download"])
      let library = try call.library()
      try Fetches.checkMayRead(library)
      guard let resource = try library.shownFile(withSHA256: call.parameters[1], of: call.parameters[0])
      else { throw Problem.notFound }
      // What a browser would run, such as SVG and HTML, is not in the list, and so is only ever saved.
      let isShown = try call.query("download") == nil && shown[resource.uniformTypeIdentifier] != nil
      var (folder, path, files) = (library.store.folder as LibraryFolder?, "", call.server.files as OpenFiles?)
      switch resource.storage {
      case .library: path = ResourceStore.name(ofContent: resource.sha256)
      // A referenced file is not kept open: its disk could not be unmounted.
      case .referenced(let elsewhere): (folder, path, files) = (nil, elsewhere, nil)
      }
      let look = FileLook(
        tag: call.parameters[1], contentType: type(of: resource), name: resource.originalFilename, isShown: isShown)
      return try FileAnswer(
        folder: folder, path: path, size: resource.dataSize, look: look, isReferenced: resource.storage != .library,
        files: files
      ).response(call.request)
    }

    /// The media types that a browser may show; everything else is a download that it does not guess about.
    private static func type(of resource: AssetResource) -> String {
      shown[resource.uniformTypeIdentifier] ?? "application/octet-stream"
    }

    /// The media type of a uniform type that a browser may show.
    static func mediaType(of type: String) -> String? { shown[type] }

    private static let shown = [
      "public.jpeg": "image/jpeg", "public.png": "image/png", "com.compuserve.gif": "image/gif",
      "org.webmproject.webp": "image/webp", "public.heic": "image/heic", "public.heif": "image/heif",
      "public.avif": "image/avif", "public.tiff": "image/tiff", "public.mpeg-4": "video/mp4",
      "com.apple.quicktime-movie": "video/quicktime", "com.apple.m4v-video": "video/x-m4v", "public.mp3": "audio/mpeg",
    ]
  }

  extension OpenFiles {
    /// Decides a request, see ``OpenFiles/answer(_:_:in:deciding:)``.
    func answer(_ call: Call, deciding decide: () throws -> HTTPResponse?) throws -> HTTPResponse? {
      try answer(call.request, call.shown, in: try call.library(), deciding: decide)
    }
  }
#endif
