// Names of files that came as bytes, without one.
//
//     asset 6F1D…, photo, public.heic           ─▶ IMG_104423316607.HEIC
//                  pairedVideo, …quicktime-movie ─▶ IMG_104423316607.MOV
//                  alternatePhoto, public.heic   ─▶ IMG_104423316607_2.HEIC
//
// Programs save and send files under these names. So they have the ending of the type; the files of an asset share a
// stem, as a camera's do, and never a name; and two assets hardly ever share a stem, whose digits come from the asset's
// identifier. Nothing else is drawn or read for it, so a seed reproduces the names. Digits only: of a name that begins
// with IMG_E, an import takes the photo for an edit.
//
// The decider names them, as it knows the files that the asset has; the event records the name, so that a replay needs
// none of this. Rejected: the first digits of the content's hash, which would separate the halves of a Live Photo.

extension [AssetResource] {
  /// The same with a name for each that does not have one.
  /// - Parameters:
  ///   - asset: the asset that has them.
  ///   - others: the files that it has beside them.
  func named(for asset: LocalIdentifier, beside others: [AssetResource]) -> [AssetResource] {
    guard contains(where: \.originalFilename.isEmpty) else { return self }
    let stem = "IMG_" + (asset.low % 1_000_000_000_000).padded(to: 12)
    var taken = Set((others + self).map { $0.originalFilename.lowercased() })
    var counts: [String: Int] = [:]
    return map { resource in
      guard resource.originalFilename.isEmpty else { return resource }
      let ending = UniformType.filenameExtension(of: resource.uniformTypeIdentifier).uppercased()
      var resource = resource
      repeat {
        let count = counts[ending, default: 0] + 1
        counts[ending] = count
        resource.originalFilename = count == 1 ? stem + ending : "\(stem)_\(count)\(ending)"
      } while !taken.insert(resource.originalFilename.lowercased()).inserted
      return resource
    }
  }

  /// Whether a file is among them; one without a name is, whatever it is called there.
  func have(_ resource: AssetResource) -> Bool {
    if !resource.originalFilename.isEmpty { return contains(resource) }
    return contains { known in
      var known = known
      known.originalFilename = ""
      return known == resource
    }
  }
}
