import EventLog
import Foundation
import LibraryAudit
import LibraryMaintenance
import LibraryPicking
import PhotoLedger
import TestSupport

/// One thing that a client can ask, by the name of the declaration that it is asked through.
struct TwinQuestion: Sendable {
  /// As ``PublicDeclarations`` spells it.
  let name: String
  let ask: @Sendable (Twin) async throws -> String

  init(_ name: String, _ ask: @escaping @Sendable (Twin) async throws -> String) {
    self.name = name
    self.ask = ask
  }

  /// The answers to one question about several things; an error is the answer to one of them.
  static func each<Thing>(
    _ name: String, _ things: @escaping @Sendable (Twin) throws -> [Thing],
    _ ask: @escaping @Sendable (Twin, Thing) async throws -> String
  ) -> TwinQuestion {
    TwinQuestion(name) { twin in
      var answers: [String] = []
      for thing in try things(twin) {
        do {
          answers.append(try await ask(twin, thing))
        } catch let error as LibraryError {
          answers.append(error.told)
        }
      }
      return answers.joined(separator: "\n  ")
    }
  }
}

/// Every public declaration of the library, asked by a limited client.
enum TwinQuestions {
  static let all: [TwinQuestion] =
    permissions + fetches + collections + objects + bytes + picking + history + identifiers + forOwners + changes

  /// Declarations that answer nothing about the library, each with the reason.
  static let others: [String: String] = [
    "client": "is what the caller passed in",
    "note(_:)": "takes what only the owner is given, and answers nothing",
    "owner": "is a constant",
    "create(at:environment:)": "makes another library",
    "as(_:)": "is how the client came to its view",
    "restore(from:to:resources:skippingDamagedFiles:environment:progress:)": "makes another library",
    "importLog(to:environment:next:progress:)": "makes another library",
    "rebuild(at:environment:unreadableEvents:progress:)": "is asked of a directory, with the right to write its files",
    "compact(at:sweepingResources:progress:)": "is asked of a directory, with the right to write its files",
    "close()": "ends the run: what is delivered then is among the deliveries",
    "register(_:)": "is among the deliveries",
    "defaultSnapshotSpacing": "is a constant",
    "momentDate": "is nil but for a moment, and compared with those",
    "undo(_:onConflict:cause:key:)": "is `undoAndWait` without blocking",
    "unavailabilityReason": "is about the store's files, and is the reason why this process lost them",
    "changes(to:composingBeyond:)": "is among the deliveries",
    "performChanges(cause:key:_:)": "is `performChangesAndWait` without blocking; the visible steps go through it",
    "performChanges(cause:key:_:completionHandler:)": "is `performChangesAndWait` with another way of answering",
  ]

  /// Identifiers that the client sees, saw, or must not know of, in the spelling of either kind of object.
  static func spellings(_ twin: Twin) -> [String] {
    (twin.named.values.sorted { $0.uuidString < $1.uuidString } + twin.strangers).flatMap {
      [$0.uuidString, "\($0.uuidString)/L0/001", "\($0.uuidString)/L0/040", "\($0.uuidString)/L0/020"]
    }
  }

  private static func held(_ twin: Twin) -> [Asset] { twin.keptAssets.sorted { $0.key < $1.key }.map(\.value) }

  private static func albums(_ twin: Twin) -> [PhotoCollection] {
    twin.keptAlbums.sorted { $0.key < $1.key }.map(\.value)
  }

  // MARK: Reading

  private static let permissions: [TwinQuestion] = [
    TwinQuestion("url") { "\($0.view.url.path)" },
    TwinQuestion("currentToken") { "\(try $0.view.currentToken)" },
    TwinQuestion("authorizationStatus(for:)") { twin in
      "\(try AccessLevel.allCases.map { try twin.view.authorizationStatus(for: $0) })"
    },
    TwinQuestion("authorizationStatus()") { "\(try $0.view.authorizationStatus())" },
    TwinQuestion("requestAuthorization(for:)") { "\(try await $0.view.requestAuthorization(for: .readWrite))" },
    TwinQuestion("presentLimitedLibraryPicker()") { "\(try await $0.view.presentLimitedLibraryPicker())" },
    TwinQuestion("unregisterChangeObserver(_:)") { twin in
      twin.view.unregisterChangeObserver(PromptObserver())
      return "done"
    },
    TwinQuestion("unregisterPersistentChangesObserver(_:)") { twin in
      twin.view.unregisterPersistentChangesObserver(IdleObserver())
      return "done"
    },
    TwinQuestion("unregisterAvailabilityObserver(_:)") { twin in
      twin.view.unregisterAvailabilityObserver(IdleObserver())
      return "done"
    },
  ]

