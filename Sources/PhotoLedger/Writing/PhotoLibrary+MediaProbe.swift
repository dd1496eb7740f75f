import Foundation

extension PhotoLibrary {
  /// Installs what examines the bytes of new assets and edits; nil: nothing, and bytes are taken for what they are
  /// called.
  ///
  /// With a probe, bytes that are not the stated medium fail their block with ``LibraryError/Code/invalidResource``
  /// (CB-06), and size, length, date, place, subtypes and uniform type come from the bytes where the request leaves
  /// them open (AS-02). Without one, the file name decides about the kind, and those values stay unknown. The module
  /// `Photos` installs MediaImport's `ExternalProbe` where nothing was chosen here before; passing nil is a choice.
  /// - Parameters:
  ///   - probe: the probe.
  ///   - handler: called once, at the first bytes that the probe is not available for, with its sentence; nil writes it
  ///     to standard error.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner.
  public func setMediaProbe(
    _ probe: (any MediaProbe)?, whenUnavailable handler: (@Sendable (String) -> Void)? = nil
  ) throws {
    try checkIsOwner("install a media probe")
    store.probing.install(probe, handler)
  }

  /// Installs a probe if nothing was chosen before.
  package func setDefaultMediaProbe(_ probe: any MediaProbe) { store.probing.installDefault(probe) }
}

extension LibraryStore {
  /// What examines the bytes of new files (CB-06).
  var probing: MediaProbing { part { _ in MediaProbing() } }
}
