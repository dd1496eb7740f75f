import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import LibraryUploads
@testable import Photos

@Suite("Extensions whose upload jobs cannot be read")
struct UnreadableJobsTests {
  @Test("with damaged jobs it is not called: they are read again after a change, and reported once")
  func damaged() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let gallery = try Gallery()
      let (looks, pauses, calls) = (Gathered<Bool>(), Gathered<Double>(), Gathered<Bool>())
      gallery.library.store.uploads.jobs.obstruct { isWrite in
        looks.append(isWrite)
        throw LibraryError(.corrupted, "The upload jobs are damaged.")
      }
      let library = try await gallery.shared { PHPhotoLibrary.shared() }
      let host = UploadExtensionHost(library) { pauses.append($0) }
      let run = Task.detached {
        await host.run {
          calls.append(true)
          return .completed
        } terminate: {
        }
      }
      for count in 1...3 {
        try await waitUntil("the jobs are read") { looks.all.count >= count }
        try await gallery.images(count..<count + 1)
      }
      run.cancel()
      await run.value
      #expect(pauses.all.isEmpty && calls.all.isEmpty)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.components(separatedBy: "The upload jobs are damaged.").count == 2, "\(text)")
  }

  @Test("with jobs that cannot be read for a while it is called after pauses that grow")
  func unreadableForAWhile() async throws {
    let gallery = try UploadGallery().gallery
    let library = try await gallery.shared {
      try PHPhotoLibrary.shared().setUploadJobExtensionEnabled(true)
      return PHPhotoLibrary.shared()
    }
    let (pauses, steps) = (Gathered<Double>(), Gathered<String>())
    gallery.library.store.uploads.jobs.obstruct { _ in
      if pauses.all.count < 3 { throw LibraryError(.notEnoughSpace, "The system has no more files.") }
    }
    let host = UploadExtensionHost(library) { pauses.append($0) }
    let run = Task.detached {
      await host.run {
        steps.append("process")
        return .completed
      } terminate: {
        steps.append("asked to end")
      }
    }
    try await waitUntil("the extension is called") { !steps.all.isEmpty }
    run.cancel()
    await run.value
    #expect(pauses.all == [2, 4, 8] && steps.all == ["process", "asked to end"])
  }
}
