// What keeps a program that reads hostile bytes away from everything else.
//
//     found and working?    bubblewrap:  namespaces (own root, network, processes) + filter of system calls
//     else, kernel ≥ 5.13   Landlock:    rules for paths                           + filter of system calls
//     else                  filter alone
//     else                  limits alone
//
// The assumption is that a decoder is taken over by the file it reads. What it can reach then: the folders of programs
// and their libraries, read-only; the files that it was given, read-only; one folder of its own. Everything else of the
// file system, the library's folder included, does not exist for it or cannot be opened. The filter (CSystem's
// confine.c) makes no socket, no process, no mount and no signal possible, and no change of a file but through a
// descriptor for writing, also for root. In the layer `filter` files stay open, so that the memory of this user's other
// programs may be read and written by way of /proc, unless Yama forbids it (ptrace_scope of 1 or more); a server of
// root has powers that the child lacks, which closes its memory. Limits of address space and file size hold in every
// layer; time is the parent's (`ChildProcess`).
//
// The layer is chosen once in a process: bubblewrap is asked to run `true` with the same arguments that it gets later,
// since it is installed on machines whose kernel does not let it work.
//
// Invariant: a layer that was chosen is in force or the program does not start; there is no way down at the start of a
// child.
//
// Rejected: a seccomp list of what is allowed (each version of glibc, libvips and Perl calls others, and a list that is
// too short breaks pictures, not attacks); a container for each program (a daemon, root); trust in
// VIPS_BLOCK_UNTRUSTED alone (libheif and libtiff are among the trusted loaders, and had the errors).

internal import CSystem
internal import Foundation
internal import Glibc

/// What enforces a sandbox.
package enum SandboxLayer: String, Sendable, CaseIterable {
  /// Namespaces, and the filter of system calls.
  case bubblewrap
  /// The kernel's rules for paths, and the filter of system calls.
  case landlock
  /// The filter of system calls: no network and no processes, but files, /proc among them.
  case filter
  /// Limits of memory, time and size only.
  case none

  /// The layer in which programs run that read files.
  package static let active = strongest(in: nil)

  /// The strongest layer that works here.
  /// - Parameter searchPath: where bubblewrap is looked for; nil: the environment's `PATH`.
  package static func strongest(in searchPath: String?) -> SandboxLayer {
    allCases.first { $0.works(in: searchPath) } ?? .none
  }

  /// Whether a program runs in the layer on this machine.
  package func works(in searchPath: String? = nil) -> Bool {
    switch self {
    case .none: return true
    case .landlock where psys_landlock_version() == 0: return false
    case .bubblewrap where Programs(searchPath: searchPath).find("bwrap") == nil: return false
    default: break
    }
    guard let program = Programs().find("true") else { return false }
    let sandbox = Sandbox(layer: self, searchPath: searchPath)
    guard
      var child = try? ChildProcess(
        executable: program, arguments: [], memoryByteCount: 1 << 30, sandbox: sandbox)
    else { return false }
    return child.exitStatus(before: .now + .seconds(10)) == 0
  }

  /// What the layer keeps a program from, as a sentence part.
  package var explanation: String {
    switch self {
    case .bubblewrap: "bubblewrap: own file system, no network, no other process"
    case .landlock: "Landlock: only the files given, no network, no other process"
    case .filter: "seccomp: no network, no other process; files are not restricted"
    case .none: "none: limits of time, memory and size only"
    }
  }
}

/// What a program in a child process may reach.
struct Sandbox: Sendable {
  /// What enforces it.
  var layer: SandboxLayer
  /// Files and folders that may be read, besides the system's programs.
  var readable: [String] = []
  /// Folders that may be read and written.
  var writable: [String] = []
  /// Where bubblewrap is looked for; nil: the environment's `PATH`.
  var searchPath: String?

  init(
    layer: SandboxLayer = .active, readable: [String] = [], writable: [String] = [], searchPath: String? = nil
  ) {
    (self.layer, self.searchPath) = (layer, searchPath)
    self.readable = Self.resolved(readable)
    self.writable = Self.resolved(writable)
  }

  /// The paths with what their links lead to: rules count for what is opened in the end.
  private static func resolved(_ paths: [String]) -> [String] {
    paths.flatMap { path -> [String] in
      guard let real = realpath(path, nil) else { return [path] }
      defer { free(real) }
      let text = String(cString: real)
      return text == path ? [path] : [text, path]
    }
  }

  /// Where programs and what they need lie.
  private static let programFolders = ["/usr", "/opt", "/nix/store", "/snap"]
  private static let linkedFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"]
  private static let settings = [
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts", "/etc/perl",
    "/etc/ImageMagick-6", "/etc/ImageMagick-7", "/etc/localtime",
  ]

