import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  private static let isAutomatic = Option("automatic", "the edit was made by the camera")

  static let editCommit = editing(
    "edit commit", "edit the content of an asset: store adjustment data and rendered files", [.asset],
    syntax: "ASSET --format ID --format-version V --adjustment FILE --rendered FILE",
    options: [
      Option("format", "ID", "the format of the adjustment data, such as com.example.editor"),
      Option("format-version", "V", "the version of that format"),
      Option("adjustment", "FILE", "the adjustment data"),
      Option("rendered", "FILE", "the photo or video as edited"),
      Option("rendered-video", "FILE", "the video of a Live Photo as edited; without it, the photo is a still"),
      Option("base", "BASE", "the base printed by `edit input`: unedited (the default) or rendered"),
      Option("width", "N", "the width of the result in pixels, if changed"),
      Option("height", "N", "the height of the result in pixels, if changed"),
      Option("duration", "S", "the length of the result in seconds, if changed"), isAutomatic,
    ],
    notes: "The files are copied. The originals are kept; `edit revert` restores them.",
    example: "edit commit \(exampleIdentifier) --format com.example.editor --format-version 1 "
      + "--adjustment sepia.json --rendered out.jpg",
    preparing: commit)

  @Sendable private static func commit(_ invocation: Invocation) throws -> (PhotoLibrary) throws -> [JSON] {
    for name in ["adjustment", "rendered", "rendered-video"] {
      if let text = invocation.text(name) { _ = try invocation.path(text, "--\(name)") }
    }
    let recipe: [JSON.Member] = [
      .init("formatIdentifier", try invocation.required("format")),
      .init("formatVersion", try invocation.required("format-version")),
      .init("path", try invocation.required("adjustment")),
    ]
    let base = invocation.text("base") ?? EditingBase.unedited.rawValue
    guard EditingBase(rawValue: base) != nil else {
      throw UsageError("--base needs unedited or rendered; got '\(base)'.")
    }
    let rendered = try invocation.required("rendered")
    let renderedVideo = invocation.text("rendered-video")
    var members: [JSON.Member] = [
      .init("op", "asset.editContent"), .init("asset", invocation.operand(0)), .init("base", .text(base)),
      .init("adjustmentData", .object(recipe)), .init("isAutomatic", .bool(invocation.has(isAutomatic))),
    ]
    for (option, field) in [("width", "pixelWidth"), ("height", "pixelHeight")] {
      if let side = try invocation.side(option) { members.append(.init(field, .integer(Int64(side)))) }
    }
    if let duration = try invocation.seconds("duration") { members.append(.init("duration", .number(duration))) }
    return { library in
      let isVideo = try library.asset(named: invocation.operands[0]).mediaType == .video
      var files: [JSON] = [["type": isVideo ? "fullSizeVideo" : "fullSizePhoto", "path": rendered]]
      if let renderedVideo { files.append(["type": "fullSizePairedVideo", "path": .text(renderedVideo)]) }
      return [.object(members + [.init("resources", .list(files))])]
    }
  }
}

extension Invocation {
  /// The value of an option that must be given.
  fileprivate func required(_ name: String) throws -> JSON {
    guard let text = text(name) else { throw UsageError("'\(command.name)' needs --\(name).") }
    return .text(text)
  }

  /// A number of pixels that an asset can have along a side.
  fileprivate func side(_ name: String) throws -> Int? {
    guard let number = try count(name) else { return nil }
    let range = AssetNumbers.sides
    guard range.contains(number) else {
      throw UsageError(
        "--\(name) needs a number of pixels from \(range.lowerBound) to \(range.upperBound); got '\(number)'.")
    }
    return number
  }

  /// A number of seconds that an asset can last.
  fileprivate func seconds(_ name: String) throws -> Double? {
    guard let text = text(name) else { return nil }
    let range = AssetNumbers.durations
    guard let number = Double(text), range.contains(number) else {
      throw UsageError(
        "--\(name) needs a number of seconds from \(range.lowerBound) to \(range.upperBound); got '\(text)'.")
    }
    return number
  }
}
