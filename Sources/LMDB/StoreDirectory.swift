import Glibc

/// The directory of an open store, wherever it is by now.
///
/// A path says where a directory was. When it is renamed and another store is made at the old path, the path leads to
/// that one; LMDB itself takes paths only. So the directory is opened once, and whatever opens files in it later (the
/// store again after a failed write, a store beside it that is made for a while) goes through the kernel's table of
/// this process's descriptors.
final class StoreDirectory: Sendable {
  /// Where it was when it was opened, for sentences.
  let path: String
  /// A path that leads to it for as long as this object lives.
  let location: String
  private let descriptor: Int32

  init(_ path: String) throws(LMDBError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LMDBError(code: errno, "open", path: path) }
    self.path = path
    let link = Self.links + "\(descriptor)"
    // Where /proc is not mounted there is nothing better.
    location = access(link, F_OK) == 0 ? link : path
  }

  deinit { close(descriptor) }

  /// What people call a place that LMDB knows by its ``location``, or one inside: where the directory is now.
  static func name(of location: String) -> String {
    guard location.hasPrefix(links) else { return location }
    let number = location.dropFirst(links.count).prefix { $0 != "/" }
    let link = "\(links)\(number)"
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.assumingMemoryBound(to: CChar.self).baseAddress.map { readlink(link, $0, buffer.count) } ?? -1
    }
    guard count > 0 else { return location }
    let path = String(decoding: bytes[..<count], as: UTF8.self)
    // So the kernel names what was removed.
    let directory = path.hasSuffix(" (deleted)") ? String(path.dropLast(10)) : path
    return "\(directory)\(location.dropFirst(link.count))"
  }

  private static let links = "/proc/self/fd/"

  /// An error of a call that was given ``location``, or a place inside, as people know the place.
  func named(_ error: LMDBError) -> LMDBError {
    guard let place = error.path, place == location || place.hasPrefix(location + "/") else { return error }
    var error = error
    error.path = "\(Self.name(of: path))\(place.dropFirst(location.count))"
    return error
  }
}

extension Environment {
  /// What people call a place inside a store's directory that is known by the open directory, such as
  /// `/proc/self/fd/7/shadow`; any other path as it is.
  package static func displayedPath(_ path: String) -> String { StoreDirectory.name(of: path) }
}
