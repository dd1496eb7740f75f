#if Gallery
  import Foundation
  import LibraryJSON

  /// A small file of the server beside the library: a list of records as JSON, replaced as a whole.
  ///
  /// A record that was taken out stays out: the file and its folder are synced before `write` returns, since a key that
  /// was withdrawn must not come back with the power.
  struct ServerFile: Sendable {
    /// Where it lies.
    let url: URL
    /// What the list is called, such as `keys`; it is the name of the list in the file too.
    let name: String

    /// The records of the file; none if there is no file.
    /// - Throws: ``GalleryError`` if the file cannot be read or is not such a list.
    func read<Record>(_ record: (JSON) throws -> Record) throws(GalleryError) -> [Record] {
      guard FileManager.default.fileExists(atPath: url.path) else { return [] }
      do {
        let json = try JSONReader.read(Array(try Data(contentsOf: url)))
        guard json["version"] == 1, let rows = json[name]?.listValue else {
          throw GalleryError("it is not a list of \(name) of version 1")
        }
        return try rows.map(record)
      } catch {
        let reason = (error as? CocoaError)?.localizedDescription ?? "\(error)"
        throw GalleryError(
          "The \(name) in \(url.path) cannot be read: \(reason). Restore the file, or remove it to begin "
            + "without \(name).")
      }
    }

    /// Replaces the file.
    /// - Throws: ``GalleryError`` if it cannot be written; the old one is kept then.
    func write(_ rows: [JSON]) throws(GalleryError) {
      let text = JSON.object([JSON.Member("version", 1), JSON.Member(name, .list(rows))]).description + "\n"
      let folder = url.deletingLastPathComponent()
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch { throw failure(error.localizedDescription) }
      let made = url.appendingPathExtension("new").path
      let descriptor = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
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
      guard isWritten, rename(made, url.path) == 0 else {
        let reason = String(cString: strerror(isWritten ? errno : code))
        unlink(made)
        throw failure(reason)
      }
      let parent = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard parent >= 0 else { throw failure(String(cString: strerror(errno))) }
      defer { close(parent) }
      guard fsync(parent) == 0 else { throw failure(String(cString: strerror(errno))) }
    }

    private func failure(_ reason: String) -> GalleryError {
      GalleryError("The \(name) cannot be written to \(url.path): \(reason).")
    }
  }

  extension JSON {
    /// An instant that was written as text.
    var instantValue: Date? { textValue.flatMap { WrittenDate($0)?.date } }
  }
#endif
