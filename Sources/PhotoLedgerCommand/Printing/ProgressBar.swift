import Foundation
import Synchronization

/// One line of progress on a terminal; silent if standard error is not a terminal.
struct ProgressBar {
  private let terminal = Terminal(descriptor: STDERR_FILENO)
  private var shownAt: ContinuousClock.Instant?

  /// Shows the state, at most twenty times a second.
  mutating func show(_ what: String, done: Int, total: Int?, note: String = "") {
    guard terminal.isInteractive else { return }
    let now = ContinuousClock.now
    if let shownAt, now - shownAt < .milliseconds(50), done != total { return }
    shownAt = now
    Output.complain("\r\u{1B}[K" + line(what, done, total, note))
  }

  /// Removes the line.
  mutating func clear() {
    if shownAt != nil { Output.complain("\r\u{1B}[K") }
    shownAt = nil
  }

  private func line(_ what: String, _ done: Int, _ total: Int?, _ note: String) -> String {
    guard let total, total > 0 else { return "\(what)  \(TextLayout.grouped(done))" }
    let cells = 24
    let filled = min(cells, done * cells / total)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: cells - filled)
    let text = "\(what)  \(bar)  \(TextLayout.grouped(done)) of \(TextLayout.grouped(total))"
    return TextLayout.fitted(note.isEmpty ? text : "\(text)  \(note)", max(20, (terminal.width ?? 80) - 4))
  }
}

/// A bar that is updated from several threads.
final class SharedProgressBar: Sendable {
  private let bar = Mutex(ProgressBar())

  /// As ``ProgressBar/show(_:done:total:note:)``.
  func show(_ what: String, done: Int, total: Int?, note: String = "") {
    bar.withLock { $0.show(what, done: done, total: total, note: note) }
  }

  /// Removes the line.
  func clear() { bar.withLock { $0.clear() } }
}
