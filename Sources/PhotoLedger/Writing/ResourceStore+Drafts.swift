import Foundation
import Glibc

// From the drafts of a change block to resources whose bytes are in their place.
//
// A file that is to be moved (CB-08) is copied (or its blocks shared) and removed after the commit that names its
// bytes, never before: a failed block leaves every file in place. A file with other hard links is rejected, since
// removing one name would not move it. On Linux, checking whether another process has the file open (a lease) risks a
// signal; so a file that has changed since it was copied, by its stamp, is kept as well.

/// A file that is to be taken away once its bytes have a name in the library.
struct MovedFile: Sendable {
  let path: FilePath
  let stamp: FileStamp
  let sha256: [UInt8]
}

/// The requests of a block with their bytes in place, ready for the writer.
struct Staging: Sendable {
  var requests: [ChangeRequest] = []
  /// What was stored for them; held until the block is settled.
  var stored: [AssetResource] = []
  /// What is taken away if it succeeds.
  var moved: [MovedFile] = []
  /// Whose block it is.
  var client = PhotoLibrary.owner

  /// Whether the block brought no bytes.
  var isEmpty: Bool { stored.isEmpty && moved.isEmpty }
}

extension ResourceStore {
  /// Puts the bytes of a draft into their place, notes them, and has them examined if they have to be a medium.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource`, `.resourceChanged`, `.notEnoughSpace`,
  ///   `.storage`; what the probe throws.
  func stage(
    _ draft: ResourceDraft, _ staging: inout Staging, _ probing: MediaProbing
  ) throws(LibraryError) -> StagedDraft {
    let content: StoredContent
    var name = draft.originalFilename
    var known: Result<MediaFinding, LibraryError>?
    let isExamined = probing.isInstalled && UniformType(draft.type).medium != nil
    switch draft.source {
    case .stored(let resource): return StagedDraft(resource: resource)
    case .data(let data):
      try draft.checkMedium(named: isExamined ? nil : name)
      content = try store(data, holding: true)
    case .file(let url, let shouldMove):
      guard url.isFileURL else {
        throw LibraryError(.invalidResource, "\(url) does not name a file; pass a file URL, or the bytes themselves.")
      }
      name = name ?? url.lastPathComponent
      let source = try SourceFile(FilePath(url.path))
      try draft.checkMedium(named: isExamined ? nil : name)
      if let examined = draft.examined, examined.stamp == source.stamp { known = examined.outcome }
      if shouldMove { try checkMovable(source) }
      content = try store(source, holding: true)
      if shouldMove {
        staging.moved.append(MovedFile(path: source.path, stamp: source.stamp, sha256: content.sha256))
      }
    }
    // Without a name the decider gives it one (GeneratedNames.swift).
    let label = name ?? draft.type.name
    var resource = AssetResource(
      type: draft.type, originalFilename: name ?? "",
      uniformTypeIdentifier: draft.uniformType(named: name).identifier,
      dataSize: content.dataSize, sha256: content.sha256, storage: content.storage, sha1: content.sha1)
    // Recorded before it is examined, so that a rejected file is found and removed.
    staging.stored.append(resource)
    guard isExamined else { return StagedDraft(resource: resource) }
    let found: MediaFinding? =
      if let known { try known.get() } else { try finding(in: content, named: label, probing, for: staging.client) }
    guard let facts = try draft.facts(of: found, named: label) else {
      try draft.checkMedium(named: name)
      return StagedDraft(resource: resource)
    }
    resource.uniformTypeIdentifier = draft.uniformTypeIdentifier ?? facts.uniformTypeIdentifier
    (resource.pixelWidth, resource.pixelHeight) = (facts.pixelWidth, facts.pixelHeight)
    resource.contentIdentifier = facts.contentIdentifier
    staging.stored[staging.stored.count - 1] = resource
    return StagedDraft(resource: resource, facts: facts)
  }

  private func checkMovable(_ source: borrowing SourceFile) throws(LibraryError) {
    guard source.stamp.linkCount == 1 else {
      throw LibraryError(
        .invalidResource, "\(source.path) cannot be moved, because it has other hard links; copy it.")
    }
    let folder = FilePath(bytes: source.path.folderBytes.isEmpty ? [FilePath.slash] : source.path.folderBytes)
    guard folder.withCString({ access($0, W_OK) }) == 0 else {
      throw LibraryError(
        .invalidResource, "\(source.path) cannot be moved, because its folder cannot be written; copy it.")
    }
  }

  /// Removes a file that has not changed since it was copied.
  /// - Returns: whether it was removed; a kept file loses nothing.
  @discardableResult
  func takeAway(_ moved: MovedFile) -> Bool {
    var status = stat()
    guard moved.path.withCString({ lstat($0, &status) }) == 0, FileStamp(status) == moved.stamp else { return false }
    return moved.path.withCString { unlink($0) } == 0
  }
}

extension ResourceDraft {
  /// The kind of data: the given one, else what the name says, else the family of the resource's type (AS-12).
  fileprivate func uniformType(named name: String?) -> UniformType {
    uniformTypeIdentifier.map(UniformType.init(identifier:)) ?? name.flatMap(UniformType.init(filename:))
      ?? UniformType(type)
  }

  /// A file whose name is that of another medium than its role requires is rejected (CB-06, CB-09).
  ///
  /// The given type or the name decides; where bytes are examined, the name does not count.
  fileprivate func checkMedium(named name: String?) throws(LibraryError) {
    let found = uniformType(named: name)
    guard let medium = found.medium, !accepts(medium) else { return }
    throw refusal(name, found.identifier)
  }

  /// The facts of a finding, if the bytes match their role (CB-06, CB-09).
  /// - Returns: nil if nothing was determined.
  fileprivate func facts(of finding: MediaFinding?, named name: String) throws(LibraryError) -> MediumFacts? {
    switch finding {
    case nil, .unavailable: return nil
    case .noMedium(let what):
      throw LibraryError(
        .invalidResource,
        """
        \(name) is not an image, a video or a sound recording (\(what)); it cannot be a resource of the type \
        \(type.name).
        """)
    case .medium(let facts):
      guard accepts(facts.mediaType) else { throw refusal(name, facts.uniformTypeIdentifier) }
      return facts
    }
  }

  /// Whether a medium can have the role. A film's container may hold sound alone.
  private func accepts(_ medium: MediaType) -> Bool {
    guard let wanted = UniformType(type).medium else { return true }
    return medium == wanted || medium == .video && wanted == .audio
  }

  private func refusal(_ name: String?, _ found: String) -> LibraryError {
    LibraryError(
      .invalidResource,
      "\(name ?? "The data") is of the type \(found) and cannot be a resource of the type \(type.name).")
  }
}
