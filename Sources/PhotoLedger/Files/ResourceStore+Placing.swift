import EventLog
import Foundation
import Glibc

extension ResourceStore {
  /// Puts a file's bytes into the library. Returns when the bytes are durable; `synchronize` makes their name so.
  /// - Parameters:
  ///   - path: the file.
  ///   - expected: the SHA-256 it had when its metadata was read; nil to accept any.
  ///   - isCancelled: asked for each MiB, whether the reading is to end; nothing is stored then.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource`, `.resourceChanged` of the file;
  ///   `.notEnoughSpace`, `.storage` of the library; `.userCancelled`.
  /// - Complexity: O(bytes); O(1) bytes written where the file system shares blocks.
  package func store(
    fileAt path: FilePath, expecting expected: [UInt8]? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(LibraryError) -> StoredContent {
    var source = try SourceFile(path)
    source.isCancelled = isCancelled
    return try store(source, expecting: expected)
  }

  /// The same.
  /// - Parameter holding: whether the content is held, until ``release(_:)``.
  func store(
    _ source: borrowing SourceFile, expecting expected: [UInt8]? = nil, holding: Bool = false
  ) throws(LibraryError) -> StoredContent {
    let byteCount = UInt64(source.stamp.byteCount)
    if let expected, isThere(expected, byteCount, holding) { return stored(expected, byteCount: byteCount) }
    let incoming = try IncomingFile(in: folder)
    let hash = try incoming.isClone(of: source) ? try incoming.digests(as: source) : try incoming.copy(source)
    let digest = hash.sha256
    try source.checkUnchanged(bytesRead: incoming.byteCount())
    if let expected, digest != expected { throw SourceFile.changed(source.path) }
    return try place(incoming, hash, byteCount, holding)
  }

  /// Puts bytes into the library. Returns when they are durable; `synchronize` makes their name so.
  /// - Throws: ``LibraryError`` `.notEnoughSpace`, `.storage`.
  func store(_ data: Data, holding: Bool) throws(LibraryError) -> StoredContent {
    var hash = ContentHash()
    data.withUnsafeBytes { hash.update($0) }
    let byteCount = UInt64(data.count)
    if isThere(hash.sha256, byteCount, holding) {
      return stored(hash.sha256, byteCount: byteCount, sha1: hash.sha1)
    }
    let incoming = try IncomingFile(in: folder)
    for region in data.regions {
      let result: Result<Void, LibraryError> = region.withUnsafeBytes { bytes in
        do throws(LibraryError) { return .success(try incoming.write(bytes)) } catch { return .failure(error) }
      }
      try result.get()
    }
    return try place(incoming, hash, byteCount, holding)
  }

  /// Whether a content is in its place; held from now on, if it is to be.
  private func isThere(_ digest: [UInt8], _ byteCount: UInt64, _ holding: Bool) -> Bool {
    holding ? hold(digest, byteCount: byteCount) : holds(digest, byteCount: byteCount)
  }

  /// Takes over a file of the library's directory by a second name, without copying it. Returns when its bytes are in
  /// place; `synchronize` makes their name durable.
  /// - Parameters:
  ///   - name: the file's name in the library's directory; its bytes are durable, and nothing writes it any more.
  ///   - content: what it holds, by a reading, or by a count of all that its writer wrote.
  /// - Throws: ``LibraryError`` as ``store(fileAt:expecting:isCancelled:)``, which copies where the file system links
  ///   no files.
  package func adopt(_ name: String, _ content: FileContent) throws(LibraryError) -> StoredContent {
    let byteCount = UInt64(content.byteCount)
    if holds(content.sha256, byteCount: byteCount) {
      return stored(content.sha256, byteCount: byteCount, sha1: content.sha1)
    }
    let second = IncomingFile.name()
    // A file of this name can only be a leftover of an earlier process with our number.
    folder.remove(second)
    guard fchmodat(folder.descriptor, name, 0o444, 0) == 0, folder.link(name, as: second) == 0 else {
      var copied = try store(fileAt: FilePath(folder.path(of: name)), expecting: content.sha256)
      copied.sha1 = content.sha1
      return copied
    }
    let final = Self.name(ofContent: content.sha256)
    try folder.makeFolder("resources/\(content.sha256.hexadecimal.prefix(2))")
    let code = folder.rename(second, to: final)
    // Renaming one name of a file to another of its names does nothing, and leaves both.
    folder.remove(second)
    guard code == 0 else {
      throw LibraryError.store(folder.path(of: final), "rename a finished upload to", errno: code)
    }
    return stored(content.sha256, byteCount: byteCount, sha1: content.sha1)
  }

  private func place(
    _ incoming: consuming IncomingFile, _ hash: ContentHash, _ byteCount: UInt64, _ holding: Bool
  ) throws(LibraryError) -> StoredContent {
    let (digest, sha1) = (hash.sha256, hash.sha1)
    if isThere(digest, byteCount, holding) { return stored(digest, byteCount: byteCount, sha1: sha1) }
    try incoming.makeDurable()
    let (library, place) = (folder, "resources/\(digest.hexadecimal.prefix(2))")
    if holding {
      try library.makeFolder(place)
      try holdAndPlace(incoming, digest)
    } else {
      try incoming.rename(to: Self.name(ofContent: digest)) { () throws(LibraryError) in try library.makeFolder(place) }
    }
    return stored(digest, byteCount: byteCount, sha1: sha1)
  }

  /// Leaves a file where it is and returns what refers to it.
  /// - Parameters:
  ///   - path: its absolute path, which must be text: the log holds it as such.
  ///   - expected: the SHA-256 that it must have.
  ///   - isCancelled: asked for each MiB, whether the reading is to end.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource`, `.userCancelled`, or `.resourceChanged` when it
  ///   does not hold what was expected.
  package func reference(
    fileAt path: FilePath, expecting expected: [UInt8], isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(LibraryError) -> StoredContent {
    precondition(path.isAbsolute, "A referenced file must be named by its absolute path.")
    guard let text = String(validating: path.bytes, as: UTF8.self) else {
      throw LibraryError(
        .invalidResource, "\(path) cannot be referenced, because its name is not UTF-8; rename it, or import a copy.")
    }
    let content = try FileContent(of: path, isCancelled: isCancelled)
    guard content.sha256 == expected else { throw SourceFile.changed(path) }
    return StoredContent(
      sha256: expected, dataSize: UInt64(content.byteCount), storage: .referenced(path: text), sha1: content.sha1)
  }

  /// Reads a file and returns what would be stored of it; nothing is stored.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource`, `.userCancelled`, or `.resourceChanged` when it
  ///   does not hold what was expected.
  package func examine(
    fileAt path: FilePath, expecting expected: [UInt8], isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(LibraryError) -> StoredContent {
    let content = try FileContent(of: path, isCancelled: isCancelled)
    guard content.sha256 == expected else { throw SourceFile.changed(path) }
    return StoredContent(
      sha256: expected, dataSize: UInt64(content.byteCount), storage: .library, sha1: content.sha1)
  }
}
