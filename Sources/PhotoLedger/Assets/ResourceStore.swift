import EventLog
package import Foundation

/// The bytes of photos and videos, by the SHA-256 of their content.
package final class ResourceStore: Sendable {
  private let folder: URL
  init(library: URL) throws { folder = library.appending(path: "resources") }
  func store(_ draft: ResourceDraft) throws -> AssetResource {
    if case .stored(let r) = draft.source { return r }
    fatalError("being written")
  }
  func synchronize() throws {}
  package func url(of resource: AssetResource) -> URL { folder }
  enum State { case present, missing, altered }
  func state(of resource: AssetResource, hashing: Bool) throws -> State { .present }
  func discard(_ resources: [AssetResource]) {}
}
