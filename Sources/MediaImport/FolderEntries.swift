internal import CSystem
internal import Glibc
internal import PhotoLedger

// The entries of a folder, straight from the kernel.
//
// Walks and watches list hundreds of thousands of folders. The kernel gives the name, the number and mostly the kind of
// each entry in one call for many (getdents64(2)); so what remains for an entry is one fstatat(2) where its size and
// times are wanted, relative to the open folder, and none where they are not.

/// An entry of a folder, valid during the call that it is given to.
struct FolderEntry {
  /// Its kind, as far as the file system tells without examining it.
  enum Kind {
    case folder, file, link, other
    /// The file system does not tell.
    case unknown
  }

  /// Points to the name, with a NUL behind it.
  let text: UnsafePointer<CChar>
  /// The name without the NUL.
  let nameBytes: UnsafeRawBufferPointer
  let number: UInt64
  let kind: Kind

  var name: [UInt8] { Array(nameBytes) }
}

/// Reads the entries of folders.
enum FolderEntries {
  /// Enough for about a thousand entries.
  private static let bufferByteCount = 1 << 15
  /// Of struct linux_dirent64: the number of the file, the length of the record, the kind, the name.
  private static let layout = (number: 0, length: 16, kind: 18, name: 19)

  /// Opens a folder.
  /// - Returns: nil with `errno` set if it cannot be opened.
  static func open(_ folder: FilePath) -> Int32? {
    let number = folder.withCString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK) }
    return number < 0 ? nil : number
  }

  /// Gives every entry of an open folder but itself and the one above it, in the order of the file system.
  /// - Returns: 0, or the errno that ended it.
  static func forEach(in folder: Int32, _ body: (FolderEntry) -> Void) -> Int32 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferByteCount, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let count = psys_read_entries(folder, buffer.baseAddress, buffer.count)
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