  /// Options that let each property of an asset decide, and each flag.
  private static func options(_ twin: Twin) throws -> [FetchOptions] {
    var all = FetchOptions()
    (all.includeHiddenAssets, all.includeAllBurstAssets) = (true, true)
    all.includeAssetSourceTypes = [.userLibrary, .cloudShared, .iTunesSynced]
    var (window, trash, late) = (all, FetchOptions(), all)
    (window.fetchOffset, window.fetchLimit) = (1, 2)
    trash.showsTrash = true
    late.sort = [try SortTerm("modificationDate:desc", for: .asset)]
    var some = all
    some.condition = .or([.isTrue(.isFavorite), .comparison(.mediaType, .equal, .integer(1))])
    let words = ["img", "s", "jpg a", "nikon"].map { text in
      var search = all
      search.search = text
      return search
    }
    let described: [Condition] = [
      .isPresent(.caption), .isPresent(.keywords), .text(.originalFilename, .contains, "1", .caseInsensitive),
      .comparison(.dataSize, .greater, .integer(3)), .isNil(.cameraModel), .isPresent(.path), .isPresent(.stack),
      .not(.isTrue(.isBeneathStack)), .text(.stack, .contains, "0", .caseInsensitive),
    ]
    let details = described.map { condition in
      var asked = all
      asked.condition = condition
      return asked
    }
    return [FetchOptions(), all, window, trash, late, some] + words + details
  }

  private static let fetches: [TwinQuestion] = [
    .each("fetchAssets(_:in:)", { try options($0) }) { twin, options in
      let all = try twin.view.fetchAssets(options)
      var told = [all.told, "\(try twin.view.listed(0..<all.count, of: all))"]
      for album in albums(twin) where album.canContainAssets {
        told.append(try twin.view.fetchAssets(options, in: album).told)
      }
      return told.joined(separator: "\n  ")
    },
    TwinQuestion("fetchAssets(where:sortedBy:limit:)") { twin in
      let image = MediaType.image
      return try twin.view.fetchAssets(
        where: #Predicate { $0.mediaType == image }, sortedBy: [SortDescriptor(\.addedDate, order: .reverse)], limit: 3
      ).told
    },
    .each("fetchAssets(with:_:)", { _ in [MediaType.image, .video, .audio] }) {
      try $0.view.fetchAssets(with: $1).told
    },
    .each(
      "fetchAssets(withBurstIdentifier:_:)", { twin in try options(twin).map { ("burst", $0) } + [("far", .init())] }
    ) {
      try $0.view.fetchAssets(withBurstIdentifier: $1.0, $1.1).told
    },
    .each("fetchAssets(withLocalIdentifiers:_:)", { try options($0) }) {
      try $0.view.fetchAssets(withLocalIdentifiers: spellings($0), $1).told
    },
    .each("fetchKeyAssets(in:_:)", albums) { try $0.view.fetchKeyAssets(in: $1)?.told ?? "none" },
    TwinQuestion("transientAlbum(_:title:)") { twin in
      let list = twin.view.transientAlbum(held(twin), title: "list")
      let result = try twin.view.fetchAssets(FetchOptions())
      let other = twin.view.transientAlbum(result, title: "result")
      return "\(list.told) \(try twin.view.fetchAssets(FetchOptions(), in: list).told) \(other.told)"
    },
    TwinQuestion("transientFolder(_:title:)") { twin in
      let list = twin.view.transientFolder(albums(twin), title: "list")
      let other = twin.view.transientFolder(try twin.view.fetchCollections(), title: "result")
      return "\(list.told) \(try twin.view.fetchCollections(in: list).told) \(other.told)"
    },
  ]

