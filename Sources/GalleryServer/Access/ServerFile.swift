#if Gallery
  import Foundation
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// A small file of the server beside the library: a list of records as JSON, replaced as a whole.
  ///
  /// A record that was taken out stays out: the file and its folder are synced before `write` returns, since a key that
  /// was withdrawn must not come back with the power.
  struct ServerFile: Sendable {
    /// The directory of the library, wherever it is by now.
    let folder: LibraryFolder
    /// What the list is called, such as `keys`; it is the name of the list in the file too.
    let name: String

    private var place: String { "server/\(name).json" }

    /// The records of the file; none if there is no file.
    /// - Throws: ``GalleryError`` if the file cannot be read or is not such a list.
    func read<Record>(_ record: (JSON) throws -> Record) throws(GalleryError) -> [Record] {
      guard let bytes = try bytes() else { return [] }
      do {
        let json = try JSONReader.read(bytes)
        guard json["version"] == 1, let rows = json[name]?.listValue else {
          throw GalleryError("it is not a list of \(name) of version 1")
        }
        return try rows.map(record)
      } catch {
        throw unreadable("\(error)")
      }
    }

    /// The bytes of the file; nil if there is no file.
    private func bytes() throws(GalleryError) -> [UInt8]? {
      let descriptor = folder.open(place, O_RDONLY | O_NONBLOCK)
      if descriptor < 0, errno == ENOENT { return nil }
      guard descriptor >= 0 else { throw unreadable(String(cString: strerror(errno))) }
      defer { close(descriptor) }
      var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
      while true {
        let count = Foundation.read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw unreadable(String(cString: strerror(errno))) }
        if count == 0 { return bytes }
        bytes += chunk[..<count]
      }
    }

    private func unreadable(_ reason: String) -> GalleryError {
      GalleryError(
        "The \(name) in \(folder.path(of: place)) cannot be read: \(reason). Restore the file, or remove it to begin "
          + "without \(name).")
    }

    /// Replaces the file.
    /// - Throws: ``GalleryError`` if it cannot be written; the old one is kept then, unless it was only the folder that
    ///   could not be synced, which leaves either of them after a power cut.
    func write(_ rows: [JSON]) throws(GalleryError) {
      let text = JSON.object([JSON.Member("version", 1), JSON.Member(name, .list(rows))]).description + "\n"
      let made = place + ".new"
      do throws(LibraryError) { try folder.makeFolder("server", 0o700) } catch { throw failure(error.description) }
      let descriptor = folder.open(made, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw failure(errno: errno) }
      var bytes = Array(text.utf8)[...]
      while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        bytes = bytes.dropFirst(count)
      }
      let isWritten = bytes.isEmpty && fchmod(descriptor, 0o600) == 0 && fsync(descriptor) == 0
      let code = errno
      close(descriptor)
      let renaming = isWritten ? folder.rename(made, to: place) : code
      guard renaming == 0 else {
        folder.remove(made)
        throw failure(errno: renaming)
      }
      do throws(LibraryError) { try folder.synchronize("server") } catch { throw failure(error.description) }
    }

    private func failure(errno code: Int32) -> GalleryError {
      failure(String(cString: strerror(code)), isOfSpace: code == ENOSPC || code == EDQUOT)
    }

    private func failure(_ reason: String, isOfSpace: Bool = false) -> GalleryError {
      GalleryError("The \(name) cannot be written to \(folder.path(of: place)): \(reason).", isOfSpace: isOfSpace)
    }
  }

  extension JSON {
    /// An instant that was written as text.
    var instantValue: Date? { textValue.flatMap { WrittenDate($0)?.date } }
  }
#endif
