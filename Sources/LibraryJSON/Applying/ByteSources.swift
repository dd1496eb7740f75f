package import PhotoLedger
import Synchronization

// Where a block may take bytes from.
//
//     at the terminal    {"path": "/home/me/photo.jpg"}  or  {"data": "…base64…"}
//     from elsewhere     {"sha256": "2cf2…9824"}         or  {"data": "…base64…"}
//
// The program reads files for the person who started it; a request from another machine must never name one, since the
// server would read on its behalf whatever its own user may read. Such a request names bytes that the library holds
// already, by their hash, and only those that its client sees.

/// Where the resources of a change block may come from.
package enum ByteSources: Sendable {
  /// Files of this machine, by path, and bytes in the block.
  case local
  /// Bytes in the block, and stored bytes by their SHA-256, as a function finds them; it gives nil for bytes that are
  /// not there or that the client may not use.
  case remote(@Sendable (_ sha256: [UInt8]) throws -> AssetResource?)

  /// What a client may take from a library: the bytes of assets that it sees.
  ///
  /// Each content is looked up once: a block may name it thousands of times, and as many assets may have it.
  package static func stored(in library: PhotoLibrary) -> ByteSources {
    let known = KnownContents()
    return .remote { sha256 in
      if let resource = known.resources.withLock({ $0[sha256] }) { return resource }
      var resource: AssetResource?
      for asset in try library.assets(withContent: sha256) {
        resource = try library.resources(of: asset).first { $0.sha256 == sha256 }
        if resource != nil { break }
      }
      known.resources.withLock { [resource] in $0[sha256] = .some(resource) }
      return resource
    }
  }

  /// What was found of contents; nil for one that the client does not see.
  private final class KnownContents: Sendable {
    let resources = Mutex<[[UInt8]: AssetResource?]>([:])
  }
}
