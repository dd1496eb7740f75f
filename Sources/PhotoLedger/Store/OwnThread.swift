import CSystem

/// Threads for work that blocks.
///
/// Foundation's `Thread` says nothing where the system allows no further thread: a limit of processes that is reached
/// (`ulimit -u`, a container's, a service's) would leave its starter waiting for ever for what the thread was to do.
package enum OwnThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts a thread.
  /// - Parameters:
  ///   - name: what people find it by; Linux keeps 15 bytes.
  ///   - stackSize: the bytes of its stack; 0: the usual size.
  ///   - body: what it does; then it ends.
  /// - Throws: ``LibraryError`` `.storage` if the system allows no further thread.
  package static func start(
    _ name: String, stackSize: Int = 0, _ body: @escaping @Sendable () -> Void
  ) throws(LibraryError) {
    let work = Unmanaged.passRetained(Work(body))
    let code = psys_start_thread(
      name, stackSize,
      { context in
        guard let context else { return }
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      throw LibraryError(
        .storage,
        """
        The system allows no further thread; raise the limit of processes (`ulimit -u`, or that of the container or \
        service) and try again.
        """)
    }
  }
}
