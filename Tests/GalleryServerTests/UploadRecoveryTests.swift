#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  /// A flag that a closure of another thread reads.
  private final class Flag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }
    func set(_ value: Bool) { flag.store(value, ordering: .sequentiallyConsistent) }
  }

  @Suite(
    "Uploads whose files fail", .enabled(if: SamplePhotos.areInstalled("exiftool")), .timeLimit(.minutes(5)))
  struct UploadRecoveryTests {
    private static func offset(_ gallery: TestGallery, _ place: String) throws -> Int {
      try #require(Int(try gallery.ask("HEAD", place).fields["upload-offset"] ?? ""))
    }

    /// Sends the rest of an upload, with or without an announced length.
    private static func end(
      _ gallery: TestGallery, _ place: String, _ data: Data, from offset: Int, isAnnounced: Bool
    ) throws -> Answer {
      let fields = ["Upload-Complete: ?1", "Upload-Offset: \(offset)", UploadTests.part]
      let rest = data.dropFirst(offset)
      if isAnnounced { return try gallery.send("PATCH", place, rest, fields).answer }
      let client = try RawClient(port: gallery.address.port)
      let head = try gallery.head("PATCH", place, fields + ["Transfer-Encoding: chunked", "Connection: close"])
      client.send(head + String(rest.count, radix: 16) + "\r\n")
      client.send(Array(rest))
      client.send("\r\n0\r\n\r\n")
      return TestGallery.checked("PATCH", place, try #require(TestGallery.parsed(client.readToEnd())))
    }

    enum Failure: CaseIterable { case sync, record }

    @Test(
      "what could not be made durable is not promised, and is sent again: the file is the one that was sent",
      arguments: Failure.allCases, [true, false])
    func failed(_ failure: Failure, _ isAnnounced: Bool) async throws {
      try await TestGallery.serving { gallery in
        let fails = Flag()
        gallery.server.uploads.set(quota: UploadQuota()) { descriptor, bytes, offset in
          // The records are the files that begin with a brace.
          if failure == .record, fails.isSet, offset == 0, bytes.first == 0x7B {
            errno = ENOSPC
            return -1
          }
          return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
        } synchronizing: { descriptor in
          if failure == .sync, fails.isSet {
            errno = ENOSPC
            return -1
          }
          return fdatasync(descriptor)
        }
        let data = photo("sync", 500_000)
        let fields = ["Upload-Complete: ?0"] + (isAnnounced ? ["Upload-Length: 500000"] : [])
        // The first part as the first request, and another one behind a part that is durable.
        for durable in [0, 100_000] {
          let begun = try gallery.send("POST", "/v1/uploads?name=a.jpg", data.prefix(durable), fields)
          #expect(begun.answer.status == 201, "\(begun)")
          let place = try #require(begun.interim?.fields["location"])
          fails.set(true)
          let part = ["Upload-Complete: ?0", "Upload-Offset: \(durable)", UploadTests.part]
          let lost = try gallery.send("PATCH", place, data[durable..<durable + 90_000], part).answer
          #expect(lost.status == 507, "\(lost)")
          fails.set(false)
          #expect(try Self.offset(gallery, place) == durable)
          let end = try Self.end(gallery, place, data, from: durable, isAnnounced: isAnnounced)
          #expect(durable == 0 ? end.status == 201 : end.status == 200, "\(end)")
          #expect(try gallery.bytes(of: try #require(end.fields["photoledger-asset"])) == data)
        }
        #expect(try gallery.assetCount == 1)
      }
    }

    @Test("a write that fails after the disk was asked to write gives way, and the upload goes on from before it")
    func writtenOut() async throws {
      let temporary = try TemporaryLibrary()
      let uploads = Uploads(temporary.library, .system)
      defer { uploads.close() }
      let fails = Flag()
      uploads.set(quota: UploadQuota()) { descriptor, bytes, offset in
        if fails.isSet, bytes.count == 100_000 {
          errno = ENOSPC
          return -1
        }
        return pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
      }
      var head = UploadHead()
      head.isLast = false
      let upload = try uploads.create(head, contentLength: nil, for: PhotoLibrary.owner)
      let piece = [UInt8](repeating: 7, count: 100_000)
      var turn = try upload.begin(at: 0, head, contentLength: nil)
      for _ in 0..<11 { try uploads.write(piece, of: upload, turn: turn) }
      fails.set(true)
      #expect(throws: LibraryError.self) { try uploads.write(piece, of: upload, turn: turn) }
      fails.set(false)
      let offset = try upload.interrupt().offset
      #expect(offset > 0 && offset < 1 << 20)
      turn = try upload.begin(at: offset, head, contentLength: nil)
      try uploads.write(piece, of: upload, turn: turn)
      #expect(try upload.seal(turn: turn, isLast: false).offset == offset + 100_000)
    }
  }
#endif
