#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import TestSupport
  import Testing

  /// A stream of events that is open; each event is held against the API's description.
  final class EventStream {
    private let client: RawClient
    private let path: String
    private let body: ChunkedBody
    /// Whether the last chunk came.
    var hasEnded: Bool { body.hasEnded }

    /// - Parameter receiveBuffer: how many bytes may wait for the client to read them; the system's choice if nil.
    init(
      _ gallery: TestGallery, _ target: String, key: String? = "owner", _ fields: [String] = [],
      receiveBuffer: Int32? = nil
    ) throws {
      path = String(target.prefix { $0 != "?" })
      client = try RawClient(port: gallery.address.port, receiveBuffer: receiveBuffer)
      body = ChunkedBody(client)
      client.send(try gallery.head("GET", target, key: key, fields + ["Connection: close"]))
      let head = client.read(through: "\r\n\r\n")
      try #require(head.hasPrefix("HTTP/1.1 200"), "\(head)")
      _ = TestGallery.checked("GET", path, try #require(TestGallery.parsed(head)))
    }

    /// The fields of the next event; nil at the end of the stream.
    func next() throws -> JSON? {
      while let text = body.event() {
        guard let event = Contract.event(text) else { continue }
        do { try Contract.served.get().check("GET", path, event: event) } catch { Issue.record("\(error)") }
        return event
      }
      try #require(hasEnded || client.isAtEnd, "The stream neither sent an event nor ended.")
      return nil
    }
  }

  extension JSON {
    /// The data of an event as an object.
    fileprivate func data() throws -> [String: Any] {
      let text = self["data"]?.textValue ?? ""
      return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }
  }

  /// A stream of states that is open.
  final class StateClient {
    private let stream: EventStream

    init(_ gallery: TestGallery, _ path: String, key: String? = "owner") throws {
      stream = try EventStream(gallery, path, key: key)
    }

    /// The next state; nil at the end of the stream. A problem is given as it stands.
    func next() throws -> [String: Any]? { try stream.next()?.data() }
  }

  /// An event of a feed.
  struct FeedEvent {
    var id: String
    var name: String
    /// The data as it came.
    var text = ""
    var data: [String: Any]
  }

  /// A client of a feed.
  final class FeedClient {
    private let stream: EventStream
    /// The name of the stream, once an event was read.
    private(set) var feed = ""
    /// After how many milliseconds the client is to come back, once an event was read.
    private(set) var retryMilliseconds: Int?
    /// Whether the stream has ended as a whole.
    var hasEnded: Bool { stream.hasEnded }

    /// - Parameter receiveBuffer: how many bytes may wait for the client to read them; the system's choice if nil.
    init(
      _ gallery: TestGallery, _ query: String, key: String? = "owner", after cursor: String? = nil,
      receiveBuffer: Int32? = nil
    ) throws {
      let fields = cursor.map { ["Last-Event-ID: \($0)"] } ?? []
      stream = try EventStream(gallery, "/v1/feed?\(query)", key: key, fields, receiveBuffer: receiveBuffer)
    }

    /// The next event about a fetch; nil at the end of the stream.
    func next() throws -> FeedEvent? {
      while let event = try stream.next() {
        let data = try event.data()
        guard event["event"] == "feed" else {
          return FeedEvent(
            id: event["id"]?.textValue ?? "", name: event["event"]?.textValue ?? "",
            text: event["data"]?.textValue ?? "", data: data)
        }
        feed = data["feed"] as? String ?? ""
        retryMilliseconds = event["retry"]?.wholeValue
      }
      return nil
    }
  }
#endif
