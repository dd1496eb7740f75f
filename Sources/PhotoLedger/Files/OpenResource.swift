import EventLog
package import Foundation
import Glibc
import Synchronization

// The bytes of a resource on their way out.
//
//     PhotoLibrary.openForReading ──▶ OpenResource ──┬─ next()          a chunk on request: data(of:in:)
//     is the resource the asset's?    file, hash,    ├─ copy(into:)     a file outside: write(_:in:to:)
//                                     bytes so far   └─ readToEnd()     nowhere, for the hash: state(of:in:hashing:)
//
// Invariant: every path feeds the hash with exactly the bytes it delivers, and ends with `verify`. So a caller that
// reaches the end without an error has received the bytes that the event recorded, whatever happened to the file
// meanwhile: its size is checked when it is opened, so that a wrong one delivers nothing, and the hash covers the rest.
// The stamp of the file (SourceFile.swift) only selects the message that explains a wrong hash: the file was written
// while it was read, or it was a different one before. Rejected: trusting the stamp and rejecting a file whose times
// changed; that would fail for a backup program that touches a file, and would still miss a write that restores the
// times.
//
// A value is used by one thread at a time and closes its file when it goes. Nothing is read ahead: at most one chunk is
// in memory, and the next is read on request.

/// Asks the reading of a resource to stop, from any thread.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package var isRequested: Bool { flag.load(ordering: .relaxed) }

  package func request() { flag.store(true, ordering: .relaxed) }
}

/// A request to read a resource.
package struct ResourceRequest: Sendable {
  package let resource: AssetResource
  /// The asset whose file is requested; nil for a check of the whole library.
  package let asset: Asset?
  package let options: ResourceRequestOptions
  package let cancellation: Cancellation

  package init(
    _ resource: AssetResource, in asset: Asset? = nil, _ options: ResourceRequestOptions = .init(),
    _ cancellation: Cancellation = Cancellation()
  ) {
    (self.resource, self.asset, self.options, self.cancellation) = (resource, asset, options, cancellation)
  }

  /// How sentences name the resource.
  package var name: String {
    let name = "\(resource.type.name) '\(resource.originalFilename)'"
    return asset.map { "\(name) of asset \($0.localIdentifier)" } ?? name
  }

  package func checkNotCancelled() throws(LibraryError) {
    guard cancellation.isRequested else { return }
    throw LibraryError(.userCancelled, "Reading the \(name) was cancelled; read it again.")
  }
}

