import Foundation
import JSONReading
import LibraryJSON
import LibraryPicking
import MediaImport
import PhotoLedger

// Picking sessions in a terminal or a script: this program is the client that asks, and the person who chooses.
//
//     pick --as CLIENT --choose ID…       the choice is made beforehand; for scripts and tests
//     pick --as CLIENT                    a person chooses from a numbered list, on standard error and standard input
//     pick load TOKEN --as CLIENT         the bytes, later, as the client and with nothing but the pick
//
// The list is shown by the owner's view of the library; the result is what the client sees, and nothing else of it is
// printed.

extension Option {
  fileprivate static let picker = Option(
    "as", "CLIENT", "the client that the assets are picked for; it needs no permission")
  fileprivate static let ordered = Option("ordered", "keep the order of picking; by default the library's order")
  fileprivate static let current = Option("current", "the stored bytes")
  fileprivate static let compatible = Option(
    "compatible", "widely readable bytes, converted if necessary")
  fileprivate static let stripLocation = Option("strip-location", "remove the location")
  fileprivate static let stripCaptions = Option("strip-captions", "remove captions and keywords")
  fileprivate static let withholdLocation = Option(
    "withhold-location", "never deliver the location to the client")
  fileprivate static let withholdCaptions = Option(
    "withhold-captions", "never deliver captions and keywords to the client")
  fileprivate static let force = Option("force", "write to a terminal, or overwrite an existing file")
}

extension Command {
  static let pick = Command(
    words: ["pick"], summary: "pick assets for a client, which gets access to only those",
    syntax: "--as CLIENT",
    options: [
      .library, .picker, Option("filter", "FILTER", "offer only matching assets, such as images or any(images,videos)"),
      Option("limit", "N", "the maximum number of picked assets; default 1; 0 for any number"),
      .ordered, Option("preselect", "ID", isRepeatable: true, "preselect an asset, known from an earlier pick"),
      Option("choose", "ID", isRepeatable: true, "pick an asset, without prompting at the terminal"),
      .withholdLocation, .withholdCaptions, .json,
    ],
    notes: """
      Without --choose the terminal shows a numbered list of candidates. Type numbers to select or deselect assets, p
      to switch withholding of the location, an empty line to finish, q to cancel; the list has at most
      \(PickingDialogue.listLimit) entries, so narrow it with --filter.

      Filters: images, videos, livePhotos, panoramas, screenshots, screenRecordings, slomoVideos, timelapseVideos,
      bursts, cinematicVideos, depthEffectPhotos, spatialMedia, playbackStyle(STYLE), and any(…), all(…), not(…) of
      them.

      Each picked asset is a line with its token, with which the client loads it by `pick load`. Preselected assets
      have none.
      """,
    example: "pick --as com.example.app --filter 'any(images,videos)' --limit 3"
  ) { invocation in
    let arguments = try PickArguments(invocation)
    // Made before the library's threads are, so that it is this one that hears the signals.
    let interruption = arguments.choices.isEmpty ? Interruption() : nil
    return try invocation.withOwnersLibrary { library in
      let app = library.as(arguments.client)
      let session = try app.beginPicking(arguments.configuration(for: app))
      let presenter = try library.present(session)
      if !arguments.withheld.isEmpty { try waiting { try await presenter.withhold(arguments.withheld) } }
      if let interruption {
        try PickingDialogue(presenter: presenter, library: library, interruption: interruption).run()
      } else {
        try waiting {
          for choice in arguments.choices { try await presenter.select(choice) }
          try await presenter.finish()
        }
      }
      let items = try waiting { () -> [PickedItem] in
        for await result in session.results { return result }
        return []
      }
      let isFinished = session.state == .finished
      let status = try invocation.output.finish(with: isFinished ? .done : .failed) {
        for item in items { try print(item, invocation) }
      }
      if !isFinished { Output.notice("Picking was cancelled.") }
      return status
    }
  }

