import Foundation
import PhotoLedger

// The dialogue that a phone shows when an app first wants the photos, for the command line (FR-18, W20).
//
// The user at the terminal acts as the library's owner, since a user who can run this program on the directory can do
// everything anyway. The terminal is that of standard input, opened again by its name, so that the prompt is visible
// even if standard output and standard error are pipes. If standard input is not a terminal, there is no prompt: a
// script must never hang on a question, nor answer one by the input of `apply`.

/// Prompts the user at the terminal of standard input for permissions.
struct TerminalPrompt: PermissionPrompt {
  private let terminal: FileHandle

  /// Opens the terminal of standard input; nil if it is not one.
  init?() {
    guard isatty(STDIN_FILENO) == 1 else { return nil }
    var name = [CChar](repeating: 0, count: 4096)
    guard ttyname_r(STDIN_FILENO, &name, name.count - 1) == 0 else { return nil }
    let descriptor = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    terminal = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// The message that a client was not prompted for, and what the owner can do.
  static func absence(for client: String) -> String {
    """
    The permission of the client '\(client)' is undecided, and standard input is not a terminal for a prompt. The \
    owner can decide with `client authorize`, `client limit` or `client deny`.
    """
  }

  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? {
    let wish = level == .readWrite ? "read and change the library" : "add to the library"
    show("The client '\(client.name)' requests permission to \(wish).")
    if let words = client.usageDescription(for: level) { show("Usage description: \(words)") }
    let question =
      level == .readWrite
      ? "Allow all of it (a), some of it (s), or deny it (d)? Enter to decide later: "
      : "Allow it (a), or deny it (d)? Enter to decide later: "
    while let answer = ask(question) {
      switch answer.lowercased() {
      case "": return nil
      case "a", "all", "allow": return .allow
      case "d", "deny": return .deny
      case "s" where level == .readWrite, "some" where level == .readWrite:
        if let assets = askForAssets("Which?", in: library) { return .limit(to: assets) }
      default: show("'\(answer)' is not a valid answer.")
      }
    }
    return nil
  }

  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] {
    show(
      "The client '\(client.name)' has access to \(TextLayout.counted(client.selectionCount, "asset")) of the library.")
    return askForAssets("Which more?", in: library) ?? []
  }

  /// Asks to confirm an irreversible operation; only the full word is a yes.
  func confirms(_ sentences: [String], _ question: String) -> Bool {
    for sentence in sentences { show(sentence) }
    return ask("\(question) Type 'yes' to continue: ") == "yes"
  }

  /// Asks until the answer names assets of the library; nil if it is empty.
  private func askForAssets(_ question: String, in library: PhotoLibrary) -> [LocalIdentifier]? {
    while let answer = ask("\(question) Identifiers of assets, or the number of assets added last; Enter for none: ") {
      if answer.isEmpty { return nil }
      do {
        if let count = Int(answer) { return try newest(count, in: library) }
        return try answer.split(separator: " ").map { try library.asset(named: String($0)).id }
      } catch {
        show(sentence(of: error))
      }
    }
    return nil
  }

  private func newest(_ count: Int, in library: PhotoLibrary) throws -> [LocalIdentifier] {
    guard count > 0 else { throw UsageError("The number of assets must be 1 or more.") }
    // The order of addition, which also distinguishes the assets of one commit.
    let assets = try library.fetchAssets()
    return try assets.objects(at: max(0, assets.count - count)..<assets.count).map(\.id)
  }

  // MARK: The terminal

  private func show(_ sentence: String) { write(TextLayout.printable(sentence) + "\n") }

  /// Asks for a line; nil when the terminal has gone, or its input was ended.
  private func ask(_ question: String) -> String? {
    write(question)
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = read(terminal.fileDescriptor, &byte, 1)
      if count < 0 && errno == EINTR { continue }
      guard count == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { break }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces)
  }

  /// Writes to the terminal. A failure there cannot be reported; the next read finds the terminal closed.
  private func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(terminal.fileDescriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno != EINTR { return }
      bytes = bytes.dropFirst(max(0, count))
    }
  }
}

extension PhotoLibrary {
  /// Whether this view's client is undecided, at every level.
  var isUndecided: Bool {
    get throws { try AccessLevel.allCases.allSatisfy { try authorizationStatus(for: $0) == .notDetermined } }
  }

  /// The asset with an identifier.
  /// - Throws: ``LibraryError`` `.identifierNotFound` if there is none.
  func asset(named identifier: String) throws -> Asset {
    guard let asset = try asset(identifier) else {
      throw LibraryError(.identifierNotFound, "The library has no asset '\(identifier)'; `ls` lists them.")
    }
    return asset
  }
}
