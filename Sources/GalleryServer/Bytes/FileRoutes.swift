#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger

  /// The bytes of originals, sent by the kernel from the library's files.
  ///
  /// The URL holds the content's hash, so what it names never changes and may be kept for ever by the client's own
  /// cache.
  /// The hash is the strong tag, and what the event recorded: an altered file with the recorded size would be sent as
  /// it
  /// is, which is why `verify --content` exists. A file of another size is refused.
  enum FileRoutes {
    static let all: [Route] = [
      .reading("GET", "/v1/assets/{asset}/resources/{sha256}") { call in
        try call.checkQuery(["download"])
        let library = try call.library()
        try Fetches.checkMayRead(library)
        guard let asset = try library.asset(call.parameters[0]),
          let resource = try library.resources(of: asset).first(where: { $0.sha256Hex == call.parameters[1] })
        else { throw Problem.notFound }
        return try response(call, resource, at: try library.url(of: resource, in: asset))
      }.needing(.originals)
    ]

    private static func response(_ call: Call, _ resource: AssetResource, at url: URL) throws -> HTTPResponse {
      let size = resource.dataSize
      let tag = "\"\(resource.sha256Hex)\""
      var fields =
        Headers.common + [
          ("ETag", tag), ("Cache-Control", "private, max-age=31536000, immutable"), ("Accept-Ranges", "bytes"),
          ("Vary", "Authorization, Cookie"), ("Content-Type", type(of: resource)),
          ("Content-Disposition", disposition(of: resource, isDownload: try call.query("download") != nil)),
        ]
      if call.request.fields.all("if-none-match").contains(where: { $0 == "*" || $0.contains(tag) }) {
        return HTTPResponse(304, fields)
      }
      // A part of another content is of no use to the client: it is sent the whole (RFC 9110, 13.1.5).
      let condition = call.request.fields["if-range"]
      let range = HTTPRange(condition == nil || condition == tag ? call.request.fields["range"] : nil, count: size)
      let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else {
        throw Problem(404, "missing-resource", "The file of this resource is missing; its owner has to restore it.")
      }
      let file = HTTPFile(owning: descriptor)
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, UInt64(status.st_size) == size else {
        throw Problem(
          500, "invalid-resource", "The file of this resource has another size; its owner has to restore it.")
      }
      switch range {
      case .whole: return HTTPResponse(200, fields, .file(file, 0..<size))
      case .part(let part):
        fields.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"))
        return HTTPResponse(206, fields, .file(file, part))
      case .unsatisfiable:
        return HTTPResponse(
          416, Headers.common + [("Content-Range", "bytes */\(size)"), ("Cache-Control", "no-store")])
      }
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

    /// The name under which the bytes are saved (RFC 6266, RFC 8187): no line break and no quotation mark survives.
    private static func disposition(of resource: AssetResource, isDownload: Bool) -> String {
      let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
      let name = resource.originalFilename
      let plain = String(name.unicodeScalars.map { unreserved.contains($0) ? Character($0) : "_" })
      let full = name.addingPercentEncoding(withAllowedCharacters: unreserved) ?? plain
      let isShown = !isDownload && shown[resource.uniformTypeIdentifier] != nil
      return (isShown ? "inline" : "attachment") + "; filename=\"\(plain)\"; filename*=UTF-8''\(full)"
    }
  }
#endif
