#if Gallery
  import CSystem

  /// Threads of the server, for work that blocks. Foundation's `Thread` says nothing where the system allows no further
  /// thread, and what it was to do would be waited for without an end.
  ///
  /// The core starts its threads in the same way (`OwnThread`). The two stay apart: this module imports no other
  /// Swift module of the package, and ten lines are no reason to.
  enum ServingThread {
    private final class Work: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread.
    /// - Parameters:
    ///   - name: what people find it by; Linux keeps 15 bytes.
    ///   - stackSize: the bytes of its stack; 0: the usual size.
    ///   - body: what it does; then it ends.
    /// - Throws: ``HTTPServerError`` if the system allows no further thread.
    static func start(
      _ name: String, stackSize: Int = 0, _ body: @escaping @Sendable () -> Void
    ) throws(HTTPServerError) {
      let work = Unmanaged.passRetained(Work(body))
      let code = psys_start_thread(
        name, stackSize,
        { context in
          guard let context else { return }
          Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        }, work.toOpaque())
      guard code == 0 else {
        work.release()
        throw HTTPServerError(
          description: "The system allows no further thread for the server; raise the limit of processes "
            + "(`ulimit -u`, or that of the container or service).")
      }
    }

    /// Does something on a thread of its own; on the calling one where the system allows no further thread.
    static func run(_ name: String, stackSize: Int = 0, _ body: @escaping @Sendable () -> Void) {
      do throws(HTTPServerError) { try start(name, stackSize: stackSize, body) } catch { body() }
    }
  }
#endif
