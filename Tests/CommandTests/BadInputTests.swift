import Foundation
import TestSupport
import Testing

@Suite("Bad input")
struct BadInputTests {
  @Test(
    "a path without a library is named in the error, and nothing is created there",
    arguments: ["ls", "sections", "stat", "albums", "log", "verify", "rebuild", "apply", "watch"])
  func noLibrary(command: String) throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let result = try sandbox.run([command])
    #expect(result.status == 1)
    #expect(result.errors.contains(sandbox.library))
    #expect(result.errors.hasSuffix(".\n"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.library))
  }

  @Test("a library is not created where something exists")
  func occupied() throws {
    let sandbox = try Sandbox()
    let again = try sandbox.run(["init"])
    #expect(again.status == 1)
    #expect(again.errors.contains("is already a library"))
    let notEmpty = try sandbox.run(["init", sandbox.folder.path])
    #expect(notEmpty.status == 1)
    #expect(notEmpty.errors.contains("is not empty"))
  }

  @Test("an index past the end is rejected and changes nothing")
  func indexPastEnd() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    let before = try sandbox.run(["stat"]).output
    let result = try sandbox.run(["album", "insert", album, assets[0], "--at", "7"])
    #expect(result.status == 1)
    #expect(result.errors.contains("7") && result.errors.contains("'Sea'"))
    #expect(try sandbox.identifiers(["--album", album]).isEmpty)
    #expect(try sandbox.run(["log", "--json"]).lines.count == 4)
    #expect(before.contains("4 events"))
  }

  @Test("the largest number is rejected as an index like any other, and its neighbours are executed")
  func largestIndex() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    let folder = try sandbox.run(["folder", "create", "Travels"]).lines[0]
    #expect(try sandbox.run(["album", "add", album, assets[0]]).status == 0)
    for index in ["\(Int.max)", "\(Int.max - 1)"] {
      for words in [
        ["album", "remove", album, "--at", index], ["album", "remove", album, "--at", "0,\(index)"],
        ["album", "replace", album, assets[1], "--at", index], ["album", "insert", album, assets[1], "--at", index],
        ["album", "move", album, "--at", index, "--to", "0"], ["album", "move", album, "--at", "0", "--to", index],
        ["folder", "remove", folder, "--at", index], ["folder", "move", "/", "--at", "0", "--to", index],
        ["folder", "move", "/", "--at", "0,\(index)", "--to", "0"],
      ] {
        let result = try sandbox.run(words)
        #expect(result.status == 1 && result.errors.contains("There is no position \(index) in "), "\(result.errors)")
      }
    }
    let answers = try sandbox.apply([
      #"{"changes":[{"op":"asset.edit","assets":["\#(assets[0])"],"isFavorite":true}]}"#,
      #"{"changes":[{"op":"album.removeAt","album":"\#(album)","indexes":[\#(Int.max)]}]}"#,
      #"{"changes":[{"op":"album.removeAt","album":"\#(album)","indexes":[0,0]}]}"#,
      #"{"changes":[{"op":"asset.edit","assets":["\#(assets[1])"],"isFavorite":true}]}"#,
    ])
    #expect(answers.map { $0["token"] == nil } == [false, true, true, false])
    #expect(try sandbox.identifiers(["--album", album]) == [assets[0]])
  }

  @Test("input from outside cannot control the terminal through an error message")
  func controls() throws {
    let sandbox = try Sandbox()
    let evil = "\u{1B}[31mred\u{9B}2J\u{202E}"
    for words in [
      ["ls", "--library", "/tmp/\(evil)"], ["show", evil], ["album", "rename", evil, "x"], ["ls", "--where", evil],
      ["log", "--kind", evil], [evil], ["ls", "--at", evil], ["prove", "check", evil], ["ls", evil],
    ] {
      let result = try sandbox.run(words)
      #expect(result.status != 0 && result.errors.contains("\u{FFFD}"), "\(words): \(result.errors)")
      let scalars = (result.errors + result.output).unicodeScalars
      #expect(!scalars.contains { ["\u{1B}", "\u{9B}", "\u{202E}"].contains($0) }, "\(words)")
    }
    for command in ["backup", "fork"] {
      let made = try sandbox.run([command, sandbox.folder.appending(path: command + evil).path])
      #expect(made.status == 0 && made.output.contains("\u{FFFD}") && !made.output.contains("\u{1B}"))
    }
  }

  @Test("an error quotes only the beginning of a very long argument")
  func longArguments() throws {
    let sandbox = try Sandbox()
    let long = String(repeating: "x", count: 100_000)
    for words in [
      [long], ["ls", long], ["ls", "--\(long)"], ["ls", "--limit", long], ["ls", "--limit=\(long)"], ["show", long],
      ["ls", "--where", long], ["log", "--after", long], ["ls", "--at", long], ["album", long],
      ["log", "--kind", long],
      ["prove", "check", long], ["album", "move", "x", "--at", long, "--to", "1"], ["edit", "x", "--date", long],
      ["ls", "--library", long],
    ] {
      let result = try sandbox.run(words)
      #expect(result.status != 0 && result.errors.contains("xxxx"), "\(words[0].prefix(80))")
      #expect(result.errors.utf8.count < 1000, "\(words.map { $0.prefix(20) }): \(result.errors.utf8.count)")
    }
  }

  @Test("a directory in place of a file is named in the error")
  func directories() throws {
    let sandbox = try Sandbox()
    let folder = sandbox.folder.path
    for words in [
      ["import-log", folder, "--to", folder + "/x"], ["prove", "check", folder], ["verify", "--checkpoint", folder],
    ] {
      let result = try sandbox.run(words)
      #expect(result.status == 1 && result.errors.hasPrefix("photoledger: \(folder) cannot be read: "))
      #expect(result.errors.lowercased().contains("is a directory") && !result.errors.contains("Cocoa"))
    }
  }

  @Test("a file that cannot be read is named with the system's reason")
  func reasons() throws {
    let sandbox = try Sandbox()
    var cases: [([String], String)] = [
      (["verify", "--checkpoint", "nope"], "nope cannot be read"), (["prove", "check", "nope"], "nope cannot be read"),
    ]
    #if Gallery
      let page = sandbox.folder.appending(path: "nope").path
      cases.append((["serve", "--listen", "127.0.0.1:0", "--page", page], "cannot be read from \(page)"))
    #endif
    for (words, place) in cases {
      let result = try sandbox.run(words)
      #expect(result.status == 1 && result.errors.hasSuffix("\(place): No such file or directory.\n"), "\(result)")
    }
  }

  @Test("an export into something that is not a folder fails, and its dry run fails with the same sentence")
  func exportIntoFile() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(2)
    let file = sandbox.folder.appending(path: "file").path
    try Data("a".utf8).write(to: URL(filePath: file))
    for target in [file, "\(file)/folder", "/dev/null"] {
      let run = try sandbox.run(["export-files", target])
      let dry = try sandbox.run(["export-files", target, "--dry-run"])
      #expect(run.status == 1 && run.errors.contains("The folder \(target) cannot be created: "), "\(run)")
      #expect(dry.status == 1 && dry.errors == run.errors && dry.output.isEmpty, "\(dry)")
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "a")
  }

  @Test("a folder cannot be moved into a collection that it contains")
  func folderInItself() throws {
    let sandbox = try Sandbox()
    let outer = try sandbox.run(["folder", "create", "Outer"]).lines[0]
    let inner = try sandbox.run(["folder", "create", "Inner"]).lines[0]
    #expect(try sandbox.run(["folder", "insert", outer, inner]).status == 0)
    let result = try sandbox.run(["folder", "insert", inner, outer])
    #expect(result.status == 1)
    #expect(result.errors.contains("'Outer' cannot be put into 'Inner'"))
    let parents = try sandbox.run(["albums", "--json"]).objects().map { $0["parent"] as? String }
    #expect(parents == [nil, outer])
  }

  @Test(
    "an error names the object that does not exist",
    arguments: [
      ["show", "00000000-0000-4000-8000-000000000000"], ["ls", "--album", "nonsense"], ["favorite", "nonsense"],
      ["trash", "00000000-0000-4000-8000-000000000000"], ["log", "--asset", "nonsense"],
    ])
  func unknownObject(words: [String]) throws {
    let result = try Sandbox().run(words)
    #expect(result.status == 1)
    #expect(result.errors.contains(try #require(words.last)))
  }

  @Test("errors of an editing command name the command and identifiers, not operations and placeholders")
  func sentencesOfEdits() throws {
    let sandbox = try Sandbox()
    for name in ["nonsense", "$a"] {
      for (words, command) in [
        (["trash", name], "trash"), (["album", "add", name, "nonsense"], "album add"),
        (["favorite", name], "favorite"),
      ] {
        let result = try sandbox.run(words)
        let sentence = "photoledger: \(command): '\(name)' is not a valid identifier; pass one from the library.\n"
        #expect(result.status == 1 && result.errors == sentence, "\(result.errors)")
      }
    }
    let answer = try sandbox.apply([#"{"changes":[{"op":"asset.trash","assets":["nonsense"]}]}"#])[0]
    let message = try #require((answer["error"] as? [String: Any])?["message"] as? String)
    #expect(message.hasPrefix("changes[0] (asset.trash): ") && message.hasSuffix(", or a placeholder."), "\(message)")
  }

  @Test("an album is not deleted as a folder, nor a folder as an album")
  func wrongKind() throws {
    let sandbox = try Sandbox()
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    let folder = try sandbox.run(["folder", "create", "Travels"]).lines[0]
    #expect(try sandbox.run(["folder", "delete", album]).status == 1)
    #expect(try sandbox.run(["album", "delete", folder]).status == 1)
    #expect(try sandbox.run(["album", "rename", folder, "x"]).status == 1)
    #expect(try sandbox.run(["ls", "--album", folder]).errors.contains("is a folder"))
    #expect(try sandbox.run(["albums"]).lines.count == 2)
  }

  @Test("a token of another library, or an invalid one, is rejected", arguments: ["nonsense", "t1-0000000000000000-5"])
  func foreignToken(token: String) throws {
    let sandbox = try Sandbox()
    for words in [["log", "--after", token], ["watch", "--until", token]] {
      let result = try sandbox.run(words)
      #expect(result.status == 1)
      #expect(result.errors.contains(token))
    }
  }

  @Test("an empty path, of a variable that is not set, does not stand for the current directory")
  func emptyPaths() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    let edit = ["edit", "commit", "A", "--format", "f", "--format-version", "1"]
    let cases: [([String], String)] = [
      (["export-files", ""], "FOLDER"), (["sidecars", "write", "--mirror", ""], "--mirror"),
      (["import", ""], "FOLDER"), (["import", ".", ""], "FOLDER"), (["import", "", "--watch"], "FOLDER"),
      (["import", ".", "--into-fork", ""], "--into-fork"), (["import", "takeout", ""], "PART"),
      (["import", "icloud", ""], "PART"), (["fork", ""], "DIR"), (["compare", ""], "OTHER"), (["backup", ""], "DIR"),
      (["restore-backup", "", "--to", "again"], "DIR"), (["restore-backup", ".", "--to", ""], "--to"),
      (["import-log", "--to", ""], "--to"), (["import-log", "", "--to", "again"], "FILE"),
      (["demo", "--library", ""], "--library"), (["demo", ""], "FOLDER"),
      (["resource", "get", "A", "--output", ""], "--output"), (["checkpoint", "--out", ""], "--out"),
      (["prove", "check", ""], "FILE"), (["prove", "check", "proof", "--checkpoint", ""], "--checkpoint"),
      (["verify", "--checkpoint", ""], "--checkpoint"), (["edit", "input", "A", "--output", ""], "--output"),
      (edit + ["--adjustment", "", "--rendered", "b"], "--adjustment"),
      (edit + ["--adjustment", "a", "--rendered", ""], "--rendered"),
      (["pick", "load", "T", "--as", "com.example.app", "--output", ""], "--output"),
    ]
    #if Gallery
      let casesOfServer: [([String], String)] = [(["serve", "--listen", "127.0.0.1:0", "--page", ""], "--page")]
    #else
      let casesOfServer: [([String], String)] = []
    #endif
    for (words, name) in cases + casesOfServer {
      let result = try sandbox.run(words)
      #expect(result.status == 2 && result.errors.contains("\(name) needs a path; '' is empty."), "\(words): \(result)")
      #expect(result.errors.contains("photoledger \(words[0])"), "\(words): \(result.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.folder.path) == ["library"])
  }

  @Test("a cause that no commit can have is a usage error, such as the empty value of an unset variable")
  func emptyCauses() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let head = try sandbox.run(["history", "token"]).output
    for words in [
      ["undo", "--cause"], ["undo", "--dry-run", "--cause"], ["undo", "--all", "--why"], ["log", "--cause"],
      ["history", asset, "--cause"], ["erase", asset, "--yes", "--cause"], ["metadata", "read", "--cause"],
      ["shift", asset, "--by", "+01:00", "--cause"], ["import", ".", "--cause"],
    ] {
      let result = try sandbox.run(words + [""])
      #expect(result.status == 2 && result.output.isEmpty, "\(words): \(result)")
      let option = try #require(words.last)
      #expect(result.errors.contains("\(option) needs 1 to 1024 bytes; this one has 0."), "\(words): \(result)")
    }
    let long = try sandbox.run(["erase", asset, "--yes", "--cause", String(repeating: "c", count: 1025)])
    #expect(long.status == 2 && long.errors.contains("this one has 1025."), "\(long)")
    #expect(try sandbox.run(["history", "token"]).output == head)
  }

  @Test("an argument or a variable that is not UTF-8 is rejected, since its text would name another file")
  func notUTF8() throws {
    let sandbox = try Sandbox()
    for (line, sentence) in [
      (#""$0" backup --library "$1" "$2"/$'copy\xff'"#, "Argument 4 is not UTF-8"),
      (#""$0" init "$2"/$'new\xff'"#, "Argument 2 is not UTF-8"),
      (#"PHOTOLEDGER_LIBRARY="$2"/$'new\xff' "$0" init"#, "PHOTOLEDGER_LIBRARY is not UTF-8"),
      (#"PHOTOLEDGER_LIBRARY= XDG_DATA_HOME="$2"/$'new\xff' "$0" init"#, "XDG_DATA_HOME is not UTF-8"),
    ] {
      let (text, end) = try ChildRun.of(
        ["timeout", "60", "bash", "-c", line, programURL.path, sandbox.library, sandbox.folder.path])
      #expect(end == .status(2) && text.contains(sentence), "\(line): \(text)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.folder.path) == ["library"])
  }

  @Test(
    "a damaged store crashes neither the check nor a rebuild, whatever the runtime does on a fault",
    arguments: ["verify", "rebuild"], [[:], ["SWIFT_BACKTRACE": "enable=yes"]])
  func damagedStore(_ command: String, _ variables: [String: String]) throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(50)
    let file = try FileHandle(forUpdating: URL(filePath: sandbox.library + "/store/data.mdb"))
    let size = try file.seekToEnd()
    for offset in stride(from: UInt64(4096 * 2), to: size, by: 4096) {
      try file.seek(toOffset: offset)
      try file.write(contentsOf: Data(repeating: 0xA5, count: 64))
    }
    try file.close()
    let result = try sandbox.run([command], variables)
    #expect(result.status == 1)
    #expect(!(result.errors + result.output).isEmpty)
  }
}
