import LMDB
package import PhotoLedger

/// Finds what objects are called by their identifiers, for lines that people read.
///
/// The identifiers are those that the library's client received; an object that the client does not see any more has no
/// label, as its name may be newer than what the client saw.
package struct ObjectLabels {
  private let library: PhotoLibrary
  private var reader: AuditReader

  /// - Parameter library: for the objects as the view of a client shows them, and at its moment.
  package init(of library: PhotoLibrary) {
    self.library = library
    reader = AuditReader(of: library.store, at: library.sequence)
  }

  /// File names and titles in quotation marks, by identifier; nothing for objects without one.
  /// - Complexity: O(k log n) for k objects; in an as-of view also one read for each later event that touched one of
  ///   them.
  package mutating func labels(of identifiers: some Collection<String>) throws -> [String: String] {
    try library.store.reading { t in try labels(of: identifiers, t) }
  }

  /// The same in the course of another reading of the library.
  package mutating func labels(
    of identifiers: some Collection<String>, _ t: borrowing StoreReading
  ) throws -> [String: String] {
    guard !identifiers.isEmpty else { return [:] }
    let access = try library.permission(t).access
    var labels: [String: String] = [:]
    for text in identifiers {
      guard let identifier = LocalIdentifier(text), let number = try number(of: identifier, t),
        try isShown(number, to: access, t), let title = try reader.name(number, t)?.title
      else { continue }
      labels[text] = "'\(title)'"
    }
    return labels
  }

  private func number(of identifier: LocalIdentifier, _ t: borrowing StoreReading) throws -> ObjectNumber? {
    let core = library.store.core
    if let object = try core.projections.object(identifier, in: t) { return object.number }
    return try core.assetNumber(identifier, t)
  }

  private func isShown(_ number: ObjectNumber, to access: Access, _ t: borrowing StoreReading) throws -> Bool {
    if access == .full { return true }
    if let row = try library.store.collectionRow(number, at: library.sequence, t) { return access.shows(row) }
    return try library.store.shows(number, to: access, at: library.sequence, t)
  }
}
