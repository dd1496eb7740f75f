internal import CSystem
internal import Foundation
internal import Glibc
internal import PhotoLedger

// The folder that an export fills, and the rules by which anything in it is changed.
//
//     TARGET/2024/05/IMG_1.HEIC             exported files
//     TARGET/.photoledger-export/files      the journal (FileJournal.swift)
//                               /lock       held by the export that runs
//                               /coming/    files on their way, named after their paths; emptied when an export begins
//
// A batch of files goes there in five steps, so that a kill between any two, or in one, leaves each file whole or away:
//
//     copy to work/, hash ─▶ make the file system durable ─▶ lines into the journal ─▶ rename ─▶ next batch
//
// No symbolic link inside the target is followed: a folder of the target that is one is a conflict, however it came
// there. The target itself may be one.

/// A folder that an export fills, held by one export at a time.
final class ExportFolder {
  static let own = ".photoledger-export"
  let path: String
  let journal: FileJournal
  /// Where files are made; on the file system of the target.
  let work: String
  private var lock: FileLock?
  private var checkedFolders: Set<String> = []
  private let isDryRun: Bool

  /// - Parameters:
  ///   - path: an absolute path.
  ///   - isDryRun: whether nothing is made.
  /// - Throws: ``LibraryError`` `.conflict` while another export fills it; `.malformedRequest`, `.storage`.
  init(_ path: String, isDryRun: Bool) throws(LibraryError) {
    (self.path, self.isDryRun) = (path, isDryRun)
    let own = "\(path)/\(Self.own)"
    work = "\(own)/coming"
    try Self.checkMayBeFolder(path)
    if !isDryRun {
      do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
        throw LibraryError(.storage, "The folder \(path) cannot be created: \(LibraryError.reason(of: error)).")
      }
      try Self.makeFolder(own)
      try Self.makeFolder(work)
      lock = try FileLock(open("\(own)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)) { code in
        LibraryError.store("\(own)/lock", "lock", errno: code)
      }
      guard lock != nil else {
        throw LibraryError(.conflict, "Another export into \(path) is running; start this one when it has ended.")
      }
    }
    journal = try FileJournal(at: "\(own)/files")
    if isDryRun {
      try journal.dropLast(of: Array(Set(unplaced(FileStamp.all(in: work)).values)), isWritten: false)
    } else {
      try clearWork()
    }
  }

  /// Checks that nothing but a folder is at a path, or on the way to it: a dry run fails where the export would.
  private static func checkMayBeFolder(_ path: String) throws(LibraryError) {
    var status = stat()
    let isOccupied = stat(path, &status) == 0 ? status.st_mode & S_IFMT != S_IFDIR : errno == ENOTDIR
    guard !isOccupied else {
      throw LibraryError(
        .storage, "The folder \(path) cannot be created: a file is at its path or on the way to it; choose another.")
    }
  }

  private static func makeFolder(_ path: String) throws(LibraryError) {
    var status = stat()
    guard mkdir(path, 0o755) == 0 || errno == EEXIST, lstat(path, &status) == 0 else {
      throw LibraryError.store(path, "create the folder", errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw LibraryError(.conflict, "\(path) is not a folder; exports keep their journal there. Remove it.")
    }
  }

  /// What the name of a file on its way begins with: it says for which path. Two files may have one stamp.
  static func workName(of relative: String) -> String { Array(relative.utf8).sha256.hexadecimal }

  /// Removes what an export that was ended has left among the files on their way. Each of them proves that a line of
  /// its path with its stamp is of a file that never got its name, so such a line goes first: what is under that name
  /// by then would be taken for an export's.
  func clearWork() throws(LibraryError) {
    let files = FileStamp.all(in: work)
    let proofs = unplaced(files)
    func clear(_ names: [String]) throws(LibraryError) {
      for name in names {
        guard unlink("\(work)/\(name)") == 0 || errno == ENOENT else {
          throw LibraryError.store("\(work)/\(name)", "remove", errno: errno)
        }
      }
    }
    // What proves nothing makes room for the journal.
    try clear(files.map(\.name).filter { proofs[$0] == nil })
    if proofs.isEmpty { return }
    try journal.dropLast(of: Array(Set(proofs.values)), isWritten: true)
    try clear(Array(proofs.keys))
  }

  /// The files on their way that the last line of their path is of: the names, and the paths.
  private func unplaced(_ files: [(name: String, stamp: FileStamp?)]) -> [String: String] {
    var names: [FileStamp: [String]] = [:]
    for file in files { if let stamp = file.stamp { names[stamp, default: []].append(file.name) } }
    if names.isEmpty { return [:] }
    var proofs: [String: String] = [:]
    for (path, lines) in journal.lines {
      guard let line = lines.last, let waiting = names[line.stamp], FileStamp(of: place(line.path)) != line.stamp else {
        continue
      }
      let beginning = Self.workName(of: line.path)
      for name in waiting where name.hasPrefix(beginning) { proofs[name] = path }
    }
    return proofs
  }

  /// Where a file of the target lies.
  func place(_ relative: String) -> String { "\(path)/\(relative)" }

  /// Makes everything durable that was written to the file system of the target.
  func synchronize() throws(LibraryError) {
    let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw LibraryError.store(path, "open the folder", errno: errno) }
    defer { close(number) }
    let code = psys_sync_file_system(number)
    guard code == 0 else { throw LibraryError.store(path, "make durable", errno: code) }
  }

