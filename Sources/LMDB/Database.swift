/// A named ordered map of byte strings inside an environment; obtained from `Environment.database(_:)`.
///
/// Keys are ordered as byte strings, or, in a database of integers (MDB_INTEGERKEY), as unsigned 64-bit numbers.
/// There are no duplicate keys: MDB_DUPSORT limits values to 511 bytes and its deletions have known defects in
/// 0.9.24, so an index puts the identifier into the key.
public struct Database: Sendable, Hashable {
  /// The name, as in the main database of the environment.
  public let name: String
  /// Whether the keys are 64-bit numbers (MDB_INTEGERKEY).
  public let hasIntegerKeys: Bool
  @usableFromInline let index: UInt32
  /// The serial number of the environment: a database of one is never used with another.
  @usableFromInline let owner: UInt64
  /// The database as one bit; none beyond the 64th, whose changes are never gathered.
  var mark: UInt64 { index < 64 ? 1 << UInt64(index) : 0 }
}
