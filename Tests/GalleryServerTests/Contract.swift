#if Gallery
  import Foundation
  @testable import GalleryServer
  import JSONReading
  import Testing

  // The API's description, held against every answer that a test gets.
  //
  //   TestGallery.ask ──▶ answer ──▶ Contract: path? ─▶ method? ─▶ status? ─▶ media type? ─▶ schema of the body
  //   EventStream ──▶ event ───────▶ Contract: path? ─▶ the stream's item schema
  //
  // Fields of an answer that are described as required must be there.
  //
  // What is a sequence of items, a stream of events or a record a line, has an item schema (`x-itemSchema`), which each
  // event and each line must fit. A JSON body that the server accepts must fit the description of the request, so no
  // test sends what a generated client could not.
  //
  // The other way round, `PHOTOLEDGER_CONTRACT=FILE` has each documented answer and event that occurs appended to a
  // file; when all tests have run, `.ci/contract FILE` names those of the description that none of them got.
  //
  // So each test of a route is a contract test too, and a route that answers what is not described fails wherever it is
  // asked. A schema with a keyword that is not implemented here is an error: a check that skips what it does not know
  // would pass by itself.
  //
  // Rejected: a library of JSON Schema (there is none within the project's dependencies), and one list of recorded
  // answers (it would not notice what a new test provokes).

  /// The API's description as a set of rules for answers.
  struct Contract: Sendable {
    /// What an answer breaks.
    struct Breach: Error, CustomStringConvertible {
      let description: String
    }

    /// A documented answer: a method, a path with placeholders, and a status; `default` stands for the errors that any
    /// operation may answer.
    struct Documented: Hashable {
      let method: String
      let path: String
      let status: String
    }

    let document: JSON
    /// The errors that `default` stands for; nil: all.
    let commonStatuses: Set<Int>?
    /// The errors that `default` stands for as well, and that come of the machine, of damage, or of how the server is
    /// set up. A test gets none of them from an operation that does not list it: a defect would look the same.
    static let operatorsStatuses: Set<Int> = [403, 500, 507]

    init(_ bytes: [UInt8], commonStatuses: Set<Int>? = nil) throws {
      (document, self.commonStatuses) = (try JSONReader.read(bytes), commonStatuses)
    }

    static let served = Result {
      try Contract(Array(PackageResources.openapi_json), commonStatuses: [400, 413, 429, 503])
    }
    /// The description of the routes for uploaders made for Immich, which is not part of the API's version 1.
    static let servedToImmichClients = Result { try Contract(Array(PackageResources.immich_clients_json)) }

    /// The description that a target belongs to.
    static func served(for target: String) -> Result<Contract, any Error> {
      target.hasPrefix("/api/") ? servedToImmichClients : served
    }

    private var paths: [JSON.Member] { document["paths"]?.objectValue ?? [] }
    private static let methods: Set<String> = ["get", "put", "post", "delete", "patch", "head", "options"]

    /// The methods that a route answers: the router takes HEAD for GET.
    static func methods(of route: Route) -> [String] { route.method == "GET" ? ["GET", "HEAD"] : [route.method] }

    /// All answers that the description has.
    var documented: Set<Documented> {
      var all: Set<Documented> = []
      for path in paths {
        for operation in path.value.objectValue ?? [] where Self.methods.contains(operation.key) {
          for response in operation.value["responses"]?.objectValue ?? [] {
            all.insert(Documented(method: operation.key.uppercased(), path: path.key, status: response.key))
          }
        }
      }
      return all
    }

    /// The documented path that a target belongs to; literal segments come before placeholders.
    func path(of target: String) -> String? {
      let segments = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true)
      let fitting = paths.map(\.key).filter { path in
        let pattern = path.split(separator: "/")
        return pattern.count == segments.count && zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
      }
      return fitting.min { $0.count { $0 == "{" } < $1.count { $0 == "{" } }
    }

    /// Checks an answer against the description.
    /// - Returns: the documented answer that it is; nil for a path or method that the API does not have.
    /// - Throws: ``Breach`` that says what differs.
    @discardableResult
    func check(_ method: String, _ target: String, _ answer: Answer) throws -> Documented? {
      guard let path = path(of: target) else {
        guard answer.status >= 400 else {
          throw Breach(description: "\(target) is not documented, and answers \(answer.status).")
        }
        return nil
      }
      guard let operation = document["paths"]?[path]?[method.lowercased()] else {
        guard answer.status == 405 else {
          throw Breach(description: "\(method) \(path) is not documented, and answers \(answer.status).")
        }
        return nil
      }
      let status = "\(answer.status)"
      let isCommon = answer.status >= 400 && commonStatuses?.contains(answer.status) ?? true
      let key = operation["responses"]?[status] == nil && isCommon ? "default" : status
      guard let found = operation["responses"]?[key] else {
        throw Breach(
          description: "\(method) \(path) answers \(status), which is not documented: \(answer.body.prefix(300))")
      }
      do {
        try check(answer, by: try resolved(found), isHead: method == "HEAD")
      } catch let breach as Breach {
        throw Breach(description: "\(method) \(path) \(status): \(breach)")
      }
      let documented = Documented(method: method, path: path, status: key)
      Self.record(documented)
      return documented
    }

    private static let recorder: FileHandle? = ProcessInfo.processInfo.environment["PHOTOLEDGER_CONTRACT"].flatMap {
      let descriptor = open($0, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      return descriptor >= 0 ? FileHandle(fileDescriptor: descriptor) : nil
    }

    /// Appends an answer to the file of those that occur; one write is one line, also beside those of other tests.
    private static func record(_ documented: Documented) {
      let line = "\(documented.method) \(documented.path) \(documented.status)\n"
      do { try recorder?.write(contentsOf: Data(line.utf8)) } catch { Issue.record("\(error)") }
    }

    private func check(_ answer: Answer, by response: JSON, isHead: Bool) throws {
      for header in response["headers"]?.objectValue ?? [] {
        let isRequired = try resolved(header.value)["required"] == .bool(true)
        guard !isRequired || answer.fields[header.key.lowercased()] != nil else {
          throw Breach(description: "the field \(header.key) is missing")
        }
      }
      guard !isHead || answer.body.isEmpty else {
        throw Breach(description: "HEAD is answered with a content: \(answer.body.prefix(200))")
      }
      guard let content = response["content"]?.objectValue, !content.isEmpty else {
        guard answer.body.isEmpty else {
          throw Breach(description: "the body is not documented: \(answer.body.prefix(200))")
        }
        return
      }
      guard !isHead else { return }
      if answer.body.isEmpty, response["x-may-be-empty"] == .bool(true) { return }
      let sent = (answer.fields["content-type"] ?? "none").prefix { $0 != ";" }
      guard let body = content.first(where: { $0.key == sent || $0.key == "*/*" || Self.fits(String(sent), $0.key) })
      else { throw Breach(description: "the content type \(sent) is not documented") }
      switch sent {
      case "application/json", "application/problem+json":
        guard let schema = body.value["schema"] else { return }
        try Schema(contract: self).check(try Self.json(answer.body, "the body"), schema, at: "body")
      case "application/x-ndjson":
        guard answer.body.isEmpty || answer.body.hasSuffix("\n") else {
          throw Breach(description: "the last line has no end")
        }
        let lines = answer.body.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for (index, line) in lines.enumerated() {
          try checkItem(try Self.json(line, "line \(index)"), of: body.value, at: "line \(index)")
        }
      default: return
      }
    }

    private static func json(_ text: some StringProtocol, _ what: String) throws(Breach) -> JSON {
      do throws(JSONError) { return try JSONReader.read(Array(text.utf8)) } catch {
        throw Breach(description: "\(what) is not JSON: \(error)")
      }
    }

    // MARK: Requests

    /// Checks a JSON body that the server has accepted against the description of the request.
    /// - Throws: ``Breach`` that says what differs.
    func check(accepted body: [UInt8], _ method: String, _ target: String) throws {
      guard let path = path(of: target),
        let content = document["paths"]?[path]?[method.lowercased()]?["requestBody"]?["content"],
        let schema = content["application/json"]?["schema"]
      else { return }
      do {
        try Schema(contract: self).check(try JSONReader.read(body), schema, at: "body")
      } catch let breach as Breach {
        throw Breach(description: "\(method) \(path) accepts what is not described: \(breach)")
      }
    }

    /// What a value breaks of a schema of the description; nil if it fits.
    func breach(of value: JSON, in schema: String) throws -> String? {
      let reference: JSON = ["$ref": .text("#/components/schemas/\(schema)")]
      do { try Schema(contract: self).check(value, reference, at: "body") } catch let breach as Breach {
        return breach.description
      }
      return nil
    }

    // MARK: Items of streams

    /// The media types whose bodies are sequences of items.
    static let sequences = ["text/event-stream", "application/x-ndjson"]

    private func checkItem(_ item: JSON, of content: JSON, at place: String) throws {
      guard let schema = content["x-itemSchema"] else { throw Breach(description: "its items have no schema") }
      try Schema(contract: self).check(item, schema, at: place)
    }

    /// Checks an event of a stream against the description.
    /// - Throws: ``Breach`` that says what differs.
    func check(_ method: String, _ target: String, event: JSON) throws {
      guard let path = path(of: target),
        let response = document["paths"]?[path]?[method.lowercased()]?["responses"]?["200"],
        let content = try resolved(response)["content"]?["text/event-stream"]
      else { throw Breach(description: "\(method) \(target) is not documented as a stream of events") }
      do {
        try checkItem(event, of: content, at: "event")
      } catch let breach as Breach {
        throw Breach(description: "\(method) \(path): \(breach)")
      }
      Self.record(Documented(method: method, path: path, status: "200 \(event["event"]?.textValue ?? "")"))
    }

    /// The fields of an event, from its lines; nil for comments alone.
    static func event(_ text: String) -> JSON? {
      let fields = text.split(separator: "\n").filter { !$0.hasPrefix(":") }.map { line -> JSON.Member in
        let name = String(line.prefix { $0 != ":" })
        let value = line.dropFirst(name.count + 1)
        let text = String(value.hasPrefix(" ") ? value.dropFirst() : value)
        return JSON.Member(name, name == "retry" ? Int64(text).map { .integer($0) } ?? .text(text) : .text(text))
      }
      return fields.isEmpty ? nil : .object(fields)
    }

    private static func fits(_ sent: String, _ range: String) -> Bool {
      range.hasSuffix("/*") && sent.hasPrefix(range.dropLast())
    }

    /// Follows a reference within the document.
    func resolved(_ value: JSON) throws -> JSON {
      guard let reference = value["$ref"]?.textValue else { return value }
      var found: JSON? = document
      for part in reference.split(separator: "/").dropFirst() { found = found?[String(part)] }
      guard let found else { throw Breach(description: "\(reference) leads nowhere") }
      return try resolved(found)
    }
  }

  /// The part of JSON Schema (2020-12) that the description uses.
  private struct Schema {
    let contract: Contract

    private static let annotations: Set<String> = [
      "description", "title", "format", "default", "examples", "example", "$ref", "deprecated", "contentEncoding",
      "contentMediaType", "discriminator",
    ]

    /// What stands in a text, see `contentSchema`.
    private func content(of text: String, at place: String) throws -> JSON {
      do throws(JSONError) { return try JSONReader.read(Array(text.utf8)) } catch {
        throw breach(place, "the text is not JSON: \(error)")
      }
    }

    func check(_ value: JSON, _ schema: JSON, at place: String) throws {
      let schema = try contract.resolved(schema)
      if case .bool(let isAllowed) = schema {
        guard isAllowed else { throw breach(place, "nothing is allowed here") }
        return
      }
      for rule in schema.objectValue ?? [] where !Self.annotations.contains(rule.key) {
        try check(value, rule, of: schema, at: place)
      }
    }

    private func check(_ value: JSON, _ rule: JSON.Member, of schema: JSON, at place: String) throws {
      switch rule.key {
      case "type":
        let types = rule.value.textsValue ?? [rule.value.textValue ?? ""]
        guard types.contains(where: { Self.has(value, type: $0) }) else {
          throw breach(place, "\(value.kind) stands where \(types.joined(separator: " or ")) is documented")
        }
      case "enum":
        guard rule.value.listValue?.contains(value) == true else { throw breach(place, "\(value) is not in the list") }
      case "const": guard rule.value == value else { throw breach(place, "\(value) is not \(rule.value)") }
      case "properties", "required", "additionalProperties", "minProperties", "maxProperties":
        try checkObject(value, rule, of: schema, at: place)
      case "items", "prefixItems", "minItems", "maxItems", "uniqueItems":
        try checkList(value, rule, of: schema, at: place)
      case "minimum":
        guard let number = value.numberValue else { return }
        guard let least = rule.value.numberValue, number >= least else { throw breach(place, "\(value) is too small") }
      case "maximum":
        guard let number = value.numberValue else { return }
        guard let most = rule.value.numberValue, number <= most else { throw breach(place, "\(value) is too large") }
      case "minLength", "maxLength":
        guard let count = value.textValue?.unicodeScalars.count, let bound = rule.value.wholeValue else { return }
        guard rule.key == "minLength" ? count >= bound : count <= bound else {
          throw breach(place, "\(count) characters")
        }
      case "pattern":
        guard let text = value.textValue, let pattern = rule.value.textValue else { return }
        guard try Regex(pattern).firstMatch(in: text) != nil else {
          throw breach(place, "\(text) does not fit \(pattern)")
        }
      case "allOf": for part in rule.value.listValue ?? [] { try check(value, part, at: place) }
      case "oneOf" where schema["discriminator"] != nil:
        try check(value, try alternative(for: value, rule.value, of: schema, at: place), at: place)
      case "oneOf", "anyOf":
        let breaches = (rule.value.listValue ?? []).map { part -> String? in
          do { try check(value, part, at: place) } catch { return "\(error)" }
          return nil
        }
        let fitting = breaches.count { $0 == nil }
        guard rule.key == "anyOf" ? fitting > 0 : fitting == 1 else {
          throw breach(
            place,
            "\(fitting) of the alternatives of \(rule.key) fit \(value.description.prefix(200)): "
              + breaches.compactMap(\.self).joined(separator: " "))
        }
      case "contentSchema":
        guard let text = value.textValue else { return }
        try check(try content(of: text, at: place), rule.value, at: place)
      default: throw breach(place, "the keyword \(rule.key) is not implemented by this check")
      }
    }

    /// The alternative whose schema has the name that stands in the value.
    private func alternative(for value: JSON, _ all: JSON, of schema: JSON, at place: String) throws -> JSON {
      let property = schema["discriminator"]?["propertyName"]?.textValue ?? ""
      let name = value[property]?.textValue ?? ""
      guard let found = all.listValue?.first(where: { $0["$ref"]?.textValue == "#/components/schemas/\(name)" }) else {
        throw breach(place, "'\(name)' is not described as \(property)")
      }
      return found
    }

    private func checkObject(_ value: JSON, _ rule: JSON.Member, of schema: JSON, at place: String) throws {
      guard let members = value.objectValue else { return }
      switch rule.key {
      case "required":
        for name in rule.value.textsValue ?? [] where value[name] == nil { throw breach(place, "\(name) is missing") }
      case "properties":
        for member in members {
          guard let schema = rule.value[member.key] else { continue }
          try check(member.value, schema, at: "\(place).\(member.key)")
        }
      case "minProperties", "maxProperties":
        guard let bound = rule.value.wholeValue else { return }
        guard rule.key == "minProperties" ? members.count >= bound : members.count <= bound else {
          throw breach(place, "\(members.count) members")
        }
      default:
        for member in members where schema["properties"]?[member.key] == nil {
          if rule.value == .bool(false) { throw breach(place, "\(member.key) is not documented") }
          try check(member.value, rule.value, at: "\(place).\(member.key)")
        }
      }
    }

    private func checkList(_ value: JSON, _ rule: JSON.Member, of schema: JSON, at place: String) throws {
      guard let items = value.listValue else { return }
      switch rule.key {
      case "minItems": guard items.count >= rule.value.wholeValue ?? 0 else { throw breach(place, "too few items") }
      case "maxItems": guard items.count <= rule.value.wholeValue ?? 0 else { throw breach(place, "too many items") }
      case "uniqueItems":
        guard rule.value != .bool(true) || Set(items).count == items.count else {
          throw breach(place, "an item stands there twice")
        }
      case "prefixItems":
        for (index, pair) in zip(items, rule.value.listValue ?? []).enumerated() {
          try check(pair.0, pair.1, at: "\(place)[\(index)]")
        }
      default:
        let first = schema["prefixItems"]?.listValue?.count ?? 0
        for (index, item) in items.enumerated().dropFirst(first) {
          try check(item, rule.value, at: "\(place)[\(index)]")
        }
      }
    }

    private static func has(_ value: JSON, type: String) -> Bool {
      switch type {
      case "null": value == .null
      case "boolean": value.boolValue != nil
      case "integer": value.wholeValue != nil
      case "number": value.numberValue != nil
      case "string": value.textValue != nil
      case "array": value.listValue != nil
      case "object": value.objectValue != nil
      default: false
      }
    }

    private func breach(_ place: String, _ what: String) -> Contract.Breach {
      Contract.Breach(description: "at \(place): \(what).")
    }
  }
#endif
