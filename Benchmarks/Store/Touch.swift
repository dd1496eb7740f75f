import CountedTree
import Foundation
import PhotoLedger
import Synchronization

/// Draws single edits that always change something.
struct Touch {
  let assets: [LocalIdentifier]
  private var random = Seeded(11)

  /// Shared by all, so that two of them never set the same value on the same asset, which would change nothing.
  private static let count = Atomic<Int>(0)

  /// - Parameter assets: what is edited, each as often as chance has it.
  init(_ assets: [LocalIdentifier]) { self.assets = assets }

  /// An edit that a result shows and that moves nothing in it.
  mutating func inPlace() -> (asset: LocalIdentifier, changes: AssetChanges) {
    var changes = AssetChanges()
    changes.pixelWidth = 10_000 + Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    return (assets[Int.random(in: assets.indices, using: &random)], changes)
  }

  /// An edit that puts the asset elsewhere in an order by date.
  mutating func moving() -> (asset: LocalIdentifier, changes: AssetChanges) {
    let asset = assets[Int.random(in: assets.indices, using: &random)]
    return (asset, moved())
  }

  mutating func moved() -> AssetChanges {
    var changes = AssetChanges()
    changes.creationDate = .set(Date(timeIntervalSinceReferenceDate: Double.random(in: 0..<6e8, using: &random)))
    return changes
  }
}

extension PhotoLibrary {
  /// One edit of one asset as one commit.
  func commit(_ touch: (asset: LocalIdentifier, changes: AssetChanges)) throws {
    try performChangesAndWait { $0.edit([touch.asset], touch.changes) }
  }
}

extension FetchResult {
  /// The result after all of it was made: one that the store keeps in order is otherwise made when that is needed.
  func wholly() throws -> FetchResult {
    _ = try core
    return self
  }

  /// The internal numbers of the shown objects, in order; the whole result is made for it.
  var numbers: [UInt64] { reading { try core.numbers } }
}
