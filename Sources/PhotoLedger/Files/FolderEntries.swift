import CSystem
import Glibc

// The entries of a folder, straight from the kernel.
//
// Walks and watches list hundreds of thousands of folders. The kernel gives the name, the number and mostly the kind of
// each entry in one call for many (getdents64(2)); so what remains for an entry is one fstatat(2) where its size and
// times are wanted, relative to the open folder, and none where they are not.
//
// A folder whose reading fails is not a folder that ends: copies and erasures would leave out the rest of it and say
// that they are complete. Foundation lists by readdir(3), whose failure looks like the end, so that what must be
// complete, the copies, sweeps and traces, is listed by this.

/// An entry of a folder, valid during the call that it is given to.
package struct FolderEntry {
  /// Its kind, as far as the file system tells without examining it.
  package enum Kind {
    case folder, file, link, other
    /// The file system does not tell.
    case unknown
  }

  /// Points to the name, with a NUL after it.
  package let text: UnsafePointer<CChar>
  /// The name without the NUL.
  package let nameBytes: UnsafeRawBufferPointer
  package let number: UInt64
  package let kind: Kind

  package var name: [UInt8] { Array(nameBytes) }
}

/// Reads the entries of folders.
package enum FolderEntries {
  /// The errno with which a reading of an open folder fails, nil if it does not; for tests.
  @TaskLocal package static var failure: (@Sendable (Int32) -> Int32?)?

  /// Enough for about a thousand entries.
  private static let bufferByteCount = 1 << 15
  /// Of struct linux_dirent64: the number of the file, the length of the record, the kind, the name.
  private static let layout = (number: 0, length: 16, kind: 18, name: 19)

  /// Opens a folder.
  /// - Returns: nil with `errno` set if it cannot be opened.
  package static func open(_ folder: FilePath) -> Int32? {
    let number = folder.withCString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK) }
    return number < 0 ? nil : number
  }

  /// Gives every entry of an open folder but itself and the one above it, in the order of the file system.
  /// - Returns: 0, or the errno that ended it.
  package static func forEach(in folder: Int32, _ body: (FolderEntry) -> Void) -> Int32 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferByteCount, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let count = read(folder, buffer)
      if count == -Int(EINTR) { continue }
      guard count > 0 else { return Int32(-count) }
      var offset = 0
      while offset + layout.name < count {
        let record = UnsafeRawBufferPointer(rebasing: buffer[offset..<count])
        let length = Int(record.loadUnaligned(fromByteOffset: layout.length, as: UInt16.self))
        precondition(length > layout.name && length <= record.count, "The kernel gives whole entries.")
        offset += length
        guard let entry = entry(UnsafeRawBufferPointer(rebasing: record[..<length])) else { continue }
        body(entry)
      }
    }
  }

  /// The names in a folder.
  /// - Parameters:
  ///   - path: the folder.
  ///   - followsLink: whether it may be a symbolic link to the folder.
  /// - Returns: nil if there is no folder.
  /// - Throws: ``LibraryError`` `.storage` if the folder cannot be opened, or not be read to its end.
  package static func names(at path: String, followsLink: Bool = true) throws(LibraryError) -> [String]? {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
    return try names(in: Glibc.open(path, flags), path)
  }

  /// The same of what an attempt to open a folder gave, which is closed: its descriptor, or -1 with `errno`.
  static func names(in opened: Int32, _ path: @autoclosure () -> String) throws(LibraryError) -> [String]? {
    let failure = errno
    guard opened >= 0 else {
      if [ENOENT, ENOTDIR, ELOOP].contains(failure) { return nil }
      throw LibraryError.store(path(), "open the folder", errno: failure)
    }
    let folder = Descriptor(opened)
    var names: [String] = []
    let code = forEach(in: folder.number) { names.append(String(decoding: $0.nameBytes, as: UTF8.self)) }
    guard code == 0 else { throw LibraryError.store(path(), "read the folder", errno: code) }
    return names
  }

  /// Reads further entries; gives the bytes that they take in the buffer, 0 at the end, or the negative errno.
  private static func read(_ folder: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    if let code = failure?(folder) { return -Int(code) }
    return psys_read_entries(folder, buffer.baseAddress, buffer.count)
  }

  /// The entry of a record; nil for the folder itself and the one above it.
  private static func entry(_ record: UnsafeRawBufferPointer) -> FolderEntry? {
    guard let start = record.baseAddress else { return nil }
    let text = (start + layout.name).assumingMemoryBound(to: CChar.self)
    let name = UnsafeRawBufferPointer(start: start + layout.name, count: strlen(text))
    if name[0] == FilePath.dot, name.count == 1 || name.count == 2 && name[1] == FilePath.dot { return nil }
    return FolderEntry(
      text: text, nameBytes: name, number: record.loadUnaligned(fromByteOffset: layout.number, as: UInt64.self),
      kind: kind(record[layout.kind]))
  }

  /// DT_UNKNOWN, DT_DIR, DT_REG and DT_LNK of readdir(3).
  private static func kind(_ type: UInt8) -> FolderEntry.Kind {
    switch type {
    case 0: .unknown
    case 4: .folder
    case 8: .file
    case 10: .link
    default: .other
    }
  }
}
