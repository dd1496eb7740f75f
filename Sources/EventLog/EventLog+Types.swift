public import LMDB

extension EventLog {
  /// After how many events pages are released.
  private static let eventsBetweenLettingGo: UInt64 = 4096

  /// The sequences of the events of one type after an event, in order.
  ///
  /// Of the other events, only what precedes the type in a record is read: damage after it is found by readers of the
  /// whole record.
  ///
  /// - Parameters:
  ///   - type: the type.
  ///   - sequence: the event after which to begin.
  ///   - t: the transaction.
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(log n + k), k the number of events after the first, whatever their payloads.
  public func sequences(
    ofType type: String, after sequence: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> [UInt64] {
    guard sequence < .max else { return [] }
    let name = Array(type.utf8)
    var found: [UInt64] = []
    var cursor: Cursor
    do { cursor = try t.cursor(in: events) } catch { throw EventLogError(error) }
    var isFirst = true
    while true {
      let entry: Entry?
      do { entry = try isFirst ? cursor.seek(atOrAfter: sequence + 1) : cursor.next() } catch {
        throw EventLogError(error)
      }
      guard let entry else { return found }
      isFirst = false
      let number = entry.integerKey
      if let isOfType = StoredEvent.isOfType(name.span.bytes, entry.value, number) {
        if isOfType { found.append(number) }
      } else {
        // It fails as the whole record does when it is read.
        let event = try Self.decode(entry.value, number)
        if event.type == type { found.append(number) }
      }
      if number % Self.eventsBetweenLettingGo == 0 { t.letGoOfPages() }
    }
  }
}

extension StoredEvent {
  /// Whether the record of an event has a type, in UTF-8; nil if it cannot be read so far, or names a place that the
  /// event cannot have.
  /// - Complexity: O(1), whatever the payload.
  fileprivate static func isOfType(_ type: RawSpan, _ record: RawSpan, _ sequence: UInt64) -> Bool? {
    do throws(CBORError) {
      var reader = CBORReader(record)
      try reader.array(count: EventRecord.itemCount)
      try reader.array(count: EventRecord.headerItemCount)
      let largest = EventLog.largestSequence
      guard try reader.unsigned() == sequence, (1...largest).contains(sequence) else { return nil }
      let commit = try reader.unsigned()
      let index = try reader.unsigned()
      guard (1...sequence).contains(commit), index < sequence else { return nil }
      _ = try reader.bool()
      _ = try reader.integer()
      return isEqual(try reader.uncheckedText(), type)
    } catch {
      return nil
    }
  }

  private static func isEqual(_ one: RawSpan, _ two: RawSpan) -> Bool {
    guard one.byteCount == two.byteCount else { return false }
    return one.withUnsafeBytes { one in
      two.withUnsafeBytes { two in one.elementsEqual(two) }
    }
  }
}
