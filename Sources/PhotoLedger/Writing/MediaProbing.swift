import Foundation
import Glibc
import Synchronization

// The probe of an opened library: what it found in files before and after they are stored (MediaProbe.swift).

/// The probe of a library.
///
/// `state` is guarded by its lock, which is not held while a file is examined.
final class MediaProbing: StorePart {
  static var closing: ClosingStage { .senders }
  func close() {}

  private struct State {
    var probe: (any MediaProbe)?
    var handler: (@Sendable (String) -> Void)?
    var isChosen = false
    var hasReported = false
  }

  private let state = Mutex(State())

  func install(_ probe: (any MediaProbe)?, _ handler: (@Sendable (String) -> Void)?) {
    state.withLock { $0 = State(probe: probe, handler: handler, isChosen: true) }
  }

  func installDefault(_ probe: any MediaProbe) {
    state.withLock { if !$0.isChosen { $0 = State(probe: probe, isChosen: true) } }
  }

  var isInstalled: Bool { state.withLock { $0.probe != nil } }

  /// Examines a file.
  /// - Parameters:
  ///   - name: what errors call it.
  ///   - client: the client that brings it.
  /// - Returns: the finding; nil if nothing examines files now.
  func finding(_ file: URL, named name: String, for client: String) throws(LibraryError) -> MediaFinding? {
    guard let probe = state.withLock({ $0.probe }) else { return nil }
    let finding: MediaFinding
    do {
      if let probe = probe as? any ClientMediaProbe {
        finding = try probe.examine(file, for: client)
      } else {
        finding = try probe.examine(file)
      }
    } catch {
      let failure = error as? LibraryError
      throw LibraryError(
        failure?.code ?? .invalidResource, "\(name) cannot be examined: \(failure?.description ?? "\(error)")")
    }
    guard case .unavailable(let sentence) = finding else { return finding }
    tellOnce(sentence)
    return nil
  }

  private func tellOnce(_ sentence: String) {
    let (isFirst, handler) = state.withLock { state in
      defer { state.hasReported = true }
      return (!state.hasReported, state.handler)
    }
    guard isFirst else { return }
    if let handler { handler(sentence) } else { FileHandle.standardError.write(Data("\(sentence)\n".utf8)) }
  }
}

// MARK: Files

/// What was found in a file while it was in a state.
struct ExaminedFile: Sendable {
  let stamp: FileStamp
  let outcome: Result<MediaFinding, LibraryError>

  /// Examines a file of a client; nil if nothing does now, or if the file changed meanwhile.
  init?(_ path: FilePath, _ probing: MediaProbing, for client: String) throws(LibraryError) {
    let before = try SourceFile(path).stamp
    let url = URL(filePath: path.description, directoryHint: .notDirectory).standardFileURL
    do throws(LibraryError) {
      guard let finding = try probing.finding(url, named: path.description, for: client) else { return nil }
      outcome = .success(finding)
    } catch {
      outcome = .failure(error)
    }
    guard try SourceFile(path).stamp == before else { return nil }
    stamp = before
  }
}

extension ResourceStore {
  /// What stored bytes are.
  /// - Parameters:
  ///   - content: bytes in their place.
  ///   - name: the name that they came with.
  ///   - client: the client whose block brings them.
  /// - Returns: nil if nothing examines files now, or if a purge took the bytes away, as the writer will find.
  func finding(
    in content: StoredContent, named name: String, _ probing: MediaProbing, for client: String
  ) throws(LibraryError) -> MediaFinding? {
    let path = path(ofContent: content.sha256)
    let ending = FilePath(name).pathExtension
    var link: String?
    if !ending.isEmpty, ending.utf8.allSatisfy({ $0 != FilePath.slash }) {
      let place = incomingName(ending: ".\(ending)")
      unlink(place)
      // Without links: a path of this process leads nowhere in a sandbox.
      let found = realpath(path, nil)
      defer { free(found) }
      let real = found.map { String(cString: $0) } ?? path
      guard symlink(real, place) == 0 else { throw LibraryError.store(place, "make", errno: errno) }
      link = place
    }
    defer { if let link { unlink(link) } }
    do throws(LibraryError) {
      let file = URL(filePath: link ?? path, directoryHint: .notDirectory)
      return try probing.finding(file, named: name, for: client)
    } catch {
      guard holds(content.sha256, byteCount: content.dataSize) else { return nil }
      throw error
    }
  }
}
