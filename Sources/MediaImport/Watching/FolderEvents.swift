internal import CSystem
internal import Glibc
internal import PhotoLedger

// Hints about folders, from the kernel (inotify(7)) or by their times.
//
// Only folders are watched, one watch each. A watch belongs to a folder and not to its path, so a folder that moved is
// named by its former path until it is listed at the new one, which gives the same watch the new path. A watch that
// ended, and a folder that moved, are hints about the path: what is there now is another folder, or none.
//
// Where the kernel gives no hints, a folder is compared by its times in each scan: when its limit of watches is reached
// (ENOSPC), and on file systems that other machines write to. A folder's times change with the names in it, so files
// that come, go and are renamed are noticed, and ones that are written in place are not.
//
// The descriptor is read by one task; the other end of the pipe ends its waiting.

/// Hints about folders.
final class FolderEvents {
  /// Why a folder is compared by its times.
  enum Reason: Sendable {
    case watchLimit, remote
  }

  /// -1 without one.
  let descriptor: Int32
  private var paths: [Int32: FilePath] = [:]
  private var watches: [FilePath: Int32] = [:]
  /// Folders that are compared by their times.
  private var scanned: [FilePath: FileState] = [:]
  private let watchLimit: Int
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)

  /// - Parameter watchLimit: the most watches to ask the kernel for; 0: none at all.
  init(watchLimit: Int = .max) {
    self.watchLimit = watchLimit
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    buffer.deallocate()
  }

  var scannedCount: Int { scanned.count }

  private static let mask =
    UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO) | UInt32(IN_MODIFY)
    | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
    | UInt32(IN_EXCL_UNLINK)

  /// Follows a folder from now on; called before it is listed, so that nothing happens between the two.
  /// - Parameter open: the folder, if it could be opened. Should its path be another folder's by now, that one is
  ///   followed, and a hint about the folder above it makes it due again.
  /// - Returns: why it is compared by its times; nil if it is watched, or gone.
  func follow(_ folder: FilePath, open: Int32?) -> Reason? {
    if Self.isRemote(folder, open: open) { return scan(folder, .remote) }
    guard descriptor >= 0, watches.count < watchLimit || watches[folder] != nil else {
      return scan(folder, .watchLimit)
    }
    let watch = folder.withCString { inotify_add_watch(descriptor, $0, Self.mask) }
    guard watch >= 0 else { return errno == ENOSPC || errno == ENOMEM ? scan(folder, .watchLimit) : nil }
    if let former = watches.updateValue(watch, forKey: folder), former != watch { remove(former) }
    if let former = paths.updateValue(folder, forKey: watch), former != folder { watches[former] = nil }
    if !scanned.isEmpty { scanned[folder] = nil }
    return nil
  }

  private func scan(_ folder: FilePath, _ reason: Reason) -> Reason {
    if let state = Self.state(of: folder) { scanned[folder] = state }
    return reason
  }

  /// Follows a folder no longer.
  func forget(_ folder: FilePath) {
    scanned[folder] = nil
    if let watch = watches.removeValue(forKey: folder), paths[watch] == folder { remove(watch) }
  }

  private func remove(_ watch: Int32) {
    paths[watch] = nil
    if descriptor >= 0 { _ = inotify_rm_watch(descriptor, watch) }
  }

  /// Compares the folders that the kernel gives no hints about.
  func scan() -> [FolderWatch.Event] {
    var events: [FolderWatch.Event] = []
    for (folder, known) in scanned {
      let now = Self.state(of: folder)
      if now == known { continue }
      scanned[folder] = now
      events.append(.changed(folder))
      if now == nil { events.append(.changed(FilePath(bytes: folder.folderBytes))) }
    }
    return events
  }

  /// The hints that have come.
  func read() -> [FolderWatch.Event] {
    guard descriptor >= 0 else { return [] }
    var events: [FolderWatch.Event] = []
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return events }
      var offset = 0
      while offset + MemoryLayout<inotify_event>.size <= count {
        let head = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let start = offset + MemoryLayout<inotify_event>.size
        let name = buffer[start..<min(start + Int(head.len), count)].prefix { $0 != 0 }
        note(head.wd, head.mask, Array(name), &events)
        offset = start + Int(head.len)
      }
    }
  }

  private func note(_ watch: Int32, _ mask: UInt32, _ name: [UInt8], _ events: inout [FolderWatch.Event]) {
    func has(_ flags: Int...) -> Bool { flags.contains { mask & UInt32($0) != 0 } }
    if has(Int(IN_Q_OVERFLOW)) { events.append(.lost) }
    guard let folder = paths[watch] else { return }
    if has(Int(IN_IGNORED)) {
      paths[watch] = nil
      if watches[folder] == watch { watches[folder] = nil }
    }
    let file = folder.appending(name)
    if has(Int(IN_MODIFY)) { return events.append(.writing(file)) }
    if has(Int(IN_CLOSE_WRITE)) { events.append(.closed(file)) }
    events.append(.changed(folder))
    if has(Int(IN_DELETE_SELF), Int(IN_MOVE_SELF), Int(IN_UNMOUNT)) {
      events.append(.changed(FilePath(bytes: folder.folderBytes)))
    }
  }

  /// Waits until one of some descriptors can be read, or the time is over.
  static func wait(for milliseconds: Int32, or descriptors: [Int32]) {
    var polled = descriptors.filter { $0 >= 0 }.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), milliseconds)
  }

  private static func state(of folder: FilePath) -> FileState? {
    var status = stat()
    return folder.withCString { stat($0, &status) } == 0 ? FileState(SourceStamp(status)) : nil
  }

  /// Whether other machines write to the file system of a folder, so that the kernel does not see it (linux/magic.h).
  /// - Parameter open: the folder, if it is open, which saves looking up its path.
  static func isRemote(_ folder: FilePath, open: Int32? = nil) -> Bool {
    var status = statfs()
    let code = if let open { fstatfs(open, &status) } else { folder.withCString { statfs($0, &status) } }
    guard code == 0 else { return false }
    return remoteMagics.contains(UInt32(truncatingIfNeeded: status.f_type))
  }

  /// NFS, SMB, SMB2, CIFS, FUSE, 9P, AFS, kAFS, Coda, Ceph, Lustre, GFS2, OCFS2, NCP, folders shared by VirtualBox.
  private static let remoteMagics: Set<UInt32> = [
    0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x0102_1997, 0x5346_414F, 0x6B41_4653, 0x7375_7245,
    0x00C3_6400, 0x0BD0_0BD0, 0x0116_1970, 0x7461_636F, 0x564C, 0x786F_4256,
  ]
}

extension FolderEvents.Reason {
  func sentence(_ folder: FilePath) -> String {
    switch self {
    case .watchLimit:
      """
      The kernel's limit of watched folders is reached at \(folder); further ones are compared by their times every \
      few seconds. Raise fs.inotify.max_user_watches to have new files at once.
      """
    case .remote:
      """
      \(folder) is on a network file system, of which the kernel reports no changes; its folders are compared by their \
      times every few seconds.
      """
    }
  }
}
