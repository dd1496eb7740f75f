import LMDB

// A referenced file has another path.
//
// The asset keeps everything; only the place that its resources name is another one. It is an ordinary edit of the
// asset's files in the log, so feeds, as-of views and undo know nothing new. The modification date stays: the
// picture and what is said about it are the same.
//
// The request names content and path of before. If the resource has been relocated or removed meanwhile, there is
// nothing to do: two watchers may report one move.

/// A referenced file that was moved or renamed: the same content at another path.
package struct FileRelocation: Hashable, Sendable {
  /// The SHA-256 of the content.
  package var sha256: [UInt8]
  /// The absolute path that the library has.
  package var from: String
  /// The absolute path where the content is now.
  package var to: String

  package init(sha256: [UInt8], from: String, to: String) {
    precondition(to.hasPrefix("/"), "A referenced file must be named by its absolute path.")
    (self.sha256, self.from, self.to) = (sha256, from, to)
  }
}

extension ChangeBlock {
  /// Names the place that a referenced file of an asset was moved to; the caller has read the content there.
  package func relocate(_ relocation: FileRelocation, of asset: LocalIdentifier) {
    add(.relocate(relocation, of: asset))
  }
}

extension Decider {
  mutating func relocate(
    _ relocation: FileRelocation, of identifier: LocalIdentifier, _ t: inout WriteTransaction
  ) throws {
    guard permission.access == .full else { throw permission.refusal(client, "name the paths of files") }
    guard let object = try visibleObject(identifier, t), object.isAsset,
      let row = try projections.asset(object.number, in: t)
    else { return }
    let old = try details(of: row, t)
    var new = old
    var isChanged = false
    for index in new.resources.indices where new.resources[index].sha256 == relocation.sha256 {
      // Byte by byte: two spellings of one name by Unicode are two files.
      guard case .referenced(let path) = new.resources[index].storage, path.utf8.elementsEqual(relocation.from.utf8),
        !path.utf8.elementsEqual(relocation.to.utf8)
      else { continue }
      new.resources[index].storage = .referenced(path: relocation.to)
      isChanged = true
    }
    if !isChanged { return }
    var edit = AssetEdit(number: row.number, changes: [])
    edit.details = Replacement(old: old, new: new)
    try record([(row, edit)], .edited, &t)
  }
}
