import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

// The files of assets: what there is, whether it is still what it was, and the bytes themselves.

extension Command {
  private static let asset = Operand("ASSET", "the identifier of an asset")
  private static let force = Option("force", "write to a terminal, or overwrite an existing file")
  private static let hashing = Option("hash", "hash every file; by default only sizes are compared")

  static let resourceList = Command(
    words: ["resource", "list"], summary: "list the files of an asset, and their state",
    operands: [asset], options: .looking + [.json],
    notes: "The state is determined by the size of a file; `resource check --hash` reads the bytes.",
    example: "resource list 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
  ) { invocation in
    try invocation.withLibrary { library in
      for file in try library.files(of: library.asset(named: invocation.operands[0])) {
        let state = try waiting { try await library.state(of: file.resource, in: file.asset) }
        if invocation.printsJSON {
          try invocation.output.line(file.json(state, library))
        } else {
          try invocation.output.write(file.rows(state, invocation.output.terminal))
        }
      }
      return .done
    }
  }

  static let resourceGet = Command(
    words: ["resource", "get"], summary: "copy a file of an asset, and verify its hash",
    operands: [asset],
    options: .looking + [
      Option("type", "TYPE", "the file of a type, such as photo or pairedVideo"),
      Option("index", "N", "the file with this index in `resource list`; default 0"),
      Option("output", "FILE", "write to a file; default standard output"), force,
    ],
    notes: """
      A FILE appears under its name when it is complete and matches the recorded SHA-256; a failed or stopped copy
      leaves nothing. On standard output the bytes are written as they are read; the exit status reports at the end
      whether they match.
      """,
    example: "resource get 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --output IMG_0001.HEIC"
  ) { invocation in
    let choice = try FileChoice(invocation)
    guard let output = try invocation.text("output").map({ try invocation.file($0, "--output") }) else {
      guard !invocation.output.terminal.isInteractive || invocation.has(force) else {
        throw UsageError("Standard output is a terminal; pass --output FILE, or --force.")
      }
      try invocation.withLibrary { try print(try choice.file(in: $0), $0, invocation.output) }
      return .done
    }
    let interruption = Interruption()
    try invocation.withLibrary { library in
      let file = try choice.file(in: library)
      let bar = SharedProgressBar()
      defer { bar.clear() }
      let size = Int(clamping: file.resource.dataSize)
      let options = ResourceRequestOptions { share in
        bar.show("copying", done: Int(share * Double(size)), total: size, note: "bytes")
      }
      let replacing = invocation.has(force)
      try invocation.writing(to: output) {
        try waiting(interruption) {
          try await library.write(file.resource, in: file.asset, to: output, replacing: replacing, options: options)
        }
      }
    }
    return .done
  }

  static let resourceCheck = Command(
    words: ["resource", "check"], summary: "report missing or altered files of assets",
    operands: [Operand("ASSET", .any, "identifiers of assets; default all, including hidden and trashed")],
    options: .looking + [hashing, .json],
    notes: """
      The exit status is 1 if a file is missing or altered, or if the check was stopped. With --json every file is a
      line, otherwise only missing or altered ones.
      """,
    example: "resource check --hash"
  ) { invocation in
    let interruption = Interruption()
    return try invocation.withLibrary { library in
      try waiting(interruption) {
        var check = FileCheck(library: library, invocation: invocation, isHashing: invocation.has(hashing))
        defer { check.bar.clear() }
        do {
          try await check.run()
        } catch is OutputClosed {
          check.bar.clear()
          Output.notice("Standard output was closed; not every file was checked.")
          return .failed
        } catch let error as LibraryError where error.code == .userCancelled {
          check.bar.clear()
          Output.notice("Stopped; the files of \(TextLayout.counted(check.rest, "asset")) were not checked.")
          return try invocation.output.finish(with: .failed) {
            if !invocation.printsJSON { try invocation.output.line(check.summary) }
          }
        }
        let status: ExitStatus = check.found[.missing] == nil && check.found[.altered] == nil ? .done : .failed
        return try invocation.output.finish(with: status) {
          if !invocation.printsJSON { try invocation.output.line(check.summary) }
        }
      }
    }
  }

  /// Writes a file to standard output. A signal ends the process, as there is nothing to put in order.
  private static func print(_ file: AssetFile, _ library: PhotoLibrary, _ output: Output) throws {
    try waiting {
      for try await chunk in library.data(of: file.resource, in: file.asset) { try output.write(bytes: chunk) }
    }
  }
}

extension PhotoLibrary {
  fileprivate func files(of asset: Asset) throws -> [AssetFile] {
    try resources(of: asset).enumerated().map { AssetFile(asset: asset, index: $0, resource: $1) }
  }
}

/// A resource with its place among those of its asset.
private struct AssetFile: Sendable {
  let asset: Asset
  let index: Int
  let resource: AssetResource

  func json(_ state: ResourceState, _ library: PhotoLibrary) -> JSON {
    JSON(
      resource,
      after: [
        JSON.Member("assetLocalIdentifier", .text(asset.localIdentifier)), JSON.Member("index", .integer(Int64(index))),
      ],
      before: [
        JSON.Member("pixelWidth", .integer(Int64(resource.pixelWidth))),
        JSON.Member("pixelHeight", .integer(Int64(resource.pixelHeight))),
        JSON.Member("path", .text(library.url(of: resource).path)), JSON.Member("state", .text(state.rawValue)),
      ])
  }