/// A resource whose file is open, and how far it has been read.
package struct OpenResource: ~Copyable, Sendable {
  private let request: ResourceRequest
  private let file: SourceFile
  private var hash = SHA256()
  private var byteCount: UInt64 = 0

  /// Opens the file.
  /// - Parameters:
  ///   - path: the file.
  ///   - request: the resource that it belongs to.
  ///   - opening: opens it in another way than by its path.
  /// - Throws: ``LibraryError`` `.missingResource` if it cannot be opened, `.invalidResource` if it is not a regular
  ///   file or has another size, `.storage` if the process can open no more files.
  init(
    _ path: FilePath, _ request: ResourceRequest, opening: ((_ flags: Int32) -> Int32)? = nil
  ) throws(LibraryError) {
    let file = try SourceFile(path, opening: opening) { code in
      let reason = LibraryError.reason(code)
      if [EMFILE, ENFILE, ENOMEM].contains(code) {
        return LibraryError(.storage, "\(path), the \(request.name), cannot be opened: \(reason); try again later.")
      }
      return LibraryError(
        .missingResource,
        "The bytes of the \(request.name) are missing, since \(path) cannot be opened: \(reason). Restore the file.")
    }
    guard UInt64(file.stamp.byteCount) == request.resource.dataSize else {
      throw LibraryError(
        .invalidResource,
        "\(path) has \(file.stamp.byteCount) bytes, but the \(request.name) has \(request.resource.dataSize); "
          + "restore the file.")
    }
    self.request = request
    self.file = file
  }

  private var size: UInt64 { request.resource.dataSize }

  /// The SHA-256 of all bytes, which what was delivered has at the end.
  package var sha256: [UInt8] { request.resource.sha256 }

  /// The next bytes: a chunk of full size, or what is left; nil at the end, once the hash is found right.
  /// - Throws: ``LibraryError`` `.userCancelled`, `.resourceChanged`, `.invalidResource`.
  /// - Complexity: O(bytes of the chunk).
  package mutating func next() throws(LibraryError) -> Data? {
    guard byteCount < size else {
      try verify()
      tellDone()
      return nil
    }
    let count = Int(min(UInt64(copyBufferByteCount), size - byteCount))
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    guard let start = chunk.baseAddress else { preconditionFailure("A buffer of \(count) bytes has no address.") }
    do throws(LibraryError) {
      try read(chunk)
    } catch {
      chunk.deallocate()
      throw error
    }
    return Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in start.deallocate() })
  }

  /// Reads and discards the rest; returns if the hash is right.
  mutating func readToEnd() throws(LibraryError) { try forEachChunk { (_) throws(LibraryError) in } }

  /// Writes everything into a file, by sharing blocks where the file system can; returns if what it holds now hashes
  /// to what was recorded.
  package mutating func copy(into copy: borrowing IncomingFile) throws(LibraryError) {
    try checkNotCancelled()
    if try copy.isClone(of: file) {
      try readBack(copy)
    } else {
      try forEachChunk { (chunk) throws(LibraryError) in try copy.write(chunk) }
    }
  }

  /// Hashes a clone where it lies: the file it was made of may have changed between the two.
  mutating func readBack(_ clone: borrowing IncomingFile) throws(LibraryError) {
    try clone.forEachChunk { (chunk) throws(LibraryError) in try take(chunk) }
    try verify()
  }

  /// Reports completion to the progress handler.
  func tellDone() { request.options.progressHandler?(1) }

  func checkNotCancelled() throws(LibraryError) { try request.checkNotCancelled() }

  /// Copies everything to a file outside, which appears under its name when it is complete.
  /// - Throws: as ``UnfinishedFile`` and ``copy(into:)`` do.
  package mutating func export(to file: URL, replacing: Bool) throws(LibraryError) {
    let target = try UnfinishedFile(at: file, isReplacing: replacing)
    try target.fill(from: &self)
    try checkNotCancelled()
    try target.finish()
    tellDone()
  }

  private mutating func forEachChunk(
    _ body: (UnsafeRawBufferPointer) throws(LibraryError) -> Void
  ) throws(LibraryError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferByteCount, alignment: 64)
    defer { buffer.deallocate() }
    while byteCount < size {
      let count = Int(min(UInt64(buffer.count), size - byteCount))
      try read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    try verify()
  }

  /// Fills a buffer of at most the remaining size.
  private mutating func read(_ buffer: UnsafeMutableRawBufferPointer) throws(LibraryError) {
    try checkNotCancelled()
    var filled = 0
    while filled < buffer.count {
      let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      guard count > 0 else { throw SourceFile.changed(file.path) }
      filled += count
    }
    try take(UnsafeRawBufferPointer(buffer))
  }

  private mutating func take(_ bytes: UnsafeRawBufferPointer) throws(LibraryError) {
    byteCount += UInt64(bytes.count)
    hash.update(bytes)
    if byteCount < size { request.options.progressHandler?(Double(byteCount) / Double(size)) }
    // Checked last: a caller that cancels during the read, or in the progress handler, does not get the bytes.
    try checkNotCancelled()
  }

  private func verify() throws(LibraryError) {
    try checkNotCancelled()
    if byteCount == size, hash.digest().bytes == request.resource.sha256 { return }
    try file.checkUnchanged(bytesRead: Int64(clamping: byteCount))
    throw LibraryError(
      .invalidResource,
      "\(file.path) is not the \(request.name): its SHA-256 is not the recorded one. "
        + "Restore the file.")
  }
}
