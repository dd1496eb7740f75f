import Dispatch
import PhotoLedger
import TestSupport
import Testing

@Suite("A block inside a block")
struct NestedBlockTests {
  @Test("it is rejected, and the outer block continues (CB-03)", arguments: Form.allCases)
  func refused(outer: Form) async throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let answers = Gathered<(any Error)?>()
    let receipt = try await outer.perform(on: library) { block in
      block.createAlbum(title: "outer")
      let error = #expect(throws: LibraryError.self) {
        try library.performChangesAndWait { $0.createAlbum(title: "inner") }
      }
      #expect(error?.code == .changeNotSupported)
      library.performChanges {
        $0.createAlbum(title: "inner")
      } completionHandler: { outcome in
        if case .failure(let error) = outcome { answers.append(error) } else { answers.append(nil) }
      }
    }
    try await waitUntil("the inner block is answered") { answers.all.count == 1 }
    #expect((answers.all[0] as? LibraryError)?.code == .changeNotSupported)
    #expect(receipt.created.count == 1)
    #expect(try library.fetchCollections().map(\.localizedTitle) == ["outer"])
  }

  @Test("it is also rejected in a task that the outer block waits for")
  func refusedInTask() async throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let codes = Gathered<LibraryError.Code?>()
    try await onThread {
      try library.performChangesAndWait { _ in
        let isDone = DispatchSemaphore(value: 0)
        Task {
          do {
            try await library.performChanges { $0.createAlbum(title: "inner") }
            codes.append(nil)
          } catch {
            codes.append((error as? LibraryError)?.code)
          }
          isDone.signal()
        }
        isDone.wait()
      }
    }
    #expect(codes.all == [.changeNotSupported])
  }

  @Test("a task that was started in a block may begin a block of its own when the outer one has returned")
  func allowedLater() async throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let (gate, opener) = AsyncStream<Void>.makeStream()
    var later: Task<CommitReceipt, any Error>?
    try await library.performChanges { block in
      block.createAlbum(title: "outer")
      later = Task {
        for await _ in gate { break }
        return try await library.performChanges { $0.createAlbum(title: "later") }
      }
    }
    opener.yield()
    let receipt = try await #require(later).value
    #expect(receipt.created.count == 1)
  }
}
