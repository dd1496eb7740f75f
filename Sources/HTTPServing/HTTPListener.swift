#if Gallery
  // Its headers declare `sockaddr` as well; which of the two declarations the compiler takes is not settled.
  import CMicroHTTPD
  import Foundation

  /// The address of a socket.
  public struct HTTPAddress: Sendable, CustomStringConvertible {
    /// A numeric address.
    public let host: String
    /// A port.
    public let port: UInt16

    /// As in URLs: `127.0.0.1:8080`, `[::1]:8080`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only programs of this machine reach the address.
    public var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    /// The numeric host of an address; empty where there is none, as for a local socket.
    static func host(of address: UnsafePointer<sockaddr>) -> String {
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let length =
        address.pointee.sa_family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
      guard getnameinfo(address, socklen_t(length), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else {
        return ""
      }
      return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// A listening socket that is not yet served.
  public struct HTTPListener: ~Copyable {
    /// -1 once it was given away.
    private var descriptor: Int32
    /// The address on which it listens.
    public let address: HTTPAddress

    /// Listens on an address such as `127.0.0.1:8080`, `[::1]:8080` or `localhost:0`; port 0 lets the system choose
    /// one.
    /// - Throws: ``HTTPServerError`` if the address is malformed, unknown or in use.
    public init(_ text: String) throws(HTTPServerError) {
      let (host, port) = try Self.parts(of: text)
      var hints = addrinfo()
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
      var found: UnsafeMutablePointer<addrinfo>?
      let status = getaddrinfo(host, port, &hints, &found)
      defer { if let found { freeaddrinfo(found) } }
      guard status == 0, let found else {
        throw HTTPServerError(
          description: "The address '\(text)' is unknown: \(String(cString: gai_strerror(status))). "
            + "Pass HOST:PORT, such as 127.0.0.1:8080.", isMalformedAddress: true)
      }
      let info = found.pointee
      let opened = socket(info.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), info.ai_protocol)
      guard opened >= 0 else { throw Self.failure(text, errno) }
      var yes: Int32 = 1
      setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      guard bind(opened, info.ai_addr, info.ai_addrlen) == 0, listen(opened, 1024) == 0 else {
        let code = errno
        close(opened)
        throw Self.failure(text, code)
      }
      do {
        try self.init(adopting: opened)
      } catch {
        close(opened)
        throw error
      }
    }

    /// Takes over a socket that listens already, as systemd's socket activation gives it.
    /// - Throws: ``HTTPServerError`` if it is not a listening socket.
    public init(adopting descriptor: Int32) throws(HTTPServerError) {
      var isListening: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0 else {
        throw HTTPServerError(description: "Descriptor \(descriptor) is not a listening socket.")
      }
      // Connections are accepted until there are none, so the socket must not block.
      let flags = fcntl(descriptor, F_GETFL)
      _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
      var storage = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let address = withUnsafeMutablePointer(to: &storage) { storage in
        storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> HTTPAddress in
          getsockname(descriptor, address, &length)
          let raw = UnsafeRawPointer(address)
          let port =
            address.pointee.sa_family == AF_INET6
            ? raw.load(as: sockaddr_in6.self).sin6_port : raw.load(as: sockaddr_in.self).sin_port
          return HTTPAddress(host: HTTPAddress.host(of: address), port: UInt16(bigEndian: port))
        }
      }
      (self.descriptor, self.address) = (descriptor, address)
    }

    /// Gives the descriptor to the server.
    mutating func release() -> Int32 {
      defer { descriptor = -1 }
      return descriptor
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func parts(of text: String) throws(HTTPServerError) -> (host: String, port: String) {
      guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
        throw HTTPServerError(
          description:
            "'\(text)' is not an address; pass HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:8080.",
          isMalformedAddress: true)
      }
      var host = text[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") {
        host = host.dropFirst().dropLast()
      } else if host.contains(":") {
        throw HTTPServerError(
          description: "'\(text)' is not an address; IPv6 is written in brackets, as in [::1]:8080.",
          isMalformedAddress: true)
      }
      guard !host.isEmpty else {
        throw HTTPServerError(
          description: "'\(text)' names no host; pass 127.0.0.1:\(port), or 0.0.0.0:\(port) for all.",
          isMalformedAddress: true)
      }
      return (String(host), String(port))
    }

    private static func failure(_ text: String, _ code: Int32) -> HTTPServerError {
      HTTPServerError(
        description: "The server cannot listen on '\(text)': \(String(cString: strerror(code))). "
          + "Another program may use the port; pass another one.")
    }
  }
#endif
