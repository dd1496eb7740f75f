package import Foundation
internal import PhotoLedger

// Which way up the bytes of a picture are to be shown, written into a copy of them: pixels stay as they are stored.
// exiftool writes the tag where the format has one that decoders follow; what cannot be written so, such as HEIF, whose
// turn is a property of the picture and no tag, is encoded as PNG first.

extension MediaRenderer {
  /// The bytes of a picture whose stored pixels are to be shown turned.
  /// - Parameters:
  ///   - data: the encoded picture.
  ///   - orientation: EXIF orientation, 1 to 8.
  /// - Returns: the same bytes if they say so already.
  /// - Throws: ``ImportError``: `toolMissing` without exiftool; `toolFailed` for what is not a picture, and for a
  ///   picture that can neither be marked nor decoded without being turned; `toolTimeout`.
  package func turned(_ data: Data, to orientation: Int) throws -> Data {
    let folder = try root.folder()
    let file = folder.file("turned")
    try data.write(to: URL(filePath: file), options: .withoutOverwriting)
    guard let description = try description(ofInput: file), description.storedSize != nil else {
      throw ImportError(.toolFailed, path: file, "The bytes are not a picture.")
    }
    if description.orientation == orientation { return data }
    if let marked = try marked(file, orientation, description, in: folder) { return marked }
    guard description.orientation == 1 else {
      throw ImportError(
        .toolFailed, path: file,
        "A picture of type \(description.uniformTypeIdentifier) that states its orientation cannot be turned otherwise."
      )
    }
    var request = PictureRequest(source: URL(filePath: file), sourceType: description.uniformTypeIdentifier)
    request.format = .png
    try picture(request).data.write(to: URL(filePath: file))
    guard let described = try self.description(ofInput: file),
      let marked = try marked(file, orientation, described, in: folder)
    else { throw ImportError(.toolFailed, path: file, "exiftool cannot mark a PNG as turned.") }
    return marked
  }

  /// A marked copy of a picture; nil if exiftool cannot write its format, or what it wrote is not what is read.
  private func marked(
    _ file: String, _ orientation: Int, _ before: StillDescription, in folder: borrowing WorkFolder
  ) throws -> Data? {
    let program = try programs.exiftool(for: "it writes the orientation of a picture")
    var hasMarked = true
    do {
      _ = try run({ false }, readable: [], writable: folder.output).output(
        of: [program, "-config", "", "-q", "-q"], ["-n", "-overwrite_original", "-Orientation=\(orientation)", file])
    } catch let error as ImportError where error.code == .toolFailed {
      hasMarked = false
    }
    // Also where it failed: the file is encoded as PNG then, and written again.
    _ = try folder.checked(file, by: program)
    guard hasMarked else { return nil }
    let after = try description(ofInput: file)
    guard after?.orientation == orientation, after?.storedSize == before.storedSize else { return nil }
    return try Data(contentsOf: URL(filePath: file))
  }
}
