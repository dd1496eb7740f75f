import Foundation
import PhotoLedger
import TestSupport
import Testing

// The SHA-1 beside the SHA-256: the digest itself, where it is recorded, and what older events are without it.

@Suite("SHA-1 of files")
struct FingerprintTests {
  private static func hash(_ bytes: [UInt8], pieces: Int, isPortable: Bool) -> ContentHash {
    var hash = isPortable ? ContentHash(portable: ()) : ContentHash()
    bytes.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: max(1, bytes.count), by: max(1, pieces)) {
        hash.update(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + max(1, pieces), bytes.count)]))
      }
    }
    return hash
  }

  @Test(
    "agrees with the vectors of FIPS 180, by either path and in any pieces",
    arguments: [
      ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
      ),
      (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ], [true, false])
  func vectors(_ vector: (text: String, digest: String), _ isPortable: Bool) {
    let bytes = Array(vector.text.utf8)
    for pieces in [1, 63, 64, 65, 100_000, 2_000_000] where bytes.count < 1000 || pieces > 64 {
      let hash = Self.hash(bytes, pieces: pieces, isPortable: isPortable)
      #expect(hash.sha1.hexadecimal == vector.digest && hash.sha256 == bytes.sha256)
    }
  }

  @Test("is the same by either path for random bytes of each length")
  func paths() {
    var random = SeededGenerator(seed: 11)
    for count in 0..<300 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let known = Self.hash(bytes, pieces: 300, isPortable: true)
      // Some begin within a block, and have whole blocks from there.
      for pieces in [17, 150, 300] {
        let hash = Self.hash(bytes, pieces: pieces, isPortable: false)
        #expect(hash.sha1 == known.sha1 && hash.sha256 == bytes.sha256)
      }
    }
  }
}

extension FingerprintTests {
  private static func creation(_ sha1: [UInt8]?) -> Event {
    let resource = AssetResource(
      type: .photo, originalFilename: "a.jpg", uniformTypeIdentifier: "public.jpeg", dataSize: 3,
      sha256: Array("abc".utf8).sha256, sha1: sha1)
    let row = AssetRow(
      number: 7, identifier: LocalIdentifier(high: 1, low: 2), addedDate: Date(timeIntervalSinceReferenceDate: 0))
    return .assetCreated(AssetExistence(row: row, details: AssetDetails(resources: [resource])))
  }

  @Test("an event that names one is of version 2, any other of version 1 as before; neither is read as the other")
  func versions() throws {
    let (old, new) = (Self.creation(nil), Self.creation([UInt8](repeating: 7, count: 20)))
    #expect(old.version == 1 && new.version == 2)
    for event in [old, new] {
      let payload = event.payload()
      let read = try Event(
        type: event.type, version: event.version, sequence: 7, payload: payload.span.bytes)
      #expect(read == event)
      let error = #expect(throws: LibraryError.self) {
        try Event(type: event.type, version: 3 - event.version, sequence: 7, payload: payload.span.bytes)
      }
      #expect(error?.code == .corrupted)
    }
    let error = #expect(throws: LibraryError.self) {
      try Event(type: "nothing.changed", version: 2, sequence: 7, payload: [0xA0].span.bytes)
    }
    #expect(error?.code == .newerThanProgram)
  }
}