  private static let collections: [TwinQuestion] = [
    TwinQuestion("fetchCollections(_:)") { twin in
      var trash = FetchOptions()
      trash.showsTrash = true
      var size = FetchOptions()
      size.sort = [try SortTerm("estimatedAssetCount:desc", for: .collection)]
      return try [FetchOptions(), trash, size].map { try twin.view.fetchCollections($0).told }.joined(separator: "\n  ")
    },
    .each("fetchCollections(with:subtype:_:)", { _ in [PhotoCollection.Kind.album, .folder, .smartAlbum] }) {
      twin, kind in
      let found = try twin.view.fetchCollections(with: kind)
      let shown = try found.filter(\.canContainAssets).map { try twin.view.fetchAssets(FetchOptions(), in: $0).told }
      return "\(found.told) \(shown)"
    },
    .each("fetchCollections(in:_:)", { [nil] + albums($0).map(Optional.some) }) {
      try $0.view.fetchCollections(in: $1).told
    },
    .each("fetchCollections(withLocalIdentifiers:_:)", { _ in [FetchOptions()] }) {
      try $0.view.fetchCollections(withLocalIdentifiers: spellings($0), $1).told
    },
    TwinQuestion("fetchCollections(containing:_:)") { twin in
      let assets = try held(twin).map { try twin.view.fetchCollections(containing: $0).told }
      return "\(assets) \(try albums(twin).map { try twin.view.fetchCollections(containing: $0).told })"
    },
    TwinQuestion("fetchTopLevelUserCollections(_:)") { try $0.view.fetchTopLevelUserCollections().told },
    TwinQuestion("canPerform(_:on:)") { twin in
      let operations: [AssetEditOperation] = [.delete, .content, .properties]
      let assets = try held(twin).map { asset in try operations.map { try twin.view.canPerform($0, on: asset) } }
      let own = try albums(twin).map { album in
        try CollectionEditOperation.allCases.map { try twin.view.canPerform($0, on: album) }
      }
      return "\(assets) \(own)"
    },
    .each("asset(_:)", spellings) { try $0.view.asset($1)?.told ?? "none" },
    .each("collection(_:)", spellings) { try $0.view.collection($1)?.told ?? "none" },
  ]

  private static let objects: [TwinQuestion] = [
    .each("resources(of:)", held) {
      "\(try $0.view.resources(of: $1)) \(try $0.view.shownContents(of: [$1])) \(try $0.view.listed([$1]))"
    },
    .each("extendedMetadata(of:)", held) { "\(try $0.view.extendedMetadata(of: $1))" },
    .each("assets(withContent:)", { _ in Contents.all }) { "\(try $0.view.assets(withContent: $1).map(\.told))" },
    .each("assets(withSHA1:)", { _ in Contents.sha1s }) { "\(try $0.view.assets(withSHA1: $1).map(\.told))" },
    .each("assets(withContentIdentifier:)", { _ in ["pair", "far"] }) {
      "\(try $0.view.assets(withContentIdentifier: $1).map(\.told))"
    },
    .each("editingInput(for:canHandleAdjustmentData:)", held) { twin, asset in
      let input = try twin.view.editingInput(for: asset) { _ in true }
      return "\(input.asset.told) \(String(describing: input.adjustmentData)) \(input.base) \(input.resources)"
    },
  ]

  private static let bytes: [TwinQuestion] = [
    .each("data(of:in:options:)", pairs) { twin, pair in
      var bytes = Data()
      for try await chunk in twin.view.data(of: pair.0, in: pair.1) { bytes += chunk }
      return "\(bytes.count) bytes: \(Array(bytes.prefix(40)))"
    },
    .each("write(_:in:to:replacing:options:)", pairs) { twin, pair in
      let file = twin.temporary.folder.place("copy")
      try await twin.view.write(pair.0, in: pair.1, to: file, replacing: true)
      return "\(try Data(contentsOf: file).count) bytes"
    },
    .each("state(of:in:hashing:)", pairs) { "\(try await $0.view.state(of: $1.0, in: $1.1, hashing: true))" },
    .each("requestData(for:in:options:dataReceivedHandler:completionHandler:)", pairs) { twin, pair in
      await withCheckedContinuation { continuation in
        twin.view.requestData(for: pair.0, in: pair.1, dataReceivedHandler: { _ in }) { failure in
          continuation.resume(returning: failure?.told ?? "all given")
        }
      }
    },
    TwinQuestion("cancelDataRequest(_:)") { twin in
      guard let (resource, asset) = try pairs(twin).first else { return "nothing to ask" }
      let id = twin.view.requestData(for: resource, in: asset, dataReceivedHandler: { _ in }) { _ in }
      twin.view.cancelDataRequest(id)
      return "done"
    },
    .each("url(of:in:)", pairs) { try $0.view.url(of: $1.0, in: $1.1).path },
  ]

