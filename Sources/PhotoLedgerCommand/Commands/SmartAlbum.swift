import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  private static let includesHidden = Option("hidden", "include hidden assets")

  static let smartAlbumCreate = editing(
    "smart-album create", "create an album defined by a predicate, and print its identifier", [.title],
    options: [
      Option("where", "FORMAT", "a predicate in PhotoKit's format; all assets by default"),
      Option("sort", "KEY[:desc]", isRepeatable: true, "order by a property; the first --sort is the primary key"),
      includesHidden,
    ],
    notes: "The predicate cannot be changed later. " + FetchArguments.notes,
    example: #"smart-album create 'Best' --where "rating >= 4" --sort creationDate:desc"#
  ) {
    let (format, sort) = ($0.text("where"), $0.texts("sort"))
    _ = try format.map { try Condition(format: $0, for: .asset) }
    _ = try sort.map { try SortTerm($0, for: .asset) }
    var members: [JSON.Member] = [.init("op", "smartAlbum.create"), .init("title", $0.operand(0))]
    if let format { members.append(.init("where", .text(format))) }
    members.append(.init("sort", .list(sort.map { .text($0) })))
    members.append(.init("includesHidden", .bool($0.has(includesHidden))))
    return .object(members)
  }

  static let smartAlbumRename = editing(
    "smart-album rename", "rename a user-defined smart album",
    [Operand("ALBUM", "the smart album's identifier"), .title], example: "smart-album rename ALBUM 'The best'"
  ) {
    ["op": "smartAlbum.rename", "smartAlbum": $0.operand(0), "title": $0.operand(1)]
  }

  static let smartAlbumDelete = editing(
    "smart-album delete", "delete user-defined smart albums; assets stay in the library",
    [Operand("ALBUM", .several, "identifiers of smart albums")], example: "smart-album delete ALBUM"
  ) {
    ["op": "smartAlbum.delete", "smartAlbums": $0.list()]
  }
}