  static let pickLoad = Command(
    words: ["pick", "load"], summary: "load a picked asset, as the client that it was picked for",
    operands: [Operand("TOKEN", "the token of a picked asset, as `pick` prints it")],
    syntax: "TOKEN --as CLIENT",
    options: [
      .library, .picker, Option("type", "UTI", "the type of the data, such as public.jpeg; default the preferred one"),
      .current, .compatible, .stripLocation, .stripCaptions,
      Option("output", "FILE", "write to a file; default standard output"), .force,
    ],
    notes: """
      Without --current and --compatible, the bytes are compatible if they already are or can be converted. Converting
      a photo needs exiftool and one of heif-convert, vips and ImageMagick; converting a video needs ffmpeg with
      ffprobe; removing metadata needs exiftool; an error names a missing program.
      """,
    example: "pick load p1.v1-… --as com.example.app --strip-location --output picked.jpg"
  ) { invocation in
    let arguments = try LoadArguments(invocation)
    let interruption = Interruption()
    try invocation.withOwnersLibrary { library in
      try library.setRepresentationConverter(ExternalConverter())
      let app = library.as(arguments.client)
      let item = try app.pickedItem(arguments.token)
      let (options, output) = (arguments.options, invocation.output)
      guard let file = arguments.file else {
        return try waiting(interruption) {
          for try await chunk in app.data(of: item, options: options) { try output.write(bytes: chunk) }
        }
      }
      try invocation.writing(to: file) {
        try waiting(interruption) {
          try await app.write(item, to: file, replacing: arguments.isForced, options: options)
        }
      }
    }
    return .done
  }

  private static func print(_ item: PickedItem, _ invocation: Invocation) throws {
    guard invocation.printsJSON else {
      let types = item.isLoadable ? item.supportedContentTypes.joined(separator: " ") : "(selected beforehand)"
      return try invocation.output.line([item.assetIdentifier ?? "", types, item.token ?? ""].joined(separator: "  "))
    }
    try invocation.output.line([
      "assetIdentifier": JSON(item.assetIdentifier),
      "supportedContentTypes": .list(item.supportedContentTypes.map { .text($0) }), "token": JSON(item.token),
    ])
  }
}

extension Invocation {
  /// Opens the library as its owner, whichever client `--as` names.
  fileprivate func withOwnersLibrary<R>(_ body: (PhotoLibrary) throws -> R) throws -> R {
    let library = try PhotoLibrary(at: try libraryURL())
    defer { library.close() }
    return try body(library)
  }

  /// The client that `--as` names.
  /// - Throws: ``UsageError`` if it names none.
  fileprivate func requiredClient() throws -> String {
    guard let client = try client() else { throw UsageError("'\(command.name)' needs --as CLIENT.") }
    return client
  }
}

/// The arguments of `pick`.
private struct PickArguments {
  let client: String
  let choices: [String]
  private let filter: PickerFilter?
  private let limit: Int
  private let isOrdered: Bool
  private let preselected: [String]
  private(set) var withheld: PickerMetadataOptions = []

  /// - Throws: ``UsageError`` for a filter that cannot be read, and for a missing client.
  init(_ invocation: Invocation) throws {
    client = try invocation.requiredClient()
    do {
      filter = try invocation.text("filter").map { try PickerFilter($0) }
    } catch let error as LibraryError {
      throw UsageError(error.description)
    }
    limit = try invocation.count("limit") ?? 1
    isOrdered = invocation.has(.ordered)
    preselected = invocation.texts("preselect")
    choices = invocation.texts("choose")
    if invocation.has(.withholdLocation) { withheld.insert(.removeLocation) }
    if invocation.has(.withholdCaptions) { withheld.insert(.removeCaptions) }
  }

  func configuration(for library: PhotoLibrary) -> PickerConfiguration {
    var configuration = PickerConfiguration(library: library)
    configuration.filter = filter
    configuration.selectionLimit = limit
    configuration.selection = isOrdered ? .ordered : .default
    configuration.preselectedAssetIdentifiers = preselected
    return configuration
  }
}

/// The arguments of `pick load`.
private struct LoadArguments {
  let client: String
  let token: String
  let file: URL?
  let isForced: Bool
  private(set) var options = PickedItemOptions()