  /// Each resource that the client ever held, in each asset that it ever held.
  private static func pairs(_ twin: Twin) throws -> [(AssetResource, Asset)] {
    held(twin).flatMap { asset in (twin.keptResources + Contents.guessed).map { ($0, asset) } }
  }

  private static let history: [TwinQuestion] = [
    TwinQuestion("earliestToken") { "\(try $0.view.earliestToken)" },
    .each("fetchPersistentChanges(since:limit:showsTrash:)", tokens) { twin, token in
      var told: [String] = []
      for showsTrash in [true, false] {
        for change in try twin.view.fetchPersistentChanges(since: token, showsTrash: showsTrash) {
          do { told.append(try change.told) } catch let error as LibraryError { told.append(error.told) }
        }
      }
      return "\(told) \(try twin.view.fetchPersistentChanges(since: token, limit: 1).count)"
    },
    .each("at(_:)", tokens) { twin, token in
      let view = try twin.view.at(token)
      return "\(view.momentDate as Any) \(try view.currentToken) \(try view.fetchAssets().told)"
    },
    .each("at(date:)", { _ in [.distantPast, Date(timeIntervalSince1970: 1_750_000_000), .distantFuture] }) {
      twin, date in
      let view = try twin.view.at(date: date)
      return "\(try view.currentToken) \(try view.fetchAssets().told)"
    },
    .each("at(sequence:)", { _ in (0...40).map { UInt64($0) } }) { twin, sequence in
      try twin.view.at(sequence: sequence).fetchAssets().told
    },
    .each("changeDetails(from:to:)", tokens) { twin, token in
      let details = try twin.view.changeDetails(from: try twin.view.fetchAssets(), to: token)
      let indexes = [details.removedIndexes, details.insertedIndexes, details.changedIndexes].map { $0.map(Array.init) }
      return "\(indexes) \(details.moves) \(details.commits.count) \(details.fetchResultAfterChanges.told)"
    },
    .each("shortenHistory(to:)", tokens) { twin, token in
      try twin.view.shortenHistory(to: token)
      return "done"
    },
  ]

  /// The tokens that the client was given, and those that it would try to find out how many commits there are.
  private static func tokens(_ twin: Twin) throws -> [Token] {
    let now = try twin.view.currentToken
    let parts = now.description.split(separator: "-")
    return try twin.keptTokens + [now]
      + (0..<40).map { try Token("t1-\(parts[1])-\(String($0, radix: 36))") }
      + (0..<40).map { try Token("v1-\(parts[1])-\(parts[2])-\(String($0, radix: 36))") }
  }

  private static let identifiers: [TwinQuestion] = [
    TwinQuestion("cloudIdentifierMappings(forLocalIdentifiers:showsTrash:)") { twin in
      try [true, false].map { trash in
        let found = try twin.view.cloudIdentifierMappings(forLocalIdentifiers: spellings(twin), showsTrash: trash)
        return "\(found.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })"
      }.joined(separator: "\n  ")
    },
    TwinQuestion("localIdentifierMappings(for:syncedOnly:showsTrash:)") { twin in
      guard let asset = twin.named["a0"], let known = try cloud(of: asset, twin) else { return "nothing to ask" }
      let library = known.stringValue.prefix { $0 != ":" }
      let ids = (twin.named.values + twin.strangers).flatMap { id in
        [""].map { "\(library):\(id.uuidString):\($0)" }
          + Contents.all.map { "\(library):\(id.uuidString):\($0.hexadecimal)" }
      }
      let all = ids.compactMap { CloudIdentifier(archivalStringValue: $0) }
      return try [(false, true), (true, true), (false, false)].map { synced, trash in
        let found = try twin.view.localIdentifierMappings(for: all, syncedOnly: synced, showsTrash: trash)
        return "\(found.map { "\($0.key.stringValue) \($0.value)" }.sorted())"
      }.joined(separator: "\n  ")
    },
  ]

