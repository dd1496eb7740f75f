import CSystem
import EventLog

// The fixtures of the store formats were made before SHA-1s were kept, and hold what older libraries hold: tests make
// them again with `isSHA1Kept` false.

/// Both digests of a content, computed while its bytes pass once.
///
/// The SHA-256 is the content's identity. The SHA-1 is what other photo programs ask by; nothing here relies on it.
package struct ContentHash {
  /// Whether the SHA-1 of new files is recorded; tests make libraries as they were before.
  @TaskLocal package static var isSHA1Kept = true

  private var sha256State = SHA256()
  private var sha1State = psys_sha1()

  /// A computation that has taken nothing yet.
  package init() { psys_sha1_init(&sha1State) }

  /// A computation whose SHA-1 keeps to portable instructions: the reference for tests.
  package init(portable: Void) { psys_sha1_init_portable(&sha1State) }

  /// Takes bytes in.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) { sha256State.update(bytes, with: &sha1State) }

  /// The 32 bytes of the SHA-256 of everything taken in so far.
  package var sha256: [UInt8] { sha256State.digest().bytes }

  /// The 20 bytes of the SHA-1 of everything taken in so far.
  package var sha1: [UInt8] {
    var copy = sha1State
    var digest = [UInt8](repeating: 0, count: 20)
    psys_sha1_final(&copy, &digest)
    return digest
  }
}
