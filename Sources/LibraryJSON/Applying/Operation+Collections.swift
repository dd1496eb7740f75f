import Foundation
import JSONReading
import PhotoLedger

extension Operation {
  /// The operations of albums, whose members are assets, or of folders, whose members are albums and folders.
  static func collectionOperations(_ kind: String) -> [Operation] {
    ownOperations(kind) + (kind == "album" ? [coverOperation] : [])
      + contentOperations(kind, members: kind == "album" ? "assets" : "collections")
  }

  /// The operations of smart albums, which have a condition and no members of their own.
  static let smartAlbumOperations: [Operation] =
    [
      Operation(name: "smartAlbum.create") { fields, context in
        let title = try fields.required("title", "text", \.textValue)
        return context.block.createSmartAlbum(
          title: title, where: try fields.condition(), sortedBy: try fields.sort(),
          includingHidden: try fields.optional("includesHidden", "true or false", \.boolValue) ?? false)
      }
    ] + existingOperations("smartAlbum")

  private static func ownOperations(_ kind: String) -> [Operation] {
    [
      Operation(name: "\(kind).create") { fields, context in
        let title = try fields.required("title", "text", \.textValue)
        return kind == "album" ? context.block.createAlbum(title: title) : context.block.createFolder(title: title)
      }
    ] + existingOperations(kind)
  }

  /// An asset of null takes the choice back.
  private static let coverOperation = Operation(name: "album.cover") { fields, context in
    let album = try fields.required("album", "an identifier", \.textValue)
    try fields.check([album], are: "album", context)
    guard let choice = try fields.assignment("asset", "an identifier", \.textValue) else {
      throw fields.malformed("'asset' is missing; it must be an identifier, or null for no chosen cover.")
    }
    let asset = try choice.value.map { try context.identifier($0, fields) }
    context.block.setCover(asset, of: try context.identifier(album, fields))
    return nil
  }

  /// What can be done to any collection that is there.
  private static func existingOperations(_ kind: String) -> [Operation] {
    [
      Operation(name: "\(kind).rename") { fields, context in
        let name = try fields.required(kind, "an identifier", \.textValue)
        try fields.check([name], are: kind, context)
        let title = try fields.required("title", "text", \.textValue)
        context.block.setTitle(title, of: try context.identifier(name, fields))
        return nil
      },
      Operation(name: "\(kind).delete") { fields, context in
        let names = try fields.names("\(kind)s")
        try fields.check(names, are: kind, context)
        context.block.deleteCollections(try names.map { try context.identifier($0, fields) })
        return nil
      },
    ]
  }

  private static func contentOperations(_ kind: String, members: String) -> [Operation] {
    [
      Operation(name: "\(kind).add") { fields, context in
        let editor = try fields.editor(kind, context)
        editor.add(try fields.identifiers(members, context))
        return nil
      },
      Operation(name: "\(kind).insert") { fields, context in
        let editor = try fields.editor(kind, context, countsPositions: true)
        let index = try fields.position("index")
        editor.expecting(try fields.expectation(context, hasNext: true))
          .insert(try fields.identifiers(members, context), at: index)
        return nil
      },
      Operation(name: "\(kind).remove") { fields, context in
        let editor = try fields.editor(kind, context)
        editor.remove(try fields.identifiers(members, context))
        return nil
      },
      Operation(name: "\(kind).removeAt") { fields, context in
        let editor = try fields.editor(kind, context, countsPositions: true)
        let indexes = try fields.positions("indexes")
        editor.expecting(try fields.expectation(of: indexes, context)).remove(at: indexes)
        return nil
      },
      Operation(name: "\(kind).replaceAt") { fields, context in
        let editor = try fields.editor(kind, context, countsPositions: true)
        let indexes = try fields.positions("indexes")
        editor.expecting(try fields.expectation(of: indexes, context))
          .replace(at: indexes, with: try fields.identifiers(members, context))
        return nil
      },
      Operation(name: "\(kind).moveAt") { fields, context in
        let editor = try fields.editor(kind, context, countsPositions: true)
        let indexes = try fields.positions("indexes")
        editor.expecting(try fields.expectation(of: indexes, context, hasNext: true))
          .move(at: indexes, to: try fields.position("to"))
        return nil
      },
    ]
  }
}

