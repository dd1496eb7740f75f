import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Nothing leaks")
struct NothingLeaksTests {
  @Test(
    "a limited client cannot tell two libraries apart that differ outside of what it sees (AU-01)",
    .timeLimit(.minutes(60)))
  func nothingLeaks() async throws {
    let full = try await TwinStory(Twin(hasMore: true)).tell()
    let plain = try await TwinStory(Twin(hasMore: false, probes: full.probes)).tell()
    #expect(full.hidden.count > 20 && plain.hidden.isEmpty)
    for (index, (one, other)) in zip(full.transcript, plain.transcript).enumerated() where one != other {
      let look = full.transcript[...index].last { $0.hasPrefix("LOOK") } ?? ""
      Issue.record("\(look)\n\(Self.difference(one, other))")
    }
    #expect(full.transcript.count == plain.transcript.count)
    for (one, other) in zip(full.deliveries, plain.deliveries) where one != other {
      Issue.record("a delivery\n\(Self.difference(one, other))")
    }
    #expect(full.deliveries.count == plain.deliveries.count, "a commit outside was delivered, or one within was not")
    #expect(full.deliveries.count > 20)
  }

  /// The first place where two answers differ.
  private static func difference(_ one: String, _ other: String) -> String {
    let common = zip(one, other).prefix { $0 == $1 }.count
    func part(_ text: String) -> String { String(text.dropFirst(max(common - 120, 0)).prefix(240)) }
    return "in \(one.prefix { $0 != ":" })\nwith more: \(part(one))\nplain: \(part(other))"
  }

  @Test("every public declaration of a library is called by the limited client, or excluded with a reason")
  func isComplete() throws {
    let declared = try PublicDeclarations.ofTheLibrary()
    let known = Set(TwinQuestions.all.map(\.name)).union(TwinQuestions.others.keys)
    #expect(declared.count > 50)
    for missing in declared.subtracting(known).sorted() {
      Issue.record("PhotoLibrary.\(missing) is not among TwinQuestions: what does a limited client learn from it?")
    }
    for gone in known.subtracting(declared).sorted() { Issue.record("PhotoLibrary has no \(gone) any more.") }
  }
}

/// What the client received of one library.
struct TwinRecord {
  var transcript: [String]
  var deliveries: [String]
  var probes: [[LocalIdentifier]]
  var hidden: [LocalIdentifier]
}

/// What happens to both libraries, and to one of them behind the client's back.
struct TwinStory {
  let twin: Twin

  init(_ twin: Twin) { self.twin = twin }

  func tell() async throws -> TwinRecord {
    try await begin()
    try await keepHouse()
    try await look("after the first albums", keeping: true)
    try twin.observe()
    try await hideMuch()
    try await look("behind its back")
    try await change()
    try await look("after changes of its own")
    try await grantAndWithdraw()
    try await look("after grants and withdrawals")
    try await tidyUp()
    try await look("after deletions")
    try await deny()
    let deliveries = try await twin.end()
    return TwinRecord(
      transcript: twin.transcript, deliveries: deliveries, probes: twin.probes, hidden: twin.hidden)
  }

  private func look(_ name: String, keeping isKept: Bool = false) async throws {
    if isKept { try keep() }
    try await twin.look(name, TwinQuestions.all)
  }

  /// Takes hold of everything that the client sees.
  private func keep() throws {
    var all = FetchOptions()
    (all.includeHiddenAssets, all.includeAllBurstAssets) = (true, true)
    let assets = try twin.view.fetchAssets(all)
    for (name, id) in twin.named {
      if let asset = assets.first(where: { $0.id == id }) {
        twin.keptAssets[name] = asset
        twin.keptResources += try twin.view.resources(of: asset)
      }
      if let album = try twin.view.collection(id.uuidString) { twin.keptAlbums[name] = album }
    }
    twin.keptResources.sort { "\($0)" < "\($1)" }
    twin.keptTokens.append(try twin.view.currentToken)
    twin.keptResults.append(assets)
    twin.keptResults.append(try twin.view.fetchAssets())
    if let own = twin.keptAlbums["own"] { twin.keptResults.append(try twin.view.fetchAssets(all, in: own)) }
  }

