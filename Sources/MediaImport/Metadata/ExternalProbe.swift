public import Foundation
public import PhotoLedger
internal import Synchronization

// What the bytes of a file are, by one exiftool that is kept running.
//
// The tags, their reading, and the limits on time, memory and answer are those of imports, so a photo that a program
// saves has the size, date and place that the same photo has after an import. Two questions at most are answered at the
// same time, each by a process of 40 MB; the second one starts when it is needed. The image manager of `Photos` asks
// the same ones about what it renders.
//
// A server's probe is confined, as the exiftool of its uploads is (MediaIntake.swift): clients send what it parses. A
// file is put into a work folder, by a second name where that is possible, and exiftool reads work folders and nothing
// else of the machine but programs. A process that was asked about files of one client is asked about none of another.
// Where no sandbox keeps files away, it reads them all, as that of uploads does then.
//
//     resources/ab/cdef… ── WorkFolder.take ──▶ LIBRARY/server/photoledger-work-PID-…/3F9C…/in/source.jpg ──▶ exiftool
//
// exiftool is looked for at each question until it is found, so one that is installed later is used without a restart.

/// Examines files with exiftool; the usual probe of a library (CB-06).
public final class ExternalProbe: MediaProbe, ClientMediaProbe {
  private let tool = Mutex<(tool: ExifTool, readable: String?)?>(nil)
  private let limits: ExifToolLimits
  private let searchPath: String?
  private let sandbox: Sandbox?
  private let isCancelled: @Sendable () -> Bool
  /// Where the files are put that exiftool may read; nil: it reads all files of this user where they are.
  private let root: WorkRoot?

  /// The probe that libraries of this process share where none was chosen.
  package static let shared = ExternalProbe()

  /// Creates a probe; exiftool is searched, and started, when the first file is examined.
  /// - Parameters:
  ///   - searchPath: folders separated by colons; nil: the environment's `PATH`.
  ///   - limits: the limits for one file.
  ///   - isCancelled: whether the request was cancelled; then exiftool is killed, and the file's block fails with
  ///     ``LibraryError/Code/userCancelled``.
  public convenience init(
    searchPath: String? = nil, limits: ExifToolLimits = ExifToolLimits(),
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.init(searchPath: searchPath, limits: limits, sandbox: nil, isCancelled: isCancelled)
  }

  /// Creates the probe of a server, whose exiftool may read nothing of the machine but programs and the files that are
  /// being examined, where a sandbox keeps files away.
  /// - Parameters:
  ///   - library: the library that is served.
  ///   - searchPath: folders separated by colons; nil: the environment's `PATH`.
  ///   - isCancelled: whether the request was cancelled, as for other probes.
  package convenience init(
    servedFrom library: PhotoLibrary, searchPath: String? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    // A path that stays right when the library is moved while it is open.
    let folder = URL(filePath: library.store.folder.linkedPath(of: "server"), directoryHint: .isDirectory)
    self.init(searchPath: searchPath, sandbox: nil, root: WorkRoot(in: folder), isCancelled: isCancelled)
  }

