import Foundation
import PhotoLedger
import Testing

@Suite("The environment of a library")
struct LibraryEnvironmentTests {
  @Test("the system's environment names the process as Foundation does")
  func processName() {
    let info = ProcessInfo.processInfo
    let name = "\(info.processName) \(info.processIdentifier)"
    #expect(LibraryEnvironment.system.process == name && !info.processName.isEmpty)
  }
}
