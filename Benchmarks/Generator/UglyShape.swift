import Foundation
import PhotoLedger

/// What libraries of real people look like at their worst; each was reported somewhere.
enum UglyShape: String, CaseIterable {
  /// A month with 100,000 assets.
  case oneMonth = "one month of 100,000"
  /// 100,000 assets with the instant of an import (immich-app/immich discussion 13319).
  case oneInstant = "100,000 of one instant"
  /// Dates of 1919, 1970, 2099 and 2216.
  case oddDates = "dates of 1919, 1970, 2099 and 2216"
  /// 13,000 albums, empty or of one asset (photoprism/photoprism issue 684).
  case tinyAlbums = "13,000 tiny albums"
  /// One album with everything.
  case albumOfAll = "an album of everything"
  /// 68,811 assets removed at once and put back (immich-app/immich discussion 30817).
  case mishap = "68,811 removed and restored"

  /// How many assets or albums it is about.
  func count(in size: Int) -> Int {
    switch self {
    case .oneMonth, .oneInstant: min(100_000, size)
    case .oddDates: min(400, size)
    case .tinyAlbums: min(13_000, size)
    case .albumOfAll: size
    case .mishap: min(68_811, size)
    }
  }

  /// The edits that give a library the shape, as blocks; each is one commit.
  func blocks(for assets: [LocalIdentifier]) -> [(ChangeBlock) -> Void] {
    let chosen = Array(assets.prefix(count(in: assets.count)))
    let chunks = stride(from: 0, to: chosen.count, by: 1000).map { Array(chosen[$0..<min($0 + 1000, chosen.count)]) }
    switch self {
    case .oneMonth: return Self.redate(chunks) { index in Double(index * 25) }
    case .oneInstant: return Self.redate(chunks) { _ in 0 }
    case .oddDates:
      let odd = [-2.5e9, -978_307_200, 3.1e9, 6.8e9]
      return Self.redate(chunks) { index in odd[index % 4] }
    case .tinyAlbums:
      return stride(from: 0, to: chosen.count, by: 500).map { start in
        { change in
          for index in start..<min(start + 500, chosen.count) {
            let album = change.createAlbum(title: "Folder \(index)")
            if index % 2 == 0 { change.album(album).add([chosen[index]]) }
          }
        }
      }
    case .albumOfAll:
      var album: LocalIdentifier?
      return chunks.map { chunk in
        { change in
          let target = album ?? change.createAlbum(title: "Everything")
          album = target
          change.album(target).add(chunk)
        }
      }
    case .mishap: return [{ $0.deleteAssets(chosen) }, { $0.restoreAssets(chosen) }]
    }
  }

  /// Gives assets other dates, as many requests as assets.
  private static func redate(
    _ chunks: [[LocalIdentifier]], _ instant: @escaping (Int) -> Double
  ) -> [(ChangeBlock) -> Void] {
    chunks.enumerated().map { number, chunk in
      { change in
        for (offset, asset) in chunk.enumerated() {
          var changes = AssetChanges()
          changes.creationDate = .set(Date(timeIntervalSinceReferenceDate: instant(number * 1000 + offset)))
          change.edit([asset], changes)
        }
      }
    }
  }
}
