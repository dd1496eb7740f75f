import Foundation
package import Testing

/// Whether this process may mount a file system in memory.
private let canMount: Bool = {
  let template = FileManager.default.temporaryDirectory.appending(path: "photoledger-mount-XXXXXX").path
  guard let folder = template.withCString({ strdup($0) }) else { return false }
  defer { free(folder) }
  guard mkdtemp(folder) != nil else { return false }
  defer { rmdir(folder) }
  return mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0 && umount2(folder, Int32(MNT_DETACH)) == 0
}()

extension Trait where Self == ConditionTrait {
  /// Runs a test only where a file system in memory can be mounted; a container may keep that from root as well.
  package static var mountsMemory: ConditionTrait {
    .enabled(if: canMount, "mounting a file system in memory needs root")
  }
}
