import Foundation
import LibraryPicking
import PhotoLedger
import TestSupport

extension TwinQuestions {
  /// What a limited client learns by having assets picked, and by making items up.
  static let picking: [TwinQuestion] = [
    .each("beginPicking(_:)", { _ in [true, false] }) { twin, namesAssets in
      var configuration = namesAssets ? PickerConfiguration(library: twin.view) : PickerConfiguration()
      configuration.selectionLimit = 0
      if namesAssets { configuration.preselectedAssetIdentifiers = spellings(twin) }
      let session = try twin.view.beginPicking(configuration)
      session.deselectAssets(withIdentifiers: [twin.stranger.uuidString])
      session.moveAsset(withIdentifier: twin.stranger.uuidString, afterAssetWithIdentifier: nil)
      try session.update(PickerUpdate(selectionLimit: 900))
      let open = session.state
      session.cancel()
      var results: [[PickedItem]] = []
      for await result in session.results { results.append(result) }
      return "\(open) \(session.state) \(results)"
    },
    TwinQuestion("pickingSessions()") { "\(try $0.view.pickingSessions().count)" },
    TwinQuestion("present(_:)") { twin in
      let session = try twin.view.beginPicking()
      defer { session.cancel() }
      return "\(try twin.view.present(session).candidates(FetchOptions()).count)"
    },
    .each("pickedItem(_:)", itemTokens) { "\(try $0.view.pickedItem($1))" },
    .each("load(_:options:)", items) { twin, item in "\(try await twin.view.load(item).count) bytes" },
    .each("data(of:options:)", items) { twin, item in
      var count = 0
      for try await chunk in twin.view.data(of: item) { count += chunk.count }
      return "\(count) bytes"
    },
    .each("write(_:to:replacing:options:)", items) { twin, item in
      let file = twin.temporary.folder.place("item")
      try await twin.view.write(item, to: file, replacing: true)
      return "\(try Data(contentsOf: file).count) bytes"
    },
  ]

  /// Tokens of items as a client would forge them to find picks, or assets, of others.
  private static func itemTokens(_ twin: Twin) throws -> [String] {
    let now = try twin.view.currentToken
    let parts = now.description.split(separator: "-")
    let middle = String(UInt64(1) << 63, radix: 36)
    return twin.strangers.map { "o1.\($0.uuidString)" }
      + (0..<40).map { "p1.t1-\(parts[1])-\(String($0, radix: 36)).\(middle)" }
      + (0..<40).map { "p1.v1-\(parts[1])-\(parts[2])-\(String($0, radix: 36)).\(middle)" }
  }

  /// Items that were never given: archived ones whose token was replaced.
  private static func items(_ twin: Twin) throws -> [PickedItem] {
    try itemTokens(twin).map { token in
      let archived = """
        {"supportedContentTypes":["public.jpeg"],"token":"\(token)","preferredRepresentation":0,"metadataOptions":0}
        """
      return try JSONDecoder().decode(PickedItem.self, from: Data(archived.utf8))
    }
  }
}
