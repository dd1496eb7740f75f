#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("State in memory and in a file")
  struct KeptTests {
    @Test("a value is read while the next is written, and replaced when that has succeeded; a failure changes nothing")
    func readsWhileWriting() async throws {
      let (begun, mayGoOn) = (Gathered<Int>(), DispatchSemaphore(value: 0))
      let kept = Kept(1) { value in
        begun.append(value)
        mayGoOn.wait()
        if value == 3 { throw GalleryError("The file cannot be written.") }
      }
      for (next, isWritten) in [(2, true), (3, false), (4, true)] {
        let before = kept.current
        async let change = onThread { (try? kept.change { $0 = next }) != nil }
        try await waitUntil("it is being written") { begun.all.last == next }
        #expect(kept.current == before && kept.read { $0 } == before)
        mayGoOn.signal()
        // What failed may be in the file: the value of before is written again.
        if !isWritten { mayGoOn.signal() }
        #expect(try await change == isWritten)
        #expect(kept.current == (isWritten ? next : before))
      }
      // What is the same is not written.
      try kept.change { $0 = 4 }
      #expect(begun.all == [2, 3, 2, 4])
    }

    @Test("concurrent changes are applied one after the other, and written in that order")
    func together() {
      let written = Gathered<Int>()
      let kept = Kept(0) { written.append($0) }
      DispatchQueue.concurrentPerform(iterations: 200) { _ in _ = try? kept.change { $0 += 1 } }
      #expect(kept.current == 200 && written.all == Array(1...200))
    }

    @Test("requests are answered while a key, a person or a share link is written, and a failed write changes none")
    func answers() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let link = try gallery.ask("POST", "/v1/shares", json: ["title": "Summer"]).json()
        let opened = ["secret": try #require(link["secret"] as? String)]
        let visitor = try gallery.ask("POST", "/v1/shares:open", json: opened, key: nil).json()
        let keys = ["owner", try gallery.key(ofPerson: "anna"), try #require(visitor["secret"] as? String)]
        func lists() throws -> [String] {
          try ["keys", "people", "shares"].map { try gallery.ask("GET", "/v1/\($0)").body }
        }
        for (name, json) in [
          ("keys", ["client": "app"]), ("people", ["name": "bert", "client": "app"]), ("shares", ["title": "Winter"]),
        ] {
          let before = try lists()
          // The server opens the pipe in place of the file that it writes, and waits until the pipe is read.
          let pipe = gallery.temporary.url.appending(path: "server/\(name).json.new").path
          try #require(mkfifo(pipe, 0o600) == 0)
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("POST", "/v1/\(name)", json: json, ["Connection: close"]))
          let statuses = Result {
            try (0..<20).flatMap { _ in try keys.map { try gallery.ask("GET", "/v1/session", key: $0).status } }
          }
          let reader = open(pipe, O_RDONLY | O_NONBLOCK)
          defer { close(reader) }
          #expect(try Set(statuses.get()) == [200] && reader >= 0, "\(name)")
          // A pipe cannot be synced.
          let answer = TestGallery.checked(
            "POST", "/v1/\(name)", try #require(TestGallery.parsed(client.readBytesToEnd())))
          #expect(answer.status == 500 && answer.body.contains("problem:storage"), "\(name): \(answer)")
          #expect(try lists() == before, "\(name)")
          #expect(try gallery.ask("POST", "/v1/\(name)", json: json).status == 201, "\(name)")
        }
      }
    }

    @Test("a withdrawal or a password that cannot be stored is answered with 500, and succeeds when it is repeated")
    func unwritten() async throws {
      try await TestGallery.serving { gallery in
        try gallery.addPerson("anna", client: "family")
        let client = try gallery.register().client.replacing("#", with: "%23")
        let (own, other) = (try gallery.key(of: "family").secret, try gallery.key(of: "family").name)
        let requests: [(file: String, method: String, path: String, json: [String: Any]?, key: String)] = [
          ("keys", "DELETE", "/v1/session", nil, own), ("keys", "DELETE", "/v1/keys/\(other)", nil, "owner"),
          ("keys", "DELETE", "/v1/clients/\(client)", nil, "owner"),
          ("people", "PUT", "/v1/people/anna/password", ["password": "another one"], "owner"),
          ("people", "DELETE", "/v1/people/anna", nil, "owner"),
        ]
        for (file, method, path, json, key) in requests {
          let place = gallery.temporary.url.appending(path: "server/\(file).json")
          let kept = try Data(contentsOf: place)
          try FileManager.default.removeItem(at: place)
          // A folder in the place of the file cannot be replaced by one.
          try FileManager.default.createDirectory(at: place.appending(path: "a"), withIntermediateDirectories: true)
          let answer = try gallery.ask(method, path, json: json, key: key)
          #expect(answer.status == 500, "\(method) \(path): \(answer)")
          try FileManager.default.removeItem(at: place)
          try kept.write(to: place)
          let again = try gallery.ask(method, path, json: json, key: key)
          #expect(again.status == 204, "\(method) \(path): \(again)")
        }
      }
    }
  }
#endif
