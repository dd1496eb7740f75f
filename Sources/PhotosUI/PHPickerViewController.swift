// The picker without its view. On a phone an app presents the controller, and the system shows the library in another
// process. Here the app's side is the same, and the program that shows the library gets the session from the core:
//
//     app      PHPickerViewController ── begin() ──▶ PickingSession ◀── present(session) ── a gallery, a test
//     app      delegate ◀── didFinishPicking ── results                select, finish, cancel
//
// The session begins when a view controller presents the picker, `present(_:animated:)`, or with `begin()`. While it is
// open the controller is retained, as a presented one is. Rejected: beginning it when the controller is made. What
// cannot be asked for would end the process, and a controller that is never presented would leave a session behind.

public import LibraryPicking
import PhotoLedger

/// The delegate of a picker (Apple: `PHPickerViewControllerDelegate`).
@MainActor @preconcurrency
public protocol PHPickerViewControllerDelegate: AnyObject {
  /// The selection has come to something: at the end, or after each tap of a continuous selection (PK-05).
  ///
  /// Called on the main actor, as on Apple's systems; a program without an asynchronous `main` has to run
  /// `dispatchMain()` for it. When the person or the end of the library cancels, the results are the preselection
  /// (PK-04).
  func picker(_ picker: PHPickerViewController, didFinishPicking results: [PHPickerResult])
}

/// Has a person pick assets for the app, which needs no permission for it (PK-01; Apple: `PHPickerViewController`).
@MainActor @preconcurrency
open class PHPickerViewController: UIViewController {
  /// What is asked for.
  public private(set) var configuration: PHPickerConfiguration
  /// The delegate; not retained.
  open weak var delegate: (any PHPickerViewControllerDelegate)?
  /// The session that ``begin()`` began last; nil before it and after ``dismiss(animated:completion:)``.
  ///
  /// Its results are the delegate's. Apple has no such property.
  public private(set) var session: PickingSession?

  private var reporting: Task<Void, Never>?

  /// A picker that is not presented.
  public init(configuration: PHPickerConfiguration) {
    self.configuration = configuration
    super.init()
  }

  /// Begins the session without a view controller that presents the picker, and throws what is wrong with the
  /// configuration. Apple has no such call. See `PhotoLibrary.present(_:)` and `PhotoLibrary.pickingSessions()` for
  /// the other side.
  ///
  /// The controller is retained until the session is over. A picker whose session is over can begin another one.
  /// - Returns: the client's face of the session; its results go to the delegate.
  /// - Throws: `PHPhotosError`: `changeNotSupported` while a session of this picker is open; `internalError` for a
  ///   negative limit and for a preselection without a library; `limitExceeded` for a preselection above the limit;
  ///   `switchingSystemPhotoLibrary` for a library that is no longer the shared one.
  /// - Complexity: O(m log n) for m assets selected beforehand.
  @discardableResult
  public func begin() throws -> PickingSession {
    if session?.state == .open {
      throw PHPhotosError(
        .changeNotSupported,
        "PHPickerViewController.begin() was called while its session is open; wait until it ends, or dismiss it.")
    }
    let library = configuration.library ?? .shared()
    do {
      let session = try library.present().beginPicking(configuration.core)
      self.session = session
      reporting = Task { await self.report(session, of: library) }
      return session
    } catch {
      throw PHPhotosError.from(error)
    }
  }

  private func report(_ session: PickingSession, of library: PHPhotoLibrary) async {
    for await items in session.results {
      if Task.isCancelled { return }
      delegate?.picker(self, didFinishPicking: items.map { PHPickerResult($0, library) })
    }
  }

  /// Ends the session, if it is still open, without calling the delegate (Apple: `UIViewController.dismiss`).
  ///
  /// If the picker presents another controller, such as an alert, that is dismissed alone, and the session goes on.
  /// - Parameters:
  ///   - flag: makes no difference, as there is no view. Kept for source compatibility.
  ///   - completion: is called before this returns.
  open override func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
    // A session that `begin()` began has no presenter that ends it.
    if presentedViewController == nil { wasDismissed() }
    super.dismiss(animated: flag, completion: completion)
  }

  /// Deselects assets; the delegate is not called (PK-06; Apple: `deselectAssets(withIdentifiers:)`).
  ///
  /// What is not selected is passed over; nothing happens unless a session is open.
  open func deselectAssets(withIdentifiers identifiers: [String]) {
    session?.deselectAssets(withIdentifiers: identifiers)
  }

  /// Puts a selected asset elsewhere in the order of picking (PK-06;
  /// Apple: `moveAsset(withIdentifier:afterAssetWithIdentifier:)`).
  ///
  /// Nothing happens if either asset is not selected, and unless a session is open.
  /// - Parameters:
  ///   - identifier: the asset that is moved.
  ///   - afterIdentifier: the asset that it comes after; nil: it comes first.
  open func moveAsset(withIdentifier identifier: String, afterAssetWithIdentifier afterIdentifier: String?) {
    session?.moveAsset(withIdentifier: identifier, afterAssetWithIdentifier: afterIdentifier)
  }

  /// Changes what is asked for, in an open session too (Apple: `updatePicker(using:)`).
  ///
  /// What is selected already stays selected, and a session with too many cannot be finished. Traps for a negative
  /// limit while a session is open; otherwise ``begin()`` rejects it.
  open func updatePicker(using configuration: PHPickerConfiguration.Update) {
    PHPhotoLibrary.answer("PHPickerViewController.updatePicker(using:)") {
      do {
        try session?.update(configuration)
      } catch let error as LibraryError where error.code == .changeNotSupported {
        // The person was done in the meantime; the update is for the next session.
      }
    }
    if let limit = configuration.selectionLimit { self.configuration.selectionLimit = limit }
  }
}

extension PHPickerViewController: PresentedController {
  /// Begins the session; traps, as Apple's raises, where ``begin()`` throws.
  package func wasPresented() {
    PHPhotoLibrary.answer("Presenting a PHPickerViewController") { _ = try begin() }
  }

  /// Ends the session without calling the delegate.
  package func wasDismissed() {
    reporting?.cancel()
    session?.cancel()
    (reporting, session) = (nil, nil)
  }
}
