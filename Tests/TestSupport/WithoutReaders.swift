import Glibc
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
    // A read that is under way gives its slot back when it ends, and would have it again.
    var quietRounds = 0
    while quietRounds < 20 {
      do {
        while true {
          held.append(try HeldReader(self))
          quietRounds = 0
        }
      } catch let error as LMDBError where error.code == .readersFull {
        quietRounds += 1
        usleep(5_000)
      }
    }
    try body()
    withExtendedLifetime(held) {}
  }
}
