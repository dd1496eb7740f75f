import Foundation

/// A client that writes what it likes to a socket, and reads what comes back.
package final class RawClient {
  private let descriptor: Int32
  private var unread: [UInt8] = []
  /// Whether the server has ended the connection; false after a read that took too long.
  package private(set) var isAtEnd = false

  /// Connects to a port of an IPv4 address.
  /// - Parameters:
  ///   - source: the address of this machine that it connects from, such as 127.0.0.2; the system's choice if nil.
  ///   - receiveBuffer: the size in bytes of what may wait to be read; the system's choice if nil.
  /// - Throws: on a thread that all tasks share, see ``onBlockingThreads(_:)``, and if no server listens there.
  package convenience init(
    host: String = "127.0.0.1", port: UInt16, from source: String? = nil, receiveBuffer: Int32? = nil
  ) throws {
    self.init(receiveBuffer: receiveBuffer)
    if let source {
      guard Self.with(source, 0, { bind(descriptor, $0, $1) }) == 0 else { throw CocoaError(.fileReadUnknown) }
    }
    try connect(to: host, port)
  }

  /// Connects several times, one connection after the other, by sockets that are all opened first.
  ///
  /// The descriptors of what the server accepts in the same process follow one another then; between sockets that are
  /// opened one by one it would often have every other number.
  /// - Throws: as `init`.
  package static func several(_ count: Int, port: UInt16) throws -> [RawClient] {
    let clients = (0..<count).map { _ in RawClient(receiveBuffer: nil) }
    for client in clients { try client.connect(to: "127.0.0.1", port) }
    return clients
  }

  private init(receiveBuffer: Int32?) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 180, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
  }

  private func connect(to host: String, _ port: UInt16) throws {
    guard mayBlock() else {
      throw Divergence("A client that waits for a server wants a thread of its own: call it in onBlockingThreads.")
    }
    let status = Self.with(host, port) { Foundation.connect(descriptor, $0, $1) }
    guard status == 0 else { throw CocoaError(.fileReadUnknown) }
  }

  /// Gives a body an IPv4 address and a port as the system's calls take them.
  private static func with(
    _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  deinit { close(descriptor) }

  /// Says that nothing more is sent, and goes on reading.
  package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  package func send(_ text: String) { send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      start += count
    }
  }

  /// What came up to and with a mark; everything if the connection ends first.
  package func read(through mark: String) -> String { String(decoding: bytes(through: mark), as: UTF8.self) }

  /// The bytes that came up to and with a mark; everything if the connection ends first.
  package func bytes(through mark: String) -> [UInt8] {
    let wanted = Array(mark.utf8)
    while true {
      if let range = unread.firstRange(of: wanted) {
        defer { unread.removeSubrange(..<range.upperBound) }
        return Array(unread[..<range.upperBound])
      }
      guard receive() else {
        defer { unread = [] }
        return unread
      }
    }
  }

  /// So many bytes; fewer if the connection ends first.
  package func bytes(count: Int) -> [UInt8] {
    while unread.count < count, receive() {}
    defer { unread.removeFirst(min(count, unread.count)) }
    return Array(unread.prefix(count))
  }

  /// Everything up to the end of the connection.
  package func readToEnd() -> String {
    while receive() {}
    defer { unread = [] }
    return String(decoding: unread, as: UTF8.self)
  }

  /// Takes what comes within a time, at most so many bytes at once; for clients that go on sending or read slowly.
  package func receiveNow(milliseconds: Int32, atMost count: Int = 65_536) {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&wanted, 1, milliseconds) > 0 { _ = receive(atMost: count) }
  }

  /// The same as bytes.
  package func readBytesToEnd() -> [UInt8] {
    while receive() {}
    defer { unread = [] }
    return unread
  }

  private func receive(atMost size: Int = 65_536) -> Bool {
    var piece = [UInt8](repeating: 0, count: size)
    let count = recv(descriptor, &piece, piece.count, 0)
    if count == 0 || (count < 0 && errno == ECONNRESET) { isAtEnd = true }
    guard count > 0 else { return false }
    unread.append(contentsOf: piece[..<count])
    return true
  }
}
