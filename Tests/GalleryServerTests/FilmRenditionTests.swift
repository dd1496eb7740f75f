#if Gallery
  import Foundation
  @testable import GalleryServer
  import MediaImport
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Films as they are played")
  struct FilmRenditionTests {
    /// A folder with stand-ins for ffprobe and ffmpeg, and with nothing that makes pictures.
    ///
    /// A film begins with a line that says what it is: `damaged`, `copied` (its tracks can be played in an MP4),
    /// `hanging` (they can, and their copy never ends) or `encoded` (they cannot, and the transcode never ends); all
    /// others play as they are.
    private let programs: TemporaryFolder

    init() throws {
      programs = try TemporaryFolder()
      let start = "#!/bin/sh\nfor last; do :; done\nlast=\"${last#file:}\"\n"
      let probe = """
        read -r kind < "$last"
        case "$kind" in damaged) exit 1 ;; encoded) codec=hevc ;; *) codec=h264 ;; esac
        echo '{"streams": [{"index": 0, "codec_type": "video", "pix_fmt": "yuv420p", "codec_name": "'$codec'"}]}'

        """
      try writeProgram(start + probe, at: programs.place("ffprobe").path)
      let copy = """
        for word; do case "$word" in file:*) read -r kind < "${word#file:}"; break ;; esac; done
        case "$kind" in copied) echo film > "$last" ;; *) : > "$last"; exec sleep 1000 ;; esac

        """
      try writeProgram(start + copy, at: programs.place("ffmpeg").path)
    }

    private var options: RenditionOptions {
      var options = RenditionOptions()
      (options.processCount, options.searchPath) = (1, programs.url.path)
      return options
    }

    private func film(_ kind: String, in gallery: TestGallery) async throws -> Asset {
      let file = gallery.temporary.folder.place("\(kind).mov")
      // The index in front is that of an MP4 which plays as it is.
      func box(_ name: String) -> [UInt8] { [0, 0, 0, 12] + Array("\(name)isom".utf8) }
      try Data(kind == "original" ? box("ftyp") + box("moov") : Array("\(kind)\n".utf8)).write(to: file)
      return try await gallery.makeAsset(file, .video, media: .video)
    }

    /// What the next event of a feed says of its one asset.
    private func row(_ client: FeedClient) throws -> [String?] {
      let event = try #require(try client.next())
      #expect(event.name == "rendition" && event.id.isEmpty)
      let rows = try #require(event.data["renditions"] as? [[String: Any]])
      #expect(rows.count == 1)
      return ["localIdentifier", "sha256", "rendition", "play"].map { rows.first?[$0] as? String }
    }

    private func expected(_ asset: Asset, _ hash: String?, _ rendition: String, _ play: String?) -> [String?] {
      [asset.localIdentifier, hash, rendition, play]
    }

    @Test("a feed is sent which films can be played now, and which pictures and films cannot be made")
    func announced() async throws {
      try await TestGallery.serving(renditions: options) { gallery in
        let kinds = [("original", 200, "ready"), ("copied", 200, "ready"), ("damaged", 422, "failed")]
        var films: [Asset] = []
        for (kind, _, _) in kinds { films.append(try await film(kind, in: gallery)) }
        let fetch = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        let hashes = try films.map { try Renditions.shown($0, in: gallery.library)?.sha256Hex }
        for (index, (kind, status, state)) in kinds.enumerated() {
          #expect(try gallery.ask("GET", try gallery.rendition("play", of: films[index])).status == status, "\(kind)")
          #expect(try row(client) == expected(films[index], hashes[index], "missing", state), "\(kind)")
        }
        // There is no program that makes pictures.
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: films[0])).status == 422)
        #expect(try row(client) == expected(films[0], hashes[0], "failed", "ready"))
      }
    }

    @Test(
      "pictures, and films that are done otherwise, do not wait for a transcode or a copy that never ends",
      arguments: [("encoded", ["original", "copied"]), ("hanging", ["original"])])
    func beside(_ kind: String, _ kinds: [String]) async throws {
      try await TestGallery.serving(renditions: options) { gallery in
        let long = try await film(kind, in: gallery)
        var others: [Asset] = []
        for kind in kinds { others.append(try await film(kind, in: gallery)) }
        let path = try gallery.rendition("play", of: long) + "?wait=0"
        #expect(try gallery.ask("GET", path).status == 503)
        let folder = gallery.library.url.appending(path: "renditions")
        try await waitUntil("the transcode, or the copy, has begun") {
          try FileManager.default.subpathsOfDirectory(atPath: folder.path).contains { $0.hasSuffix("/out/film") }
        }
        for other in others { #expect(try gallery.ask("GET", try gallery.rendition("play", of: other)).status == 200) }
        // A worker says that there is no program that makes pictures.
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: others[0])).status == 422)
        #expect(try gallery.ask("GET", path).status == 503)
      }
    }

    @Test(
      "a transcode or a copy waits behind the one that runs, the newest first, and is done once, by itself",
      arguments: [Playback.transcode, .remux])
    func oneByOne(_ playback: Playback) async throws {
      let (looks, made, ended) = (Gathered<UInt8>(), Gathered<[UInt8]>(), Gathered<UInt8>())
      let sources = Gathered<String>()
      let mayEnd = DispatchSemaphore(value: 0)
      let queue = RenditionQueue(
        workerCount: 1, limit: 100, dropped: { _ in },
        ended: { jobs, isDone in if isDone { for job in jobs { ended.append(job.name.hash[0]) } } },
        work: { jobs, _ in
          let numbers = jobs.map { $0.name.hash[0] }
          if jobs[0].name.isPlay, jobs[0].playback == nil {
            looks.append(numbers[0])
            return .lookedAt(playback)
          }
          if let file = try? jobs[0].source() { sources.append(file.path) }
          made.append(numbers)
          if numbers == [1] { mayEnd.wait() }
          return .finished
        })
      func want(_ number: UInt8, isPlay: Bool = true, at path: String = "/first") {
        let job = RenditionJob(name: .init(hash: [number], isPlay: isPlay)) { URL(filePath: path) }
        #expect(queue.want(job))
      }
      want(1)
      try await waitUntil("the first is being made") { made.all == [[1]] }
      for number in [2, 3] as [UInt8] {
        want(number)
        try await waitUntil("it was looked at") { looks.all.last == number && queue.count == Int(number) - 1 }
      }
      want(4, isPlay: false)
      try await waitUntil("a picture is made meanwhile") { made.all == [[1], [4]] }
      // What is asked for again is the newest, and its file is that of the last request.
      want(2, at: "/second")
      mayEnd.signal()
      try await waitUntil("all are done") { ended.all.count == 4 }
      #expect(made.all == [[1], [4], [2], [3]] && looks.all == [1, 2, 3])
      #expect(sources.all == ["/first", "/first", "/second", "/first"])
      queue.stop()
    }

    @Test("the film of a Live Photo has a row of its own, and its picture plays nothing")
    func livePhoto() async throws {
      try await TestGallery.serving(renditions: options) { gallery in
        var id: LocalIdentifier?
        try await gallery.library.performChanges { change in
          id = change.createAsset(
            AssetCreation(
              mediaType: .image,
              resources: [
                ResourceDraft(type: .photo, source: .data(TinyMedia.jpeg()), originalFilename: "a.jpg"),
                ResourceDraft(type: .pairedVideo, source: .data(Data("copied\n".utf8)), originalFilename: "a.mov"),
              ]))
        }
        let created = try #require(id)
        let asset = try #require(try gallery.library.asset(created.uuidString))
        let hash = try #require(try Renditions.played(asset, in: gallery.library)).sha256Hex
        let fetch = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        let play = "/v1/assets/\(asset.id.uuidString)/renditions/\(hash)/\(RenditionRecipe.revision)/play"
        #expect(try gallery.ask("GET", play).status == 200)
        #expect(try row(client) == expected(asset, hash, "missing", "ready"))
        #expect(try gallery.ask("GET", try gallery.rendition("small", of: asset)).status == 422)
        let shown = try Renditions.shown(asset, in: gallery.library)?.sha256Hex
        #expect(try row(client) == expected(asset, shown, "failed", nil))
      }
    }
  }
#endif
