// What the model layer of an app needs of UIKit's view controllers: that one presents another, and takes it away. There
// is no screen; a program that shows the library to a user takes part through the core (`PickingPresenter`,
// `PermissionPrompt`).

/// Presents other controllers (stands in for UIKit's `UIViewController`, which Linux lacks; there is no screen).
@MainActor @preconcurrency
open class UIViewController: NSObject {
  /// The controller that this one presents.
  public private(set) var presentedViewController: UIViewController?
  /// The controller that presents this one.
  public private(set) weak var presentingViewController: UIViewController?
  /// A title for a person.
  open var title: String?

  /// A controller that is not presented.
  public nonisolated override init() { super.init() }

  /// Presents a controller. Nothing happens but a line on standard error, as in UIKit, if one of both is presented or
  /// presents another already.
  /// - Parameters:
  ///   - viewControllerToPresent: the controller; it is retained until it is dismissed.
  ///   - flag: makes no difference, as there is no view. Kept for source compatibility.
  ///   - completion: is called before this returns.
  open func present(
    _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil
  ) {
    guard presentedViewController == nil, viewControllerToPresent.presentingViewController == nil else {
      let sentence =
        "PhotoLedger: \(viewControllerToPresent) cannot be presented on \(self): one of them is presented, or presents "
        + "another, already.\n"
      FileHandle.standardError.write(Data(sentence.utf8))
      return
    }
    presentedViewController = viewControllerToPresent
    viewControllerToPresent.presentingViewController = self
    (viewControllerToPresent as? any PresentedController)?.wasPresented()
    completion?()
  }

  /// Takes away what this controller presents, with all that is presented above it; if that is nothing, this controller
  /// itself.
  /// - Parameters:
  ///   - flag: makes no difference, as there is no view. Kept for source compatibility.
  ///   - completion: is called before this returns.
  open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
    let presenter = presentedViewController == nil ? presentingViewController : self
    presenter?.dismissPresented()
    completion?()
  }

  /// Takes away what is presented, the topmost first.
  private func dismissPresented() {
    guard let presented = presentedViewController else { return }
    presented.dismissPresented()
    (presentedViewController, presented.presentingViewController) = (nil, nil)
    (presented as? any PresentedController)?.wasDismissed()
  }
}

/// A controller that begins something when it is presented, and ends it when it is dismissed.
@MainActor
package protocol PresentedController: AnyObject {
  /// Begins it.
  func wasPresented()
  /// Ends it, if it has not ended.
  func wasDismissed()
}

/// A rectangle of a screen (stands in for UIKit's `UIView`, which Linux lacks; nothing is drawn).
@MainActor @preconcurrency
open class UIView: NSObject {
  /// Where it is in what holds it, points.
  open var frame: CGRect
  /// Whether it is not shown.
  open var isHidden = false

  /// A view.
  public init(frame: CGRect) {
    self.frame = frame
    super.init()
  }

  /// A view without a size.
  public nonisolated override init() {
    frame = .zero
    super.init()
  }

  /// Its own rectangle, points.
  open var bounds: CGRect { CGRect(origin: .zero, size: frame.size) }
}