  private func created(_ receipt: CommitReceipt, _ names: String...) {
    for (name, id) in zip(names, receipt.created.compactMap { LocalIdentifier($0) }) { twin.named[name] = id }
  }

  private subscript(_ name: String) -> LocalIdentifier {
    twin.named[name] ?? LocalIdentifier(high: 0, low: 0)
  }

  private func asset(_ data: Data, _ day: Double, burst: String? = nil) -> AssetCreation {
    var creation = AssetCreation(mediaType: .image, resources: [Contents.draft(data)])
    creation.creationDate = Date(timeIntervalSince1970: day * 86_400)
    creation.burstIdentifier = burst
    return creation
  }

  // MARK: The chapters

  /// Four assets for the client to see, among others.
  private func begin() async throws {
    try await twin.hide { block in
      for index in 0..<4 { block.createAsset(asset(Contents.hidden[index], Double(index))) }
      // The same bytes as one that the client sees, and a burst that it will have a part in.
      block.createAsset(asset(Contents.visible[0], 1))
      block.createAsset(asset(Contents.hidden[0], 1, burst: "burst"))
      block.createAsset(asset(Contents.hidden[1], 1, burst: "far"))
      block.createAlbum(title: "hidden")
      block.createFolder(title: "hidden")
      block.createSmartAlbum(title: "hidden", where: .isTrue(.isFavorite))
    }
    created(
      try await twin.visible { block in
        for index in 0..<4 { block.createAsset(asset(Contents.visible[index], Double(index))) }
        block.createFolder(title: "vault")
      }, "a0", "a1", "a2", "a3", "vault")
    try await twin.hide { block in
      block.register(client: "other")
      block.setAuthorizationStatus(.limited, of: "other")
      block.grant([self["a0"], self["a1"]], to: "other")
    }
    try await twin.visible { block in
      var registration = ClientRegistration()
      registration.readWriteUsageDescription = "to look"
      block.register(client: Twin.client, registration)
      block.setAuthorizationStatus(.limited, of: Twin.client)
      block.grant([self["a0"], self["a1"], self["a2"]], to: Twin.client)
    }
  }

  /// Albums of the client's own, which others put things into.
  private func keepHouse() async throws {
    created(
      try await twin.visible(as: Twin.client) { block in
        let album = block.createAlbum(title: "own")
        block.album(album).add([self["a0"], self["a1"], self["a2"]])
        let folder = block.createFolder(title: "folder")
        block.createSmartAlbum(title: "smart", where: .isTrue(.isFavorite))
        block.createAlbum(title: "second")
        block.folder(folder).add([album])
      }, "own", "folder", "smart", "second")
    try await twin.visible { $0.folder(self["vault"]).add([self["second"]]) }
    try await twin.hide { block in
      for index in 0..<4 { block.album(self["own"]).insert([twin.hidden[index]], at: index) }
      block.album(self["second"]).add([twin.hidden[4]])
      block.folder(self["folder"]).insert([twin.hidden[7]], at: 0)
      block.folder(self["folder"]).add([twin.hidden[8]])
      block.album(twin.hidden[7]).add([self["a0"], self["a2"], twin.hidden[0]])
    }
  }