  /// As the public one, with another sandbox than the usual, or confined to work folders.
  init(
    searchPath: String? = nil, limits: ExifToolLimits = ExifToolLimits(), sandbox: Sandbox?, root: WorkRoot? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.searchPath, self.limits, self.sandbox, self.isCancelled) = (searchPath, limits, sandbox, isCancelled)
    self.root = root
  }

  /// Examines a file.
  /// - Returns: that nothing can be examined, with what that means and what to install, where exiftool is missing.
  /// - Throws: ``LibraryError``: `.invalidResource` for a file that exiftool cannot finish within its limits,
  ///   `.userCancelled`, `.notEnoughSpace` where a copy is examined, `.internalError` if exiftool cannot be started.
  /// - Complexity: one question to exiftool; about 100 ms more for the first.
  public func examine(_ file: URL) throws -> MediaFinding { try examine(file, for: "") }

  /// The same of a client's file. A confined process is asked about the files of one client only.
  package func examine(_ file: URL, for client: String) throws -> MediaFinding {
    do {
      let tags = try self.tags(of: file, for: client)
      if let metadata = MediaMetadata(tags) { return .medium(MediumFacts(metadata)) }
      return .noMedium(tags.text("MIMEType") ?? tags.text("Error") ?? "unknown")
    } catch let error as ImportError where error.code == .toolMissing {
      return .unavailable(
        """
        exiftool is not installed, so new files are not examined: assets are recorded without pixel size, duration, \
        date, location and subtypes, and files that are not media are not rejected. \
        Install it with: apt-get install libimage-exiftool-perl
        """)
    } catch let error as ImportError {
      throw failure(error)
    } catch {
      throw LibraryError(error)
    }
  }

  private func tags(of file: URL, for client: String) throws -> ExifTags {
    let path = Self.reachable(file)
    guard let root else { return try running().tags(of: FilePath(path), isCancelled: isCancelled) }
    let folder = try root.folder()
    // Before the file is taken: without exiftool there is nothing to take it for.
    let tool = try running(reading: folder.root)
    let ending = FilePath(path).pathExtension
    let taken = try folder.take(
      file, as: ending.isEmpty ? "source" : "source.\(ending)", isCancelled: isCancelled)
    return try tool.tags(of: FilePath(taken), for: client, isCancelled: isCancelled)
  }

  /// The path of a file that a program in a sandbox can open, in which paths of this process lead nowhere. The
  /// ending is the link's if it has one, as it is given to stored bytes: a TIFF and some RAW formats differ in nothing
  /// else.
  private static func reachable(_ file: URL) -> String {
    let real = WorkFolder.real(file)
    let ending = FilePath(file.path).pathExtension
    if ending.isEmpty || FilePath(real).pathExtension == ending { return real }
    return WorkFolder.real(file.deletingLastPathComponent()) + "/" + file.lastPathComponent
  }

  /// What exiftool says about a file, unread: the part of the cost that is not ours, for benchmarks.
  package func answer(about file: URL) throws -> [UInt8] { try running().answer(about: FilePath(file.path)) }

  /// The exiftool that stays open, for what lets it read files where they are.
  func running() throws(ImportError) -> ExifTool {
    precondition(root == nil, "A confined exiftool reads nothing but work folders.")
    return try running(reading: nil)
  }

  /// The exiftool that stays open.
  /// - Parameter readable: the folder that it may read; nil: what the sandbox of this probe lets it read. Another one
  ///   replaces the exiftool: a sandbox knows no folder of a library that was moved.
  private func running(reading readable: String?) throws(ImportError) -> ExifTool {
    try tool.withLock { (tool) throws(ImportError) -> ExifTool in
      if let tool, tool.readable == readable { return tool.tool }
      let confined = readable.map { Sandbox(readable: [$0]) }
      let made = try ExifTool(searchPath: searchPath, processCount: 2, limits: limits, sandbox: confined ?? sandbox)
      tool = (made, readable)
      return made
    }
  }

  private func failure(_ error: ImportError) -> LibraryError {
    switch error.code {
    case .toolTimeout:
      LibraryError(.invalidResource, "exiftool did not finish it within \(limits.timePerFile) and was killed.")
    case .toolOutputTooLarge:
      LibraryError(.invalidResource, "exiftool returned more than \(limits.outputByteCount) bytes for it.")
    case .toolCrashed: LibraryError(.invalidResource, "exiftool exited or returned no readable answer for it.")
    case .cancelled: LibraryError(.userCancelled, "The work was stopped before exiftool answered.")
    case .vanished: LibraryError(.missingResource, error.description)
    case .diskFull: LibraryError(.notEnoughSpace, error.description)
    default: LibraryError(.internalError, error.description)
    }
  }
}
