#if Gallery
  import PhotoLedger
  import Synchronization

  /// Bounds how many registered apps are undecided.
  ///
  /// An app counts from the check on, although it is in the library only after its commit: registrations at the same
  /// time do not exceed the bound together.
  final class UndecidedApps: Sendable {
    static let limit = 200
    /// The clients whose registrations are being recorded.
    private let registering = Mutex<Set<ExactText>>([])

    /// Records the registration of a client that the library does not have yet.
    /// - Parameters:
    ///   - library: the owner's view of the library.
    ///   - record: records it.
    /// - Throws: ``Problem`` 429 if too many apps are undecided; what the library and `record` throw.
    func register(_ client: String, in library: PhotoLibrary, _ record: () throws -> Void) throws {
      let name = client.exact
      let hasRoom = try registering.withLock { registering in
        // A client that is in the library already, while its registration ends, counts once.
        let undecided = try library.clients().count { client in
          client.name.contains("#") && !registering.contains(client.name.exact)
            && AccessLevel.allCases.allSatisfy { client.status(for: $0) == .notDetermined }
        }
        guard undecided + registering.count < Self.limit else { return false }
        registering.insert(name)
        return true
      }
      guard hasRoom else { throw Problem.tooMany("Too many apps wait for the owner's answer.", seconds: 600) }
      defer { registering.withLock { registering in _ = registering.remove(name) } }
      try record()
    }
  }
#endif