  init(_ invocation: Invocation) throws {
    client = try invocation.requiredClient()
    token = invocation.operands[0]
    isForced = invocation.has(.force)
    file = try invocation.text("output").map { try invocation.file($0, "--output") }
    guard file != nil || !invocation.output.terminal.isInteractive || isForced else {
      throw UsageError("Standard output is a terminal; pass --output FILE, or --force.")
    }
    let (isCurrent, isCompatible) = (invocation.has(.current), invocation.has(.compatible))
    guard !isCurrent || !isCompatible else {
      throw UsageError("--current and --compatible exclude each other; pass one of them.")
    }
    options.contentType = invocation.text("type")
    options.representation = isCurrent ? .current : isCompatible ? .compatible : nil
    if invocation.has(.stripLocation) { options.metadataOptions.insert(.removeLocation) }
    if invocation.has(.stripCaptions) { options.metadataOptions.insert(.removeCaptions) }
  }
}

/// Prompts the user at the terminal with a numbered list.
struct PickingDialogue {
  let presenter: PickingPresenter
  let library: PhotoLibrary
  let interruption: Interruption

  /// The longest list that is shown; a person reads no longer one.
  static let listLimit = 200

  private static let lineLimit = 1 << 12

  /// Prompts until the user has finished or cancelled; the end of the input cancels.
  func run() throws {
    let candidates = try presenter.candidates()
    let shown = try candidates.objects(at: 0..<min(candidates.count, Self.listLimit))
    try show(shown, of: candidates.count)
    var reader = LineReader(descriptor: STDIN_FILENO, limit: Self.lineLimit)
    while true {
      prompt()
      guard case .bytes(let bytes)? = try reader.next(orUntil: interruption.descriptor) else {
        return presenter.cancel()
      }
      let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if line == "q" { return presenter.cancel() }
      do {
        if line == "p" {
          try waiting { [presenter] in
            try await presenter.withhold(presenter.presentation.withheld.symmetricDifference(.removeLocation))
          }
          continue
        }
        if line.isEmpty { return try waiting { [presenter] in try await presenter.finish() } }
        for word in line.split(whereSeparator: { $0 == " " || $0 == "," }) { try tap(word, shown) }
      } catch let error as LibraryError where [.limitExceeded, .identifierNotFound].contains(error.code) {
        // What a person can put right; the session is open still.
        Output.notice(error.description)
      }
    }
  }

  /// Picks an asset, or puts it back.
  private func tap(_ word: Substring, _ shown: [Asset]) throws {
    guard let number = Int(word), shown.indices.contains(number - 1) else {
      Output.notice("'\(word)' is not a number of the list; type 1 to \(shown.count), Enter to finish, q to cancel.")
      return
    }
    let identifier = shown[number - 1].localIdentifier
    let isSelected = presenter.presentation.selection.contains(identifier)
    try waiting { [presenter] in
      if isSelected {
        try await presenter.deselect(identifier)
      } else {
        try await presenter.select(identifier)
      }
    }
  }

  private func prompt() {
    let presentation = presenter.presentation
    let limit = presentation.selectionLimit == 0 ? "" : " of \(presentation.selectionLimit)"
    let names = presentation.withheld.names
    let withheld = names.isEmpty ? "" : " without \(names.joined(separator: ", "))"
    Output.complain("\(presentation.selection.count)\(limit) picked\(withheld)> ")
  }

  private func show(_ shown: [Asset], of count: Int) throws {
    let terminal = Terminal(descriptor: STDERR_FILENO)
    let table = AssetTable(terminal: terminal, margin: 4)
    Output.complain("Pick for '\(TextLayout.printable(presenter.session.client))':\n")
    for (index, asset) in shown.enumerated() {
      let number = String(repeating: " ", count: max(0, 3 - String(index + 1).count)) + String(index + 1)
      Output.complain("\(number) \(table.row(asset, try library.resources(of: asset)))\n")
    }
    if shown.count < count { Output.complain("    … and \(count - shown.count) more\n") }
  }
}
