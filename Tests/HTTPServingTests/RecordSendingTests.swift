#if Gallery
  import CMicroHTTPD
  import Testing

  @Suite("Sending over the server's own TLS")
  struct RecordSendingTests {
    /// What a session's records took, in the place of GnuTLS.
    private struct Session {
      /// How many bytes each record takes at most; a number below 0 is an error in its place.
      var limits: [Int]
      var sent: [UInt8] = []
      var callCount = 0

      mutating func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        defer { callCount += 1 }
        // More calls than the test expects would not end.
        guard callCount < limits.count else { return -1 }
        guard limits[callCount] > 0 else { return limits[callCount] }
        let taken = bytes.prefix(limits[callCount])
        sent += taken
        return taken.count
      }
    }

    private static let bytes = Array("HTTP/1.1 104 Upload Resumption Supported\r\n\r\n".utf8)

    private func send(_ session: inout Session) -> Int32 {
      withUnsafeMutablePointer(to: &session) { session in
        Self.bytes.withUnsafeBytes { bytes in
          chttp_send_records(
            { session, bytes, size in
              guard let session, let bytes else { return -1 }
              let record = UnsafeRawBufferPointer(start: bytes, count: size)
              return session.assumingMemoryBound(to: Session.self).pointee.send(record)
            }, session, bytes.baseAddress, bytes.count)
        }
      }
    }

    @Test(
      "bytes for which one record has no room are sent in several",
      arguments: [[1000], [7, 1000], [1, 1, 40, 1, 1]])
    func several(_ limits: [Int]) {
      var session = Session(limits: limits)
      #expect(send(&session) == 1)
      #expect(session.sent == Self.bytes && session.callCount == limits.count)
    }

    @Test(
      "a session that takes no more, or fails, ends the sending, also after a part: nothing is sent twice or beyond it",
      // GNUTLS_E_AGAIN, GNUTLS_E_INTERRUPTED, GNUTLS_E_PUSH_ERROR, and a record that takes nothing.
      arguments: [-28, -52, -53, 0], [0, 7])
    func failing(_ code: Int, after part: Int) {
      var session = Session(limits: (part > 0 ? [part] : []) + [code, 1000])
      #expect(send(&session) == -1)
      #expect(session.sent == Array(Self.bytes.prefix(part)) && session.callCount == (part > 0 ? 2 : 1))
    }
  }
#endif
