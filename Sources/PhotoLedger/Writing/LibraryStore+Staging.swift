import Foundation
import LMDB

// Bytes before events.
//
//   stage ──▶ bytes of every draft stored, hashed, durable, held ──▶ the writer decides and commits ──▶ settle, release
//
// The bytes are stored on the caller's thread or on one of the library's (Submission.swift), never on the writer's,
// which must not wait for a copy. Until the block is settled it holds them, so that a purge that is executed before it
// cannot remove them (ResourceStore+Holding.swift).

extension LibraryStore {
  /// Puts the bytes of every resource of the requests into their place: hashed, durable, and named by their hash; and
  /// completes the requests with what the bytes are (MediaProbe.swift).
  /// - Parameters:
  ///   - requests: the requests of a block.
  ///   - staging: is given what was stored, also when this throws.
  /// - Throws: ``LibraryError`` for a file that is not there, cannot be read or moved, or finds no room.
  func stage(_ requests: [ChangeRequest], _ staging: inout Staging) throws {
    staging.requests = try requests.map { request in
      switch request {
      case .createAsset where !request.bringsBytes && !request.isDatedByBytes: return request
      case .createAsset(var creation, let identifier):
        creation.take(try staged(creation.resources, &staging))
        return .createAsset(creation, as: identifier)
      case .addResources(let drafts, let identifier, var changes, let types):
        let added = try staged(drafts, &staging)
        changes.take(added)
        return .addResources(added.map(\.draft), to: identifier, changes, retyping: types)
      case .editContent(let identifier, var edit):
        edit.take(try staged(edit.drafts, &staging))
        return .editContent(identifier, edit)
      default: return request
      }
    }
    if !staging.stored.isEmpty { try resources.synchronize() }
  }

  private func staged(_ drafts: [ResourceDraft], _ staging: inout Staging) throws -> [StagedDraft] {
    try drafts.map { try resources.stage($0, &staging, probing) }
  }

  /// Removes the files that a durable block has moved in (CB-08), if the library keeps their content.
  ///
  /// If that cannot be determined, the file is kept: the block was committed, and must not be reported as failed.
  func takeAwayMoved(_ staging: Staging) {
    for moved in staging.moved {
      let isKept = try? reading { t in try core.projections.needsFile(moved.sha256, in: t) }
      if isKept == true { resources.takeAway(moved) }
    }
  }
}

extension LibraryError {
  /// The error of a block that names missing bytes.
  static func missingBytes(_ resource: AssetResource) -> LibraryError {
    LibraryError(
      .missingResource,
      "The library does not have the \(resource.dataSize) bytes of \(resource.originalFilename); store them first.")
  }
}

extension PhotoLibrary {
  /// Removes the bytes of resources that no commit named after all, unless an asset has them or an undo can bring them
  /// back.
  package func discardUnnamed(_ resources: [AssetResource]) {
    store.core.discard(resources.ownContents, from: store.resources)
  }
}

extension StoreCore {
  /// Releases what a block held, and removes files that nothing needs.
  /// - Parameter isRejected: whether the block named none of it.
  func release(_ staging: Staging, isRejected: Bool, from resources: ResourceStore) {
    let unwanted = resources.release(staging.stored)
    discard((isRejected ? staging.stored : unwanted).ownContents, from: resources)
  }

  /// Removes the library's files of contents that were purged or rejected, unless an asset has the content, an undo can
  /// bring it back, or a block holds it.
  ///
  /// A file that cannot be removed, because the store or the folder cannot be written, is garbage: it takes space and
  /// is reused when its content is added again. The outcome of the block is already decided, so this is not reported.
  /// - Parameters:
  ///   - unwanted: the SHA-256 of each content.
  ///   - erased: assets that are being erased, to which no undo brings anything back.
  ///   - resources: the library's files.
  /// - Complexity: O(k log n) for k contents; the other writers wait.
  package func discard(
    _ unwanted: [[UInt8]], forgetting erased: Set<ObjectNumber> = [], from resources: ResourceStore
  ) {
    if unwanted.isEmpty { return }
    do {
      try environment.write { t in
        try checkFormat(t)
        for content in unwanted where try !projections.needsFile(content, forgetting: erased, in: t) {
          _ = resources.remove(content)
        }
      }
    } catch {
      return
    }
  }
}
