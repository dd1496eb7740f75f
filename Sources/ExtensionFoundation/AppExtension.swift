/// A program that a host runs (Apple: `AppExtension`, which Linux lacks).
///
/// Enough of Apple's protocol for extensions of `Photos`: a host makes one without arguments and calls it.
public protocol AppExtension {
  /// Makes the extension.
  init()
}
