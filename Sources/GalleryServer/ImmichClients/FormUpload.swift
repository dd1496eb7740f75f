#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import MediaImport
  import PhotoLedger
  import Synchronization

  // A file that comes as a form.
  //
  //   fileCreatedAt, isFavorite, visibility, …    kept, at most 4 KiB each       ─┐
  //   assetData      the file                     streamed to server/uploads     ─┼─▶ Uploads.complete: one commit
  //   sidecarData    an XMP                       kept, at most 1 MiB            ─┘
  //
  // The fields may stand before or behind the file. Whether there is room for the file is asked before the form is
  // read, for as many bytes as the form announces, so a form without room is answered from its head. Nothing is done
  // with any of it before the closing boundary has come, so a form that is cut at any byte leaves nothing. From there
  // on it is a plain upload: its SHA-256 and SHA-1 are computed, the SHA-1 is held against `x-immich-checksum`, and the
  // file is taken as every other one.
  //
  // Fields that say what the file says better itself, or what only another program needs (the device, the duration, the
  // extension), are read and left.

  /// Takes a file that comes as a form.
  enum FormUpload {
    static let fieldLimit = 4 << 10
    static let sidecarLimit = 1 << 20

    static let route = Route("POST", "/api/assets") { server, call in
      try call.checkQuery([])
      guard let client = call.key?.client else { throw Problem.signInRequired }
      let sums = call.request.fields.all("x-immich-checksum")
      guard sums.count < 2 else { throw Problem.malformed("The field x-immich-checksum occurs twice; send it once.") }
      let sha1 = try sums.first.map { (text) throws(Problem) in
        try ListingRoutes.checksum(text.trimmingCharacters(in: .whitespaces), "x-immich-checksum")
      }
      return .receiveForm { request, form in
        do {
          let place = try server.uploads.enter(for: client)
          do {
            let upload = try await offload {
              try UploadRoutes.checkMayAdd(try call.library())
              var head = UploadHead()
              head.sha1 = sha1
              // The length of the form is more than that of the file, and all that is known.
              let length = request.contentLength.map { UInt64($0) }
              return try server.uploads.create(
                head, contentLength: nil, expecting: length, for: client, visitor: UploadRoutes.visitor(call))
            }
            return .take(FormUploadReceiver(call, form, upload, place), interim: nil)
          } catch {
            place.leave()
            throw error
          }
        } catch { return .refuse(Problem(error).responseToUploader) }
      }
    }.needing(.add)
  }

  /// Receives one form.
  final class FormUploadReceiver: HTTPReceiver {
    private struct State {
      /// The part whose content comes.
      var part = ""
      var fields: [String: [UInt8]] = [:]
      /// The upload; nil once it was dropped.
      var upload: Upload?
      /// The turn in which the file is written; nil before its part.
      var turn: Int?
    }

    private let call: Call
    private let form: MultipartForm
    private let place: UploadPlace
    /// Guarded by its lock, which is held while the disk works; one task at a time calls.
    private let state: Mutex<State>

    init(_ call: Call, _ form: MultipartForm, _ upload: Upload, _ place: UploadPlace) {
      (self.call, self.form, self.place) = (call, form, place)
      state = Mutex(State(upload: upload))
    }

    private var uploads: Uploads { call.server.uploads }

    // MARK: Pieces

    func take(_ bytes: [UInt8]) async -> HTTPResponse? {
      do {
        // What a withdrawn key still sends does not fill the disk.
        try call.checkIsStillGood()
        try await offload { [self] in
          // A client that is denied access keeps its key.
          try UploadRoutes.checkMayAdd(try call.library())
          for piece in try read(bytes) { try state.withLock { try take(piece, &$0) } }
        }
        return nil
      } catch {
        // The rest is dropped as it comes, and takes no room and no place meanwhile.
        place.leave()
        await forget()
        return call.refusal(of: error).responseToUploader
      }
    }

    private func read(_ bytes: [UInt8]) throws(Problem) -> [MultipartForm.Piece] {
      do throws(HTTPServerError) { return try form.read(bytes) } catch { throw .malformed(error.description) }
    }

    private func take(_ piece: MultipartForm.Piece, _ state: inout State) throws {
      switch piece {
      case .part(let part):
        state.part = part.name
        guard state.fields[part.name] == nil else {
          throw Problem.malformed("The form has '\(part.name.prefix(40))' twice; send it once.")
        }
        state.fields[part.name] = []
        if part.name == "assetData", let upload = state.upload { state.turn = try begin(upload, part) }
      case .bytes(let bytes):
        if state.part == "assetData", let upload = state.upload, let turn = state.turn {
          return try uploads.write(bytes, of: upload, turn: turn)
        }
        let limit = state.part == "sidecarData" ? FormUpload.sidecarLimit : FormUpload.fieldLimit
        guard (state.fields[state.part]?.count ?? 0) + bytes.count <= limit else {
          throw Problem(413, "limit-exceeded", "'\(state.part.prefix(40))' of the form has more than \(limit) bytes.")
        }
        state.fields[state.part]?.append(contentsOf: bytes)
      }
    }

    private func begin(_ upload: Upload, _ part: MultipartForm.Part) throws -> Int {
      guard let filename = part.filename else {
        throw Problem.malformed("'assetData' of the form must be a file, with a file name.")
      }
      try Self.checkMarks(filename, "The file name of 'assetData'")
      uploads.name(upload, try UploadHead.name(filename))
      return try upload.begin(at: 0, UploadHead(), contentLength: nil)
    }

    /// Rejects a text that takes long to compare.
    private static func checkMarks(_ text: String, _ what: String) throws(Problem) {
      guard text.isBoundedInMarks else {
        throw .malformed("\(what) has more than \(String.markLimit) combining marks on a character.")
      }
    }

    // MARK: The end

    func finish() async -> HTTPResponse {
      defer { place.leave() }
      do {
        let (upload, beside) = try await offload { [self] in try sealed() }
        return await uploads.complete(
          upload, beside: beside, changesOthers: call.mayChange, respond: Self.respond
        ) { [call] in
          // The key may have been withdrawn while the bytes came.
          try call.checkIsStillGood()
        }
      } catch {
        await forget()
        return call.refusal(of: error).responseToUploader
      }
    }

    private func sealed() throws -> (Upload, Uploads.Beside) {
      do throws(HTTPServerError) { try form.end() } catch { throw Problem.malformed(error.description) }
      return try state.withLock { state in
        guard let upload = state.upload, let turn = state.turn else {
          throw Problem.malformed("The form has no 'assetData', the file to add.")
        }
        let beside = try Self.beside(state.fields)
        _ = try upload.seal(turn: turn, isLast: true)
        return (upload, beside)
      }
    }

    private static func beside(_ fields: [String: [UInt8]]) throws(Problem) -> Uploads.Beside {
      func text(_ name: String) throws(Problem) -> String? {
        guard let bytes = fields[name], !bytes.isEmpty else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw .malformed("'\(name)' of the form is not UTF-8.")
        }
        try checkMarks(text, "'\(name)' of the form")
        return text
      }
      var beside = Uploads.Beside()
      beside.sidecar = fields["sidecarData"].flatMap { $0.isEmpty ? nil : $0 }
      func flag(_ name: String) throws(Problem) -> Bool {
        switch try text(name) {
        case "true": return true
        case nil, "false": return false
        case let other?: throw .malformed("'\(name)' of the form is '\(other.prefix(20))'; send true or false.")
        }
      }
      beside.statement.isFavorite = try flag("isFavorite")
      // Older uploaders send only this; where both come the visibility counts, as in a correction.
      beside.statement.isHidden = try flag("isArchived")
      if let visibility = try text("visibility") { beside.statement.isHidden = try Correction.isHidden(visibility) }
      // An uploader that knows no date sends the file's time of modification, which is not a time of capture.
      if let created = try text("fileCreatedAt"), created != (try text("fileModifiedAt")),
        let date = try Correction.date(created, "'fileCreatedAt'")
      {
        beside.statement.secondsSince1970 = Int64(date.date.timeIntervalSince1970.rounded(.down))
      }
      return beside
    }

    private static func respond(_ outcome: Result<UploadResult, Problem>) -> HTTPResponse {
      switch outcome {
      case .failure(let problem): return problem.responseToUploader
      case .success(.refused(let status, let type, let detail)):
        return Problem(status, type, detail).responseToUploader
      case .success(.taken(let asset, _, _, _, let outcome)):
        let isDuplicate = outcome == "duplicate"
        return .json(
          [
            "id": .text(String(asset.prefix { $0 != "/" })), "status": isDuplicate ? "duplicate" : "created",
          ], status: isDuplicate ? 200 : 201, [("Cache-Control", "no-store")])
      }
    }

    func abandon() async {
      place.leave()
      await forget()
    }

    /// Drops what came.
    private func forget() async {
      try? await offload { [self] in
        let upload = state.withLock { state in
          defer { state.upload = nil }
          return state.upload
        }
        if let upload { uploads.forget(upload) }
      }
    }
  }
#endif
