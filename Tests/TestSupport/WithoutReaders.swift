package import LMDB

/// A read transaction that lasts as long as the value.
private final class HeldReader {
  let transaction: ReadTransaction

  init(_ environment: Environment) throws { transaction = try environment.beginRead() }
}

extension Environment {
  /// Does something while every slot for readers is taken.
  package func withoutReaders(_ body: () throws -> Void) throws {
    var held: [HeldReader] = []
    do {
      while true { held.append(try HeldReader(self)) }
    } catch let error as LMDBError where error.code == .readersFull {
      try body()
    }
    withExtendedLifetime(held) {}
  }
}
