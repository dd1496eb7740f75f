import EventLog
import Foundation
import Glibc
import PhotoLedger

// What caches and journals beside the store contain of erased assets.
//
//     LIBRARY/renditions/r3/ab/ab12….large   pictures and films of a content: removed
//                           records          a placeholder for each content: the record becomes zeros
//     LIBRARY/renditions/passing-PID/r3/     the same, of a server beside another one
//     LIBRARY/renditions/removed-1/          the same, of another recipe, until it is removed
//     LIBRARY/renditions/r3/ab/ab12….large.new   a rendition that a killed server was writing: removed
//     LIBRARY/renditions/photoledger-work-PID-…/ what programs of a killed process read, an original perhaps: removed
//     LIBRARY/server/photoledger-work-PID-…/ the same, of the exiftool that examines change blocks: removed
//     LIBRARY/picture-hashes/h1              hashes of pictures for the search of duplicates: the record becomes zeros
//     LIBRARY/sidecars/files                 where sidecars of referenced originals were written: lines become empty
//
// Caches are about contents, so what goes is every content that no asset has any more: an erasure that is repeated
// finds what a first attempt left, and what another asset shares stays. Records and lines are overwritten in place, so
// that a process that appends at the same time continues after them. The processes that keep such records in memory,
// a server and a search of duplicates, look for contents that are gone themselves after they have written.

/// The caches and journals of a library, as places where an asset leaves a trace.
struct CacheTraces {
  private static let hashRecordLength = 80
  private static let renditionRecordLength = 128
  /// What the names of drafts begin with that killed servers of earlier versions left; they say nothing of the content.
  private static let namelessDraft = ".dat.nosync"
  private let library: LibraryFolder

  init(in library: LibraryFolder) { self.library = library }

  /// Removes the folders in which programs of processes that have ended worked beside the caches: such a folder may
  /// hold a second name of an original.
  /// - Throws: ``LibraryError`` `.storage` if one cannot be removed, or a folder not be read to its end.
  func removeLeftWork() throws(LibraryError) {
    for folder in ["renditions", "picture-hashes", "server"] {
      if try entries(of: folder).isEmpty { continue }
      let place = URL(filePath: library.linkedPath(of: folder), directoryHint: .isDirectory)
      guard let left = try WorkRoots.removeLeft(in: place).first else { continue }
      throw LibraryError(
        .storage,
        """
        The folder \(library.path(of: "\(folder)/\(left)")) of a process that has ended cannot be removed; \
        remove it and erase the assets again.
        """)
    }
  }

  /// Removes what is known of contents that are gone, and the journal's lines about some assets.
  /// - Parameters:
  ///   - assets: the erased assets.
  ///   - gone: returns those of some contents that no asset has.
  /// - Throws: ``LibraryError`` `.storage`; what the closure throws.
  /// - Complexity: O(n log n) in the contents of the caches and O(n) in the lines of the journal.
  func erase(_ assets: [LocalIdentifier], _ gone: ([[UInt8]]) throws -> Set<[UInt8]>) throws {
    try removeLeftWork()
    // A server that opens its cache renames the folders of other recipes, perhaps while one is being looked through.
    var names: Set<String>
    repeat {
      names = Set(try entries(of: "renditions"))
      try eraseRenditions(in: "renditions", gone)
    } while try !names.isSuperset(of: entries(of: "renditions"))
    for name in try entries(of: "picture-hashes") where name.wholeMatch(of: #/h[0-9]+|new-[0-9]+/#) != nil {
      try ContentRecords("picture-hashes/\(name)", length: Self.hashRecordLength, in: library).erase(gone)
    }
    try SidecarLines(in: library).erase(Set(assets.map(\.uuidString)))
  }

  /// Removes the renditions in a folder and in those inside it.
  private func eraseRenditions(in folder: String, _ gone: ([[UInt8]]) throws -> Set<[UInt8]>) throws {
    var files: [[UInt8]: [String]] = [:]
    // What programs of a running process work on is not a rendition yet, and goes with the work.
    for name in try entries(of: folder) where !name.hasPrefix(WorkRoots.prefix) {
      let path = "\(folder)/\(name)"
      if name == "records" {
        try ContentRecords(path, length: Self.renditionRecordLength, in: library).erase(gone)
      } else if let content = SHA256Digest(hexadecimal: String(name.prefix { $0 != "." })) {
        files[content.bytes, default: []].append(path)
      } else if name.hasPrefix(Self.namelessDraft) {
        try remove(path)
      } else {
        try eraseRenditions(in: path, gone)
      }
    }
    let erased = try gone(Array(files.keys))
    for path in files.filter({ erased.contains($0.key) }).values.joined() { try remove(path) }
  }

  private func remove(_ path: String) throws(LibraryError) {
    guard library.remove(path) || errno == ENOENT else {
      throw LibraryError.store(library.path(of: path), "remove", errno: errno)
    }
  }

  /// The names in a folder of the library; none if it is not a folder.
  private func entries(of folder: String) throws(LibraryError) -> [String] {
    guard let names = try library.names(in: folder) else { return [] }
    return names
  }
}

/// The journal of sidecars that were written beside referenced originals.
struct SidecarLines {
  static let folder = "sidecars"
  private let library: LibraryFolder

  init(in library: LibraryFolder) { self.library = library }

  /// Empties the lines about some assets, named as in the journal. A run that writes sidecars keeps all lines in memory
  /// and rewrites the journal at its end, so this waits until it has ended.
  func erase(_ assets: Set<String>) throws(LibraryError) {
    let opened = library.open("\(Self.folder)/lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0o644)
    if opened < 0, errno == ENOENT { return }
    let lock = try FileLock(opened, waits: true) { (_) -> LibraryError in failure("lock", "lock") }
    defer { lock?.release() }
    // What a run that was killed left of a rewritten journal.
    guard library.remove("\(Self.folder)/files.new") || errno == ENOENT else { throw failure("files.new", "remove") }
    try eraseLines(about: assets)
  }

  private func eraseLines(about assets: Set<String>) throws(LibraryError) {
    let number = library.open("\(Self.folder)/files", O_RDWR | O_NOFOLLOW | O_NONBLOCK)
    if number < 0, errno == ENOENT { return }
    guard number >= 0 else { throw failure("files", "erase") }
    let journal = Descriptor(number)
    let bytes = try journal.bytes {
      LibraryError.store(library.path(of: "\(Self.folder)/files"), "read", errno: $0)
    }
    var (start, isChanged) = (0, false)
    // The last line is without an end if its writing was cut off.
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      defer { start += line.count + 1 }
      let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 4, omittingEmptySubsequences: false)
      guard fields.count > 3, assets.contains(String(decoding: fields[3], as: UTF8.self)) else { continue }
      let empty = [UInt8](repeating: UInt8(ascii: "\n"), count: line.count)
      guard pwrite(journal.number, empty, empty.count, off_t(start)) == empty.count else {
        throw failure("files", "erase")
      }
      isChanged = true
    }
    if isChanged, fsync(journal.number) != 0 { throw failure("files", "make durable") }
  }

  private func failure(_ name: String, _ action: String) -> LibraryError {
    LibraryError.store(library.path(of: "\(Self.folder)/\(name)"), action, errno: errno)
  }
}
