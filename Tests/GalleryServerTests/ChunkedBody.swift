#if Gallery
  import TestSupport

  /// A body in chunks, read without their frames; where one chunk ends and the next begins depends on timing.
  final class ChunkedBody {
    private let client: RawClient
    private var unread: [UInt8] = []
    /// Whether the last chunk came.
    private(set) var hasEnded = false

    /// - Parameter client: a connection whose next bytes are the first chunk.
    init(_ client: RawClient) { self.client = client }

    /// The text up to the next empty line, without it; nil at the end of the body. Nothing in it has a carriage return.
    func event() -> String? {
      while true {
        if let end = unread.firstRange(of: [0x0A, 0x0A]) {
          defer { unread.removeSubrange(..<end.upperBound) }
          return String(decoding: unread[..<end.lowerBound], as: UTF8.self)
        }
        guard receive() else { return nil }
      }
    }

    /// Everything up to the end of the body.
    func rest() -> [UInt8] {
      while receive() {}
      defer { unread = [] }
      return unread
    }

    private func receive() -> Bool {
      if hasEnded { return false }
      let size = client.read(through: "\r\n").dropLast(1)
      guard let count = Int(size, radix: 16), count > 0 else {
        hasEnded = size == "0"
        return false
      }
      let bytes = client.bytes(count: count)
      guard bytes.count == count, client.bytes(count: 2).count == 2 else { return false }
      unread += bytes
      return true
    }
  }
#endif
