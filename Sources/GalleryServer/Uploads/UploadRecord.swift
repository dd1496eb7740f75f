#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// What is kept of an upload beside its bytes, as a small JSON file.
  struct UploadRecord: Sendable, Equatable {
    let id: String
    /// The client of the key that made it; only that client finds it.
    let client: String
    /// The name of the key that made it, if that is a visitor's of a share link; nil for any other.
    var visitor: String?
    var name: String?
    /// The name of the file with the bytes.
    var file: String
    /// The name of a sidecar's file beside it.
    var sidecar: String { "\(id).xmp" }
    var length: UInt64?
    var sha256: [UInt8]?
    /// The SHA-1 that the whole file has to have.
    var sha1: [UInt8]?
    /// How many bytes are durable.
    var offset: UInt64 = 0
    /// Whether these are all.
    var isWhole = false
    /// The time of the last request.
    var touched: Date
    /// What became of it; nil while it is not finished.
    var result: UploadResult?

    var json: JSON {
      var members = [
        JSON.Member("version", 1), JSON.Member("id", .text(id)), JSON.Member("client", .text(client)),
        JSON.Member("file", .text(file)), JSON.Member("offset", .integer(Int64(offset))),
        JSON.Member("isWhole", .bool(isWhole)), JSON.Member("touched", .text(DateText.instant(touched))),
      ]
      if let visitor { members.append(JSON.Member("visitor", .text(visitor))) }
      if let name { members.append(JSON.Member("name", .text(name))) }
      if let length { members.append(JSON.Member("length", .integer(Int64(length)))) }
      if let sha256 { members.append(JSON.Member("sha256", .text(sha256.hexadecimal))) }
      if let sha1 { members.append(JSON.Member("sha1", .text(sha1.hexadecimal))) }
      if let result { members.append(JSON.Member("result", result.json)) }
      return .object(members)
    }

    init(id: String, client: String, name: String?, file: String, touched: Date) {
      (self.id, self.client, self.name, self.file, self.touched) = (id, client, name, file, touched)
    }

    /// Reads a record; nil for a file that holds none.
    init?(_ bytes: [UInt8]) {
      guard let json = try? JSONReader.read(bytes), json["version"] == 1, let id = json["id"]?.textValue,
        let client = json["client"]?.textValue, let file = json["file"]?.textValue,
        let offset = json["offset"]?.positionValue, let isWhole = json["isWhole"]?.boolValue,
        let touched = json["touched"]?.textValue.flatMap({ WrittenDate($0)?.date })
      else { return nil }
      self.init(id: id, client: client, name: json["name"]?.textValue, file: file, touched: touched)
      (self.offset, self.isWhole, visitor) = (UInt64(offset), isWhole, json["visitor"]?.textValue)
      length = json["length"]?.positionValue.map { UInt64($0) }
      sha256 = json["sha256"]?.textValue.flatMap { [UInt8](hexadecimal: $0, count: 32) }
      sha1 = json["sha1"]?.textValue.flatMap { [UInt8](hexadecimal: $0, count: 20) }
      result = json["result"].flatMap { UploadResult($0) }
    }
  }

  /// What became of a finished upload: the same answer each time.
  enum UploadResult: Sendable, Equatable {
    /// The library has the file.
    case taken(asset: String, commit: String, sha256: [UInt8], size: UInt64, outcome: String)
    /// The file was rejected, and nothing of it is in the library.
    case refused(status: Int, type: String, detail: String)

    var json: JSON {
      switch self {
      case .taken(let asset, let commit, let sha256, let size, let outcome):
        [
          "asset": .text(asset), "commit": .text(commit), "sha256": .text(sha256.hexadecimal),
          "size": .integer(Int64(size)), "outcome": .text(outcome),
        ]
      case .refused(let status, let type, let detail):
        ["status": .integer(Int64(status)), "type": .text(type), "detail": .text(detail)]
      }
    }

    init?(_ json: JSON) {
      if let asset = json["asset"]?.textValue, let commit = json["commit"]?.textValue,
        let sha256 = json["sha256"]?.textValue.flatMap({ [UInt8](hexadecimal: $0, count: 32) }),
        let size = json["size"]?.positionValue, let outcome = json["outcome"]?.textValue
      {
        self = .taken(asset: asset, commit: commit, sha256: sha256, size: UInt64(size), outcome: outcome)
      } else if let status = json["status"]?.positionValue, let type = json["type"]?.textValue,
        let detail = json["detail"]?.textValue
      {
        self = .refused(status: status, type: type, detail: detail)
      } else {
        return nil
      }
    }

    /// The answer to the request that finished the upload, and to those that ask again.
    /// - Parameter place: the upload's own path; nil for a plain upload, which does not have one.
    func response(_ place: String?) -> HTTPResponse {
      var fields: [(name: String, value: String)] = [("Cache-Control", "no-store")]
      if place != nil { fields += [("Upload-Complete", "?1"), ("Upload-Incomplete", "?0")] }
      switch self {
      case .refused(let status, let type, let detail):
        var problem = Problem(status, type, detail)
        problem.fields = fields.filter { $0.name != "Cache-Control" }
        return problem.response
      case .taken(let asset, let commit, let sha256, let size, let outcome):
        if place != nil { fields.append(("Upload-Offset", "\(size)")) }
        fields += [
          ("Location", place ?? "/v1/assets/\(asset.prefix { $0 != "/" })"),
          ("PhotoLedger-Asset", asset), ("PhotoLedger-Commit", commit),
          ("PhotoLedger-Sha256", sha256.hexadecimal),
        ]
        return .json(json, status: outcome == "duplicate" ? 200 : 201, fields)
      }
    }
  }
#endif
