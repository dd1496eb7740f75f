// What the fetches have in common, which are class methods of what they give. They go to the shared library, or to the
// one of the object that they are about: numbers of one library mean nothing in another. A fetch that the store cannot
// follow traps with the core's sentence, where Apple's raises (FR-09).

internal import PhotoLedger

extension PHPhotoLibrary {
  /// Fetches from a library, the shared one unless an object says which.
  ///
  /// Traps for what the store cannot follow, and when it cannot be read: an empty answer would be taken for an empty
  /// library, to which a backup is then adjusted.
  static func fetch<Object>(
    _ call: String, from library: PHPhotoLibrary? = nil,
    _ body: (PhotoLibrary) throws -> PHFetchResult<Object>.Content
  ) -> PHFetchResult<Object> {
    let library = library ?? shared()
    defer { library.makeObservedResultsAhead() }
    return PHFetchResult(answer(call) { try body(library.core) }, library)
  }
}

extension PhotoLibrary {
  /// Those of some identifiers that name folders, or albums; of unknown ones the spelling decides.
  func identifiers(_ identifiers: [String], ofFolders: Bool) throws -> [String] {
    try identifiers.filter { identifier in
      let isFolder = try collection(identifier)?.canContainCollections
      return (isFolder ?? identifier.hasSuffix(ObjectKind.folder.suffix)) == ofFolders
    }
  }
}
