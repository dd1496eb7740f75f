#if Gallery
  import CCrypt
  import Foundation
  import Synchronization

  /// Hashes passwords with the C library's yescrypt, a few at a time.
  ///
  /// A hash takes some 16 MiB and tens of milliseconds on purpose, so what asks for one is bounded: two at a time, a
  /// few that wait, and everything else is asked to come back. A name that does not exist costs the same hash.
  final class Passwords: Sendable {
    static let shortest = 8
    /// libcrypt takes 511 bytes.
    static let longest = 256
    /// How many hashes are computed or wait for their turn.
    static let waitingLimit = 16

    /// Two hashes at a time.
    private let slots = DispatchSemaphore(value: 2)
    private let waiting = Mutex(0)
    private let randomBytes: @Sendable (Int) -> [UInt8]
    /// What a password is hashed with for a name that does not exist; no password gives this very text.
    private let stranger: String

    init(environment: GalleryEnvironment) throws(GalleryError) {
      randomBytes = environment.randomBytes
      stranger = try Self.setting(environment.randomBytes(16))
    }

    /// The hash of a new password.
    /// - Throws: ``Problem`` 400 for a password that is too short or long, 429 if too many hashes are being made.
    func hash(_ password: String) throws -> String {
      let count = password.utf8.count
      guard (Self.shortest...Self.longest).contains(count), !password.utf8.contains(0) else {
        throw Problem.malformed(
          "A password has \(Self.shortest) to \(Self.longest) bytes, none of them zero; this one has \(count).")
      }
      let setting = try Self.setting(randomBytes(16))
      return try inTurn { try Self.hash(password, setting) }
    }

    /// Whether a password is the one of a hash; without a hash the answer is no, after the same work.
    /// - Throws: ``Problem`` 429 if too many hashes are being made.
    func check(_ password: String, against hash: String?) throws -> Bool {
      // What no password can be is hashed all the same, so that its answer takes as long.
      let isPossible = password.utf8.count <= Self.longest && !password.utf8.contains(0)
      let made = try inTurn { try Self.hash(isPossible ? password : "", hash ?? stranger) }
      return Self.isEqual(made, hash ?? stranger) && hash != nil && isPossible
    }

    /// Compares texts in a time that depends on their length only.
    static func isEqual(_ one: String, _ other: String) -> Bool {
      Array(one.utf8).withUnsafeBytes { one in Array(other.utf8).withUnsafeBytes { isEqual(one, $0) } }
    }

    /// Compares bytes, and reads all of them wherever they differ; those of another count are read not at all.
    static func isEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
      guard let first = one.baseAddress, let second = other.baseAddress else { return one.count == other.count }
      return one.count == other.count && ccrypt_is_equal(first, second, one.count) != 0
    }

    private func inTurn<Value>(_ work: () throws -> Value) throws -> Value {
      let isIn = waiting.withLock { count in
        guard count < Self.waitingLimit else { return false }
        count += 1
        return true
      }
      guard isIn else { throw Problem.tooMany("Too many passwords are being checked; try again.", seconds: 2) }
      slots.wait()
      defer {
        slots.signal()
        waiting.withLock { $0 -= 1 }
      }
      return try work()
    }

    private static func setting(_ random: [UInt8]) throws(GalleryError) -> String {
      var text = [CChar](repeating: 0, count: Int(CCRYPT_SETTING_SIZE))
      let isMade = random.withUnsafeBytes { bytes in
        ccrypt_setting(bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), &text)
      }
      guard isMade != 0 else {
        throw GalleryError("The C library's crypt does not support yescrypt; install libcrypt 4.4 or newer.")
      }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func hash(_ password: String, _ setting: String) throws(GalleryError) -> String {
      var text = [CChar](repeating: 0, count: Int(CCRYPT_HASH_SIZE))
      guard ccrypt_hash(password, setting, &text) != 0 else {
        throw GalleryError("A password could not be hashed; the process may lack memory.")
      }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
#endif
