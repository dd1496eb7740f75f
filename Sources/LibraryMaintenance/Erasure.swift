import EventLog
import Foundation
import Glibc
import LMDB
import Synchronization
public import PhotoLedger

// Forgetting an asset for good.
//
//     preview ─▶ confirmation ─▶ trash and purge ─▶ files removed ─▶ log: payloads out, asset.erased in ─┐
//                                one commit         and looked for   commits of at most 256 assets       │
//                                                           caches ◀─ reports of imports ◀─ snapshots ◀──┘
//
// The order is that of knowledge: the log names the files, so they go before the log forgets them, and the reports of
// imports and the caches, which nothing here needs, go last. Each step finds done what an earlier attempt did, so an
// erasure that was cut short is asked for again and goes on.
//
// What it reaches is this library. A backup made before, a fork that shares the file, an export, a sidecar that was
// written beside an original, another program's copy, and the free space of the store until it is compacted still have
// what was erased.

/// What erasing one asset takes, or took.
public struct ErasedAsset: Sendable, Hashable {
  /// A file that stays where it is.
  public struct KeptFile: Sendable, Hashable {
    /// Why a file stays.
    public enum Reason: String, Sendable {
      /// Another asset has the same content, or had it, and an undo can bring it back.
      case shared
      /// It never was the library's: the asset referred to it.
      case referenced
    }

    /// The path of the file.
    public let path: String
    /// Why it stays.
    public let reason: Reason
  }

  /// The asset; its identifier stays in the log, so that the log can say what was erased.
  public let id: LocalIdentifier
  /// Whether it had been purged before.
  public let wasPurged: Bool
  /// The names of its files, those that edits have replaced included.
  public let originalFilenames: [String]
  /// The number of events with its data, whose payload is erased.
  public let eventCount: Int
  /// The library's files that go.
  public let removedFiles: [String]
  /// The files that stay, and why.
  public let keptFiles: [KeptFile]
  /// Those of the removed files whose bytes another link still holds: of a fork, a backup or an export.
  public let linkedFiles: [String]
}

/// What an erasure came to.
public struct ErasureReport: Sendable, Hashable {
  /// What went of each asset.
  public let assets: [ErasedAsset]
  /// How many lines of the reports of imports were blanked.
  public let importLineCount: Int
  /// The state afterwards.
  public let token: Token
}

extension PhotoLibrary {
  /// What erasing assets would take; changes nothing in the library.
  /// - Parameter assets: assets of the library, purged ones included.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.identifierNotFound`; `.storage` if
  ///   it cannot be determined whether a file of the library is there; `.changeNotSupported` if an event since the
  ///   creation of the assets is quarantined and cannot be decoded: it may have data of them.
  /// - Complexity: O(k log n) for k events of the assets; O(n) in events where one was purged.
  public func erasurePreview(of assets: [LocalIdentifier]) throws -> [ErasedAsset] {
    try checkIsNow("erase assets")
    try checkIsOwner("erase assets")
    // Or its second name of a file would be taken for a backup's. The erasure says what cannot be removed.
    try? CacheTraces(in: store.folder).removeLeftWork()
    return try store.reading { t in
      let subjects = try erasureSubjects(assets, t)
      let numbers = Set(subjects.map(\.number))
      try store.core.checkQuarantined(for: numbers, t)
      return try subjects.map { try erasedAsset($0, among: numbers, t) }
    }
  }