  /// All that can happen outside of a view.
  private func hideMuch() async throws {
    try await twin.hide { block in
      block.setFavorite(true, for: [twin.hidden[0], twin.hidden[1]])
      block.setHidden(true, for: [twin.hidden[1]])
      block.setTitle("other", of: twin.hidden[7])
      block.deleteAssets([twin.hidden[2]])
    }
    try await twin.hide { $0.purgeAssets([twin.hidden[2]]) }
    try await twin.hide { block in
      // Another cover than the client's, which it goes on to see.
      block.setCover(twin.hidden[0], of: self["own"])
      block.album(self["own"]).move(at: [0], to: 4)
      block.album(self["second"]).remove([twin.hidden[4]])
      block.createAsset(asset(Contents.hidden[3], 8, burst: "burst"))
      // What the client sees lies beneath what it does not, or is on top of that.
      block.stack(top: twin.hidden[3], others: [self["a0"], self["a2"]])
      block.stack(top: self["a1"], others: [twin.hidden[1]])
      block.deleteCollections([twin.hidden[9]])
    }
    try await twin.hide(as: "other") { block in
      let id = block.createAlbum(title: "other's")
      block.album(id).add([self["a0"]])
      block.createAsset(asset(Contents.hidden[2], 9))
    }
    try await twin.hide { block in
      block.withdraw([self["a1"]], from: "other")
      block.setAuthorizationStatus(.denied, of: "other")
      block.folder(twin.hidden[8]).add([twin.hidden[7]])
      // From one folder that the client does not see to another.
      block.folder(twin.hidden[8]).add([self["second"]])
    }
    for index in 0..<12 { try await twin.hide { $0.createAlbum(title: "hidden \(index)") } }
  }

  /// What the client and the owner do in its sight, counting on what it sees.
  private func change() async throws {
    let held = try twin.view.fetchAssets(FetchOptions(), in: twin.view.collection(self["own"].uuidString))
    try await twin.visible(as: Twin.client) { block in
      block.album(self["own"]).move(at: [0], to: 2)
      block.setTitle("own, and arranged", of: self["own"])
    }
    try await twin.settle()
    try await twin.hide { $0.setCover(twin.hidden[3], of: self["own"]) }
    // In one library the album has another cover by now, or none.
    try await twin.visible(as: Twin.client) { $0.setCover(self["a0"], of: self["own"]) }
    try await twin.settle()
    created(
      try await twin.visible(as: Twin.client) { block in
        var creation = asset(Contents.visible[3], 5, burst: "burst")
        // As though it had come back from a library that took it from this one.
        creation.origin = try twin.cloudIdentifier(of: twin.stranger)
        let id = block.createAsset(creation)
        block.album(self["own"]).insert([id], at: 1)
        block.album(self["second"]).insert([id], at: 0)
      }, "a4")
    try await twin.settle()
    try await twin.hide { block in
      block.album(self["own"]).remove([twin.hidden[0]])
      block.stack(top: self["a2"], others: [])
      block.stack(top: self["a0"], others: [self["a4"], self["a1"]])
    }
    try await twin.visible(as: Twin.client) { block in
      block.album(self["own"], assets: held).insert([self["a4"]], at: 1)
      block.album(self["own"], assets: held).remove(at: [2])
    }
    try await twin.settle()
    try await twin.visible { block in
      block.setFavorite(true, for: [self["a0"], self["a2"]])
      // One commit that concerns what the client sees and what it does not.
      for id in twin.hidden.prefix(2) { block.setFavorite(false, for: [id]) }
    }
    try await twin.settle()
    try await twin.visible { $0.setHidden(true, for: [self["a2"]]) }
    try await twin.settle()
  }

  private func grantAndWithdraw() async throws {
    try await twin.visible { $0.grant([self["a3"]], to: Twin.client) }
    try await twin.settle()
    try await twin.hide { $0.grant([twin.hidden[0]], to: "other") }
    let held = try twin.view.fetchAssets(FetchOptions(), in: twin.view.collection(self["own"].uuidString))
    let place = try twin.view.asset(self["a1"].uuidString).flatMap { try held.index(ofObject: $0) } ?? 0
    try await twin.visible { $0.withdraw([self["a1"]], from: Twin.client) }
    try await twin.settle()
    try await twin.hide { block in
      // The asset that was withdrawn goes on without the client, in its album too.
      block.setFavorite(true, for: [self["a1"]])
      block.album(self["own"]).remove([self["a1"]])
      block.album(self["own"]).add([self["a1"]])
      block.deleteAssets([self["a1"]])
    }
    // Before what it no longer sees, wherever that is by now.
    try await twin.visible(as: Twin.client) { $0.album(self["own"], assets: held).insert([self["a3"]], at: place) }
    try await twin.settle()
    try keep()
  }

