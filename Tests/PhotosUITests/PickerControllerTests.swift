import Foundation
import LibraryPicking
import PhotoLedger
import PhotosUI
import TestSupport
import Testing

@Suite("The picker's controller", .timeLimit(.minutes(60)))
struct PickerControllerTests {
  @Test("an invalid configuration of a session is an error, and leaves no session (a.8)")
  @MainActor
  func impossible() async throws {
    let (picking, other) = (try await PickerLibrary(), try await PickerLibrary(1))
    var negative = picking.configuration()
    negative.selectionLimit = -1
    var nameless = PHPickerConfiguration()
    nameless.preselectedAssetIdentifiers = [picking.name(0)]
    var crowded = picking.configuration(1)
    crowded.preselectedAssetIdentifiers = [picking.name(0), picking.name(1)]
    let cases: [(PHPickerConfiguration, PHPhotosError.Code, String)] = [
      (negative, .internalError, "-1"), (nameless, .internalError, "preselection"),
      (crowded, .limitExceeded, "2 assets"),
    ]
    for (configuration, code, words) in cases {
      let picker = PHPickerViewController(configuration: configuration)
      let error = refusal { try PHPhotoLibrary.withShared(picking.app) { _ = try picker.begin() } }
      #expect(error?.code == code && error?.description.contains(words) == true)
      #expect(picker.session == nil)
    }
    #expect(try picking.library.pickingSessions().isEmpty && other.library.pickingSessions().isEmpty)
  }

  @Test("a picker has one open session; when that is over it can begin another one")
  @MainActor
  func again() async throws {
    let picking = try await PickerLibrary()
    let told = Told()
    let picker = PHPickerViewController(configuration: picking.configuration())
    picker.delegate = told
    let first = try picker.begin()
    let error = refusal { _ = try picker.begin() }
    #expect(error?.code == .changeNotSupported && error?.description.contains("begin()") == true)
    first.cancel()
    // The first session's end is delivered although the next one has begun.
    let second = try picker.begin()
    #expect(second.id != first.id && picker.session?.id == second.id)
    let presenter = try picking.library.present(second)
    try await presenter.select(picking.name(2))
    try await presenter.finish()
    #expect(await told.next(2).map(\.count).sorted() == [0, 1])
  }

  @Test("a picker that is dismissed ends its session, and its delegate is not called any more")
  @MainActor
  func dismissing() async throws {
    let picking = try await PickerLibrary()
    let told = Told()
    let picker = PHPickerViewController(configuration: picking.configuration(0, .continuous))
    picker.delegate = told
    let session = try picker.begin()
    let presenter = try picking.library.present(session)
    try await presenter.select(picking.name(0))
    #expect(await told.next()?.count == 1)
    var isComplete = false
    picker.dismiss(animated: true) { isComplete = true }
    #expect(isComplete && session.state == .cancelled && picker.session == nil)
    await #expect(throws: LibraryError.self) { try await presenter.select(picking.name(1)) }
    // The first session's end would be delivered before the result of a later one.
    let next = try picker.begin()
    try await picking.library.present(next).select(picking.name(4))
    #expect(await told.next().map(picking.indexes) == [4])
    #expect(told.count == 2)
    picker.dismiss(animated: false)
  }

  @Test("a picker is retained while its session is open, and no longer")
  @MainActor
  func retaining() async throws {
    let picking = try await PickerLibrary()
    let told = Told()
    weak var held: PHPickerViewController?
    let session: PickingSession
    do {
      let picker = PHPickerViewController(configuration: picking.configuration())
      picker.delegate = told
      held = picker
      session = try picker.begin()
    }
    try await picking.library.present(session).finish()
    #expect(await told.next()?.isEmpty == true, "Nothing else holds the picker, and its delegate is called.")
    while held != nil { await Task.yield() }
    var unseen: PHPickerViewController? = PHPickerViewController(configuration: picking.configuration())
    weak let forgotten = unseen
    unseen = nil
    #expect(forgotten == nil)
    #expect(try picking.library.pickingSessions().isEmpty)
  }

  @Test("the limit changes while the session is open, and for the next one (a.8)")
  @MainActor
  func updating() async throws {
    let picking = try await PickerLibrary()
    let picker = PHPickerViewController(configuration: picking.configuration(1))
    var update = PHPickerConfiguration.Update()
    picker.updatePicker(using: update)
    #expect(picker.configuration.selectionLimit == 1)
    update.selectionLimit = 2
    picker.updatePicker(using: update)
    let session = try picker.begin()
    let presenter = try picking.library.present(session)
    #expect(presenter.presentation.selectionLimit == 2)
    update.selectionLimit = 3
    picker.updatePicker(using: update)
    #expect(presenter.presentation.selectionLimit == 3)
    presenter.cancel()
    update.selectionLimit = 4
    picker.updatePicker(using: update)
    #expect(picker.configuration.selectionLimit == 4)
    let next = try picker.begin()
    #expect(next.configuration.selectionLimit == 4)
    next.cancel()
  }

  @Test("an open session rejects a negative limit: the process ends")
  func negativeUpdate() async {
    await #expect(processExitsWith: .failure) {
      let picking = try await PickerLibrary(0)
      try await MainActor.run {
        let picker = PHPickerViewController(configuration: picking.configuration())
        try picker.begin()
        picker.updatePicker(using: PHPickerConfiguration.Update(selectionLimit: -1))
        // Reached only if nothing trapped; then the process ends well, and the test fails.
        exit(0)
      }
    }
  }
}
