import Foundation
import PhotoLedger
import TestSupport

/// A block of a limited client's that must fail, or do nothing, in both libraries alike.
struct TwinAttempt {
  let name: String
  let make: (ChangeBlock) throws -> Void

  init(_ name: String, _ make: @escaping (ChangeBlock) throws -> Void) {
    (self.name, self.make) = (name, make)
  }
}

enum TwinAttempts {
  static func all(_ twin: Twin) -> [TwinAttempt] {
    let nobody = LocalIdentifier(high: 1, low: 2)
    return (twin.strangers + [nobody]).flatMap { changes(to: $0, twin) + moves(of: $0, twin) } + mistakes(twin)
      + decisions(twin)
  }

  /// Requests that name what the client must not know of.
  private static func changes(to id: LocalIdentifier, _ twin: Twin) -> [TwinAttempt] {
    var words = AssetChanges()
    words.caption = .set("mine")
    let (draft, nobody) = (Contents.draft(Contents.visible[0]), LocalIdentifier(high: 1, low: 2))
    let recipe = AdjustmentData(formatIdentifier: "app", formatVersion: "1", data: Data([1]))
    return [
      TwinAttempt("favourite \(id)") { $0.setFavorite(true, for: [id]) },
      TwinAttempt("hide \(id)") { $0.setHidden(true, for: [id]) },
      TwinAttempt("edit \(id)") { [words] in $0.edit([id], words) },
      TwinAttempt("files of \(id)") { $0.addResources([draft], to: id) },
      TwinAttempt("delete \(id)") { $0.deleteAssets([id]) },
      TwinAttempt("restore \(id)") { $0.restoreAssets([id]) },
      TwinAttempt("purge \(id)") { $0.purgeAssets([id]) },
      TwinAttempt("burst of \(id)") { $0.setRepresentative(ofBurst: id) },
      TwinAttempt("stack under \(id)") { $0.stack(top: id, others: [nobody]) },
      TwinAttempt("unstack \(id)") { $0.unstack([id]) },
      TwinAttempt("content of \(id)") {
        $0.editContent(of: id, ContentEdit(adjustmentData: recipe, rendered: [draft]))
      },
      TwinAttempt("revert \(id)") { $0.revertContent(of: id) },
      TwinAttempt("title of \(id)") { $0.setTitle("mine", of: id) },
      TwinAttempt("cover of \(id)") { $0.setCover(nil, of: id) },
      TwinAttempt("delete collection \(id)") { $0.deleteCollections([id]) },
      TwinAttempt("into album \(id)") { $0.album(id).add([]) },
      TwinAttempt("into folder \(id)") { $0.folder(id).add([]) },
      TwinAttempt("out of \(id)") { $0.album(id).remove(at: [0]) },
      TwinAttempt("grant \(id)") { $0.grant([id], to: Twin.client) },
      TwinAttempt("follow \(id)") { $0.follow(id, as: Twin.client) },
      TwinAttempt("withdraw \(id)") { $0.withdraw([id], from: Twin.client) },
      TwinAttempt("something new, then \(id)") { block in
        block.createAsset(AssetCreation(mediaType: .image, resources: [draft]))
        block.setFavorite(true, for: [id])
      },
    ]
  }

  /// Requests that would put it somewhere, or take it away.
  private static func moves(of id: LocalIdentifier, _ twin: Twin) -> [TwinAttempt] {
    guard let album = twin.named["own"], let folder = twin.named["folder"] else { return [] }
    return [
      TwinAttempt("add \(id)") { $0.album(album).add([id]) },
      TwinAttempt("insert \(id)") { $0.album(album).insert([id], at: 0) },
      TwinAttempt("cover \(id)") { $0.setCover(id, of: album) },
      TwinAttempt("remove \(id)") { $0.album(album).remove([id]) },
      TwinAttempt("replace by \(id)") { $0.album(album).replace(at: [0], with: [id]) },
      TwinAttempt("into own folder \(id)") { $0.folder(folder).add([id]) },
      TwinAttempt("out of own folder \(id)") { $0.folder(folder).remove([id]) },
      TwinAttempt("to the top \(id)") { $0.folder(nil).insert([id], at: 0) },
      TwinAttempt("out of the top \(id)") { $0.folder(nil).remove([id]) },
    ]
  }

  /// Wrong counting in what the client does see: the sentences must count what it sees.
  private static func mistakes(_ twin: Twin) -> [TwinAttempt] {
    guard let album = twin.named["own"], let folder = twin.named["folder"] else { return [] }
    let guesses = Contents.guessed.map { guess in
      TwinAttempt("bytes by their hash \(guess.sha256.prefix(2))") { block in
        block.createAsset(AssetCreation(mediaType: .image, resources: [.stored(guess)]))
      }
    }
    return guesses
      + (0..<12).flatMap { index in
        [
          TwinAttempt("insert at \(index + 20)") { $0.album(album).insert([album], at: index + 20) },
          TwinAttempt("remove at 0 and \(index + 7)") { $0.album(album).remove(at: [0, index + 7]) },
          TwinAttempt("move to \(index + 20)") { $0.album(album).move(at: [0], to: index + 20) },
          TwinAttempt("top level at \(index + 20)") { $0.folder(nil).insert([album], at: index + 20) },
          TwinAttempt("own folder at \(index + 20)") { $0.folder(folder).move(at: [0], to: index + 20) },
        ]
      }
  }

  private static func decisions(_ twin: Twin) -> [TwinAttempt] {
    [
      TwinAttempt("nothing") { _ in },
      TwinAttempt("give itself full access") { $0.setAuthorizationStatus(.authorized, of: Twin.client) },
      TwinAttempt("decide about another") { $0.setAuthorizationStatus(.denied, of: "other") },
      TwinAttempt("register another") { $0.register(client: "other") },
      TwinAttempt("register nobody") { $0.register(client: "nobody") },
    ]
  }
}
