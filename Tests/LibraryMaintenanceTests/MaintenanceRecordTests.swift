import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("The record of the last maintenance")
struct MaintenanceRecordTests {
  @Test("a backup, a sound verification and one against a checkpoint are recorded, each with the head of the log")
  func notes() throws {
    let made = try TemporaryLibrary(.seeded(1))
    let library = made.library
    #expect(try library.maintenanceRecord().backup == nil)
    try library.performChangesAndWait { $0.createAlbum(title: "One") }
    let backup = try library.backup(to: made.folder.url.appending(path: "copy"))
    try library.note(backup)
    #expect(try library.maintenanceRecord().backup?.chain == backup.chain)
    #expect(try library.maintenanceRecord().backup?.eventCount == backup.eventCount)
    try library.note(library.verify(scratch: made.folder.url))
    #expect(try library.maintenanceRecord().verification?.chain == backup.chain)
    #expect(try library.maintenanceRecord().checkpoint == nil)
    let checkpoint = try library.checkpoint()
    try library.performChangesAndWait { $0.createAlbum(title: "Two") }
    let found = try library.verify(scratch: made.folder.url, against: [checkpoint])
    try library.note(found)
    #expect(try library.maintenanceRecord().checkpoint?.chain == found.chain)
    #expect(try library.maintenanceRecord().checkpoint?.eventCount == found.eventCount)
    #expect(try library.maintenanceRecord().backup?.chain == backup.chain)
  }

  @Test(
    "a record that this program did not write is an error that names the file",
    arguments: ["", "{}", "[1]", String(repeating: "x", count: 5000)])
  func damaged(content: String) throws {
    let made = try TemporaryLibrary(.seeded(1))
    try made.library.note(made.library.verify(scratch: made.folder.url))
    let file = made.url.appending(path: "care/verification.json")
    try Data(content.utf8).write(to: file)
    let error = #expect(throws: LibraryError.self) { try made.library.maintenanceRecord() }
    #expect(error?.code == .corrupted && error?.description.contains(file.path) == true)
  }

  @Test("a new record removes what a killed one left")
  func leftover() throws {
    let made = try TemporaryLibrary(.seeded(1))
    let care = made.url.appending(path: "care")
    try FileManager.default.createDirectory(at: care, withIntermediateDirectories: true)
    // This process has made no file of this number.
    try Data("{".utf8).write(to: care.appending(path: ".photoledger-\(getpid()).\(UInt.max)"))
    try made.library.note(made.library.verify(scratch: made.folder.url))
    #expect(try FileManager.default.contentsOfDirectory(atPath: care.path) == ["verification.json"])
  }

  @Test("only the owner reads and writes records")
  func owner() throws {
    let made = try TemporaryLibrary(.seeded(1))
    let found = try made.library.verify(scratch: made.folder.url)
    try made.library.performChangesAndWait { $0.setAuthorizationStatus(.authorized, of: "app") }
    let app = made.library.as("app")
    #expect(throws: LibraryError.self) { try app.maintenanceRecord() }
    #expect(throws: LibraryError.self) { try app.note(found) }
    #expect(try made.library.maintenanceRecord().verification == nil)
  }
}
