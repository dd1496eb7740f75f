#if Gallery
  import Foundation
  @testable import GalleryServer
  import PhotoLedger
  import TestSupport
  import Testing

  // What the time of an answer could reveal of a secret, without a clock: which bytes a comparison reads, and what is
  // compared at all.

  /// Memory of which the kernel knows what was touched.
  private final class Pages {
    static let count = 16
    let bytes: UnsafeMutableRawBufferPointer

    init() throws {
      let size = Self.count * Int(getpagesize())
      let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let start, start != MAP_FAILED else { throw CocoaError(.fileReadUnknown) }
      bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
      // Touching one page must not bring in its neighbours.
      madvise(start, size, Int32(MADV_NOHUGEPAGE))
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }

    /// How many pages were read or written.
    var touchedCount: Int {
      var pages = [UInt8](repeating: 0, count: Self.count)
      mincore(bytes.baseAddress, bytes.count, &pages)
      return pages.count { $0 & 1 == 1 }
    }
  }

  @Suite("Timing of secrets")
  struct SecretTests {
    @Test("texts are equal if no byte differs, at any position and in any number")
    func comparison() {
      for count in [0, 1, 2, 31, 32, 73, 106] {
        let text = (0..<count).map { UInt8(33 + $0 % 90) }
        let spelled = String(decoding: text, as: UTF8.self)
        #expect(Passwords.isEqual(spelled, String(decoding: text, as: UTF8.self)))
        #expect(!Passwords.isEqual(spelled, spelled + "x") && !Passwords.isEqual(spelled + "x", spelled))
        for place in text.indices {
          for bit in 0..<7 as Range<UInt8> {
            var other = text
            other[place] ^= 1 << bit
            #expect(!Passwords.isEqual(spelled, String(decoding: other, as: UTF8.self)), "\(count) \(place) \(bit)")
          }
        }
      }
    }

    @Test("a comparison reads to the end, wherever the first difference is", arguments: [0, 8, 16])
    func readsAll(_ page: Int) throws {
      let (one, other) = (try Pages(), try Pages())
      // At the beginning, in the middle, nowhere.
      let isEqual = page == Pages.count
      if !isEqual { one.bytes[page * one.bytes.count / Pages.count] = 1 }
      try #require(one.touchedCount == (isEqual ? 0 : 1) && other.touchedCount == 0)
      let found = Passwords.isEqual(UnsafeRawBufferPointer(one.bytes), UnsafeRawBufferPointer(other.bytes))
      #expect(found == isEqual && one.touchedCount == Pages.count && other.touchedCount == Pages.count)
      // Of another count, nothing is read: the count of a hash is not secret.
      let (long, short) = (try Pages(), try Pages())
      let part = UnsafeRawBufferPointer(rebasing: short.bytes.dropLast())
      #expect(!Passwords.isEqual(UnsafeRawBufferPointer(long.bytes), part))
      #expect(long.touchedCount == 0 && short.touchedCount == 0)
    }

    @Test("a key and a share's link are found by the hash of their secret, and only the hash is stored")
    func hashes() async throws {
      try await TestGallery.serving { gallery in
        let (name, secret) = try gallery.key(of: "app")
        let ids = try await gallery.makeAssets(1)
        let share = try gallery.ask(
          "POST", "/v1/shares", json: ["title": "Trip", "assets": ids.map(\.uuidString)])
        let link = try #require(try share.json()["secret"] as? String)
        func isGood(_ key: String) throws -> Bool { try gallery.ask("GET", "/v1/session", key: key).status == 200 }
        func opens(_ link: String) throws -> Bool {
          try gallery.ask("POST", "/v1/shares:open", json: ["secret": link], key: nil).status == 201
        }
        #expect(try isGood(secret) && !isGood(Keyring.hash(secret)) && !isGood(name))
        #expect(try opens(link) && !opens(Keyring.hash(link)))
        // The same key and the same share get another secret by its hash alone.
        for (file, old, new) in [("keys", secret, "another key"), ("shares", link, "another link")] {
          let url = gallery.temporary.url.appending(path: "server/\(file).json")
          let text = try String(contentsOf: url, encoding: .utf8)
          #expect(!text.contains(old) && text.contains(Keyring.hash(old)))
          try text.replacing(Keyring.hash(old), with: Keyring.hash(new)).write(
            to: url, atomically: false, encoding: .utf8)
        }
        try await gallery.restart()
        #expect(try isGood("another key") && !isGood(secret))
        #expect(try opens("another link") && !opens(link))
      }
    }
  }
#endif
