import Foundation
import TestSupport
import Testing

@Suite("A program that is started without standard descriptors")
struct MissingDescriptorTests {
  /// Runs a line of the shell with the program as $0 and the library as $1, for a minute at most.
  private static func shell(_ sandbox: Sandbox, _ line: String) throws -> (text: String, end: ChildRun.End) {
    try ChildRun.of(["timeout", "60", "bash", "-c", line, programURL.path, sandbox.library])
  }

  @Test("a program without standard descriptors writes its messages into no file of the library")
  func noDescriptors() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    let line = #""$0" ls --as com.example.app --library "$1" <&- >&- 2>&-"#
    #expect(try Self.shell(sandbox, line).end == .status(0), "There is nothing to print but a message.")
    for file in ["lock.mdb", "data.mdb"] {
      let bytes = try Data(contentsOf: URL(filePath: "\(sandbox.library)/store/\(file)"))
      #expect(bytes.range(of: Data("photoledger:".utf8)) == nil, "\(file)")
    }
    #expect(try sandbox.run(["verify"]).status == 0)
  }

  @Test(
    "a command that needs a closed descriptor fails with a message, one that does not need it works",
    arguments: [
      (#""$0" ls --library "$1" <&-"#, 0, "IMG_0.jpg"), (#""$0" ls --library "$1" 2>&-"#, 0, "IMG_0.jpg"),
      (#""$0" ls --library "$1" >&-"#, 1, "Standard output cannot be written"),
      (#""$0" verify --library "$1" <&- >&-"#, 1, "Standard output cannot be written"),
      (#""$0" verify --library "$1" <&-"#, 0, "sound"),
      (#""$0" apply --library "$1" <&-"#, 1, "Standard input cannot be read"),
      (#""$0" apply --library "$1" <&- >&-"#, 1, "Standard input cannot be read"),
    ])
  func missingDescriptor(line: String, status: Int32, words: String) throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    let (text, end) = try Self.shell(sandbox, line)
    #expect(end == .status(status) && text.contains(words), "\(text)")
  }
}
