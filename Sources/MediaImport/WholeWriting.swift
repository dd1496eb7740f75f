internal import Glibc
internal import PhotoLedger

/// Writes all of some bytes to an open file, however many calls that takes.
/// - Throws: ``LibraryError`` that names the path, such as `.notEnoughSpace`.
func writeWhole(_ bytes: UnsafeRawBufferPointer, to number: Int32, _ path: String) throws(LibraryError) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = Glibc.write(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno != EINTR {
      throw LibraryError.store(path, "write", errno: errno)
    }
  }
}

/// Writes all of some bytes to an open file, however many calls that takes.
/// - Throws: ``LibraryError`` that names the path, such as `.notEnoughSpace`.
func writeWhole(_ bytes: [UInt8], to number: Int32, _ path: String) throws(LibraryError) {
  let outcome = bytes.withUnsafeBytes { bytes in
    Result { () throws(LibraryError) in try writeWhole(bytes, to: number, path) }
  }
  try outcome.get()
}