  /// Paths of a program that lies outside of the system's folders, and of the modules that exiftool has beside itself
  /// where it was unpacked from its archive.
  private static func own(_ executable: String) -> [String] {
    let paths = resolved([executable])
    let modules = paths.map { URL(filePath: $0).deletingLastPathComponent().appending(path: "lib").path }
      .filter { access($0 + "/Image/ExifTool.pm", R_OK) == 0 }
    return (paths + resolved(modules)).filter { path in
      !(programFolders + linkedFolders).contains { path.hasPrefix($0 + "/") }
    }
  }

  /// The path that a program is started by. An exiftool finds the modules beside itself by following links, and a
  /// bound file is not a link; other programs may depend on the name of their link.
  private static func started(_ executable: String) -> String {
    let real = WorkFolder.real(URL(filePath: executable))
    let modules = URL(filePath: real).deletingLastPathComponent().appending(path: "lib/Image/ExifTool.pm").path
    return access(modules, R_OK) == 0 ? real : executable
  }

  // MARK: Landlock

  /// Calls `body` with the confinement of a program in this layer.
  func withConfinement<Result>(
    of executable: String, memoryByteCount: Int, fileByteCount: Int?, group: Int32, niceness: Int32,
    _ body: (UnsafePointer<psys_confinement>) -> Result
  ) -> Result {
    var confinement = psys_confinement()
    confinement.memory = Int64(memoryByteCount)
    confinement.file_size = Int64(fileByteCount ?? 0)
    (confinement.group, confinement.niceness) = (group, niceness)
    switch layer {
    case .landlock: confinement.layers = Int32(PSYS_LANDLOCK | PSYS_FILTER)
    case .filter: confinement.layers = Int32(PSYS_FILTER)
    case .bubblewrap, .none: confinement.layers = 0
    }
    let programs = Self.programFolders + Self.linkedFolders + Self.own(executable)
    return Self.withPaths(programs) { programs in
      Self.withPaths(Self.settings + readable) { readable in
        Self.withPaths(writable) { writable in
          (confinement.programs, confinement.readable, confinement.writable) = (programs, readable, writable)
          return withUnsafePointer(to: confinement, body)
        }
      }
    }
  }

  private static func withPaths<Result>(
    _ paths: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let strings = paths.map { strdup($0) }
    defer { for string in strings { free(string) } }
    return (strings.map { $0.map { UnsafePointer($0) } } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
  }

  // MARK: bubblewrap

  /// The descriptor from which bubblewrap reads the filter.
  static let filterDescriptor: Int32 = 3

  /// The program to start, and the arguments that come before the executable.
  func command(of executable: String) -> (program: String, words: [String])? {
    guard layer == .bubblewrap else { return (executable, []) }
    guard let program = Programs(searchPath: searchPath).find("bwrap") else { return nil }
    // Without `--die-with-parent`: to the kernel the parent is the thread that starts a child, and an exiftool outlives
    // it. The group is ended by the guardian (`ChildProcess`).
    let namespaces = ["--unshare-all", "--cap-drop", "ALL"]
    let end = ["--chdir", "/", "--seccomp", "\(Self.filterDescriptor)", "--", Self.started(executable)]
    if readable.contains("/") {
      // Files may lie in memory, under the devices.
      let shared = ["--ro-bind-try", "/dev/shm", "/dev/shm"]
      let binds = writable.flatMap { ["--bind", $0, $0] }
      // The devices lie in memory of their own, which nothing would limit: it is closed once the folders are bound.
      let mounts = ["--ro-bind", "/", "/", "--dev", "/dev"] + shared + binds + ["--remount-ro", "/dev"]
      return (program, namespaces + mounts + end)
    }
    var words = namespaces + ["--dev", "/dev"]
    for folder in Self.programFolders { words += ["--ro-bind-try", folder, folder] }
    for folder in Self.linkedFolders {
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(folder, &target, target.count - 1)
      if count > 0 {
        let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        words += ["--symlink", text, folder]
      } else {
        words += ["--ro-bind-try", folder, folder]
      }
    }
    for path in Self.settings { words += ["--ro-bind-try", path, path] }
    for path in Self.own(executable) + readable { words += ["--ro-bind", path, path] }
    for path in writable { words += ["--bind", path, path] }
    return (program, words + ["--remount-ro", "/dev", "--remount-ro", "/"] + end)
  }

  /// A pipe that holds the filter of system calls; nil where there is none.
  static func filterPipe() -> Int32? {
    var count = 0
    let filter = psys_call_filter(&count)
    var ends: [Int32] = [-1, -1]
    // A pipe takes the few hundred instructions without a reader.
    guard count > 0, count <= 1 << 14, pipe(&ends) == 0 else { return nil }
    defer { close(ends[1]) }
    guard write(ends[1], filter, count) == count else {
      close(ends[0])
      return nil
    }
    return ends[0]
  }
}
