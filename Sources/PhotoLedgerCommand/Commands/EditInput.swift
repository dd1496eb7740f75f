import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

// Edits of the content of an asset by a program.
//
//     edit input ASSET        what to begin from: files, and the recipe of the last edit if the editor knows its format
//           │  an editor works, and leaves a new recipe and the rendered file
//           ▼
//     edit commit ASSET       asset.editContent
//     edit revert ASSET       asset.revertContent

extension Command {
  private static let handles = Option(
    "handles", "FORMAT", isRepeatable: true, "a format of adjustment data that the editor can apply")
  private static let force = Option("force", "overwrite an existing file")

  static let editInput = Command(
    words: ["edit", "input"],
    summary: "print an editor's input: the files, and the last edit's adjustment data",
    operands: [Operand("ASSET", "the identifier of an asset")],
    options: .opening + [
      handles, Option("output", "FILE", "write the adjustment data to a file"), force, .json,
    ],
    notes: """
      An editor that can apply the stored adjustment data starts from the unedited files, any other from the rendered
      ones; `base` says which, and `edit commit --base` needs the same value.
      """,
    example: "edit input 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --handles com.example.editor --json"
  ) { invocation in
    let formats = invocation.texts(handles.name)
    let output = try invocation.text("output").map { try invocation.file($0, "--output") }
    return try invocation.withLibrary { library in
      let asset = try library.asset(named: invocation.operands[0])
      let input = try library.editingInput(for: asset) { formats.contains($0.formatIdentifier) }
      if let output {
        try invocation.writing(to: output) {
          try write(input, library, to: output, replacing: invocation.has(force))
        }
      }
      if invocation.printsJSON {
        try invocation.output.line(json(input, library))
      } else {
        try invocation.output.write(text(input, library, invocation.output.terminal))
      }
      return .done
    }
  }

  /// Copies the adjustment data, which is a file of the asset like any other.
  private static func write(
    _ input: EditingInput, _ library: PhotoLibrary, to url: URL, replacing: Bool
  ) throws {
    let recipe = try library.resources(of: input.asset).first { $0.type == .adjustmentData }
    guard input.adjustmentData != nil, let recipe else {
      let why =
        recipe == nil ? "it was never edited" : "its format is not named by --handles; `show` prints it"
      throw LibraryError(
        .missingResource, "The asset \(input.asset.localIdentifier) has no adjustment data to write: \(why).")
    }
    try waiting { try await library.write(recipe, in: input.asset, to: url, replacing: replacing) }
  }

  private static func json(_ input: EditingInput, _ library: PhotoLibrary) throws -> JSON {
    [
      "localIdentifier": .text(input.asset.localIdentifier),
      "base": .text(input.base.rawValue),
      "adjustmentData": input.adjustmentData.map {
        [
          "formatIdentifier": .text($0.formatIdentifier), "formatVersion": .text($0.formatVersion),
          "dataSize": .integer(Int64($0.data.count)),
        ]
      } ?? .null,
      "resources": .list(
        try input.resources.map { resource in
          let path = JSON.Member("path", .text(try library.url(of: resource, in: input.asset).path))
          return JSON(resource, before: [path])
        }),
    ]
  }

  private static func text(_ input: EditingInput, _ library: PhotoLibrary, _ terminal: Terminal) throws -> String {
    var facts = Facts(terminal: terminal)
    facts.add("base", input.base.rawValue)
    facts.add("adjustment data", input.adjustmentData.map { "\($0.formatIdentifier) \($0.formatVersion)" })
    for resource in input.resources {
      facts.add(resource.type.name, "\(resource.originalFilename), \(TextLayout.bytes(resource.dataSize))")
      facts.add("", try library.url(of: resource, in: input.asset).path)
    }
    return facts.text
  }
}
