import LibraryPicking
import PhotoKitProgramsSwift5
import PhotoKitProgramsSwift6
import PhotoLedger
import PhotosUI
import TestSupport
import Testing

@MainActor
private protocol ScreenProgram: UIViewController {
  var picked: [String] { get }
  var isOver: Bool { get }
  func pick(_ limit: Int)
  func shareMore(_ done: @escaping @Sendable ([String]) -> Void)
  func shareMore() async -> [String]
  func shareMoreWithoutWaiting()
}

extension PhotoKitProgramsSwift5.PickerScreen: ScreenProgram {}
extension PhotoKitProgramsSwift6.PickerScreen: ScreenProgram {}

extension Language {
  @MainActor fileprivate var screen: any ScreenProgram {
    self == .swift5 ? PhotoKitProgramsSwift5.PickerScreen() : PhotoKitProgramsSwift6.PickerScreen()
  }
}

/// The person at the library, who shares more each time.
private final class Giver: PermissionPrompt {
  private let gifts: Gathered<[String]>

  init(_ gifts: Gathered<[String]>) { self.gifts = gifts }

  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? { nil }

  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] {
    (gifts.all.last ?? []).compactMap { LocalIdentifier($0) }
  }
}

@Suite("Presenting as an app does", .timeLimit(.minutes(60)))
struct PresentingTests {
  @Test(
    "a picker that a screen presents is retained, picks, and is dismissed by its delegate (PK-01)",
    arguments: Language.allCases)
  @MainActor
  func picker(language: Language) async throws {
    let picking = try await PickerLibrary()
    let screen = language.screen
    for round in 0..<2 {
      PHPhotoLibrary.withShared(picking.app) { screen.pick(1) }
      let picker = try #require(screen.presentedViewController as? PHPickerViewController)
      #expect(picker.presentingViewController === screen && picker.session?.state == .open)
      let presenter = try picking.library.present(try #require(try picking.library.pickingSessions().first))
      try await presenter.select(picking.name(round))
      try await presenter.finish()
      try await waitUntil("the picker is over") { screen.picked == [picking.name(round)] && screen.isOver }
      #expect(screen.presentedViewController == nil && picker.presentingViewController == nil)
    }
  }

  @Test("a screen presents one picker at a time, and dismissing from the screen ends its session")
  @MainActor
  func one() async throws {
    let picking = try await PickerLibrary()
    let screen = Language.swift6.screen
    PHPhotoLibrary.withShared(picking.app) {
      screen.pick(1)
      screen.pick(1)
    }
    #expect(try picking.library.pickingSessions().count == 1)
    screen.dismiss(animated: true)
    #expect(try picking.library.pickingSessions().isEmpty && screen.presentedViewController == nil)
  }

  @Test("dismissing what a picker presents leaves its session open; what a screen dismisses can be presented again")
  @MainActor
  func alerts() async throws {
    let picking = try await PickerLibrary()
    let (screen, alert, delegate) = (UIViewController(), UIViewController(), Told())
    let picker = PHPickerViewController(configuration: picking.configuration())
    picker.delegate = delegate
    screen.present(picker, animated: true)
    let session = try #require(picker.session)
    picker.present(alert, animated: true)
    picker.dismiss(animated: true)
    #expect(picker.presentedViewController == nil && alert.presentingViewController == nil)
    #expect(screen.presentedViewController === picker && picker.session?.id == session.id && session.state == .open)
    let presenter = try picking.library.present(session)
    try await presenter.select(picking.name(0))
    try await presenter.finish()
    let results = try #require(await delegate.next())
    #expect(picking.indexes(results) == [0])

    picker.present(alert, animated: true)
    screen.dismiss(animated: true)
    #expect(screen.presentedViewController == nil && picker.presentingViewController == nil && picker.session == nil)
    #expect(picker.presentedViewController == nil && alert.presentingViewController == nil)
    screen.present(picker, animated: true)
    #expect(screen.presentedViewController === picker && picker.session?.state == .open)
    picker.dismiss(animated: true)
    #expect(screen.presentedViewController == nil && picker.session == nil)
    #expect(try picking.library.pickingSessions().isEmpty)
  }

  @Test("a limited client's callback lists only what was added by its own call (AU-05)", arguments: Language.allCases)
  @MainActor
  func limited(language: Language) async throws {
    let picking = try await PickerLibrary()
    let gifts = Gathered<[String]>()
    try await picking.library.performChanges { block in
      block.register(client: PickerLibrary.client, .reasoned)
      block.setAuthorizationStatus(.limited, of: PickerLibrary.client, for: .readWrite)
      block.grant([picking.name(0)].compactMap { LocalIdentifier($0) }, to: PickerLibrary.client)
    }
    try picking.library.setPermissionPrompt(Giver(gifts))
    let screen = language.screen
    let told = Gathered<[String]>()
    try await PHPhotoLibrary.withShared(picking.app) {
      gifts.append([picking.name(0), picking.name(1)])
      screen.shareMore { told.append($0) }
      try await waitUntil("the callback is called") { told.all.count == 1 }
      #expect(told.all == [[picking.name(1)]])
      gifts.append([picking.name(1), picking.name(2)])
      #expect(await screen.shareMore() == [picking.name(2)])
      gifts.append([picking.name(3)])
      screen.shareMoreWithoutWaiting()
      try await waitUntil("the photo is shared") { PHAsset.fetchAssets(with: nil).count == 4 }
      #expect(await screen.shareMore() == [])
    }
  }
}

extension ClientRegistration {
  /// One that says why it wants access.
  fileprivate static var reasoned: ClientRegistration {
    var registration = ClientRegistration()
    registration.readWriteUsageDescription = "To show photos."
    return registration
  }
}
