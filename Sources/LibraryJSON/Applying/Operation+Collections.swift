import Foundation
import PhotoLedger

extension Operation {
  /// The operations of albums, whose members are assets, or of folders, whose members are albums and folders.
  static func collectionOperations(_ kind: String) -> [Operation] {
    ownOperations(kind) + contentOperations(kind, members: kind == "album" ? "assets" : "collections")
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

  /// What can be done to any collection that is there.
  private static func existingOperations(_ kind: String) -> [Operation] {
    [
      Operation(name: "\(kind).rename") { fields, context in
        let name = try fields.required(kind, "an identifier", \.textValue)
        try check([name], are: kind, fields, context)
        let title = try fields.required("title", "text", \.textValue)
        context.block.setTitle(title, of: try context.identifier(name, fields))
        return nil
      },
      Operation(name: "\(kind).delete") { fields, context in
        let names = try fields.names("\(kind)s")
        try check(names, are: kind, fields, context)
        context.block.deleteCollections(try names.map { try context.identifier($0, fields) })
        return nil
      },
    ]
  }

  private static func check(
    _ names: [String], are kind: String, _ fields: OperationFields, _ context: OperationContext
  ) throws {
    for name in names {
      guard let other = try context.kind(of: name), other != kind else { continue }
      throw LibraryError(
        .changeNotSupported, "\(fields.place): '\(name)' is not of the kind \(kind); use the operations \(other).….")
    }
  }

  private static func contentOperations(_ kind: String, members: String) -> [Operation] {
    [
      Operation(name: "\(kind).add") { fields, context in
        let editor = try fields.editor(kind, context)
        editor.add(try fields.identifiers(members, context))
        return nil
      },
      Operation(name: "\(kind).insert") { fields, context in
        let editor = try fields.editor(kind, context)
        editor.insert(try fields.identifiers(members, context), at: try fields.position("index"))
        return nil
      },
      Operation(name: "\(kind).remove") { fields, context in
        let editor = try fields.editor(kind, context)
        editor.remove(try fields.identifiers(members, context))
        return nil
      },
      Operation(name: "\(kind).removeAt") { fields, context in
        let editor = try fields.editor(kind, context)
        editor.remove(at: try fields.positions("indexes"))
        return nil
      },
      Operation(name: "\(kind).replaceAt") { fields, context in
        let editor = try fields.editor(kind, context)
        let indexes = try fields.positions("indexes")
        editor.replace(at: indexes, with: try fields.identifiers(members, context))
        return nil
      },
      Operation(name: "\(kind).moveAt") { fields, context in
        let editor = try fields.editor(kind, context)
        editor.move(at: try fields.positions("indexes"), to: try fields.position("to"))
        return nil
      },
    ]
  }
}

extension OperationFields {
  /// The editor of what the field names; a folder that is null or left out is the top level.
  fileprivate mutating func editor(_ kind: String, _ context: OperationContext) throws -> ContentEditor {
    if kind == "album" { return context.block.album(try identifier("album", context)) }
    let folder = try assignment("folder", "an identifier", \.textValue)
    guard case .set(let name) = folder else { return context.block.folder(nil) }
    return context.block.folder(try context.identifier(name, self))
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
