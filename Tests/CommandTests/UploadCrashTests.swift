#if Gallery
  import Foundation
  import PhotoLedger
  import TestSupport
  import Testing

  @testable import PhotoLedgerCommand

  // An upload whose server is killed, at any byte and in each of its stages:
  //
  //   named ─▶ bytes come ─▶ all are there ─▶ exiftool ─▶ stored ─▶ committed ─▶ answer recorded
  //
  // The client then does what its protocol says: it asks for the offset, sends the rest, and reads the answer.

  @Suite(
    "Uploads to a server that is killed", .blocking, .enabled(if: SamplePhotos.areInstalled("exiftool")),
    .timeLimit(.minutes(10)))
  struct UploadCrashTests {
    /// When the server is killed.
    enum KillPoint: Sendable, Equatable, CustomTestStringConvertible {
      /// After so many thousandths of the bytes.
      case bytes(Int)
      /// In the middle of a large body, when the record says that a part of it is durable.
      case durable
      /// So many milliseconds after the last byte.
      case milliseconds(Int)
      /// When the content lies among the library's resources.
      case stored
      /// When the commit is there.
      case committed
      /// When the answer is recorded.
      case recorded

      var testDescription: String { "\(self)" }
    }

    private static let points: [KillPoint] = {
      var random = SeededGenerator(seed: 1)
      let places: [KillPoint] = (0..<Dose.of(3)).map { _ in .bytes(Int.random(in: 1...999, using: &random)) }
      let delays: [KillPoint] = (0..<Dose.of(4)).map { _ in .milliseconds(Int.random(in: 0...400, using: &random)) }
      return [.bytes(0), .bytes(1000), .durable, .stored, .committed, .recorded] + places + delays
    }()

    /// How much comes of a body before it is made durable, as `UploadQuota.markEvery` says.
    private static let durableCount = 32 << 20

    private static func photo(_ number: Int) -> Data {
      let jpeg = TinyMedia.jpeg(.init(comment: "\(number)"))
      return jpeg + Data((0..<700_000).map { UInt8(truncatingIfNeeded: ($0 &+ number) &* 2_654_435_761 >> 11) })
    }

    /// Waits for a stage and looks every 100 microseconds, since it is over within a millisecond.
    private static func wait(_ what: String, for isReached: () throws -> Bool) throws {
      let end = ContinuousClock.now + .seconds(120)
      while try !isReached() {
        guard ContinuousClock.now < end else { throw TimeIsUp(description: "Waited in vain for this: \(what).") }
        usleep(100)
      }
    }

    private static func wait(for point: KillPoint, _ data: Data, _ id: String, _ sandbox: Sandbox) throws {
      let sha256 = Array(data).sha256
      let digits = sha256.hexadecimal
      switch point {
      case .bytes: return
      case .durable:
        let record = URL(filePath: "\(sandbox.library)/server/uploads/\(id).json")
        try wait("a part is durable") {
          let json = (try? Data(contentsOf: record)).flatMap { try? JSONSerialization.jsonObject(with: $0) }
          return (json as? [String: Any])?["offset"] as? Int ?? 0 >= durableCount
        }
      case .milliseconds(let count): usleep(UInt32(count) * 1000)
      case .stored:
        let path = "\(sandbox.library)/resources/\(digits.prefix(2))/\(digits.dropFirst(2))"
        try wait("the content is stored") { access(path, F_OK) == 0 }
      case .committed:
        let library = try PhotoLibrary(at: URL(filePath: sandbox.library))
        defer { library.close() }
        try wait("the commit") { try !library.assets(withContent: sha256).isEmpty }
      case .recorded:
        let path = "\(sandbox.library)/server/uploads/\(id).done"
        try wait("the answer is recorded") { access(path, F_OK) == 0 }
      }
    }

    /// Asks a server that was started anew, sends what is missing, and gives the asset.
    /// - Parameter offsets: how much the server may have.
    private static func resume(
      _ served: ServedLibrary, _ place: String, _ data: Data, offsets: ClosedRange<Int>
    ) throws -> String {
      let state = try served.ask("GET", place)
      if let asset = state.json["asset"] as? String { return asset }
      let offset = try #require(state.json["offset"] as? Int, "\(state)")
      #expect(offsets.contains(offset) && state.json["isComplete"] as? Bool == false)
      let client = try served.begin(
        "PATCH", place, nil,
        [
          "Content-Type: application/partial-upload", "Upload-Complete: ?1", "Upload-Offset: \(offset)",
          "Content-Length: \(data.count - offset)", "Connection: close",
        ])
      client.send(Array(data.dropFirst(offset)))
      let answer = client.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 201"), "\(answer)")
      return try #require(try served.ask("GET", place).json["asset"] as? String)
    }

    @Test("each upload continues from what was durable, and the library has it once and complete")
    func killed() throws {
      let sandbox = try Sandbox()
      var served = try ServedLibrary(sandbox)
      let key = served.key
      for (number, point) in Self.points.enumerated() {
        let isLarge = point == .durable
        let data = Self.photo(number) + (isLarge ? periodicBytes(Self.durableCount + (1 << 20)) : Data())
        let client = try served.begin(
          "POST", "/v1/uploads?name=\(number).jpg", nil, ["Upload-Complete: ?1", "Content-Length: \(data.count)"])
        let interim = client.read(through: "\r\n\r\n")
        let place = try #require(
          interim.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("location: ") }
            .map { String($0.dropFirst(10)) }, "\(interim)")
        var sentCount = data.count
        if case .bytes(let share) = point { sentCount = data.count * share / 1000 }
        if isLarge { sentCount = Self.durableCount + (1 << 20) }
        let offsets = (isLarge ? Self.durableCount : 0)...sentCount
        client.send(Array(data.prefix(sentCount)))
        try Self.wait(for: point, data, String(place.dropFirst("/v1/uploads/".count)), sandbox)
        kill(served.running.child.identifier, SIGKILL)
        #expect(try served.running.finish().status == -1)

        served = try ServedLibrary(sandbox)
        served.key = key
        let asset = try Self.resume(served, place, data, offsets: offsets)
        // What was lost may have been the answer only: it is the same one again.
        #expect(try Self.resume(served, place, data, offsets: offsets) == asset)
        let library = try PhotoLibrary(at: URL(filePath: sandbox.library))
        defer { library.close() }
        let found = try library.assets(withContent: Array(data).sha256)
        #expect(found.map(\.localIdentifier) == [asset], "\(point)")
        #expect(try library.fetchAssets().count == number + 1, "\(point)")
        let resource = try #require(try library.resources(of: found[0]).first)
        #expect(try Data(contentsOf: library.url(of: resource, in: found[0])) == data, "\(point)")
        #expect(resource.originalFilename == "\(number).jpg")
        #expect(try served.ask("DELETE", place).status == 204)
        let left = try FileManager.default.contentsOfDirectory(atPath: "\(sandbox.library)/server/uploads")
        #expect(left == ["lock"], "\(point)")
      }
      #expect(try served.running.finish(interrupting: true).status == 0)
      #expect(try sandbox.run(["verify", "--content"]).status == 0)
    }

    @Test("an upload whose client never received its name, and a plain one, leave nothing in the library")
    func unnamed() throws {
      let sandbox = try Sandbox()
      var served = try ServedLibrary(sandbox)
      let key = served.key
      let data = Self.photo(1)
      for (number, field) in ["Upload-Complete: ?1", "Upload-Incomplete: ?0", "X-Plain: 1"].enumerated() {
        let folder = "\(sandbox.library)/server/uploads"
        func files() -> Set<String> {
          Set(((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.contains(".bytes") })
        }
        let before = files()
        let client = try served.begin("POST", "/v1/uploads", nil, [field, "Content-Length: \(data.count)"])
        client.send(Array(data.prefix(300_000)))
        try Self.wait("bytes are written") { !files().subtracting(before).isEmpty }
        kill(served.running.child.identifier, SIGKILL)
        #expect(try served.running.finish().status == -1)
        served = try ServedLibrary(sandbox)
        served.key = key
        // The first question opens the folder of uploads.
        #expect(try served.ask("GET", "/v1/uploads/AAAAAAAAAAAAAAAAAAAAAAAA").status == 404)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "lock" }
        // What can be resumed waits for its expiry: bytes and a record; other bytes are gone.
        let (records, bytes) = (left.filter { $0.hasSuffix(".json") }, left.filter { $0.hasSuffix(".bytes") })
        #expect(records.count == bytes.count && records.count + bytes.count == left.count, "\(left)")
        #expect(records.count <= min(number + 1, 2), "\(left)")
      }
      #expect(try sandbox.identifiers().isEmpty)
      #expect(try served.running.finish(interrupting: true).status == 0)
      #expect(try sandbox.run(["verify"]).status == 0)
    }
  }
#endif