  /// Whether the folders of a path are folders, and none of them is a link.
  private func hasOwnFolders(_ relative: String, making: Bool) throws(LibraryError) -> Bool {
    var folder = path
    for component in relative.split(separator: "/").dropLast() {
      folder += "/\(component)"
      if checkedFolders.contains(folder) { continue }
      if making, mkdir(folder, 0o777) != 0, errno != EEXIST {
        throw LibraryError.store(folder, "create the folder", errno: errno)
      }
      var status = stat()
      guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
      checkedFolders.insert(folder)
    }
    return true
  }

  /// What is under a path.
  enum Occupant: Equatable {
    /// Nothing.
    case none
    /// A file that was written by an export, as it was written then.
    case own(JournalLine)
    /// A file that an export wrote there once and that is another now.
    case changed
    /// Something else: a folder, a link, a foreign file.
    case foreign
  }

  /// Examines the file at a path.
  func occupant(of relative: String) -> Occupant {
    var folder = path
    for component in relative.split(separator: "/").dropLast() {
      folder += "/\(component)"
      if checkedFolders.contains(folder) { continue }
      var status = stat()
      guard lstat(folder, &status) == 0 else { return errno == ENOENT ? .none : .foreign }
      guard status.st_mode & S_IFMT == S_IFDIR else { return .foreign }
      checkedFolders.insert(folder)
    }
    var status = stat()
    guard lstat(place(relative), &status) == 0 else { return errno == ENOENT ? .none : .foreign }
    guard let stamp = FileStamp(of: place(relative)) else { return .foreign }
    if let line = journal.match(relative, stamp) { return .own(line) }
    return journal.lines[relative] == nil ? .foreign : .changed
  }

  /// Gives a file on its way its name. What an earlier export left there is replaced, and nothing else.
  /// - Parameter replacingChanged: whether that is replaced, too, if it was changed since.
  /// - Throws: ``LibraryError`` `.conflict` if something else is there by now; `.storage`, `.notEnoughSpace`.
  func put(_ file: String, at relative: String, replacingChanged: Bool) throws(LibraryError) {
    let place = place(relative)
    guard try hasOwnFolders(relative, making: true) else {
      throw LibraryError(.conflict, "A folder of \(place) is a symbolic link or not a folder; remove it.")
    }
    let occupant = occupant(of: relative)
    switch occupant {
    case .none: break
    case .own: break
    case .changed where replacingChanged: break
    case .changed, .foreign:
      throw Self.appeared(place)
    }
    let code = occupant == .none ? renameWithoutReplacing(file, to: place) : rename(file, place) == 0 ? 0 : errno
    if code == EEXIST { throw Self.appeared(place) }
    guard code == 0 else { throw LibraryError.store(place, "rename a finished copy to", errno: code) }
    // Two names of one file stay two names when one is renamed to the other. What cannot be removed is left to
    // `clearWork()`: the file has its name.
    unlink(file)
  }

  private static func appeared(_ place: String) -> LibraryError {
    LibraryError(.conflict, "\(place) appeared during the export; it was left alone.")
  }

  /// Removes a file that an earlier export wrote, and the folders that are empty then.
  func remove(_ relative: String) throws(LibraryError) {
    guard unlink(place(relative)) == 0 else { throw LibraryError.store(place(relative), "remove", errno: errno) }
    var components = relative.split(separator: "/").dropLast()
    while !components.isEmpty {
      let folder = place(components.joined(separator: "/"))
      // One that is not empty stays.
      guard rmdir(folder) == 0 else { return }
      checkedFolders.remove(folder)
      components.removeLast()
    }
  }

  /// Whether two paths are one name of one file, as on a file system that folds case: what is removed under one of
  /// them is gone under the other.
  func isOneName(_ relative: String, _ other: String) -> Bool {
    var (status, otherStatus) = (stat(), stat())
    guard lstat(place(relative), &status) == 0, lstat(place(other), &otherStatus) == 0 else { return false }
    guard status.st_dev == otherStatus.st_dev, status.st_ino == otherStatus.st_ino else { return false }
    return status.st_nlink == 1 || !isListed(relative) || !isListed(other)
  }

  /// Whether each folder of a path lists the next part in this spelling. A link has names elsewhere, too; so one name
  /// of it in two spellings is known by the spelling that is not listed.
  private func isListed(_ relative: String) -> Bool {
    var folder = path
    for part in relative.split(separator: "/") {
      guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return true }
      guard names.contains(where: { $0.utf8.elementsEqual(part.utf8) }) else { return false }
      folder += "/\(part)"
    }
    return true
  }

  /// Whether a path from a journal is one that an export can have written.
  static func isOwn(_ relative: String) -> Bool {
    let parts = relative.split(separator: "/", omittingEmptySubsequences: false)
    return !parts.isEmpty && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && !$0.utf8.contains(0) }
  }
}
