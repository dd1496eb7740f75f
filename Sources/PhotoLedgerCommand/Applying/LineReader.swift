import Foundation
import PhotoLedger

/// The input could not be read: it is a directory, say.
struct InputFailure: Error, CustomStringConvertible {
  let description: String
}

/// Reads lines from a descriptor, and knows whether reading the next one would block.
///
/// A line longer than the limit is given as `.tooLong` when its end has come; its bytes are not kept.
struct LineReader: ~Copyable {
  enum Line { case bytes([UInt8]), tooLong }

  private let descriptor: Int32
  private let name: String
  private let limit: Int
  private var buffer: [UInt8] = []
  /// Where the unread part of the buffer begins, and how far it is known to hold no line end.
  private var start = 0
  private var searched = 0
  private var isSkipping = false
  private var isAtEnd = false

  /// - Parameter name: what is read, for sentences.
  init(descriptor: Int32, named name: String = "Standard input", limit: Int) {
    self.descriptor = descriptor
    self.name = name
    self.limit = limit
  }

  /// The next line without its end; nil when the input has ended.
  /// - Parameter wakeup: a descriptor that becomes readable when reading is to stop; waiting ends then too, with nil.
  mutating func next(orUntil wakeup: Int32) throws -> Line? {
    while true {
      if let line = bufferedLine() { return line }
      if isAtEnd { return lastLine() }
      guard wait(wakeup, milliseconds: -1) else { return nil }
      try fill()
    }
  }

  /// Whether a line can be had without waiting; reads what is there.
  mutating func isReady() throws -> Bool {
    while true {
      if hasBufferedLine() || isAtEnd { return true }
      guard wait(-1, milliseconds: 0) else { return false }
      try fill()
    }
  }

  /// Waits for input; false if the time is over or the wakeup came first.
  private func wait(_ wakeup: Int32, milliseconds: Int32) -> Bool {
    var polls = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let count = poll(&polls, 2, milliseconds)
      if count < 0 && errno == EINTR { continue }
      return polls[1].revents == 0 && polls[0].revents != 0
    }
  }

  private mutating func fill() throws {
    if start > 0 {
      buffer.removeFirst(start)
      searched -= start
      start = 0
    }
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(descriptor, &piece, piece.count)
    if count > 0 {
      buffer.append(contentsOf: piece[..<count])
    } else if count == 0 {
      isAtEnd = true
    } else if errno != EINTR && errno != EAGAIN {
      throw InputFailure(description: "\(name) cannot be read: \(String(cString: strerror(errno))).")
    }
  }

  private mutating func hasBufferedLine() -> Bool {
    if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      searched = end
      return true
    }
    searched = buffer.count
    if buffer.count - start > limit {
      isSkipping = true
      start = buffer.count
    }
    return false
  }

  private mutating func bufferedLine() -> Line? {
    guard hasBufferedLine() else { return nil }
    let line = buffer[start..<searched]
    searched += 1
    start = searched
    defer { isSkipping = false }
    return isSkipping || line.count > limit ? .tooLong : .bytes(Array(line))
  }

  private mutating func lastLine() -> Line? {
    let line = buffer[start...]
    start = buffer.count
    searched = start
    if isSkipping {
      isSkipping = false
      return .tooLong
    }
    return line.isEmpty ? nil : line.count > limit ? .tooLong : .bytes(Array(line))
  }
}
