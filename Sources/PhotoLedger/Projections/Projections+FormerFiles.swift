import EventLog
package import LMDB

// Which files an undo can bring back.
//
// A file of the library's folder is named by its content, so several assets share one. When an asset, or a block that
// failed, no longer needs a file, it may be removed only if no asset has the content, and no undo can give it back to
// one. `content` answers the first question, `formerContent` the second:
//
//     edit    S ─▶ T     a row for S: undoing the edit needs its file
//     undo of a creation a row for each file: the asset keeps its number, and undoing that undo restores it with them
//     purge, erasure     all rows of the asset go: its files are to be removed
//
// Invariant: there is a row of a content and an asset if and only if, since the asset was last purged other than by an
// undo, an edit replaced the content among its library's files, or an undo took the asset out with it. Whether the
// asset has the content again does not matter: a row that says what `content` says too changes no answer, and so a
// creation, which an import makes by the million, costs nothing here. `formerFiles` is the inverse of `formerContent`,
// by which a purge finds its rows.
//
// The rows are about numbers and not about identifiers. An undo of an undo restores an asset under its number, edits
// and erasures name numbers, and of two assets that had one identifier, one after the other, the purge of the second
// does not keep the first from returning.
//
// After an erasure the log says less than it said when the events were applied: creations without files, edits without
// details. So a replay gives no row of an erased asset; and none is left in the library, since `asset.erased` removes
// them, and nothing adds one afterwards: an erased asset does not return.
//
// Rejected: reading the log for it, which costs a walk over all events at each purge; and keeping each replaced file
// until a sweep, since a purge has to remove the files of a photo.

extension Projections {
  // MARK: Reading

  /// Whether an asset has a content, or an undo can give it back to one: then its file in the library stays.
  ///
  /// A referenced file counts as long as an asset names it.
  /// - Parameter erased: assets that are being erased, to which nothing is given back.
  /// - Complexity: O(log n), and one step for each of `erased`.
  package func needsFile(
    _ sha256: [UInt8], forgetting erased: Set<ObjectNumber> = [], in t: borrowing some Reading
  ) throws -> Bool {
    if try hasAsset(under: sha256, of: content, in: t) { return true }
    return try hasAsset(under: sha256, of: formerContent, besides: erased, in: t)
  }

  /// The assets to which an undo can give a content back, oldest first; some of them may have it.
  package func assets(withFormerContent sha256: [UInt8], in t: borrowing some Reading) throws -> [ObjectNumber] {
    try assets(under: sha256, of: formerContent, in: t)
  }

  /// The contents that an undo can give back to an asset, in the order of their bytes.
  func formerContents(of number: ObjectNumber, in t: borrowing some Reading) throws -> [[UInt8]] {
    var contents: [[UInt8]] = []
    let prefix: InlineArray<1, UInt64> = [number.bigEndian]
    try t.forEach(in: formerFiles, prefix: prefix.span.bytes) { key, _ in
      guard key.byteCount == 8 + SHA256Digest.byteCount else { throw corruption("a file that asset \(number) had") }
      contents.append(SHA256Digest(key.extracting(last: SHA256Digest.byteCount)).bytes)
      return .proceed
    }
    return contents
  }

  private func hasAsset(
    under prefix: [UInt8], of database: Database, besides others: Set<ObjectNumber> = [],
    in t: borrowing some Reading
  ) throws -> Bool {
    var isFound = false
    try t.forEach(in: database, prefix: prefix.span.bytes) { key, _ in
      isFound = !others.contains(try key.place(at: prefix.count))
      return isFound ? .stop : .proceed
    }
    return isFound
  }

  // MARK: Applying

  /// Records that an asset no longer has files that an undo can give back to it.
  func noteFormerFiles(
    _ contents: [[UInt8]], of number: ObjectNumber, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    for content in contents {
      let key = hashKey(content, number)
      let inverse: InlineArray<5, UInt64> = [key[4], key[0], key[1], key[2], key[3]]
      try t.put(key.span.bytes, RawSpan(), in: formerContent)
      try t.put(inverse.span.bytes, RawSpan(), in: formerFiles)
    }
  }

  /// Removes the rows of an asset, since no undo gives anything back to it.
  package func forgetFormerFiles(of number: ObjectNumber, _ t: inout WriteTransaction) throws {
    for content in try formerContents(of: number, in: t) {
      let key = hashKey(content, number)
      try t.delete(key.span.bytes, in: formerContent)
    }
    let prefix: InlineArray<1, UInt64> = [number.bigEndian]
    try t.delete(prefix: prefix.span.bytes, in: formerFiles)
  }
}