  private static func cloud(of id: LocalIdentifier, _ twin: Twin) throws -> CloudIdentifier? {
    try twin.owner.cloudIdentifierMappings(forLocalIdentifiers: [id.uuidString]).values.first?.get()
  }

  private static let forOwners: [TwinQuestion] = [
    TwinQuestion("maintenanceRecord()") { twin in "\(try twin.view.maintenanceRecord())" },
    TwinQuestion("setPermissionPrompt(_:)") { twin in
      try twin.view.setPermissionPrompt(nil)
      return "done"
    },
    TwinQuestion("setChangeConfirmation(_:)") { twin in
      try twin.view.setChangeConfirmation(nil)
      return "done"
    },
    TwinQuestion("setRepresentationConverter(_:)") { twin in
      try twin.view.setRepresentationConverter(nil)
      return "done"
    },
    TwinQuestion("setMediaProbe(_:whenUnavailable:)") { twin in
      try twin.view.setMediaProbe(nil)
      return "done"
    },
    TwinQuestion("clients()") { "\(try $0.view.clients())" },
    .each("selection(of:)", { _ in [Twin.client, "other", "nobody"] }) {
      "\(try $0.view.selection(of: $1).map(\.told))"
    },
    .each("access(toAsset:at:)", spellings) { "\(try $0.view.access(toAsset: $1))" },
    .each("access(to:at:)", spellings) { "\(try $0.view.access(to: $1))" },
    .each("blame(_:includingFormer:at:)", spellings) { "\(try $0.view.blame($1))" },
    .each("accessIntervals(of:at:)", { _ in [Twin.client, "other", "nobody"] }) {
      "\(try $0.view.accessIntervals(of: $1))"
    },
    .each("forEachPropertyChange(of:_:_:)", spellings) { twin, spelling in
      var count = 0
      try twin.view.forEachPropertyChange(of: spelling) { _ in
        count += 1
        return true
      }
      return "\(count) changes"
    },
    TwinQuestion("statistics()") { "\(try $0.view.statistics())" },
    TwinQuestion("verify(scratch:hashingContent:against:progress:)") { "\(try $0.view.verify())" },
    TwinQuestion("checkpoint(progress:)") { "\(try $0.view.checkpoint())" },
    .each("inclusionProof(ofSequence:inFirst:includingRecord:)", { _ in [1, 5, 9999] as [UInt64] }) {
      "\(try $0.view.inclusionProof(ofSequence: $1))"
    },
    TwinQuestion("consistencyProof(from:to:)") { "\(try $0.view.consistencyProof(from: 1, to: 2))" },
    TwinQuestion("makeSnapshots(spacing:progress:)") { "\(try $0.view.makeSnapshots(spacing: 10))" },
    TwinQuestion("snapshots()") { "\(String(describing: try $0.view.snapshots()))" },
    TwinQuestion("dropSnapshots()") { twin in
      try twin.view.dropSnapshots()
      return "done"
    },
    .each("planUndo(_:onConflict:)", undoings) { "\(try $0.view.planUndo($1))" },
    .each("undoAndWait(_:onConflict:cause:key:)", undoings) { "\(try $0.view.undoAndWait($1))" },
    TwinQuestion("backup(to:resources:progress:)") { "\(try $0.view.backup(to: nowhere))" },
    TwinQuestion("fork(to:progress:)") { "\(try $0.view.fork(to: nowhere))" },
    TwinQuestion("exportLog(after:through:_:)") { twin in
      var lines: [String] = []
      try twin.view.exportLog { lines.append($0) }
      return lines.joined(separator: " ")
    },
    TwinQuestion("appendLog(next:progress:)") { "\(try $0.view.appendLog(next: { nil }))" },
    TwinQuestion("compare(with:_:)") { twin in
      var count = 0
      let found = try twin.view.compare(with: twin.view) { _ in
        count += 1
        return true
      }
      return "\(count) of \(found)"
    },
    .each("erasurePreview(of:)", identifiers) { "\(try $0.view.erasurePreview(of: [$1]))" },
    .each("eraseAssets(_:cause:)", identifiers) { "\(try $0.view.eraseAssets([$1]))" },
    TwinQuestion("rebuild(unreadableEvents:progress:)") { twin in
      try twin.view.rebuild()
      return "done"
    },
    .each("forEachLogEntry(_:newestFirst:limit:_:)", filters) { twin, filter in
      var count = 0
      try twin.view.forEachLogEntry(filter) { _ in
        count += 1
        return true
      }
      return "\(count) entries"
    },
  ]

