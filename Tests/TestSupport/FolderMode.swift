package import Foundation

extension URL {
  /// What its owner, the group and others may do with the folder that a file lies in; nil if the folder is not there.
  package var folderMode: Int? {
    var status = stat()
    return stat(deletingLastPathComponent().path, &status) == 0 ? Int(status.st_mode & 0o777) : nil
  }
}
