/// Ends the process where a program calls the library in a way that the call's documentation excludes, with a sentence
/// in every build: that of `precondition` is missing from optimised ones.
/// - Parameters:
///   - condition: whether the call is a correct one.
///   - sentence: what is wrong, and what to do instead.
package func requireCorrectUse(_ condition: Bool, _ sentence: @autoclosure () -> String) {
  guard condition else { fatalError(sentence()) }
}