  /// Two lines for people.
  func rows(_ state: ResourceState, _ terminal: Terminal) -> String {
    let pixels = resource.pixelWidth == 0 ? "" : "\(resource.pixelWidth)×\(resource.pixelHeight)"
    let cells = [
      TextLayout.fitted(String(index), 2), TextLayout.fitted(resource.type.name, 16),
      terminal.styled(TextLayout.fitted(state.rawValue, 8), state == .present ? .inserted : .removed),
      TextLayout.fitted(TextLayout.bytes(resource.dataSize), 10), TextLayout.fitted(pixels, 11),
      TextLayout.printable(resource.originalFilename), TextLayout.printable(resource.uniformTypeIdentifier),
    ]
    return cells.joined(separator: " ") + "\n" + terminal.styled("   sha256 \(resource.sha256Hex)", .faint) + "\n"
  }
}

/// Which file of an asset is meant.
private struct FileChoice {
  let asset: String
  let type: ResourceType?
  let index: Int?

  /// - Throws: ``UsageError`` for an unknown type, and for both a type and an index.
  init(_ invocation: Invocation) throws {
    asset = invocation.operands[0]
    index = try invocation.count("index")
    type = try invocation.text("type").map { name in
      guard let type = ResourceType(name: name) else {
        throw UsageError("--type needs a type such as photo, video or pairedVideo; got '\(name)'.")
      }
      return type
    }
    if type != nil, index != nil { throw UsageError("--type and --index both choose a file; pass one of them.") }
  }

  /// - Throws: ``LibraryError`` `.identifierNotFound` if there is no such file, `.conflict` if there are several.
  func file(in library: PhotoLibrary) throws -> AssetFile {
    let files = try library.files(of: library.asset(named: asset))
    let hint = "`resource list \(asset)` lists its files"
    guard let type else {
      let index = index ?? 0
      guard files.indices.contains(index) else {
        throw LibraryError(.identifierNotFound, "The asset '\(asset)' has no file \(index); \(hint).")
      }
      return files[index]
    }
    let fits = files.filter { $0.resource.type == type }
    guard let file = fits.first else {
      throw LibraryError(.identifierNotFound, "The asset '\(asset)' has no file of type \(type.name); \(hint).")
    }
    guard fits.count == 1 else {
      throw LibraryError(
        .conflict, "The asset '\(asset)' has \(fits.count) files of type \(type.name); pass --index: \(hint).")
    }
    return file
  }
}

/// Checks the files of assets, one after the other, until its output is closed or its task is cancelled.
private struct FileCheck: Sendable {
  let library: PhotoLibrary
  let invocation: Invocation
  let isHashing: Bool
  let bar = SharedProgressBar()
  /// How many files were found in each state.
  private(set) var found: [ResourceState: Int] = [:]
  /// How many assets have files that were not checked yet.
  private(set) var rest = 0

  init(library: PhotoLibrary, invocation: Invocation, isHashing: Bool) {
    (self.library, self.invocation, self.isHashing) = (library, invocation, isHashing)
  }

  /// - Throws: ``LibraryError`` `.userCancelled` if the task was cancelled; what the library and the output throw.
  mutating func run() async throws {
    if invocation.operands.isEmpty {
      for isTrash in [false, true] { try await runAll(inTrash: isTrash) }
    } else {
      // All are looked up first: a mistyped one is reported before hours of hashing.
      let assets = try invocation.operands.map { try library.asset(named: $0) }
      rest = assets.count
      for asset in assets { try await look(at: asset) }
    }
    bar.clear()
  }

  private mutating func runAll(inTrash isTrash: Bool) async throws {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true, true)
    options.showsTrash = isTrash
    let assets = try library.fetchAssets(options)
    rest = assets.count
    if !isTrash {
      options.showsTrash = true
      rest += try library.fetchAssets(options).count
    }
    for start in stride(from: 0, to: assets.count, by: 256) {
      for (index, asset) in try assets.objects(at: start..<min(start + 256, assets.count)).enumerated() {
        bar.show(isTrash ? "checking the trash" : "checking", done: start + index, total: assets.count)
        try await look(at: asset)
      }
    }
  }

  private mutating func look(at asset: Asset) async throws {
    for file in try library.files(of: asset) {
      if Task.isCancelled { throw LibraryError(.userCancelled, "The check was stopped; check again.") }
      let state = try await library.state(of: file.resource, in: file.asset, hashing: isHashing)
      // A purge of the asset meanwhile removed the file correctly.
      if state != .present, try !isStillThere(file) { continue }
      found[state, default: 0] += 1
      if invocation.printsJSON {
        try invocation.output.line(file.json(state, library))
      } else if state != .present {
        bar.clear()
        let name = "\(file.resource.type.name) \(file.resource.originalFilename) of \(asset.localIdentifier)"
        let path = library.url(of: file.resource).path
        try invocation.output.line(TextLayout.printable("\(state.rawValue): \(name), \(path)"))
      }
    }
    rest -= 1
  }

  private func isStillThere(_ file: AssetFile) throws -> Bool {
    guard let now = try library.asset(file.asset.localIdentifier) else { return false }
    return try library.resources(of: now).contains(file.resource)
  }

  var summary: String {
    let total = found.values.reduce(0, +)
    let bad = "\(found[.missing] ?? 0) missing, \(found[.altered] ?? 0) altered"
    return "\(TextLayout.counted(total, "file")) checked\(isHashing ? " and hashed" : ""): \(bad)."
  }
}
