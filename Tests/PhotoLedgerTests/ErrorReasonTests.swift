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

  @Test("an error of Foundation becomes one that names the file and the cause")
  func files() {
    func made(
      _ code: CocoaError.Code, _ system: POSIXErrorCode, to destination: String? = nil
    ) -> LibraryError {
      let inner = NSError(domain: NSPOSIXErrorDomain, code: Int(system.rawValue))
      var information: [String: Any] = [NSFilePathErrorKey: "/p/a", NSUnderlyingErrorKey: inner]
      if let destination { information["NSDestinationFilePath"] = destination }
      return LibraryError(CocoaError(code, userInfo: information))
    }
    let reading = made(.fileReadUnknown, .ENOTDIR)
    #expect(reading.code == .storage && reading.description == "The library cannot read /p/a: Not a directory.")
    let writing = made(.fileWriteUnknown, .EIO)
    #expect(writing.code == .storage && writing.description == "The library cannot write /p/a: Input/output error.")
    let gone = made(.fileNoSuchFile, .ENOENT)
    #expect(gone.code == .storage && gone.description == "The library cannot write /p/a: No such file or directory.")
    let full = made(.fileWriteOutOfSpace, .ENOSPC, to: "/q/b")
    #expect(full.code == .notEnoughSpace)
    #expect(full.description == "There is not enough space to copy /p/a to /q/b; free some and try again.")
    let bare = LibraryError(CocoaError(.fileWriteOutOfSpace, userInfo: [NSFilePathErrorKey: "/p/a"]))
    #expect(bare.code == .notEnoughSpace && bare.description.hasPrefix("The library cannot write /p/a: "))
  }

  @Test("what Foundation says of a folder that it cannot list names it and the system's reason")
  func listing() throws {
    let error = #expect(throws: CocoaError.self) {
      try FileManager.default.contentsOfDirectory(atPath: "/dev/null")
    }
    #expect(LibraryError(try #require(error)).description == "The library cannot read /dev/null: Not a directory.")
  }
}
