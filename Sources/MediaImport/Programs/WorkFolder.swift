// The folders in which sandboxed programs find their input and leave their output.
//
//     root/                    what the exiftool that stays open may read, and nothing else
//       3F9C…/in/source        the file: a link, a clone or a copy; programs may read it
//       3F9C…/out/             programs may write here
//
//     what is in a work folder, or in the resources of the library that the root is in    a hard link
//     other files, where exiftool may read all files                                      a symbolic link
//     other files                                                                         a clone, or a copy
//
// A hard link shares the bytes with the original, so it never lies in a folder that a program may write to. It also
// changes the original: its time of change and its number of names. So a file that the library only refers to is never
// linked: it is not the library's to change, and imports would take it for an altered file and read it again.
//
// The name of the input is ours: libvips reads the end of a name in brackets as options, and a name may hold what
// another program reads as one.
//
// The root of a process is named by its number, so that what a killed process left is found and removed by the next
// (WorkRoots.swift).

internal import CSystem
internal import Foundation
internal import Glibc
internal import PhotoLedger
internal import Synchronization

/// The folder that holds the work folders of one renderer, or of one probe.
final class WorkRoot: Sendable {
  /// Where it is; nil until it is needed.
  private let path = Mutex<String?>(nil)
  private let parent: URL?
  private let mayRefer: Bool

  /// - Parameters:
  ///   - parent: where the root is made, a folder in a library's directory; nil: in the folder for temporary files.
  ///   - mayRefer: whether all programs may be let read a file where it is.
  init(in parent: URL? = nil, mayRefer: Bool = false) { (self.parent, self.mayRefer) = (parent, mayRefer) }

  /// The path, without links in it. A root that was moved, with the library that it lies in, is replaced by another at
  /// the current path: programs that ran in a sandbox know the old one only.
  func located() throws -> String {
    try path.withLock { path in
      if let path, access(path, F_OK) == 0 { return path }
      let folder = parent ?? FileManager.default.temporaryDirectory
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      // Leftovers that cannot be removed do not keep a new work folder from being made.
      _ = try? WorkRoots.removeLeft(in: folder)
      let made = try WorkRoots.make(in: WorkFolder.real(folder))
      path = made
      return made
    }
  }

  /// A folder for one piece of work.
  func folder() throws -> WorkFolder {
    let root = try located()
    // LIBRARY/folder/root
    let library = URL(filePath: root).deletingLastPathComponent().deletingLastPathComponent()
    let resources = parent == nil ? [] : [library.appending(path: "resources").path]
    return try WorkFolder(in: root, linking: [root] + resources, mayRefer)
  }
}

/// A folder for one piece of work, which goes with this value.
struct WorkFolder: ~Copyable {
  /// The folder of all work folders that it lies in.
  let root: String
  private let path: String
  /// What programs may read.
  let input: String
  /// What programs may write.
  let output: String

  /// The folders whose files may be given a second name.
  private let linkable: [String]
  private let mayRefer: Bool

  fileprivate init(in root: String, linking linkable: [String], _ mayRefer: Bool) throws {
    (self.root, self.linkable, self.mayRefer) = (root, linkable, mayRefer)
    path = "\(root)/\(UUID().uuidString)"
    (input, output) = (path + "/in", path + "/out")
    for folder in [path, input, output] {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }
  }

  /// The path of a file without links in it: a library gives paths by descriptors, which a child does not have.
  static func real(_ file: URL) -> String {
    guard let found = realpath(file.path, nil) else { return file.path }
    defer { free(found) }
    return String(cString: found)
  }

  /// What a program needs to read all files in the folder of the input: the folder, and what links in it lead to.
  func readable() throws -> [String] {
    try [input]
      + FileManager.default.contentsOfDirectory(atPath: input).compactMap { name in
        var status = stat()
        let path = "\(input)/\(name)"
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK ? Self.real(URL(filePath: path)) : nil
      }
  }

