package import PhotoLedger

extension ClientRegistration {
  /// A registration that says why it wants either level.
  package static var described: ClientRegistration {
    var registration = ClientRegistration()
    registration.readWriteUsageDescription = "To show photos."
    registration.addOnlyUsageDescription = "To save photos."
    return registration
  }
}
