import Foundation

/// A port of this machine's loopback that no test gets beside its holder.
///
/// A connection to it is refused, unless a server listens there: one that sets SO_REUSEADDR before it binds, as servers
/// do, may. The port is free again when the holder goes.
package final class HeldPort: Sendable {
  package let number: UInt16
  private let descriptor: Int32

  /// - Parameter number: the port; 0: one that the system chooses.
  /// - Throws: if the port is in use or held.
  package init(_ number: UInt16 = 0) throws {
    let holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = number.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(holder, address, length) == 0 && getsockname(holder, address, &length) == 0
      }
    }
    guard isBound else {
      let code = errno
      close(holder)
      throw Divergence("Port \(number) cannot be held: errno \(code).")
    }
    // After the bind: two holders that set it before would share the port.
    var yes: Int32 = 1
    setsockopt(holder, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    descriptor = holder
    self.number = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }
}
