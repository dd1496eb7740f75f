#if Gallery
  @testable import GalleryServer
  import Testing

  // Two libraries behind two servers; one has more than the clients may see, see GalleryTwin. Every answer is compared
  // byte by byte: status, fields, content, the events of streams.

  @Suite("Nothing leaks over HTTP")
  struct NothingLeaksOverHTTPTests {
    @Test("clients with limited access get byte-equal answers of two libraries that differ outside of what they see")
    func nothingLeaks() async throws {
      let full = try await GalleryTwin.story(hasMore: true, probes: [])
      let plain = try await GalleryTwin.story(hasMore: false, probes: full.probes)
      #expect(full.hiddenCount > 40 && plain.hiddenCount == 0)
      #expect(full.transcript.count == plain.transcript.count && full.transcript.count > 500)
      var shown = 0
      for (one, other) in zip(full.transcript, plain.transcript) where one != other && shown < 10 {
        shown += 1
        Issue.record(
          """
          \(one.question)
          with more: \(one.answer.prefix(1500))
          plain: \(other.question == one.question ? "" : "\(other.question)\n")\(other.answer.prefix(1500))
          """)
      }
      checkThatQuestionsCount(full.transcript)
    }

    /// Checks that the questions to each route got further than to the rejection of their form.
    private func checkThatQuestionsCount(_ transcript: [TwinExchange]) {
      let statuses = Dictionary(grouping: transcript.filter { $0.route != nil }) { $0.route ?? "" }
        .mapValues { Set($0.map(\.status)) }
      for route in TwinRoute.all {
        let found = statuses[route.name] ?? []
        #expect(!found.isSubset(of: [400, 404, 405]), "\(route.name) rejects each question for its form: \(found)")
        let hasSuccess = found.contains { 200..<400 ~= $0 }
        #expect(hasSuccess == (route.refusal == nil), "\(route.name): \(route.refusal ?? "no success") \(found)")
      }
      for route in TwinRoute.ofOwner {
        #expect(statuses["\(route.method) \(route.path)"] == [403], "\(route.method) \(route.path)")
      }
    }

    @Test("each route that is not the owner's has its requests")
    func complete() {
      let routes = Router.routesWithImmichClients.filter { $0.need != .owner }.map { "\($0.method) \($0.path)" }
      let asked = TwinRoute.all.map(\.name)
      #expect(Set(routes).subtracting(asked).sorted() == [], "Add questions to TwinRoute.")
      #expect(Set(asked).subtracting(routes).sorted() == [], "TwinRoute has questions to routes that do not exist.")
      #expect(Set(asked).count == asked.count)
    }
  }
#endif
