import LMDB
package import PhotoLedger

extension PhotoLibrary {
  /// Damages the row with an asset's files and words, while the row of the asset itself stays good.
  package func damageDetails(of asset: Asset) throws {
    try damage(asset, in: "details")
  }

  /// Damages the row of an asset itself.
  package func damageRow(of asset: Asset) throws { try damage(asset, in: "assets") }

  private func damage(_ asset: Asset, in table: String) throws {
    let environment = store.core.environment
    let rows = try environment.database(table, integerKeys: true)
    let number = asset.row.number
    try environment.write { t in try t.put(number, [1], in: rows) }
  }
}
