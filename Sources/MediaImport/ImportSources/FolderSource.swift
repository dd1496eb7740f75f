internal import PhotoLedger

// Plain folders as a source: each folder with photos is an album, if that is asked for.
//
// The album has the folder's name; the files of the root itself are in one with the root's name. Two folders of one
// name are two albums. The order in an album is that of the walk, whatever was brought side by side since.

/// Reads plain folders.
struct FolderSource {
  let options: LibraryImport.Options

  func catalog(of files: [ScannedFile]) -> MediaCatalog {
    var catalog = MediaCatalog(files: files)
    guard options.makesFolderAlbums else { return catalog }
    var albums: [[UInt8]: Int] = [:]
    for (index, file) in files.enumerated() where file.role == .candidate {
      let folder = Array(file.path.folderBytes)
      let name = FilePath(bytes: FilePath(bytes: folder).nameBytes).description
      guard let title = Limits.text(name, atMost: Limits.titleByteCount) else { continue }
      let album =
        albums[folder]
        ?? {
          catalog.albums.append(SourceAlbum(title: title))
          catalog.rules.note("a folder with photos is an album", FilePath(bytes: folder).description)
          return catalog.albums.count - 1
        }()
      albums[folder] = album
      catalog.albums[album].files.append(index)
    }
    guard files.contains(where: { $0.edit != nil }) else { return catalog }
    for album in catalog.albums.indices {
      catalog.albums[album].files.sort {
        files[$0].path.nameBytes.lexicographicallyPrecedes(files[$1].path.nameBytes)
      }
    }
    return catalog
  }
}