  private func tidyUp() async throws {
    try await twin.visible(as: Twin.client) { $0.deleteAssets([self["a3"]]) }
    try await twin.settle()
    try await twin.hide { $0.purgeAssets([self["a1"]]) }
    // What others put into the folder is not deleted with it.
    try await twin.visible(as: Twin.client) { $0.deleteCollections([self["folder"]]) }
    try await twin.settle()
    try await twin.visible { $0.purgeAssets([self["a3"]]) }
    try await twin.settle()
  }

  /// A denied client sees nothing, and nothing of what goes on.
  private func deny() async throws {
    try await twin.visible { $0.setAuthorizationStatus(.denied, of: Twin.client) }
    try await twin.settle()
    try await look("denied")
    try await twin.hide { block in
      block.setFavorite(false, for: [self["a0"]])
      block.grant([twin.hidden[0]], to: Twin.client)
    }
    try await look("denied, and granted something behind its back")
    try await twin.hide { block in
      block.setFavorite(true, for: [self["a0"]])
      block.withdraw([twin.hidden[0]], from: Twin.client)
    }
  }
}

/// The public declarations of a type, read from the sources.
enum PublicDeclarations {
  /// Every public function and property of `PhotoLibrary`: functions with the labels of their parameters.
  static func ofTheLibrary() throws -> Set<String> {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources")
    var found: Set<String> = []
    for module in ["PhotoLedger", "LibraryAudit", "LibraryPicking", "LibraryMaintenance"] {
      let folder = sources.appending(path: module)
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        found.formUnion(names(in: try String(contentsOf: file, encoding: .utf8)))
      }
    }
    return found
  }

  private static func names(in text: String) -> [String] {
    var names: [String] = []
    var isInside = false
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("extension PhotoLibrary {") || line.hasPrefix("public final class PhotoLibrary") {
        isInside = true
      } else if line.hasPrefix("}") {
        isInside = false
      }
      guard isInside, line.hasPrefix("  "), !line.hasPrefix("   ") else { continue }
      let words = line.split(separator: " ").map(String.init)
      guard words.contains("public"), let kind = words.firstIndex(where: { ["func", "var", "let"].contains($0) }),
        kind + 1 < words.count
      else { continue }
      if words[kind] == "func" {
        names.append(signature(lines[index...].prefix(8).joined(separator: " ")))
      } else {
        names.append(String(words[kind + 1].prefix { $0.isLetter }))
      }
    }
    return names
  }

  /// A function's name and labels: `f(_:of:)`.
  private static func signature(_ text: String) -> String {
    let rest = text[text.range(of: "func ")!.upperBound...]
    let name = rest.prefix { $0 != "(" && $0 != "<" }.filter { $0 != "`" }
    var labels: [String] = []
    var depth = 0
    var parameter = ""
    for character in rest.drop(while: { $0 != "(" }) {
      if ")]>".contains(character), parameter.last != "-" { depth -= 1 }
      let isEnd = depth == 0 && character == ")"
      if isEnd || (depth == 1 && character == ",") {
        if let label = parameter.split(separator: " ").first?.split(separator: ":").first { labels.append("\(label):") }
        parameter = ""
      } else if depth > 0 {
        parameter.append(character)
      }
      if isEnd { break }
      if "([<".contains(character) { depth += 1 }
    }
    return "\(name)(\(labels.joined()))"
  }
}
