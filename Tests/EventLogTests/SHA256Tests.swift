import Testing

@testable import EventLog

@Suite("SHA-256")
struct SHA256Tests {
  /// FIPS 180-4 examples and NIST's long message.
  static let vectors: [(message: [UInt8], digest: String)] = [
    ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      Array(
        ("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
          + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu").utf8),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
    (
      [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
    ([0xBD], "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"),
    ([0xC9, 0x8C, 0x8E, 0x55], "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504"),
    ([UInt8](repeating: 0, count: 55), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
    ([UInt8](repeating: 0, count: 56), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"),
    ([UInt8](repeating: 0, count: 64), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
  ]

  @Test("NIST's vectors, on both paths", arguments: vectors.indices)
  func nist(index: Int) {
    let (message, digest) = Self.vectors[index]
    #expect(SHA256.digest(of: message).description == digest)
    var portable = SHA256(portable: ())
    portable.update(message)
    #expect(portable.digest().description == digest)
  }

  @Test("both paths and any way of cutting the input agree", arguments: 0..<(isFullDose ? 8 : 3) as Range<UInt64>)
  func differential(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let message = random.bytes(.random(in: 0...700, using: &random))
      let whole = SHA256.digest(of: message)
      var portable = SHA256(portable: ())
      var pieces = SHA256()
      var rest = message[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...min(rest.count, 150), using: &random)
        portable.update(Array(rest.prefix(count)))
        if count == 1, let byte = rest.first { pieces.update(byte) } else { pieces.update(Array(rest.prefix(count))) }
        _ = pieces.digest()  // looking does not disturb
        rest = rest.dropFirst(count)
      }
      #expect(portable.digest() == whole && pieces.digest() == whole, "seed \(seed), \(message.count) bytes")
    }
  }

  @Test(
    "three pieces in one go give the digest of the whole", arguments: 0..<(isFullDose ? 8 : 3) as Range<UInt64>)
  func pieces(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Around the ends of blocks, and around the length beyond which pieces are taken in one by one.
    let counts = [0, 1, 16, 31, 32, 55, 56, 63, 64, 65, 300, 895, 896, 897, 959, 960, 961, 1023, 1024, 5000]
    for _ in 0..<200 {
      let parts = (0..<3).map { _ in random.bytes(counts.randomElement(using: &random) ?? 0) }
      var portable = SHA256(portable: ())
      for part in parts { portable.update(part) }
      let digest = parts[0].withUnsafeBytes { first in
        parts[1].withUnsafeBytes { second in
          parts[2].withUnsafeBytes { SHA256.digest(of: first, second, $0) }
        }
      }
      #expect(digest == portable.digest(), "seed \(seed), \(parts.map(\.count))")
    }
  }

  @Test("a digest is read back from its text, and other text is rejected")
  func text() {
    let digest = SHA256.digest(of: [1])
    #expect(SHA256Digest(hexadecimal: digest.description) == digest)
    #expect(SHA256Digest(hexadecimal: digest.description.uppercased()) == digest)
    #expect(SHA256Digest(digest.bytes.span.bytes) == digest)
    for text in [
      "", "00", digest.description + "0", "g" + digest.description.dropFirst(), "é" + digest.description.dropFirst(2),
    ] {
      #expect(SHA256Digest(hexadecimal: text) == nil)
    }
    #expect(SHA256Digest.zero.bytes == [UInt8](repeating: 0, count: 32))
    #expect(SHA256Digest.zero < digest)
  }
}