  /// Erases assets permanently: purges them, removes every file that they ever named and that no other asset has or
  /// gets back by an undo, erases their data from the log, and blanks the lines of import reports that name them.
  /// Renditions and hashes of pictures go with the last asset that has the content, and decisions that pictures are not
  /// duplicates with the last one that has it or gets it back by an undo.
  ///
  /// The chain and every proof remain valid; as-of views show an asset with ``Asset/isErased`` set. It takes several
  /// commits if there are many assets, or if their events say much of other assets; each erases whole assets. The bytes
  /// of old values remain in the store's free space until ``compact(at:sweepingResources:progress:)`` has run. A failed
  /// erasure can be repeated and continues.
  /// - Parameters:
  ///   - assets: assets of the library, including purged ones.
  ///   - cause: the reason, which the log keeps.
  /// - Returns: what was erased, and what was kept.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.userCancelled` if the confirmation
  ///   handler rejects it, `.identifierNotFound`, `.storage` if a file cannot be removed, `.limitExceeded` if what the
  ///   events of one asset say of other assets exceeds the 64 MiB of a commit; its files are gone then, its data not;
  ///   `.changeNotSupported`, as ``erasurePreview(of:)``.
  /// - Complexity: O(k log n) for k events of the assets, O(n) in resources for their files and in lines of reports.
  @discardableResult
  public func eraseAssets(_ assets: [LocalIdentifier], cause: String? = nil) throws -> ErasureReport {
    try eraseAssets(assets, cause: cause, upTo: Self.erasureBytes)
  }

  /// About how many bytes of events one commit replaces, which must be less than a commit holds.
  private static let erasureBytes = 16 << 20

  /// Erases assets.
  /// - Parameter byteLimit: about how many bytes of events one commit replaces, unless those of one asset have more.
  func eraseAssets(_ assets: [LocalIdentifier], cause: String?, upTo byteLimit: Int) throws -> ErasureReport {
    let preview = try erasurePreview(of: assets)
    let confirmation = store.installed((any ChangeConfirmation).self).current
    let proposal = ChangeProposal(erasing: preview.map(\.id), client: client, cause: cause)
    guard confirmation?.confirm(proposal) ?? true else {
      throw LibraryError(.userCancelled, "The erasure was rejected by the confirmation handler; nothing was changed.")
    }
    let subjects = try store.reading { t in try erasureSubjects(assets, t) }
    try purge(subjects.filter { !$0.isPurged }, cause)
    try removeFiles(of: subjects)
    try eraseEvents(of: subjects.map(\.number), cause, upTo: byteLimit)
    let lines = try eraseTraces(of: subjects.map(\.identifier))
    return ErasureReport(assets: preview, importLineCount: lines, token: try currentToken)
  }

  /// Removes what is beside the store of assets that were erased from the log, here or in the library that this one
  /// follows.
  /// - Returns: how many lines of the reports of imports were blanked.
  func eraseTraces(of assets: [LocalIdentifier]) throws -> Int {
    // They contain earlier states, which must no longer be available.
    try dropSnapshots()
    let lines = try store.folder.withPath { library in try ImportTraces(library: library).erase(assets) }
    // What a cache holds of a content can be made again when an undo brings the content back, so it goes with the last
    // asset that has it. A decision of the owner cannot, so it stays while an undo can bring the content back; the log
    // names the content then, too.
    try CacheTraces(in: store.folder).erase(assets) { contents in
      try store.reading { t in
        try Set(contents.filter { try store.core.projections.assets(withContent: $0, in: t).isEmpty })
      }
    }
    try store.reading { t in
      try RejectedPairs(in: store.folder).erase { try !store.core.projections.needsFile($0, in: t) }
    }
    return lines
  }

  private struct ErasureSubject {
    var identifier: LocalIdentifier
    var number: ObjectNumber
    var isPurged: Bool
    var isTrashed: Bool
  }

  private func erasureSubjects(
    _ assets: [LocalIdentifier], _ t: borrowing StoreReading
  ) throws -> [ErasureSubject] {
    try distinct(assets).map { identifier in
      guard let number = try store.core.assetNumber(identifier, t) else {
        throw LibraryError(
          .identifierNotFound, "The library never had an asset with the identifier \(identifier.uuidString).")
      }
      let row = try store.core.projections.asset(number, in: t)
      return ErasureSubject(
        identifier: identifier, number: number, isPurged: row == nil, isTrashed: row?.trashedDate != nil)
    }
  }