  /// The path of a file that programs write.
  func file(_ name: String) -> String { "\(output)/\(name)" }

  /// How much of a file is copied before a cancellation is noticed.
  static let pieceByteCount = 16 << 20

  /// Puts a file into the folder of the input.
  /// - Parameters:
  ///   - isCancelled: whether the file is no longer wanted; called before each piece of a copy.
  ///   - cloning: shares the bytes of a file with an empty one; returns 0 or the errno.
  /// - Returns: its path there.
  /// - Throws: ``ImportError`` if it cannot be read, `.diskFull` if there is no room for a copy of it, `.cancelled`;
  ///   nothing is left of a copy then.
  func take(
    _ source: URL, as name: String = "source", isCancelled: () -> Bool = { false },
    cloning: (_ target: Int32, _ source: Int32) -> Int32 = { psys_clone_file($0, $1) }
  ) throws -> String {
    let target = "\(input)/\(name)"
    let real = Self.real(source)
    var status = stat()
    guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ImportError.source(FilePath(source.path), "read", errno: errno == 0 ? EINVAL : errno)
    }
    // A link keeps its owner; what belongs to another one may be closed to the program.
    let isOwn = linkable.contains { real.hasPrefix($0 + "/") }
    if isOwn, status.st_uid == geteuid(), link(real, target) == 0 { return target }
    if mayRefer { return try refer(to: real, as: name) }
    let from = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard from >= 0 else { throw Self.failure(source, errno: errno) }
    defer { close(from) }
    let to = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard to >= 0 else { throw Self.failure(source, errno: errno) }
    defer { close(to) }
    if cloning(to, from) == 0 { return target }
    do { try Self.copy(Int(status.st_size), from: from, to: to, of: source, isCancelled) } catch {
      unlink(target)
      throw error
    }
    return target
  }

  /// Copies the bytes of an open file.
  private static func copy(
    _ byteCount: Int, from: Int32, to: Int32, of source: URL, _ isCancelled: () -> Bool
  ) throws {
    var left = byteCount
    while left > 0 {
      if isCancelled() {
        throw ImportError(
          .cancelled, path: source.path, "The copying of \(source.path) for a program was stopped."
        ).passing
      }
      let count = sendfile(to, from, nil, min(left, pieceByteCount))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(source, errno: count == 0 ? EIO : errno) }
      left -= count
    }
  }

  /// Why a file cannot be taken: it cannot be read, or there is no room for a copy of it.
  private static func failure(_ source: URL, errno code: Int32) -> ImportError {
    guard code == ENOSPC || code == EDQUOT else { return .source(FilePath(source.path), "read", errno: code) }
    return ImportError(
      .diskFull, path: source.path,
      "There is not enough space for the copy of \(source.path) that a program is to read; free some and try again.")
  }

  /// Puts a link to a file into the folder of the input; see ``readable()``.
  private func refer(to real: String, as name: String) throws -> String {
    let target = "\(input)/\(name)"
    guard access(real, R_OK) == 0 else { throw ImportError.source(FilePath(real), "read", errno: errno) }
    try FileManager.default.createSymbolicLink(atPath: target, withDestinationPath: real)
    return target
  }

  /// Whether there is a file at a path, and no link: programs make links to what they cannot read, but we can.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The path of a file that a program was to write.
  func checked(_ path: String, by program: String) throws -> String {
    guard Self.isFile(path) else {
      throw ImportError(.toolFailed, path: program, "\(program) left no file where its picture was to be.")
    }
    return path
  }

  /// Gives a file that a program wrote the name under which it is wanted; where that is on another file system, the
  /// file is copied.
  func hand(_ path: String, to target: URL) throws {
    if rename(path, target.path) == 0 { return }
    try FileManager.default.moveItem(atPath: path, toPath: target.path)
  }

  // What cannot be removed is the next sweep's to clean up.
  deinit { try? FileManager.default.removeItem(atPath: path) }
}
