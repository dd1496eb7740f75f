import LMDB
package import PhotoLedger

extension PhotoLibrary {
  /// Damages the row with an asset's files and words, while the row of the asset itself stays good.
  package func damageDetails(of asset: Asset) throws {
    let environment = store.core.environment
    let details = try environment.database("details", integerKeys: true)
    let number = asset.row.number
    try environment.write { t in try t.put(number, [1], in: details) }
  }
}
