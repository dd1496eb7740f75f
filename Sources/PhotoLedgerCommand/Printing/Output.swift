import CSystem
import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger
import Synchronization

/// The output has no reader any more.
struct OutputClosed: Error {}

/// The output could not be written: the disk under it is full, say.
struct OutputFailure: Error, CustomStringConvertible {
  let description: String
}

/// Standard output: collects output and writes it in large pieces, or on request.
final class Output: Sendable {
  let terminal: Terminal
  private let descriptor: Int32
  private let buffer = Mutex(JSONBytes(capacity: 2 * pieceByteCount))

  /// How many bytes were written in large pieces.
  private let largeByteCount = Atomic(0)

  private static let pieceByteCount = 1 << 16
  /// How much is written before a pipe gets as much room.
  private static let widePipeByteCount = 1 << 20

  init(descriptor: Int32) {
    self.descriptor = descriptor
    terminal = Terminal(descriptor: descriptor)
  }

  /// Prints text.
  /// - Throws: ``OutputClosed`` when the reader is gone, ``OutputFailure`` when writing fails.
  func write(_ text: String) throws { try write { $0.raw(text) } }

  /// Prints text and a line end.
  func line(_ text: String = "") throws {
    try write {
      $0.raw(text)
      $0.endLine()
    }
  }

  /// Prints a line for people, which a terminal shows without breaking words.
  func folded(_ text: String) throws { try line(TextLayout.folded(text, at: terminal.width)) }

  /// Prints a JSON value as a line.
  func line(_ value: JSON) throws { try line { value.write(to: &$0) } }

  /// Prints a line that a body writes; nothing of one that fails.
  /// - Throws: as ``write(_:)``, and what the body throws.
  func line(_ body: (inout JSONBytes) throws -> Void) throws {
    try write { bytes in
      let start = bytes.count
      do {
        try body(&bytes)
      } catch {
        bytes.removeAll(from: start)
        throw error
      }
      bytes.endLine()
    }
  }

  private func write(_ body: (inout JSONBytes) throws -> Void) throws {
    try buffer.withLock { buffer in
      try body(&buffer)
      if buffer.count >= Self.pieceByteCount { try flush(&buffer) }
    }
  }

  /// Writes lines that were put together elsewhere, after what has been collected.
  /// - Throws: as ``write(_:)``.
  func write(_ lines: borrowing JSONBytes) throws {
    try lines.withUnsafeBytes { bytes in
      try buffer.withLock { buffer in
        guard bytes.count < Self.pieceByteCount else {
          widenPipe(before: bytes.count)
          try flush(&buffer)
          return try write(out: bytes)
        }
        buffer.raw(bytes)
        if buffer.count >= Self.pieceByteCount { try flush(&buffer) }
      }
    }
  }

  /// Makes room for more in a pipe once much is written to it, so that this process goes on while the reader takes its
  /// bytes in small parts.
  private func widenPipe(before count: Int) {
    let (old, new) = largeByteCount.add(count, ordering: .relaxed)
    guard old < Self.widePipeByteCount, new >= Self.widePipeByteCount else { return }
    // If the output is not a pipe, or the system does not allow the capacity, writing still works.
    _ = psys_set_pipe_size(descriptor, Int32(Self.widePipeByteCount))
  }

  /// Writes bytes as they are, after what has been collected.
  /// - Throws: as ``write(_:)``.
  func write(bytes: Data) throws {
    try buffer.withLock { buffer in
      try flush(&buffer)
      try bytes.withUnsafeBytes { try write(out: $0) }
    }
  }

  /// Writes what has been collected.
  func flush() throws { try buffer.withLock { try flush(&$0) } }

  private func flush(_ buffer: inout JSONBytes) throws {
    defer { buffer.removeAll() }
    try buffer.withUnsafeBytes { try write(out: $0) }
  }

  private func write(out bytes: UnsafeRawBufferPointer) throws {
    var start = 0
    while start < bytes.count {
      let count = Foundation.write(descriptor, bytes.baseAddress.map { $0 + start }, bytes.count - start)
      if count >= 0 {
        start += count
      } else if errno == EPIPE {
        throw OutputClosed()
      } else if errno == EAGAIN {
        Self.waitForRoom(in: descriptor)
      } else if errno != EINTR {
        throw OutputFailure(description: "Standard output cannot be written: \(String(cString: strerror(errno))).")
      }
    }
  }

  /// Waits until a descriptor that does not block takes bytes again, or has no reader. The process that started this
  /// one may have set it so, and another one that shares the open file may do so at any time.
  private static func waitForRoom(in descriptor: Int32) {
    var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&polled, 1, -1)
  }

  /// Prints a message on standard error.
  static func notice(_ sentence: String) { complain(noticeText(sentence)) }

  /// The lines of a message on standard error; a terminal shows them without breaking words. The names in it may come
  /// from anywhere.
  static func noticeText(_ sentence: String) -> String {
    let width = Terminal(descriptor: STDERR_FILENO).width
    let text = "photoledger: \(TextLayout.printable(sentence))"
    return (width.map { text.wrapped(at: $0) } ?? text) + "\n"
  }

  /// Does what is not worth a failure; if it fails, a sentence says what that means and why.
  static func warn(of body: () throws -> Void, after sentence: String) {
    do { try body() } catch { notice("\(sentence): \(error)") }
  }

  /// Writes to standard error at once. A failure there cannot be reported.
  static func complain(_ text: String) {
    var text = text
    text.withUTF8 { complain(UnsafeRawBufferPointer($0)) }
  }

  /// The same of a text that is written already.
  static func complain(_ bytes: UnsafeRawBufferPointer) {
    var bytes = bytes
    while !bytes.isEmpty {
      let count = Foundation.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
      if count < 0 && errno == EAGAIN {
        waitForRoom(in: STDERR_FILENO)
      } else if count < 0 && errno != EINTR {
        return
      }
      bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(max(0, count)))
    }
  }
}

/// What is known of the screen that output goes to.
struct Terminal: Sendable {
  /// Whether a person looks at it.
  let isInteractive: Bool
  /// Columns; nil if it is not a terminal, so that nothing is truncated.
  let width: Int?
  let usesColor: Bool

  init(descriptor: Int32) {
    isInteractive = isatty(descriptor) == 1
    let environment = ProcessInfo.processInfo.environment
    let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    usesColor = isInteractive && !isPlain && environment["TERM"] != "dumb"
    var size = winsize()
    if isInteractive, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      width = Int(size.ws_col)
    } else {
      width = isInteractive ? 80 : nil
    }
  }

  /// Text in a style, where the terminal has styles.
  func styled(_ text: String, _ style: Style) -> String {
    usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}

/// The styles that are used, by what they mean.
enum Style: String, Sendable {
  case heading = "1"
  case faint = "2"
  case removed = "31;1"
  case inserted = "32;1"
  case changed = "33;1"
  case moved = "36;1"
}
