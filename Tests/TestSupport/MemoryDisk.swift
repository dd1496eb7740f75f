import Foundation
package import Testing

/// Whether this process may mount a file system in memory.
private let canMount: Bool = {
  guard let folder = try? TemporaryFolder() else { return false }
  return withExtendedLifetime(folder) {
    mount("tmpfs", folder.url.path, "tmpfs", 0, "size=1m") == 0 && umount2(folder.url.path, Int32(MNT_DETACH)) == 0
  }
}()

extension Trait where Self == ConditionTrait {
  /// Runs a test only where a file system in memory can be mounted; a container may keep that from root as well.
  package static var mountsMemory: ConditionTrait {
    .enabled(if: canMount, "mounting a file system in memory needs root")
  }
}
