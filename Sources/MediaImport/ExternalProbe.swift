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
// exiftool is looked for at each question until it is found, so one that is installed later is used without a restart.

/// Examines files with exiftool; the usual probe of a library (CB-06).
public final class ExternalProbe: MediaProbe {
  private let tool = Mutex<ExifTool?>(nil)
  private let limits: ExifToolLimits
  private let searchPath: String?
  private let sandbox: Sandbox?
  private let isCancelled: @Sendable () -> Bool

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

  /// As the public one, with another sandbox than the usual.
  init(
    searchPath: String? = nil, limits: ExifToolLimits = ExifToolLimits(), sandbox: Sandbox?,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.searchPath, self.limits, self.sandbox, self.isCancelled) = (searchPath, limits, sandbox, isCancelled)
  }

  /// Examines a file.
  /// - Returns: that nothing can be examined, with what that means and what to install, where exiftool is missing.
  /// - Throws: ``LibraryError``: `.invalidResource` for a file that exiftool cannot finish within its limits,
  ///   `.userCancelled`, `.internalError` if exiftool cannot be started.
  /// - Complexity: one question to exiftool; about 100 ms more for the first.
  public func examine(_ file: URL) throws -> MediaFinding {
    do throws(ImportError) {
      let tags = try running().tags(of: FilePath(Self.reachable(file)), isCancelled: isCancelled)
      if let metadata = MediaMetadata(tags) { return .medium(MediumFacts(metadata)) }
      return .noMedium(tags.text("MIMEType") ?? tags.text("Error") ?? "unknown")
    } catch  where error.code == .toolMissing {
      return .unavailable(
        """
        exiftool is not installed, so new files are not examined: assets are recorded without pixel size, duration, \
        date, location and subtypes, and files that are not media are not rejected. \
        Install it with: apt-get install libimage-exiftool-perl
        """)
    } catch {
      throw failure(error)
    }
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

  /// The exiftool that stays open.
  func running() throws(ImportError) -> ExifTool {
    try tool.withLock { (tool) throws(ImportError) in
      if let tool { return tool }
      let made = try ExifTool(searchPath: searchPath, processCount: 2, limits: limits, sandbox: sandbox)
      tool = made
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
    default: LibraryError(.internalError, error.description)
    }
  }
}