  /// Where nothing is ever made.
  private static let nowhere = URL(filePath: "/nonexistent/library")

  private static func identifiers(_ twin: Twin) -> [LocalIdentifier] {
    twin.named.values.sorted { $0.uuidString < $1.uuidString } + twin.strangers
  }

  private static func undoings(_ twin: Twin) throws -> [UndoSelection] {
    try tokens(twin).map { UndoSelection.commit($0) } + [UndoSelection(), .cause("import")]
  }

  private static func filters(_ twin: Twin) -> [LogFilter] {
    ([nil] + twin.strangers.map(Optional.some)).map { id in
      var filter = LogFilter()
      filter.object = id
      return filter
    }
  }

  // MARK: Changing what it must not know of

  private static let changes: [TwinQuestion] = [
    .each("performChangesAndWait(cause:key:_:)", TwinAttempts.all) { twin, attempt in
      let before = try twin.owner.currentToken
      do {
        let receipt = try twin.view.performChangesAndWait { try attempt.make($0) }
        guard try twin.owner.currentToken == before else {
          throw Divergence("'\(attempt.name)' was to change nothing in either library.")
        }
        return "\(attempt.name): \(receipt.told)"
      } catch let error as LibraryError {
        return "\(attempt.name): \(error.told)"
      }
    }
  ]
}

/// An observer that was never registered.
private final class IdleObserver: PhotoLibraryPersistentChangesObserver, PhotoLibraryAvailabilityObserver {
  func photoLibraryPersistentChangesDidUpdate(_ library: PhotoLibrary) {}
  func photoLibraryDidBecomeUnavailable(because reason: LibraryError) {}
}

/// The contents that the twins' files have, some in the library with more alone.
enum Contents {
  static let visible = (0..<4).map { Data("visible \($0)".utf8) }
  static let hidden = (0..<4).map { Data("hidden \($0)".utf8) }
  static var all: [[UInt8]] { (visible + hidden).map { SHA256.digest(of: Array($0)).bytes } }

  /// The SHA-1 of each.
  static let sha1s: [[UInt8]] = [
    "5b081da5f837698f9a82eb1c610c7f299e618bb0",  // visible 0
    "ab3186dec26ce86b3059a3f9d5ccf250c607e756",  // visible 1
    "039b8d637bf221a7aa4d387656ce857c06a78e80",  // visible 2
    "fd7d5734ea28c11975932a09d149776637f288e4",  // visible 3
    "65e4e96fc69d7dade23fb6197c4841f6ed0bc98a",  // hidden 0
    "9898fe7a89ca0dbabf59374f6b2f9688b13315f1",  // hidden 1
    "e9f57354098b96d9a298d2b416b9554efb0043c5",  // hidden 2
    "46030ee1b8cc2a9991e3646673b9ea11e765f1f0",  // hidden 3
  ].map { text in
    stride(from: 0, to: 40, by: 2).map { UInt8(text.dropFirst($0).prefix(2), radix: 16) ?? 0 }
  }

  static func draft(_ data: Data) -> ResourceDraft {
    ResourceDraft(type: .photo, source: .data(data), originalFilename: "IMG.JPG")
  }

  /// Files that a client would ask for that knows the hash of what it must not see.
  static var guessed: [AssetResource] {
    hidden.map { data in
      AssetResource(
        type: .photo, originalFilename: "IMG.JPG", uniformTypeIdentifier: "public.jpeg", dataSize: UInt64(data.count),
        sha256: SHA256.digest(of: Array(data)).bytes)
    }
  }
}

extension [UInt8] {
  fileprivate var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
