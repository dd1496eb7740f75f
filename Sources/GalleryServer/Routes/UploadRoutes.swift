#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// Uploads, in one request or in many (draft-ietf-httpbis-resumable-upload).
  enum UploadRoutes {
    static let all: [Route] = [
      // Apple's background uploads ask first; what they hear is no secret.
      Route("OPTIONS", "/v1/uploads", .nothing) { server, call in
        let version = try UploadHead(call.request).version
        let quota = server.uploads.quota
        let limit = version ?? 3 > 3 ? quota.field : quota.bareField
        return .answer(
          HTTPResponse(
            200,
            Headers.common + [
              ("Upload-Limit", limit), ("Allow", "OPTIONS, POST, PUT"), ("Accept-Patch", "application/partial-upload"),
              ("Cache-Control", "no-store"),
            ]))
      },
      Route("POST", "/v1/uploads", .key, create), Route("PUT", "/v1/uploads", .key, create),
      Route("GET", "/v1/uploads/{upload}", .key) { _, call in
        .respond { _ in
          do { return try await state(call) } catch { return Problem(error).response }
        }
      },
      Route("PATCH", "/v1/uploads/{upload}", .key, append),
      Route("DELETE", "/v1/uploads/{upload}", .key) { _, call in
        .respond { _ in
          do { return try await drop(call) } catch { return Problem(error).response }
        }
      },
    ]

    private static func client(_ call: Call) throws(Problem) -> String {
      guard let key = call.key else { throw .signInRequired }
      return key.client
    }

    /// The name of a key that a share link's visitor has.
    static func visitor(_ call: Call) -> String? { call.key.flatMap { $0.share == nil ? nil : $0.name } }

    /// The length of a body, if it is announced: that of a chunked body is not.
    private static func contentLength(_ request: HTTPRequest) -> UInt64? {
      guard request.fields["transfer-encoding"] == nil else { return nil }
      return request.fields["content-length"].map { UInt64($0) ?? .max } ?? 0
    }

    // MARK: Bodies

    private static func create(_ server: GalleryServer, _ call: Call) throws -> HTTPPlan {
      try call.checkQuery(["name"])
      let head = try UploadHead(call.request)
      guard head.offset ?? 0 == 0 else {
        throw Problem.malformed("Upload-Offset is \(head.offset ?? 0), but a new upload starts at 0.")
      }
      let client = try client(call)
      return .receive { request in
        do {
          let place = try server.uploads.enter(for: client)
          do {
            let length = contentLength(request)
            let (upload, turn) = try await offload {
              try checkMayAdd(try call.library())
              return try server.uploads.start(head, contentLength: length, for: client, visitor: visitor(call))
            }
            let receiver = UploadReceiver(call, upload, turn, place, isLast: head.isLast, isNew: true)
            return .take(receiver, interim: upload.path.map { interim($0, head, server.uploads.quota) })
          } catch is Upload.Gone {
            place.leave()
            // All uploads of the client were dropped, as when the client is withdrawn.
            try call.checkIsStillGood()
            throw Problem(503, "library-offline", "The upload was dropped while it began; send it again.")
          } catch {
            place.leave()
            throw error
          }
        } catch { return .refuse(Problem(error).response) }
      }
    }

    private static func append(_ server: GalleryServer, _ call: Call) throws -> HTTPPlan {
      try call.checkQuery([])
      let head = try UploadHead(call.request)
      guard let offset = head.offset, let isLast = head.isLast else {
        throw Problem.malformed("A part of an upload needs Upload-Offset and Upload-Complete.")
      }
      guard call.request.contentType == "application/partial-upload" || head.version ?? 4 <= 3 else {
        throw Problem(
          415, "malformed-request", "A part of an upload is sent with Content-Type: application/partial-upload.")
      }
      let client = try client(call)
      return .receive { request in
        do {
          let receiver = try await whileUnfinished(call, client) { upload -> UploadReceiver in
            let place = try server.uploads.enter(for: client)
            do {
              let length = contentLength(request)
              let turn = try await offload {
                try checkMayAdd(try call.library())
                return try server.uploads.resume(upload, at: offset, head, contentLength: length)
              }
              return UploadReceiver(call, upload, turn, place, isLast: isLast, isNew: false)
            } catch {
              place.leave()
              throw error
            }
          }
          guard let receiver else { return .refuse(try await repeated(call, client, offset, isLast: isLast)) }
          return .take(receiver, interim: nil)
        } catch { return .refuse(Problem(error).response) }
      }
    }

    /// The unfinished upload of the path, after a completion that is under way has ended; nil once it is finished. That
    /// there was a request counts, whatever becomes of it.
    private static func current(_ call: Call, _ client: String) async throws -> Upload? {
      let id = call.parameters[0]
      let find = { @Sendable () throws -> Upload? in try call.server.uploads.unfinished(id, of: client) }
      let touched = try await offload {
        let upload = try find()
        upload?.touch()
        return upload
      }
      guard let upload = touched else { return nil }
      guard let finishing = upload.finishing else { return upload }
      _ = await finishing.value
      try call.checkIsStillGood()
      return try await offload { try find() }
    }

    /// Does work with the unfinished upload of the path; nil once it is finished, also if that happens meanwhile: the
    /// request that is repeated may be under way.
    static func whileUnfinished<Value: Sendable>(
      _ call: Call, _ client: String, _ work: @Sendable (Upload) async throws -> Value
    ) async throws -> Value? {
      guard let upload = try await current(call, client) else { return nil }
      do { return try await work(upload) } catch is Upload.Gone {
        guard let upload = try await current(call, client) else { return nil }
        return try await work(upload)
      }
    }

    /// The answer to a part of an upload that is finished: the same as before for what finished it, else a problem.
    private static func repeated(
      _ call: Call, _ client: String, _ offset: UInt64, isLast: Bool
    ) async throws -> HTTPResponse {
      let length = contentLength(call.request)
      return try await offload {
        let result = try call.server.uploads.result(call.parameters[0], of: client)
        if case .taken(_, _, _, let size, _) = result {
          let (end, isTooLong) = offset.addingReportingOverflow(length ?? 0)
          let isTheEnd = isLast && !isTooLong && (length == nil ? offset <= size : end == size)
          guard isTheEnd else { throw Upload.finished(size) }
        }
        return result.response("/v1/uploads/\(call.parameters[0])")
      }
    }

    static func checkMayAdd(_ library: PhotoLibrary) throws {
      guard try library.authorizationStatus(for: .addOnly) != .authorized else { return }
      guard try library.authorizationStatus(for: .readWrite).isGranted else {
        throw Problem(403, "access-denied", "The client may not add to the library; the owner can grant it.")
      }
    }

    // MARK: States

    private static func state(_ call: Call) async throws -> HTTPResponse {
      try call.checkQuery([])
      let client = try client(call)
      let place = "/v1/uploads/\(call.parameters[0])"
      let unfinished = try await whileUnfinished(call, client) { upload in
        try await offload { try upload.interrupt() }
      }
      guard let record = unfinished else {
        return try await offload { try call.server.uploads.result(call.parameters[0], of: client).response(place) }
      }
      var fields = progress(record, call.server.uploads.quota) + [("Cache-Control", "no-store")]
      if let length = record.length { fields.append(("Upload-Length", "\(length)")) }
      if call.request.method == "HEAD" { return HTTPResponse(204, Headers.common + fields) }
      return .json(
        [
          "offset": .integer(Int64(record.offset)), "length": record.length.map { .integer(Int64($0)) } ?? .null,
          "isComplete": false,
        ], fields)
    }

    private static func drop(_ call: Call) async throws -> HTTPResponse {
      try call.checkQuery([])
      let client = try client(call)
      if let upload = try await current(call, client) {
        try await offload { call.server.uploads.forget(upload) }
      } else {
        try await offload {
          _ = try call.server.uploads.result(call.parameters[0], of: client)
          try call.server.uploads.forgetFinished(call.parameters[0], of: client)
        }
      }
      return HTTPResponse(204, Headers.common + [("Cache-Control", "no-store")])
    }

    static func progress(_ record: UploadRecord, _ quota: UploadQuota) -> [(name: String, value: String)] {
      [
        ("Upload-Offset", "\(record.offset)"), ("Upload-Complete", "?0"), ("Upload-Incomplete", "?1"),
        ("Upload-Limit", quota.field),
      ]
    }

    private static func interim(
      _ path: String, _ head: UploadHead, _ quota: UploadQuota
    ) -> [(name: String, value: String)] {
      [
        ("Location", path), ("Upload-Offset", "0"), ("Upload-Limit", quota.field),
        ("Upload-Draft-Interop-Version", "\(head.version ?? 3)"),
      ]
    }
  }

  /// Receives one body of an upload.
  final class UploadReceiver: HTTPReceiver {
    private let call: Call
    private let upload: Upload
    private let turn: Int
    private let place: UploadPlace
    /// nil for a plain request.
    private let isLast: Bool?
    private let isNew: Bool

    init(_ call: Call, _ upload: Upload, _ turn: Int, _ place: UploadPlace, isLast: Bool?, isNew: Bool) {
      (self.call, self.upload, self.turn, self.place) = (call, upload, turn, place)
      (self.isLast, self.isNew) = (isLast, isNew)
    }

    private var uploads: Uploads { call.server.uploads }

    func take(_ bytes: [UInt8]) async -> HTTPResponse? {
      do {
        // What a withdrawn key still sends does not fill the disk.
        try call.checkIsStillGood()
        try await offload { [call, upload, turn, uploads] in
          // A client that is denied access keeps its key.
          try UploadRoutes.checkMayAdd(try call.library())
          try uploads.write(bytes, of: upload, turn: turn)
        }
        return nil
      } catch {
        // The rest is dropped as it comes, and takes no room and no place meanwhile.
        place.leave()
        if !upload.isResumable { try? await offload { [upload, uploads] in uploads.forget(upload) } }
        return call.refusal(of: error).response
      }
    }

    func finish() async -> HTTPResponse {
      defer { place.leave() }
      do {
        let record = try await offload { [upload, turn, isLast] in
          try upload.seal(turn: turn, isLast: isLast ?? true)
        }
        // The key may have been withdrawn while the bytes came.
        guard isLast == false else {
          return await uploads.complete(upload, changesOthers: call.mayChange) { [call] in try call.checkIsStillGood() }
        }
        try call.checkIsStillGood()
        let place: [(name: String, value: String)] = isNew ? [("Location", upload.path ?? "")] : []
        return HTTPResponse(
          isNew ? 201 : 204,
          Headers.common + place + UploadRoutes.progress(record, uploads.quota) + [("Cache-Control", "no-store")])
      } catch {
        if !upload.isResumable { try? await offload { [upload, uploads] in uploads.forget(upload) } }
        return call.refusal(of: error).response
      }
    }

    func abandon() async {
      place.leave()
      // What cannot be made durable now is not promised, either: the next request finds the last durable offset.
      try? await offload { [upload, turn, uploads] in
        if upload.isResumable { try upload.pause(turn: turn) } else { uploads.forget(upload) }
      }
    }
  }
#endif
