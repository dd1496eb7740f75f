import Foundation
import PhotoLedger
import Testing

@Suite("Reasons of errors")
struct ErrorReasonTests {
  @Test("a reason has no full stop: it is the system's if there is an errno value, and otherwise Foundation's sentence")
  func clauses() {
    let system = NSError(domain: NSPOSIXErrorDomain, code: 2)
    let file = NSError(domain: NSCocoaErrorDomain, code: 260, userInfo: [NSUnderlyingErrorKey: system])
    #expect(LibraryError.reason(of: file) == "No such file or directory")
    let other = NSError(domain: "example", code: 1, userInfo: [NSLocalizedDescriptionKey: "It is on the Moon."])
    #expect(LibraryError.reason(of: other) == "It is on the Moon")
  }
}
