#if Gallery
  import Dispatch
  import GalleryServer
  import LibraryJSON
  import PhotoLedger
  import Synchronization

  // The server's lines on standard error: one for each request, and sentences for the operator.
  //
  //   thread of a connection ─▶ waiting lines ─┬─ the first of them: a writing is due in some milliseconds
  //                                            └─ as many as there are by then go out in one call
  //
  // A line that each request wrote itself would cost it a call of the kernel, and a reader that is slow or asleep, such
  // as a stopped terminal or a full pipe, would stop the threads that serve all connections. The sentences of the
  // running server go the same way: libmicrohttpd logs on the threads of connections, and the kernel takes a large
  // write to a full pipe in parts, between which another thread's line would land.
  //
  // Invariant: lines come out whole and in the order in which they were added, those of requests as these ended. At
  // most `limit` bytes wait, beside as many that are being written; what comes then is left out, and how many lines
  // that were is said as soon as there is room.

  /// Writes a line for each request, and sentences for the operator, to standard error.
  final class ServerLog: Sendable {
    private struct State: ~Copyable {
      var lines = JSONBytes()
      var leftOut = 0
      /// Whether a writing is due.
      var isDue = false
    }

    /// How many bytes may wait for a reader: some hundred thousand lines.
    static let limit = 16 << 20
    private let printsJSON: Bool
    private let limit: Int
    private let write: @Sendable (UnsafeRawBufferPointer) -> Void
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "photoledger.server-log")

    /// - Parameters:
    ///   - printsJSON: whether a line is a JSON object.
    ///   - limit: how many bytes may wait.
    ///   - write: writes bytes, and may wait for that.
    init(
      printsJSON: Bool, limit: Int = ServerLog.limit,
      write: @escaping @Sendable (UnsafeRawBufferPointer) -> Void = { Output.complain($0) }
    ) {
      (self.printsJSON, self.limit, self.write) = (printsJSON, limit, write)
    }

    /// Adds the line of a request; waits for no reader.
    func add(_ line: GalleryLogLine) {
      if printsJSON {
        add { $0.add(line) }
      } else {
        let text = line.text
        add { $0.raw(text) }
      }
    }

    /// Adds a sentence for the operator; waits for no reader.
    func say(_ sentence: String) {
      let text = Output.noticeText(sentence)
      add { $0.raw(text) }
    }

    /// Adds a line where it waits; it is removed if there is no room for it.
    private func add(_ write: (inout JSONBytes) -> Void) {
      let isFirst = state.withLock { state in
        let before = state.lines.count
        write(&state.lines)
        if state.lines.count > limit {
          state.lines.removeAll(from: before)
          state.leftOut += 1
        }
        defer { state.isDue = true }
        return !state.isDue
      }
      if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(50)) { [self] in writeLines() } }
    }

    private func writeLines() {
      var waiting = State()
      state.withLock { swap(&waiting, &$0) }
      if waiting.lines.count > 0 { waiting.lines.withUnsafeBytes { write($0) } }
      if waiting.leftOut > 0 {
        var sentence = Output.noticeText(
          "\(TextLayout.counted(waiting.leftOut, "line")) missing here: standard error was not read for too long.")
        sentence.withUTF8 { write(UnsafeRawBufferPointer($0)) }
      }
    }

    /// Writes what waits, for which a reader has two seconds.
    func finish() {
      let isWritten = DispatchSemaphore(value: 0)
      queue.async { [self] in
        writeLines()
        isWritten.signal()
      }
      _ = isWritten.wait(timeout: .now() + .seconds(2))
    }
  }

  extension GalleryLogLine {
    /// In milliseconds, to the microsecond.
    fileprivate var milliseconds: Double { (seconds * 1_000_000).rounded() / 1000 }

    /// For a person.
    fileprivate var text: String {
      let status = status.map(String.init) ?? "---"
      return TextLayout.printable(
        "\(DateText.wallTime(date))Z \(peer) \(client ?? "-") \(method) \(path) \(status) "
          + "\(milliseconds) ms\(note.map { ": \($0)" } ?? "")") + "\n"
    }
  }

  extension JSONBytes {
    /// For a program.
    fileprivate mutating func add(_ line: GalleryLogLine) {
      beginObject()
      key("date")
      date(line.date)
      key("peer")
      text(line.peer)
      key("client")
      text(line.client)
      key("method")
      text(line.method)
      key("path")
      text(line.path)
      key("status")
      if let status = line.status { integer(Int64(status)) } else { null() }
      key("milliseconds")
      number(line.milliseconds)
      if let note = line.note {
        key("note")
        text(note)
      }
      endObject()
      endLine()
    }
  }
#endif
