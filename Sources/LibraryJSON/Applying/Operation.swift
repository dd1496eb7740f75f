import JSONReading
import PhotoLedger

// From JSON to a change block: the one path of every change that the program makes, and the server.
//
//     {"op": "album.insert", "album": "$a", "assets": ["…"], "index": 0}
//        └ names an entry of `Operation.all`   └ placeholder: what an earlier op of the block called "as": "$a"
//
// An operation is a name and a function that reads its fields and adds requests to the block. The library decides
// whether a request is valid; here only the form is checked, so that no rule is written twice. One rule is needed here:
// an operation takes no collection of another kind than its own, though the library's own requests take all: a mistyped
// identifier must never delete a tree of folders in place of an album, or move an album into a folder.

/// One kind of change that a line of `apply` can ask for.
package struct Operation: Sendable {
  /// The name, such as `album.insert`.
  package let name: String
  /// Reads the fields and asks the block; gives the identifier of what it creates.
  let ask: @Sendable (inout OperationFields, OperationContext) throws -> LocalIdentifier?
}

/// What the operations of one block share.
final class OperationContext {
  let library: PhotoLibrary
  let block: ChangeBlock
  let sources: ByteSources
  /// The command that the block comes from, which knows no placeholders; nil for a block that its author wrote.
  let command: String?
  /// The objects that earlier operations of the block created, by the names they gave them.
  private(set) var placeholders: [String: (identifier: LocalIdentifier, kind: String)] = [:]

  /// The contents in which operations of the block count positions: each is a list of its members, and operations of a
  /// block mostly count in the same one.
  private var contents: [CountedContent: PositionedContent] = [:]
  /// The most of them. Each is kept until the block has been decided.
  private static let mostContents = 64

  init(library: PhotoLibrary, block: ChangeBlock, sources: ByteSources, command: String?) {
    (self.library, self.block, self.sources, self.command) = (library, block, sources, command)
  }

  func name(_ identifier: LocalIdentifier, _ name: String, kind: String) { placeholders[name] = (identifier, kind) }

  /// The object that an identifier or a placeholder names.
  func identifier(_ text: String, _ fields: OperationFields) throws -> LocalIdentifier {
    if command == nil, text.hasPrefix("$") {
      guard let placeholder = placeholders[text] else {
        throw fields.malformed("no earlier operation of the block is called \"\(text)\"; give it \"as\": \"\(text)\".")
      }
      return placeholder.identifier
    }
    guard let identifier = LocalIdentifier(text) else {
      let other = command == nil ? ", or a placeholder" : ""
      throw fields.malformed("'\(text.prefix(80))' is not a valid identifier; pass one from the library\(other).")
    }
    return identifier
  }

  /// The content of a collection in the state of a token, which is fetched once for all operations of the block.
  /// - Parameters:
  ///   - container: an album, or a folder; nil: the top level.
  ///   - kind: "album" or "folder".
  ///   - fetch: fetches it.
  /// - Throws: what `fetch` throws; ``LibraryError`` `.limitExceeded` for a 65th content.
  func content(
    of container: LocalIdentifier?, _ kind: String, at token: Token, _ fetch: () throws -> PositionedContent
  ) throws -> PositionedContent {
    let key = CountedContent(container: container, kind: kind, token: token)
    if let known = contents[key] { return known }
    guard contents.count < Self.mostContents else {
      throw LibraryError(
        .limitExceeded,
        "A block counts positions in at most \(Self.mostContents) contents of collections; use several blocks.")
    }
    let content = try fetch()
    contents[key] = content
    return content
  }

  /// Whether a name stands for an album, smart album or folder, as far as is known; nil if it is not.
  func kind(of text: String) throws -> String? {
    if let placeholder = placeholders[text] { return placeholder.kind }
    return try library.collection(text).map { $0.kind.name }
  }
}

/// A state of a collection, in which positions are counted.
private struct CountedContent: Hashable {
  var container: LocalIdentifier?
  var kind: String
  var token: Token
}

/// The members of a collection in the state that positions are counted in.
enum PositionedContent {
  case assets(FetchResult<Asset>)
  case collections(FetchResult<PhotoCollection>)
}

extension Operation {
  package static let all: [Operation] =
    assetOperations + editingOperations + collectionOperations("album") + collectionOperations("folder")
    + smartAlbumOperations + clientOperations

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// Adds all changes of a list to a block.
  /// - Parameters:
  ///   - sources: where resources may come from.
  ///   - command: the command that made the changes, if one did.
  /// - Throws: ``LibraryError`` `.malformedRequest` that names the operation, or else the command, and the field.
  static func ask(
    _ changes: [JSON], of block: ChangeBlock, for library: PhotoLibrary, from sources: ByteSources, command: String?
  ) throws {
    let context = OperationContext(library: library, block: block, sources: sources, command: command)
    for (index, change) in changes.enumerated() { try ask(change, at: index, context) }
  }

  private static func ask(_ change: JSON, at index: Int, _ context: OperationContext) throws {
    let place = "changes[\(index)]"
    guard let members = change.objectValue else {
      throw LibraryError(.malformedRequest, "\(place): an operation is an object, not \(change.kind).")
    }
    guard let name = change["op"]?.textValue else {
      throw LibraryError(
        .malformedRequest, "\(place): 'op' is missing; it names the operation, such as \"album.create\".")
    }
    guard let operation = byName[name] else {
      let suggestion = Suggestion.sentence(for: name, among: all.map(\.name))
      throw LibraryError(.malformedRequest, "\(place): there is no operation '\(name.prefix(80))'\(suggestion)")
    }
    var fields = OperationFields(members, place: context.command ?? "\(place) (\(name))", sources: context.sources)
    _ = fields.take("op")
    let created = try operation.ask(&fields, context)
    if let created { try takeName(of: created, kind: String(name.prefix { $0 != "." }), &fields, context) }
    try fields.finish()
  }

  private static func takeName(
    of created: LocalIdentifier, kind: String, _ fields: inout OperationFields, _ context: OperationContext
  ) throws {
    let name = try fields.optional("as", "a placeholder such as \"$a\"") { json in
      json.textValue.flatMap { $0.hasPrefix("$") && $0.utf8.count > 1 ? $0 : nil }
    }
    guard let name else { return }
    guard context.placeholders[name] == nil else {
      throw fields.malformed("the block has two objects that are called \"\(name)\".")
    }
    context.name(created, name, kind: kind)
  }
}

extension OperationFields {
  mutating func identifier(_ name: String, _ context: OperationContext) throws -> LocalIdentifier {
    let text = try required(name, "an identifier", \.textValue)
    return try context.identifier(text, self)
  }

  mutating func identifiers(_ name: String, _ context: OperationContext) throws -> [LocalIdentifier] {
    try names(name).map { try context.identifier($0, self) }
  }

  /// Identifiers and placeholders as they were written.
  mutating func names(_ name: String) throws -> [String] {
    try required(name, "a list of identifiers", \.textsValue)
  }
}
