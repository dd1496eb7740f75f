#if Gallery
  import Foundation
  import HTTPServing
  import PhotoLedger

  /// The shapes of a fetch's assets, for the layout of a grid.
  ///
  /// A grid that knows the shape of each asset has an exact height and an exact place for each, without the rest of the
  /// columns: two bytes an asset, the width in 256ths of the height, little-endian, 0 where the size is not known.
  ///
  /// Rejected: heights that are estimated until windows arrive. Scrolling then moves what a person looks at.
  enum ShapeRoutes {
    /// How many shapes one answer has at most.
    static let limit = 1 << 16

    static let all: [Route] = [
      .reading("GET", "/v1/fetches/{fetch}/shapes") { call in
        try call.checkQuery(["token", "at", "start", "count"])
        let fetch = try FetchRequest(name: call.parameters[0])
        let (start, count) = (try call.count("start") ?? 0, try call.count("count") ?? limit)
        guard count <= limit else {
          throw Problem.malformed("'count' is \(count); an answer has at most \(limit) shapes.")
        }
        let library = try call.library(of: fetch)
        try Fetches.checkMayRead(library)
        let result = try call.server.fetches.result(fetch, at: try call.token(in: library), of: library)
        let part = "\(start)-\(count)-s"
        let known = try result.tag(part)
        if let known, let unchanged = call.unchanged(known) { return unchanged }
        let first = min(start, result.count)
        let bytes = try result.objects(at: first..<(first + min(count, result.count - first))).flatMap { asset in
          let shape = shape(width: asset.pixelWidth, height: asset.pixelHeight)
          return [UInt8(truncatingIfNeeded: shape), UInt8(shape >> 8)]
        }
        let tag = known ?? bytes.withUnsafeBytes { result.tag(part, of: $0) }
        let fields = FetchRoutes.fields(tag: tag) + [("Content-Type", "application/octet-stream")]
        return call.unchanged(tag) ?? HTTPResponse(200, Headers.common + fields, .bytes(bytes))
      }
    ]

    /// The width in 256ths of the height, at least 1; 0 for what has no size.
    static func shape(width: Int, height: Int) -> UInt16 {
      guard width > 0, height > 0 else { return 0 }
      return UInt16(min(max((Double(width) / Double(height) * 256).rounded(), 1), Double(UInt16.max)))
    }
  }
#endif