extension OperationFields {
  /// Checks that names stand for collections of a kind, as far as is known.
  fileprivate func check(_ names: [String], are kind: String, _ context: OperationContext) throws {
    for name in names {
      guard let other = try context.kind(of: name), other != kind else { continue }
      throw LibraryError(
        .changeNotSupported,
        "\(place): '\(name)' is not of the kind \(kind); it is of the kind \(other): use the operations \(other).….")
    }
  }

  /// The editor of what the field names; a folder that is null or left out is the top level.
  /// - Parameter countsPositions: whether the operation names positions: then `token` says in which state of the
  ///   content they were counted.
  fileprivate mutating func editor(
    _ kind: String, _ context: OperationContext, countsPositions: Bool = false
  ) throws -> ContentEditor {
    var name: String?
    if kind == "album" {
      name = try required("album", "an identifier", \.textValue)
    } else if case .set(let folder) = try assignment("folder", "an identifier", \.textValue) {
      name = folder
    }
    var container: LocalIdentifier?
    if let name {
      container = try context.identifier(name, self)
      try check([name], are: kind, context)
    }
    guard countsPositions, let token = try optional("token", "a token of the library", \.textValue) else {
      return container.flatMap { kind == "album" ? context.block.album($0) : nil } ?? context.block.folder(container)
    }
    return try editor(of: container, kind, context, countingAt: Token(token))
  }

  private func editor(
    of container: LocalIdentifier?, _ kind: String, _ context: OperationContext, countingAt token: Token
  ) throws -> ContentEditor {
    let content = try context.content(of: container, kind, at: token) {
      let then = try context.library.at(token)
      let collection = try container.flatMap { try then.collection($0.uuidString) }
      guard container == nil || collection.map({ $0.kind.name == kind }) == true else {
        throw LibraryError(
          .identifierNotFound, "\(place): there was no such \(kind) in the state of \(token); pass a later token.")
      }
      guard kind == "album", container != nil else { return .collections(try then.fetchCollections(in: collection)) }
      return .assets(try then.fetchAssets(FetchOptions(), in: collection))
    }
    switch content {
    case .collections(let collections): return context.block.folder(container, collections: collections)
    case .assets(let assets):
      guard let container else { preconditionFailure("Only an album, which has an identifier, contains assets.") }
      return context.block.album(container, assets: assets)
    }
  }

  /// What the operation is executed only with: `expectedMembers`, one for each index, and `expectedNext`.
  /// - Parameters:
  ///   - indexes: those of members; nil if the operation names none.
  ///   - hasNext: whether the operation puts members before another.
  fileprivate mutating func expectation(
    of indexes: [Int]? = nil, _ context: OperationContext, hasNext: Bool = false
  ) throws -> ContentExpectation {
    var expectation = ContentExpectation()
    if let indexes, let names = try optional("expectedMembers", "a list of identifiers", \.textsValue) {
      guard names.count == indexes.count else {
        throw malformed(
          "'expectedMembers' has \(names.count) identifiers for \(indexes.count) indexes; pass one for each.")
      }
      let members = try names.map { try context.identifier($0, self) }
      expectation.members = Dictionary(uniqueKeysWithValues: zip(indexes, members))
    }
    guard hasNext else { return expectation }
    switch try assignment("expectedNext", "an identifier", \.textValue) {
    case .set(let name): expectation.next = .member(try context.identifier(name, self))
    case .clear: expectation.next = .end
    case nil: break
    }
    return expectation
  }

  fileprivate mutating func position(_ name: String) throws -> Int {
    try required(name, "a whole number, 0 or more", \.positionValue)
  }

  fileprivate mutating func positions(_ name: String) throws -> [Int] {
    try required(name, "a list of whole numbers, each once", \.positionsValue)
  }
}

extension OperationFields {
  fileprivate mutating func condition() throws -> Condition {
    guard let format = try optional("where", "a predicate", \.textValue) else { return .always }
    do {
      return try Condition(format: format, for: .asset)
    } catch {
      let code: LibraryError.Code = error.code == .malformedPredicate ? .malformedPredicate : .unsupportedPredicate
      throw LibraryError(code, "\(place), where: \(error)")
    }
  }

  fileprivate mutating func sort() throws -> [SortTerm] {
    let terms = try optional("sort", "a list such as [\"creationDate:desc\"]", \.textsValue) ?? []
    do {
      return try terms.map { try SortTerm($0, for: .asset) }
    } catch {
      throw LibraryError(.unsupportedSort, "\(place), sort: \(error)")
    }
  }
}