  private func erasedAsset(
    _ subject: ErasureSubject, among numbers: Set<ObjectNumber>, _ t: borrowing StoreReading
  ) throws -> ErasedAsset {
    let (resources, eventCount) = try store.core.erasable(subject.number, t)
    var (removed, linked, kept): ([String], [String], [ErasedAsset.KeptFile]) = ([], [], [])
    var seen: Set<String> = []
    for resource in resources {
      let path = store.resources.path(of: resource)
      var status = stat()
      guard seen.insert(path).inserted else { continue }
      guard stat(path, &status) == 0 else {
        // The library's own file may be there all the same.
        if resource.storage == .library { _ = try store.folder.lacks(ResourceStore.name(ofContent: resource.sha256)) }
        continue
      }
      if resource.storage != .library {
        kept.append(.init(path: path, reason: .referenced))
      } else if try isShared(resource, beyond: numbers, t) {
        kept.append(.init(path: path, reason: .shared))
      } else {
        removed.append(path)
        if status.st_nlink > 1 { linked.append(path) }
      }
    }
    return ErasedAsset(
      id: subject.identifier, wasPurged: subject.isPurged,
      originalFilenames: distinct(resources.map(\.originalFilename)),
      eventCount: eventCount, removedFiles: removed, keptFiles: kept, linkedFiles: linked)
  }

  private func isShared(
    _ resource: AssetResource, beyond numbers: Set<ObjectNumber>, _ t: borrowing StoreReading
  ) throws -> Bool {
    let projections = store.core.projections
    let named = try projections.assets(withContent: resource.sha256, in: t)
    let former = try projections.assets(withFormerContent: resource.sha256, in: t)
    return !(named + former).allSatisfy(numbers.contains)
  }

  private func purge(_ subjects: [ErasureSubject], _ cause: String?) throws {
    if subjects.isEmpty { return }
    let shown = subjects.filter { !$0.isTrashed }.map(\.identifier)
    let trashing: [ChangeRequest] = shown.isEmpty ? [] : [.trashAssets(shown)]
    _ = try store.perform(
      trashing + [.purgeAssets(subjects.map(\.identifier))], cause: cause, isConfirmed: true)
  }

  /// Erases the data of purged assets from the log, in as many commits as that takes.
  private func eraseEvents(of numbers: [ObjectNumber], _ cause: String?, upTo byteLimit: Int) throws {
    var rest = numbers[...]
    while !rest.isEmpty {
      let next = rest.prefix(Event.objectLimit)
      let count = try store.reading { t in try store.core.countErasedTogether(next, upTo: byteLimit, t) }
      _ = try store.perform([.eraseAssets(Array(next.prefix(count)))], cause: cause, isConfirmed: true)
      rest = rest.dropFirst(count)
    }
  }

  /// Removes the files that purged assets ever named, unless others need them, and makes sure that they are gone.
  ///
  /// What an undo could give back to these assets goes too: one whose creation an undo reverted is not purged again.
  private func removeFiles(of subjects: [ErasureSubject]) throws {
    let contents = try store.reading { t in
      try distinct(subjects.flatMap { try store.core.erasable($0.number, t).resources.ownContents })
    }
    let erased = Set(subjects.map(\.number))
    store.core.discard(contents, forgetting: erased, from: store.resources)
    try store.reading { t in
      for content in contents where try !store.core.projections.needsFile(content, forgetting: erased, in: t) {
        // A file that cannot be examined may be there: the log must not forget its name.
        guard (try? store.folder.lacks(ResourceStore.name(ofContent: content))) == true else {
          throw LibraryError(
            .storage,
            """
            The file \(store.resources.path(ofContent: content)) cannot be removed, so the log still contains its \
            data; make its folder readable and writable and erase the asset again.
            """)
        }
      }
    }
  }
}
