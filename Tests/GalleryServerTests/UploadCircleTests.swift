#if Gallery
  import Foundation
  import FoundationNetworking
  @testable import GalleryServer
  import HTTPServing
  import LibraryUploads
  import PhotoLedger
  @testable import Photos
  import Synchronization
  import TestSupport
  import Testing

  // The whole circle: an app written against PhotoKit, its upload jobs, and this server on the other side.
  //
  //   library of a phone ─▶ PHAssetResourceUploadJob ─▶ URLSession ─▶ CuttingProxy ─▶ GalleryServer ─▶ its library

  /// Passes bytes on between clients and a server, and cuts connections after some bytes of the client's.
  private final class CuttingProxy: Sendable {
    private struct State {
      var cuts: [Int]
      var open: Set<Int32> = []
      var isOver = false
    }

    private let state: Mutex<State>
    private let socket: Int32
    private let target: UInt16
    let port: UInt16

    init(to target: UInt16, cuttingAfter cuts: [Int]) throws {
      self.target = target
      state = Mutex(State(cuts: cuts))
      socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(0)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let listening = socket
      let isListening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(listening, address, length) == 0 && listen(listening, 16) == 0
            && getsockname(listening, address, &length) == 0
        }
      }
      guard isListening else { throw CocoaError(.fileReadUnknown) }
      port = UInt16(bigEndian: address.sin_port)
      Thread.detachNewThread { [self] in accept() }
    }

    /// How many cuts are left.
    var cutsLeft: Int { state.withLock { $0.cuts.count } }

    func stop() {
      let open = state.withLock { state in
        state.isOver = true
        return state.open
      }
      for descriptor in open.union([socket]) { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return address
    }

    private func accept() {
      while true {
        let client = Foundation.accept(socket, nil, nil)
        guard client >= 0 else { break }
        let server = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(target)
        let isConnected = withUnsafePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
          }
        }
        let isOver = state.withLock { state in
          state.open.formUnion([client, server])
          return state.isOver
        }
        let pair = Pair(client, server, isLive: isConnected && !isOver)
        Thread.detachNewThread { [self] in pump(pair, up: true) }
        Thread.detachNewThread { [self] in pump(pair, up: false) }
      }
      close(socket)
    }

    /// Two connections, closed when both directions have ended.
    private final class Pair: Sendable {
      let client: Int32
      let server: Int32
      init(_ client: Int32, _ server: Int32, isLive: Bool) {
        (self.client, self.server) = (client, server)
        if !isLive { end() }
      }
      func end() { for descriptor in [client, server] { shutdown(descriptor, Int32(SHUT_RDWR)) } }
      deinit { for descriptor in [client, server] { close(descriptor) } }
    }

    private func pump(_ pair: Pair, up: Bool) {
      let (source, sink) = up ? (pair.client, pair.server) : (pair.server, pair.client)
      var buffer = [UInt8](repeating: 0, count: 4096)
      var passed = 0
      while true {
        let count = recv(source, &buffer, buffer.count, 0)
        guard count > 0, send(sink, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        passed += count
        let isCut = state.withLock { state in
          guard up, let limit = state.cuts.first, passed >= limit else { return false }
          state.cuts.removeFirst()
          return true
        }
        if isCut { break }
      }
      pair.end()
      state.withLock { $0.open.subtract([pair.client, pair.server]) }
    }
  }

  @Suite("PhotoKit's upload jobs against the server", .timeLimit(.minutes(5)))
  struct UploadCircleTests {
    /// A library of a phone that sends portions of 64 KiB and waits for nothing.
    private func phone() throws -> TemporaryLibrary {
      let phone = try TemporaryLibrary(.seeded(7))
      try phone.library.setMediaProbe(nil)
      var environment = UploadEnvironment(now: { Date() }, random: { 0 }) { _ in
        try await Task.sleep(for: .milliseconds(5))
      }
      environment.limits.portion = 64 << 10
      environment.limits.failures = 30
      // A request on a connection that was used before and dies without an answer ends by this limit only.
      phone.library.startUploads(over: URLSessionTransport(idleSeconds: 1), environment)
      return phone
    }

    private nonisolated(nonsending) func saved(_ data: Data) async throws -> PHAssetResource {
      let made = Gathered<String>()
      try await PHPhotoLibrary.shared().performChanges {
        let request = PHAssetCreationRequest.forAsset()
        let options = PHAssetResourceCreationOptions()
        options.originalFilename = "IMG_7.JPG"
        request.addResource(with: .photo, data: data, options: options)
        made.append(request.placeholderForCreatedAsset?.localIdentifier ?? "")
      }
      let asset = try #require(PHAsset.fetchAssets(withLocalIdentifiers: made.all, options: nil).firstObject)
      return try #require(PHAssetResource.assetResources(for: asset).first)
    }

    /// Sends a new photo of the shared library by a job to a server of this machine, and acknowledges the job.
    /// - Returns: the fields of the server's answer.
    private nonisolated(nonsending) func sent(
      _ data: Data, to port: UInt16, key: String
    ) async throws -> [String: String] {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      let resource = try await saved(data)
      var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/v1/uploads")))
      request.httpMethod = "POST"
      request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
      request.setValue(
        "attachment; filename=\"\(resource.originalFilename)\"", forHTTPHeaderField: "Content-Disposition")
      let destination = request
      try await PHPhotoLibrary.shared().performChanges {
        _ = PHAssetResourceUploadJobChangeRequest.creationRequestForJob(destination: destination, resource: resource)
      }
      try await waitUntil("the job ends") {
        PHAssetResourceUploadJob.fetchJobs(action: .acknowledge, options: nil).count == 1
      }
      let job = try #require(PHAssetResourceUploadJob.fetchJobs(action: .acknowledge, options: nil).firstObject)
      #expect(job.state == .succeeded, "\(String(describing: job.error))")
      let fields = try #require(job.responseHeaderFields)
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetResourceUploadJobChangeRequest(for: job)?.acknowledge()
      }
      #expect(PHAssetResourceUploadJob.fetchJobs(action: .acknowledge, options: nil).count == 0)
      return fields
    }

    @Test(
      "a job that is cut again and again arrives complete, once, with its answer",
      .enabled(if: SamplePhotos.areInstalled("exiftool")), arguments: [[], [40_000, 700, 30_000, 66_000, 1]])
    func circle(_ cuts: [Int]) async throws {
      try await TestGallery.serving { gallery in
        try gallery.temporary.authorize("phone")
        let key = try gallery.key(of: "phone").secret
        let proxy = try CuttingProxy(to: gallery.address.port, cuttingAfter: cuts)
        defer { proxy.stop() }
        let phone = try phone()
        let data = photo("circle", 300_000)
        try await PHPhotoLibrary.withShared(phone.library) {
          let fields = try await sent(data, to: proxy.port, key: key)
          let asset = try #require(fields["photoledger-asset"], "\(fields)")
          #expect(try gallery.bytes(of: asset) == data)
          #expect(fields["photoledger-sha256"] == Array(data).sha256.hexadecimal)
          let found = try #require(try gallery.library.asset(asset))
          #expect(try gallery.library.resources(of: found).first?.originalFilename == "IMG_7.JPG")
        }
        // An upload whose name was lost with the connection waits for its expiry.
        #expect(proxy.cutsLeft == 0 && gallery.leftovers.count { $0.hasSuffix(".done") } == 1)
        #expect(try gallery.assetCount == 1)
      }
    }

    @Test(
      "a job arrives complete at `photoledger serve`, a process of its own",
      .enabled(if: SamplePhotos.areInstalled("exiftool")))
    func command() async throws {
      try await onBlockingThreads {
        let folder = try TemporaryFolder()
        let library = folder.place("served")
        try PhotoLibrary.create(at: library).close()
        let served = try ServingProgram(library)
        let phone = try phone()
        let data = photo("command", 300_000)
        let fields = try await PHPhotoLibrary.withShared(phone.library) {
          try await sent(data, to: served.port, key: served.key)
        }
        #expect(fields["photoledger-sha256"] == Array(data).sha256.hexadecimal, "\(fields)")
        #expect(served.end() == .status(0))
        let opened = try PhotoLibrary(at: library)
        defer { opened.close() }
        let asset = try #require(try opened.fetchAssets().first)
        #expect(try opened.fetchAssets().count == 1 && asset.localIdentifier == fields["photoledger-asset"])
        let resource = try #require(try opened.resources(of: asset).first)
        #expect(try Data(contentsOf: opened.url(of: resource, in: asset)) == data)
        #expect(resource.originalFilename == "IMG_7.JPG")
      }
    }
  }

  /// The built command, serving a library, and a key of its owner; its reads block.
  private struct ServingProgram {
    private let child: ChildRun
    let port: UInt16
    let key: String

    init(_ library: URL) throws {
      let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "photoledger")
      let words = ["serve", "--library", library.path, "--listen", "127.0.0.1:0", "--json"]
      child = try ChildRun(program, words, input: .pipe, errors: .null)
      var line = Data()
      while let byte = try child.output.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
      let start = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
      let address = try #require(start["address"] as? String)
      port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
      let link = try #require((start["link"] as? String)?.split(separator: "=").last)
      let body = #"{"link":"\#(link)"}"#
      let client = try RawClient(port: port)
      client.send(
        "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      let answer = try #require(client.readToEnd().components(separatedBy: "\r\n\r\n").last)
      let session = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
      key = try #require(session["secret"] as? String)
    }

    /// Ends it as a service manager does.
    func end() -> ChildRun.End {
      kill(child.identifier, SIGTERM)
      return child.end()
    }
  }
#endif
